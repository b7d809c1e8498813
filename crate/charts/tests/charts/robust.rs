//! No description, however strange, makes the drawing panic, and nothing is drawn outside the picture or without bound.

use crate::samples;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};
use proptest::prelude::*;
use stallarium_charts::describe::*;
use stallarium_charts::{DrawError, Figure, Layout, Picture, Theme, View, draw, height_for, svg};
use std::convert::Infallible;

/// Numbers that break things.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        5 => -1e3f64..1e6,
        1 => Just(0.0),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(1e300),
        1 => Just(-1e300),
        1 => Just(1e-300),
    ]
}

fn time() -> impl Strategy<Value = u64> {
    prop_oneof![6 => 0u64..2_000_000, 1 => Just(u64::MAX), 1 => Just(0), 1 => any::<u64>()]
}

fn span() -> impl Strategy<Value = Span> {
    prop_oneof![
        3 => Just(Span::new(0, 1_000_000)),
        1 => (time(), time()).prop_map(|(a, b)| Span::new(a, b)),
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z <&]{0,20}", 1 => Just(String::new()), 1 => ".{0,200}"]
}

fn tone() -> impl Strategy<Value = Tone> {
    prop_oneof![any::<u8>().prop_map(Tone::Series), Just(Tone::Neutral), Just(Tone::Faint), Just(Tone::Bad)]
}

fn fill() -> impl Strategy<Value = Fill> {
    prop_oneof![
        Just(Fill::Solid),
        Just(Fill::Tint),
        Just(Fill::Rising),
        Just(Fill::Falling),
        Just(Fill::Hatched),
        Just(Fill::Half),
        Just(Fill::Thin)
    ]
}

fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![
        Just(Unit::Count),
        words().prop_map(Unit::Named),
        Just(Unit::Nanoseconds),
        Just(Unit::Bytes),
        Just(Unit::Sectors),
        Just(Unit::Percent)
    ]
}

fn axis() -> impl Strategy<Value = Axis> {
    (words(), unit(), proptest::option::of((number(), number())), any::<bool>()).prop_map(
        |(label, unit, range, log)| {
            let scale = if log { AxisScale::Log } else { AxisScale::Linear };
            Axis { label, unit, range, scale }
        },
    )
}

fn some<S: Strategy>(of: S, most: usize) -> impl Strategy<Value = Vec<S::Value>> {
    proptest::collection::vec(of, 0..most)
}

fn category() -> impl Strategy<Value = Category> {
    (words(), tone(), fill()).prop_map(|(label, tone, fill)| Category { label, tone, fill })
}

fn lanes() -> impl Strategy<Value = Chart> {
    let parts = (time(), time(), 0usize..5, proptest::option::of(words()), (number(), number()));
    let interval = parts.prop_map(|(start_ns, end_ns, category, label, band)| Interval {
        start_ns,
        end_ns,
        category,
        label,
        band,
    });
    let event = (time(), 0usize..4).prop_map(|(at, kind)| Event::new(at, kind));
    let lane = (words(), some(interval, 30), some(event, 10)).prop_map(|(label, intervals, events)| Lane {
        label,
        intervals,
        events,
    });
    let kind = (words(), tone()).prop_map(|(label, tone)| EventKind::new(label, tone, Marker::Tick));
    (span(), some(category(), 4), some(kind, 3), some(lane, 12), any::<bool>()).prop_map(
        |(span, categories, kinds, lanes, is_shared)| {
            Lanes { span, categories, kinds, lanes, is_shared }.into()
        },
    )
}

fn dots() -> impl Strategy<Value = Chart> {
    let dot = (time(), number(), 0usize..4).prop_map(|(at, value, kind)| Dot::new(at, value, kind));
    let series =
        (words(), tone(), some(dot, 60)).prop_map(|(label, tone, dots)| DotSeries { label, tone, dots });
    let band = (words(), number(), number()).prop_map(|(label, low, high)| Band::new(label, low, high));
    let parts = (span(), axis(), some(band, 4), some(series, 4), any::<bool>());
    parts.prop_map(|(span, y, bands, series, cut)| {
        let kinds = vec![DotKind::new("read", Marker::Ring), DotKind::new("write", Marker::Cross)];
        let mut chart = Dots { span, y, bands, kinds, series };
        if cut {
            chart.cut_into_bands(3);
        }
        chart.into()
    })
}

