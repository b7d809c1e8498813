//! Marks so many that single strokes say no more: the same shapes from upright and level rectangles, which every
//! backend fills far faster than it strokes a jagged path or fills thousands of circles.

use super::Sheet;
use crate::layout::{Rect, Scale};
use crate::pen::{Ink, Point};
use crate::reduce::{Cells, Extent};

/// Steps of a line no wider than this, CSS pixels, are drawn upright; wider ones as strokes.
const STEEP: f64 = 3.0;

/// Joined lines through corners a few pixels apart, of a width.
pub(crate) fn line(sheet: &mut Sheet<'_>, points: &[Point], width: f64, ink: Ink) {
    let half = width / 2.0;
    for pair in points.windows(2) {
        let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
        let level = (y1 - y0).abs() < 0.5;
        if x1 - x0 > STEEP && !level {
            sheet.pen.path(pair, width, ink);
            continue;
        }
        // Uprights closer than their width touch without help.
        if x1 - x0 > width {
            sheet.pen.rect(Rect::new(x0 - half, y0 - half, x1 + half, y0 + half), ink);
        }
        if !level {
            let (top, bottom) = (y0.min(y1) - half, y0.max(y1) + half);
            sheet.pen.rect(Rect::new(x1 - half, top, x1 + half, bottom), ink);
        }
    }
}

/// The area between least and greatest values, each held until the next.
pub(crate) fn envelope(sheet: &mut Sheet<'_>, piece: &[Extent], (x, y): (Scale, Scale), ink: Ink) {
    for (index, extent) in piece.iter().enumerate() {
        let next = piece.get(index + 1).map_or(x.high, |next| next.at);
        let (left, right) = (x.pixel_within(extent.at), x.pixel_within(next));
        let (top, bottom) = (y.pixel_within(extent.max), y.pixel_within(extent.min));
        // Anything lower is hidden by the line itself.
        if bottom - top > 1.5 && right > left {
            sheet.pen.rect(Rect::new(left, top, right, bottom), ink);
        }
    }
}

/// Taken cells as rectangles, one per run of neighbours in a row, each a little larger than its cells so that a single
/// one can be seen.
pub(crate) fn cells(sheet: &mut Sheet<'_>, cells: &Cells, plot: Rect, ink: Ink) {
    let (columns, rows) = cells.size();
    let (width, height) = (plot.width() / columns as f64, plot.height() / rows as f64);
    for row in 0..rows {
        let top = plot.top + row as f64 * height;
        for (from, to) in cells.runs(row) {
            let left = plot.left + from as f64 * width;
            let right = plot.left + to as f64 * width;
            let area = Rect::new(
                left.max(plot.left + 1.0) - 1.0,
                top.max(plot.top + 1.0) - 1.0,
                right.min(plot.right - 1.0) + 1.0,
                (top + height).min(plot.bottom - 1.0) + 1.0,
            );
            sheet.pen.rect(area, ink);
        }
    }
}
