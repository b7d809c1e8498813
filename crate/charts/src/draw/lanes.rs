//! Draws [`Lanes`].

use super::fill::{fill, words_inside};
use super::marker::marker;
use super::{Sheet, axis, line, small_font};
use crate::describe::{Category, Fill, Lane, Lanes, Marker, Tone};
use crate::layout::{Item, Panel, Rect, Scale};
use crate::pen::Side;
use crate::reduce::{Columns, moments, runs};
use crate::text;
use crate::theme::Theme;

/// Height of a lane's bar where there is room.
const BAR: f64 = 20.0;
/// The same where intervals share it.
const SHARED_BAR: f64 = 56.0;
/// Height of the strip above the bar that holds events.
const EVENTS: f64 = 9.0;
/// Between two lanes.
const APART: f64 = 8.0;

/// Height that looks right.
pub(crate) fn height(chart: &Lanes, narrow: bool, theme: &Theme) -> f64 {
    let label = if narrow || chart.is_shared { line(small_font(theme)) } else { 0.0 };
    let bar = if chart.is_shared { SHARED_BAR } else { BAR };
    let lane = bar + APART + label + if chart.kinds.is_empty() { 0.0 } else { EVENTS };
    chart.lanes.len().max(1) as f64 * lane + axis::bottom_height(theme)
}

/// Where the parts of one lane are.
struct Row {
    label: f64,
    strip: f64,
    bar: Rect,
    area: Rect,
}

pub(crate) fn draw(chart: &Lanes, sheet: &mut Sheet<'_>, area: Rect) {
    let bottom = area.bottom - axis::bottom_height(sheet.theme);
    let font = sheet.label();
    let widest = chart.lanes.iter().map(|lane| sheet.pen.width(&lane.label, font)).fold(0.0, f64::max);
    let above = chart.is_shared || sheet.narrow() && sheet.view.gutter_px.is_none();
    let needed = if above || widest == 0.0 { 0.0 } else { (widest + 10.0).min(area.width() * 0.35) };
    let plot = Rect::new(axis::plot_left(sheet, area, needed), area.top, area.right, bottom);
    let span = sheet.span(chart.span);
    sheet.layout.span = Some(span);
    let x = axis::time(sheet, span.ends(), &[plot]);
    let panel = sheet.panel(Panel { plot, x, y: Scale::linear(0.0, 1.0, plot.bottom, plot.top) });
    let window = Columns::new(x.low, x.high, sheet.columns(plot.width()));
    for (index, lane) in chart.lanes.iter().enumerate() {
        let row = row(chart, sheet, plot, above, index);
        sheet.target(row.area, Item::Lane(index), panel);
        write_label(sheet, area, &row, above, lane);
        draw_lane(chart, sheet, &row, lane, x, window);
    }
}

fn row(chart: &Lanes, sheet: &Sheet<'_>, plot: Rect, above: bool, index: usize) -> Row {
    let height = plot.height() / chart.lanes.len().max(1) as f64;
    let top = plot.top + height * index as f64;
    let label = if above { line(small_font(sheet.theme)).min(height * 0.45) } else { 0.0 };
    let strip = if chart.kinds.is_empty() { 0.0 } else { EVENTS.min(height * 0.3) };
    let apart = APART.min(height * 0.25);
    let bar_top = (top + label + strip + apart / 2.0).round();
    let bar_bottom = (top + height - apart / 2.0).round().max(bar_top + 1.0);
    Row {
        label: if above { top + apart / 2.0 + label / 2.0 } else { (bar_top + bar_bottom) / 2.0 },
        strip: bar_top - strip / 2.0,
        bar: Rect::new(plot.left, bar_top, plot.right, bar_bottom),
        area: Rect::new(plot.left, top, plot.right, top + height),
    }
}

fn write_label(sheet: &mut Sheet<'_>, area: Rect, row: &Row, above: bool, lane: &Lane) {
    if row.area.height() < 10.0 {
        return;
    }
    let (font, room) = if above {
        (sheet.small(), row.area.width())
    } else {
        (sheet.label(), row.area.left - area.left - 8.0)
    };
    let words = text::ellipsis(&super::Borrowed(sheet.pen), &lane.label, font, room);
    let (x, side) = if above { (row.area.left, Side::Left) } else { (row.area.left - 8.0, Side::Right) };
    sheet.text_on_patch(&words, (x, row.label), side, font, false);
}

fn draw_lane(chart: &Lanes, sheet: &mut Sheet<'_>, row: &Row, lane: &Lane, x: Scale, window: Columns) {
    // A track shows where the lane is when nothing is on it.
    let track = sheet.theme.grid.mix(sheet.theme.background, 0.45);
    sheet.pen.rect(row.bar, track.into());
    if chart.is_shared {
        return draw_shares(chart, sheet, row, lane, x);
    }
    let unit = row.bar.width() / window.count as f64;
    // Category by category, so that marks of one style follow each other.
    let runs = runs(&lane.intervals, chart.categories.len(), window);
    for kind in 0..=chart.categories.len() {
        let (tone, pattern) = style(chart.categories.get(kind));
        for run in runs.iter().filter(|run| run.category == kind) {
            let left = row.bar.left + run.start as f64 * unit;
            let right = row.bar.left + run.end as f64 * unit;
            fill(sheet, Rect { left, right, ..row.bar }, tone, pattern);
        }
    }
    for interval in &lane.intervals {
        if let Some(words) = &interval.label {
            let left = x.pixel(interval.start_ns as f64).max(row.bar.left);
            let right = x.pixel(interval.end_ns as f64).min(row.bar.right);
            let category = chart.categories.get(interval.category);
            let area = Rect { left, right, ..row.bar };
            words_inside(sheet, area, words, style(category));
        }
    }
    for (kind, known) in chart.kinds.iter().enumerate() {
        let times = lane.events.iter().filter(|event| event.kind == kind).map(|event| event.at_ns);
        draw_events(sheet, row, x, (known.tone, known.marker), moments(times, window));
    }
    let unknown = lane.events.iter().filter(|event| event.kind >= chart.kinds.len());
    let times = moments(unknown.map(|event| event.at_ns), window);
    draw_events(sheet, row, x, (Tone::Neutral, Marker::Tick), times);
}

/// Bands one above the other. There are no more of them than somebody wants to see.
fn draw_shares(chart: &Lanes, sheet: &mut Sheet<'_>, row: &Row, lane: &Lane, x: Scale) {
    let y = Scale::linear(0.0, 1.0, row.bar.bottom, row.bar.top);
    for interval in &lane.intervals {
        let across = [interval.start_ns, interval.end_ns].map(|at| x.pixel_within(at as f64).round());
        let (bottom, top) = (y.pixel_within(interval.band.0), y.pixel_within(interval.band.1));
        let (tone, pattern) = style(chart.categories.get(interval.category));
        fill(sheet, Rect::new(across[0], top, across[1], bottom), tone, pattern);
    }
}

fn style(category: Option<&Category>) -> (Tone, Fill) {
    category.map_or((Tone::Neutral, Fill::Solid), |category| (category.tone, category.fill))
}

fn draw_events(sheet: &mut Sheet<'_>, row: &Row, x: Scale, (tone, shape): (Tone, Marker), times: Vec<f64>) {
    let ink = sheet.theme.colour(tone).into();
    for at in times {
        let x = x.pixel(at);
        if shape == Marker::Tick {
            let top = row.strip - 4.0;
            sheet.pen.rect(Rect::new(x - 0.75, top, x + 0.75, row.bar.bottom), ink);
        } else {
            marker(sheet, (x, row.strip), 3.5, shape, ink);
        }
    }
}
