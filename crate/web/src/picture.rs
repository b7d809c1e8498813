//! A chart: drawn, asked, and taken away.

use crate::{from_js, to_js};
use serde::Deserialize;
use stallarium_charts::describe::Span;
use stallarium_charts::page::{csv, png_with_link};
use stallarium_charts::{Figure, Layout, Picture as Size, Theme, View, height_for, svg};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
#[cfg(target_arch = "wasm32")]
use web_sys::HtmlCanvasElement;

/// A chart and where its parts were drawn last.
#[wasm_bindgen]
pub struct Picture {
    figure: Figure,
    layout: Layout,
}

/// Which part of a chart is shown, and with what.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Shown {
    start_ns: f64,
    end_ns: f64,
    gutter_px: f64,
    titles: bool,
}

impl Shown {
    fn span(&self) -> Option<Span> {
        (self.end_ns > self.start_ns).then(|| Span::new(self.start_ns as u64, self.end_ns as u64))
    }

    fn view(&self) -> View {
        let gutter_px = (self.gutter_px > 0.0).then_some(self.gutter_px);
        View { span: self.span(), titles: self.titles, gutter_px, ..View::default() }
    }
}

fn theme(is_dark: bool) -> Theme {
    if is_dark { Theme::dark() } else { Theme::light() }
}

impl Picture {
    pub(crate) fn new(figure: Figure) -> Self {
        Self { figure, layout: Layout::default() }
    }
}

#[wasm_bindgen]
impl Picture {
    /// What it shows, in a few words.
    pub fn title(&self) -> String {
        self.figure.title.clone()
    }

    /// The conditions.
    pub fn subtitle(&self) -> String {
        self.figure.subtitle.clone()
    }

    /// What a reader should take from it, in sentences.
    pub fn summary(&self) -> String {
        self.figure.summary.clone()
    }

    /// Small print.
    pub fn note(&self) -> String {
        self.figure.note.clone()
    }

    /// The height at which it looks right, CSS pixels. `shown` is `{ start_ns, end_ns, gutter_px, titles }`, all optional.
    pub fn height(&self, width: f64, shown: JsValue) -> Result<f64, JsValue> {
        let view = from_js::<Shown>(shown)?.view();
        Ok(height_for(&self.figure, width as u32, &Theme::light(), &view).into())
    }

    /// Draws it on a canvas, `width` by `height` CSS pixels large.
    #[cfg(target_arch = "wasm32")]
    pub fn draw(
        &mut self,
        canvas: &HtmlCanvasElement,
        width: f64,
        height: f64,
        device_pixel_ratio: f64,
        is_dark: bool,
        shown: JsValue,
    ) -> Result<(), JsValue> {
        let view = from_js::<Shown>(shown)?.view();
        let size = (width, height);
        let drawn = stallarium_charts::draw_on_canvas(
            &self.figure,
            canvas,
            size,
            device_pixel_ratio,
            &theme(is_dark),
            &view,
        );
        self.layout = drawn.map_err(|error| error.to_string())?;
        Ok(())
    }

    /// What is under the pointer, in a line.
    pub fn hit(&self, x: f64, y: f64) -> Option<String> {
        self.layout.hit(&self.figure, x, y).map(|hit| hit.text)
    }

    /// The time at a horizontal place, nanoseconds; only on charts over time.
    pub fn time_at(&self, x: f64) -> Option<f64> {
        self.layout.time_at(x).map(|ns| ns as f64)
    }

    /// The horizontal place of a time, if it is shown.
    pub fn x_of_time(&self, at_ns: f64) -> Option<f64> {
        self.layout.x_of_time(at_ns as u64)
    }

    /// The horizontal place of a time, or of the end of the plot that is nearer to it.
    pub fn x_of_time_within(&self, at_ns: f64) -> Option<f64> {
        self.layout.span?;
        self.layout.panels.first().map(|panel| panel.x.pixel_within(at_ns))
    }

    /// Left, upper, right and lower edge of the first plot, CSS pixels; empty before it is drawn.
    pub fn plot(&self) -> Vec<f64> {
        let plot = self.layout.panels.first().map(|panel| panel.plot);
        plot.map_or(Vec::new(), |plot| vec![plot.left, plot.top, plot.right, plot.bottom])
    }

    /// The table behind it: `{ headings, rows }`.
    pub fn table(&self, shown: JsValue) -> Result<JsValue, JsValue> {
        to_js(&self.figure.table(from_js::<Shown>(shown)?.span()))
    }

    /// It as an SVG document with its titles, and with a link in its metadata.
    pub fn svg(&self, width: u32, is_dark: bool, link: &str, shown: JsValue) -> Result<String, JsValue> {
        let theme = theme(is_dark);
        let mut view = from_js::<Shown>(shown)?.view();
        view.titles = true;
        let height = height_for(&self.figure, width, &theme, &view);
        let size = Size { width, height, link: Some(link.to_owned()), view };
        Ok(svg(&self.figure, &size, &theme).map_err(|error| error.to_string())?)
    }

    /// Its numbers as CSV.
    pub fn csv(&self) -> String {
        csv(&self.figure)
    }

    /// A PNG of it with a link in its metadata.
    pub fn png_with_link(&self, png: &[u8], link: &str) -> Vec<u8> {
        png_with_link(png, link)
    }
}
