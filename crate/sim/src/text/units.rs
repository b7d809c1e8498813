//! Sizes and times with units, exactly: decimal text to integers and back, without floats.

/// A kind of quantity and its units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Bytes. A bare number is bytes.
    Size,
    /// Nanoseconds. A bare number is refused: it is the commonest way to be wrong by a factor of 1000.
    Time,
    /// A plain count, without units.
    Count,
}

const SIZE_UNITS: &[(&str, u128)] = &[
    ("", 1),
    ("B", 1),
    ("bytes", 1),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];

const TIME_UNITS: &[(&str, u128)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("second", 1_000_000_000),
    ("seconds", 1_000_000_000),
    ("min", 60_000_000_000),
    ("minute", 60_000_000_000),
    ("minutes", 60_000_000_000),
    ("h", 3_600_000_000_000),
    ("hour", 3_600_000_000_000),
    ("hours", 3_600_000_000_000),
];

impl Scale {
    fn units(self) -> &'static [(&'static str, u128)] {
        match self {
            Self::Size => SIZE_UNITS,
            Self::Time => TIME_UNITS,
            Self::Count => &[("", 1)],
        }
    }

    /// How to write one, for messages.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            Self::Size => "write a size such as \"64 KiB\", \"4.19 GB\" or 4096 (bytes)",
            Self::Time => "write a time with its unit, such as \"8 ms\" or \"1.5 s\" (ns, us, ms, s, min, h)",
            Self::Count => "write a whole number",
        }
    }

    /// A value of this scale as people write it.
    #[must_use]
    pub fn format(self, value: u64) -> String {
        match self {
            Self::Size => format_size(value),
            Self::Time => format_time(value),
            Self::Count => value.to_string(),
        }
    }
}

/// Reads `text` as a quantity: `64 KiB`, `1.5 s`, `4.19 GB`, `1_000`. Fractions of the smallest unit
/// are rounded to the nearest.
///
/// # Errors
/// What is wrong with it, as a clause.
pub fn parse_quantity(text: &str, scale: Scale) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    scaled(number, unit, scale)
}

/// Reads `text` as a range of two quantities, both included: `1 ms..5 ms`. The first may leave its
/// unit to the second: `1..5 ms`. A single quantity is a range of one value.
///
/// # Errors
/// What is wrong with it, as a clause.
pub fn parse_range(text: &str, scale: Scale) -> Result<(u64, u64), String> {
    let Some((first, second)) = text.split_once("..") else {
        return parse_quantity(text, scale).map(|value| (value, value));
    };
    let ((low, low_unit), (high, high_unit)) = (split_unit(first), split_unit(second));
    let low_unit = if low_unit.is_empty() { high_unit } else { low_unit };
    let (low, high) = (scaled(low, low_unit, scale)?, scaled(high, high_unit, scale)?);
    if low <= high { Ok((low, high)) } else { Err("the range runs backwards".to_owned()) }
}

/// `64 KiB` into `64` and `KiB`.
fn split_unit(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end).unwrap_or((text, ""));
    (number, unit.trim())
}

