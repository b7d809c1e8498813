//! kswapd's thread.
//!
//! *Models:* one batch of reclaim a step, its naps and its two sleeps.
//! *Does not model:* a thread for each node: the machine has one.
//! *Follows:* docs/model/reclaim.md, sections 3.1 to 3.5.

use super::Outcome;
use crate::mm::{Nap, Step};
use crate::simulation::KswapdDoing;
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};

/// kswapd: reclaims when it is woken, until every zone is balanced.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KswapdThread {
    phase: Phase,
}

#[derive(Clone, Copy, Debug, Default)]
enum Phase {
    /// It sleeps until it is woken for the first time.
    #[default]
    Start,
    Work,
    Nap(Nap),
    Napping(Nap, u64),
    /// About to sleep for so many ticks at most, or for good.
    Sleep(Option<u64>),
    /// In its short sleep, which ends at this time.
    Dozing(u64),
}

impl KswapdThread {
    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let now_ns = world.now_ns;
        if let Some(memory) = &mut world.memory {
            memory.meter.kswapd_was(now_ns);
        }
        let outcome = self.go_on(world, me);
        if let Some(memory) = &mut world.memory {
            memory.meter.kswapd_does(KswapdDoing::after(&outcome, memory.kswapd.state()));
        }
        outcome
    }

    fn go_on(&mut self, world: &mut World, me: TaskId) -> Outcome {
        if let Some(outcome) = world.submit_page_out(me) {
            return outcome;
        }
        match self.phase {
            Phase::Start => {
                self.phase = Phase::Work;
                Outcome::Wait(WaitOn::Work)
            }
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
                self.phase = Phase::Work;
                Outcome::Continue
            }
            Phase::Sleep(limit) => self.sleep(world, me, limit),
            Phase::Dozing(end_ns) => {
                let tick_ns = world.clock.tick_ns();
                let left_jiffies = end_ns.saturating_sub(world.now_ns).div_ceil(tick_ns);
                if let Some(memory) = &mut world.memory {
                    memory.kswapd.woken(left_jiffies);
                }
                self.phase = Phase::Work;
                Outcome::Continue
            }
        }
    }

    /// Goes to sleep, unless somebody has asked for it since it decided to.
    fn sleep(&mut self, world: &mut World, me: TaskId, limit: Option<u64>) -> Outcome {
        let is_wanted = world.memory().is_some_and(|memory| !memory.kswapd_queue().is_waiting);
        match limit {
            Some(jiffies) => {
                let end_ns = world.clock.timer_ns(world.now_ns, jiffies);
                self.phase = Phase::Dozing(end_ns);
                if is_wanted { Outcome::Continue } else { world.wait_at_most(me, WaitOn::Doze, jiffies) }
            }
            None => {
                self.phase = Phase::Work;
                if is_wanted { Outcome::Continue } else { Outcome::Wait(WaitOn::Work) }
            }
        }
    }

    fn work(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let cpu = world.scheduler.cpu_of(me).unwrap_or(0);
        let Some(memory) = &mut world.memory else { return Outcome::Wait(WaitOn::Work) };
        memory.kswapd.set_cpu(cpu);
        let step = memory.kswapd.step(&mut memory.memory);
        let work = memory.memory.take_work();
        world.follow_up_memory(me);
        let cost_ns = world.reclaim_cost_ns(me, &work);
        self.phase = match step {
            Step::Nap(nap) => Phase::Nap(nap),
            Step::Sleep(limit) => Phase::Sleep(limit),
            _ => Phase::Work,
        };
        Outcome::Cpu(cost_ns)
    }
}
