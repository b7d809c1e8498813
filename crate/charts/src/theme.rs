//! Colours and type: what the description's tones look like.
//!
//! The palettes start from the hues of Okabe and Ito's colour-blind-safe set, moved until every colour has a
//! contrast of 3:1 against its background (WCAG 2.2, 1.4.11) and every pair stays apart for the three kinds of colour
//! blindness. Text colours have 4.5:1. The tests measure both.

use crate::describe::Tone;
use serde::{Deserialize, Serialize};

/// A colour, 8 bits each of red, green and blue (sRGB).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Colour(pub u8, pub u8, pub u8);

impl Colour {
    /// The colour `0xRRGGBB`.
    pub const fn hex(rgb: u32) -> Self {
        Self((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
    }

    /// Relative luminance, 0 to 1 (WCAG 2.2).
    pub fn luminance(self) -> f64 {
        let channel = |value: u8| {
            let value = f64::from(value) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { libm::pow((value + 0.055) / 1.055, 2.4) }
        };
        0.2126 * channel(self.0) + 0.7152 * channel(self.1) + 0.0722 * channel(self.2)
    }

    /// Contrast ratio with another colour, 1 to 21 (WCAG 2.2).
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// This colour with `share` (0 to 1) of another mixed in.
    pub fn mix(self, other: Self, share: f64) -> Self {
        let channel = |a: u8, b: u8| {
            (f64::from(a) + (f64::from(b) - f64::from(a)) * share.clamp(0.0, 1.0)).round() as u8
        };
        Self(channel(self.0, other.0), channel(self.1, other.1), channel(self.2, other.2))
    }
}

/// Number of colours for series.
pub const PALETTE_LEN: usize = 7;

/// Everything about looks that is not in the description.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Theme {
    /// Behind everything.
    pub background: Colour,
    /// Titles and values.
    pub text: Colour,
    /// Labels of axes, subtitles.
    pub muted: Colour,
    /// Grid lines.
    pub grid: Colour,
    /// Base lines of axes.
    pub axis: Colour,
    /// Colours of series, in order.
    pub palette: [Colour; PALETTE_LEN],
    /// [`Tone::Neutral`].
    pub neutral: Colour,
    /// [`Tone::Faint`].
    pub faint: Colour,
    /// [`Tone::Good`].
    pub good: Colour,
    /// [`Tone::Bad`].
    pub bad: Colour,
    /// Font families, as in CSS.
    pub font_family: String,
    /// Size of labels, CSS pixels; titles and ticks follow it.
    pub font_px: f64,
}

/// Font families: the page's own system font, and Inter where pictures are made without a page.
const FONT_FAMILY: &str =
    "system-ui, -apple-system, 'Segoe UI', Roboto, Inter, 'Liberation Sans', Arial, sans-serif";

impl Theme {
    /// Dark on white.
    pub fn light() -> Self {
        Self {
            background: Colour::hex(0xFFFFFF),
            text: Colour::hex(0x1B1F24),
            muted: Colour::hex(0x59616B),
            grid: Colour::hex(0xE8EAED),
            axis: Colour::hex(0xA9B0B8),
            palette: [
                Colour::hex(0x0956A3),
                Colour::hex(0xE04E11),
                Colour::hex(0x018C6E),
                Colour::hex(0xCB6AB5),
                Colour::hex(0x7D4600),
                Colour::hex(0x3094FF),
                Colour::hex(0x53264D),
            ],
            neutral: Colour::hex(0x7C8692),
            faint: Colour::hex(0xC9CED4),
            good: Colour::hex(0x018C6E),
            bad: Colour::hex(0xC8301F),
            font_family: FONT_FAMILY.to_owned(),
            font_px: 12.0,
        }
    }

