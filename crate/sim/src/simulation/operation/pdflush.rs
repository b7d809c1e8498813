//! The threads of the pdflush pool: background writeback and writing what is old.
//!
//! *Models:* passes of 4 MiB that end at congestion, the nap of a tenth of a second that follows, the end of each job; one thread
//! at a time on the device.
//! *Does not model:* laptop mode.
//! *Follows:* docs/model/reclaim.md, section 6.2; Linux 2.6.31, `mm/page-writeback.c`, `background_writeout`, `wb_kupdate`.

use super::{Frame, Outcome, WritebackPass};
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};
use crate::writeback::{self, Job, WaitSite};

/// A thread of the pool.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PdflushThread {
    thread: usize,
    phase: Phase,
}

/// A job in progress.
#[derive(Clone, Copy, Debug)]
struct Progress {
    job: Job,
    began_jiffies: u64,
    cutoff_ns: u64,
    /// Pages that it still writes: at least in the background, at most of what is old.
    pages: u64,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Idle,
    Write(Progress),
    Passed(Progress),
    /// It has napped since this time, while a device was congested or not.
    Napped(Progress, u64, bool),
    End(Progress),
}

impl PdflushThread {
    pub(crate) fn new(thread: usize) -> Self {
        Self { thread, phase: Phase::Idle }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Outcome {
        match self.phase {
            Phase::Idle => self.take_job(world),
            Phase::Write(progress) => self.write(world, progress),
            Phase::Passed(progress) => self.passed(world, me, progress),
            Phase::Napped(progress, began_ns, necessary) => {
                let site = match progress.job {
                    Job::Background { .. } => WaitSite::Background,
                    Job::Kupdate => WaitSite::Kupdate,
                };
                world.writeback.waits.record(site, necessary, world.now_ns - began_ns);
                self.phase = Phase::Write(progress);
                Outcome::Continue
            }
            Phase::End(progress) => self.end(world, progress),
        }
    }

    fn take_job(&mut self, world: &World) -> Outcome {
        let Some(job) = world.writeback.pdflush.job(self.thread) else {
            return Outcome::Wait(WaitOn::Work);
        };
        let began_jiffies = world.clock.jiffies(world.now_ns);
        self.phase = match job {
            Job::Background { least_pages } => {
                Phase::Write(Progress { job, began_jiffies, cutoff_ns: u64::MAX, pages: least_pages })
            }
            Job::Kupdate => {
                let pages = world.old_pages_most();
                let old_ns = writeback::old_before_ns(world.now_ns, &world.policy.writeback);
                let progress = Progress { job, began_jiffies, cutoff_ns: old_ns.unwrap_or(0), pages };
                if old_ns.is_some() { Phase::Write(progress) } else { Phase::End(progress) }
            }
        };
        Outcome::Continue
    }

    fn write(&mut self, world: &mut World, progress: Progress) -> Outcome {
        let is_done = match progress.job {
            Job::Background { .. } => progress.pages == 0 && !world.is_above_background(),
            Job::Kupdate => progress.pages == 0,
        };
        if is_done {
            self.phase = Phase::End(progress);
            return Outcome::Continue;
        }
        self.phase = Phase::Passed(progress);
        let pages = world.policy.writeback.chunk_pages;
        world.call(Frame::WritebackPass(WritebackPass::pdflush(progress.cutoff_ns, pages, self.thread)))
    }

    fn passed(&mut self, world: &mut World, me: TaskId, mut progress: Progress) -> Outcome {
        let pass = world.writeback.last_pass(me.index());
        progress.pages = progress.pages.saturating_sub(pass.written_pages.into());
        if pass.is_full {
            self.phase = Phase::Write(progress);
        } else if pass.congested || pass.has_more() {
            let queue = world.policy.writeback.pdflush_nap;
            self.phase = Phase::Napped(progress, world.now_ns, world.is_congested(queue));
            return world.begin_nap(me, queue, world.tenth_jiffies());
        } else {
            self.phase = Phase::End(progress);
        }
        Outcome::Continue
    }

    /// The job is done. Writing what is old makes its next appointment: an interval after its beginning, at least a second from
    /// now.
    fn end(&mut self, world: &mut World, progress: Progress) -> Outcome {
        let now_jiffies = world.clock.jiffies(world.now_ns);
        if progress.job == Job::Kupdate {
            let interval_ms = world.policy.writeback.interval_ms;
            let passed_ms = (now_jiffies - progress.began_jiffies) * 1000 / world.clock.hz();
            world.schedule_flusher_in(interval_ms.saturating_sub(passed_ms).max(1000));
        }
        world.writeback.pdflush.finished(self.thread, now_jiffies);
        self.phase = Phase::Idle;
        Outcome::Continue
    }
}

impl World {
    /// Gives the pool a job; false if no thread is idle.
    pub(crate) fn start_pdflush(&mut self, job: Job) -> bool {
        let now_jiffies = self.clock.jiffies(self.now_ns);
        let Some(thread) = self.writeback.pdflush.start(job, now_jiffies) else { return false };
        let other = thread.checked_sub(1).map(|other| TaskId(self.threads.pool.start + other as u32));
        self.wake_thread(other.unwrap_or(self.threads.flusher));
        true
    }
}
