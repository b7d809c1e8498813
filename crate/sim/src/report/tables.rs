//! Tables as data: rows are metrics, columns are kernels, cells hold the figure of every seed.

use super::statistics::{Difference, Statistics};
use serde::{Deserialize, Serialize};

/// A table: simulated numbers, with the published ones where they exist.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TableResult {
    /// The table's id in the published data; `comparison` for a table of one's own.
    pub id: String,
    /// What it shows.
    pub caption: String,
    /// Labels of the columns.
    pub columns: Vec<String>,
    /// The index of the column that the others are compared with.
    pub baseline: usize,
    /// The rows.
    pub rows: Vec<RowResult>,
}

/// One metric on every kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowResult {
    /// The metric's name.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// One cell for each column.
    pub cells: Vec<Cell>,
    /// The author of the published numbers could not explain them: shown, not scored.
    pub is_unexplained: bool,
}

/// Which direction is good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// More is better.
    #[default]
    Higher,
    /// Less is better.
    Lower,
    /// Neither: a change is a change.
    None,
}

/// One number of a table, over seeds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The figure of each seed, in the seeds' order; runs that were cut short are left out.
    pub values: Vec<f64>,
    /// Mean, extremes and spread of the values.
    pub statistics: Statistics,
    /// The published number.
    pub published: Option<f64>,
    /// How much better than the baseline, per cent of the baseline's mean; negative is worse. `None` in the baseline's
    /// own column and when the baseline is 0.
    pub gain_percent: Option<f64>,
    /// The paired difference from the baseline; `None` in the baseline's own column and for a single seed.
    pub difference: Option<Difference>,
}

/// How far a claim is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClaimStatus {
    /// Must hold.
    Firm,
    /// Should follow from the rules; a first trial did not meet it.
    Reach,
    /// No rule is known that explains it.
    Open,
}

/// A claim of a published table, tried.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClaimResult {
    /// Its id.
    pub id: String,
    /// What it says.
    pub says: String,
    /// How far it is to be taken.
    pub status: ClaimStatus,
    /// Whether the simulated number is within the bounds.
    pub holds: bool,
    /// The simulated number; `None` if a run is missing. Of several columns, the one farthest out of bounds.
    pub simulated: Option<f64>,
    /// The published number.
    pub published: Option<f64>,
    /// The least it may be.
    pub at_least: Option<f64>,
    /// The most it may be.
    pub at_most: Option<f64>,
    /// One sentence with both numbers and the bounds, and what is known about it.
    pub sentence: String,
}
