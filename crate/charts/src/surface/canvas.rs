//! HTML canvas, in the page or off screen in a worker.
//!
//! Text is measured with `measureText`; nothing is added to the document, so a Content-Security-Policy without
//! `unsafe-inline` holds. One unit is one device pixel.

use super::{Sink, Surface};
use crate::describe::Figure;
use crate::layout::Layout;
use crate::pen::{Font, Ink, Ruler};
use crate::theme::{Colour, Theme};
use crate::{DrawError, View, check_size};
use plotters::drawing::IntoDrawingArea;
use plotters_backend::BackendCoord;
use plotters_backend::text_anchor::HPos;
use wasm_bindgen::JsCast;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement, OffscreenCanvas};

/// A path longer than this is painted and begun anew: rasterisers slow down on longer ones.
const LONGEST_PATH: usize = 256;

/// How a path is painted: strokes have a width in units.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Paint {
    ink: Ink,
    stroke: Option<u32>,
}

/// Paints on a canvas context; remembers what the context is set to, so that it is told only about changes.
struct CanvasSink<'a> {
    context: &'a CanvasRenderingContext2d,
    family: &'a str,
    colours: Vec<(Ink, String)>,
    fill: Option<Ink>,
    stroke: Option<Paint>,
    /// The path begun, and how many corners it has.
    path: Option<(Paint, usize)>,
    font: std::cell::Cell<Option<Font>>,
}

impl<'a> CanvasSink<'a> {
    fn new(context: &'a CanvasRenderingContext2d, family: &'a str) -> Self {
        // Whatever an earlier user of the context left behind. Fails on no finite matrix.
        let _ = context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
        context.set_global_alpha(1.0);
        context.set_line_join("round");
        context.set_line_cap("butt");
        context.set_text_baseline("alphabetic");
        Self {
            context,
            family,
            colours: Vec::new(),
            fill: None,
            stroke: None,
            path: None,
            font: std::cell::Cell::new(None),
        }
    }

    /// The CSS text of a colour, made once per colour and picture.
    fn colour(colours: &mut Vec<(Ink, String)>, ink: Ink) -> &str {
        let index = match colours.iter().position(|(known, _)| *known == ink) {
            Some(index) => index,
            None => {
                let Colour(red, green, blue) = ink.colour;
                let text = if ink.alpha < 1.0 {
                    format!("rgba({red},{green},{blue},{})", ink.alpha)
                } else {
                    format!("#{red:02x}{green:02x}{blue:02x}")
                };
                colours.push((ink, text));
                colours.len() - 1
            }
        };
        &colours[index].1
    }

    fn set_fill(&mut self, ink: Ink) {
        if self.fill != Some(ink) {
            let text = Self::colour(&mut self.colours, ink);
            self.context.set_fill_style_str(text);
            self.fill = Some(ink);
        }
    }

    fn set_font(&self, font: Font) {
        if self.font.get() != Some(font) {
            let weight = if font.bold { "600 " } else { "" };
            self.context.set_font(&format!("{weight}{}px {}", font.px, self.family));
            self.font.set(Some(font));
        }
    }

    /// Makes sure that a path for this paint is begun, with room for so many corners.
    fn begin(&mut self, paint: Paint, corners: usize) {
        match &mut self.path {
            Some((begun, used)) if *begun == paint && *used < LONGEST_PATH => *used += corners,
            _ => {
                self.flush();
                self.context.begin_path();
                self.path = Some((paint, corners));
            }
        }
    }

    fn flush(&mut self) {
        let Some((paint, _)) = self.path.take() else {
            return;
        };
        match paint.stroke {
            None => {
                self.set_fill(paint.ink);
                self.context.fill();
            }
            Some(width) => {
                if self.stroke != Some(paint) {
                    let text = Self::colour(&mut self.colours, paint.ink);
                    self.context.set_stroke_style_str(text);
                    self.context.set_line_width(f64::from(width));
                    self.stroke = Some(paint);
                }
                self.context.stroke();
            }
        }
    }

    fn corners(&self, points: &[BackendCoord]) {
        for (index, &(x, y)) in points.iter().enumerate() {
            let (x, y) = (f64::from(x), f64::from(y));
            if index == 0 {
                self.context.move_to(x, y);
            } else {
                self.context.line_to(x, y);
            }
        }
    }
}

