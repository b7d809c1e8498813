//! Draws every sample in both themes and three widths: `cargo run -p stallarium-charts --features png --example gallery -- DIRECTORY`.

#[path = "../tests/charts/samples.rs"]
mod samples;

use stallarium_charts::{Picture, Theme, png, svg};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory =
        std::path::PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "target/gallery".into()));
    std::fs::create_dir_all(&directory)?;
    for (name, figure) in samples::all() {
        for (theme_name, theme) in [("light", Theme::light()), ("dark", Theme::dark())] {
            for width in [320, 720, 1100] {
                let picture = Picture::fitting(&figure, width, &theme);
                let file = directory.join(format!("{name}-{theme_name}-{width}"));
                std::fs::write(file.with_extension("svg"), svg(&figure, &picture, &theme)?)?;
                std::fs::write(file.with_extension("png"), png(&figure, &picture, 2.0, &theme)?)?;
            }
        }
    }
    println!("{}", directory.display());
    Ok(())
}
