//! CFQ's per-queue and per-context state.
//!
//! *Follows:* model/block-layer.md, section 2.4.

use crate::block::elevator::sorted::SortedRequests;
use crate::block::{Fifo, IoClass, RequestId};
use crate::observe::WorkloadType;

/// The last priority within a class.
const LOWEST_PRIORITY: u8 = 7;

/// Index of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueueId(pub(super) u32);

/// Whose requests a queue holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// The sync requests of an io context (the one that created the queue).
    Context(u32),
    /// Everybody's async requests of one class and priority.
    Async,
}

/// A queue of requests that is served in turns.
#[derive(Clone, Debug)]
pub(super) struct CfqQueue {
    pub(super) owner: Owner,
    /// What traces call it: the creating task, or `u32::MAX - priority` for async queues.
    pub(super) name: u32,
    pub(super) class: IoClass,
    pub(super) priority: u8,
    pub(super) sorted: SortedRequests,
    pub(super) fifo: Fifo,
    /// The request to serve next.
    pub(super) next: Option<RequestId>,
    /// Requests held: async, sync.
    pub(super) queued: [u32; 2],
    /// Requests on the dispatch list or in the device.
    pub(super) dispatched: u32,
    /// Requests held for metadata.
    pub(super) meta_pending: u32,
    /// When the queue was made active.
    pub(super) dispatch_start: i64,
    /// When its slice began; `None` before the first completion.
    pub(super) slice_start: Option<i64>,
    pub(super) slice_end: i64,
    pub(super) slice_allocated: i64,
    /// Requests dispatched in this slice.
    pub(super) slice_dispatched: u64,
    pub(super) residual: i64,
    pub(super) key: i64,
    /// The tree it is in.
    pub(super) tree: Option<TreeId>,
    pub(super) seek: SeekStatistics,
    pub(super) last_end: u64,
    /// Requests of it that are not free yet.
    pub(super) allocated: u32,
    /// Contexts whose sync queue this is, and those that will be.
    pub(super) process_references: u32,
    /// The queue it is going to be merged into.
    pub(super) merging_into: Option<QueueId>,
    /// Since when a merged queue has been seeky (G2).
    pub(super) seeky_since: Option<i64>,
    /// In the service tree, busy.
    pub(super) on_tree: bool,
    /// The idle timer was armed for it.
    pub(super) waiting: bool,
    pub(super) must_dispatch: bool,
    pub(super) must_allocate_used: bool,
    pub(super) fifo_checked: bool,
    pub(super) idle_window: bool,
    /// No request has completed in this slice.
    pub(super) slice_new: bool,
    pub(super) cooperated: bool,
    pub(super) cooperated_by_preemption: bool,
    pub(super) to_be_split: bool,
    pub(super) deep: bool,
    pub(super) waits_busy: bool,
    /// Whom its process waits for and hands its turn to: io context, class, priority.
    pub(super) yields_to: Option<YieldTarget>,
}

/// The process a turn is handed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct YieldTarget {
    pub(super) io_context: u32,
    pub(super) class: IoClass,
    pub(super) priority: u8,
}

impl CfqQueue {
    pub(super) fn new(owner: Owner, name: u32, class: IoClass, priority: u8) -> Self {
        let is_sync = matches!(owner, Owner::Context(_));
        Self {
            owner,
            name,
            class,
            // The idle class knows no priorities (`cfq_init_prio_data`).
            priority: if class == IoClass::Idle { LOWEST_PRIORITY } else { priority },
            sorted: SortedRequests::new(),
            fifo: Fifo::default(),
            next: None,
            queued: [0; 2],
            dispatched: 0,
            meta_pending: 0,
            dispatch_start: 0,
            slice_start: None,
            slice_end: 0,
            slice_allocated: 0,
            slice_dispatched: 0,
            residual: 0,
            key: 0,
            tree: None,
            seek: SeekStatistics::default(),
            last_end: 0,
            allocated: 0,
            process_references: 0,
            merging_into: None,
            seeky_since: None,
            on_tree: false,
            waiting: false,
            must_dispatch: false,
            must_allocate_used: false,
            fifo_checked: false,
            idle_window: is_sync && class != IoClass::Idle,
            slice_new: false,
            cooperated: false,
            cooperated_by_preemption: false,
            to_be_split: false,
            deep: false,
            waits_busy: false,
            yields_to: None,
        }
    }

    pub(super) fn is_sync(&self) -> bool {
        matches!(self.owner, Owner::Context(_))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sorted.is_empty()
    }

    pub(super) fn is_idle_class(&self) -> bool {
        self.class == IoClass::Idle
    }

    pub(super) fn is_real_time(&self) -> bool {
        self.class == IoClass::RealTime
    }

    pub(super) fn held(&self) -> u32 {
        self.queued[0] + self.queued[1]
    }

    /// Section 2.14: the type of work a queue does.
    pub(super) fn workload(&self) -> WorkloadType {
        match (self.is_sync(), self.idle_window) {
            (false, _) => WorkloadType::Async,
            (true, false) => WorkloadType::SyncNoidle,
            (true, true) => WorkloadType::Sync,
        }
    }

