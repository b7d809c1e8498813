//! A task's way through the allocator's slow path.
//!
//! *Models:* one batch of work a step, naps that end at a tick or when requests complete, waiting for a page's write.
//! *Does not model:* several tasks in the OOM killer at once.
//! *Follows:* docs/model/reclaim.md, sections 2.9 and 5.1.

use super::Outcome;
use crate::mm::{Allocation, FrameId, Nap, Request, Step};
use crate::simulation::DirectSleep;
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};

/// One request that could not be met at once. What it comes to is left with the memory, see `take_granted`.
#[derive(Clone, Debug)]
pub(crate) struct Allocate {
    allocation: Box<Allocation>,
    phase: Phase,
    /// Why and since when it sleeps.
    sleep: Option<(DirectSleep, u64)>,
}

#[derive(Clone, Debug)]
enum Phase {
    Work,
    /// The CPU time before the nap has passed.
    Nap(Nap),
    /// The nap began at this time.
    Napping(Nap, u64),
    WaitWritten(FrameId),
    /// Somebody has been killed; the task waits a tick for what that gives back.
    OutOfMemory,
    Finish(Option<FrameId>),
}

impl Allocate {
    pub(crate) fn new(world: &World, me: TaskId, request: Request) -> Self {
        let allocation = Box::new(Allocation::new(request, world.caller(me)));
        Self { allocation, phase: Phase::Work, sleep: None }
    }

    /// Whether it has found a page that it has yet to hand over.
    pub(crate) fn has_page(&self) -> bool {
        matches!(self.phase, Phase::Finish(Some(_)))
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Outcome {
        if let Some((cause, since_ns)) = self.sleep.take() {
            let slept_ns = world.now_ns - since_ns;
            if let Some(memory) = &mut world.memory {
                memory.meter.slept(cause, slept_ns);
            }
        }
        let outcome = self.go_on(world, me);
        if let Outcome::Wait(on) = &outcome {
            let cause = match (on, &self.phase) {
                (WaitOn::Congestion(_), Phase::Napping(nap, _)) => DirectSleep::nap(nap.site),
                (WaitOn::PageWritten(_), _) => DirectSleep::PageWritten,
                (WaitOn::Killed, _) => DirectSleep::Killed,
                _ => DirectSleep::FreeRequest,
            };
            self.sleep = Some((cause, world.now_ns));
        }
        outcome
    }

    fn go_on(&mut self, world: &mut World, me: TaskId) -> Outcome {
        if let Some(outcome) = world.submit_page_out(me) {
            return outcome;
        }
        match self.phase {
            Phase::Work => self.work(world, me),
            Phase::Nap(nap) => {
                self.phase = Phase::Napping(nap, world.now_ns);
                world.begin_nap(me, nap.queue, nap.jiffies)
            }
            Phase::Napping(nap, began_ns) => {
                let slept_ns = world.now_ns - began_ns;
                if let Some(memory) = &mut world.memory {
                    memory.napped(&nap, slept_ns);
                }
                world.look_for_hope(me);
                self.phase = Phase::Work;
                Outcome::Continue
            }
            Phase::WaitWritten(frame) => {
                let is_being_written = world.memory().is_some_and(|memory| memory.is_under_writeback(frame));
                if is_being_written {
                    world.unplug(me);
                    return Outcome::Wait(WaitOn::PageWritten(frame));
                }
                self.phase = Phase::Work;
                Outcome::Continue
            }
            Phase::OutOfMemory => {
                self.phase = Phase::Work;
                world.look_for_hope(me);
                world.wait_at_most(me, WaitOn::Killed, 1)
            }
            Phase::Finish(frame) => {
                if let Some(memory) = &mut world.memory {
                    memory.grant(me, frame);
                }
                Outcome::Done
            }
        }
    }

    fn work(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let is_killed = world.is_killed(me);
        let Some(memory) = &mut world.memory else { return Outcome::Done };
        memory.memory.set_now(world.now_ns);
        if is_killed {
            self.allocation.set_dying();
        }
        let step = self.allocation.step(&mut memory.memory);
        let work = memory.memory.take_work();
        world.follow_up_memory(me);
        let cost_ns = world.reclaim_cost_ns(me, &work);
        if let Some(memory) = &mut world.memory {
            memory.direct_reclaim_ns += cost_ns;
        }
        self.phase = match step {
            Step::Yield => {
                world.look_for_hope(me);
                Phase::Work
            }
            Step::Work => Phase::Work,
            Step::Nap(nap) => Phase::Nap(nap),
            Step::WaitWritten(frame) => Phase::WaitWritten(frame),
            Step::Done(frame) => Phase::Finish(frame),
            Step::Oom => {
                world.out_of_memory_for(me);
                if world.is_killed(me) { Phase::Work } else { Phase::OutOfMemory }
            }
            // Only kswapd sleeps so.
            Step::Sleep(_) => Phase::Work,
        };
        Outcome::Cpu(cost_ns)
    }
}
