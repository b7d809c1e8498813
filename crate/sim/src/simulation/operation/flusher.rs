//! The flusher thread of a device: does its work items, and writes back what has been dirty for long.
//!
//! *Models:* work items in order; a look every 5 s after the last one for data older than 30 s, bounded by what is dirty then;
//! background writeback until fewer than the threshold are dirty; passes of 4 MiB, waiting for a file that another task writes
//! when nothing else is left.
//! *Does not model:* the thread's end after five minutes without work, laptop mode, work that somebody waits for (sync).
//! *Follows:* docs/model/reclaim.md, section 6.3; Linux 2.6.32 to 2.6.38 `wb_do_writeback`, `wb_writeback`,
//! `wb_check_old_data_flush`, `bdi_writeback_task`.

use super::{Frame, Outcome, WritebackPass};
use crate::fs::FileId;
use crate::simulation::world::{Event, World};
use crate::task::{TaskId, WaitOn};
use crate::writeback::{self, Busy, Job, WorkItem, WorkReason};

/// The flusher's main loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flusher {
    phase: FlusherPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FlusherPhase {
    /// Nothing has been asked for yet.
    Start,
    Look,
    Sleep,
    Work(WorkItem),
    /// A pass for it has ended.
    Passed(WorkItem),
}

impl Flusher {
    pub(crate) fn new() -> Self {
        Self { phase: FlusherPhase::Start }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Outcome {
        match self.phase {
            FlusherPhase::Start => {
                self.phase = FlusherPhase::Look;
                Outcome::Wait(WaitOn::Work)
            }
            FlusherPhase::Look => {
                let work = world.flusher_work();
                world.writeback.flusher_runs = work.is_some();
                self.phase = work.map_or(FlusherPhase::Sleep, FlusherPhase::Work);
                Outcome::Continue
            }
            FlusherPhase::Sleep => {
                self.phase = FlusherPhase::Look;
                world.schedule_flusher_in(world.policy.writeback.interval_ms);
                Outcome::Wait(WaitOn::Work)
            }
            FlusherPhase::Work(item) => {
                let is_enough = item.reason == WorkReason::Background && !world.is_above_background();
                if item.pages == 0 || is_enough {
                    self.phase = FlusherPhase::Look;
                    return Outcome::Continue;
                }
                self.phase = FlusherPhase::Passed(item);
                let cutoff_ns = match item.reason {
                    WorkReason::Old { cutoff_ns } => cutoff_ns,
                    WorkReason::Background | WorkReason::Reclaim => u64::MAX,
                };
                let pages = world.policy.writeback.chunk_pages;
                world.call(Frame::WritebackPass(WritebackPass::blocking(cutoff_ns, pages)))
            }
            FlusherPhase::Passed(item) => self.passed(world, me, item),
        }
    }

    fn passed(&mut self, world: &mut World, me: TaskId, mut item: WorkItem) -> Outcome {
        let pass = world.writeback.last_pass(me.index());
        item.pages = item.pages.saturating_sub(pass.written_pages.into());
        self.phase = FlusherPhase::Work(item);
        if !pass.has_more() {
            self.phase = FlusherPhase::Look;
        } else if pass.written_pages == 0
            && let Some(busy) = pass.busy
        {
            return world.wait_until_free(busy);
        }
        Outcome::Continue
    }
}

impl World {
    /// What the flusher is to do next: what somebody has asked for, what is old, what is too much.
    fn flusher_work(&mut self) -> Option<WorkItem> {
        if let Some(item) = self.writeback.items.pop_front() {
            return Some(item);
        }
        let now_jiffies = self.clock.jiffies(self.now_ns);
        let policy = &self.policy.writeback;
        let interval = self.clock.jiffies_from_ms(policy.interval_ms, 1);
        if now_jiffies >= self.writeback.last_old_jiffies + interval {
            self.writeback.last_old_jiffies = now_jiffies;
            let pages = self.old_pages_most();
            if let Some(cutoff_ns) = writeback::old_before_ns(self.now_ns, policy).filter(|_| pages != 0) {
                return Some(WorkItem { reason: WorkReason::Old { cutoff_ns }, pages });
            }
        }
        let is_background = self.policy.writeback.looks_for_background && self.is_above_background();
        is_background.then_some(WorkItem { reason: WorkReason::Background, pages: u64::MAX })
    }

    /// Writing what is old ends after so many pages: as many as are dirty now, and one for each file.
    pub(crate) fn old_pages_most(&self) -> u64 {
        self.nr_dirty() + self.files.len() as u64
    }

    /// Waits for the task that is writing something.
    fn wait_until_free(&self, busy: Busy) -> Outcome {
        let (is_busy, on) = match busy {
            Busy::File(file) => (self.files.get(FileId(file)).is_written_back, Some(FileId(file))),
            Busy::Metadata => (self.writeback.metadata_busy, None),
        };
        if is_busy { Outcome::Wait(WaitOn::BusyFile(on)) } else { Outcome::Continue }
    }

    /// Somebody has to look for old data again after so many milliseconds; an earlier appointment is off.
    pub(crate) fn schedule_flusher_in(&mut self, ms: u64) {
        let interval = self.clock.jiffies_from_ms(ms, 1);
        let due_ns = self.clock.timer_ns(self.now_ns, interval);
        self.flusher_appointment = self.flusher_appointment.wrapping_add(1);
        self.schedule(due_ns, Event::Flusher { appointment: self.flusher_appointment });
    }

    /// The time for that has come.
    pub(crate) fn flusher_due(&mut self) {
        if self.policy.writeback.per_device_flusher {
            self.wake_thread(self.threads.flusher);
        } else if !self.start_pdflush(Job::Kupdate) {
            self.schedule_flusher_in(1000);
        }
    }

    /// Starts background writeback.
    pub(crate) fn start_background(&mut self) {
        if self.policy.writeback.per_device_flusher {
            self.ask_flusher(WorkItem { reason: WorkReason::Background, pages: u64::MAX });
        } else {
            self.start_pdflush(Job::Background { least_pages: 0 });
        }
    }

    /// Somebody wants memory, and so many pages written (`wakeup_pdflush`, `wakeup_flusher_threads`).
    pub(crate) fn wake_flushers(&mut self, pages: u64) {
        if !self.policy.writeback.per_device_flusher {
            self.start_pdflush(Job::Background { least_pages: pages });
        } else if self.nr_dirty() != 0 {
            self.ask_flusher(WorkItem { reason: WorkReason::Reclaim, pages });
        }
    }

    fn ask_flusher(&mut self, item: WorkItem) {
        self.writeback.items.push_back(item);
        self.wake_thread(self.threads.flusher);
    }
}
