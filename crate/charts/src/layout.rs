//! Where things are: what the page needs to answer the pointer without looking at pixels.

use crate::describe::{AxisScale, Span};
use serde::{Deserialize, Serialize};

/// A rectangle, CSS pixels from the upper left corner of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rect {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Right edge.
    pub right: f64,
    /// Lower edge.
    pub bottom: f64,
}

impl Rect {
    /// A rectangle from its edges.
    pub const fn new(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self { left, top, right, bottom }
    }

    /// Its width; negative when the edges are the wrong way round.
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Its height; negative when the edges are the wrong way round.
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// Whether a point lies inside or on an edge.
    pub fn contains(&self, x: f64, y: f64) -> bool {
        x >= self.left && x <= self.right && y >= self.top && y <= self.bottom
    }
}

/// How values become pixels along one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// Value at the first pixel.
    pub low: f64,
    /// Value at the last pixel.
    pub high: f64,
    /// Pixel of `low`.
    pub from: f64,
    /// Pixel of `high`; less than `from` when values grow upwards.
    pub to: f64,
    /// Linear or logarithmic.
    pub kind: AxisScale,
}

impl Scale {
    /// A linear scale.
    pub(crate) const fn linear(low: f64, high: f64, from: f64, to: f64) -> Self {
        Self { low, high, from, to, kind: AxisScale::Linear }
    }

    /// The pixel of a value; outside the ends for values outside.
    pub fn pixel(&self, value: f64) -> f64 {
        let share = match self.kind {
            AxisScale::Linear => (value - self.low) / (self.high - self.low),
            AxisScale::Log if value > 0.0 => {
                libm::log10(value / self.low) / libm::log10(self.high / self.low)
            }
            AxisScale::Log => 0.0,
        };
        if share.is_finite() { self.from + share * (self.to - self.from) } else { self.from }
    }

    /// The pixel of a value, held between the ends.
    pub fn pixel_within(&self, value: f64) -> f64 {
        self.pixel(value).clamp(self.from.min(self.to), self.from.max(self.to))
    }

    /// The value at a pixel.
    pub fn value(&self, pixel: f64) -> f64 {
        let share = (pixel - self.from) / (self.to - self.from);
        match self.kind {
            AxisScale::Linear => self.low + share * (self.high - self.low),
            AxisScale::Log => self.low * libm::pow(self.high / self.low, share),
        }
    }
}

/// A plot: a rectangle with a horizontal and a vertical scale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Panel {
    /// Where marks are drawn.
    pub plot: Rect,
    /// Horizontal: nanoseconds on charts over time, otherwise the axis's unit.
    pub x: Scale,
    /// Vertical, in the axis's unit; unused (0 to 1) on rows of bars and lanes.
    pub y: Scale,
}

/// What a target stands for, as indices into the description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Item {
    /// A lane.
    Lane(usize),
    /// A bar: group and series.
    Bar(usize, usize),
    /// A part of a stacked bar: bar and part.
    Part(usize, usize),
    /// The bins of one series; the panel's horizontal scale says which bin.
    Bins(usize),
}

/// A place that answers the pointer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// Where.
    pub area: Rect,
    /// What.
    pub item: Item,
    /// Index into [`Layout::panels`].
    pub panel: usize,
}

/// Where everything of a drawn figure is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Layout {
    /// Width of the picture, CSS pixels.
    pub width: f64,
    /// Height of the picture, CSS pixels.
    pub height: f64,
    /// Time shown, for charts over time.
    pub span: Option<Span>,
    /// The plots.
    pub panels: Vec<Panel>,
    /// Lanes, bars and parts.
    pub targets: Vec<Target>,
}

impl Layout {
    /// The plot that holds a point.
    pub fn panel_at(&self, x: f64, y: f64) -> Option<&Panel> {
        self.panels.iter().find(|panel| panel.plot.contains(x, y))
    }

    /// The time at a horizontal place, nanoseconds; `None` beside the plots and for charts that are not over time.
    pub fn time_at(&self, x: f64) -> Option<u64> {
        self.span?;
        let panel = self.panels.first()?;
        let inside = x >= panel.plot.left && x <= panel.plot.right;
        inside.then(|| panel.x.value(x).max(0.0).round() as u64)
    }

    /// The horizontal place of a time; `None` when it is not shown or the chart is not over time.
    pub fn x_of_time(&self, at_ns: u64) -> Option<f64> {
        let (low, high) = self.span?.ends();
        let at = at_ns as f64;
        let panel = self.panels.first()?;
        (at >= low && at <= high).then(|| panel.x.pixel(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pixels_and_values_are_inverse(low in 0.1f64..1e6, factor in 1.1f64..1e4, share in 0.0f64..1.0) {
            for kind in [AxisScale::Linear, AxisScale::Log] {
                let scale = Scale { low, high: low * factor, from: 300.0, to: 20.0, kind };
                let value = low + share * (low * factor - low);
                let back = scale.value(scale.pixel(value));
                prop_assert!((back - value).abs() <= value * 1e-9);
                prop_assert!(scale.pixel(value) >= 20.0 - 1e-6 && scale.pixel(value) <= 300.0 + 1e-6);
            }
        }
    }

    #[test]
    fn scales_without_extent_do_not_escape() {
        let scale = Scale::linear(1.0, 1.0, 0.0, 100.0);
        assert_eq!(scale.pixel(5.0), 0.0);
        let scale = Scale { kind: AxisScale::Log, ..Scale::linear(1.0, 10.0, 0.0, 100.0) };
        assert_eq!(scale.pixel(-5.0), 0.0);
    }
}
