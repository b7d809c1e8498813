//! Draws [`Histogram`].

use super::{Sheet, axis, line, small_font};
use crate::describe::{Arrangement, AxisScale, Dash, Histogram, HistogramSeries, Unit};
use crate::layout::{Item, Panel, Rect, Scale};
use crate::pen::{Ink, Point, Side};
use crate::reduce::{Columns, bins};
use crate::text;
use crate::theme::Theme;
use crate::ticks::round_ends;

/// Height of a small plot with its name.
const SMALL: f64 = 84.0;

/// Height that looks right.
pub(crate) fn height(chart: &Histogram, theme: &Theme) -> f64 {
    let frame = axis::title_height(theme) + axis::bottom_height(theme);
    match chart.arrangement {
        Arrangement::Multiples if chart.series.len() > 1 => chart.series.len() as f64 * SMALL + frame,
        _ => 180.0 + frame,
    }
}

pub(crate) fn draw(chart: &Histogram, sheet: &mut Sheet<'_>, area: Rect) {
    let top = area.top + axis::title_height(sheet.theme);
    let bottom = area.bottom - axis::bottom_height(sheet.theme);
    let groups = groups(chart);
    let heights = divide(sheet, (top, bottom), &groups);
    let axes: Vec<axis::Vertical> = groups
        .iter()
        .zip(&heights)
        .map(|(group, &(top, bottom))| {
            let most = ((bottom - top) / 16.0).clamp(2.0, 6.0) as usize;
            let ends = round_ends(&Unit::Count, 0.0, peak(group), most);
            axis::Vertical::new(sheet, &Unit::Count, ends, AxisScale::Linear, (top, bottom), false)
        })
        .collect();
    let needed = axes.iter().map(|axis| axis.needed).fold(0.0, f64::max);
    let left = (area.left + needed).round();
    let plots: Vec<Rect> =
        heights.iter().map(|&(top, bottom)| Rect::new(left, top, area.right, bottom)).collect();
    let Some(&last) = plots.last() else { return };
    let longest = chart.series.iter().map(|series| series.counts.len()).max().unwrap_or(0).max(1);
    let first = if chart.first.is_finite() { chart.first.clamp(-1e18, 1e18) } else { 0.0 };
    let x = Scale::linear(first, first + longest as f64 * chart.bin_width(), last.left, last.right);
    if let Some(axis) = axes.first() {
        axis.title(sheet, &chart.counted, area, area.top + line(sheet.small()) / 2.0);
    }
    let ys: Vec<Scale> = axes.iter().zip(&plots).map(|(axis, &plot)| axis.draw(sheet, plot)).collect();
    axis::horizontal(sheet, (&chart.label, &chart.unit), x, &plots);
    for ((group, &plot), &y) in groups.iter().zip(&plots).zip(&ys) {
        let panel = sheet.panel(Panel { plot, x, y });
        draw_plot(chart, sheet, group, (x, y), (plot, panel));
    }
    for rule in &chart.rules {
        if rule.value >= x.low && rule.value <= x.high {
            axis::vertical_rule(sheet, x.pixel(rule.value), &rule.label, &plots);
        }
    }
}

/// The series of each plot, with their indices.
type Group<'a> = Vec<(usize, &'a HistogramSeries)>;

fn groups(chart: &Histogram) -> Vec<Group<'_>> {
    let all: Group<'_> = chart.series.iter().enumerate().collect();
    match chart.arrangement {
        Arrangement::Overlaid => vec![all],
        Arrangement::Multiples => all.into_iter().map(|one| vec![one]).collect(),
    }
}

/// Top and bottom of each plot; with several, each has a row for its name above it.
fn divide(sheet: &Sheet<'_>, (top, bottom): (f64, f64), groups: &[Group<'_>]) -> Vec<(f64, f64)> {
    let count = groups.len().max(1) as f64;
    let height = (bottom - top) / count;
    let name = if groups.len() > 1 { line(small_font(sheet.theme)).min(height * 0.4) } else { 0.0 };
    (0..groups.len())
        .map(|index| {
            let from = top + height * index as f64;
            ((from + name).round(), (from + height).round() - if groups.len() > 1 { 6.0 } else { 0.0 })
        })
        .collect()
}

fn peak(group: &Group<'_>) -> f64 {
    let counts = group.iter().flat_map(|(_, series)| series.counts.iter().copied());
    counts.max().unwrap_or(0).max(1) as f64
}

fn draw_plot(
    chart: &Histogram,
    sheet: &mut Sheet<'_>,
    group: &Group<'_>,
    (x, y): (Scale, Scale),
    (plot, panel): (Rect, usize),
) {
    let window = Columns::new(x.low, x.high, sheet.columns(plot.width()));
    let unit = plot.width() / window.count as f64;
    let overlaid = group.len() > 1;
    for &(index, series) in group {
        sheet.target(plot, Item::Bins(index), panel);
        let colour = sheet.theme.colour(series.tone);
        let ink = if overlaid { colour.alpha(0.3) } else { colour.into() };
        let bins = bins(&series.counts, x.low, chart.bin_width(), window);
        for &(from, to, count) in &bins {
            let (left, right) = (plot.left + from * unit, plot.left + to * unit);
            // A gap between bars, where they are wide enough to spare it.
            let gap = if !overlaid && right - left >= 4.0 { 1.0 } else { 0.0 };
            let top = y.pixel_within(count as f64).min(plot.bottom - 1.0);
            sheet.pen.rect(Rect::new(left, top, right - gap, plot.bottom), ink);
        }
        if overlaid {
            let dash = Dash::for_slot(index as u8);
            outline(sheet, &bins, (plot, unit), y, dash, colour.into());
        }
    }
    if let ([(_, only)], Arrangement::Multiples) = (group.as_slice(), chart.arrangement)
        && chart.series.len() > 1
    {
        let font = sheet.label();
        let words = text::ellipsis(&super::Borrowed(sheet.pen), &only.label, font, plot.width());
        sheet.text(&words, (plot.left, plot.top - line(font) / 2.0), Side::Left, font, false);
    }
}

/// The upper edges of bins as one line per run of neighbours.
fn outline(
    sheet: &mut Sheet<'_>,
    bins: &[(f64, f64, u64)],
    (plot, unit): (Rect, f64),
    y: Scale,
    dash: Dash,
    ink: Ink,
) {
    let mut points: Vec<Point> = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for &(from, to, count) in bins {
        let (left, right) = (plot.left + from * unit, plot.left + to * unit);
        let top = y.pixel_within(count as f64);
        if (left - end).abs() > 0.01 {
            if !points.is_empty() {
                points.push((end, plot.bottom));
                super::lines::dashed(sheet, &points, dash, ink);
            }
            points = vec![(left, plot.bottom)];
        }
        points.push((left, top));
        points.push((right, top));
        end = right;
    }
    if !points.is_empty() {
        points.push((end, plot.bottom));
        super::lines::dashed(sheet, &points, dash, ink);
    }
}
