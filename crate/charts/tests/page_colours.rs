//! The page's style sheet and the charts agree on colours: a kernel's swatch has the colour of its lines and bars, and a
//! chart's card has the chart's background.

use stallarium_charts::{Colour, PALETTE_LEN, Theme};
use std::path::Path;

fn style(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../www").join(name);
    std::fs::read_to_string(path).expect("the page's style sheets are in the project")
}

/// The two colours of the first `light-dark(...)` behind a text.
fn colours_behind(css: &str, text: &str) -> [Colour; 2] {
    let at = css.find(text).unwrap_or_else(|| panic!("{text} is not in the style sheet"));
    let inside = css[at..].split_once("light-dark(").expect("two colours").1;
    let inside = inside.split_once(')').expect("closed").0;
    let colour = |text: &str| {
        let digits = text.trim().trim_start_matches('#');
        Colour::hex(u32::from_str_radix(digits, 16).expect("six digits"))
    };
    let (light, dark) = inside.split_once(',').expect("two colours");
    [colour(light), colour(dark)]
}

#[test]
fn swatches_have_the_colours_of_the_charts() {
    let css = style("parts.css");
    let (light, dark) = (Theme::light(), Theme::dark());
    for slot in 0..PALETTE_LEN {
        let expected = [light.palette[slot], dark.palette[slot]];
        assert_eq!(colours_behind(&css, &format!("[data-slot=\"{slot}\"]")), expected, "slot {slot}");
    }
}

#[test]
fn cards_have_the_background_of_the_charts() {
    let expected = [Theme::light().background, Theme::dark().background];
    assert_eq!(colours_behind(&style("style.css"), "--card:"), expected);
}
