//! Holding up a writer that makes pages dirty faster than the device cleans them.
//!
//! *Models:* the two tests, the writer's own writing, the sleep that follows, and who starts background writeback, up to the
//! kernels in which writers no longer write themselves.
//! *Does not model:* 3.2; that 2.6.36 no longer cuts a device's part to the room that is left.
//! *Follows:* docs/model/reclaim.md, section 6.4; Linux 2.6.31 and 2.6.32, `mm/page-writeback.c`, `balance_dirty_pages`; 2.6.36, the
//! same, from memory.

use super::{Frame, Outcome, WritebackPass};
use crate::kernel::ThrottleSleep;
use crate::mm::NapQueue;
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};
use crate::writeback::WaitSite;

/// A writer's look at how much is dirty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Throttle {
    /// How much it writes itself before it may go on anyway.
    chunk_pages: u32,
    written_pages: u32,
    /// How long it sleeps next, where sleeps double.
    pause_jiffies: u64,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Look,
    /// It has written something itself.
    Wrote,
    LookAgain,
    /// It has slept since this time, while a device was congested or not.
    Slept(u64, bool),
}

impl Throttle {
    pub(crate) fn new(chunk_pages: u32) -> Self {
        Self { chunk_pages, written_pages: 0, pause_jiffies: 1, phase: Phase::Look }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Outcome {
        match self.phase {
            Phase::Look => self.look(world, me),
            Phase::Wrote => {
                self.written_pages += world.writeback.last_pass(me.index()).written_pages;
                if world.policy.writeback.throttles_by_all {
                    return self.sleep_or_leave(world, me);
                }
                self.phase = Phase::LookAgain;
                Outcome::Continue
            }
            Phase::LookAgain => {
                let is_below = world.used_pages() <= world.device_pages(me);
                if is_below || self.written_pages >= self.chunk_pages {
                    return Self::leave(world, me);
                }
                self.sleep(world, me)
            }
            Phase::Slept(began_ns, necessary) => {
                world.writeback.waits.record(WaitSite::Throttle, necessary, world.now_ns - began_ns);
                self.phase = Phase::Look;
                Outcome::Continue
            }
        }
    }

    /// From 2.6.36 on a writer that has done its duty goes on, however much is dirty.
    fn sleep_or_leave(&mut self, world: &mut World, me: TaskId) -> Outcome {
        if self.written_pages >= self.chunk_pages { Self::leave(world, me) } else { self.sleep(world, me) }
    }

    /// The look of 2.6.36: at the background threshold first, then at both limits.
    fn look_at_all(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let (used_pages, device_pages) = (world.used_pages(), world.device_pages(me));
        let limits = world.dirty_limits();
        if used_pages <= limits.free_run_pages()
            || (used_pages < device_pages && used_pages < limits.dirty_pages)
        {
            return Self::leave(world, me);
        }
        world.writeback.is_exceeded = true;
        if world.nr_dirty() <= device_pages {
            return self.sleep(world, me);
        }
        self.phase = Phase::Wrote;
        world.call(Frame::WritebackPass(WritebackPass::blocking(u64::MAX, self.chunk_pages)))
    }

    fn look(&mut self, world: &mut World, me: TaskId) -> Outcome {
        if world.policy.writeback.throttles_by_all {
            return self.look_at_all(world, me);
        }
        let used_pages = world.used_pages();
        let device_pages = world.device_pages(me);
        if used_pages <= device_pages || used_pages < world.dirty_limits().free_run_pages() {
            return Self::leave(world, me);
        }
        world.writeback.is_exceeded = true;
        if world.nr_dirty() <= device_pages {
            self.phase = Phase::LookAgain;
            return Outcome::Continue;
        }
        self.phase = Phase::Wrote;
        world.call(Frame::WritebackPass(WritebackPass::blocking(u64::MAX, self.chunk_pages)))
    }

    fn sleep(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let (queue, jiffies) = match world.policy.writeback.throttle_sleep {
            ThrottleSleep::Congestion(queue) => (Some(queue), world.tenth_jiffies()),
            ThrottleSleep::Doubling => {
                let pause = self.pause_jiffies;
                self.pause_jiffies = (pause * 2).min(world.tenth_jiffies());
                (None, pause)
            }
        };
        let necessary = world.is_congested(queue.unwrap_or(NapQueue::Async));
        self.phase = Phase::Slept(world.now_ns, necessary);
        world.wait_at_most(me, WaitOn::Throttle(queue), jiffies)
    }

    /// The writer goes on. If much is dirty, others write it meanwhile.
    fn leave(world: &mut World, me: TaskId) -> Outcome {
        if world.used_pages() < world.device_pages(me) {
            world.writeback.is_exceeded = false;
        }
        let rule = world.policy.writeback.in_progress;
        if !world.writeback.is_in_progress(rule) && world.nr_dirty() > world.dirty_limits().background_pages {
            world.start_background();
        }
        Outcome::Done
    }
}
