//! The small words of the description language: time spans, units, tones, fills, markers.

use serde::{Deserialize, Serialize};

/// A stretch of simulated time, `[start_ns, end_ns)`, nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// First nanosecond shown.
    pub start_ns: u64,
    /// First nanosecond no longer shown. A span that ends before it starts is drawn as one nanosecond.
    pub end_ns: u64,
}

impl Span {
    /// The span from `start_ns` to `end_ns`.
    pub const fn new(start_ns: u64, end_ns: u64) -> Self {
        Self { start_ns, end_ns }
    }

    /// Both ends as numbers, the second always at least 1 after the first.
    pub fn ends(self) -> (f64, f64) {
        let end = self.end_ns.max(self.start_ns.saturating_add(1));
        (self.start_ns as f64, end as f64)
    }
}

/// What a number counts; decides how it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Unit {
    /// A plain count without a unit.
    #[default]
    Count,
    /// A unit written after the number: `files/s`, `MB/s`, `requests`.
    Named(String),
    /// Nanoseconds, written as ns, µs, ms, s or min.
    Nanoseconds,
    /// Bytes, written with binary prefixes.
    Bytes,
    /// Sectors of 512 bytes, written as the bytes they hold.
    Sectors,
    /// Per cent, 0 to 100.
    Percent,
}

impl Unit {
    /// A unit written after the number.
    pub fn named(text: impl Into<String>) -> Self {
        Self::Named(text.into())
    }
}

/// How distance along an axis relates to value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum AxisScale {
    /// Equal distances for equal differences.
    #[default]
    Linear,
    /// Equal distances for equal ratios. Values of zero and below are drawn at the low end.
    Log,
}

/// An axis of values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// What is measured, in a few words. May be empty.
    pub label: String,
    /// What the numbers count.
    pub unit: Unit,
    /// Fixed ends, lower first; `None` fits the data (and starts a linear axis at zero when nothing is below).
    pub range: Option<(f64, f64)>,
    /// Linear or logarithmic.
    pub scale: AxisScale,
}

impl Axis {
    /// A linear axis that fits the data.
    pub fn new(label: impl Into<String>, unit: Unit) -> Self {
        Self { label: label.into(), unit, range: None, scale: AxisScale::Linear }
    }

    /// The same axis with fixed ends.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }

    /// The same axis, logarithmic.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.scale = AxisScale::Log;
        self
    }
}

/// A meaning of colour; the theme knows the colour itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Tone {
    /// One of the palette's colours, counted from 0; beyond the last it starts again.
    Series(u8),
    /// Neither good nor bad, and not a series: waiting, other.
    #[default]
    Neutral,
    /// Barely there: idle, empty, sleeping by choice.
    Faint,
    /// What one wants.
    Good,
    /// What one does not want.
    Bad,
}

/// How an area is filled, so that categories differ without colour too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fill {
    /// Full colour.
    #[default]
    Solid,
    /// A light tint with an outline.
    Tint,
    /// Full colour with lines rising to the right.
    Rising,
    /// Full colour with lines falling to the right.
    Falling,
    /// A tint with coloured lines rising to the right.
    Hatched,
    /// The lower half in full colour, the upper a light tint.
    Half,
    /// A thin line along the middle.
    Thin,
}

impl Fill {
    /// The fill that goes with a palette slot when nothing else is said: neighbours differ.
    pub const fn for_slot(slot: u8) -> Self {
        match slot % 6 {
            0 => Self::Solid,
            1 => Self::Rising,
            2 => Self::Tint,
            3 => Self::Falling,
            4 => Self::Hatched,
            _ => Self::Half,
        }
    }
}

/// The shape of a single mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Marker {
    /// A filled circle.
    #[default]
    Disc,
    /// A circle's outline.
    Ring,
    /// A filled square.
    Square,
    /// A filled square on its corner.
    Diamond,
    /// A filled triangle, point up.
    Triangle,
    /// Two crossing strokes.
    Cross,
    /// A short vertical stroke.
    Tick,
}

/// How a line is broken, so that lines differ without colour too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dash {
    /// Unbroken.
    #[default]
    Solid,
    /// Long strokes.
    Dashed,
    /// Short strokes.
    Dotted,
}

impl Dash {
    /// The dash that goes with a palette slot when nothing else is said: neighbours differ.
    pub const fn for_slot(slot: u8) -> Self {
        match slot % 3 {
            0 => Self::Solid,
            1 => Self::Dashed,
            _ => Self::Dotted,
        }
    }
}

/// A kind of interval or of part: one entry of a legend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Category {
    /// Its name in the legend.
    pub label: String,
    /// Its colour's meaning.
    pub tone: Tone,
    /// Its pattern.
    pub fill: Fill,
}

impl Category {
    /// A category with a tone and a fill.
    pub fn new(label: impl Into<String>, tone: Tone, fill: Fill) -> Self {
        Self { label: label.into(), tone, fill }
    }

    /// A category in a palette slot, with the slot's usual fill.
    pub fn slot(label: impl Into<String>, slot: u8) -> Self {
        Self::new(label, Tone::Series(slot), Fill::for_slot(slot))
    }
}

/// A reference line at a value: a limit, a tunable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Where, in the axis's unit.
    pub value: f64,
    /// What it marks. May be empty.
    pub label: String,
}

impl Rule {
    /// A line at `value`.
    pub fn new(value: f64, label: impl Into<String>) -> Self {
        Self { value, label: label.into() }
    }
}
