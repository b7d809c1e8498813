//! Patches: each changes the fields of the rules it touches, and nothing else.
//!
//! *Follows:* docs/model/block-layer.md, sections 0.2 and 2.17 to 2.21; docs/model/reclaim.md, sections 2.6 and 5.3.

use super::releases_cfq::CfqGeneration as G;
use super::{KernelError, Policy, ReleaseInfo, ThrottleSleep};
use crate::block::BioFlags;
use crate::block::elevator::cfq::{AsyncDepth, IdleAfter, IdleWhen};
use crate::mm::{CongestionSwitch, NapQueue, NapRule};

/// A patch to a release.
#[derive(Clone, Copy)]
pub struct PatchInfo {
    /// Name, as in a scenario.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub documentation: &'static str,
    /// First and last generation it applies to.
    from: G,
    to: G,
    /// Which releases it applies to, in words.
    pub applies_to: &'static str,
    change: fn(&mut Policy),
}

impl PatchInfo {
    /// Whether it applies to a release.
    #[must_use]
    pub fn applies_to_release(&self, release: &ReleaseInfo) -> bool {
        (self.from..=self.to).contains(&release.cfq)
    }

    pub(super) fn apply(&self, release: &ReleaseInfo, policy: &mut Policy) -> Result<(), KernelError> {
        if !self.applies_to_release(release) {
            return Err(KernelError::PatchDoesNotApply {
                patch: self.name,
                release: release.name,
                reason: self.applies_to,
            });
        }
        (self.change)(policy);
        Ok(())
    }
}

/// All patches.
#[must_use]
pub fn patches() -> &'static [PatchInfo] {
    &PATCHES
}

pub(super) fn find(name: &str) -> Result<&'static PatchInfo, KernelError> {
    PATCHES
        .iter()
        .find(|patch| patch.name == name)
        .ok_or_else(|| KernelError::unknown("patch", name, PATCHES.iter().map(|patch| patch.name).collect()))
}

const WRITE_SYNC: BioFlags =
    BioFlags::WRITE.with(BioFlags::SYNC).with(BioFlags::NOIDLE).with(BioFlags::UNPLUG);

/// Part (a) of 749ef9f8423: the journal writes all its blocks sync.
fn journal_writes_sync(policy: &mut Policy) {
    policy.fs.journal.log_flags = WRITE_SYNC;
}

