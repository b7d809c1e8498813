//! PNG pictures: the fonts are what the widths say, the bytes do not depend on the machine, and the words travel along.

use crate::samples;
use stallarium_charts::{Picture, Theme, png as draw_png};

#[test]
fn a_picture_has_the_size_asked_for_and_carries_its_link() {
    let figure = samples::bars();
    let theme = Theme::dark();
    let link = "https://example.org/#1t.experiment=cfq-noidle-2010";
    let picture = Picture { link: Some(link.into()), ..Picture::fitting(&figure, 400, &theme) };
    let bytes = draw_png(&figure, &picture, 1.5, &theme).expect("a sample can be drawn");
    let decoder = ::png::Decoder::new(std::io::Cursor::new(&bytes));
    let mut reader = decoder.read_info().expect("it is a PNG file");
    assert_eq!(reader.info().width, 600);
    assert_eq!(reader.info().height, (f64::from(picture.height) * 1.5).round() as u32);
    let texts: Vec<(String, String)> = reader
        .info()
        .utf8_text
        .iter()
        .map(|chunk| (chunk.keyword.clone(), chunk.get_text().expect("text")))
        .collect();
    assert!(texts.contains(&("Source".into(), link.into())));
    assert!(texts.contains(&("Title".into(), figure.title.clone())));

    // Text is really there: the title's row holds more than the background.
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let frame = reader.next_frame(&mut pixels).expect("pixels");
    let row = &pixels[frame.line_size * 30..frame.line_size * 31];
    assert!(row.chunks(3).any(|pixel| pixel != &pixels[..3]));
    let again = draw_png(&figure, &picture, 1.5, &theme).expect("the same again");
    assert_eq!(bytes, again);
}

#[test]
fn too_large_is_refused() {
    let figure = samples::bars();
    let picture = Picture { width: 4_000, height: 300, ..Picture::default() };
    assert!(draw_png(&figure, &picture, 8.0, &Theme::light()).is_err());
}