fn scaled(number: &str, unit: &str, scale: Scale) -> Result<u64, String> {
    if number.is_empty() {
        return Err(if unit.starts_with('-') {
            "it cannot be negative".to_owned()
        } else {
            scale.advice().to_owned()
        });
    }
    let Some((_, factor)) = scale.units().iter().find(|(name, _)| *name == unit) else {
        return Err(match unit {
            "" => format!("it has no unit; {}", scale.advice()),
            _ => format!("\"{unit}\" is no unit here; {}", scale.advice()),
        });
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = |text: &str| -> Option<u128> {
        let text = text.replace('_', "");
        if text.is_empty() {
            Some(0)
        } else if text.len() > 20 {
            None
        } else {
            text.parse().ok()
        }
    };
    let decimals = fraction.bytes().filter(u8::is_ascii_digit).count();
    let (Some(whole_value), Some(fraction_value)) = (digits(whole), digits(fraction)) else {
        return Err(match fraction.contains('.') {
            true => scale.advice().to_owned(),
            false => "it has too many digits".to_owned(),
        });
    };
    if whole.is_empty() && decimals == 0 {
        return Err(scale.advice().to_owned());
    }
    // At most 20 digits each, factors below 2^42: no product here reaches 2^128.
    let divisor = 10_u128.pow(u32::try_from(decimals).unwrap_or(20).min(20));
    let value = whole_value * factor + (fraction_value * factor * 2 + divisor) / (2 * divisor);
    u64::try_from(value).map_err(|_| "it is too large".to_owned())
}

/// Bytes as people write them, exactly: the largest unit that needs at most three decimals, binary
/// units first.
#[must_use]
pub fn format_size(bytes: u64) -> String {
    const BINARY: [(&str, u64); 4] = [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    const DECIMAL: [(&str, u64); 4] =
        [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
    let binary = BINARY.iter().find(|(_, unit)| bytes > 0 && bytes.is_multiple_of(*unit));
    binary.map_or_else(
        || with_decimals(bytes, &DECIMAL).unwrap_or_else(|| format!("{bytes} B")),
        |(name, unit)| format!("{} {name}", bytes / unit),
    )
}

/// Nanoseconds as people write them, exactly: the largest of s, ms and us that needs at most three
/// decimals, else ns.
#[must_use]
pub fn format_time(time_ns: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000)];
    if time_ns == 0 {
        return "0 s".to_owned();
    }
    with_decimals(time_ns, &UNITS).unwrap_or_else(|| format!("{time_ns} ns"))
}

/// `value` in the first unit of which it is at least one, if three decimals suffice.
fn with_decimals(value: u64, units: &[(&str, u64)]) -> Option<String> {
    let (name, unit) = units.iter().find(|(_, unit)| value >= *unit && value.is_multiple_of(unit / 1000))?;
    let (whole, thousandths) = (value / unit, value % unit / (unit / 1000));
    let decimals = format!(".{thousandths:03}");
    let decimals = decimals.trim_end_matches('0').trim_end_matches('.');
    Some(format!("{whole}{decimals} {name}"))
}

/// A decimal number of at most 15 digits, such as `-529.44`, exactly as the nearest float; `None` if the text is none or has more.
///
/// Digits and power of ten are exact as floats, so that their quotient is rounded once. The standard library's reader does this for any
/// number of digits, with a table of 10 KB that cannot be compressed.
#[must_use]
pub fn parse_decimal(text: &str) -> Option<f64> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    let all = || whole.bytes().chain(fraction.bytes());
    if whole.is_empty()
        || fraction.is_empty()
        || all().count() > 15
        || !all().all(|digit| digit.is_ascii_digit())
    {
        return None;
    }
    let number = all().fold(0.0, |number, digit| number * 10.0 + f64::from(digit - b'0'));
    let scale = fraction.bytes().fold(1.0, |scale, _| scale * 10.0);
    let value = number / scale;
    Some(if is_negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_and_times_are_exact() {
        for (text, scale, value) in [
            ("64 KiB", Scale::Size, 65_536),
            ("4.19 GB", Scale::Size, 4_190_000_000),
            ("1.5KiB", Scale::Size, 1_536),
            ("4_096", Scale::Size, 4_096),
            ("8 ms", Scale::Time, 8_000_000),
            (".5 s", Scale::Time, 500_000_000),
            ("0.0005 us", Scale::Time, 1),
            ("8 hours", Scale::Time, 28_800_000_000_000),
            ("12", Scale::Count, 12),
        ] {
            assert_eq!(parse_quantity(text, scale), Ok(value), "{text}");
        }
    }

    #[test]
    fn wrong_quantities_are_explained() {
        for (text, scale, clause) in [
            ("8", Scale::Time, "it has no unit"),
            ("8 parsecs", Scale::Time, "\"parsecs\" is no unit here"),
            ("-3 KiB", Scale::Size, "negative"),
            ("", Scale::Size, "write a size"),
            (".", Scale::Size, "write a size"),
            ("1.2.3 s", Scale::Time, "write a time"),
            ("99999999 TiB", Scale::Size, "too large"),
            ("123456789012345678901 B", Scale::Size, "too many digits"),
        ] {
            let message = parse_quantity(text, scale).expect_err(text);
            assert!(message.contains(clause), "{text}: {message}");
        }
    }

    #[test]
    fn ranges() {
        assert_eq!(parse_range("1 ms..5 ms", Scale::Time), Ok((1_000_000, 5_000_000)));
        assert_eq!(parse_range("1..5 ms", Scale::Time), Ok((1_000_000, 5_000_000)));
        assert_eq!(parse_range("4 KiB", Scale::Size), Ok((4096, 4096)));
        assert_eq!(parse_range("5..1 ms", Scale::Time), Err("the range runs backwards".to_owned()));
    }

    proptest! {
        /// What is written can be read, whatever the value.
        #[test]
        fn formatting_is_exact(value: u64, shift in 0_u32..64) {
            let value = value >> shift;
            prop_assert_eq!(parse_quantity(&format_size(value), Scale::Size), Ok(value));
            prop_assert_eq!(parse_quantity(&format_time(value), Scale::Time), Ok(value));
        }

        /// No text makes the parser panic.
        #[test]
        fn any_text_is_survived(text in "[-0-9._ KMGiBmsuhµ.]{0,40}|.*") {
            for scale in [Scale::Size, Scale::Time, Scale::Count] {
                let _ = parse_range(&text, scale);
            }
        }
    }

    /// What is no number, or has too many digits, is none.
    #[test]
    fn wrong_decimals() {
        for text in ["", "-", ".5", "5.", "1e3", "+1", "1.2.3", "0x1", "1 ", "1234567890.123456"] {
            assert_eq!(parse_decimal(text), None, "{text}");
        }
    }

    proptest! {
        /// A decimal is what the standard library makes of it, to the last bit.
        #[test]
        fn decimals_are_exact(text in "-?[0-9]{1,9}(\\.[0-9]{1,6})?") {
            let number = parse_decimal(&text).map(f64::to_bits);
            prop_assert_eq!(number, text.parse::<f64>().ok().map(f64::to_bits));
        }
    }
}
