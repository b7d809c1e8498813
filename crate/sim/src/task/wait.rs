//! What a blocked task waits for.

use crate::block::{BioTag, Sync};
use crate::fs::{FileId, Tid};
use crate::mm::{FrameId, NapQueue};
use crate::observe::{HeldTotals, WaitKind};

/// What ends a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitOn {
    /// A page is being read: the file and the index of the page.
    Page(FileId, u32),
    /// No page of a file is under writeback any more.
    Writeback(FileId),
    /// One bio of the task's own.
    Bio(BioTag),
    /// Every direct I/O of the task's own.
    Direct,
    /// Every log block of the committing transaction.
    Log,
    /// The metadata block with this index is not being written in place.
    Metadata(u32),
    /// A transaction is committed.
    Commit(Tid),
    /// The commit has written its log blocks, so that metadata it holds may be changed again.
    Shadow,
    /// The running transaction has become the committing one.
    TransactionLocked,
    /// Another task has finished making room in the journal.
    Checkpoint,
    /// A request of this direction is free.
    FreeRequest(Sync),
    /// Time.
    Time,
    /// Something to do: kernel threads only.
    Work,
    /// Every process that uses the workload's barrier with this index.
    Meet(u32),
    /// Congestion to end, or a time-out (`congestion_wait`), on one of the two global queues or on both.
    Congestion(NapQueue),
    /// The page in a frame to be read from swap.
    SwapIn(FrameId),
    /// The page in a frame to be written, by whomever.
    PageWritten(FrameId),
    /// A process that was killed to give its memory back.
    Killed,
    /// Fewer pages to be dirty: a writer that is held up sleeps for some time, or until congestion ends on this queue.
    Throttle(Option<NapQueue>),
    /// Another task to finish writing a file back; `None` is the metadata.
    BusyFile(Option<FileId>),
    /// kswapd's first, short sleep: pages to be needed, or a time-out.
    Doze,
}

impl WaitOn {
    /// What the event trace calls it.
    #[must_use]
    pub fn kind(self) -> WaitKind {
        match self {
            Self::Page(..) | Self::SwapIn(_) => WaitKind::Read,
            Self::Writeback(_)
            | Self::Bio(_)
            | Self::Direct
            | Self::Log
            | Self::Metadata(_)
            | Self::BusyFile(_)
            | Self::PageWritten(_) => WaitKind::Write,
            Self::Commit(_) | Self::Shadow | Self::TransactionLocked | Self::Checkpoint => WaitKind::Commit,
            Self::FreeRequest(_) => WaitKind::FreeRequest,
            Self::Time => WaitKind::Sleep,
            Self::Work => WaitKind::Work,
            Self::Meet(_) => WaitKind::Start,
            Self::Congestion(_) | Self::Killed => WaitKind::Congestion,
            Self::Throttle(_) => WaitKind::Throttle,
            Self::Doze => WaitKind::Work,
        }
    }

    /// In words, for people.
    #[must_use]
    pub fn describe(self) -> String {
        match self {
            Self::Page(file, page) => format!("page {page} of file {} to be read", file.0),
            Self::Writeback(file) => format!("the pages of file {} to be written", file.0),
            Self::Bio(_) => "a write of its own".into(),
            Self::Direct => "its own direct I/O".into(),
            Self::Log => "the log blocks of a commit".into(),
            Self::Metadata(block) => format!("metadata block {block} to be written in place"),
            Self::Commit(tid) => format!("transaction {} to be committed", tid.0),
            Self::Shadow => "the commit to let go of a metadata block".into(),
            Self::TransactionLocked => "the running transaction to be committed".into(),
            Self::Checkpoint => "another task to make room in the journal".into(),
            Self::FreeRequest(Sync::Sync) => "a free sync request".into(),
            Self::FreeRequest(Sync::Async) => "a free async request".into(),
            Self::Time => "time to pass".into(),
            Self::Work => "something to do".into(),
            Self::Congestion(_) => "congestion to end".into(),
            Self::Throttle(_) => "fewer pages to be dirty".into(),
            Self::BusyFile(Some(file)) => format!("another task that writes file {}", file.0),
            Self::BusyFile(None) => "another task that writes metadata".into(),
            Self::Killed => "a process to die and give its memory back".into(),
            Self::SwapIn(_) => "a page to be read from swap".into(),
            Self::PageWritten(_) => "a page to be written that reclaim wants".into(),
            Self::Doze => "something to do, or a tenth of a second".into(),
            Self::Meet(barrier) => format!("the other processes at barrier {barrier}"),
        }
    }

    /// Whether the wait ends by a request's completion.
    #[must_use]
    pub fn is_io(self) -> bool {
        matches!(
            self,
            Self::Page(..)
                | Self::Writeback(_)
                | Self::Bio(_)
                | Self::Direct
                | Self::Log
                | Self::Metadata(_)
                | Self::PageWritten(_)
                | Self::SwapIn(_)
        )
    }

    /// Whether the wait is for the journal thread.
    #[must_use]
    pub fn is_for_journal_thread(self) -> bool {
        matches!(self, Self::Commit(_) | Self::Shadow | Self::TransactionLocked)
    }
}

/// A wait in progress and what is needed to charge it.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// What ends it.
    pub on: WaitOn,
    /// The queue's totals up to which the wait has been charged.
    pub held: HeldTotals,
    /// The waiter's own service, in nanoseconds, up to which the wait has been charged.
    pub served_ns: u64,
    /// One of the bios it waits for (the last), with the generation of its name.
    pub bio: Option<(BioTag, u32)>,
    /// Tells this wait from earlier ones of the same task, for timers.
    pub number: u32,
}
