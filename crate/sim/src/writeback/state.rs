//! What the machine knows about its dirty pages.
//!
//! *Models:* each device's and each task's share, work for the flusher, who has been told that a device is
//! over its limit.
//! *Does not model:* more than one device.
//! *Follows:* docs/model/reclaim.md, sections 6.1 to 6.4 and 6.6.

use super::limits::{DirtyLimits, ratelimit_now, ratelimit_pages, write_chunk_pages};
use super::pdflush::Pdflush;
use super::proportion::{Part, Whole};
use super::waits::Waits;
use crate::kernel::{WritebackInProgress, WritebackPolicy};
use crate::observe::{BUCKETS, Series};
use std::collections::VecDeque;

/// Work for the flusher of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkItem {
    /// Why it is done.
    pub reason: WorkReason,
    /// It ends when so many pages have been written.
    pub pages: u64,
}

/// Why the flusher writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkReason {
    /// Until fewer than the background threshold are dirty.
    Background,
    /// What has been dirty since this time, in nanoseconds.
    Old {
        /// Data that became dirty later is young.
        cutoff_ns: u64,
    },
    /// Somebody wants memory.
    Reclaim,
}

/// What a task's last pass over the dirty files came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassResult {
    /// Pages whose writing was started.
    pub written_pages: u32,
    /// The pass had its fill.
    pub is_full: bool,
    /// It stopped because the queue was congested.
    pub congested: bool,
    /// It passed over a file that another task was writing.
    pub busy: Option<Busy>,
}

/// What another task is writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Busy {
    /// The file with this index.
    File(u32),
    /// The metadata.
    Metadata,
}

impl PassResult {
    /// Whether there is more to write (`more_io`).
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.is_full || self.busy.is_some()
    }
}

/// What is known about a task.
#[derive(Clone, Copy, Debug, Default)]
struct PerTask {
    dirtied: Part,
    /// Pages whose writing it has started.
    started: u64,
    /// Its writing stopped because the queue was congested.
    stopped: bool,
    last_pass: PassResult,
}

/// The state of writeback on one machine.
#[derive(Clone, Debug)]
pub struct Writeback {
    /// Dirty pages over time.
    pub dirty: Series,
    /// Pages under writeback over time.
    pub under_writeback: Series,
    /// Sleeps because of dirty pages.
    pub waits: Waits,
    /// The device is over its limit, as far as writers have noticed (`dirty_exceeded`).
    pub is_exceeded: bool,
    /// What the flusher is to do, oldest first.
    pub items: VecDeque<WorkItem>,
    /// The flusher is at work.
    pub flusher_runs: bool,
    /// When the flusher last looked for old data, in ticks.
    pub last_old_jiffies: u64,
    /// The pool of older kernels.
    pub pdflush: Pdflush,
    /// A task is writing the metadata.
    pub metadata_busy: bool,
    /// Where writing the metadata goes on, a sector.
    pub metadata_index: u64,
    ratelimit_pages: u32,
    /// Pages dirtied since the last look, by CPU.
    since_look: Vec<u32>,
    /// What the device has written, of all that was.
    written: (Whole, Part),
    /// What tasks have dirtied.
    dirtied: Whole,
    tasks: Vec<PerTask>,
}

impl Writeback {
    /// A machine with these thresholds, so much memory, `cpus` CPUs and `tasks` tasks, at `now_jiffies`; `bucket_ns` is the
    /// width of the series' buckets.
    #[must_use]
    pub fn new(
        limits: DirtyLimits,
        memory_pages: u64,
        (cpus, tasks): (usize, usize),
        (now_jiffies, hz): (u64, u64),
        bucket_ns: u64,
    ) -> Self {
        let whole = Whole::new(limits.dirty_pages);
        Self {
            dirty: Series::new(bucket_ns, BUCKETS),
            under_writeback: Series::new(bucket_ns, BUCKETS),
            waits: Waits::default(),
            is_exceeded: false,
            items: VecDeque::new(),
            flusher_runs: false,
            last_old_jiffies: now_jiffies,
            pdflush: Pdflush::new(now_jiffies, hz),
            metadata_busy: false,
            metadata_index: 0,
            ratelimit_pages: ratelimit_pages(memory_pages, cpus as u64),
            since_look: vec![0; cpus],
            written: (whole, Part::default()),
            dirtied: whole,
            tasks: vec![PerTask::default(); tasks],
        }
    }

    /// The most pages a writer may dirty before it looks.
    #[must_use]
    pub fn ratelimit(&self) -> u32 {
        ratelimit_now(self.ratelimit_pages, self.is_exceeded)
    }

    /// A task on `cpu` has made `fresh` clean pages dirty, of `touched` that it wrote to. If it has to look whether that is too
    /// much: how many pages it then writes itself at most.
    pub fn dirtied(
        &mut self,
        task: usize,
        cpu: usize,
        (fresh, touched): (u32, u32),
        policy: &WritebackPolicy,
    ) -> Option<u32> {
        self.dirtied.add(&mut self.tasks[task].dirtied, fresh.into());
        self.since_look[cpu] += touched;
        let since_look = self.since_look[cpu];
        if since_look < self.ratelimit() {
            return None;
        }
        self.since_look[cpu] = 0;
        Some(write_chunk_pages(self.ratelimit_pages, since_look, policy))
    }

    /// Pages have been written by the device.
    pub fn wrote(&mut self, pages: u64) {
        let (whole, part) = &mut self.written;
        whole.add(part, pages);
    }

    /// How many pages the device may have dirty or under writeback while `task` writes; `used_pages` are.
    #[must_use]
    pub fn device_pages(&self, limits: &DirtyLimits, task: usize, used_pages: u64) -> u64 {
        let device = self.written.0.share(&self.written.1);
        let task = self.dirtied.share(&self.tasks[task].dirtied);
        limits.device_pages(device, task, [used_pages, used_pages])
    }

    /// Whether background writeback counts as going on.
    #[must_use]
    pub fn is_in_progress(&self, rule: WritebackInProgress) -> bool {
        match rule {
            WritebackInProgress::DeviceTaken => self.pdflush.has_device(),
            WritebackInProgress::ItemWaits => !self.items.is_empty(),
            WritebackInProgress::FlusherRuns => self.flusher_runs,
        }
    }

    /// A task has started writing pages.
    pub fn started(&mut self, task: usize, pages: u32) {
        self.tasks[task].started += u64::from(pages);
    }

    /// Pages whose writing a task has started.
    #[must_use]
    pub fn started_by(&self, task: usize) -> u64 {
        self.tasks[task].started
    }

    /// A task's writing has stopped because the queue was congested, or begins anew.
    pub fn set_stopped(&mut self, task: usize, stopped: bool) {
        self.tasks[task].stopped = stopped;
    }

    /// Whether the task's writing stopped because the queue was congested.
    #[must_use]
    pub fn has_stopped(&self, task: usize) -> bool {
        self.tasks[task].stopped
    }

    /// What a task's last pass came to.
    #[must_use]
    pub fn last_pass(&self, task: usize) -> PassResult {
        self.tasks[task].last_pass
    }

    /// A task's pass is over.
    pub fn pass_over(&mut self, task: usize, result: PassResult) {
        self.tasks[task].last_pass = result;
    }
}