    /// Light on near-black.
    pub fn dark() -> Self {
        Self {
            background: Colour::hex(0x15181D),
            text: Colour::hex(0xE9ECEF),
            muted: Colour::hex(0xA3ABB5),
            grid: Colour::hex(0x2A2F37),
            axis: Colour::hex(0x5B6470),
            palette: [
                Colour::hex(0x6480E0),
                Colour::hex(0xFF8A2A),
                Colour::hex(0x34BF9A),
                Colour::hex(0xC3A0FF),
                Colour::hex(0xF4DF5A),
                Colour::hex(0x84F0EC),
                Colour::hex(0xB24F55),
            ],
            neutral: Colour::hex(0x8791A0),
            faint: Colour::hex(0x454C57),
            good: Colour::hex(0x34BF9A),
            bad: Colour::hex(0xF0604D),
            font_family: FONT_FAMILY.to_owned(),
            font_px: 12.0,
        }
    }

    /// The colour of a tone.
    pub fn colour(&self, tone: Tone) -> Colour {
        match tone {
            Tone::Series(slot) => self.palette[usize::from(slot) % PALETTE_LEN],
            Tone::Neutral => self.neutral,
            Tone::Faint => self.faint,
            Tone::Good => self.good,
            Tone::Bad => self.bad,
        }
    }

    /// Whichever of black and white reads better on a colour.
    pub fn text_on(&self, colour: Colour) -> Colour {
        let dark = Colour::hex(0x000000);
        let light = Colour::hex(0xFFFFFF);
        if colour.contrast(dark) >= colour.contrast(light) { dark } else { light }
    }
}

impl Default for Theme {
    fn default() -> Self {
        Self::light()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(value: u8) -> f64 {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { libm::pow((value + 0.055) / 1.055, 2.4) }
    }

    /// A colour in Oklab (Ottosson 2020), as seen through `matrix` in linear RGB.
    fn seen(colour: Colour, matrix: [[f64; 3]; 3]) -> [f64; 3] {
        let rgb = [linear(colour.0), linear(colour.1), linear(colour.2)];
        let through = matrix.map(|row| {
            let sum: f64 = row.iter().zip(rgb).map(|(weight, value)| weight * value).sum();
            sum.clamp(0.0, 1.0)
        });
        let [r, g, b] = through;
        let l = libm::cbrt(0.412_221 * r + 0.536_333 * g + 0.051_446 * b);
        let m = libm::cbrt(0.211_903 * r + 0.680_700 * g + 0.107_397 * b);
        let s = libm::cbrt(0.088_302 * r + 0.281_719 * g + 0.629_979 * b);
        [
            0.210_454 * l + 0.793_618 * m - 0.004_072 * s,
            1.977_998 * l - 2.428_592 * m + 0.450_594 * s,
            0.025_904 * l + 0.782_772 * m - 0.808_676 * s,
        ]
    }

    /// Normal sight and the three kinds of dichromacy (Machado, Oliveira and Fernandes 2009, severity 1).
    const SIGHTS: [(&str, [[f64; 3]; 3]); 4] = [
        ("normal", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ),
    ];

    #[test]
    fn text_reads_and_marks_stand_out() {
        for theme in [Theme::light(), Theme::dark()] {
            for text in [theme.text, theme.muted] {
                assert!(text.contrast(theme.background) >= 4.5, "{text:?}");
            }
            let marks = theme.palette.iter().chain([&theme.neutral, &theme.good, &theme.bad]);
            for &mark in marks {
                assert!(mark.contrast(theme.background) >= 3.0, "{mark:?}");
                assert!(theme.text_on(mark).contrast(mark) >= 4.5, "{mark:?}");
            }
        }
    }

    /// 0.1 in Oklab is about five times the least difference a normal eye sees side by side.
    #[test]
    fn series_stay_apart_for_every_sight() {
        for theme in [Theme::light(), Theme::dark()] {
            for (sight, matrix) in SIGHTS {
                for (index, &a) in theme.palette.iter().enumerate() {
                    for &b in &theme.palette[..index] {
                        let (x, y) = (seen(a, matrix), seen(b, matrix));
                        let square: f64 = x.iter().zip(y).map(|(p, q)| (p - q) * (p - q)).sum();
                        assert!(square.sqrt() >= 0.1, "{sight}: {a:?} and {b:?}: {}", square.sqrt());
                    }
                }
            }
        }
    }
}
