//! Kernel names: `cfq@2.6.35+revert-8e55063:slice_idle=0`.

use super::KernelChoice;
use litemap::LiteMap;
use std::fmt;

/// The release of a kernel name that names none.
pub(super) const DEFAULT_RELEASE: &str = "2.6.35";

/// How to write a kernel, for messages.
pub(super) const ADVICE: &str =
    "write a kernel as cfq, deadline@2.6.35 or cfq@2.6.35+revert-8e55063:slice_idle=0";

/// A kernel name taken apart; nothing in it is known to exist.
pub(super) struct KernelName<'t> {
    pub(super) elevator: &'t str,
    pub(super) release: &'t str,
    pub(super) patches: Vec<&'t str>,
    /// Tunables as written.
    pub(super) tunables: Vec<(&'t str, &'t str)>,
}

impl<'t> KernelName<'t> {
    /// Takes a name apart.
    pub(super) fn parse(text: &'t str) -> Result<Self, String> {
        let mut parts = text.trim().split(':');
        let kernel = parts.next().unwrap_or("");
        let mut kernel = kernel.split('+');
        let (elevator, release) = match kernel.next().unwrap_or("").split_once('@') {
            Some((elevator, release)) => (elevator, release),
            None => (text.trim().split([':', '+']).next().unwrap_or(""), DEFAULT_RELEASE),
        };
        let patches: Vec<&str> = kernel.collect();
        if elevator.is_empty() || release.is_empty() || patches.contains(&"") {
            return Err(format!("a part of this kernel's name is empty: {ADVICE}"));
        }
        let tunables = parts
            .map(|part| part.split_once('=').ok_or_else(|| format!("\"{part}\" sets no tunable: {ADVICE}")))
            .collect::<Result<_, String>>()?;
        Ok(Self { elevator, release, patches, tunables })
    }
}

impl KernelChoice {
    /// Reads a kernel name: the elevator, then optionally `@` and a release (else 2.6.35), `+` and a
    /// patch, any number of times, `:` and a tunable with its value in sysfs units, any number of
    /// times. Whether these exist is another matter: see [`super::Scenario::check`].
    ///
    /// # Errors
    /// What is wrong with the form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let name = KernelName::parse(text)?;
        let mut tunables = LiteMap::new();
        for (tunable, value) in name.tunables {
            let value = value.parse().map_err(|_| format!("{tunable} = {value} is not a whole number"))?;
            tunables.insert(tunable.to_owned(), value);
        }
        Ok(Self {
            release: name.release.to_owned(),
            patches: name.patches.into_iter().map(str::to_owned).collect(),
            elevator: name.elevator.to_owned(),
            tunables,
        })
    }
}

impl fmt::Display for KernelChoice {
    /// The kernel's name, release included.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.elevator, self.release)?;
        self.patches.iter().try_for_each(|patch| write!(formatter, "+{patch}"))?;
        self.tunables.iter().try_for_each(|(name, value)| write!(formatter, ":{name}={value}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_say_what_they_leave_out() {
        for (short, whole) in [
            ("deadline", "deadline@2.6.35"),
            ("cfq@2.6.35+revert-8e55063", "cfq@2.6.35+revert-8e55063"),
            ("cfq:slice_idle=0", "cfq@2.6.35:slice_idle=0"),
            ("cfq+blk-yield:quantum=4:slice_idle=0", "cfq@2.6.35+blk-yield:quantum=4:slice_idle=0"),
            ("cfq@2.6.32-rc6", "cfq@2.6.32-rc6"),
        ] {
            let kernel = KernelChoice::parse(short).expect(short);
            assert_eq!(kernel.to_string(), whole);
            assert_eq!(KernelChoice::parse(whole), Ok(kernel));
        }
        for wrong in ["", "@2.6.35", "cfq@", "cfq+", "cfq:slice_idle", "cfq:slice_idle=8ms", ":a=1"] {
            assert!(KernelChoice::parse(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn any_name_is_survived(text in "[a-z0-9@+:=.]{0,30}") {
            if let Ok(kernel) = KernelChoice::parse(&text) {
                prop_assert_eq!(KernelChoice::parse(&kernel.to_string()), Ok(kernel));
            }
        }
    }
}
