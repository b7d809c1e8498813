//! How many pages may be dirty, when a writer has to look, and how much it then writes itself.
//!
//! *Models:* the background and the dirty threshold as shares of dirtyable memory, the least dirty share, a device's and a
//! task's part of it, the interval between looks, the writer's own chunk.
//! *Does not model:* the bonus of real-time tasks and of the NFS server, min_ratio and max_ratio of a device,
//! the per-CPU error of counters.
//! *Follows:* docs/model/reclaim.md, sections 6.1 and 6.4; Linux 2.6.31, `mm/page-writeback.c`, `get_dirty_limits`,
//! `determine_dirtyable_memory`, `writeback_set_ratelimit`, `sync_writeback_pages`.

use super::proportion::Share;
use crate::fs::PAGE_BYTES;
use crate::kernel::WritebackPolicy;
use crate::mm::{Memory, ZoneKind};

/// Pages of memory that may become dirty on a machine whose memory is not simulated: 4 GiB.
pub const DIRTYABLE_PAGES: u64 = 1 << 20;
/// `dirty_ratio` counts as no less than this, in percent.
const DIRTY_RATIO_LEAST_PERCENT: u32 = 5;
/// A writer on a device that is over its limit looks again after so many pages.
const RATELIMIT_EXCEEDED_PAGES: u32 = 8;

/// Pages that may become dirty: free ones and those on the LRU lists, HighMem left out. Cost: the zones.
#[must_use]
pub fn dirtyable_pages(memory: Option<&Memory>) -> u64 {
    let Some(memory) = memory else { return DIRTYABLE_PAGES };
    let zones = memory.zones().iter().filter(|zone| zone.kind != ZoneKind::HighMem);
    let pages = zones.map(|zone| {
        let lru: u64 = crate::mm::Lru::ALL[..4].iter().map(|&lru| u64::from(zone.lru_pages(lru))).sum();
        zone.free.max(0).unsigned_abs() + lru
    });
    pages.sum::<u64>() + 1
}

/// The two thresholds, in pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirtyLimits {
    /// Above it data is written in the background (`nr_dirty_background_threshold`).
    pub background_pages: u64,
    /// Writers are held below it (`nr_dirty_threshold`).
    pub dirty_pages: u64,
}

impl DirtyLimits {
    /// The thresholds of so much dirtyable memory.
    #[must_use]
    pub fn new(dirtyable_pages: u64, policy: &WritebackPolicy) -> Self {
        let share = |percent: u32| dirtyable_pages * u64::from(percent) / 100;
        let dirty_pages = match policy.dirty_bytes {
            0 => share(policy.dirty_ratio_percent.max(DIRTY_RATIO_LEAST_PERCENT)),
            bytes => bytes.div_ceil(PAGE_BYTES),
        };
        let background_pages = match policy.background_bytes {
            0 => share(policy.background_ratio_percent),
            bytes => bytes.div_ceil(PAGE_BYTES),
        };
        let is_below = background_pages < dirty_pages;
        Self { background_pages: if is_below { background_pages } else { dirty_pages / 2 }, dirty_pages }
    }

    /// Below this, in pages, no writer is held up, whatever its device's share is.
    #[must_use]
    pub fn free_run_pages(&self) -> u64 {
        u64::midpoint(self.background_pages, self.dirty_pages)
    }

    /// The part of a device that has written this share of what was written lately, for a task that has dirtied this share
    /// of what was dirtied lately; `used_pages` are dirty or under writeback, on all devices and on this one.
    #[must_use]
    pub fn device_pages(&self, device: Share, task: Share, used_pages: [u64; 2]) -> u64 {
        let [all, own] = used_pages;
        let room = self.dirty_pages.saturating_sub(all) + own;
        let pages = device.of(self.dirty_pages).min(room);
        (pages - task.of(pages >> 3)).max(pages / 2)
    }
}

/// A writer looks after so many pages, unless its device is over the limit.
#[must_use]
pub fn ratelimit_pages(memory_pages: u64, cpus: u64) -> u32 {
    (memory_pages / (32 * cpus.max(1))).clamp(16, 1024) as u32
}

/// The same with what is known about the device.
#[must_use]
pub fn ratelimit_now(ratelimit_pages: u32, is_exceeded: bool) -> u32 {
    if is_exceeded { RATELIMIT_EXCEEDED_PAGES } else { ratelimit_pages }
}

