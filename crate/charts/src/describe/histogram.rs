//! How often each value occurred.

use super::marks::{Rule, Tone, Unit};
use serde::{Deserialize, Serialize};

/// Counts over bins of equal width.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// What is measured: `time between two files`.
    pub label: String,
    /// What the bins' ends count.
    pub unit: Unit,
    /// Low end of the first bin, in the unit.
    pub first: f64,
    /// Width of a bin, in the unit; must be positive, 1 is used otherwise.
    pub width: f64,
    /// What is counted: `files`.
    pub counted: String,
    /// The counts.
    pub series: Vec<HistogramSeries>,
    /// One plot for all, or one each.
    pub arrangement: Arrangement,
    /// Reference lines: a tunable's value.
    pub rules: Vec<Rule>,
}

impl Histogram {
    /// The width of a bin, always positive.
    pub fn bin_width(&self) -> f64 {
        if self.width.is_finite() && self.width > 0.0 && self.width < 1e18 { self.width } else { 1.0 }
    }
}

/// How several series share the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Arrangement {
    /// One small plot each, one above the other, over the same axis.
    #[default]
    Multiples,
    /// All in one plot.
    Overlaid,
}

/// The counts of one kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HistogramSeries {
    /// Its name.
    pub label: String,
    /// Its colour's meaning.
    pub tone: Tone,
    /// Counts, first bin first.
    pub counts: Vec<u64>,
}

impl HistogramSeries {
    /// A series in a palette slot.
    pub fn slot(label: impl Into<String>, slot: u8, counts: Vec<u64>) -> Self {
        Self { label: label.into(), tone: Tone::Series(slot), counts }
    }
}
