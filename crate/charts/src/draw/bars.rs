//! Draws [`Bars`].

use super::fill::fill;
use super::legend::reference;
use super::{Sheet, axis, line, small_font};
use crate::describe::{AxisScale, Bar, Bars};
use crate::layout::{Item, Panel, Rect, Scale};
use crate::pen::Side;
use crate::text;
use crate::theme::Theme;

/// Thickness of a bar where there is room.
const BAR: f64 = 16.0;
/// Between two bars of a group.
const APART: f64 = 4.0;
/// Between two groups.
const GROUPS_APART: f64 = 14.0;
/// Half the width of the published value's mark.
const MARK: f64 = 2.5;

/// Height that looks right.
pub(crate) fn height(chart: &Bars, narrow: bool, theme: &Theme) -> f64 {
    let bars = chart.series.len().max(1) as f64;
    let label = if narrow { line(small_font(theme)) } else { 0.0 };
    let group = bars * (BAR + APART) - APART + GROUPS_APART + label;
    chart.groups.len().max(1) as f64 * group + axis::bottom_height(theme)
}

pub(crate) fn draw(chart: &Bars, sheet: &mut Sheet<'_>, area: Rect) {
    let bottom = area.bottom - axis::bottom_height(sheet.theme);
    let names: Vec<&str> = chart.groups.iter().map(String::as_str).collect();
    let left = label_edge(sheet, area, &names);
    let right = (area.right - value_room(chart, sheet)).max(left + 40.0);
    let plot = Rect::new(left, area.top, right, bottom);
    let most = (plot.width() / 70.0).clamp(1.0, 8.0) as usize;
    let (low, high) = axis::ends(&chart.axis, extremes(chart), most);
    let x = Scale { low, high, from: plot.left, to: plot.right, kind: chart.axis.scale };
    axis::horizontal(sheet, (&chart.axis.label, &chart.axis.unit), x, &[plot]);
    let panel = sheet.panel(Panel { plot, x, y: Scale::linear(0.0, 1.0, plot.bottom, plot.top) });
    for group in 0..chart.groups.len() {
        let bars = group_rows(sheet, area, plot, (group, &names));
        let step = (bars.height() + APART) / chart.series.len().max(1) as f64;
        for (index, series) in chart.series.iter().enumerate() {
            let top = bars.top + step * index as f64;
            let thickness = (step - APART.min(step * 0.25)).min(BAR * 1.5);
            let row = Rect::new(plot.left, top.round(), plot.right, (top + thickness).round());
            sheet.target(Rect { right: area.right, ..row }, Item::Bar(group, index), panel);
            if let Some(Some(bar)) = series.bars.get(group) {
                let base = if x.kind == AxisScale::Log { low } else { low.max(0.0).min(high) };
                let (a, b) = (x.pixel_within(base), x.pixel_within(bar.value));
                fill(sheet, Rect { left: a.min(b), right: a.max(b), ..row }, series.tone, series.fill);
                draw_bar_marks(chart, sheet, bar, row, x);
            }
        }
    }
}

/// The left edge of a plot whose rows have names: beside them on wide pictures, below them on narrow ones.
pub(crate) fn label_edge(sheet: &Sheet<'_>, area: Rect, names: &[&str]) -> f64 {
    if sheet.narrow() {
        return area.left;
    }
    let font = sheet.label();
    let widest = names.iter().map(|name| sheet.pen.width(name, font)).fold(0.0, f64::max);
    (area.left + (widest + 10.0).min(area.width() * 0.4)).round()
}

/// Writes a row's name and returns where its bars go.
pub(crate) fn group_rows(
    sheet: &mut Sheet<'_>,
    area: Rect,
    plot: Rect,
    (index, names): (usize, &[&str]),
) -> Rect {
    let height = plot.height() / names.len().max(1) as f64;
    let top = plot.top + height * index as f64;
    let apart = GROUPS_APART.min(height * 0.35);
    let name = names.get(index).copied().unwrap_or_default();
    let (mut from, to) = (top + apart / 2.0, top + height - apart / 2.0);
    if sheet.narrow() {
        let font = sheet.small();
        let label = line(font).min(height * 0.4);
        let words = text::ellipsis(&super::Borrowed(sheet.pen), name, font, area.width());
        sheet.text_on_patch(&words, (plot.left, from + label / 2.0 - 1.0), Side::Left, font, false);
        from += label;
    } else {
        let font = sheet.label();
        let room = plot.left - area.left - 8.0;
        let most = if height >= 2.0 * line(font) { 2 } else { 1 };
        let lines = text::wrap(&super::Borrowed(sheet.pen), name, font, room, most);
        let mut y = (from + to) / 2.0 - (lines.len() as f64 - 1.0) * line(font) / 2.0;
        for words in lines {
            sheet.text(&words, (plot.left - 8.0, y), Side::Right, font, false);
            y += line(font);
        }
    }
    Rect::new(plot.left, from, plot.right, to)
}

