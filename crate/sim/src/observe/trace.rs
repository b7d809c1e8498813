//! The event trace: one entry for everything that happens in the block layer and to tasks, kept
//! only while somebody looks closely.

use super::meter::{Meter, QueueState};
use crate::block::{Bio, BioFlags, Request};
use serde::{Deserialize, Serialize};

/// What a trace entry says about a request or a bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestFacts {
    /// First sector.
    pub sector: u64,
    /// Length in sectors.
    pub sectors: u32,
    /// Flags.
    pub flags: BioFlags,
    /// The task that submitted it.
    pub task: u32,
}

impl From<&Request> for RequestFacts {
    fn from(request: &Request) -> Self {
        Self {
            sector: request.sector,
            sectors: request.sectors,
            flags: request.flags,
            task: request.submitter.task,
        }
    }
}

impl From<&Bio> for RequestFacts {
    fn from(bio: &Bio) -> Self {
        Self { sector: bio.sector, sectors: bio.sectors, flags: bio.flags, task: bio.submitter.task }
    }
}

/// What happened. Names follow blktrace and the kernel's own messages where they exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TraceKind {
    /// A bio enters the queue (blktrace Q).
    Queue(RequestFacts),
    /// A task sleeps until a request is free (S).
    SleepForRequest,
    /// A request was allocated (G).
    GetRequest(RequestFacts),
    /// A request enters the elevator (I).
    Insert(RequestFacts),
    /// A bio joined the end of a request; the bio's facts (M).
    BackMerge(RequestFacts),
    /// A bio joined the front of a request; the bio's facts (F).
    FrontMerge(RequestFacts),
    /// The elevator moved a request to the dispatch list.
    Dispatch(RequestFacts),
    /// The device took a request (D); requests in the device after it.
    Start(RequestFacts, u32),
    /// The device finished a request (C); requests in the device after it.
    Complete(RequestFacts, u32),
    /// The queue was plugged (P).
    Plug,
    /// The queue was unplugged (U); requests waiting.
    Unplug(u32),
    /// The queue was unplugged by its timer (UT); requests waiting.
    UnplugTimer(u32),
    /// CFQ made a queue active: owner task or `u32::MAX - priority` for an async queue; tree.
    CfqSelect(u32, WorkloadType),
    /// CFQ dropped the active queue: owner; whether the slice timed out with accounting.
    CfqExpire(u32, bool),
    /// CFQ armed the idle timer for a queue, jiffies.
    CfqIdleArm(u32, u32),
    /// The idle timer fired.
    CfqIdleFired,
    /// A request arrived for the queue CFQ was idling for.
    CfqIdleRewarded(u32),
    /// CFQ set the slice of a queue, jiffies.
    CfqSliceStart(u32, u32),
    /// A queue took the device from the active one.
    CfqPreempt(u32),
    /// CFQ chose a workload type for so many jiffies.
    CfqWorkload(WorkloadType, u32),
    /// A queue entered the service tree.
    CfqBusy(u32),
    /// A queue left the service tree.
    CfqNotBusy(u32),
    /// A task's state changed.
    Task(u32, TaskTrace),
    /// A workload counted units of work: task, index of the mark, amount.
    Mark(u32, u16, u32),
}

/// CFQ's workload types (section 2.14); the one tree of 2.6.30 to 2.6.32 shows as `Sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum WorkloadType {
    /// Buffered writeback.
    Async = 0,
    /// Sync queues that are not idled for one by one.
    SyncNoidle = 1,
    /// Sync queues that are idled for.
    Sync = 2,
}

/// What a task does from a moment on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskTrace {
    /// Has a CPU.
    Running,
    /// Wants a CPU.
    Runnable,
    /// Waits; for what: [`crate::observe::Cause`] is known only when the wait ends.
    Blocked(WaitKind),
    /// Has ended.
    Exited,
}

/// What a blocked task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WaitKind {
    /// A read.
    Read,
    /// A write.
    Write,
    /// The journal's commit.
    Commit,
    /// A free request.
    FreeRequest,
    /// Time to pass.
    Sleep,
    /// Work to do (kernel threads).
    Work,
    /// Other processes.
    Start,
    /// Congestion to end, or a time-out.
    Congestion,
    /// Fewer pages to be dirty.
    Throttle,
}

/// One entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// When, in nanoseconds.
    pub time_ns: u64,
    /// On whose behalf the CPU ran: a task, or `u32::MAX` for an interrupt.
    pub by: u32,
    /// What.
    pub kind: TraceKind,
}

/// Hears everything that happens. It always measures ([`Meter`]) and keeps entries while that is switched on.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    meter: Meter,
    events: Vec<TraceEvent>,
    limit: usize,
    dropped: u64,
    now_ns: u64,
    by: u32,
}

impl Recorder {
    /// A recorder that keeps up to `limit` entries; 0 keeps nothing.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Switches recording on (up to `limit` entries in all) or, with 0, off.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Whether entries are kept.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.limit != 0
    }

    /// Says at which time, and on whose behalf, what follows happens.
    pub fn set_context(&mut self, now_ns: u64, by: u32) {
        self.now_ns = now_ns;
        self.by = by;
    }

    /// Measures with `meter` from now on; at the beginning of a run.
    pub fn set_meter(&mut self, meter: Meter) {
        self.meter = meter;
    }

    /// What is always measured.
    #[must_use]
    pub fn meter(&self) -> &Meter {
        &self.meter
    }

    /// The request queue is in this state from `now_ns` on.
    pub fn queue_state(&mut self, now_ns: u64, state: QueueState) {
        self.meter.queue_state(now_ns, state);
    }

    /// A system call of `task` has moved `bytes`.
    pub fn moved(&mut self, now_ns: u64, task: u32, is_write: bool, bytes: u64) {
        self.meter.moved(now_ns, task, is_write, bytes);
    }

    /// Adds an entry at the time last set.
    #[inline]
    pub fn record(&mut self, kind: TraceKind) {
        self.meter.note(self.now_ns, &kind);
        if self.limit == 0 {
            return;
        }
        if self.events.len() < self.limit {
            self.events.push(TraceEvent { time_ns: self.now_ns, by: self.by, kind });
        } else {
            self.dropped += 1;
        }
    }

    /// The entries, oldest first.
    #[must_use]
    pub fn events(&self) -> &[TraceEvent] {
        &self.events
    }

    /// Takes the entries out, oldest first.
    pub fn take(&mut self) -> Vec<TraceEvent> {
        std::mem::take(&mut self.events)
    }

    /// Entries that did not fit.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}
