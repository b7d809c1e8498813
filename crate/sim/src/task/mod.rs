//! Tasks: processes and kernel threads, the CPUs they run on, what each waits for and why.

mod scheduler;
mod wait;

pub use scheduler::{Placement, Scheduler};
pub use wait::{Wait, WaitOn};

use crate::block::Submitter;
use crate::engine::RandomStream;
use crate::observe::CauseTotals;
use serde::{Deserialize, Serialize};

/// Index of a task; its pid in traces is this plus [`FIRST_PID`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TaskId(pub u32);

/// The pid that the task with index 0 shows in traces.
pub const FIRST_PID: u32 = 100;

impl TaskId {
    /// The task as an index of arrays.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TaskKind {
    /// Runs a program of the workload.
    Process,
    /// Runs the request queue for interrupts and timers (`kblockd`).
    Kblockd,
    /// Commits transactions (`kjournald`, `jbd2`).
    Journal,
    /// Writes old data back (`flush`, `pdflush`).
    Flusher,
    /// Reclaims memory in the background (`kswapd`).
    Kswapd,
}

/// What a task is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskState {
    /// Has a CPU.
    Running,
    /// Wants a CPU.
    Runnable,
    /// Waits; [`Task::wait`] says for what.
    Blocked,
    /// Has ended.
    Exited,
}

/// One task.
#[derive(Clone, Debug)]
pub struct Task {
    /// Name, as `ps` shows it; several processes of one kind carry a number.
    pub name: String,
    /// What it is.
    pub kind: TaskKind,
    /// How the block layer knows it: io context and I/O priority.
    pub submitter: Submitter,
    /// What it is doing.
    pub state: TaskState,
    /// What it waits for, while [`TaskState::Blocked`].
    pub wait: Option<Wait>,
    /// It has slept for a free request: its next bio is a second attempt.
    pub resumed: bool,
    /// Where its time went, up to [`Task::charged_until_ns`].
    pub causes: CauseTotals,
    /// The journal thread's totals up to which a wait for that thread has been charged.
    pub journal_before: CauseTotals,
    /// Until when its time has been charged, in nanoseconds.
    pub charged_until_ns: u64,
    /// CPU time that its present step still needs, in nanoseconds.
    pub cpu_left_ns: u64,
    /// Steps since simulated time last moved for it: a loop that costs nothing must not hang the run.
    pub free_steps: u32,
    /// When it last took a free step, in nanoseconds.
    pub free_since_ns: u64,
    /// The dice of its CPU costs.
    pub dice: RandomStream,
    /// Direct I/O of its own in flight, in bios.
    pub direct_in_flight: u32,
    waits: u32,
}

impl Task {
    /// A task that wants a CPU at time 0.
    #[must_use]
    pub fn new(name: String, kind: TaskKind, submitter: Submitter, seed: u64) -> Self {
        let dice = RandomStream::new(seed, &format!("cpu costs of {name}"));
        Self {
            name,
            kind,
            submitter,
            state: TaskState::Runnable,
            wait: None,
            resumed: false,
            causes: CauseTotals::default(),
            journal_before: CauseTotals::default(),
            charged_until_ns: 0,
            cpu_left_ns: 0,
            free_steps: 0,
            free_since_ns: 0,
            dice,
            direct_in_flight: 0,
            waits: 0,
        }
    }

    /// The number that its next wait will have.
    #[must_use]
    pub fn upcoming_wait_number(&self) -> u32 {
        self.waits.wrapping_add(1)
    }

    /// A number for its next wait.
    pub fn next_wait_number(&mut self) -> u32 {
        self.waits = self.waits.wrapping_add(1);
        self.waits
    }

    /// The pid that traces show.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.submitter.task + FIRST_PID
    }
}
