//! Axes: grid lines, tick labels, titles.

use super::{Sheet, line, small_font};
use crate::describe::{AxisScale, Unit};
use crate::layout::{Rect, Scale};
use crate::pen::Side;
use crate::theme::Theme;
use crate::ticks::{self, Ticks};
use stallarium_sim::short_sort;

/// Between tick labels and the plot.
const GAP: f64 = 6.0;

/// Least distance between the lines of a vertical axis.
const ROW: f64 = 34.0;

/// Height of a horizontal axis: a row of ticks and a row for its title.
pub(crate) fn bottom_height(theme: &Theme) -> f64 {
    2.0 * line(small_font(theme)) + 8.0
}

/// Height of a title above a vertical axis.
pub(crate) fn title_height(theme: &Theme) -> f64 {
    line(small_font(theme)) + 4.0
}

/// `label (unit)`, or whichever there is.
fn title(label: &str, unit: &str) -> String {
    match (label.is_empty(), unit.is_empty()) {
        (false, false) => format!("{label} ({unit})"),
        (false, true) => label.to_owned(),
        (true, _) => unit.to_owned(),
    }
}

/// The left edge of plots whose labels need `needed` pixels.
pub(crate) fn plot_left(sheet: &Sheet<'_>, area: Rect, needed: f64) -> f64 {
    let left = sheet.view.gutter_px.unwrap_or(area.left + needed);
    left.clamp(area.left, (area.right - 40.0).max(area.left)).round()
}

/// A time axis under plots that lie one above the other with the same edges: grid lines in each, labels below the last.
pub(crate) fn time(sheet: &mut Sheet<'_>, (start, end): (f64, f64), plots: &[Rect]) -> Scale {
    let Some(last) = plots.last().copied() else {
        return Scale::default();
    };
    let scale = Scale::linear(start, end, last.left, last.right);
    let ticks = fitting(sheet, last.width(), |most| ticks::time(start, end, most));
    let label = match &ticks.from {
        Some(from) => format!("time after {from}"),
        None => "time".to_owned(),
    };
    bottom(sheet, &ticks, &label, scale, plots);
    scale
}

/// A horizontal value axis under plots.
pub(crate) fn horizontal(sheet: &mut Sheet<'_>, (label, unit): (&str, &Unit), scale: Scale, plots: &[Rect]) {
    let Some(last) = plots.last().copied() else {
        return;
    };
    let ticks = fitting(sheet, last.width(), |most| value_ticks(unit, &scale, most));
    bottom(sheet, &ticks, label, scale, plots);
}

fn value_ticks(unit: &Unit, scale: &Scale, most: usize) -> Ticks {
    match scale.kind {
        AxisScale::Linear => ticks::linear(unit, scale.low, scale.high, most),
        AxisScale::Log => ticks::log(unit, scale.low, scale.high, most),
    }
}

/// As many ticks as fit side by side.
fn fitting(sheet: &Sheet<'_>, room: f64, make: impl Fn(usize) -> Ticks) -> Ticks {
    let mut most = (room / 56.0).clamp(1.0, 16.0) as usize;
    loop {
        let ticks = make(most);
        let widths = ticks.marks.iter().map(|tick| sheet.pen.width(&tick.label, sheet.small()) + 14.0);
        if most <= 2 || widths.sum::<f64>() <= room + 14.0 {
            return ticks;
        }
        most -= 1;
    }
}

/// Grid lines, labels and the title of a horizontal axis.
fn bottom(sheet: &mut Sheet<'_>, ticks: &Ticks, label: &str, scale: Scale, plots: &[Rect]) {
    let Some(last) = plots.last().copied() else {
        return;
    };
    let font = sheet.small();
    let (grid, axis) = (sheet.theme.grid, sheet.theme.axis);
    let tick_row = last.bottom + 4.0 + line(font) / 2.0;
    for tick in &ticks.marks {
        let x = scale.pixel_within(tick.value);
        for plot in plots {
            sheet.pen.rect(Rect::new(x, plot.top, x + 1.0, plot.bottom), grid.into());
        }
    }
    for plot in plots {
        let edge = Rect::new(plot.left, plot.bottom, plot.right, plot.bottom + 1.0);
        sheet.pen.rect(edge, axis.into());
    }
    for tick in &ticks.marks {
        let half = sheet.pen.width(&tick.label, font) / 2.0;
        let rightmost = sheet.layout.width - 2.0 - half;
        let x = scale.pixel_within(tick.value).min(rightmost).max(half + 2.0);
        sheet.text(&tick.label, (x, tick_row), Side::Middle, font, true);
    }
    let words = title(label, &ticks.unit);
    sheet.text(&words, (last.right, tick_row + line(font)), Side::Right, font, true);
}

/// A vertical axis that has not been drawn yet: its scale and ticks for a height.
pub(crate) struct Vertical {
    scale: Scale,
    ticks: Ticks,
    /// Room its labels need at the left of the plot.
    pub(crate) needed: f64,
}