impl Sink for CanvasSink<'_> {
    fn rect(&mut self, from: BackendCoord, to: BackendCoord, ink: Ink) {
        self.flush();
        self.set_fill(ink);
        let (x, y) = (f64::from(from.0), f64::from(from.1));
        self.context.fill_rect(x, y, f64::from(to.0) - x, f64::from(to.1) - y);
    }

    fn stroke(&mut self, points: &[BackendCoord], width: u32, ink: Ink) {
        let stroke = Some(width);
        self.begin(Paint { ink, stroke }, points.len());
        self.corners(points);
    }

    fn polygon(&mut self, points: &[BackendCoord], ink: Ink) {
        self.begin(Paint { ink, stroke: None }, points.len());
        self.corners(points);
        self.context.close_path();
    }

    fn circle(&mut self, (x, y): BackendCoord, radius: u32, outline: Option<u32>, ink: Ink) {
        let stroke = outline;
        self.begin(Paint { ink, stroke }, 8);
        let (x, y, radius) = (f64::from(x), f64::from(y), f64::from(radius));
        self.context.move_to(x + radius, y);
        // Fails on a negative radius only.
        let _ = self.context.arc(x, y, radius, 0.0, 2.0 * std::f64::consts::PI);
    }

    fn text(&mut self, text: &str, (x, y): (f64, f64), side: HPos, font: Font, ink: Ink) {
        self.flush();
        self.set_font(font);
        self.set_fill(ink);
        self.context.set_text_align(match side {
            HPos::Left => "left",
            HPos::Center => "center",
            HPos::Right => "right",
        });
        // The text is drawn or it is not; there is nothing to do about it.
        let _ = self.context.fill_text(text, x, y.round());
    }

    fn width(&self, text: &str, font: Font) -> f64 {
        self.set_font(font);
        match self.context.measure_text(text) {
            Ok(metrics) => metrics.width(),
            Err(_) => super::InterRuler.width(text, font),
        }
    }

    fn finish(&mut self) {
        self.flush();
    }
}

/// Draws a figure on a canvas element, `css_width` by `css_height` CSS pixels large.
///
/// Sets the canvas's own size to that many device pixels, when it is another, and paints all of it. The size on the page is
/// left to the style sheet. `view.scale` is replaced by `device_pixel_ratio`.
///
/// # Errors
///
/// [`DrawError::Size`] for a picture too small or too large, [`DrawError::Backend`] when the canvas has no 2d context.
pub fn draw_on_canvas(
    figure: &Figure,
    canvas: &HtmlCanvasElement,
    (css_width, css_height): (f64, f64),
    device_pixel_ratio: f64,
    theme: &Theme,
    view: &View,
) -> Result<Layout, DrawError> {
    let screen = Screen::new((css_width, css_height), device_pixel_ratio)?;
    if canvas.width() != screen.width {
        canvas.set_width(screen.width);
    }
    if canvas.height() != screen.height {
        canvas.set_height(screen.height);
    }
    let context = canvas.get_context("2d").ok().flatten();
    let context = context.ok_or_else(no_context)?;
    screen.draw(figure, context.unchecked_ref(), theme, view)
}

/// The same on an off-screen canvas, which a worker can have.
///
/// # Errors
///
/// As [`draw_on_canvas`].
pub fn draw_on_offscreen_canvas(
    figure: &Figure,
    canvas: &OffscreenCanvas,
    (css_width, css_height): (f64, f64),
    device_pixel_ratio: f64,
    theme: &Theme,
    view: &View,
) -> Result<Layout, DrawError> {
    let screen = Screen::new((css_width, css_height), device_pixel_ratio)?;
    if canvas.width() != screen.width {
        canvas.set_width(screen.width);
    }
    if canvas.height() != screen.height {
        canvas.set_height(screen.height);
    }
    let context = canvas.get_context("2d").ok().flatten();
    let context = context.ok_or_else(no_context)?;
    // Both contexts have the methods used here under the same names, and they are called by name.
    screen.draw(figure, context.unchecked_ref(), theme, view)
}

fn no_context() -> DrawError {
    DrawError::Backend("the canvas has no 2d context".to_owned())
}

/// A canvas's size in device pixels.
struct Screen {
    width: u32,
    height: u32,
    scale: f64,
}

impl Screen {
    fn new((width, height): (f64, f64), ratio: f64) -> Result<Self, DrawError> {
        check_size(width.round() as u32, height.round() as u32)?;
        let scale = if ratio.is_finite() { ratio.clamp(0.25, 8.0) } else { 1.0 };
        let pixels = |css: f64| (css * scale).round().max(1.0) as u32;
        Ok(Self { width: pixels(width), height: pixels(height), scale })
    }

    fn draw(
        &self,
        figure: &Figure,
        context: &CanvasRenderingContext2d,
        theme: &Theme,
        view: &View,
    ) -> Result<Layout, DrawError> {
        let sink = CanvasSink::new(context, &theme.font_family);
        let surface = Surface::new((self.width, self.height), Box::new(sink));
        let area = surface.into_drawing_area();
        let view = View { scale: self.scale, ..view.clone() };
        let layout = crate::draw(figure, &area, theme, &view)?;
        area.present().map_err(|error| DrawError::Backend(error.to_string()))?;
        Ok(layout)
    }
}
