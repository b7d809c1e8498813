//! Draws [`Dots`].

use super::marker::marker;
use super::{Sheet, axis, dense, line, small_font};
use crate::describe::{AxisScale, Band, Dot, Dots, Marker};
use crate::layout::{Panel, Rect, Scale};
use crate::pen::Side;
use crate::reduce::{Cells, Columns};
use crate::theme::Theme;

/// Between two bands.
const APART: f64 = 10.0;
/// Radius of a dot.
const RADIUS: f64 = 2.5;
/// With more dots than this in a band the cells they lie in are drawn: shapes could not be told apart anyway.
const MANY: usize = 2_500;

/// Height that looks right.
pub(crate) fn height(chart: &Dots, theme: &Theme) -> f64 {
    let bands = chart.bands.len().max(1) as f64;
    let plots = (bands * 90.0).max(220.0);
    plots + axis::title_height(theme) + axis::bottom_height(theme)
}

pub(crate) fn draw(chart: &Dots, sheet: &mut Sheet<'_>, area: Rect) {
    let top = area.top + axis::title_height(sheet.theme);
    let bottom = area.bottom - axis::bottom_height(sheet.theme);
    let bands = bands(chart);
    let heights = divide(top, bottom, bands.len());
    let banded = !chart.bands.is_empty();
    let axes: Vec<axis::Vertical> = bands
        .iter()
        .zip(&heights)
        .map(|(band, &height)| {
            axis::Vertical::new(sheet, &chart.y.unit, (band.low, band.high), chart.y.scale, height, banded)
        })
        .collect();
    let needed = axes.iter().map(|axis| axis.needed).fold(0.0, f64::max);
    let left = axis::plot_left(sheet, area, needed);
    let plots: Vec<Rect> =
        heights.iter().map(|&(top, bottom)| Rect::new(left, top, area.right, bottom)).collect();
    let span = sheet.span(chart.span);
    sheet.layout.span = Some(span);
    let x = axis::time(sheet, span.ends(), &plots);
    if let Some(axis) = axes.last() {
        let middle = area.top + line(sheet.small()) / 2.0;
        if banded {
            let font = sheet.small();
            sheet.text(&chart.y.label, (area.left, middle), Side::Left, font, true);
        } else {
            axis.title(sheet, &chart.y.label, area, middle);
        }
    }
    for ((axis, band), &plot) in axes.iter().zip(&bands).zip(&plots) {
        let y = axis.draw(sheet, plot);
        sheet.panel(Panel { plot, x, y });
        draw_band(chart, sheet, (x, y), plot);
        write_band(sheet, band, plot);
    }
    remark_outside(chart, sheet, &bands, span.ends());
}

/// The bands with a little room around their values; one for everything when none are given. Lowest last, as drawn.
fn bands(chart: &Dots) -> Vec<Band> {
    if chart.bands.is_empty() {
        let values = chart.series.iter().flat_map(|series| series.dots.iter().map(|dot| dot.value));
        let (low, high) = axis::extremes(chart.y.scale, values);
        let (low, high) = match chart.y.range {
            Some(_) => axis::ends(&chart.y, (low, high), 6),
            None if chart.y.scale == AxisScale::Log => axis::ends(&chart.y, (low, high), 6),
            None => roomy(low, high),
        };
        return vec![Band::new("", low, high)];
    }
    chart
        .bands
        .iter()
        .rev()
        .map(|band| {
            let (low, high) = roomy(band.low, band.high);
            Band::new(band.label.clone(), low, high)
        })
        .collect()
}

/// Ends with a little room, so that dots do not sit on the edges.
fn roomy(low: f64, high: f64) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let (low, high) = (low.min(high).max(-1e18), low.max(high).min(1e18));
    let room = ((high - low) * 0.06).max(1.0);
    (low - room, high + room)
}

/// Equal heights, top to bottom.
fn divide(top: f64, bottom: f64, parts: usize) -> Vec<(f64, f64)> {
    let parts = parts.max(1);
    let apart = APART.min((bottom - top) / (3.0 * parts as f64));
    let height = (bottom - top + apart) / parts as f64;
    (0..parts)
        .map(|part| {
            let from = top + height * part as f64;
            (from.round(), (from + height - apart).round())
        })
        .collect()
}

fn write_band(sheet: &mut Sheet<'_>, band: &Band, plot: Rect) {
    let font = small_font(sheet.theme);
    let width = sheet.pen.width(&band.label, font);
    if band.label.is_empty() || plot.height() < line(font) * 1.5 || width + 12.0 > plot.width() {
        return;
    }
    let behind = sheet.theme.background.alpha(0.8);
    let bottom = plot.top + line(font);
    sheet.pen.rect(Rect::new(plot.left + 1.0, plot.top, plot.left + width + 9.0, bottom), behind);
    sheet.text(&band.label, (plot.left + 5.0, plot.top + line(font) / 2.0), Side::Left, font, false);
}

fn draw_band(chart: &Dots, sheet: &mut Sheet<'_>, (x, y): (Scale, Scale), plot: Rect) {
    let size = cell_px(chart, x, y);
    let pixels = size.unwrap_or(1.0 / sheet.pen.scale());
    let count = |length: f64| (length / pixels).ceil().clamp(1.0, 8_192.0) as usize;
    let across = Columns::new(x.low, x.high, count(plot.width()));
    let down = Columns::new(plot.top, plot.bottom, count(plot.height()));
    let mut cells = Cells::new(across.count, down.count);
    for series in &chart.series {
        let ink = sheet.theme.colour(series.tone).into();
        for kind in 0..=chart.kinds.len() {
            cells.clear();
            let known = chart.kinds.get(kind);
            let shape = known.map_or(Marker::Disc, |known| known.marker);
            let same = |dot: &&Dot| dot.kind.min(chart.kinds.len()) == kind && in_band(dot, y);
            for dot in series.dots.iter().filter(same) {
                let height = y.pixel(dot.value);
                let cell = across.column(dot.at_ns as f64).zip(down.column(height));
                let free = cell.is_some_and(|(column, row)| cells.take(column, row));
                if free && size.is_none() {
                    let at = (x.pixel(dot.at_ns as f64), height);
                    marker(sheet, at, RADIUS, shape, ink);
                }
            }
            if size.is_some() {
                dense::cells(sheet, &cells, plot, ink);
            }
        }
    }
}

fn in_band(dot: &Dot, y: Scale) -> bool {
    dot.value >= y.low && dot.value <= y.high
}

/// The size of the cells that stand for dots where there are too many to draw each, CSS pixels; `None` where not.
fn cell_px(chart: &Dots, x: Scale, y: Scale) -> Option<f64> {
    let shown = |dot: &&Dot| in_band(dot, y) && (x.low..=x.high).contains(&(dot.at_ns as f64));
    let dots = chart.series.iter().flat_map(|series| &series.dots);
    match dots.filter(shown).count() {
        0..=MANY => None,
        count if count <= 8 * MANY => Some(2.0),
        _ => Some(3.0),
    }
}

/// Says how many dots of the time shown lie in no band.
fn remark_outside(chart: &Dots, sheet: &mut Sheet<'_>, bands: &[Band], (start, end): (f64, f64)) {
    let dots = chart.series.iter().flat_map(|series| &series.dots);
    let shown = dots.filter(|dot| (start..=end).contains(&(dot.at_ns as f64)));
    let outside =
        shown.filter(|dot| !bands.iter().any(|band| dot.value >= band.low && dot.value <= band.high)).count();
    if outside > 0 {
        sheet.remark = Some(format!("{outside} outside the ranges shown"));
    }
}
