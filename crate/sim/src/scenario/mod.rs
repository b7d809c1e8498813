//! What a user can say: machine, kernel, tunables, file system, workload, seed and limits.

mod machine;

pub use machine::{FileSystemKind, FileSystemOptions, HostCosts, Machine};

use crate::workload::Workload;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    pub tunables: BTreeMap<String, u64>,
}

/// Bounds of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Simulated time, in nanoseconds.
    pub time_ns: u64,
    /// Events; a run that reaches this says so.
    pub events: u64,
}
