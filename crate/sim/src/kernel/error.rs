//! What can be wrong with a choice of kernel.

use crate::block::elevator::tunables::TunableError;
use std::fmt;

/// Why a kernel could not be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KernelError {
    /// No such release, patch or elevator.
    Unknown {
        /// What kind of name it is: `release`, `patch`, `elevator`.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The most similar known name.
        nearest: &'static str,
        /// All known names.
        known: Vec<&'static str>,
    },
    /// The patch does not apply to the release.
    PatchDoesNotApply {
        /// The patch.
        patch: &'static str,
        /// The release.
        release: &'static str,
        /// Why, and to which releases it applies.
        reason: &'static str,
    },
    /// The release does not have the elevator.
    NoSuchElevator {
        /// The elevator.
        elevator: &'static str,
    },
    /// A tunable is unknown or out of range.
    Tunable(TunableError),
}

impl KernelError {
    pub(super) fn unknown(kind: &'static str, name: &str, known: Vec<&'static str>) -> Self {
        const LONGEST_COMPARED: usize = 64;
        let given: String = name.chars().take(LONGEST_COMPARED).collect();
        let nearest = known
            .iter()
            .min_by_key(|known| strsim::damerau_levenshtein(&given, known))
            .copied()
            .unwrap_or("");
        Self::Unknown { kind, name: name.to_owned(), nearest, known }
    }

    pub(super) fn unknown_release(name: &str) -> Self {
        Self::unknown("release", name, super::releases().iter().map(|release| release.name).collect())
    }
}

impl From<TunableError> for KernelError {
    fn from(error: TunableError) -> Self {
        Self::Tunable(error)
    }
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { kind, name, nearest, known } => write!(
                f,
                "no {kind} is called {name:?}; the nearest name is {nearest:?} (known: {})",
                known.join(", ")
            ),
            Self::PatchDoesNotApply { patch, release, reason } => {
                write!(f, "the patch {patch:?} does not apply to {release}: {reason}")
            }
            Self::NoSuchElevator { elevator } => {
                write!(f, "this release has no elevator {elevator:?}: it was removed in 2.6.33")
            }
            Self::Tunable(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for KernelError {}