/// Least and greatest of everything drawn.
fn extremes(chart: &Bars) -> (f64, f64) {
    let bars = chart.series.iter().flat_map(|series| series.bars.iter().flatten());
    let values = bars.flat_map(|bar| {
        let (low, high) = bar.spread.unwrap_or((bar.value, bar.value));
        [bar.value, low, high, bar.reference.unwrap_or(bar.value)]
    });
    axis::extremes(chart.axis.scale, values)
}

/// Words at the end of a bar: its value, and beside the mark's shape the published one where there is room.
fn value_words(chart: &Bars, bar: &Bar) -> (String, Option<String>) {
    let unit = &chart.axis.unit;
    (unit.write_short(bar.value), bar.reference.map(|value| unit.write_short(value)))
}

/// Between a value and the mark before the published one.
const WORDS_APART: f64 = 12.0;

/// Room at the right for the longest words.
fn value_room(chart: &Bars, sheet: &Sheet<'_>) -> f64 {
    let font = sheet.small();
    let bars = chart.series.iter().flat_map(|series| series.bars.iter().flatten());
    let widths = bars.map(|bar| {
        let (value, published) = value_words(chart, bar);
        let second = published.filter(|_| !sheet.narrow());
        let second = second.map_or(0.0, |text| WORDS_APART + 6.0 + sheet.pen.width(&text, font));
        sheet.pen.width(&value, font) + second
    });
    widths.fold(0.0, f64::max) + MARK + 8.0
}

/// Whiskers, the published value's mark, and the words.
fn draw_bar_marks(chart: &Bars, sheet: &mut Sheet<'_>, bar: &Bar, row: Rect, x: Scale) {
    let middle = (row.top + row.bottom) / 2.0;
    let mut end = x.pixel_within(bar.value);
    if let Some(value) = bar.reference {
        let at = x.pixel_within(value);
        reference(sheet, (at, middle), row.height() / 2.0 + 2.0);
        end = end.max(at + MARK);
    }
    if let Some((low, high)) = bar.spread {
        whiskers(sheet, (x.pixel_within(low), x.pixel_within(high)), middle, row.height());
        end = end.max(x.pixel_within(high));
    }
    let font = sheet.small();
    if row.height() < font.px * 0.8 {
        return;
    }
    let (value, published) = value_words(chart, bar);
    let mut at = end + 6.0;
    sheet.text_on_patch(&value, (at, middle), Side::Left, font, false);
    if let (Some(published), false) = (published, sheet.narrow()) {
        at += sheet.pen.width(&value, font) + WORDS_APART;
        let stroke = Rect::new(at - 1.0, middle - 5.0, at + 1.0, middle + 5.0);
        sheet.pen.rect(stroke, sheet.theme.muted.into());
        sheet.text(&published, (at + 6.0, middle), Side::Left, font, true);
    }
}

/// From least to greatest, with a rim so that they show on the bar too.
fn whiskers(sheet: &mut Sheet<'_>, (low, high): (f64, f64), middle: f64, height: f64) {
    if high - low < 1.5 {
        return;
    }
    let cap = (height * 0.25).min(4.0);
    let rim = sheet.theme.background.alpha(0.75);
    let ink = sheet.theme.text.into();
    sheet.pen.rect(Rect::new(low - 1.0, middle - 1.5, high + 1.0, middle + 1.5), rim);
    sheet.pen.rect(Rect::new(low, middle - 0.5, high, middle + 0.5), ink);
    for at in [low, high] {
        sheet.pen.rect(Rect::new(at - 0.5, middle - cap, at + 0.5, middle + cap), ink);
    }
}