impl Vertical {
    /// An axis of values from `low` to `high` between two heights. `with_unit`: each label carries its unit.
    pub(crate) fn new(
        sheet: &Sheet<'_>,
        unit: &Unit,
        (low, high): (f64, f64),
        kind: AxisScale,
        (top, bottom): (f64, f64),
        with_unit: bool,
    ) -> Self {
        let most = ((bottom - top) / ROW).clamp(2.0, 8.0) as usize;
        let scale = Scale { low, high, from: bottom, to: top, kind };
        let mut ticks = value_ticks(unit, &scale, most);
        if with_unit {
            for tick in &mut ticks.marks {
                tick.label = format!("{}\u{202F}{}", tick.label, ticks.unit).trim_end().to_owned();
            }
        }
        let widths = ticks.marks.iter().map(|tick| sheet.pen.width(&tick.label, sheet.small()));
        let needed = widths.fold(0.0, f64::max) + GAP;
        Self { scale, ticks, needed }
    }

    /// Draws grid lines and labels beside a plot; the scale.
    pub(crate) fn draw(&self, sheet: &mut Sheet<'_>, plot: Rect) -> Scale {
        let font = sheet.small();
        let grid = sheet.theme.grid;
        for tick in &self.ticks.marks {
            let y = self.scale.pixel_within(tick.value);
            if y < plot.bottom - 0.5 {
                sheet.pen.rect(Rect::new(plot.left, y, plot.right, y + 1.0), grid.into());
            }
            sheet.text(&tick.label, (plot.left - GAP, y), Side::Right, font, true);
        }
        self.scale
    }

    /// Writes the axis's title above a plot, from the left edge of `area`.
    pub(crate) fn title(&self, sheet: &mut Sheet<'_>, label: &str, area: Rect, middle: f64) {
        let words = title(label, &self.ticks.unit);
        let font = sheet.small();
        sheet.text(&words, (area.left, middle), Side::Left, font, true);
    }
}

/// Least and greatest of the values an axis can show; 0 and 1 when there are none. Values beyond any meaning are cut
/// off, so that differences between them stay finite.
pub(crate) fn extremes(kind: AxisScale, values: impl Iterator<Item = f64>) -> (f64, f64) {
    let shown = values.filter(|value| value.is_finite() && (kind == AxisScale::Linear || *value > 0.0));
    let (low, high) = shown.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        let value = value.clamp(-1e18, 1e18);
        (f64::min(low, value), f64::max(high, value))
    });
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// The ends of an axis: fixed by its description, or round numbers around the data.
pub(crate) fn ends(axis: &crate::describe::Axis, (low, high): (f64, f64), most: usize) -> (f64, f64) {
    if let Some((from, to)) = axis.range
        && from.is_finite()
        && to.is_finite()
        && to > from
        && (axis.scale == AxisScale::Linear || from > 0.0)
    {
        return (from, to);
    }
    match axis.scale {
        AxisScale::Linear => ticks::round_ends(&axis.unit, low.min(0.0), high, most),
        AxisScale::Log => ticks::log_ends(low, high),
    }
}

/// A vertical reference line through plots, with its words at the top of the first.
pub(crate) fn vertical_rule(sheet: &mut Sheet<'_>, x: f64, label: &str, plots: &[Rect]) {
    let ink = sheet.theme.text;
    for plot in plots {
        let ends = [(x, plot.top), (x, plot.bottom)];
        super::lines::dashed(sheet, &ends, crate::describe::Dash::Dotted, ink.into());
    }
    let Some(first) = plots.first() else { return };
    let font = sheet.small();
    let width = sheet.pen.width(label, font);
    let (side, at) =
        if x + width + 6.0 <= first.right { (Side::Left, x + 5.0) } else { (Side::Right, x - 4.0) };
    sheet.text(label, (at, first.top - line(font) / 2.0), side, font, false);
}

/// Horizontal reference lines across a plot, each with its words at the right: above it, or where lines are close, above all of
/// them, one below the other in their order and each led to its line.
pub(crate) fn horizontal_rules(sheet: &mut Sheet<'_>, mut rules: Vec<(f64, &str)>, plot: Rect) {
    let (ink, font) = (sheet.theme.text, sheet.small());
    let (height, right) = (line(font), plot.right - 2.0);
    for (y, _) in &rules {
        let ends = [(plot.left, *y), (plot.right, *y)];
        super::lines::dashed(sheet, &ends, crate::describe::Dash::Dotted, ink.into());
    }
    short_sort::sort_by(&mut rules, |one, other| one.0.total_cmp(&other.0));
    let mut rest = &rules[..];
    while !rest.is_empty() {
        // Those whose words would touch.
        let close = rest.windows(2).take_while(|pair| pair[1].0 - pair[0].0 < height).count() + 1;
        let (group, others) = rest.split_at(close);
        rest = others;
        let (Some(first), Some(last)) = (group.first(), group.last()) else { return };
        let needed = height * close as f64;
        let top = if first.0 - needed >= plot.top { first.0 - needed } else { last.0 };
        for (index, (y, label)) in group.iter().enumerate() {
            let middle = top + height * (index as f64 + 0.5);
            if close > 1 {
                let words = right - sheet.pen.width(label, font) - 4.0;
                let way = [(words, middle), (words - 6.0, middle), (words - 18.0, *y)];
                sheet.pen.path(&way, 1.0, ink.into());
            }
            sheet.text_on_patch(label, (right, middle), Side::Right, font, false);
        }
    }
}
