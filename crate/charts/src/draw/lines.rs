//! Draws [`Lines`].

use super::marker::marker;
use super::{Sheet, axis, dense, line};
use crate::describe::{Dash, LineSeries, LineShape, Lines, Marker};
use crate::layout::{Panel, Rect, Scale};
use crate::pen::{Ink, Point};
use crate::reduce::{Columns, Extent, extents};
use crate::theme::Theme;

/// Width of a line.
const WIDTH: f64 = 1.5;
/// Lines with more corners than one in so many pixels are dense: unbroken, and without strokes.
const DENSE: f64 = 3.0;
/// Between two badges on a line.
const BADGES_APART: f64 = 96.0;

/// Height that looks right.
pub(crate) fn height(theme: &Theme) -> f64 {
    180.0 + axis::title_height(theme) + axis::bottom_height(theme)
}

pub(crate) fn draw(chart: &Lines, sheet: &mut Sheet<'_>, area: Rect) {
    let top = area.top + axis::title_height(sheet.theme);
    let bottom = area.bottom - axis::bottom_height(sheet.theme);
    let most = ((bottom - top) / 34.0).clamp(1.0, 8.0) as usize;
    let ends = axis::ends(&chart.y, extremes(chart), most);
    let vertical = axis::Vertical::new(sheet, &chart.y.unit, ends, chart.y.scale, (top, bottom), false);
    let left = axis::plot_left(sheet, area, vertical.needed);
    let plot = Rect::new(left, top, area.right, bottom);
    let span = sheet.span(chart.span);
    sheet.layout.span = Some(span);
    let y = vertical.draw(sheet, plot);
    let x = axis::time(sheet, span.ends(), &[plot]);
    vertical.title(sheet, &chart.y.label, area, area.top + line(sheet.small()) / 2.0);
    sheet.panel(Panel { plot, x, y });
    let window = Columns::new(x.low, x.high, sheet.columns(plot.width()));
    let pieces: Vec<(&LineSeries, Vec<Vec<Extent>>)> =
        chart.series.iter().map(|series| (series, extents(&series.buckets, window))).collect();
    // Envelopes first, so that no line is hidden by another's.
    for (series, pieces) in &pieces {
        for piece in pieces {
            envelope(sheet, series, piece, (x, y));
        }
    }
    for (series, pieces) in &pieces {
        for piece in pieces {
            stroke(sheet, series, piece, (x, y));
        }
    }
    let shown = chart.rules.iter().filter(|rule| rule.value >= y.low && rule.value <= y.high);
    axis::horizontal_rules(
        sheet,
        shown.map(|rule| (y.pixel(rule.value), rule.label.as_str())).collect(),
        plot,
    );
}

/// Least and greatest value of all lines and reference lines; of all time, so that the axis stays while one pans.
fn extremes(chart: &Lines) -> (f64, f64) {
    let buckets = chart.series.iter().flat_map(|series| &series.buckets);
    let data = buckets.flat_map(|bucket| [bucket.min, bucket.max, bucket.last]);
    let values = data.chain(chart.rules.iter().map(|rule| rule.value));
    axis::extremes(chart.y.scale, values)
}

/// A piece as corners `(x, value)` of the line that `pick` chooses, cut at the edges of the window.
fn corners(shape: LineShape, piece: &[Extent], x: Scale, pick: impl Fn(&Extent) -> f64) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::with_capacity(piece.len() * 2);
    for extent in piece {
        let value = pick(extent);
        match points.last().copied() {
            Some((_, before)) if shape == LineShape::Step && before != value => {
                points.push((extent.at, before));
                points.push((extent.at, value));
            }
            _ => points.push((extent.at, value)),
        }
    }
    if let (LineShape::Step, Some(&(at, value))) = (shape, points.last())
        && at < x.high
    {
        points.push((x.high, value));
    }
    cut(points, x.low, x.high)
}

/// Cuts joined lines at two ends; points ascend horizontally.
fn cut(points: Vec<Point>, low: f64, high: f64) -> Vec<Point> {
    let between = |(x0, y0): Point, (x1, y1): Point, at: f64| {
        let share = if x1 > x0 { (at - x0) / (x1 - x0) } else { 1.0 };
        (at, y0 + (y1 - y0) * share)
    };
    let mut out: Vec<Point> = Vec::with_capacity(points.len());
    let mut previous: Option<Point> = None;
    for point in points {
        if let Some(before) = previous {
            if before.0 < low && point.0 >= low {
                out.push(between(before, point, low));
            }
            if before.0 <= high && point.0 > high {
                out.push(between(before, point, high));
            }
        }
        if point.0 >= low && point.0 <= high {
            out.push(point);
        }
        previous = Some(point);
    }
    out
}

fn to_pixels(points: Vec<Point>, (x, y): (Scale, Scale)) -> Vec<Point> {
    points.into_iter().map(|(at, value)| (x.pixel_within(at), y.pixel_within(value))).collect()
}