/// How much a writer that is over the limit writes itself, having dirtied `dirtied_pages` since its last look.
#[must_use]
pub fn write_chunk_pages(ratelimit_pages: u32, dirtied_pages: u32, policy: &WritebackPolicy) -> u32 {
    let base = if policy.chunk_by_dirtied { ratelimit_pages.max(dirtied_pages) } else { ratelimit_pages };
    base + base / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::FsPolicy;
    use crate::scenario::FileSystemKind;

    fn policy(release: &str) -> WritebackPolicy {
        FsPolicy::for_release(release, FileSystemKind::Ext4).expect("a known release").writeback
    }

    /// Section 6.1: 10 and 20 per cent; never a background threshold at or above the other; at least 5 per cent.
    #[test]
    fn thresholds_are_shares_of_dirtyable_memory() {
        let limits = DirtyLimits::new(480_000, &policy("2.6.31"));
        assert_eq!((limits.background_pages, limits.dirty_pages), (48_000, 96_000));
        assert_eq!(limits.free_run_pages(), 72_000);
        let low = WritebackPolicy { dirty_ratio_percent: 1, ..policy("2.6.31") };
        assert_eq!(DirtyLimits::new(1000, &low), DirtyLimits { background_pages: 25, dirty_pages: 50 });
        let bytes = WritebackPolicy { dirty_bytes: 81_921, background_bytes: 40_960, ..policy("2.6.31") };
        assert_eq!(DirtyLimits::new(480_000, &bytes), DirtyLimits { background_pages: 10, dirty_pages: 21 });
    }

    /// Section 6.1: a device's part follows what it has written, the room that is left caps it, and a task that dirties
    /// everything has an eighth less.
    #[test]
    fn a_device_has_its_part() {
        let limits = DirtyLimits { background_pages: 48_000, dirty_pages: 96_000 };
        let (none, half, all) = (Share::new(0, 8), Share::new(4, 8), Share::new(8, 8));
        assert_eq!(limits.device_pages(all, none, [0, 0]), 96_000);
        assert_eq!(limits.device_pages(half, none, [0, 0]), 48_000);
        assert_eq!(limits.device_pages(none, all, [0, 0]), 0);
        assert_eq!(limits.device_pages(all, all, [0, 0]), 84_000);
        assert_eq!(limits.device_pages(all, none, [90_000, 10_000]), 16_000, "others have used 80,000");
        assert_eq!(limits.device_pages(all, none, [100_000, 100_000]), 96_000);
    }

    /// Section 6.4: RAM / (32 CPUs), 16 to 1024, and 8 while the device is over its limit.
    #[test]
    fn writers_look_at_intervals() {
        assert_eq!(ratelimit_pages(1 << 20, 1), 1024);
        assert_eq!(ratelimit_pages(1 << 16, 4), 512);
        assert_eq!(ratelimit_pages(8_000, 64), 16);
        assert_eq!((ratelimit_now(1024, false), ratelimit_now(1024, true)), (1024, 8));
    }

    /// Section 6.4: one and a half times the interval, from 2.6.32 on of what was dirtied if that is more.
    #[test]
    fn a_writer_writes_half_as_much_again() {
        for (release, chunk) in [("2.6.30", 1536), ("2.6.31", 1536), ("2.6.32", 3000), ("2.6.37", 3000)] {
            assert_eq!(write_chunk_pages(1024, 2000, &policy(release)), chunk, "{release}");
            assert_eq!(write_chunk_pages(1024, 8, &policy(release)), 1536, "{release}");
        }
    }

    /// On a machine whose memory is simulated: everything but HighMem and what is taken.
    #[test]
    fn dirtyable_memory_is_counted_zone_by_zone() {
        assert_eq!(dirtyable_pages(None), DIRTYABLE_PAGES);
        let layout = crate::mm::MemoryLayout::mapped_stream_2010();
        let policy =
            crate::kernel::Policy::new("2.6.36", &[], FileSystemKind::Ext4).expect("a known release");
        let memory = Memory::new(&layout, policy.mm, 2, 250).expect("a sound layout");
        assert_eq!(dirtyable_pages(Some(&memory)), 3_960 + 470_500 + 1);
    }
}
