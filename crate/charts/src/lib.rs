//! Pictures: draws plain descriptions of charts on any plotters backend.
//!
//! A [`Figure`] says what to show, in the terms of [`describe`]; a [`Theme`] says how it looks; a [`View`] says which part of
//! it, on what kind of screen. [`draw`] puts it on a plotters drawing area and returns a [`Layout`], which knows
//! where everything is: [`Layout::hit`] answers the pointer from the description, not from pixels.
//!
//! ```
//! use stallarium_charts::describe::{Axis, Bar, BarSeries, Bars, Figure, Unit};
//! use stallarium_charts::{Picture, Theme, svg};
//!
//! let mut files = BarSeries::slot("fs_mark alone", 0);
//! files.bars = vec![Some(Bar::new(527.0).reference(529.44)), Some(Bar::new(111.0).reference(107.88))];
//! let bars = Bars {
//!     axis: Axis::new("files created", Unit::named("files/s")),
//!     groups: vec!["deadline".into(), "CFQ".into()],
//!     series: vec![files],
//!     reference: "published".into(),
//! };
//! let figure = Figure::new("One fsync per file", bars);
//! let text = svg(&figure, &Picture::fitting(&figure, 640, &Theme::light()), &Theme::light())?;
//! assert!(text.starts_with("<svg"));
//! # Ok::<(), stallarium_charts::DrawError>(())
//! ```
//!
//! Features: `svg` (default) gives `svg`, on every target; `png` gives `png`, natively; `canvas` gives
//! `draw_on_canvas`, in wasm.
//!
//! *To add a kind of chart*: a description in `describe/`, a drawing in `draw/`, an arm each in [`describe::Chart`],
//! `draw::body`, `draw::legend::entries`, `hit` and `table`.

pub mod describe;
mod draw;
pub mod figures;
mod hit;
mod layout;
mod number;
pub mod page;
mod pen;
mod reduce;
mod surface;
mod table;
mod text;
mod theme;
mod ticks;

#[cfg(all(feature = "png", not(target_arch = "wasm32")))]
mod raster;

pub use describe::{Chart, Figure};
pub use hit::Hit;
pub use layout::{Item, Layout, Panel, Rect, Scale, Target};
pub use number::{instant, significant};
#[cfg(all(feature = "png", not(target_arch = "wasm32")))]
pub use raster::png;
#[cfg(all(feature = "canvas", target_arch = "wasm32"))]
pub use surface::canvas::{draw_on_canvas, draw_on_offscreen_canvas};
pub use table::Table;
pub use theme::{Colour, PALETTE_LEN, Theme};

use describe::Span;
use plotters::coord::Shift;
use plotters::drawing::DrawingArea;
use plotters_backend::DrawingBackend;
use serde::{Deserialize, Serialize};

/// Which part of a figure to show, and on what kind of screen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct View {
    /// Backend units per CSS pixel: the device pixel ratio on a canvas. Held between 0.25 and 8.
    pub scale: f64,
    /// The time to show, for charts over time; `None` shows all of it.
    pub span: Option<Span>,
    /// Whether to write the title and the subtitle. A page that has them as text sets this to false.
    pub titles: bool,
    /// Whether to write the legend.
    pub legend: bool,
    /// Room for labels at the left of charts over time, CSS pixels. The same for several charts, one below the other,
    /// makes their time axes line up. `None` takes what the labels need.
    pub gutter_px: Option<f64>,
}

impl Default for View {
    fn default() -> Self {
        Self { scale: 1.0, span: None, titles: true, legend: true, gutter_px: None }
    }
}

/// Why a figure could not be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrawError {
    /// The picture is smaller than [`SMALLEST_PX`] in one direction, or larger than [`LARGEST_PX`].
    Size {
        /// Width asked for, CSS pixels.
        width: u32,
        /// Height asked for, CSS pixels.
        height: u32,
    },
    /// The backend failed; the text is its own.
    Backend(String),
}

