//! The rules of file systems, readahead, write flags and writeback, one field per rule.
//!
//! *Models:* what differs between kernels, as plain data: code asks whether a rule holds, never
//! which release runs.
//! *Does not model:* which release has which value: `releases_fs.rs`.
//! *Follows:* model/block-layer.md, sections 0.2, 1.5, 1.6, 1.9, 4.1 and 4.2.

use crate::block::BioFlags;
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

/// Rules of background writeback (section 1.9).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WritebackPolicy {
    /// One flusher thread per device (from 2.6.32) instead of the global pdflush pool.
    pub per_device_flusher: bool,
    /// The flusher looks for old data every so many milliseconds (`dirty_writeback_centisecs`).
    pub interval_ms: u64,
    /// Data is old after so many milliseconds (`dirty_expire_centisecs`).
    pub expire_ms: u64,
    /// Pages written of one file before the next has its turn (`MAX_WRITEBACK_PAGES`).
    pub chunk_pages: u32,
    /// Background writeback starts above this share of memory (`dirty_background_ratio`).
    pub background_ratio_percent: u32,
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
    /// Background writeback.
    pub writeback: WritebackPolicy,
}
