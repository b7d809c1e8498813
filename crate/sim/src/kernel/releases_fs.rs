//! File system, readahead and writeback rules of each release.
//!
//! *Follows:* model/block-layer.md, sections 1.5, 1.6, 4.1, 4.2; Linux 2.6.30 to 2.6.38,
//! `fs/jbd2/commit.c`, `fs/buffer.c`, `fs/direct-io.c`, `mm/readahead.c`, `fs/fs-writeback.c`; docs/model/reclaim.md,
//! section 6.

use super::policy::{
    FsPolicy, FsyncCommit, FsyncFlush, JournalPolicy, ReadaheadPolicy, ThrottleSleep, WriteFlagsPolicy,
    WritebackInProgress, WritebackPolicy,
};
use crate::block::BioFlags;
use crate::mm::NapQueue;
use crate::scenario::FileSystemKind;

const WRITE: BioFlags = BioFlags::WRITE;
const WRITE_SYNC_PLUG: BioFlags = WRITE.with(BioFlags::SYNC).with(BioFlags::NOIDLE);
const WRITE_SYNC: BioFlags = WRITE_SYNC_PLUG.with(BioFlags::UNPLUG);
const WRITE_ODIRECT_PLUG: BioFlags = WRITE.with(BioFlags::SYNC);
const WRITE_ODIRECT: BioFlags = WRITE_ODIRECT_PLUG.with(BioFlags::UNPLUG);

/// The releases, in the order in which their rules apply. A release candidate counts with its
/// release: none of these rules changed within one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Generation {
    V30,
    V31,
    V32,
    /// The block tree of November 2009 on top of 2.6.32's file systems.
    For33,
    V33,
    V34,
    V35,
    V36,
    V37,
    V38,
}

fn generation(release: &str) -> Option<Generation> {
    let base = release.split_once("-rc").map_or(release, |(base, _)| base);
    Some(match base {
        "2.6.30" => Generation::V30,
        "2.6.31" => Generation::V31,
        "2.6.32" => Generation::V32,
        "for-2.6.33" => Generation::For33,
        "2.6.33" => Generation::V33,
        "2.6.34" => Generation::V34,
        "2.6.35" => Generation::V35,
        "2.6.36" | "mmotm-2010-08" => Generation::V36,
        "2.6.37" => Generation::V37,
        "2.6.38" => Generation::V38,
        _ => return None,
    })
}

impl FsPolicy {
    /// The rules of `release` with a file system of `kind`; `None` if the release is not known.
    #[must_use]
    pub fn for_release(release: &str, kind: FileSystemKind) -> Option<Self> {
        let generation = generation(release)?;
        Some(Self {
            journal: journal(generation, kind),
            readahead: ReadaheadPolicy {
                context: generation >= Generation::V31,
                unplugs_if_up_to_date: generation >= Generation::V33,
            },
            write_flags: write_flags(generation),
            writeback: writeback(generation),
        })
    }
}

fn journal(generation: Generation, kind: FileSystemKind) -> JournalPolicy {
    use Generation::{V31, V33, V35, V37};
    let is_ext4 = kind == FileSystemKind::Ext4;
    // Section 4.1: ext4 gave up the sync handle one release after ext3.
    let last_forced = if is_ext4 { Generation::For33 } else { V31 };
    let forced = generation <= last_forced;
    // Section 4.1: what fsync does to the device's cache once the commit is done.
    let fsync_flush = if is_ext4 {
        if generation >= V33 { FsyncFlush::WithoutCommit } else { FsyncFlush::Always }
    } else if generation < V33 {
        FsyncFlush::Never
    } else if generation >= V35 {
        FsyncFlush::WithoutCommit
    } else {
        FsyncFlush::Always
    };
    JournalPolicy {
        fsync_commit: if forced { FsyncCommit::ForceWithSyncHandle } else { FsyncCommit::StartCommit },
        fsync_flush,
        log_flags: if generation >= V37 { WRITE_SYNC } else { WRITE },
        log_flags_synchronous: WRITE_SYNC_PLUG,
        commit_record_flags: if is_ext4 { WRITE_SYNC_PLUG } else { WRITE_SYNC },
        commit_barrier_flags: if generation >= V37 {
            BioFlags::FLUSH.with(BioFlags::FUA)
        } else {
            BioFlags::BARRIER
        },
        commit_writes_data: !is_ext4,
        delayed_allocation: is_ext4,
        io_priority: if is_ext4 { 3 } else { 4 },
        yields: false,
        commit_interval_ms: 5_000,
        batch_min_us: 0,
        batch_max_us: 15_000,
    }
}

fn writeback(generation: Generation) -> WritebackPolicy {
    use Generation::{V30, V32, V36, V38};
    // Section 5.1, R5.2: 2.6.30's callers name the index of synchronous requests.
    let nap = if generation == V30 { NapQueue::Sync } else { NapQueue::Async };
    WritebackPolicy {
        per_device_flusher: generation >= V32,
        interval_ms: 5_000,
        expire_ms: 30_000,
        chunk_pages: 1_024,
        background_ratio_percent: 10,
        dirty_ratio_percent: 20,
        background_bytes: 0,
        dirty_bytes: 0,
        throttles_by_all: generation >= V36,
        looks_for_background: generation >= V38,
        in_progress: if generation >= V36 {
            WritebackInProgress::FlusherRuns
        } else if generation >= V32 {
            WritebackInProgress::ItemWaits
        } else {
            WritebackInProgress::DeviceTaken
        },
        pdflush_nap: nap,
        throttle_sleep: if generation >= V32 {
            ThrottleSleep::Doubling
        } else {
            ThrottleSleep::Congestion(nap)
        },
        chunk_by_dirtied: generation >= V32,
    }
}

