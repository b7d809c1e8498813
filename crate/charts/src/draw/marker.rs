//! Single marks.

use super::Sheet;
use crate::describe::Marker;
use crate::pen::{Ink, Point};

/// Draws a mark of a radius, CSS pixels.
pub(crate) fn marker(sheet: &mut Sheet<'_>, (x, y): Point, radius: f64, marker: Marker, ink: Ink) {
    let pen = &mut *sheet.pen;
    let r = radius;
    match marker {
        Marker::Disc => pen.circle((x, y), r, None, ink),
        Marker::Ring => pen.circle((x, y), r, Some(1.2), ink),
        Marker::Square => {
            let r = r * 0.9;
            pen.rect(crate::layout::Rect::new(x - r, y - r, x + r, y + r), ink);
        }
        Marker::Diamond => {
            let r = r * 1.25;
            pen.polygon(&[(x, y - r), (x + r, y), (x, y + r), (x - r, y)], ink);
        }
        Marker::Triangle => {
            let r = r * 1.15;
            pen.polygon(&[(x, y - r), (x + r, y + r * 0.8), (x - r, y + r * 0.8)], ink);
        }
        Marker::Cross => {
            let r = r * 0.9;
            pen.path(&[(x - r, y - r), (x + r, y + r)], 1.3, ink);
            pen.path(&[(x - r, y + r), (x + r, y - r)], 1.3, ink);
        }
        Marker::Tick => {
            pen.rect(crate::layout::Rect::new(x - 0.75, y - r * 1.5, x + 0.75, y + r * 1.5), ink);
        }
    }
}