    /// Section 2.7: the slice clock runs from the first completion on.
    pub(super) fn slice_used(&self, now: i64) -> bool {
        !self.slice_new && now >= self.slice_end
    }
}

/// A service tree's index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TreeId(pub(super) u8);

/// What is remembered of an io context (one process, usually).
#[derive(Clone, Debug)]
pub(super) struct IoContext {
    pub(super) sync_queue: Option<QueueId>,
    pub(super) async_queue: Option<QueueId>,
    pub(super) think: ThinkTime,
    /// When its last sync request ended.
    pub(super) last_end: i64,
    /// Seeks per task (G1).
    pub(super) seek: SeekStatistics,
    pub(super) last_position: u64,
    /// Some task of it still lives.
    pub(super) alive: bool,
}

impl IoContext {
    pub(super) fn new(now: i64) -> Self {
        Self {
            sync_queue: None,
            async_queue: None,
            think: ThinkTime::default(),
            last_end: now,
            seek: SeekStatistics::default(),
            last_position: 0,
            alive: true,
        }
    }
}

/// Decaying mean of the time between a completion and the next request (section 2.10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ThinkTime {
    pub(super) samples: u64,
    total: u64,
    pub(super) mean: u64,
}

/// Samples above this are trusted.
const VALID_SAMPLES: u64 = 80;

impl ThinkTime {
    /// Adds one gap, in jiffies; gaps count as twice `slice_idle` at most.
    pub(super) fn add(&mut self, gap: u64, slice_idle: u64) {
        let gap = gap.min(2 * slice_idle);
        self.samples = (7 * self.samples + 256) / 8;
        self.total = (7 * self.total + 256 * gap) / 8;
        self.mean = (self.total + 128) / self.samples;
    }

    pub(super) fn is_valid(&self) -> bool {
        self.samples > VALID_SAMPLES
    }
}

/// What is known about a queue's or task's seeks (section 2.10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SeekStatistics {
    samples: u64,
    total: u64,
    pub(super) mean: u64,
    /// The last 32 requests, 1 for a seek.
    pub(super) history: u32,
}

/// A mean distance above this is seeky, in sectors.
pub(super) const SEEKY_MEAN_SECTORS: u64 = 8192;
/// A single distance above this is a seek, in sectors.
const SEEK_SECTORS: u64 = 800;
/// Shorter requests are as bad as seeks on a non-rotational device, in sectors.
const SMALL_SECTORS: u32 = 64;

impl SeekStatistics {
    /// Adds a distance to the decaying mean.
    pub(super) fn add_distance(&mut self, distance: u64) {
        let cap = if self.samples <= 60 { 2 * 1024 * 1024 } else { 2 * 1024 * 64 };
        let distance = distance.min(4 * self.mean + cap);
        self.samples = (7 * self.samples + 256) / 8;
        self.total = (7 * self.total + 256 * distance) / 8;
        self.mean = (self.total + self.samples / 2) / self.samples;
    }

    /// Adds one bit to the history.
    pub(super) fn add_to_history(&mut self, distance: u64, sectors: u32, non_rotational: bool) {
        let seek = if non_rotational { sectors < SMALL_SECTORS } else { distance > SEEK_SECTORS };
        self.history = self.history << 1 | u32::from(seek);
    }

    pub(super) fn is_valid(&self) -> bool {
        self.samples > VALID_SAMPLES
    }

    /// Seeky by the mean.
    pub(super) fn mean_is_seeky(&self) -> bool {
        self.mean > SEEKY_MEAN_SECTORS
    }

    /// Seeky by the history: more than 4 of the last 32.
    pub(super) fn history_is_seeky(&self) -> bool {
        self.history.count_ones() > 32 / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 10, test 6: three gaps of 4 jiffies give a mean of 5, bias included, and are valid.
    #[test]
    fn think_time_rounds_up() {
        let mut think = ThinkTime::default();
        let seen: Vec<_> = (0..3)
            .map(|_| {
                think.add(4, 8);
                (think.samples, think.total, think.is_valid())
            })
            .collect();
        assert_eq!(seen, [(32, 128, false), (60, 240, false), (84, 338, true)]);
        assert_eq!(think.mean, 5);
    }

    /// Section 10, test 7: 4 seeks of 32 are not seeky, 5 are; a mean of 8192 is not, 8193 is.
    #[test]
    fn seeky_thresholds() {
        let mut seek = SeekStatistics::default();
        for _ in 0..4 {
            seek.add_to_history(801, 8, false);
        }
        seek.add_to_history(800, 8, false);
        assert!(!seek.history_is_seeky());
        seek.add_to_history(801, 8, false);
        assert!(seek.history_is_seeky());
        assert!(!SeekStatistics { mean: 8192, ..seek }.mean_is_seeky());
        assert!(SeekStatistics { mean: 8193, ..seek }.mean_is_seeky());
    }
}