/// The area between least and greatest values.
fn envelope(sheet: &mut Sheet<'_>, series: &LineSeries, piece: &[Extent], scales: (Scale, Scale)) {
    if piece.iter().all(|extent| extent.min == extent.max) {
        return;
    }
    let ink = sheet.theme.colour(series.tone).alpha(0.24);
    if is_dense(piece.len(), scales.0) {
        return dense::envelope(sheet, piece, scales, ink);
    }
    let mut outline = to_pixels(corners(series.shape, piece, scales.0, |e| e.max), scales);
    let mut lower = to_pixels(corners(series.shape, piece, scales.0, |e| e.min), scales);
    lower.reverse();
    outline.append(&mut lower);
    sheet.pen.polygon(&outline, ink);
}

/// The line of last values.
fn stroke(sheet: &mut Sheet<'_>, series: &LineSeries, piece: &[Extent], scales: (Scale, Scale)) {
    let ink = Ink::from(sheet.theme.colour(series.tone));
    let points = to_pixels(corners(series.shape, piece, scales.0, |e| e.last), scales);
    match points.as_slice() {
        [] => {}
        [only] => sheet.pen.circle(*only, WIDTH, None, ink),
        more => {
            // A line with a corner every few pixels would lose its shape between the strokes.
            if is_dense(more.len(), scales.0) {
                dense::line(sheet, more, WIDTH, ink);
            } else {
                dashed(sheet, more, series.dash, ink);
            }
            badges(sheet, more, series.dash, scales.0, ink);
        }
    }
}

/// Whether so many corners stand too close for strokes.
fn is_dense(corners: usize, x: Scale) -> bool {
    corners as f64 > (x.to - x.from) / DENSE
}

/// Badges along a line of pixels, at the same places for every line, so that lines differ where dashes cannot show.
fn badges(sheet: &mut Sheet<'_>, points: &[Point], dash: Dash, x: Scale, ink: Ink) {
    let mut at = x.from + BADGES_APART / 2.0;
    while at < x.to {
        let next = points.partition_point(|point| point.0 < at);
        if let (Some(before), Some(after)) =
            (next.checked_sub(1).and_then(|i| points.get(i)), points.get(next))
        {
            let wide = after.0 - before.0;
            let share = if wide > 0.0 { (at - before.0) / wide } else { 0.0 };
            badge(sheet, (at, before.1 + (after.1 - before.1) * share), dash, ink);
        }
        at += BADGES_APART;
    }
}

/// The shape that belongs to a dash, with a rim; none for unbroken lines.
pub(crate) fn badge(sheet: &mut Sheet<'_>, at: Point, dash: Dash, ink: Ink) {
    let shape = match dash {
        Dash::Solid => return,
        Dash::Dashed => Marker::Square,
        Dash::Dotted => Marker::Triangle,
    };
    let rim = sheet.theme.background.into();
    marker(sheet, at, 4.5, shape, rim);
    marker(sheet, at, 3.0, shape, ink);
}

/// Joined lines, broken as a dash says.
pub(crate) fn dashed(sheet: &mut Sheet<'_>, points: &[Point], dash: Dash, ink: Ink) {
    let (on, off) = match dash {
        Dash::Solid => return sheet.pen.path(points, WIDTH, ink),
        Dash::Dashed => (7.0, 4.0),
        Dash::Dotted => (2.0, 3.0),
    };
    let mut left = on;
    let mut drawing = true;
    let mut piece: Vec<Point> = points.first().copied().into_iter().collect();
    for pair in points.windows(2) {
        let ((mut x, mut y), (to_x, to_y)) = (pair[0], pair[1]);
        loop {
            let (dx, dy) = (to_x - x, to_y - y);
            let length = (dx * dx + dy * dy).sqrt();
            if length <= left {
                left -= length;
                if drawing {
                    piece.push((to_x, to_y));
                }
                break;
            }
            x += dx / length * left;
            y += dy / length * left;
            if drawing {
                piece.push((x, y));
                sheet.pen.path(&piece, WIDTH, ink);
                piece.clear();
            } else {
                piece.push((x, y));
            }
            drawing = !drawing;
            left = if drawing { on } else { off };
        }
    }
    if drawing {
        sheet.pen.path(&piece, WIDTH, ink);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_cut_at_the_edges() {
        assert_eq!(cut(vec![(-10.0, 0.0), (10.0, 20.0)], 0.0, 5.0), [(0.0, 10.0), (5.0, 15.0)]);
        assert_eq!(cut(vec![(1.0, 1.0), (2.0, 2.0)], 0.0, 5.0), [(1.0, 1.0), (2.0, 2.0)]);
        assert_eq!(cut(vec![(-2.0, 1.0), (-1.0, 2.0)], 0.0, 5.0), []);
    }

    #[test]
    fn a_step_holds_until_the_next_point_and_to_the_end() {
        let extent = |at: f64, last: f64| Extent { at, min: last, max: last, last };
        let x = Scale::linear(0.0, 10.0, 0.0, 100.0);
        let piece = [extent(1.0, 1.0), extent(3.0, 2.0)];
        let points = corners(LineShape::Step, &piece, x, |e| e.last);
        assert_eq!(points, [(1.0, 1.0), (3.0, 1.0), (3.0, 2.0), (10.0, 2.0)]);
    }

    proptest! {
        #[test]
        fn nothing_is_drawn_outside(points in proptest::collection::vec((-50f64..150.0, -1e3f64..1e3), 0..50)) {
            let mut points = points;
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            for (x, _) in cut(points, 0.0, 100.0) {
                prop_assert!((0.0..=100.0).contains(&x));
            }
        }
    }
}
