//! Values over time.

use super::marks::{Axis, Dash, Rule, Span, Tone};
use serde::{Deserialize, Serialize};

/// Values over time with their extremes: queue depth, files per second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lines {
    /// The whole time.
    pub span: Span,
    /// The values.
    pub y: Axis,
    /// The lines.
    pub series: Vec<LineSeries>,
    /// Reference lines across the plot.
    pub rules: Vec<Rule>,
}

/// How points are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineShape {
    /// The value holds until the next point: depths, counts.
    #[default]
    Step,
    /// A straight line to the next point: rates.
    Linear,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LineSeries {
    /// Its name.
    pub label: String,
    /// Its colour's meaning.
    pub tone: Tone,
    /// Its pattern.
    pub dash: Dash,
    /// How points are joined.
    pub shape: LineShape,
    /// The points, ascending by time. A bucket whose `last` is not finite interrupts the line.
    pub buckets: Vec<Bucket>,
}

impl LineSeries {
    /// An empty line in a palette slot, with the slot's usual dash.
    pub fn slot(label: impl Into<String>, slot: u8, shape: LineShape) -> Self {
        Self {
            label: label.into(),
            tone: Tone::Series(slot),
            dash: Dash::for_slot(slot),
            shape,
            buckets: Vec::new(),
        }
    }
}

/// A stretch of a timeline: its extremes and its last value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bucket {
    /// When it starts.
    pub at_ns: u64,
    /// Least value in it.
    pub min: f64,
    /// Greatest value in it.
    pub max: f64,
    /// Value at its end.
    pub last: f64,
}

impl Bucket {
    /// A single value.
    pub const fn point(at_ns: u64, value: f64) -> Self {
        Self { at_ns, min: value, max: value, last: value }
    }
}
