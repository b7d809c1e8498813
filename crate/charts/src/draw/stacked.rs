//! Draws [`Stacked`].

use super::bars::{group_rows, label_edge};
use super::fill::{fill, words_inside};
use super::{Sheet, axis, line, small_font};
use crate::describe::{AxisScale, Measure, Stacked, StackedBar, Unit};
use crate::layout::{Item, Panel, Rect, Scale};
use crate::number::significant;
use crate::pen::Side;
use crate::theme::Theme;
use crate::ticks::round_ends;

/// Height of one bar with the room around it.
const ROW: f64 = 40.0;

/// Height that looks right.
pub(crate) fn height(chart: &Stacked, narrow: bool, theme: &Theme) -> f64 {
    let label = if narrow { line(small_font(theme)) } else { 0.0 };
    chart.bars.len().max(1) as f64 * (ROW + label) + axis::bottom_height(theme)
}

pub(crate) fn draw(chart: &Stacked, sheet: &mut Sheet<'_>, area: Rect) {
    let bottom = area.bottom - axis::bottom_height(sheet.theme);
    let names: Vec<&str> = chart.bars.iter().map(|bar| bar.label.as_str()).collect();
    let left = label_edge(sheet, area, &names);
    let font = sheet.small();
    let totals: Vec<String> = chart.bars.iter().map(|bar| total_words(chart, bar)).collect();
    let room = totals.iter().map(|text| sheet.pen.width(text, font)).fold(0.0, f64::max) + 8.0;
    let plot = Rect::new(left, area.top, (area.right - room).max(left + 40.0), bottom);
    let longest = chart.bars.iter().map(|bar| bar.total(chart.parts.len())).fold(0.0, f64::max);
    let most = (plot.width() / 70.0).clamp(1.0, 8.0) as usize;
    let (unit, high) = match chart.measure {
        Measure::Share => (Unit::Percent, 100.0),
        Measure::Total => (chart.unit.clone(), round_ends(&chart.unit, 0.0, longest, most).1),
    };
    let x = Scale { low: 0.0, high, from: plot.left, to: plot.right, kind: AxisScale::Linear };
    let label = match chart.measure {
        Measure::Share if !chart.label.is_empty() => format!("share of {}", chart.label),
        _ => chart.label.clone(),
    };
    axis::horizontal(sheet, (&label, &unit), x, &[plot]);
    let panel = sheet.panel(Panel { plot, x, y: Scale::linear(0.0, 1.0, plot.bottom, plot.top) });
    for (index, (bar, total)) in chart.bars.iter().zip(&totals).enumerate() {
        let row = group_rows(sheet, area, plot, (index, &names));
        let row = Rect::new(row.left, row.top.round(), row.right, row.bottom.round());
        let end = draw_bar(chart, sheet, (index, bar), row, (x, panel));
        let middle = (row.top + row.bottom) / 2.0;
        sheet.text(total, (end + 6.0, middle), Side::Left, font, false);
    }
}

/// The words at the end of a bar.
fn total_words(chart: &Stacked, bar: &StackedBar) -> String {
    let total = bar.total(chart.parts.len());
    match (&chart.unit, chart.measure) {
        // A hundred per cent, again and again, says nothing.
        (Unit::Percent, Measure::Share) => String::new(),
        (Unit::Named(_), Measure::Total) => chart.unit.write_short(total),
        _ => chart.unit.write(total),
    }
}

/// Draws the parts; the right edge of the last.
fn draw_bar(
    chart: &Stacked,
    sheet: &mut Sheet<'_>,
    (index, bar): (usize, &StackedBar),
    row: Rect,
    (x, panel): (Scale, usize),
) -> f64 {
    let total = bar.total(chart.parts.len());
    let factor = match chart.measure {
        Measure::Share if total > 0.0 => 100.0 / total,
        Measure::Share => 0.0,
        Measure::Total => 1.0,
    };
    let mut sum = 0.0;
    let mut end = row.left;
    for (part, category) in chart.parts.iter().enumerate() {
        let value = bar.value(part) * factor;
        let left = x.pixel_within(sum);
        sum += value;
        end = x.pixel_within(sum);
        if end - left < 0.25 {
            continue;
        }
        let area = Rect { left, right: end, ..row };
        sheet.target(area, Item::Part(index, part), panel);
        // A gap between parts, where they are wide enough to spare it.
        let gap = if end - left > 3.0 { 1.0 } else { 0.0 };
        fill(sheet, Rect { right: end - gap, ..area }, category.tone, category.fill);
        words_inside(sheet, area, &part_words(chart, value), (category.tone, category.fill));
    }
    end
}

/// The words of a part: its share, or its size.
fn part_words(chart: &Stacked, value: f64) -> String {
    match chart.measure {
        Measure::Share => format!("{}\u{202F}%", significant(value.round())),
        Measure::Total => chart.unit.write_short(value),
    }
}