fn lines() -> impl Strategy<Value = Chart> {
    let bucket = (time(), number(), number(), number()).prop_map(|(at_ns, min, max, last)| Bucket {
        at_ns,
        min,
        max,
        last,
    });
    let series = (words(), any::<u8>(), any::<bool>(), some(bucket, 60)).prop_map(
        |(label, slot, step, mut buckets)| {
            buckets.sort_by_key(|bucket| bucket.at_ns);
            let shape = if step { LineShape::Step } else { LineShape::Linear };
            LineSeries { buckets, ..LineSeries::slot(label, slot, shape) }
        },
    );
    let rule = (number(), words()).prop_map(|(value, label)| Rule::new(value, label));
    (span(), axis(), some(series, 4), some(rule, 3))
        .prop_map(|(span, y, series, rules)| Lines { span, y, series, rules }.into())
}

fn bars() -> impl Strategy<Value = Chart> {
    let bar = (number(), proptest::option::of((number(), number())), proptest::option::of(number()))
        .prop_map(|(value, spread, reference)| Bar { value, spread, reference });
    let series = (words(), tone(), fill(), some(proptest::option::of(bar), 8))
        .prop_map(|(label, tone, fill, bars)| BarSeries { label, tone, fill, bars });
    (axis(), some(words(), 8), some(series, 4), words())
        .prop_map(|(axis, groups, series, reference)| Bars { axis, groups, series, reference }.into())
}

fn stacked() -> impl Strategy<Value = Chart> {
    let bar = (words(), some(number(), 8)).prop_map(|(label, values)| StackedBar::new(label, values));
    (some(category(), 8), some(bar, 6), unit(), words(), any::<bool>()).prop_map(
        |(parts, bars, unit, label, share)| {
            let measure = if share { Measure::Share } else { Measure::Total };
            Stacked { parts, bars, unit, label, measure }.into()
        },
    )
}

fn histogram() -> impl Strategy<Value = Chart> {
    let count = prop_oneof![5 => 0u64..1000, 1 => Just(u64::MAX)];
    let series = (words(), any::<u8>(), some(count, 60))
        .prop_map(|(label, slot, counts)| HistogramSeries::slot(label, slot, counts));
    let rule = (number(), words()).prop_map(|(value, label)| Rule::new(value, label));
    let parts = (unit(), number(), number(), some(series, 5), any::<bool>(), some(rule, 3));
    parts.prop_map(|(unit, first, width, series, overlaid, rules)| {
        let arrangement = if overlaid { Arrangement::Overlaid } else { Arrangement::Multiples };
        let (label, counted) = ("time".to_owned(), "files".to_owned());
        Histogram { label, unit, first, width, counted, series, arrangement, rules }.into()
    })
}

fn figure() -> impl Strategy<Value = Figure> {
    let chart = prop_oneof![lanes(), dots(), lines(), bars(), stacked(), histogram()];
    (words(), words(), words(), words(), chart).prop_map(|(title, subtitle, summary, note, chart)| {
        Figure::new(title, chart).subtitle(subtitle).summary(summary).note(note)
    })
}

/// A backend that only counts and checks.
#[derive(Default)]
struct Counter {
    size: (u32, u32),
    corners: usize,
    outside: Vec<BackendCoord>,
}

impl Counter {
    fn see(&mut self, points: &[BackendCoord]) {
        self.corners += points.len();
        let (width, height) = (self.size.0 as i32, self.size.1 as i32);
        // Marks centred on an edge reach a few pixels over it.
        let inside =
            |&&(x, y): &&BackendCoord| (-20..=width + 20).contains(&x) && (-20..=height + 20).contains(&y);
        self.outside.extend(points.iter().filter(|point| !inside(point)));
    }
}

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

