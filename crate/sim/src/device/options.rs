//! What every device's options have in common: how they are checked, named and told apart.

use std::fmt;
use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::{Slot, Slots};

use super::{FcArrayOptions, SataDiskOptions, SataSsdOptions, ServerOptions};

/// Longest duration any option may have: 10 s.
const DURATION_NS_MAX: u64 = 10_000_000_000;

/// One option that has no meaning as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionProblem {
    /// The option, spelled as in a scenario (`read-latency-ns`).
    pub field: &'static str,
    /// The value it has.
    pub value: String,
    /// The values it may have, in words.
    pub allowed: String,
}

impl fmt::Display for OptionProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} = {}: allowed is {}", self.field, self.value, self.allowed)
    }
}

/// Everything that is wrong with a device's options, at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidOptions {
    /// At least one problem.
    pub problems: Vec<OptionProblem>,
}

impl InvalidOptions {
    /// `Ok` when there is no problem.
    pub(super) fn none_of(problems: Vec<OptionProblem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(Self { problems }) }
    }
}

impl fmt::Display for InvalidOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(formatter, "{separator}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for InvalidOptions {}

/// Collects problems.
#[derive(Debug, Default)]
pub(super) struct Checks {
    problems: Vec<OptionProblem>,
}

impl Checks {
    /// `value` must lie in `allowed`.
    pub(super) fn range(&mut self, field: &'static str, value: u64, allowed: RangeInclusive<u64>) {
        let (lowest, highest) = (*allowed.start(), *allowed.end());
        self.holds(allowed.contains(&value), field, value, || format!("{lowest} to {highest}"));
    }

    /// A duration in nanoseconds, `lowest` to 10 s.
    pub(super) fn duration(&mut self, field: &'static str, value_ns: u64, lowest_ns: u64) {
        self.range(field, value_ns, lowest_ns..=DURATION_NS_MAX);
    }

    /// A bandwidth: 1 MB/s to 100 GB/s.
    pub(super) fn bandwidth(&mut self, field: &'static str, bytes_per_s: u64) {
        self.range(field, bytes_per_s, 1_000_000..=100_000_000_000);
    }

    /// An amount of cache: 4 KiB to 1 TiB.
    pub(super) fn cache(&mut self, field: &'static str, bytes: u64) {
        self.range(field, bytes, 4096..=1 << 40);
    }

    /// A capacity: 1 MiB to 512 TiB.
    pub(super) fn capacity(&mut self, field: &'static str, sectors: u64) {
        self.range(field, sectors, 2048..=1 << 40);
    }

    /// `condition` must hold between `field` and another option.
    pub(super) fn holds(
        &mut self,
        condition: bool,
        field: &'static str,
        value: u64,
        allowed: impl FnOnce() -> String,
    ) {
        if !condition {
            self.problems.push(OptionProblem { field, value: value.to_string(), allowed: allowed() });
        }
    }

    /// What was found.
    pub(super) fn into_problems(self) -> Vec<OptionProblem> {
        self.problems
    }
}

/// The four models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    /// [`super::ServerDevice`].
    Server,
    /// [`super::FcArray`].
    FcArray,
    /// [`super::SataDisk`].
    SataDisk,
    /// [`super::SataSsd`].
    SataSsd,
}

impl DeviceKind {
    /// Every model.
    pub const ALL: [Self; 4] = [Self::Server, Self::FcArray, Self::SataDisk, Self::SataSsd];

    /// The word for it in a scenario (`model = "sata-disk"`).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::FcArray => "fc-array",
            Self::SataDisk => "sata-disk",
            Self::SataSsd => "sata-ssd",
        }
    }

    /// A device of this model with its default options.
    #[must_use]
    pub fn options(self) -> DeviceOptions {
        match self {
            Self::Server => DeviceOptions::Server(ServerOptions::default()),
            Self::FcArray => DeviceOptions::FcArray(FcArrayOptions::default()),
            Self::SataDisk => DeviceOptions::SataDisk(SataDiskOptions::default()),
            Self::SataSsd => DeviceOptions::SataSsd(SataSsdOptions::default()),
        }
    }
}

/// A device as a scenario describes it: the model, and its options. In text it is one table whose key
/// `model` tells the models apart; in a binary format it is an ordinary enum.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceOptions {
    /// `model = "server"`.
    Server(ServerOptions),
    /// `model = "fc-array"`.
    FcArray(FcArrayOptions),
    /// `model = "sata-disk"`.
    SataDisk(SataDiskOptions),
    /// `model = "sata-ssd"`.
    SataSsd(SataSsdOptions),
}

