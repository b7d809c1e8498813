//! From a description to strokes: the frame around every chart, and one module per kind of chart.

mod axis;
mod bars;
mod dense;
mod dots;
mod fill;
mod histogram;
mod lanes;
pub(crate) mod legend;
mod lines;
mod marker;
mod stacked;

use crate::describe::{Chart, Figure, Span};
use crate::layout::{Item, Layout, Panel, Rect, Target};
use crate::pen::{Font, Pen, Point, Ruler, Side};
use crate::theme::Theme;
use crate::{View, text};

/// Pictures narrower than this, CSS pixels, put labels above what they name instead of beside it.
const NARROW_PX: f64 = 480.0;

/// Charts lower than this, CSS pixels, get the room of the words around them.
const LEAST_BODY_PX: f64 = 70.0;

/// What the drawing of a chart has at hand.
pub(crate) struct Sheet<'a> {
    pub(crate) pen: &'a mut dyn Pen,
    pub(crate) theme: &'a Theme,
    pub(crate) view: &'a View,
    pub(crate) layout: Layout,
    /// Remarks of the drawing itself, added to the note.
    pub(crate) remark: Option<String>,
}

impl Sheet<'_> {
    /// Whether labels go above what they name.
    pub(crate) fn narrow(&self) -> bool {
        self.layout.width < NARROW_PX
    }

    /// Type for labels.
    pub(crate) fn label(&self) -> Font {
        label_font(self.theme)
    }

    /// Type for ticks and axes.
    pub(crate) fn small(&self) -> Font {
        small_font(self.theme)
    }

    /// The time to show of a chart's whole time.
    pub(crate) fn span(&self, whole: Span) -> Span {
        self.view.span.unwrap_or(whole)
    }

    /// Adds a panel; its index.
    pub(crate) fn panel(&mut self, panel: Panel) -> usize {
        self.layout.panels.push(panel);
        self.layout.panels.len() - 1
    }

    /// Adds a target.
    pub(crate) fn target(&mut self, area: Rect, item: Item, panel: usize) {
        self.layout.targets.push(Target { area, item, panel });
    }

    /// A text with its middle line at a height.
    pub(crate) fn text(&mut self, text: &str, at: Point, side: Side, font: Font, muted: bool) {
        let colour = if muted { self.theme.muted } else { self.theme.text };
        self.pen.text(text, at, side, font, colour.into());
    }

    /// The same on a patch of background, so that it reads on grid lines and marks.
    pub(crate) fn text_on_patch(&mut self, text: &str, at: Point, side: Side, font: Font, muted: bool) {
        let width = self.pen.width(text, font);
        let left = match side {
            Side::Left => at.0,
            Side::Middle => at.0 - width / 2.0,
            Side::Right => at.0 - width,
        };
        let half = font.px * 0.6;
        let patch = Rect::new(left - 2.0, at.1 - half, left + width + 2.0, at.1 + half);
        self.pen.rect(patch, self.theme.background.alpha(0.85));
        self.text(text, at, side, font, muted);
    }

    /// How many pixel columns a width has on this backend.
    pub(crate) fn columns(&self, width: f64) -> usize {
        (width * self.pen.scale()).round().clamp(1.0, 16_384.0) as usize
    }
}

fn title_font(theme: &Theme) -> Font {
    Font { px: (theme.font_px * 1.3).round(), bold: true }
}

fn label_font(theme: &Theme) -> Font {
    Font { px: theme.font_px, bold: false }
}

fn small_font(theme: &Theme) -> Font {
    Font { px: theme.font_px - 1.0, bold: false }
}

/// The texts above and below a chart, broken into lines for a width.
struct Words {
    title: Vec<String>,
    subtitle: Vec<String>,
    legend: legend::Rows,
    note: Vec<String>,
    padding: f64,
}

impl Words {
    fn new(figure: &Figure, width: f64, theme: &Theme, view: &View, ruler: &dyn Ruler) -> Self {
        let padding = if width < NARROW_PX { 10.0 } else { 16.0 };
        let room = (width - 2.0 * padding).max(0.0);
        let lines = |text: &str, font: Font, most: usize| text::wrap(ruler, text, font, room, most);
        let none = Vec::new();
        Self {
            title: if view.titles { lines(&figure.title, title_font(theme), 2) } else { none.clone() },
            subtitle: if view.titles { lines(&figure.subtitle, label_font(theme), 3) } else { none },
            legend: legend::Rows::new(
                if view.legend { legend::entries(&figure.chart) } else { Vec::new() },
                room,
                label_font(theme),
                ruler,
            ),
            note: lines(&figure.note, small_font(theme), 4),
            padding,
        }
    }

    /// Leaves out what is least needed until the chart has room in a picture of this height.
    fn make_room(&mut self, height: f64, theme: &Theme) {
        let short = |words: &Self| height - words.above(theme) - words.below(theme) < LEAST_BODY_PX;
        if short(self) {
            self.note.clear();
        }
        if short(self) {
            self.subtitle.clear();
        }
        if short(self) {
            self.legend.clear();
        }
        if short(self) {
            self.title.truncate(1);
        }
    }