static PATCHES: [PatchInfo; 20] = [
    PatchInfo {
        name: "no-reclaim-congestion-wait",
        documentation: "Direct reclaim does not sleep after a pass that freed too little: congestion_wait is removed from do_try_to_free_pages (30 August 2010).",
        from: G::V30,
        to: G::V38,
        applies_to: "it applies to every release",
        change: |policy| policy.mm.reclaim_nap = None,
    },
    PatchInfo {
        name: "8e55063",
        documentation: "Idle on the sync tree even after NOIDLE requests (26 November 2009, without its follow-up).",
        from: G::For33,
        to: G::For33,
        applies_to: "it is a change to for-2.6.33, and part of 2.6.33 and later",
        change: |policy| {
            policy.cfq.idle_when = IdleWhen::OwnRequestsDone;
            policy.cfq.idle_after = IdleAfter::TreeFlag { or_alone: false };
        },
    },
    PatchInfo {
        name: "revert-8e55063",
        documentation: "Undo 8e55063 and the clause that c04645e592d put on the same lines: NOIDLE never idles.",
        from: G::V33,
        to: G::V36,
        applies_to: "8e55063 is in 2.6.33 to 2.6.36",
        change: |policy| {
            policy.cfq.idle_when = IdleWhen::DeviceEmpty;
            policy.cfq.idle_after = IdleAfter::NotNoidle;
        },
    },
    PatchInfo {
        name: "revert-c04645e",
        documentation: "Undo only c04645e592d: being alone in the group is no reason to idle after NOIDLE.",
        from: G::V33,
        to: G::V36,
        applies_to: "c04645e592d is in 2.6.33 to 2.6.36",
        change: |policy| policy.cfq.idle_after = IdleAfter::TreeFlag { or_alone: false },
    },
    PatchInfo {
        name: "rq-noidle-pair",
        documentation: "Corrado Zoccolo's two patches of July 2010: NOIDLE is tracked per queue and honoured on the sync tree.",
        from: G::V33,
        to: G::V36,
        applies_to: "it changes code of 2.6.33 to 2.6.36",
        change: |policy| policy.cfq.idle_after = IdleAfter::QueueFlags,
    },
    PatchInfo {
        name: "blk-yield",
        documentation: "Jeff Moyer's series of 2010: who waits for the journal hands it the turn (internals unverified).",
        from: G::V33,
        to: G::V36,
        applies_to: "it was written for 2.6.33 to 2.6.36",
        change: |policy| {
            policy.cfq.yields = true;
            policy.fs.journal.yields = true;
        },
    },
    PatchInfo {
        name: "noidle-tree",
        documentation: "The proof of concept of July 2010: NOIDLE sync writes live in the noidle tree, and the journal writes sync.",
        from: G::V33,
        to: G::V36,
        applies_to: "it was written for 2.6.33 to 2.6.36, and became 749ef9f8423",
        change: |policy| {
            policy.cfq.noidle_request_ends_idle_window = true;
            journal_writes_sync(policy);
        },
    },
    PatchInfo {
        name: "749ef9f",
        documentation: "The fix of September 2010, first in 2.6.37: noidle tree, sync journal, and idling after any completion.",
        from: G::V33,
        to: G::V36,
        applies_to: "it is part of 2.6.37 and later",
        change: |policy| {
            policy.cfq.noidle_request_ends_idle_window = true;
            policy.cfq.idle_after = IdleAfter::Always;
            journal_writes_sync(policy);
        },
    },
    PatchInfo {
        name: "async-ramp-up",
        documentation: "Corrado Zoccolo's proposal of November 2009: async depth grows with the rest of the slice (formula unverified).",
        from: G::V32Rc3,
        to: G::For33,
        applies_to: "it replaces the ramp-up of 2.6.32 and for-2.6.33",
        change: |policy| policy.cfq.async_depth = AsyncDepth::RampUp,
    },
    PatchInfo {
        name: "journal-sync",
        documentation: "Only the journal's part of 749ef9f8423: log blocks are written sync.",
        from: G::V30,
        to: G::V36,
        applies_to: "it is part of 2.6.37 and later",
        change: journal_writes_sync,
    },
    PatchInfo {
        name: "congestion-trace",
        documentation: "Mel Gorman, 26 August 2010, 1/3: the time slept because of congestion is accounted.",
        from: G::V34,
        to: G::V36,
        applies_to: "the series was written for 2.6.36, and goes on 2.6.34 to 2.6.36",
        change: |policy| policy.mm.congestion = policy.mm.congestion.max(CongestionSwitch::Trace),
    },
    PatchInfo {
        name: "congestion-unnecessary",
        documentation: "26 August 2010, 2/3: sleeps while nothing was congested are recorded as unnecessary.",
        from: G::V34,
        to: G::V36,
        applies_to: "the series was written for 2.6.36, and goes on 2.6.34 to 2.6.36",
        change: |policy| {
            policy.mm.congestion = policy.mm.congestion.max(CongestionSwitch::AccountUnnecessary);
        },
    },
    PatchInfo {
        name: "no-sleep-uncongested",
        documentation: "26 August 2010, 3/3: nobody sleeps because of congestion while no device is congested.",
        from: G::V34,
        to: G::V36,
        applies_to: "the series was written for 2.6.36, and became wait_iff_congested in 2.6.37",
        change: |policy| policy.mm.congestion = CongestionSwitch::DoNotSleep,
    },
    PatchInfo {
        name: "pgalloc-wake-kswapd",
        documentation: "Reduce GFP_ATOMIC failures, V3, 1/5: kswapd is woken again when an allocation starts over.",
        from: G::V30,
        to: G::V32Rc5,
        applies_to: "the rule was lost in 2.6.31 and is part of 2.6.32",
        change: |policy| policy.mm.restart_wakes_kswapd = true,
    },
    PatchInfo {
        name: "pgalloc-2.6.30",
        documentation: "V3, 2/5: interrupts on top of a real-time task do not dig deeper into the reserve.",
        from: G::V30,
        to: G::V32Rc5,
        applies_to: "the rule was lost in 2.6.31 and is part of 2.6.32",
        change: |policy| policy.mm.real_time_harder_in_interrupt = false,
    },
    PatchInfo {
        name: "congestion-both",
        documentation: "V3, 3/5: direct reclaim and the allocator wait for asynchronous requests, then for synchronous ones.",
        from: G::V30,
        to: G::For33,
        applies_to: "it was written for 2.6.31 and 2.6.32",
        change: |policy| {
            let both = NapRule::Always(NapQueue::AsyncThenSync);
            policy.mm.retry_nap = both;
            policy.mm.reclaim_nap = policy.mm.reclaim_nap.map(|_| both);
        },
    },
    PatchInfo {
        name: "revert-8aa7e847",
        documentation: "The series' comparison: waits sleep on the queue of synchronous requests, as in 2.6.30.",
        from: G::V30,
        to: G::For33,
        applies_to: "8aa7e847 is in 2.6.31; the series was written for 2.6.31 and 2.6.32",
        change: |policy| {
            let sync = NapRule::Always(NapQueue::Sync);
            policy.mm.retry_nap = sync;
            policy.mm.reclaim_nap = policy.mm.reclaim_nap.map(|_| sync);
            policy.mm.kswapd_nap.rule = sync;
            policy.mm.isolated_nap = NapQueue::Sync;
            policy.mm.writeout_nap = NapQueue::Sync;
            policy.mm.lumpy.second_pass.nap = policy.mm.lumpy.second_pass.nap.map(|_| NapQueue::Sync);
            policy.fs.writeback.pdflush_nap = NapQueue::Sync;
            if matches!(policy.fs.writeback.throttle_sleep, ThrottleSleep::Congestion(_)) {
                policy.fs.writeback.throttle_sleep = ThrottleSleep::Congestion(NapQueue::Sync);
            }
        },
    },
    PatchInfo {
        name: "kswapd-quick-recheck",
        documentation: "V3, 4/5: kswapd sleeps a tenth of a second and looks again before it sleeps for good.",
        from: G::V30,
        to: G::For33,
        applies_to: "it is part of 2.6.33 and later",
        change: |policy| policy.mm.kswapd_two_stage_sleep = true,
    },
    PatchInfo {
        name: "adjust-priority",
        documentation: "V3, 5/5 as first posted: kswapd goes on longer before it naps when it works for high orders.",
        from: G::V30,
        to: G::For33,
        applies_to: "it was replaced before it was merged",
        change: |policy| policy.mm.kswapd_nap.later_for_high_orders = true,
    },
    PatchInfo {
        name: "kswapd-stay-awake-when-min",
        documentation: "V3, 5/5 as merged: kswapd does not nap while a zone is below MIN.",
        from: G::V30,
        to: G::For33,
        applies_to: "it is part of 2.6.33 and later",
        change: |policy| policy.mm.kswapd_nap.not_under_min = true,
    },
];
