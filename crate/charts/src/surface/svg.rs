//! SVG text: marks of one style become one path.

use super::{InterRuler, Sink};
use crate::describe::Figure;
use crate::pen::{Font, Ink, Ruler};
use crate::theme::{Colour, Theme};
use plotters_backend::BackendCoord;
use plotters_backend::text_anchor::HPos;
use std::fmt::Write as _;

/// Backend units per CSS pixel: marks are placed to half a pixel.
pub(crate) const SCALE: f64 = 2.0;

/// How a path is painted: strokes have a width in units.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Paint {
    ink: Ink,
    stroke: Option<u32>,
}

/// Writes SVG elements to a string.
pub(crate) struct SvgSink<'a> {
    out: &'a mut String,
    paint: Option<Paint>,
    path: String,
}

impl<'a> SvgSink<'a> {
    /// Starts the document: root element, title, text alternative, and the link that opens the scenario.
    pub(crate) fn new(
        out: &'a mut String,
        figure: &Figure,
        theme: &Theme,
        (width, height): (u32, u32),
        link: Option<&str>,
    ) -> Self {
        out.push_str("<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\"");
        let _ = write!(
            out,
            " width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" font-family=\""
        );
        escape(out, &theme.font_family);
        out.push_str("\">\n<title>");
        escape(out, &figure.title);
        out.push_str("</title>\n<desc>");
        escape(out, &figure.summary);
        out.push_str("</desc>\n");
        if let Some(link) = link {
            out.push_str("<metadata>");
            escape(out, link);
            out.push_str("</metadata>\n");
        }
        Self { out, paint: None, path: String::new() }
    }

    /// The path to add to, for this paint.
    fn path(&mut self, paint: Paint) -> &mut String {
        if self.paint != Some(paint) {
            self.flush();
            self.paint = Some(paint);
        }
        &mut self.path
    }

    fn flush(&mut self) {
        if let Some(Paint { ink, stroke }) = self.paint.take() {
            let _ = write!(self.out, "<path d=\"{}\"", self.path);
            match stroke {
                None => {
                    attribute(self.out, "fill", ink);
                }
                Some(width) => {
                    self.out.push_str(" fill=\"none\"");
                    attribute(self.out, "stroke", ink);
                    self.out.push_str(" stroke-linejoin=\"round\" stroke-width=\"");
                    number(self.out, f64::from(width));
                    self.out.push('"');
                }
            }
            self.out.push_str("/>\n");
            self.path.clear();
        }
    }
}

impl Sink for SvgSink<'_> {
    fn rect(&mut self, from: BackendCoord, to: BackendCoord, ink: Ink) {
        let path = self.path(Paint { ink, stroke: None });
        path.push('M');
        pair(path, from);
        let (width, height) = (Half(to.0 - from.0), Half(to.1 - from.1));
        let _ = write!(path, "h{width}v{height}h-{width}z");
    }

    fn stroke(&mut self, points: &[BackendCoord], width: u32, ink: Ink) {
        let path = self.path(Paint { ink, stroke: Some(width) });
        corners(path, points);
    }

    fn polygon(&mut self, points: &[BackendCoord], ink: Ink) {
        let path = self.path(Paint { ink, stroke: None });
        corners(path, points);
        path.push('Z');
    }

    fn circle(&mut self, (x, y): BackendCoord, radius: u32, outline: Option<u32>, ink: Ink) {
        let path = self.path(Paint { ink, stroke: outline });
        let radius = radius as i32;
        let (r, d) = (Half(radius), Half(2 * radius));
        path.push('M');
        pair(path, (x - radius, y));
        let _ = write!(path, "a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z");
    }

    fn text(&mut self, text: &str, (x, y): (f64, f64), side: HPos, font: Font, ink: Ink) {
        self.flush();
        self.out.push_str("<text x=\"");
        number(self.out, x);
        self.out.push_str("\" y=\"");
        number(self.out, y);
        self.out.push_str("\" font-size=\"");
        number(self.out, font.px);
        self.out.push('"');
        match side {
            HPos::Left => {}
            HPos::Center => self.out.push_str(" text-anchor=\"middle\""),
            HPos::Right => self.out.push_str(" text-anchor=\"end\""),
        }
        if font.bold {
            self.out.push_str(" font-weight=\"600\"");
        }
        attribute(self.out, "fill", ink);
        self.out.push('>');
        escape(self.out, text);
        self.out.push_str("</text>\n");
    }

    fn width(&self, text: &str, font: Font) -> f64 {
        InterRuler.width(text, font)
    }

    fn finish(&mut self) {
        self.flush();
        self.out.push_str("</svg>\n");
    }
}

/// Units written as CSS pixels: `7` is `3.5`.
struct Half(i32);

impl std::fmt::Display for Half {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let units = self.0.unsigned_abs();
        write!(out, "{sign}{}{}", units / 2, if units % 2 == 1 { ".5" } else { "" })
    }
}

fn pair(out: &mut String, (x, y): BackendCoord) {
    let _ = write!(out, "{} {}", Half(x), Half(y));
}

/// Joined corners, each written as the way from the one before: most are short, many go straight along or up.
fn corners(out: &mut String, points: &[BackendCoord]) {
    let mut before: Option<BackendCoord> = None;
    for &point in points {
        match before {
            None => {
                out.push('M');
                pair(out, point);
            }
            Some((x, y)) => {
                let _ = match (point.0 - x, point.1 - y) {
                    (across, 0) => write!(out, "h{}", Half(across)),
                    (0, down) => write!(out, "v{}", Half(down)),
                    (across, down) => write!(out, "l{} {}", Half(across), Half(down)),
                };
            }
        }
        before = Some(point);
    }
}

/// A length in units as CSS pixels, at most two decimals.
fn number(out: &mut String, units: f64) {
    let text = format!("{:.2}", units / SCALE);
    out.push_str(text.trim_end_matches('0').trim_end_matches('.'));
}

fn attribute(out: &mut String, name: &str, ink: Ink) {
    let Colour(red, green, blue) = ink.colour;
    let _ = write!(out, " {name}=\"#{red:02x}{green:02x}{blue:02x}\"");
    if ink.alpha < 1.0 {
        let _ = write!(out, " {name}-opacity=\"{}\"", (ink.alpha * 100.0).round() / 100.0);
    }
}

/// Text and attribute values; characters that XML forbids are left out.
fn escape(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' => out.push(' '),
            '\0'..='\u{1F}' | '\u{FFFE}' | '\u{FFFF}' => {}
            other => out.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_half_pixels() {
        let text: Vec<String> = [-3, -1, 0, 1, 4].map(|units| Half(units).to_string()).into();
        assert_eq!(text, ["-1.5", "-0.5", "0", "0.5", "2"]);
    }

    #[test]
    fn markup_in_words_stays_words() {
        let mut out = String::new();
        escape(&mut out, "<a href=\"x\">&\u{1}");
        assert_eq!(out, "&lt;a href=&quot;x&quot;&gt;&amp;");
    }
}
