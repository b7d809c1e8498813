//! The releases: their names, what is special about each, and their request queue's rules.
//!
//! *Follows:* model/block-layer.md, sections 1.3, 1.8 and 2.1.

use super::KernelError;
use super::releases_cfq::CfqGeneration;
use crate::block::{BarrierRule, BlockPolicy, NeverPlugged};

/// A kernel release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReleaseInfo {
    /// Name, as in a scenario.
    pub name: &'static str,
    /// What distinguishes it here, in a sentence.
    pub documentation: &'static str,
    /// Its generation of CFQ.
    pub cfq: CfqGeneration,
    /// It still has the anticipatory elevator.
    pub has_anticipatory: bool,
    /// Barriers became flushes (2.6.37).
    pub flush_sequence: bool,
    /// A device counts as queueing once it had more than 4 requests in flight (2.6.32).
    pub plugs_by_depth_seen: bool,
}

/// All releases, oldest first.
#[must_use]
pub fn releases() -> &'static [ReleaseInfo] {
    &RELEASES
}

pub(super) fn find(name: &str) -> Result<&'static ReleaseInfo, KernelError> {
    RELEASES.iter().find(|release| release.name == name).ok_or_else(|| KernelError::unknown_release(name))
}

pub(super) fn block_policy(info: &ReleaseInfo) -> BlockPolicy {
    BlockPolicy {
        never_plugged: if info.plugs_by_depth_seen {
            NeverPlugged::NonRotationalSeenDeep
        } else {
            NeverPlugged::NonRotationalTagged
        },
        barrier: if info.flush_sequence { BarrierRule::FlushSequence } else { BarrierRule::Drain },
    }
}

const fn old(
    name: &'static str,
    cfq: CfqGeneration,
    plugs_by_depth_seen: bool,
    documentation: &'static str,
) -> ReleaseInfo {
    ReleaseInfo {
        name,
        documentation,
        cfq,
        has_anticipatory: true,
        flush_sequence: false,
        plugs_by_depth_seen,
    }
}

const fn new(name: &'static str, cfq: CfqGeneration, documentation: &'static str) -> ReleaseInfo {
    ReleaseInfo {
        name,
        documentation,
        cfq,
        has_anticipatory: false,
        flush_sequence: matches!(cfq, CfqGeneration::V37 | CfqGeneration::V38),
        plugs_by_depth_seen: false,
    }
}

use CfqGeneration as G;

static RELEASES: [ReleaseInfo; 19] = [
    old(
        "2.6.30",
        G::V30,
        false,
        "June 2009. CFQ with one service tree; NOIDLE is new and honoured everywhere.",
    ),
    old("2.6.31", G::V30, false, "September 2009. CFQ as in 2.6.30."),
    old("2.6.32-rc1", G::V32Rc1, true, "Async requests are drained before a queue that is idled for."),
    old("2.6.32-rc2", G::V32Rc1, true, "CFQ as in -rc1."),
    old("2.6.32-rc3", G::V32Rc3, true, "low_latency and the async ramp-up appear."),
    old("2.6.32-rc4", G::V32Rc3, true, "CFQ as in -rc3."),
    old(
        "2.6.32-rc5",
        G::V32Rc5,
        true,
        "Unused slice time counts the right way; the metadata rule is inverted.",
    ),
    old("2.6.32-rc6", G::V32Rc5, true, "CFQ as in -rc5: a metadata request blocks preemption."),
    old("2.6.32-rc7", G::V32, true, "The metadata rule is right again."),
    old("2.6.32-rc8", G::V32, true, "CFQ as in the release."),
    old("2.6.32", G::V32, true, "December 2009. low_latency keeps the idle window of seeky tasks."),
    old(
        "for-2.6.33",
        G::For33,
        true,
        "The block tree of 8 November 2009: trees by workload, slices scaled to a target latency.",
    ),
    new("2.6.33", G::V33, "February 2010. Groups; idling that ignores NOIDLE where a queue is alone."),
    new("2.6.34", G::V34, "May 2010. quantum 8; seeks remembered one by one."),
    new("2.6.35", G::V34, "August 2010. CFQ as in 2.6.34."),
    new(
        "mmotm-2010-08",
        G::V36,
        "The mm tree of late August 2010, between 2.6.36-rc1 and 2.6.36: no drain of per-CPU lists at order 0.",
    ),
    new("2.6.36", G::V36, "October 2010. group_idle."),
    new("2.6.37", G::V37, "January 2011. NOIDLE queues share a tree with the journal, which writes sync."),
    new(
        "2.6.38",
        G::V38,
        "March 2011. Preemption across workload types holds; fast seeky queues are not idled for.",
    ),
];
