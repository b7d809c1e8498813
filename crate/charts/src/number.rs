//! Numbers in words: digits that matter, and a unit.

use crate::describe::Unit;

/// Between a number and its unit, and between groups of three digits: a space that does not break.
const THIN: char = '\u{202F}';

/// A step of a unit's ladder: how many base units it holds, and its name.
pub(crate) type Rung = (f64, &'static str);

/// Nanoseconds up to hours.
pub(crate) const TIME: &[Rung] =
    &[(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s"), (60e9, "min"), (3600e9, "h")];

/// Bytes with binary prefixes.
const BYTES: &[Rung] = &[
    (1.0, "B"),
    (1024.0, "KiB"),
    (1_048_576.0, "MiB"),
    (1_073_741_824.0, "GiB"),
    (1_099_511_627_776.0, "TiB"),
];

/// Sectors of 512 bytes with the same names.
const SECTORS: &[Rung] = &[(2.0, "KiB"), (2048.0, "MiB"), (2_097_152.0, "GiB"), (2_147_483_648.0, "TiB")];

impl Unit {
    /// The unit's ladder; one rung of 1 where there is none.
    pub(crate) fn ladder(&self) -> &'static [Rung] {
        match self {
            Self::Nanoseconds => &TIME[..4],
            Self::Bytes => BYTES,
            Self::Sectors => SECTORS,
            Self::Count | Self::Named(_) | Self::Percent => &[(1.0, "")],
        }
    }

    /// The highest rung that leaves `magnitude` at 1 or more; the lowest where none does.
    pub(crate) fn rung(&self, magnitude: f64) -> Rung {
        let ladder = self.ladder();
        let fits = ladder.iter().rev().find(|(size, _)| magnitude.abs() >= *size);
        fits.or(ladder.first()).copied().unwrap_or((1.0, ""))
    }

    /// The name of the unit at a rung: the rung's own, or the unit's.
    pub(crate) fn name(&self, rung: Rung) -> &str {
        match self {
            Self::Named(name) => name,
            Self::Percent => "%",
            _ => rung.1,
        }
    }

    /// A value with its unit, three digits that matter: `8.12 ms`, `529 files/s`, `1.5 GiB`.
    pub fn write(&self, value: f64) -> String {
        let rung = self.rung(value);
        let number = significant(value / rung.0);
        let name = self.name(rung);
        if name.is_empty() { number } else { format!("{number}{THIN}{name}") }
    }

    /// A value without a unit where the unit is written elsewhere; with it where the ladder decides.
    pub(crate) fn write_short(&self, value: f64) -> String {
        match self {
            Self::Named(_) => significant(value),
            _ => self.write(value),
        }
    }
}

/// A number with three digits that matter, zeros at the end left out: `6.6`, `107`, `12 300`.
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    let decimals = if size >= 99.95 || size == 0.0 {
        0
    } else if size >= 9.995 {
        1
    } else if size >= 0.9995 {
        2
    } else {
        let (mut decimals, mut scaled) = (2, size);
        while scaled < 0.9995 && decimals < 9 {
            scaled *= 10.0;
            decimals += 1;
        }
        decimals
    };
    let text = fixed(value, decimals);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number with so many decimals, groups of three digits apart, a true minus sign.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    let text = format!("{:.*}", decimals, value.abs());
    let (whole, rest) = match text.split_once('.') {
        Some((whole, rest)) => (whole, Some(rest)),
        None => (text.as_str(), None),
    };
    let zero = !text.bytes().any(|byte| byte.is_ascii_digit() && byte != b'0');
    let mut out = String::with_capacity(text.len() + 4);
    if value < 0.0 && !zero {
        out.push('−');
    }
    // Four digits are read as easily without a gap.
    let grouped = whole.len() > 4;
    for (index, digit) in whole.chars().enumerate() {
        if grouped && index > 0 && (whole.len() - index) % 3 == 0 {
            out.push(THIN);
        }
        out.push(digit);
    }
    if let Some(rest) = rest {
        out.push('.');
        out.push_str(rest);
    }
    out
}

/// A point in time, with decimals for a resolution of `resolution_ns`: `12.345 678 s` as `12.345678 s`.
pub fn instant(at_ns: f64, resolution_ns: f64) -> String {
    let rung = Unit::Nanoseconds.rung(at_ns);
    let mut decimals = 0;
    let mut step = rung.0;
    while step > resolution_ns.max(1.0) && decimals < 9 {
        step /= 10.0;
        decimals += 1;
    }
    format!("{}{THIN}{}", fixed(at_ns / rung.0, decimals), rung.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        text.replace(THIN, " ")
    }

    #[test]
    fn digits_that_matter() {
        for (value, text) in [
            (0.0, "0"),
            (6.6, "6.6"),
            (107.88, "108"),
            (529.44, "529"),
            (9.999, "10"),
            (0.0123, "0.0123"),
            (-0.5, "−0.5"),
            (1234.0, "1234"),
            (12345.6, "12 346"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(plain(&significant(value)), text);
        }
    }

    #[test]
    fn units_are_written_after_numbers() {
        assert_eq!(plain(&Unit::Nanoseconds.write(8_120_000.0)), "8.12 ms");
        assert_eq!(plain(&Unit::Nanoseconds.write(250.0)), "250 ns");
        assert_eq!(plain(&Unit::Sectors.write(3_145_728.0)), "1.5 GiB");
        assert_eq!(plain(&Unit::Bytes.write(4096.0)), "4 KiB");
        assert_eq!(plain(&Unit::named("files/s").write(529.44)), "529 files/s");
        assert_eq!(plain(&Unit::Percent.write(12.0)), "12 %");
    }

    #[test]
    fn instants_show_what_a_pixel_can() {
        assert_eq!(plain(&instant(12_345_678_901.0, 1_000.0)), "12.345679 s");
        assert_eq!(plain(&instant(8_000_000.0, 10_000.0)), "8.00 ms");
        assert_eq!(plain(&instant(0.0, 1e6)), "0 ns");
    }
}
