//! The rules of file systems, readahead, write flags and writeback, one field per rule.
//!
//! *Models:* what differs between kernels, as plain data: code asks whether a rule holds, never
//! which release runs.
//! *Does not model:* which release has which value: `releases_fs.rs`.
//! *Follows:* model/block-layer.md, sections 0.2, 1.5, 1.6, 1.9, 4.1 and 4.2; docs/model/reclaim.md, section 6.

use crate::block::BioFlags;
use crate::mm::NapQueue;
use serde::{Deserialize, Serialize};

/// How fsync gets an inode's transaction committed (section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FsyncCommit {
    /// Asks for the commit of the transaction that changed the inode, and waits for it.
    StartCommit,
    /// Opens a handle marked synchronous on the running transaction and waits for its commit: the
    /// commit then writes its log blocks sync.
    ForceWithSyncHandle,
}

/// When fsync flushes the device's cache itself, on a file system with barriers (section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FsyncFlush {
    /// Never.
    Never,
    /// Only if no commit had to be started.
    WithoutCommit,
    /// Every time.
    Always,
}

/// Rules of the journal and of fsync (sections 4.1, 4.2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalPolicy {
    /// How fsync gets its commit (4.1).
    pub fsync_commit: FsyncCommit,
    /// When fsync flushes the device itself (4.1).
    pub fsync_flush: FsyncFlush,
    /// Flags of descriptor and metadata log blocks (4.2, `write_op`).
    pub log_flags: BioFlags,
    /// The same when a synchronous handle belongs to the transaction (4.2).
    pub log_flags_synchronous: BioFlags,
    /// Flags of the commit record (4.2).
    pub commit_record_flags: BioFlags,
    /// Flags added to the commit record on a file system with barriers (4.2): BARRIER, or FLUSH and
    /// FUA.
    pub commit_barrier_flags: BioFlags,
    /// The ordered data of a transaction is written by the commit, and waited for before the log
    /// (jbd), instead of being on its way when its blocks are allocated (jbd2).
    pub commit_writes_data: bool,
    /// Blocks are allocated when data is written back (ext4), not when it is written (ext3).
    pub delayed_allocation: bool,
    /// I/O priority of the journal thread: 3 for jbd2, 4 for kjournald (section 2.4).
    pub io_priority: u8,
    /// Whoever waits for a commit gives its turn in the elevator to the journal thread (2.20).
    pub yields: bool,
    /// A transaction is committed after so many milliseconds without an fsync.
    pub commit_interval_ms: u64,
    /// Shortest batching sleep of a synchronous handle, in microseconds (4.2).
    pub batch_min_us: u64,
    /// Longest batching sleep of a synchronous handle, in microseconds (4.2).
    pub batch_max_us: u64,
}

/// Rules of readahead (sections 0.2, 1.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadaheadPolicy {
    /// A miss behind cached pages continues them as a stream (from 2.6.31).
    pub context: bool,
    /// Asynchronous readahead unplugs the queue if the page being read is already up to date (from
    /// 2.6.33).
    pub unplugs_if_up_to_date: bool,
}

/// Flags of writes (section 1.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteFlagsPolicy {
    /// Pages written because somebody waits (WB_SYNC_ALL).
    pub sync_writeback: BioFlags,
    /// Pages written in the background.
    pub background: BioFlags,
    /// O_DIRECT writes.
    pub direct: BioFlags,
    /// A single buffer written and waited for (`sync_dirty_buffer`).
    pub sync_buffer: BioFlags,
    /// The empty request of `blkdev_issue_flush`.
    pub flush: BioFlags,
}

/// How a throttled writer sleeps between two looks at the number of dirty pages (docs/model/reclaim.md, section 6.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ThrottleSleep {
    /// `congestion_wait` on this queue, for a tenth of a second at most (up to 2.6.31).
    Congestion(NapQueue),
    /// One tick, then twice as long each time, up to a tenth of a second; nothing but time ends it (from 2.6.32).
    Doubling,
}

/// When background writeback counts as going on, so that a writer does not start it (`writeback_in_progress`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WritebackInProgress {
    /// While a pdflush thread has taken the device (up to 2.6.31).
    DeviceTaken,
    /// While a work item waits for the flusher; one in progress does not count (2.6.32 to 2.6.35).
    ItemWaits,
    /// While the flusher is at work (from 2.6.36).
    FlusherRuns,
}

/// Rules of writeback and of throttling (section 1.9; docs/model/reclaim.md, section 6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WritebackPolicy {
    /// One flusher thread per device (from 2.6.32) instead of the global pdflush pool.
    pub per_device_flusher: bool,
    /// The flusher looks for old data every so many milliseconds (`dirty_writeback_centisecs`).
    pub interval_ms: u64,
    /// Data is old after so many milliseconds (`dirty_expire_centisecs`).
    pub expire_ms: u64,
    /// Pages written in one pass over the files before the thread looks again whether it is needed (`MAX_WRITEBACK_PAGES`).
    pub chunk_pages: u32,
    /// Background writeback starts above this share of dirtyable memory (`dirty_background_ratio`).
    pub background_ratio_percent: u32,
    /// Writers are held below this share (`dirty_ratio`).
    pub dirty_ratio_percent: u32,
    /// Background writeback starts above so many bytes instead, unless it is 0 (`dirty_background_bytes`).
    pub background_bytes: u64,
    /// Writers are held below so many bytes instead, unless it is 0 (`dirty_bytes`).
    pub dirty_bytes: u64,
    /// Writers are held up by the limit of all devices as well as by their own device's, and one that has written less than its chunk
    /// sleeps without looking again (from 2.6.36).
    pub throttles_by_all: bool,
    /// The flusher compares the dirty pages with the background threshold at each look, nobody having asked (from 2.6.38).
    pub looks_for_background: bool,
    /// When a writer need not start background writeback.
    pub in_progress: WritebackInProgress,
    /// On which queue pdflush naps when it meets congestion (6.2; R5.2).
    pub pdflush_nap: NapQueue,
    /// How a throttled writer sleeps (6.4).
    pub throttle_sleep: ThrottleSleep,
    /// A throttled writer writes half as much again as it has just dirtied, if that is more than the interval between looks
    /// (from 2.6.32); before, half as much again as the interval.
    pub chunk_by_dirtied: bool,
}

/// Everything above the block layer that differs between kernels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FsPolicy {
    /// Journal and fsync.
    pub journal: JournalPolicy,
    /// Readahead.
    pub readahead: ReadaheadPolicy,
    /// Flags of writes.
    pub write_flags: WriteFlagsPolicy,
    /// Background writeback, throttling of writers.
    pub writeback: WritebackPolicy,
}
