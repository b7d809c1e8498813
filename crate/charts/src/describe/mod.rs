//! What a picture says, as plain data: no pixels, no colours, no simulator types.
//!
//! A [`Figure`] is a title, words for people who cannot see the picture, and one [`Chart`]. Every type is
//! `Clone` and serialises, so a worker can build a figure and the page can draw it.

mod bars;
mod dots;
mod histogram;
mod lanes;
mod lines;
mod marks;
mod stacked;

pub use bars::{Bar, BarSeries, Bars};
pub use dots::{Band, Dot, DotKind, DotSeries, Dots};
pub use histogram::{Arrangement, Histogram, HistogramSeries};
pub use lanes::{Event, EventKind, Interval, Lane, Lanes};
pub use lines::{Bucket, LineSeries, LineShape, Lines};
pub use marks::{Axis, AxisScale, Category, Dash, Fill, Marker, Rule, Span, Tone, Unit};
pub use stacked::{Measure, Stacked, StackedBar};

use serde::{Deserialize, Serialize};

/// One picture with its words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// What the picture shows, in a few words. May be empty.
    pub title: String,
    /// The conditions: machine, kernel, workload, seed. May be empty.
    pub subtitle: String,
    /// The text alternative: what a reader should take from the picture, in sentences.
    pub summary: String,
    /// Small print under the picture. May be empty.
    pub note: String,
    /// The picture itself.
    pub chart: Chart,
}

impl Figure {
    /// A figure with a title and a chart; the other texts are empty.
    pub fn new(title: impl Into<String>, chart: impl Into<Chart>) -> Self {
        Self {
            title: title.into(),
            subtitle: String::new(),
            summary: String::new(),
            note: String::new(),
            chart: chart.into(),
        }
    }

    /// The same figure with a subtitle.
    #[must_use]
    pub fn subtitle(mut self, text: impl Into<String>) -> Self {
        self.subtitle = text.into();
        self
    }

    /// The same figure with a text alternative.
    #[must_use]
    pub fn summary(mut self, text: impl Into<String>) -> Self {
        self.summary = text.into();
        self
    }

    /// The same figure with small print.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.note = text.into();
        self
    }
}

/// The kinds of picture this crate draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Chart {
    /// Who had the thing when: rows of coloured intervals over time.
    Lanes(Lanes),
    /// Single happenings over time and a value: where the head went.
    Dots(Dots),
    /// Values over time with their extremes.
    Lines(Lines),
    /// Values by category, with published values beside them.
    Bars(Bars),
    /// What a total is made of, by category.
    Stacked(Stacked),
    /// How often each value occurred.
    Histogram(Histogram),
}

impl Chart {
    /// The whole time span of a chart over time; `None` for the others.
    pub fn span(&self) -> Option<Span> {
        match self {
            Self::Lanes(chart) => Some(chart.span),
            Self::Dots(chart) => Some(chart.span),
            Self::Lines(chart) => Some(chart.span),
            Self::Bars(_) | Self::Stacked(_) | Self::Histogram(_) => None,
        }
    }
}

macro_rules! chart_from {
    ($($kind:ident),*) => {
        $(impl From<$kind> for Chart {
            fn from(chart: $kind) -> Self {
                Self::$kind(chart)
            }
        })*
    };
}
chart_from!(Lanes, Dots, Lines, Bars, Stacked, Histogram);
