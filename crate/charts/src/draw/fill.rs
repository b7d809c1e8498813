//! Filled areas that differ by pattern as well as by colour.

use super::{Sheet, line};
use crate::describe::{Fill, Tone};
use crate::layout::Rect;
use crate::pen::{Ink, Side};

/// Distance between two lines of a pattern, CSS pixels.
const PITCH: f64 = 5.0;

/// Share of background in a tint.
pub(crate) const TINT: f64 = 0.72;

/// Areas narrower or lower than this have no room for lines: the rest of the pattern must do.
const LEAST_FOR_LINES: f64 = 4.0;

/// Fills an area.
pub(crate) fn fill(sheet: &mut Sheet<'_>, area: Rect, tone: Tone, fill: Fill) {
    let colour = sheet.theme.colour(tone);
    let background = sheet.theme.background;
    let tint = colour.mix(background, TINT);
    match fill {
        Fill::Solid => sheet.pen.rect(area, colour.into()),
        Fill::Rising | Fill::Falling => {
            sheet.pen.rect(area, colour.into());
            let light = colour.mix(background, 0.6);
            hatch(sheet, area, fill == Fill::Rising, 1.0, light.into());
        }
        Fill::Hatched => {
            sheet.pen.rect(area, tint.into());
            hatch(sheet, area, true, 1.5, colour.into());
        }
        Fill::Tint => {
            sheet.pen.rect(area, tint.into());
            outline(sheet, area, colour.into());
        }
        Fill::Half => {
            sheet.pen.rect(area, tint.into());
            let lower = Rect { top: area.top + area.height() * 0.5, ..area };
            sheet.pen.rect(lower, colour.into());
        }
        Fill::Thin => {
            let middle = (area.top + area.bottom) / 2.0;
            let thin = Rect::new(area.left, middle - 1.0, area.right, middle + 1.0);
            sheet.pen.rect(thin, colour.into());
        }
    }
}

/// A frame inside the area's edges; nothing where the area is too narrow to have an inside.
fn outline(sheet: &mut Sheet<'_>, area: Rect, ink: Ink) {
    if area.width() < 3.0 || area.height() < 3.0 {
        sheet.pen.rect(area, ink);
        return;
    }
    let Rect { left, top, right, bottom } = area;
    sheet.pen.rect(Rect::new(left, top, right, top + 1.0), ink);
    sheet.pen.rect(Rect::new(left, bottom - 1.0, right, bottom), ink);
    sheet.pen.rect(Rect::new(left, top, left + 1.0, bottom), ink);
    sheet.pen.rect(Rect::new(right - 1.0, top, right, bottom), ink);
}

/// Diagonal lines, cut at the area's edges. They start from the picture's edge, so that neighbours line up.
fn hatch(sheet: &mut Sheet<'_>, area: Rect, rising: bool, width: f64, ink: Ink) {
    if area.width() < LEAST_FOR_LINES || area.height() < LEAST_FOR_LINES {
        return;
    }
    let Rect { left, top, right, bottom } = area;
    let height = area.height();
    let mut foot = ((left - height) / PITCH).floor() * PITCH;
    while foot < right {
        // A line from (foot, bottom) to (foot + height, top), or mirrored, kept between left and right.
        let from = foot.max(left);
        let to = (foot + height).min(right);
        if to - from > 1.0 {
            let level = |x: f64| {
                if rising { bottom - (x - foot) } else { top + (x - foot) }
            };
            sheet.pen.path(&[(from, level(from)), (to, level(to))], width, ink);
        }
        foot += PITCH;
    }
}

/// Words in the middle of a filled area, where they fit with a little room on both sides; on a patch where the fill has
/// lines.
pub(crate) fn words_inside(sheet: &mut Sheet<'_>, area: Rect, words: &str, (tone, pattern): (Tone, Fill)) {
    let font = sheet.small();
    // Measuring costs more than looking at the area first.
    if area.width() < 16.0 || area.height() < font.px {
        return;
    }
    let width = sheet.pen.width(words, font);
    let colour = sheet.theme.colour(tone);
    let tint = colour.mix(sheet.theme.background, TINT);
    let (patch, ink) = match pattern {
        Fill::Solid => (None, sheet.theme.text_on(colour)),
        Fill::Rising | Fill::Falling => (Some(colour), sheet.theme.text_on(colour)),
        Fill::Tint => (None, sheet.theme.text),
        Fill::Hatched | Fill::Half => (Some(tint), sheet.theme.text),
        Fill::Thin => (Some(sheet.theme.background), sheet.theme.text),
    };
    let room = if patch.is_some() { 16.0 } else { 10.0 };
    if width + room > area.width() {
        return;
    }
    let (x, y) = ((area.left + area.right) / 2.0, (area.top + area.bottom) / 2.0);
    if let Some(patch) = patch {
        let (half, high) = (width / 2.0 + 4.0, line(font) / 2.0);
        let (top, bottom) = ((y - high).max(area.top), (y + high).min(area.bottom));
        sheet.pen.rect(Rect::new(x - half, top, x + half, bottom), patch.into());
    }
    sheet.pen.text(words, (x, y), Side::Middle, font, ink.into());
}
