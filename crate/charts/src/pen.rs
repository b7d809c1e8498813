//! The few strokes all charts are made of, and the one place that turns them into plotters elements.
//!
//! Charts think in CSS pixels; the backend in whole units, `scale` of them per CSS pixel (the device pixel ratio on a
//! canvas). The pen rounds, so that edges are sharp. Charts see a trait object: their code exists once, whatever
//! the number of backends.

use crate::DrawError;
use crate::layout::Rect;
use crate::theme::Colour;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters::element::{Circle, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, RGBAColor, ShapeStyle, TextStyle};
use plotters_backend::DrawingBackend;

/// A place, CSS pixels.
pub(crate) type Point = (f64, f64);

/// A colour with an opacity, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ink {
    pub(crate) colour: Colour,
    pub(crate) alpha: f64,
}

impl From<Colour> for Ink {
    fn from(colour: Colour) -> Self {
        Self { colour, alpha: 1.0 }
    }
}

impl Colour {
    /// This colour, so opaque.
    pub(crate) fn alpha(self, alpha: f64) -> Ink {
        Ink { colour: self, alpha }
    }
}

/// A size and weight of type; the family is the theme's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Font {
    /// Size, CSS pixels.
    pub(crate) px: f64,
    /// Semibold instead of regular.
    pub(crate) bold: bool,
}

/// Which side of a text its place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    Middle,
    Right,
}

/// Measures text.
pub(crate) trait Ruler {
    /// The width of a text, CSS pixels.
    fn width(&self, text: &str, font: Font) -> f64;
}

/// Draws.
pub(crate) trait Pen: Ruler {
    /// Backend units per CSS pixel.
    fn scale(&self) -> f64;
    /// A filled rectangle; at least one unit wide and high.
    fn rect(&mut self, area: Rect, ink: Ink);
    /// Joined lines.
    fn path(&mut self, points: &[Point], width: f64, ink: Ink);
    /// A filled polygon.
    fn polygon(&mut self, points: &[Point], ink: Ink);
    /// A filled circle, or the outline of one.
    fn circle(&mut self, centre: Point, radius: f64, outline: Option<f64>, ink: Ink);
    /// One line of text, its middle line at `at.1`.
    fn text(&mut self, text: &str, at: Point, side: Side, font: Font, ink: Ink);
}

/// A pen on a plotters drawing area. Keeps the first error and draws nothing after it.
pub(crate) struct PlottersPen<'a, B: DrawingBackend> {
    area: &'a DrawingArea<B, Shift>,
    family: &'a str,
    scale: f64,
    failed: Option<DrawError>,
}

impl<'a, B: DrawingBackend> PlottersPen<'a, B> {
    pub(crate) fn new(area: &'a DrawingArea<B, Shift>, family: &'a str, scale: f64) -> Self {
        Self { area, family, scale, failed: None }
    }

    /// The first error, if any.
    pub(crate) fn finish(self) -> Result<(), DrawError> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    fn unit(&self, value: f64) -> i32 {
        // Far outside any picture, and far from overflow in a backend.
        (value * self.scale).round().clamp(-1e6, 1e6) as i32
    }

    fn place(&self, (x, y): Point) -> (i32, i32) {
        (self.unit(x), self.unit(y))
    }

    fn style(&self, ink: Ink, width: Option<f64>) -> ShapeStyle {
        let Colour(red, green, blue) = ink.colour;
        ShapeStyle {
            color: RGBAColor(red, green, blue, ink.alpha),
            filled: width.is_none(),
            stroke_width: width.map_or(1, |width| self.unit(width).max(1) as u32),
        }
    }

    fn text_style(&self, font: Font, side: Side, ink: Ink) -> TextStyle<'a> {
        let weight = if font.bold { FontStyle::Bold } else { FontStyle::Normal };
        let family = FontFamily::Name(self.family);
        let Colour(red, green, blue) = ink.colour;
        let side = match side {
            Side::Left => HPos::Left,
            Side::Middle => HPos::Center,
            Side::Right => HPos::Right,
        };
        let colour = RGBAColor(red, green, blue, ink.alpha);
        let mut style = TextStyle::from(FontDesc::new(family, font.px * self.scale, weight));
        style.color = colour.to_backend_color();
        style.pos = Pos::new(side, VPos::Center);
        style
    }

    fn keep<E: std::fmt::Display>(&mut self, result: Result<(), E>) {
        if let Err(error) = result {
            self.failed.get_or_insert(DrawError::Backend(error.to_string()));
        }
    }
}

impl<B: DrawingBackend> Ruler for PlottersPen<'_, B> {
    fn width(&self, text: &str, font: Font) -> f64 {
        let style = self.text_style(font, Side::Left, Colour::default().into());
        match self.area.estimate_text_size(text, &style) {
            Ok((width, _)) => f64::from(width) / self.scale,
            Err(_) => text.chars().count() as f64 * font.px * 0.6,
        }
    }
}

impl<B: DrawingBackend> Pen for PlottersPen<'_, B> {
    fn scale(&self) -> f64 {
        self.scale
    }

    fn rect(&mut self, area: Rect, ink: Ink) {
        let (left, top) = self.place((area.left, area.top));
        let (right, bottom) = self.place((area.right, area.bottom));
        let corners = [(left, top), (right.max(left + 1), bottom.max(top + 1))];
        let result = self.area.draw(&Rectangle::new(corners, self.style(ink, None)));
        self.keep(result);
    }

    fn path(&mut self, points: &[Point], width: f64, ink: Ink) {
        let mut units: Vec<(i32, i32)> = points.iter().map(|&point| self.place(point)).collect();
        units.dedup();
        if units.len() >= 2 {
            let result = self.area.draw(&PathElement::new(units, self.style(ink, Some(width))));
            self.keep(result);
        }
    }

    fn polygon(&mut self, points: &[Point], ink: Ink) {
        let mut units: Vec<(i32, i32)> = points.iter().map(|&point| self.place(point)).collect();
        units.dedup();
        if units.len() >= 3 {
            let result = self.area.draw(&Polygon::new(units, self.style(ink, None)));
            self.keep(result);
        }
    }

    fn circle(&mut self, centre: Point, radius: f64, outline: Option<f64>, ink: Ink) {
        let centre = self.place(centre);
        let radius = self.unit(radius).max(1);
        let result = self.area.draw(&Circle::new(centre, radius, self.style(ink, outline)));
        self.keep(result);
    }

    fn text(&mut self, text: &str, at: Point, side: Side, font: Font, ink: Ink) {
        if text.is_empty() {
            return;
        }
        let style = self.text_style(font, side, ink);
        let result = self.area.draw(&Text::new(text, self.place(at), style));
        self.keep(result);
    }
}