impl DeviceOptions {
    /// Which model it is.
    #[must_use]
    pub fn kind(&self) -> DeviceKind {
        match self {
            Self::Server(_) => DeviceKind::Server,
            Self::FcArray(_) => DeviceKind::FcArray,
            Self::SataDisk(_) => DeviceKind::SataDisk,
            Self::SataSsd(_) => DeviceKind::SataSsd,
        }
    }

    /// Every problem with the options, by name; empty when they describe a device.
    #[must_use]
    pub fn validate(&self) -> Vec<OptionProblem> {
        match self {
            Self::Server(options) => options.validate(),
            Self::FcArray(options) => options.validate(),
            Self::SataDisk(options) => options.validate(),
            Self::SataSsd(options) => options.validate(),
        }
    }
}

impl Slots for DeviceOptions {
    fn slots(&mut self) -> Vec<(String, Slot<'_>)> {
        match self {
            Self::Server(options) => options.slots(),
            Self::FcArray(options) => options.slots(),
            Self::SataDisk(options) => options.slots(),
            Self::SataSsd(options) => options.slots(),
        }
    }
}

/// How [`DeviceOptions`] is written in text: an inner tag. Formats that do not describe themselves
/// cannot read one, hence the second shape below.
#[derive(Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case")]
enum InText {
    Server(ServerOptions),
    FcArray(FcArrayOptions),
    SataDisk(SataDiskOptions),
    SataSsd(SataSsdOptions),
}

/// How [`DeviceOptions`] is written in a binary format.
#[derive(Serialize, Deserialize)]
enum InBinary {
    Server(ServerOptions),
    FcArray(FcArrayOptions),
    SataDisk(SataDiskOptions),
    SataSsd(SataSsdOptions),
}

/// Converts between enums whose variants have the same names.
macro_rules! same_variants {
    ($value:expr, $from:ident => $to:ident) => {
        match $value {
            $from::Server(options) => $to::Server(options),
            $from::FcArray(options) => $to::FcArray(options),
            $from::SataDisk(options) => $to::SataDisk(options),
            $from::SataSsd(options) => $to::SataSsd(options),
        }
    };
}

impl Serialize for DeviceOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            same_variants!(self.clone(), DeviceOptions => InText).serialize(serializer)
        } else {
            same_variants!(self.clone(), DeviceOptions => InBinary).serialize(serializer)
        }
    }
}

impl<'de> Deserialize<'de> for DeviceOptions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            InText::deserialize(deserializer).map(|text| same_variants!(text, InText => DeviceOptions))
        } else {
            InBinary::deserialize(deserializer)
                .map(|binary| same_variants!(binary, InBinary => DeviceOptions))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::presets;

    /// Every preset survives a trip through text and through a binary format.
    #[test]
    fn options_are_read_back_as_written() {
        for preset in presets() {
            let options = preset.options();
            let text = toml::to_string(&options).expect("options are a table");
            assert_eq!(toml::from_str::<DeviceOptions>(&text).as_ref(), Ok(&options), "{}", preset.name);
            let bytes = postcard::to_allocvec(&options).expect("options have a binary form");
            assert_eq!(
                postcard::from_bytes::<DeviceOptions>(&bytes).as_ref(),
                Ok(&options),
                "{}",
                preset.name
            );
        }
    }

    /// What is not said has its default; what has no meaning is refused by name.
    #[test]
    fn a_scenario_names_what_differs() {
        for kind in DeviceKind::ALL {
            let text = format!("model = \"{}\"\ndepth = 3", kind.name());
            let options: DeviceOptions = toml::from_str(&text).expect("every model has a depth");
            assert_eq!(options.kind(), kind);
            assert!(options.validate().is_empty(), "{kind:?}: {:?}", options.validate());
            let error = toml::from_str::<DeviceOptions>(&format!("{text}\nspindels = 8"))
                .expect_err("a misspelt option must not be ignored");
            assert!(error.to_string().contains("spindels"), "{error}");
        }
        assert!(toml::from_str::<DeviceOptions>("model = \"floppy\"").is_err());
    }

    /// `validate` reports every problem at once, with the name as written in a scenario.
    #[test]
    fn every_problem_is_named() {
        let text = "model = \"server\"\ndepth = 0\nread-latency-ns = 0\nbandwidth-bytes-per-s = 1";
        let options: DeviceOptions = toml::from_str(text).expect("well-formed");
        let fields: Vec<_> = options.validate().iter().map(|problem| problem.field).collect();
        assert_eq!(fields, ["depth", "read-latency-ns", "bandwidth-bytes-per-s"]);
        let message = InvalidOptions { problems: options.validate() }.to_string();
        assert!(message.starts_with("depth = 0: allowed is 1 to 1024; read-latency-ns = 0:"), "{message}");
    }
}
