//! Where an axis is marked, and with which words.

use crate::describe::Unit;
use crate::number::{TIME, fixed, significant};

/// A mark on an axis.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tick {
    /// Where, in the axis's own unit.
    pub(crate) value: f64,
    /// What is written there; empty for a mark without words.
    pub(crate) label: String,
}

/// The marks of an axis and the unit its words are in.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ticks {
    /// The marks, ascending.
    pub(crate) marks: Vec<Tick>,
    /// The unit to write once beside the axis; may be empty.
    pub(crate) unit: String,
    /// For times far from zero: what the words count from, `12.3 s`.
    pub(crate) from: Option<String>,
}

/// No axis has more marks than this, whatever it is asked for.
const MOST_MARKS: i64 = 200;

/// A step: `mantissa` times ten to the `exponent`.
#[derive(Clone, Copy, Debug)]
struct Step {
    mantissa: f64,
    exponent: i32,
}

impl Step {
    /// The least of 1, 2, 5 times a power of ten that is `least` or more.
    fn at_least(least: f64) -> Self {
        let mut exponent = 0;
        let mut scaled = least.max(1e-12);
        while scaled > 5.0 && exponent < 300 {
            scaled /= 10.0;
            exponent += 1;
        }
        while scaled <= 0.5 && exponent > -12 {
            scaled *= 10.0;
            exponent -= 1;
        }
        // Here 0.5 < scaled <= 5, so one of these holds it.
        let mantissa =
            [1.0, 2.0, 5.0].into_iter().find(|mantissa| scaled <= *mantissa * (1.0 + 1e-9)).unwrap_or(5.0);
        Self { mantissa, exponent }
    }

    fn size(self) -> f64 {
        self.times(1)
    }

    /// `count` steps, computed so that 3 steps of 0.1 are 0.3.
    fn times(self, count: i64) -> f64 {
        let mut value = self.mantissa * count as f64;
        let mut power = 1.0;
        for _ in 0..self.exponent.abs() {
            power *= 10.0;
        }
        if self.exponent < 0 {
            value /= power;
        } else {
            value *= power;
        }
        value
    }

    fn decimals(self) -> usize {
        usize::try_from(-self.exponent).unwrap_or(0)
    }
}

/// Marks at round numbers of a value axis from `low` to `high`, at most `most` of them.
pub(crate) fn linear(unit: &Unit, low: f64, high: f64, most: usize) -> Ticks {
    if !(low.is_finite() && high.is_finite() && high > low) || most == 0 {
        return Ticks::default();
    }
    let rung = unit.rung(low.abs().max(high.abs()));
    let (from, to) = (low / rung.0, high / rung.0);
    let step = step_for(unit, from, to, most);
    let marks = multiples(step, from, to)
        .map(|value| Tick { value: value * rung.0, label: fixed(value, step.decimals()) })
        .collect();
    Ticks { marks, unit: unit.name(rung).to_owned(), from: None }
}

/// The step of a linear axis; counts and percentages of things that come whole are not cut finer than 1.
fn step_for(unit: &Unit, low: f64, high: f64, most: usize) -> Step {
    let least = (high - low) / most as f64;
    match unit {
        Unit::Count => Step::at_least(least.max(1.0)),
        _ => Step::at_least(least),
    }
}

/// The multiples of a step within `low..=high`.
fn multiples(step: Step, low: f64, high: f64) -> impl Iterator<Item = f64> {
    let slack = 1e-6;
    let first = (low / step.size() - slack).ceil() as i64;
    let last = (high / step.size() + slack).floor() as i64;
    (first..=last.min(first.saturating_add(MOST_MARKS))).map(move |count| step.times(count))
}

/// The ends of a linear axis that holds `low..=high` and ends on round numbers.
pub(crate) fn round_ends(unit: &Unit, low: f64, high: f64, most: usize) -> (f64, f64) {
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let high = if high > low { high } else { low + 1.0 };
    let rung = unit.rung(low.abs().max(high.abs()));
    let (from, to) = (low / rung.0, high / rung.0);
    let step = step_for(unit, from, to, most.max(1));
    let first = (from / step.size() + 1e-9).floor() as i64;
    let last = (to / step.size() - 1e-9).ceil() as i64;
    (step.times(first) * rung.0, step.times(last) * rung.0)
}

