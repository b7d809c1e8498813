//! A running simulation: the machine's whole state, and the one loop that moves it from event to event.
//!
//! *Models:* tasks that run until they block, interrupts, timers; one event queue ordered by time and
//! then by order of arrival; the device's interrupts come before anything else at the same moment.
//! *Does not model:* a CPU's time lost to interrupts except for the task it interrupts, and interrupts
//! on any CPU but the first.
//! *Follows:* ARCHITECTURE.md, rules 1, 4, 6 and 7.

mod anonymous;
mod charge;
mod cpu;
mod io;
mod memory;
#[cfg(test)]
mod memory_tests;
mod oom;
mod operation;
#[cfg(test)]
mod pages_tests;
mod process;
mod reclaim_meter;
mod resident;
mod setup;
#[cfg(test)]
mod tests;
mod world;
mod writeback;
#[cfg(test)]
mod writeback_tests;

pub use process::{MarkTotals, ProcessTotals};
pub use reclaim_meter::{DirectSleep, DirectSleeps, KswapdDoing, Watched};
pub use setup::NotStarted;
pub use world::{MachineCounters, World};

use crate::scenario::Scenario;
use crate::task::{TaskId, TaskKind, TaskState};

/// How far [`Simulation::advance`] may go before it reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    events: u64,
    until_ns: u64,
}

impl Budget {
    /// At most `events` events.
    #[must_use]
    pub fn events(events: u64) -> Self {
        Self { events: events.max(1), until_ns: u64::MAX }
    }

    /// Up to the simulated time `until_ns`, in nanoseconds.
    #[must_use]
    pub fn until(until_ns: u64) -> Self {
        Self { events: u64::MAX, until_ns }
    }

    /// And no further than the simulated time `until_ns`, in nanoseconds.
    #[must_use]
    pub fn and_until(self, until_ns: u64) -> Self {
        Self { until_ns: self.until_ns.min(until_ns), ..self }
    }
}

/// What [`Simulation::advance`] has to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Advance {
    /// The budget is used up, the run goes on.
    More(Progress),
    /// The run has ended.
    Finished(End),
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Simulated time, in nanoseconds.
    pub now_ns: u64,
    /// Where it ends at the latest, in nanoseconds.
    pub limit_ns: u64,
    /// Events so far.
    pub events: u64,
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// The scenario's time is up.
    TimeUp,
    /// Every process has exited.
    AllExited,
    /// The scenario's limit of events is reached: what was measured covers less time than asked for.
    EventLimit,
    /// A request for memory could only be met by killing somebody, and there was nobody to kill: who asked, and how memory stood.
    OutOfMemory(BlockedTask),
    /// Processes wait, and nothing can ever wake them.
    Deadlock(Vec<BlockedTask>),
}

/// A task that waits for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedTask {
    /// Its name.
    pub task: String,
    /// What it waits for, in words.
    pub waits_for: String,
}

/// One run of one scenario. Cloning it is a checkpoint: the clone goes on exactly as the original.
#[derive(Clone, Debug)]
pub struct Simulation {
    world: World,
    end: Option<End>,
}

impl Simulation {
    /// A run at its beginning.
    ///
    /// # Errors
    ///
    /// When the scenario names a release, patch, elevator or device that does not exist, or values that
    /// make no sense; a validated scenario gives none.
    pub fn new(scenario: &Scenario) -> Result<Self, NotStarted> {
        Ok(Self { world: setup::world(scenario)?, end: None })
    }

    /// The machine's state: tasks, totals, queue, trace.
    #[must_use]
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Keeps up to `limit` trace entries from now on; 0 keeps none. What happens does not change.
    pub fn set_trace_limit(&mut self, limit: usize) {
        self.world.recorder.set_limit(limit);
    }

    /// Takes the trace entries out.
    pub fn take_trace(&mut self) -> Vec<crate::observe::TraceEvent> {
        self.world.recorder.take()
    }

    /// The machine's state as it would be if the run ended now: every task's time is charged, every series complete.
    #[must_use]
    pub fn settled(&self) -> World {
        let mut world = self.world.clone();
        world.charge_all();
        world.read_reclaim();
        world
    }

    /// Why the run has ended, once it has.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// How far the run has come.
    #[must_use]
    pub fn progress(&self) -> Progress {
        Progress {
            now_ns: self.world.now_ns(),
            limit_ns: self.world.limits.time_ns,
            events: self.world.counters().events,
        }
    }

    /// Goes on until the budget is used up or the run ends. The outcome of a run does not depend on how
    /// it is cut into budgets.
    pub fn advance(&mut self, budget: Budget) -> Advance {
        if let Some(end) = &self.end {
            return Advance::Finished(end.clone());
        }
        let stop_at = self.world.counters().events.saturating_add(budget.events);
        self.world.pause_ns = budget.until_ns;
        loop {
            let events = self.world.counters().events;
            if events >= self.world.limits.events {
                return self.finish(End::EventLimit);
            }
            if events >= stop_at {
                return Advance::More(self.progress());
            }
            if self.world.run_ready_cpu() {
                if let Some(asker) = self.world.out_of_memory() {
                    return self.finish(End::OutOfMemory(asker));
                }
                if let Some(hopeless) = self.world.take_hopeless() {
                    return self.finish(End::Deadlock(hopeless));
                }
                continue;
            }
            if self.world.processes_left() == 0 {
                return self.finish(End::AllExited);
            }
            if self.world.is_deadlocked() {
                return self.finish(End::Deadlock(self.blocked()));
            }
            match self.world.next_event_ns() {
                Some(next_ns) if next_ns < self.world.limits.time_ns => {
                    if next_ns > budget.until_ns {
                        return Advance::More(self.progress());
                    }
                    self.world.handle_next_event();
                }
                _ => {
                    self.world.set_now(self.world.limits.time_ns);
                    return self.finish(End::TimeUp);
                }
            }
        }
    }

    fn finish(&mut self, end: End) -> Advance {
        self.world.charge_all();
        self.end = Some(end.clone());
        Advance::Finished(end)
    }

    fn blocked(&self) -> Vec<BlockedTask> {
        self.world
            .tasks()
            .iter()
            .filter(|task| task.kind == TaskKind::Process && task.state == TaskState::Blocked)
            .map(|task| BlockedTask {
                task: task.name.clone(),
                waits_for: task.wait.as_ref().map_or_else(String::new, |wait| self.world.explain(wait.on)),
            })
            .collect()
    }
}

/// The task on whose behalf the queue is called; `u32::MAX` is an interrupt.
fn by(task: Option<TaskId>) -> u32 {
    task.map_or(u32::MAX, |task| task.0)
}
