//! What a user can say: machine, kernel, tunables, file system, workload, seed and limits.
//!
//! A [`Scenario`] is one run. It comes from a text ([`ScenarioFile`]), from a published experiment
//! ([`Experiment`]) or from a link ([`link`]); each of these says everything that is wrong with it at
//! once, as [`Problem`]s. What was built by a program is checked by [`Scenario::check`].
#![cfg_attr(
    not(test),
    deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)
)]

mod check;
mod experiment;
mod file;
pub mod form;
mod kernel_choice;
mod kernel_text;
pub mod link;
mod machine;
mod machine_text;
mod memory;
mod overrides;
#[cfg(test)]
mod tests;
mod vocabulary;

pub use crate::text::{Place, Problem};
pub use check::{MAX_EVENTS, MAX_TIME_NS};
pub use experiment::{Case, Column, Experiment, Interactive, Metric, Rate, Selection};
pub use file::{KernelColumn, ScenarioFile};
pub use machine::{FileSystemKind, FileSystemOptions, HostCosts, Machine};
pub use memory::{Architecture, MemoryOptions};
pub use overrides::Overrides;

use crate::workload::Workload;
use litemap::LiteMap;
use serde::{Deserialize, Serialize};

/// One run: everything that decides its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scenario {
    /// The hardware and what the host's work costs.
    pub machine: Machine,
    /// The kernel.
    pub kernel: KernelChoice,
    /// What runs.
    pub workload: Workload,
    /// Seed of every random stream.
    pub seed: u64,
    /// Where the run ends at the latest.
    pub limits: Limits,
}

/// A kernel: a release, patches on it, the I/O scheduler and its tunables.
///
/// As text it is a *kernel name*: `cfq@2.6.35+revert-8e55063:slice_idle=0`, which is elevator, release,
/// patches, tunables. See [`KernelChoice::parse`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelChoice {
    /// Release, such as `2.6.35` or `2.6.32-rc6`.
    pub release: String,
    /// Patches by name, applied in order.
    pub patches: Vec<String>,
    /// `noop`, `deadline`, `anticipatory` or `cfq`.
    pub elevator: String,
    /// Tunables by sysfs name, in sysfs units: the elevator's, and the queue's `nr_requests` and
    /// `read_ahead_kb`.
    pub tunables: LiteMap<String, u64>,
}

/// Bounds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Simulated time, in nanoseconds, 1 to [`MAX_TIME_NS`].
    pub time_ns: u64,
    /// Events, 1 to [`MAX_EVENTS`]; a run that reaches this says so.
    pub events: u64,
}
