//! What a total is made of.

use super::marks::{Category, Unit};
use serde::{Deserialize, Serialize};

/// Horizontal bars made of parts: one bar per kernel, one part per cause.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stacked {
    /// What the parts are: the legend, in the order they are stacked.
    pub parts: Vec<Category>,
    /// The bars, top to bottom.
    pub bars: Vec<StackedBar>,
    /// What the values count.
    pub unit: Unit,
    /// What is measured: `time per file`. May be empty.
    pub label: String,
    /// What a bar's length means.
    pub measure: Measure,
}

/// What the length of a stacked bar means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Measure {
    /// Every bar is as long as the plot: parts are shares of 100 %.
    #[default]
    Share,
    /// Bars are as long as their totals.
    Total,
}

/// One bar.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StackedBar {
    /// Its name.
    pub label: String,
    /// The size of each part, in the chart's unit; missing ones are zero, and so are negative ones.
    pub values: Vec<f64>,
}

impl StackedBar {
    /// A bar.
    pub fn new(label: impl Into<String>, values: Vec<f64>) -> Self {
        Self { label: label.into(), values }
    }

    /// The size of a part; zero where none is given.
    pub fn value(&self, part: usize) -> f64 {
        match self.values.get(part) {
            Some(value) if value.is_finite() => value.clamp(0.0, 1e18),
            _ => 0.0,
        }
    }

    /// The sum of the first `parts` parts.
    pub fn total(&self, parts: usize) -> f64 {
        (0..parts).map(|part| self.value(part)).sum()
    }
}
