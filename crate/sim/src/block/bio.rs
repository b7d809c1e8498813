//! What the block layer is asked to do: one contiguous piece of I/O, by whom, with which flags.
//!
//! *Follows:* model/block-layer.md, sections 1.1 and 1.6.

use serde::{Deserialize, Serialize};

/// Bytes in a sector, the block layer's unit of position and length.
pub const SECTOR_BYTES: u64 = 512;
/// Sectors in a page of 4 KiB.
pub const PAGE_SECTORS: u32 = 8;

/// Which pool a request belongs to: sync (reads, and writes that carry SYNC) or async.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Sync {
    /// Plain buffered writes.
    Async = 0,
    /// Reads, and writes somebody waits for.
    Sync = 1,
}

impl Sync {
    /// 0 for async, 1 for sync: the index of per-direction arrays.
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Flags of a bio and of the request it creates, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct BioFlags(pub u16);

impl BioFlags {
    /// Moves data to the device (otherwise it is a read).
    pub const WRITE: Self = Self(1);
    /// Somebody waits for it (SYNC).
    pub const SYNC: Self = Self(2);
    /// Unplug the queue right after submission (UNPLUG).
    pub const UNPLUG: Self = Self(4);
    /// The submitter will not follow up soon: do not idle for it (NOIDLE).
    pub const NOIDLE: Self = Self(8);
    /// File system metadata (META).
    pub const META: Self = Self(16);
    /// Nothing may be reordered across it, up to 2.6.36 (BARRIER).
    pub const BARRIER: Self = Self(32);
    /// Flush the device's cache first, from 2.6.37 (FLUSH).
    pub const FLUSH: Self = Self(64);
    /// Must be on the medium when it completes, from 2.6.37 (FUA).
    pub const FUA: Self = Self(128);
    /// Nobody has asked for this data yet (RAHEAD).
    pub const READAHEAD: Self = Self(256);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set without `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether every flag of `other` is set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any flag of `other` is set.
    #[must_use]
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether it is a write.
    #[must_use]
    pub const fn is_write(self) -> bool {
        self.has(Self::WRITE)
    }

    /// Section 1.1: a request is sync if it is a read or carries SYNC.
    #[must_use]
    pub const fn sync(self) -> Sync {
        if !self.is_write() || self.has(Self::SYNC) { Sync::Sync } else { Sync::Async }
    }
}

/// The three I/O priority classes. Order: the earlier is served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IoClass {
    /// Served before everything else.
    RealTime,
    /// The default.
    BestEffort,
    /// Served when nothing else wants the disk.
    Idle,
}

/// Who submits: the task, the io context it shares or owns, and its I/O priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitter {
    /// The task's index; also the pid that traces show, offset by the simulation.
    pub task: u32,
    /// The io context: tasks that share one (CLONE_IO) share CFQ's sync queue. Small and dense.
    pub io_context: u32,
    /// Priority class.
    pub class: IoClass,
    /// Priority within the class, 0 (highest) to 7.
    pub priority: u8,
}

/// What the submitter calls a bio; comes back with its completion. The block layer does not look
/// inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BioTag(pub u32);

/// One contiguous piece of I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bio {
    /// First sector on the device.
    pub sector: u64,
    /// Length in sectors; 0 only for an empty barrier.
    pub sectors: u32,
    /// What kind.
    pub flags: BioFlags,
    /// Who.
    pub submitter: Submitter,
    /// The submitter's name for it.
    pub tag: BioTag,
}

impl Bio {
    /// The sector behind the last one.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.sector + u64::from(self.sectors)
    }
}