/// Marks of a logarithmic axis: powers of ten, and 2 and 5 times them where there is room.
pub(crate) fn log(unit: &Unit, low: f64, high: f64, most: usize) -> Ticks {
    let mut marks = Vec::new();
    if !(low > 0.0 && high > low && high.is_finite()) {
        return Ticks::default();
    }
    let decades = libm::log10(high / low);
    let fine = decades * 3.0 <= most as f64;
    let mut power = 1.0;
    while power > low && power > 1e-12 {
        power /= 10.0;
    }
    while power * 10.0 <= low {
        power *= 10.0;
    }
    while power <= high * (1.0 + 1e-9) {
        for factor in [1.0, 2.0, 5.0] {
            let value = power * factor;
            let within = value >= low * (1.0 - 1e-9) && value <= high * (1.0 + 1e-9);
            if within && (fine || factor == 1.0) {
                marks.push(Tick { value, label: unit.write_short(value) });
            }
        }
        power *= 10.0;
    }
    let unit = match unit {
        Unit::Named(name) => name.clone(),
        _ => String::new(),
    };
    Ticks { marks, unit, from: None }
}

/// The ends of a logarithmic axis that holds `low..=high`: at 1, 2 or 5 times a power of ten.
pub(crate) fn log_ends(low: f64, high: f64) -> (f64, f64) {
    let high = if high.is_finite() && high > 0.0 { high } else { 1.0 };
    let low = if low > 0.0 { low.min(high) } else { high / 10.0 };
    let mut floor = 1.0;
    while floor > low && floor > 1e-12 {
        floor /= 10.0;
    }
    while floor * 10.0 <= low {
        floor *= 10.0;
    }
    // A bar that starts at the axis's end would have no length.
    if low < floor * 1.2 {
        floor /= 10.0;
    }
    let mut ceiling = floor;
    'search: while ceiling < high {
        for factor in [2.0, 5.0, 10.0] {
            if ceiling * factor >= high {
                ceiling *= factor;
                break 'search;
            }
        }
        ceiling *= 10.0;
    }
    (floor, ceiling.max(floor * 10.0))
}

/// Marks of a time axis from `start_ns` to `end_ns`, at most `most` of them.
///
/// The unit follows the span, so that numbers stay short; when even so more than six digits would be needed, the
/// words count from a round time near the start, which `from` names.
pub(crate) fn time(start_ns: f64, end_ns: f64, most: usize) -> Ticks {
    let span = end_ns - start_ns;
    if !(span > 0.0 && span.is_finite() && start_ns.is_finite()) || most == 0 {
        return Ticks::default();
    }
    let rung = TIME
        .iter()
        .rev()
        .find(|(size, _)| span >= size * if *size >= 60e9 { 5.0 } else { 1.5 })
        .or(TIME.first())
        .copied()
        .unwrap_or((1.0, "ns"));
    let least = (span / rung.0 / most as f64).max(1.0 / rung.0);
    if rung.0 >= 60e9 {
        return clock_time(start_ns, end_ns, rung, least);
    }
    let step = Step::at_least(least);
    let needed = (end_ns / rung.0 / step.size()).abs();
    let base = if needed >= 1e6 {
        let round = step.size() * rung.0 * 10_000.0;
        (start_ns / round).floor() * round
    } else {
        0.0
    };
    let marks = multiples(step, (start_ns - base) / rung.0, (end_ns - base) / rung.0)
        .map(|value| Tick { value: base + value * rung.0, label: fixed(value, step.decimals()) })
        .collect();
    Ticks { marks, unit: rung.1.to_owned(), from: (base > 0.0).then(|| exact_seconds(base)) }
}