impl DrawingBackend for &mut Counter {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, _: BackendColor) -> Drawn {
        self.see(&[point]);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, _: &S) -> Drawn {
        self.see(&[from, to]);
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, _: &S, _: bool) -> Drawn {
        self.see(&[from, to]);
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(&mut self, path: I, _: &S) -> Drawn {
        self.see(&path.into_iter().collect::<Vec<_>>());
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(&mut self, center: BackendCoord, _: u32, _: &S, _: bool) -> Drawn {
        self.see(&[center]);
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        _: &S,
    ) -> Drawn {
        self.see(&path.into_iter().collect::<Vec<_>>());
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(&mut self, _: &str, _: &S, pos: BackendCoord) -> Drawn {
        self.see(&[pos]);
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok(((text.chars().count() as f64 * style.size() * 0.6) as u32, style.size() as u32))
    }
}

fn count(figure: &Figure, size: (u32, u32), view: &View) -> (Counter, Result<Layout, DrawError>) {
    let mut counter = Counter { size, ..Counter::default() };
    let area: DrawingArea<&mut Counter, Shift> = (&mut counter).into_drawing_area();
    let layout = draw(figure, &area, &Theme::light(), view);
    drop(area);
    (counter, layout)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn strange_figures_are_drawn_within_their_edges(
        figure in figure(), width in 80u32..1200, height in 80u32..700,
        zoom in proptest::option::of(span()), gutter_px in proptest::option::of(number()),
        pointer in (0.0f64..1200.0, 0.0f64..700.0),
    ) {
        let view = View { span: zoom, gutter_px: gutter_px.filter(|px| px.is_finite()), ..View::default() };
        let (counter, layout) = count(&figure, (width, height), &view);
        let layout = layout.expect("no backend fails here");
        prop_assert!(counter.outside.is_empty(), "{:?}", counter.outside);
        layout.hit(&figure, pointer.0, pointer.1);
        layout.time_at(pointer.0);
        let table = figure.table(zoom);
        for row in &table.rows {
            prop_assert_eq!(row.len(), table.headings.len());
        }
        prop_assert!(height_for(&figure, width, &Theme::light(), &view) >= 80);
        let picture = Picture { width, height, link: None, view };
        let text = svg(&figure, &picture, &Theme::dark()).expect("the size is allowed");
        prop_assert!(!text.contains("NaN") && !text.contains("=\"inf"));
        prop_assert!(text.ends_with("</svg>\n"));
    }
}

#[test]
fn sizes_that_cannot_be_drawn_are_refused() {
    let figure = samples::bars();
    for size in [(79, 400), (400, 16_385)] {
        let (_, layout) = count(&figure, size, &View::default());
        let error = layout.expect_err("too small or too large");
        assert_eq!(error, DrawError::Size { width: size.0, height: size.1 });
        assert!(error.to_string().contains("80 to 16384"), "{error}");
    }
}

/// A hundred times the data reaches the backend as about the same number of corners: what a screen can show.
#[test]
fn what_reaches_the_backend_is_bounded_by_pixels() {
    let line = |points: u64| {
        let mut series = LineSeries::slot("depth", 0, LineShape::Linear);
        let value = |step: u64| ((step * 7_919) % 1_000) as f64;
        series.buckets =
            (0..points).map(|step| Bucket::point(step * 1_000_000 / points, value(step))).collect();
        let span = Span::new(0, 1_000_000);
        Figure::new("", Lines { span, series: vec![series], ..Lines::default() })
    };
    let lane = |intervals: u64| {
        let mut lane = Lane::new("queue");
        let each = 1_000_000_000 / intervals;
        lane.intervals = (0..intervals)
            .map(|step| Interval::new(step * each, step * each + each, (step % 3) as usize))
            .collect();
        let categories = (0..3).map(|slot| Category::new("c", Tone::Series(slot), Fill::Solid)).collect();
        let span = Span::new(0, 1_000_000_000);
        Figure::new("", Lanes { span, categories, lanes: vec![lane], ..Lanes::default() })
    };
    let dots = |points: u64| {
        let mut series = DotSeries::new("reader", Tone::Series(0));
        series.dots = (0..points)
            .map(|step| Dot::new(step * 1_000_000 / points, ((step * 7_919) % 100_000) as f64, 0))
            .collect();
        let span = Span::new(0, 1_000_000);
        Figure::new("", Dots { span, series: vec![series], ..Dots::default() })
    };
    let size = (900, 400);
    let corners = |figure: &Figure| count(figure, size, &View::default()).0.corners;
    // A line has its envelope (two corners a column) and itself (one); a lane one rectangle a column; dots one in
    // four pixels at most.
    assert!(corners(&line(1_000_000)) < 4 * 900, "{}", corners(&line(1_000_000)));
    assert!(corners(&lane(1_000_000)) < 3 * 900, "{}", corners(&lane(1_000_000)));
    assert!(corners(&dots(1_000_000)) < 900 * 400 / 4 + 200, "{}", corners(&dots(1_000_000)));
}

#[test]
fn descriptions_survive_being_written_and_read() {
    for (name, figure) in samples::all() {
        let text = serde_json::to_string(&figure).expect("a figure can be written");
        let read: Figure = serde_json::from_str(&text).expect("and read");
        assert_eq!(read, figure, "{name}");
    }
}