fn write_flags(generation: Generation) -> WriteFlagsPolicy {
    let flush = if generation >= Generation::V37 {
        WRITE_SYNC.with(BioFlags::FLUSH)
    } else if generation == Generation::V36 {
        WRITE_SYNC.with(BioFlags::BARRIER)
    } else {
        WRITE.with(BioFlags::BARRIER)
    };
    WriteFlagsPolicy {
        sync_writeback: WRITE_SYNC_PLUG,
        background: WRITE,
        direct: match generation {
            Generation::V30 | Generation::V31 | Generation::V32 => WRITE_ODIRECT,
            // Section 1.6: for two months O_DIRECT writes carried NOIDLE (table T6).
            Generation::For33 => WRITE_SYNC_PLUG,
            _ => WRITE_ODIRECT_PLUG,
        },
        sync_buffer: WRITE_SYNC,
        flush,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use FileSystemKind::{Ext3, Ext4};

    fn policy(release: &str, kind: FileSystemKind) -> FsPolicy {
        FsPolicy::for_release(release, kind).expect("known release")
    }

    /// Section 4.2, last table: the class of the log blocks of a plain fsync.
    #[test]
    fn class_of_log_blocks_by_release() {
        let sync_noidle = |release, kind| {
            let journal = policy(release, kind).journal;
            let flags = match journal.fsync_commit {
                FsyncCommit::StartCommit => journal.log_flags,
                FsyncCommit::ForceWithSyncHandle => journal.log_flags_synchronous,
            };
            flags.has(BioFlags::SYNC.with(BioFlags::NOIDLE))
        };
        for (release, ext3, ext4) in [
            ("2.6.30", true, true),
            ("2.6.31", true, true),
            ("2.6.32-rc6", false, true),
            ("2.6.32", false, true),
            ("2.6.33", false, false),
            ("2.6.34", false, false),
            ("2.6.35", false, false),
            ("2.6.36", false, false),
            ("2.6.37", true, true),
            ("2.6.38", true, true),
        ] {
            assert_eq!(sync_noidle(release, Ext3), ext3, "ext3 on {release}");
            assert_eq!(sync_noidle(release, Ext4), ext4, "ext4 on {release}");
        }
    }

    /// Section 1.6: NOIDLE on O_DIRECT writes only in the tree of November 2009.
    #[test]
    fn direct_writes_carry_noidle_only_in_for_2_6_33() {
        for release in ["2.6.30", "2.6.32", "2.6.33", "2.6.35", "2.6.38"] {
            assert!(!policy(release, Ext4).write_flags.direct.has(BioFlags::NOIDLE), "{release}");
        }
        assert!(policy("for-2.6.33", Ext4).write_flags.direct.has(BioFlags::NOIDLE));
    }

    /// Section 1.5: the explicit unplug came with 2.6.33, context readahead with 2.6.31.
    #[test]
    fn readahead_rules_by_release() {
        assert!(!policy("2.6.30", Ext4).readahead.context);
        assert!(policy("2.6.31", Ext4).readahead.context);
        assert!(!policy("2.6.32", Ext4).readahead.unplugs_if_up_to_date);
        assert!(policy("2.6.33", Ext4).readahead.unplugs_if_up_to_date);
        assert!(FsPolicy::for_release("2.6.29", Ext4).is_none());
    }

    /// docs/model/reclaim.md, sections 5.1 (R5.2), 6.2 to 6.4: who writes in the background, and how a writer sleeps.
    #[test]
    fn writeback_rules_by_release() {
        use WritebackInProgress::{DeviceTaken, FlusherRuns, ItemWaits};
        let sync = ThrottleSleep::Congestion(NapQueue::Sync);
        let asynchronous = ThrottleSleep::Congestion(NapQueue::Async);
        for (release, sleep, in_progress, looks) in [
            ("2.6.30", sync, DeviceTaken, false),
            ("2.6.31", asynchronous, DeviceTaken, false),
            ("2.6.32-rc1", ThrottleSleep::Doubling, ItemWaits, false),
            ("2.6.35", ThrottleSleep::Doubling, ItemWaits, false),
            ("2.6.36", ThrottleSleep::Doubling, FlusherRuns, false),
            ("2.6.37", ThrottleSleep::Doubling, FlusherRuns, false),
            ("2.6.38", ThrottleSleep::Doubling, FlusherRuns, true),
        ] {
            let writeback = policy(release, Ext4).writeback;
            let found = (writeback.throttle_sleep, writeback.in_progress, writeback.looks_for_background);
            assert_eq!(found, (sleep, in_progress, looks), "{release}");
            assert_eq!(writeback.per_device_flusher, in_progress != DeviceTaken, "{release}");
            assert_eq!(writeback.chunk_by_dirtied, writeback.per_device_flusher, "{release}");
        }
        let reverted = ["revert-8aa7e847".to_owned()];
        let reverted =
            crate::kernel::Policy::new("2.6.31", &reverted, Ext4).expect("it applies").fs.writeback;
        assert_eq!((reverted.throttle_sleep, reverted.pdflush_nap), (sync, NapQueue::Sync));
    }
}