/// Marks in minutes or hours, at steps a clock has.
fn clock_time(start_ns: f64, end_ns: f64, rung: (f64, &'static str), least: f64) -> Ticks {
    let steps = [0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 240.0, 600.0];
    let step = steps.into_iter().find(|step| *step >= least).unwrap_or_else(|| Step::at_least(least).size());
    let (from, to) = (start_ns / rung.0, end_ns / rung.0);
    let first = (from / step - 1e-6).ceil() as i64;
    let last = (to / step + 1e-6).floor() as i64;
    let marks = (first..=last.min(first.saturating_add(MOST_MARKS)))
        .map(|count| count as f64 * step)
        .map(|value| Tick { value: value * rung.0, label: significant(value) })
        .collect();
    Ticks { marks, unit: rung.1.to_owned(), from: None }
}

/// A time in seconds with as many decimals as it has.
fn exact_seconds(at_ns: f64) -> String {
    let text = fixed(at_ns / 1e9, 9);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text}\u{202F}s")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(ticks: &Ticks) -> Vec<&str> {
        ticks.marks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn linear_marks_are_round() {
        let unit = Unit::named("files/s");
        assert_eq!(words(&linear(&unit, 0.0, 560.0, 6)), ["0", "100", "200", "300", "400", "500"]);
        assert_eq!(words(&linear(&unit, 0.0, 1.0, 5)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(words(&linear(&Unit::Count, 0.0, 2.0, 9)), ["0", "1", "2"]);
    }

    #[test]
    fn bytes_are_marked_in_binary_units() {
        let ticks = linear(&Unit::Sectors, 0.0, 8.0 * 2_097_152.0, 4);
        assert_eq!(words(&ticks), ["0", "2", "4", "6", "8"]);
        assert_eq!(ticks.unit, "GiB");
    }

    #[test]
    fn time_marks_follow_the_span() {
        let ticks = time(0.0, 100e6, 6);
        assert_eq!((words(&ticks), ticks.unit.as_str()), (vec!["0", "20", "40", "60", "80", "100"], "ms"));
        let ticks = time(0.0, 600e9, 6);
        assert_eq!((words(&ticks), ticks.unit.as_str()), (vec!["0", "2", "4", "6", "8", "10"], "min"));
        let ticks = time(0.0, 90e9, 5);
        assert_eq!((words(&ticks), ticks.unit.as_str()), (vec!["0", "20", "40", "60", "80"], "s"));
    }

    /// An hour in, looking at a microsecond: the words stay short and say what they count from.
    #[test]
    fn deep_zooms_count_from_a_round_time() {
        let start = 3_600e9 + 123_456_789.0;
        let ticks = time(start, start + 1_000.0, 5);
        assert_eq!(ticks.unit, "ns");
        assert_eq!(ticks.from.as_deref(), Some("3600.122\u{202F}s"));
        assert!(ticks.marks.iter().all(|tick| tick.label.chars().count() <= 10), "{ticks:?}");
        assert!(!ticks.marks.is_empty());
    }

    #[test]
    fn log_marks_are_powers_of_ten() {
        let unit = Unit::named("files/s");
        let (low, high) = log_ends(6.6, 559.66);
        assert_eq!((low, high), (1.0, 1000.0));
        assert_eq!(words(&log(&unit, low, high, 6)), ["1", "10", "100", "1000"]);
        assert_eq!(words(&log(&unit, 10.0, 100.0, 6)), ["10", "20", "50", "100"]);
    }

    proptest! {
        #[test]
        fn marks_lie_on_the_axis_and_are_few(
            start in 0u64..4_000_000_000_000, span in 1u64..4_000_000_000_000, most in 1usize..20,
        ) {
            let (low, high) = (start as f64, (start + span) as f64);
            let ticks = time(low, high, most);
            prop_assert!(ticks.marks.len() <= most + 2);
            for pair in ticks.marks.windows(2) {
                prop_assert!(pair[0].value < pair[1].value);
                prop_assert!(pair[0].label != pair[1].label);
            }
            for tick in &ticks.marks {
                prop_assert!(tick.value >= low - span as f64 * 1e-4 - 1.0);
                prop_assert!(tick.value <= high + span as f64 * 1e-4 + 1.0);
            }
        }

        #[test]
        fn round_ends_hold_the_data(low in -1e6f64..1e6, span in 1e-3f64..1e9, most in 1usize..12) {
            let (from, to) = round_ends(&Unit::named("x"), low, low + span, most);
            let slack = span * 1e-6;
            prop_assert!(from <= low + slack && to >= low + span - slack);
            prop_assert!(to - from <= span * 12.0 + 1.0);
        }
    }
}