/// Neither side of a picture may be shorter, CSS pixels.
pub const SMALLEST_PX: u32 = 80;

/// Neither side of a picture may be longer, CSS pixels.
pub const LARGEST_PX: u32 = 16_384;

impl std::fmt::Display for DrawError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Size { width, height } => write!(
                out,
                "a picture of {width} x {height} pixels cannot be drawn: each side must be {SMALLEST_PX} to {LARGEST_PX}"
            ),
            Self::Backend(words) => write!(out, "drawing failed: {words}"),
        }
    }
}

impl std::error::Error for DrawError {}

/// Draws a figure on a plotters drawing area and says where everything is.
///
/// The area is `view.scale` units per CSS pixel; the caller presents it. Linear in the description's marks; what
/// reaches the backend is bounded by the number of pixels.
///
/// # Errors
///
/// [`DrawError::Size`] for an area that is too small or too large, [`DrawError::Backend`] when the backend fails.
pub fn draw<B: DrawingBackend>(
    figure: &Figure,
    area: &DrawingArea<B, Shift>,
    theme: &Theme,
    view: &View,
) -> Result<Layout, DrawError> {
    let scale = if view.scale.is_finite() { view.scale.clamp(0.25, 8.0) } else { 1.0 };
    let (width, height) = area.dim_in_pixel();
    let css = |units: u32| f64::from(units) / scale;
    check_size(css(width).round() as u32, css(height).round() as u32)?;
    let mut pen = pen::PlottersPen::new(area, &theme.font_family, scale);
    let layout = draw::figure(figure, &mut pen, (css(width), css(height)), theme, view);
    pen.finish()?;
    Ok(layout)
}

fn check_size(width: u32, height: u32) -> Result<(), DrawError> {
    let range = SMALLEST_PX..=LARGEST_PX;
    if range.contains(&width) && range.contains(&height) {
        Ok(())
    } else {
        Err(DrawError::Size { width, height })
    }
}

/// The height at which a figure of a width looks right, CSS pixels: it follows the number of lanes, bars or plots.
pub fn height_for(figure: &Figure, width: u32, theme: &Theme, view: &View) -> u32 {
    draw::height(figure, f64::from(width), theme, view, &surface::InterRuler)
        .ceil()
        .clamp(f64::from(SMALLEST_PX), f64::from(LARGEST_PX)) as u32
}

/// A picture for a file: its size, and what it carries with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Picture {
    /// Width, CSS pixels.
    pub width: u32,
    /// Height, CSS pixels.
    pub height: u32,
    /// A link that opens the scenario again, kept in the file's metadata.
    pub link: Option<String>,
    /// What to show. Its `scale` is set by the file's format.
    pub view: View,
}

impl Picture {
    /// A picture of a width, as high as the figure wants to be.
    pub fn fitting(figure: &Figure, width: u32, theme: &Theme) -> Self {
        let view = View::default();
        Self { width, height: height_for(figure, width, theme, &view), link: None, view }
    }
}

/// A figure as an SVG document: self-contained text without scripts, the same on every machine.
///
/// # Errors
///
/// [`DrawError::Size`] for a picture that is too small or too large.
#[cfg(feature = "svg")]
pub fn svg(figure: &Figure, picture: &Picture, theme: &Theme) -> Result<String, DrawError> {
    use plotters::drawing::IntoDrawingArea;
    use surface::{Surface, svg};

    check_size(picture.width, picture.height)?;
    let mut out = String::new();
    let size = (picture.width, picture.height);
    let sink = svg::SvgSink::new(&mut out, figure, theme, size, picture.link.as_deref());
    let units = |px: u32| (f64::from(px) * svg::SCALE) as u32;
    let surface = Surface::new((units(size.0), units(size.1)), Box::new(sink));
    let area = surface.into_drawing_area();
    let view = View { scale: svg::SCALE, ..picture.view.clone() };
    draw(figure, &area, theme, &view)?;
    area.present().map_err(|error| DrawError::Backend(error.to_string()))?;
    drop(area);
    Ok(out)
}
