//! The backends of our own: one plotters backend in front of SVG text and HTML canvas.
//!
//! plotters' stock canvas backend measures text by inserting an element with a style attribute, which the page's
//! Content-Security-Policy forbids and a worker cannot do; it ignores the device pixel ratio, and makes a colour string
//! and a path for every mark. The stock SVG backend writes one element per mark and guesses widths of text.
//! So both are written here against `plotters-backend`, sharing [`Surface`].

#[cfg(all(feature = "canvas", target_arch = "wasm32"))]
pub(crate) mod canvas;
#[cfg(feature = "svg")]
pub(crate) mod svg;
mod widths;

use crate::pen::{Font, Ruler};

/// Measures text as Inter would set it: a little wider than most system fonts, so that texts fit with those too.
pub(crate) struct InterRuler;

impl Ruler for InterRuler {
    fn width(&self, text: &str, font: Font) -> f64 {
        let thousandths: u32 = text.chars().map(|letter| advance(letter, font.bold)).sum();
        f64::from(thousandths) / 1000.0 * font.px
    }
}

/// The advance width of a letter, thousandths of an em. Letters the font lacks are taken to be wide.
fn advance(letter: char, bold: bool) -> u32 {
    match widths::WIDTHS.binary_search_by_key(&letter, |entry| entry.0) {
        Ok(index) => {
            let (_, regular, semibold) = widths::WIDTHS[index];
            u32::from(if bold { semibold } else { regular })
        }
        Err(_) => 1000,
    }
}

#[cfg(any(feature = "svg", all(feature = "canvas", target_arch = "wasm32")))]
mod backend {
    use crate::pen::{Font, Ink};
    use crate::theme::Colour;
    use plotters_backend::text_anchor::{HPos, VPos};
    use plotters_backend::{
        BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
        FontStyle,
    };
    use std::convert::Infallible;

    /// Where marks end up: whole units, colours with opacity.
    pub(crate) trait Sink {
        /// A filled rectangle.
        fn rect(&mut self, from: BackendCoord, to: BackendCoord, ink: Ink);
        /// Joined lines of a width in units.
        fn stroke(&mut self, points: &[BackendCoord], width: u32, ink: Ink);
        /// A filled polygon.
        fn polygon(&mut self, points: &[BackendCoord], ink: Ink);
        /// A filled circle, or its outline of a width in units.
        fn circle(&mut self, centre: BackendCoord, radius: u32, outline: Option<u32>, ink: Ink);
        /// One line of text whose baseline starts, is centred or ends at a place; size in units.
        fn text(&mut self, text: &str, baseline: (f64, f64), side: HPos, font: Font, ink: Ink);
        /// The width of a text in units.
        fn width(&self, text: &str, font: Font) -> f64;
        /// The picture is complete.
        fn finish(&mut self);
    }

    /// A plotters backend that hands everything to a [`Sink`].
    pub(crate) struct Surface<'a> {
        size: (u32, u32),
        sink: Box<dyn Sink + 'a>,
    }

    impl<'a> Surface<'a> {
        /// A surface of a size in units.
        pub(crate) fn new(size: (u32, u32), sink: Box<dyn Sink + 'a>) -> Self {
            Self { size, sink }
        }
    }

    fn ink(colour: BackendColor) -> Ink {
        let (red, green, blue) = colour.rgb;
        Ink { colour: Colour(red, green, blue), alpha: colour.alpha }
    }

    fn font<S: BackendTextStyle>(style: &S) -> Font {
        Font { px: style.size(), bold: matches!(style.style(), FontStyle::Bold) }
    }

    type Drawn = Result<(), DrawingErrorKind<Infallible>>;

    impl DrawingBackend for Surface<'_> {
        type ErrorType = Infallible;

        fn get_size(&self) -> (u32, u32) {
            self.size
        }

        fn ensure_prepared(&mut self) -> Drawn {
            Ok(())
        }

        fn present(&mut self) -> Drawn {
            self.sink.finish();
            Ok(())
        }

        fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
            self.sink.rect(point, (point.0 + 1, point.1 + 1), ink(color));
            Ok(())
        }

        fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
            self.sink.stroke(&[from, to], style.stroke_width(), ink(style.color()));
            Ok(())
        }

        fn draw_rect<S: BackendStyle>(
            &mut self,
            upper_left: BackendCoord,
            bottom_right: BackendCoord,
            style: &S,
            fill: bool,
        ) -> Drawn {
            if fill {
                self.sink.rect(upper_left, bottom_right, ink(style.color()));
            } else {
                let ((left, top), (right, bottom)) = (upper_left, bottom_right);
                let around = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)];
                self.sink.stroke(&around, style.stroke_width(), ink(style.color()));
            }
            Ok(())
        }

        fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
            &mut self,
            path: I,
            style: &S,
        ) -> Drawn {
            let points: Vec<BackendCoord> = path.into_iter().collect();
            self.sink.stroke(&points, style.stroke_width(), ink(style.color()));
            Ok(())
        }

        fn draw_circle<S: BackendStyle>(
            &mut self,
            center: BackendCoord,
            radius: u32,
            style: &S,
            fill: bool,
        ) -> Drawn {
            let outline = if fill { None } else { Some(style.stroke_width()) };
            self.sink.circle(center, radius, outline, ink(style.color()));
            Ok(())
        }

        fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
            &mut self,
            vert: I,
            style: &S,
        ) -> Drawn {
            let points: Vec<BackendCoord> = vert.into_iter().collect();
            self.sink.polygon(&points, ink(style.color()));
            Ok(())
        }

        /// Horizontal text; this crate has no other.
        fn draw_text<S: BackendTextStyle>(&mut self, text: &str, style: &S, pos: BackendCoord) -> Drawn {
            let font = font(style);
            // From the anchor to the baseline, in parts of the size; the middle is that of the capitals.
            let drop = match style.anchor().v_pos {
                VPos::Top => 0.9,
                VPos::Center => 0.36,
                VPos::Bottom => -0.24,
            };
            let baseline = (f64::from(pos.0), f64::from(pos.1) + drop * font.px);
            self.sink.text(text, baseline, style.anchor().h_pos, font, ink(style.color()));
            Ok(())
        }

        fn estimate_text_size<S: BackendTextStyle>(
            &self,
            text: &str,
            style: &S,
        ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
            let font = font(style);
            let width = self.sink.width(text, font).ceil().max(0.0) as u32;
            Ok((width, (font.px * 1.2).ceil() as u32))
        }
    }
}

#[cfg(any(feature = "svg", all(feature = "canvas", target_arch = "wasm32")))]
pub(crate) use backend::{Sink, Surface};
