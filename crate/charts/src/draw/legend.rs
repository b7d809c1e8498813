//! What the colours, patterns and shapes mean.

use super::fill::fill;
use super::marker::marker;
use super::{Sheet, line};
use crate::describe::{Chart, Dash, Fill, Marker, Tone};
use crate::layout::Rect;
use crate::pen::{Font, Point, Ruler, Side};
use crate::text;

/// What stands before a legend's word.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Swatch {
    Area(Tone, Fill),
    Line(Tone, Dash),
    Mark(Tone, Marker),
    /// A colour that several shapes share.
    Spot(Tone),
    /// The published value's mark.
    Reference,
}

/// Width of a swatch.
const SWATCH: f64 = 18.0;
/// Between a swatch and its word.
const GAP: f64 = 6.0;
/// Between two entries.
const APART: f64 = 16.0;

/// One entry.
pub(crate) type Entry = (Swatch, String);

/// The entries of a chart's legend; none where labels say it all.
pub(crate) fn entries(chart: &Chart) -> Vec<Entry> {
    match chart {
        Chart::Lanes(chart) => {
            let areas = chart.categories.iter().map(|c| (Swatch::Area(c.tone, c.fill), c.label.clone()));
            let marks = chart.kinds.iter().map(|k| (Swatch::Mark(k.tone, k.marker), k.label.clone()));
            areas.chain(marks).collect()
        }
        Chart::Dots(chart) => {
            let series = chart.series.iter().map(|s| (Swatch::Spot(s.tone), s.label.clone()));
            let kinds = chart.kinds.iter().map(|k| (Swatch::Mark(Tone::Neutral, k.marker), k.label.clone()));
            series.chain(kinds).collect()
        }
        Chart::Lines(chart) => {
            let lines = chart.series.iter().map(|s| (Swatch::Line(s.tone, s.dash), s.label.clone()));
            lines.collect()
        }
        Chart::Bars(chart) => {
            let mut entries = Vec::new();
            let mut referenced = false;
            for series in &chart.series {
                entries.push((Swatch::Area(series.tone, series.fill), series.label.clone()));
                referenced |= series.bars.iter().flatten().any(|bar| bar.reference.is_some());
            }
            if referenced {
                entries.push((Swatch::Reference, chart.reference.clone()));
            } else if entries.len() == 1 {
                entries.clear();
            }
            entries
        }
        Chart::Stacked(chart) => {
            let parts = chart.parts.iter().map(|p| (Swatch::Area(p.tone, p.fill), p.label.clone()));
            parts.collect()
        }
        Chart::Histogram(chart) => {
            if chart.arrangement == crate::describe::Arrangement::Multiples || chart.series.len() < 2 {
                return Vec::new();
            }
            let series = chart.series.iter().map(|s| (Swatch::Area(s.tone, Fill::Tint), s.label.clone()));
            series.collect()
        }
    }
}

/// A legend broken into rows.
pub(crate) struct Rows {
    rows: Vec<Vec<Entry>>,
}

impl Rows {
    /// Puts as many entries on a row as `room` holds. Entries without a word are left out.
    pub(crate) fn new(entries: Vec<Entry>, room: f64, font: Font, ruler: &dyn Ruler) -> Self {
        let mut rows: Vec<Vec<Entry>> = Vec::new();
        let mut used = 0.0;
        for (swatch, label) in entries {
            if label.is_empty() {
                continue;
            }
            let label = text::ellipsis(ruler, &label, font, room - SWATCH - GAP);
            let width = SWATCH + GAP + ruler.width(&label, font);
            match rows.last_mut() {
                Some(row) if used + APART + width <= room => {
                    used += APART + width;
                    row.push((swatch, label));
                }
                _ => {
                    used = width;
                    rows.push(vec![(swatch, label)]);
                }
            }
        }
        Self { rows }
    }

    /// Leaves all entries out.
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
    }

    /// Height of all rows.
    pub(crate) fn height(&self, font: Font) -> f64 {
        self.rows.len() as f64 * (line(font) + 2.0)
    }

    /// Draws the rows from an upper left corner.
    pub(crate) fn draw(&self, sheet: &mut Sheet<'_>, (left, top): Point) {
        let font = sheet.label();
        let mut middle = top + (line(font) + 2.0) / 2.0;
        for row in &self.rows {
            let mut x = left;
            for (swatch, label) in row {
                swatch.draw(sheet, (x, middle));
                x += SWATCH + GAP;
                sheet.text(label, (x, middle), Side::Left, font, false);
                x += sheet.pen.width(label, font) + APART;
            }
            middle += line(font) + 2.0;
        }
    }
}

impl Swatch {
    fn draw(self, sheet: &mut Sheet<'_>, (x, middle): Point) {
        let middle = middle.round();
        match self {
            Self::Area(tone, pattern) => {
                let area = Rect::new(x, middle - 6.0, x + SWATCH, middle + 6.0);
                fill(sheet, area, tone, pattern);
            }
            Self::Line(tone, dash) => {
                let ink = sheet.theme.colour(tone).into();
                super::lines::dashed(sheet, &[(x, middle), (x + SWATCH, middle)], dash, ink);
                super::lines::badge(sheet, (x + SWATCH / 2.0, middle), dash, ink);
            }
            Self::Mark(tone, shape) => {
                let ink = sheet.theme.colour(tone).into();
                marker(sheet, (x + SWATCH / 2.0, middle), 4.0, shape, ink);
            }
            Self::Spot(tone) => {
                let left = x + (SWATCH - 12.0) / 2.0;
                let area = Rect::new(left, middle - 6.0, left + 12.0, middle + 6.0);
                fill(sheet, area, tone, Fill::Solid);
            }
            Self::Reference => reference(sheet, (x + SWATCH / 2.0, middle), 8.0),
        }
    }
}

/// The mark of a published value: an upright stroke with a rim, a little higher than the bar it crosses, so that
/// whiskers stay visible through it.
pub(crate) fn reference(sheet: &mut Sheet<'_>, (x, y): Point, half_height: f64) {
    let rim = Rect::new(x - 2.5, y - half_height, x + 2.5, y + half_height);
    sheet.pen.rect(rim, sheet.theme.background.into());
    let core = Rect::new(x - 1.5, rim.top, x + 1.5, rim.bottom);
    sheet.pen.rect(core, sheet.theme.text.into());
}
