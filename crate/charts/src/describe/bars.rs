//! Values by category.

use super::marks::{Axis, Fill, Tone};
use serde::{Deserialize, Serialize};

/// Horizontal bars in groups: one group per kernel, one bar per measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bars {
    /// The values.
    pub axis: Axis,
    /// Names of the groups, top to bottom.
    pub groups: Vec<String>,
    /// The bars of each group, top to bottom.
    pub series: Vec<BarSeries>,
    /// What a bar's `reference` is: `published`.
    pub reference: String,
}

/// The bars of one measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BarSeries {
    /// Its name in the legend (which is left out when there is one series without references).
    pub label: String,
    /// Its colour's meaning.
    pub tone: Tone,
    /// Its pattern.
    pub fill: Fill,
    /// One entry per group; missing ones are left empty.
    pub bars: Vec<Option<Bar>>,
}

impl BarSeries {
    /// A series without bars in a palette slot, with the slot's usual fill.
    pub fn slot(label: impl Into<String>, slot: u8) -> Self {
        Self { label: label.into(), tone: Tone::Series(slot), fill: Fill::for_slot(slot), bars: Vec::new() }
    }
}

/// One bar, values in the axis's unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bar {
    /// Its length.
    pub value: f64,
    /// Least and greatest over seeds: the whiskers.
    pub spread: Option<(f64, f64)>,
    /// A value to compare with: the published one.
    pub reference: Option<f64>,
}

impl Bar {
    /// A bar without whiskers.
    pub const fn new(value: f64) -> Self {
        Self { value, spread: None, reference: None }
    }

    /// The same bar with whiskers from `low` to `high`.
    #[must_use]
    pub const fn spread(mut self, low: f64, high: f64) -> Self {
        self.spread = Some((low, high));
        self
    }

    /// The same bar with a value to compare with.
    #[must_use]
    pub const fn reference(mut self, value: f64) -> Self {
        self.reference = Some(value);
        self
    }
}