    /// Height from the top edge to the chart.
    fn above(&self, theme: &Theme) -> f64 {
        let title = self.title.len() as f64 * (title_font(theme).px * 1.3).round();
        let subtitle = self.subtitle.len() as f64 * line(label_font(theme));
        let titles = title + subtitle;
        let gap = if titles > 0.0 { 8.0 } else { 0.0 };
        let legend = self.legend.height(label_font(theme));
        let legend_gap = if legend > 0.0 { 8.0 } else { 0.0 };
        (self.padding + titles + gap + legend + legend_gap).round()
    }

    /// Height from the chart to the bottom edge.
    fn below(&self, theme: &Theme) -> f64 {
        let note = self.note.len() as f64 * line(small_font(theme));
        (self.padding + if note > 0.0 { note + 6.0 } else { 0.0 }).round()
    }
}

/// The height of a line of text.
pub(crate) fn line(font: Font) -> f64 {
    (font.px * 1.4).round()
}

/// The height at which a figure of a width looks right.
pub(crate) fn height(figure: &Figure, width: f64, theme: &Theme, view: &View, ruler: &dyn Ruler) -> f64 {
    let words = Words::new(figure, width, theme, view, ruler);
    let narrow = width < NARROW_PX;
    let body = match &figure.chart {
        Chart::Lanes(chart) => lanes::height(chart, narrow, theme),
        Chart::Dots(chart) => dots::height(chart, theme),
        Chart::Lines(_) => lines::height(theme),
        Chart::Bars(chart) => bars::height(chart, narrow, theme),
        Chart::Stacked(chart) => stacked::height(chart, narrow, theme),
        Chart::Histogram(chart) => histogram::height(chart, theme),
    };
    words.above(theme) + body + words.below(theme)
}

/// Draws a figure and says where everything is. `size` in CSS pixels.
pub(crate) fn figure(
    figure: &Figure,
    pen: &mut dyn Pen,
    size: (f64, f64),
    theme: &Theme,
    view: &View,
) -> Layout {
    let mut words = Words::new(figure, size.0, theme, view, &Borrowed(pen));
    words.make_room(size.1, theme);
    let mut sheet = Sheet {
        pen,
        theme,
        view,
        layout: Layout { width: size.0, height: size.1, ..Layout::default() },
        remark: None,
    };
    sheet.pen.rect(Rect::new(0.0, 0.0, size.0, size.1), theme.background.into());
    let top = write_above(&words, &mut sheet);
    let bottom = size.1 - words.below(theme);
    let area = Rect::new(words.padding, top, size.0 - words.padding, bottom);
    // Words alone are worth more than marks too small to see.
    if area.width() >= 40.0 && area.height() >= 30.0 {
        body(&figure.chart, &mut sheet, area);
    }
    write_below(&words, &mut sheet, bottom);
    sheet.layout
}

/// A pen as a ruler.
struct Borrowed<'a>(&'a dyn Pen);

impl Ruler for Borrowed<'_> {
    fn width(&self, text: &str, font: Font) -> f64 {
        self.0.width(text, font)
    }
}

/// Title, subtitle, legend; the height where the chart begins.
fn write_above(words: &Words, sheet: &mut Sheet<'_>) -> f64 {
    let theme = sheet.theme;
    let mut y = words.padding;
    for text in &words.title {
        let height = (title_font(theme).px * 1.3).round();
        sheet.text(text, (words.padding, y + height / 2.0), Side::Left, title_font(theme), false);
        y += height;
    }
    for text in &words.subtitle {
        let height = line(label_font(theme));
        sheet.text(text, (words.padding, y + height / 2.0), Side::Left, label_font(theme), true);
        y += height;
    }
    if y > words.padding {
        y += 8.0;
    }
    words.legend.draw(sheet, (words.padding, y));
    words.above(theme)
}

fn write_below(words: &Words, sheet: &mut Sheet<'_>, bottom: f64) {
    let font = sheet.small();
    let mut y = bottom + 6.0;
    for text in &words.note {
        sheet.text(text, (words.padding, y + line(font) / 2.0), Side::Left, font, true);
        y += line(font);
    }
    // The remark shares the last row with the axis's title, at the left, where nothing else is.
    if let Some(remark) = sheet.remark.take() {
        let room = sheet.layout.width - 2.0 * words.padding;
        let text = text::ellipsis(&Borrowed(sheet.pen), &remark, font, room * 0.6);
        sheet.text(&text, (words.padding, bottom - line(font) / 2.0), Side::Left, font, true);
    }
}

fn body(chart: &Chart, sheet: &mut Sheet<'_>, area: Rect) {
    match chart {
        Chart::Lanes(chart) => lanes::draw(chart, sheet, area),
        Chart::Dots(chart) => dots::draw(chart, sheet, area),
        Chart::Lines(chart) => lines::draw(chart, sheet, area),
        Chart::Bars(chart) => bars::draw(chart, sheet, area),
        Chart::Stacked(chart) => stacked::draw(chart, sheet, area),
        Chart::Histogram(chart) => histogram::draw(chart, sheet, area),
    }
}
