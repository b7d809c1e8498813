//! Single happenings over time and a value.

use super::marks::{Axis, Marker, Span, Tone};
use serde::{Deserialize, Serialize};
use stallarium_sim::short_sort;

/// Dispatches over time: each dot is one request at its place on the disk.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dots {
    /// The whole time.
    pub span: Span,
    /// The value upwards: [`super::Unit::Sectors`] for places on a disk.
    pub y: Axis,
    /// Parts of the value axis, lowest first, each drawn with the same height. Empty: one axis for all.
    /// Dots outside every band are counted in the note under the picture, never dropped silently.
    pub bands: Vec<Band>,
    /// Shapes that the dots' `kind` numbers mean; also in the legend.
    pub kinds: Vec<DotKind>,
    /// Who the dots belong to; colours.
    pub series: Vec<DotSeries>,
}

impl Dots {
    /// Cuts the value axis at its widest empty stretches, so that files that lie far apart can each be
    /// seen. At most `most` bands; a stretch is a gap when it is more than a fiftieth of the whole range.
    /// With nothing to cut, the bands become empty. Linearithmic in the number of dots.
    pub fn cut_into_bands(&mut self, most: usize) {
        let mut values: Vec<f64> = self
            .series
            .iter()
            .flat_map(|series| series.dots.iter().map(|dot| dot.value))
            .filter(|value| value.is_finite())
            .collect();
        values.sort_by(f64::total_cmp);
        self.bands.clear();
        let (Some(&low), Some(&high)) = (values.first(), values.last()) else {
            return;
        };
        let mut gaps: Vec<(f64, usize)> = values
            .windows(2)
            .enumerate()
            .map(|(index, pair)| (pair[1] - pair[0], index + 1))
            .filter(|(gap, _)| *gap > (high - low) / 50.0)
            .collect();
        short_sort::sort_by(&mut gaps, |a, b| b.0.total_cmp(&a.0));
        gaps.truncate(most.saturating_sub(1));
        if gaps.is_empty() {
            return;
        }
        let mut cuts: Vec<usize> = gaps.into_iter().map(|(_, index)| index).collect();
        cuts.push(0);
        cuts.push(values.len());
        short_sort::sort_by_key(&mut cuts, |cut| *cut);
        for pair in cuts.windows(2) {
            let part = &values[pair[0]..pair[1]];
            if let (Some(&low), Some(&high)) = (part.first(), part.last()) {
                self.bands.push(Band::new("", low, high));
            }
        }
    }
}

/// A part of the value axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Band {
    /// What lies there: `journal`. May be empty.
    pub label: String,
    /// Its low end, in the axis's unit.
    pub low: f64,
    /// Its high end. A little room is added at both.
    pub high: f64,
}

impl Band {
    /// The part from `low` to `high`.
    pub fn new(label: impl Into<String>, low: f64, high: f64) -> Self {
        Self { label: label.into(), low, high }
    }
}

/// A shape of dots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DotKind {
    /// Its name: `read`, `sync write`.
    pub label: String,
    /// Its shape.
    pub marker: Marker,
}

impl DotKind {
    /// A shape of dots.
    pub fn new(label: impl Into<String>, marker: Marker) -> Self {
        Self { label: label.into(), marker }
    }
}

/// The dots of one process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DotSeries {
    /// Its name.
    pub label: String,
    /// Its colour's meaning.
    pub tone: Tone,
    /// The dots, any order.
    pub dots: Vec<Dot>,
}

impl DotSeries {
    /// An empty series.
    pub fn new(label: impl Into<String>, tone: Tone) -> Self {
        Self { label: label.into(), tone, dots: Vec::new() }
    }
}

/// One dot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dot {
    /// When.
    pub at_ns: u64,
    /// Where, in the axis's unit.
    pub value: f64,
    /// Index into [`Dots::kinds`]; an unknown one is drawn as a disc.
    pub kind: usize,
}

impl Dot {
    /// One dot.
    pub const fn new(at_ns: u64, value: f64, kind: usize) -> Self {
        Self { at_ns, value, kind }
    }
}
