//! Every kind of chart, drawn as it was when someone last looked at it: a change of one byte shows up in review.
//!
//! After a change that is meant, `UPDATE_GOLDEN=1 cargo test -p stallarium-charts golden` writes the files anew; then look
//! at them.

use crate::samples;
use stallarium_charts::{Picture, Theme, View, svg};
use std::path::PathBuf;

#[test]
fn every_kind_of_chart_looks_as_it_did() {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/charts/golden");
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut wrong = Vec::new();
    for (name, figure) in samples::all() {
        for (variant, theme, width) in [("light-720", Theme::light(), 720), ("dark-360", Theme::dark(), 360)]
        {
            let picture = Picture {
                link: Some("https://example.org/#1t.experiment=cfq-noidle-2010&seed=7".into()),
                ..Picture::fitting(&figure, width, &theme)
            };
            let drawn = svg(&figure, &picture, &theme).expect("a sample can be drawn");
            let file = directory.join(format!("{name}-{variant}.svg"));
            if update {
                std::fs::create_dir_all(&directory).expect("the directory can be made");
                std::fs::write(&file, &drawn).expect("the file can be written");
                continue;
            }
            let golden = std::fs::read_to_string(&file).unwrap_or_default();
            if golden != drawn {
                let line = golden.lines().zip(drawn.lines()).position(|(a, b)| a != b);
                wrong.push(format!(
                    "{} differs from line {}",
                    file.display(),
                    line.map_or(0, |line| line + 1)
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}\nif this is meant, set UPDATE_GOLDEN=1", wrong.join("\n"));
}

/// The same description zoomed in, without its words, with a fixed gutter: what the page asks for.
#[test]
fn a_view_of_a_part_has_its_own_axis() {
    let figure = samples::lanes();
    let view = View {
        span: Some(stallarium_charts::describe::Span::new(40_000_000, 40_050_000)),
        titles: false,
        legend: false,
        gutter_px: Some(100.0),
        ..View::default()
    };
    let picture = Picture { width: 600, height: 200, link: None, view };
    let drawn = svg(&figure, &picture, &Theme::light()).expect("a sample can be drawn");
    // 50 µs, at a place that takes more digits than one reads at a glance.
    assert!(drawn.contains(">time (µs)</text>"), "{drawn}");
    assert!(drawn.contains(">40\u{202F}010</text>"), "{drawn}");
    assert!(!drawn.contains("slice begins"));
    assert!(drawn.contains("M100 "));
}

/// Bands leave out what lies between them; what is left out is counted in words.
#[test]
fn dots_outside_every_band_are_mentioned() {
    let mut figure = samples::dots();
    let stallarium_charts::Chart::Dots(chart) = &mut figure.chart else { panic!("dots") };
    assert_eq!(chart.bands.len(), 3);
    assert!(chart.bands.windows(2).all(|pair| pair[0].high < pair[1].low));
    let last = chart.bands.pop().expect("three bands");
    let count =
        chart.series.iter().flat_map(|series| &series.dots).filter(|dot| dot.value >= last.low).count();
    let picture = Picture::fitting(&figure, 600, &Theme::light());
    let drawn = svg(&figure, &picture, &Theme::light()).expect("a sample can be drawn");
    assert!(drawn.contains(&format!(">{count} outside the ranges shown</text>")));
}
