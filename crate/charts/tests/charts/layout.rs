//! The layout answers the pointer: what it says is what the description says, wherever the marks are.

use crate::samples;
use stallarium_charts::describe::{Chart, Span};
use stallarium_charts::{Figure, Item, Layout, Theme, View, draw, height_for};

/// Draws on a surface nobody sees.
fn layout(figure: &Figure, width: u32, view: &View) -> Layout {
    use plotters::drawing::IntoDrawingArea;
    let height = height_for(figure, width, &Theme::light(), view);
    let mut pixels = vec![0u8; (width * height * 3) as usize];
    let area = Blind(&mut pixels, (width, height)).into_drawing_area();
    draw(figure, &area, &Theme::light(), view).expect("a sample can be drawn")
}

/// The least a plotters backend can be: pixels. Everything else comes from plotters itself.
struct Blind<'a>(&'a mut [u8], (u32, u32));

impl plotters_backend::DrawingBackend for Blind<'_> {
    type ErrorType = std::convert::Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.1
    }

    fn ensure_prepared(&mut self) -> Result<(), plotters_backend::DrawingErrorKind<Self::ErrorType>> {
        Ok(())
    }

    fn present(&mut self) -> Result<(), plotters_backend::DrawingErrorKind<Self::ErrorType>> {
        Ok(())
    }

    fn draw_pixel(
        &mut self,
        (x, y): (i32, i32),
        color: plotters_backend::BackendColor,
    ) -> Result<(), plotters_backend::DrawingErrorKind<Self::ErrorType>> {
        if x >= 0 && y >= 0 && (x as u32) < self.1.0 && (y as u32) < self.1.1 {
            let at = ((y as u32 * self.1.0 + x as u32) * 3) as usize;
            self.0[at] = color.rgb.0;
        }
        Ok(())
    }

    fn draw_text<S: plotters_backend::BackendTextStyle>(
        &mut self,
        _: &str,
        _: &S,
        _: (i32, i32),
    ) -> Result<(), plotters_backend::DrawingErrorKind<Self::ErrorType>> {
        Ok(())
    }
}

#[test]
fn an_interval_is_found_where_its_time_is() {
    let figure = samples::lanes();
    let Chart::Lanes(chart) = &figure.chart else { panic!("lanes") };
    let layout = layout(&figure, 900, &View::default());
    for (index, lane) in chart.lanes.iter().enumerate() {
        let row = layout
            .targets
            .iter()
            .find(|target| target.item == Item::Lane(index))
            .expect("each lane has a place");
        let y = (row.area.top + row.area.bottom) / 2.0;
        for interval in &lane.intervals {
            let middle = interval.start_ns.midpoint(interval.end_ns);
            let Some(x) = layout.x_of_time(middle) else {
                continue;
            };
            let hit = layout.hit(&figure, x, y).expect("there is something");
            assert!(hit.text.starts_with(&lane.label), "{}", hit.text);
            let near_event = lane
                .events
                .iter()
                .any(|event| layout.x_of_time(event.at_ns).is_some_and(|at| (at - x).abs() <= 4.0));
            if !near_event {
                assert!(hit.text.contains(&chart.categories[interval.category].label), "{}", hit.text);
            }
        }
    }
}

#[test]
fn times_and_places_are_inverse() {
    let figure = samples::lines();
    let view = View {
        span: Some(Span::new(5_000_000_000, 6_000_000_000)),
        gutter_px: Some(120.0),
        ..View::default()
    };
    let layout = layout(&figure, 900, &view);
    assert_eq!(layout.panels[0].plot.left, 120.0);
    let x = layout.x_of_time(5_500_000_000).expect("inside");
    let back = layout.time_at(x).expect("inside");
    assert!(back.abs_diff(5_500_000_000) <= 1);
    assert_eq!(layout.x_of_time(4_000_000_000), None);
    assert_eq!(layout.time_at(10.0), None);
}

#[test]
fn every_dot_is_found_under_the_pointer() {
    let figure = samples::dots();
    let Chart::Dots(chart) = &figure.chart else { panic!("dots") };
    let layout = layout(&figure, 900, &View::default());
    assert_eq!(layout.panels.len(), 3);
    for series in &chart.series {
        for dot in series.dots.iter().step_by(17) {
            let panel = layout
                .panels
                .iter()
                .find(|panel| dot.value >= panel.y.low && dot.value <= panel.y.high)
                .expect("each dot lies in a band");
            let (x, y) = (panel.x.pixel(dot.at_ns as f64), panel.y.pixel(dot.value));
            let hit = layout.hit(&figure, x, y).expect("there is something");
            assert!(hit.text.contains("sector "), "{}", hit.text);
        }
    }
    assert_eq!(layout.hit(&figure, 1.0, 1.0), None);
}

#[test]
fn bars_and_parts_say_their_numbers() {
    let figure = samples::bars();
    let places = layout(&figure, 700, &View::default());
    let target = places.targets.iter().find(|target| target.item == Item::Bar(1, 0)).expect("vanilla");
    let hit = places.hit(&figure, target.area.left + 1.0, target.area.top + 1.0).expect("a bar");
    let text = hit.text.replace('\u{202F}', " ");
    assert_eq!(
        text,
        "vanilla CFQ 2.6.35-rc, fs_mark alone: 111 files/s (110 files/s to 112 files/s); published 108 files/s"
    );

    let figure = samples::stacked();
    let places = layout(&figure, 700, &View::default());
    let target = places.targets.iter().find(|target| target.item == Item::Part(1, 3)).expect("idling");
    let hit = places.hit(&figure, target.area.left + 1.0, target.area.top + 1.0).expect("a part");
    let text = hit.text.replace('\u{202F}', " ");
    assert_eq!(text, "vanilla CFQ 2.6.35-rc: the scheduler idling, 7.71 ms (85.7 %)");
}

#[test]
fn bins_and_lines_say_their_numbers() {
    let figure = samples::histogram();
    let places = layout(&figure, 700, &View::default());
    let panel = places.panels[1];
    let hit = places.hit(&figure, panel.x.pixel(9.2e6), panel.plot.bottom - 2.0).expect("a bin");
    let Chart::Histogram(chart) = &figure.chart else { panic!("histogram") };
    let text = hit.text.replace('\u{202F}', " ");
    assert_eq!(
        text,
        format!("9 ms to 9.5 ms: vanilla CFQ 2.6.35-rc: {} (files)", chart.series[1].counts[18])
    );

    let figure = samples::lines();
    let places = layout(&figure, 700, &View::default());
    let panel = places.panels[0];
    let hit = places.hit(&figure, panel.x.pixel(1e9), panel.y.pixel(0.0)).expect("a line");
    assert!(hit.text.starts_with("in the device: "), "{}", hit.text);
}

#[test]
fn tables_hold_what_pictures_show() {
    let table = samples::lanes().table(Some(Span::new(0, 60_000_000)));
    assert_eq!(table.rows.len(), 4);
    assert_eq!(table.headings[0], "lane");
    let table = samples::bars().table(None);
    assert_eq!(table.rows[1][5].replace('\u{202F}', " "), "108 files/s");
    let table = samples::stacked().table(None);
    assert_eq!(table.rows[0].len(), 8);
}
