//! Rows of intervals over time.

use super::marks::{Category, Marker, Span, Tone};
use serde::{Deserialize, Serialize};

/// Rows over one time axis: whose slice is served, what each process is doing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lanes {
    /// The whole time.
    pub span: Span,
    /// What the intervals' `category` numbers mean; also the legend.
    pub categories: Vec<Category>,
    /// What the events' `kind` numbers mean; also in the legend.
    pub kinds: Vec<EventKind>,
    /// The rows, top to bottom.
    pub lanes: Vec<Lane>,
    /// Intervals of one lane share its height by their [`Interval::band`]; rows are high, and what is said of them are shares.
    pub is_shared: bool,
}

/// One row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lane {
    /// Its name, written at the left (above it on narrow pictures).
    pub label: String,
    /// What it was doing. Intervals of one lane should not overlap; any order.
    pub intervals: Vec<Interval>,
    /// What happened at a point in time; any order.
    pub events: Vec<Event>,
}

impl Lane {
    /// An empty row.
    pub fn new(label: impl Into<String>) -> Self {
        Self { label: label.into(), ..Self::default() }
    }
}

/// A stretch of one lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// First nanosecond.
    pub start_ns: u64,
    /// First nanosecond after it.
    pub end_ns: u64,
    /// Index into [`Lanes::categories`]; an unknown one is drawn neutral.
    pub category: usize,
    /// Words of its own, shown inside where they fit and under the pointer.
    pub label: Option<String>,
    /// Where lanes are shared: from which to which share of the height, 0 to 1, counted from below.
    pub band: (f64, f64),
}

impl Interval {
    /// An interval without words of its own.
    pub const fn new(start_ns: u64, end_ns: u64, category: usize) -> Self {
        Self { start_ns, end_ns, category, label: None, band: (0.0, 1.0) }
    }

    /// The share of the height that it has.
    pub fn share(&self) -> f64 {
        (self.band.1 - self.band.0).clamp(0.0, 1.0)
    }
}

/// A point in time on one lane.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When.
    pub at_ns: u64,
    /// Index into [`Lanes::kinds`]; an unknown one is drawn neutral.
    pub kind: usize,
    /// Words of its own, shown under the pointer.
    pub label: Option<String>,
}

impl Event {
    /// An event without words of its own.
    pub const fn new(at_ns: u64, kind: usize) -> Self {
        Self { at_ns, kind, label: None }
    }
}

/// A kind of event: one entry of the legend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventKind {
    /// Its name.
    pub label: String,
    /// Its colour's meaning.
    pub tone: Tone,
    /// Its shape.
    pub marker: Marker,
}

impl EventKind {
    /// A kind of event.
    pub fn new(label: impl Into<String>, tone: Tone, marker: Marker) -> Self {
        Self { label: label.into(), tone, marker }
    }
}
