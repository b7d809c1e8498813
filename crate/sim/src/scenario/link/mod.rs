//! Links: everything that is on the screen, in the fragment of an address.
//!
//! `#1t.experiment=cfq-noidle-2010&kernels=deadline,cfq@2.6.35&seed=7` can be written by hand; `#1z.`
//! is the same, compressed. The number is the *schema*, which says what the names mean and what is
//! meant when they are left out. Layers, outermost first:
//!
//! * `packing`: the compressed form's payload,
//! * `codec`: characters to named values and back; knows nothing of scenarios,
//! * `defaults`: what a schema means by saying nothing, frozen for ever,
//! * `upgrade`: named values of an old schema into those of the newest,
//! * [`Link`]: named values of the newest schema as a type, and what of it is run,
//! * [`View`]: the part that changes what is seen and not what is run.
//!
//! A link of a released schema opens for ever: `tests/links.txt` holds one of each.

mod codec;
mod defaults;
mod packing;
mod state;
#[cfg(test)]
mod tests;
mod upgrade;
mod view;

pub use codec::MAX_PAYLOAD_BYTES;
pub use state::{Link, Subject};
pub use view::View;

use crate::text::Problem;
use std::fmt;

/// The newest schema.
pub const SCHEMA: u32 = 1;

/// The version of the model's rules: raised by every change that changes results, so that a link can
/// say which rules gave the digest it carries.
pub const MODEL_VERSION: u32 = 1;

/// Longer links are cut by some chat tools.
pub const RECOMMENDED_LENGTH: usize = 2000;

/// Why a link does not open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// It was made by a newer page than this one.
    Newer {
        /// The link's schema.
        link: u32,
        /// The newest schema that is known here.
        known: u32,
    },
    /// It is damaged: cut off, changed on the way, or no link of ours.
    Broken {
        /// How that shows.
        reason: String,
    },
    /// It would unpack to more than [`MAX_PAYLOAD_BYTES`].
    TooLarge,
    /// It can be read, but names things that do not exist or values that are not allowed.
    Wrong(Vec<Problem>),
}

impl fmt::Display for LinkError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Newer { link, known } => write!(
                formatter,
                "this link is of version {link}, this page knows versions up to {known}: reload the page to get the newest"
            ),
            Self::Broken { reason } => write!(
                formatter,
                "this link is damaged: {reason}; it may have been cut off on its way, so ask for it again"
            ),
            Self::TooLarge => {
                write!(
                    formatter,
                    "this link unpacks to more than {} KiB: nothing was opened",
                    MAX_PAYLOAD_BYTES / 1024
                )
            }
            Self::Wrong(problems) => {
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                formatter.write_str(&lines.join("\n"))
            }
        }
    }
}

impl std::error::Error for LinkError {}

impl LinkError {
    fn broken(reason: impl Into<String>) -> Self {
        Self::Broken { reason: reason.into() }
    }
}
