//! Dirty pages as the machine's tasks see them: how many there are, how many there may be, what they are told.
//!
//! *Models:* the counters by the kernel's names, pages of files and blocks of metadata alike.
//! *Does not model:* unstable pages (NFS), the log's blocks, which are not pages of a file.
//! *Follows:* docs/model/reclaim.md, sections 6.1 and 6.6.

use super::world::World;
use crate::block::Sync;
use crate::mm::NapQueue;
use crate::task::TaskId;
use crate::writeback::{DirtyLimits, Writeback, dirtyable_pages};

impl World {
    /// Pages changed and not on their way to the device (`nr_dirty`).
    #[must_use]
    pub fn nr_dirty(&self) -> u64 {
        self.files.dirty_pages() + u64::from(self.metadata.dirty())
    }

    /// Pages on their way to the device (`nr_writeback`).
    #[must_use]
    pub fn nr_writeback(&self) -> u64 {
        self.files.writeback_pages() + u64::from(self.metadata.writing())
    }

    /// Pages that have become dirty so far (`nr_dirtied`).
    #[must_use]
    pub fn nr_dirtied(&self) -> u64 {
        self.files.page_totals().dirtied + self.metadata.dirtied()
    }

    /// Pages that have been written so far (`nr_written`).
    #[must_use]
    pub fn nr_written(&self) -> u64 {
        self.files.page_totals().written + self.metadata.written()
    }

    /// The thresholds that hold now (`nr_dirty_background_threshold`, `nr_dirty_threshold`). Cost: the zones.
    #[must_use]
    pub fn dirty_limits(&self) -> DirtyLimits {
        DirtyLimits::new(dirtyable_pages(self.memory()), &self.policy.writeback)
    }

    /// Writeback: timelines, sleeps, the pool.
    #[must_use]
    pub fn writeback(&self) -> &Writeback {
        &self.writeback
    }

    /// Pages dirty or on their way.
    pub(crate) fn used_pages(&self) -> u64 {
        self.nr_dirty() + self.nr_writeback()
    }

    /// How many of these the device may have while `me` writes.
    pub(crate) fn device_pages(&self, me: TaskId) -> u64 {
        self.writeback.device_pages(&self.dirty_limits(), me.index(), self.used_pages())
    }

    /// Whether enough is dirty for background writeback to go on.
    pub(crate) fn is_above_background(&self) -> bool {
        self.nr_dirty() >= self.dirty_limits().background_pages
    }

    /// Whether a device is congested for what is slept on.
    pub(crate) fn is_congested(&self, queue: NapQueue) -> bool {
        match queue {
            NapQueue::Async => self.queue.is_congested(Sync::Async),
            NapQueue::Sync => self.queue.is_congested(Sync::Sync),
            NapQueue::AsyncThenSync => {
                self.queue.is_congested(Sync::Async) || self.queue.is_congested(Sync::Sync)
            }
        }
    }

    /// A tenth of a second in ticks.
    pub(crate) fn tenth_jiffies(&self) -> u64 {
        (self.clock.hz() / 10).max(1)
    }

    /// No page gets lost: what became dirty is dirty, on its way, written, or gone with its file.
    pub(crate) fn check_pages(&self) {
        let totals = self.files.page_totals();
        let now = self.files.dirty_pages() + self.files.writeback_pages();
        assert_eq!(totals.dirtied, now + totals.written + totals.cancelled, "pages are lost");
    }

    /// Enters the numbers of dirty pages into their timelines. Called wherever they change.
    pub(crate) fn note_dirty_pages(&mut self) {
        let (now_ns, dirty, under_writeback) = (self.now_ns, self.nr_dirty(), self.nr_writeback());
        self.writeback.dirty.set(now_ns, dirty);
        self.writeback.under_writeback.set(now_ns, under_writeback);
    }
}
