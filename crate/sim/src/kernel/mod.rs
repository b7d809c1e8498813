//! Kernels as data: a release and patches yield a [`Policy`], one field per rule.
//!
//! Code asks the policy about a rule, never about a version. A new patch is one entry in
//! `patches.rs`; a new release is one entry in `releases.rs` and its values in `releases_*.rs`.

mod elevators;
mod error;
mod patches;
mod policy;
mod releases;
mod releases_cfq;
mod releases_fs;
mod releases_mm;
mod vm;

pub use elevators::{ElevatorName, TunableName, available_tunables, tunable_home};
pub use error::KernelError;
pub use patches::{PatchInfo, patches};
pub use policy::{
    FsPolicy, FsyncCommit, FsyncFlush, JournalPolicy, ReadaheadPolicy, ThrottleSleep, WriteFlagsPolicy,
    WritebackInProgress, WritebackPolicy,
};
pub use releases::{ReleaseInfo, releases};

use crate::block::elevator::CfqPolicy;
use crate::block::elevator::{AnyElevator, Elevator as _};
use crate::block::{BlockPolicy, QueueLimits};
use crate::engine::Clock;
use crate::mm::MemoryPolicy;
use crate::scenario::{FileSystemKind, KernelChoice};

/// All rules of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// The request queue.
    pub block: BlockPolicy,
    /// CFQ.
    pub cfq: CfqPolicy,
    /// File systems, readahead, writeback.
    pub fs: FsPolicy,
    /// Page allocation and reclaim.
    pub mm: MemoryPolicy,
    /// Whether the anticipatory elevator still exists (removed in 2.6.33).
    pub has_anticipatory: bool,
}

impl Policy {
    /// The rules of a release with patches.
    ///
    /// # Errors
    /// A name is unknown, or a patch does not apply to the release.
    pub fn new(release: &str, patches: &[String], file_system: FileSystemKind) -> Result<Self, KernelError> {
        let info = releases::find(release)?;
        let mut policy = Self {
            block: releases::block_policy(info),
            cfq: releases_cfq::cfq_policy(info.cfq),
            fs: FsPolicy::for_release(info.name, file_system)
                .ok_or_else(|| KernelError::unknown_release(release))?,
            mm: releases_mm::memory_policy(info.name).ok_or_else(|| KernelError::unknown_release(release))?,
            has_anticipatory: info.has_anticipatory,
        };
        for name in patches {
            patches::find(name)?.apply(info, &mut policy)?;
        }
        Ok(policy)
    }
}

/// A kernel ready to run: its rules, its elevator, and the queue's limits.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The rules.
    pub policy: Policy,
    /// The elevator with its tunables set.
    pub elevator: AnyElevator,
    /// The request queue's limits.
    pub limits: QueueLimits,
    /// Readahead window, in KiB (`read_ahead_kb`).
    pub read_ahead_kb: u64,
}

impl Kernel {
    /// Builds what `choice` describes for a machine with this clock.
    ///
    /// # Errors
    /// An unknown release, patch, elevator or tunable, a patch that does not apply, an elevator the
    /// release does not have, a value out of range.
    pub fn new(
        choice: &KernelChoice,
        file_system: FileSystemKind,
        clock: &Clock,
    ) -> Result<Self, KernelError> {
        let policy = Policy::new(&choice.release, &choice.patches, file_system)?;
        let elevator = ElevatorName::find(&choice.elevator, &policy)?;
        let mut settings = elevators::Settings::new(elevator, &policy, clock);
        for (name, &value) in &choice.tunables {
            settings.set(name, value)?;
        }
        let kernel = settings.into_kernel(policy);
        debug_assert!(kernel.elevator.is_empty());
        Ok(kernel)
    }
}

#[cfg(test)]
mod tests;
