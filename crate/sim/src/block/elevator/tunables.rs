//! What every elevator's tunables have in common: names, units, ranges, and errors that help.
//!
//! *Follows:* the files below `/sys/block/*/queue/iosched`; Linux 2.6.35, the attribute tables and
//! store functions of the elevators. The kernel silently cuts a value down to its range; here that is
//! an error, so that nobody wonders why a setting had no effect.

use crate::engine::Clock;
use std::fmt;

/// The largest value that the kernel's elevators accept for most tunables: the largest C `int`.
pub const LARGEST_INT: u64 = i32::MAX as u64;

/// What a tunable counts, as sysfs shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TunableUnit {
    /// Milliseconds in sysfs, whole jiffies inside the kernel.
    Milliseconds,
    /// Requests.
    Requests,
    /// 0 is off, 1 is on.
    Boolean,
    /// Kilobytes of 1024 bytes.
    Kilobytes,
    /// A plain number: a factor or a count of turns.
    Factor,
}

impl TunableUnit {
    /// The unit as it follows a number in a text; empty where a number needs none.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Milliseconds => " ms",
            Self::Requests => " requests",
            Self::Kilobytes => " KiB",
            Self::Boolean | Self::Factor => "",
        }
    }
}

/// One tunable of an elevator: its name in sysfs, what it counts, what it may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunableInfo {
    /// The file name in `/sys/block/*/queue/iosched`.
    pub name: &'static str,
    /// What it counts.
    pub unit: TunableUnit,
    /// The lowest allowed value, in `unit`.
    pub min: u64,
    /// The highest allowed value, in `unit`.
    pub max: u64,
    /// What it is when nobody sets it, in `unit`; times at HZ=1000, the other tick rates round them.
    pub default: u64,
    /// What it does, in one sentence.
    pub documentation: &'static str,
}

/// Why a tunable could not be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TunableError {
    /// The elevator has no tunable of that name.
    Unknown {
        /// The name that was given.
        name: String,
        /// The elevator's tunable with the most similar name, if it has any tunables.
        nearest: Option<&'static str>,
    },
    /// The value is outside the allowed range.
    OutOfRange {
        /// The tunable, with its range.
        info: &'static TunableInfo,
        /// The value that was given, in the tunable's unit.
        value: u64,
    },
}

impl fmt::Display for TunableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, nearest: Some(nearest) } => {
                write!(f, "no tunable is called {name:?}; the nearest name is {nearest:?}")
            }
            Self::Unknown { name, nearest: None } => {
                write!(f, "no tunable is called {name:?}: this elevator has none")
            }
            Self::OutOfRange { info, value } => {
                let TunableInfo { name, min, max, unit, .. } = info;
                let suffix = unit.suffix();
                write!(f, "{name} = {value}{suffix} is not allowed: it may be {min} to {max}{suffix}")
            }
        }
    }
}

impl std::error::Error for TunableError {}

/// Looks `name` up in `table` and checks `value` against its range.
///
/// # Errors
/// [`TunableError::Unknown`] with the nearest name, [`TunableError::OutOfRange`] with the range.
pub fn check(
    table: &'static [TunableInfo],
    name: &str,
    value: u64,
) -> Result<&'static TunableInfo, TunableError> {
    let Some(info) = table.iter().find(|info| info.name == name) else {
        return Err(TunableError::Unknown { name: name.to_owned(), nearest: nearest_name(table, name) });
    };
    if (info.min..=info.max).contains(&value) {
        Ok(info)
    } else {
        Err(TunableError::OutOfRange { info, value })
    }
}

/// What sysfs does with a time: milliseconds to whole jiffies, rounded up (`msecs_to_jiffies`).
#[must_use]
pub fn jiffies_from_sysfs_ms(clock: &Clock, ms: u64) -> u64 {
    ms.saturating_mul(clock.hz()).div_ceil(1000)
}

/// What sysfs shows of a time: whole jiffies to milliseconds, rounded down (`jiffies_to_msecs`).
#[must_use]
pub fn sysfs_ms_from_jiffies(clock: &Clock, jiffies: u64) -> u64 {
    jiffies.saturating_mul(1000) / clock.hz()
}

fn nearest_name(table: &'static [TunableInfo], name: &str) -> Option<&'static str> {
    // The comparison takes time with the product of the lengths; no tunable's name is that long.
    const LONGEST_COMPARED: usize = 64;
    let given: String = name.chars().take(LONGEST_COMPARED).collect();
    table.iter().map(|info| info.name).min_by_key(|known| strsim::damerau_levenshtein(&given, known))
}

#[cfg(test)]
mod tests {
    use super::*;

    static TABLE: [TunableInfo; 2] = [
        TunableInfo {
            name: "read_expire",
            unit: TunableUnit::Milliseconds,
            min: 1,
            max: 1000,
            default: 500,
            documentation: "a time",
        },
        TunableInfo {
            name: "front_merges",
            unit: TunableUnit::Boolean,
            min: 0,
            max: 1,
            default: 1,
            documentation: "a switch",
        },
    ];

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = check(&TABLE, "raed_expire", 5).unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"no tunable is called "raed_expire"; the nearest name is "read_expire""#
        );
        let error = check(&TABLE, "frontmerge", 5).unwrap_err();
        assert!(error.to_string().ends_with(r#"the nearest name is "front_merges""#));
        let error = check(&[], "quantum", 5).unwrap_err();
        assert_eq!(error.to_string(), r#"no tunable is called "quantum": this elevator has none"#);
    }

    #[test]
    fn a_value_out_of_range_is_answered_with_the_range() {
        for refused in [0, 1001, u64::MAX] {
            let error = check(&TABLE, "read_expire", refused).unwrap_err();
            let text = format!("read_expire = {refused} ms is not allowed: it may be 1 to 1000 ms");
            assert_eq!(error.to_string(), text);
        }
        for allowed in [1, 1000] {
            assert_eq!(check(&TABLE, "read_expire", allowed), Ok(&TABLE[0]));
        }
    }

    /// Section 0.1: times are whole jiffies; a time set through sysfs is rounded up.
    #[test]
    fn times_become_whole_jiffies() {
        for (hz, ms, jiffies, shown_ms) in
            [(1000, 8, 8, 8), (250, 8, 2, 8), (250, 9, 3, 12), (100, 8, 1, 10), (100, 0, 0, 0)]
        {
            let clock = Clock::new(hz, false);
            assert_eq!(jiffies_from_sysfs_ms(&clock, ms), jiffies);
            assert_eq!(sysfs_ms_from_jiffies(&clock, jiffies), shown_ms);
        }
    }
}
