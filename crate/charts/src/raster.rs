//! PNG pictures: our own SVG, rasterised by resvg with the fonts of `fonts/` and no others, so that the bytes are the same on
//! every machine.

use crate::theme::Theme;
use crate::{DrawError, Figure, LARGEST_PX, Picture, svg};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use std::sync::{Arc, OnceLock};

/// Inter, regular and semibold (SIL Open Font License 1.1, `fonts/OFL.txt`).
pub(crate) const FONTS: [&[u8]; 2] = [
    include_bytes!("../fonts/Inter-Regular.subset.otf"),
    include_bytes!("../fonts/Inter-SemiBold.subset.otf"),
];

fn fonts() -> Arc<fontdb::Database> {
    static FONTS_LOADED: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut database = fontdb::Database::new();
        for font in FONTS {
            database.load_font_data(font.to_vec());
        }
        database.set_sans_serif_family("Inter");
        Arc::new(database)
    };
    FONTS_LOADED.get_or_init(load).clone()
}

/// A figure as a PNG file, `scale` (0.25 to 8) pixels per CSS pixel. The picture's link is kept in a text chunk named
/// `Source`.
///
/// # Errors
///
/// [`DrawError::Size`] for a picture that is too small or, scaled, too large; [`DrawError::Backend`] when rasterising
/// fails.
pub fn png(figure: &Figure, picture: &Picture, scale: f64, theme: &Theme) -> Result<Vec<u8>, DrawError> {
    let scale = if scale.is_finite() { scale.clamp(0.25, 8.0) } else { 1.0 };
    let failed = |words: String| DrawError::Backend(words);
    let pixels = |px: u32| (f64::from(px) * scale).round() as u32;
    let (width, height) = (pixels(picture.width), pixels(picture.height));
    if width > LARGEST_PX || height > LARGEST_PX {
        return Err(DrawError::Size { width, height });
    }
    let text = svg(figure, picture, theme)?;
    let options = Options { fontdb: fonts(), font_family: "Inter".to_owned(), ..Options::default() };
    let tree = Tree::from_str(&text, &options).map_err(|error| failed(error.to_string()))?;
    let mut pixmap = Pixmap::new(width, height).ok_or(DrawError::Size { width, height })?;
    let transform = Transform::from_scale(scale as f32, scale as f32);
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    encode(figure, picture, &pixmap).map_err(|error| failed(error.to_string()))
}

/// The pixels as a file, opaque, with the figure's words.
fn encode(figure: &Figure, picture: &Picture, pixmap: &Pixmap) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, pixmap.width(), pixmap.height());
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let texts = [
        ("Title", Some(figure.title.as_str())),
        ("Description", Some(figure.summary.as_str())),
        ("Source", picture.link.as_deref()),
    ];
    for (keyword, text) in texts {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            encoder.add_itxt_chunk(keyword.to_owned(), text.to_owned())?;
        }
    }
    // The background covers everything, so nothing is transparent.
    let rgb: Vec<u8> =
        pixmap.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&rgb)?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pen::{Font, Ruler};
    use crate::surface::InterRuler;

    /// The table of widths and the fonts are two files; layouts rely on them being one thing.
    #[test]
    fn widths_are_those_of_the_fonts() {
        for (bytes, bold) in FONTS.into_iter().zip([false, true]) {
            let face = ttf_parser::Face::parse(bytes, 0).expect("the font is sound");
            let units = f64::from(face.units_per_em());
            let letters = "Whose slice is being served? 0123456789 (µs) −12.5\u{202F}GiB – …";
            for letter in letters.chars() {
                let glyph = face.glyph_index(letter).expect("the font has it");
                let advance = f64::from(face.glyph_hor_advance(glyph).unwrap_or(0)) / units;
                let width = InterRuler.width(&letter.to_string(), Font { px: 1.0, bold });
                assert!((advance - width).abs() <= 0.0006, "{letter:?}: {advance} {width}");
            }
        }
    }
}
