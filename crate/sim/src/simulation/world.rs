//! All state of a simulated machine.

use super::io::IoTable;
use super::memory::MachineMemory;
use super::operation::Frame;
use super::process::Process;
use crate::block::{BlockOut, BlockQueue};
use crate::engine::{Clock, EventQueue};
use crate::fs::{FileId, Files, Journal, Metadata, Tid};
use crate::kernel::FsPolicy;
use crate::observe::{Recorder, TraceKind};
use crate::scenario::{FileSystemOptions, HostCosts, Limits};
use crate::task::{Scheduler, Task, TaskId, TaskKind, TaskState, WaitOn};
use crate::workload::Program;
use crate::writeback::Writeback;
use std::collections::VecDeque;

/// What happens at a time, besides what the request queue and the device say themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The step of the task on a CPU is done.
    Cpu { cpu: u32, generation: u32 },
    /// The task on a CPU has used up its slice.
    Slice { cpu: u32, generation: u32 },
    /// A sleeping task wakes up from the wait with this number.
    Wake { task: TaskId, number: u32 },
    /// The running transaction is old enough to be committed.
    Journal { tid: Tid },
    /// Somebody looks for old data, unless another appointment has been made since.
    Flusher { appointment: u32 },
}

/// What a CPU is doing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CpuState {
    /// When the current step is done; `None` while the task can take its next step at once.
    pub(crate) step_end_ns: Option<u64>,
    /// Tells the current step's event from those of steps that were cut short.
    pub(crate) step_generation: u32,
    /// Tells slice events of different tasks apart.
    pub(crate) switch_generation: u32,
    /// An event for the end of the slice is pending.
    pub(crate) slice_event: bool,
    /// The current task has to make way.
    pub(crate) reschedule: bool,
}

/// The kernel threads' places among the tasks.
#[derive(Clone, Debug)]
pub(crate) struct KernelThreads {
    pub(crate) kblockd: TaskId,
    /// The flusher, or the first thread of the pdflush pool.
    pub(crate) flusher: TaskId,
    /// The other threads of the pool, behind the processes: they come and go.
    pub(crate) pool: std::ops::Range<u32>,
    pub(crate) journal: TaskId,
    /// Only on a machine whose memory is simulated.
    pub(crate) kswapd: Option<TaskId>,
}

/// What a machine counts about itself; the request queue has its own counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MachineCounters {
    /// Events: steps of tasks, interrupts and timers.
    pub events: u64,
    /// Times a CPU went from one task to another.
    pub context_switches: u64,
    /// Times the device or a timer of the request queue interrupted.
    pub interrupts: u64,
    /// Transactions committed.
    pub commits: u64,
    /// Log blocks written, descriptors included, commit records not.
    pub log_blocks: u64,
    /// Metadata blocks written in place to make room in the journal.
    pub checkpoint_blocks: u64,
    /// Metadata blocks written in place by writeback, whoever does it.
    pub flushed_metadata_blocks: u64,
    /// Data pages written by the flusher.
    pub flushed_pages: u64,
    /// Windows that readahead submitted.
    pub readahead_windows: u64,
    /// Pages that readers found up to date.
    pub page_hits: u64,
    /// Times a reader waited for a page.
    pub page_waits: u64,
    /// Handles granted although the log was full, because nothing could make room.
    pub journal_overcommits: u64,
}

/// A barrier of the workload.
#[derive(Clone, Debug, Default)]
pub(crate) struct MeetingPoint {
    /// Its name.
    pub(crate) name: String,
    /// How many processes use it.
    pub(crate) expected: u32,
    /// How many have come since it last opened.
    pub(crate) arrived: u32,
}

/// The whole machine.
#[derive(Clone, Debug)]
pub struct World {
    pub(crate) now_ns: u64,
    /// Up to where the present budget allows to go.
    pub(crate) pause_ns: u64,
    pub(crate) limits: Limits,
    pub(crate) clock: Clock,
    pub(crate) host: HostCosts,
    pub(crate) file_system: FileSystemOptions,
    pub(crate) policy: FsPolicy,
    /// `read_ahead_kb` in pages.
    pub(crate) readahead_pages: u32,
    pub(crate) tasks: Vec<Task>,
    /// What each task is in the middle of, innermost last.
    pub(crate) stacks: Vec<Vec<Frame>>,
    /// What the step in progress calls.
    pub(crate) called: Option<Frame>,
    pub(crate) scheduler: Scheduler,
    pub(crate) cpus: Vec<CpuState>,
    pub(crate) events: EventQueue<Event>,
    /// Events pending that come again and again whether or not anything is to be done.
    pub(crate) periodic_events: usize,
    pub(crate) queue: BlockQueue,
    pub(crate) block_out: BlockOut,
    /// The first sector of the swap area.
    pub(crate) swap_start: u64,
    /// Memory, where it is simulated.
    pub(crate) memory: Option<Box<MachineMemory>>,
    /// When the queue next has to be looked after.
    pub(crate) block_due_ns: Option<u64>,
    pub(crate) recorder: Recorder,
    pub(crate) ios: IoTable,
    pub(crate) files: Files,
    pub(crate) metadata: Metadata,
    pub(crate) journal: Journal,
    /// Blocked tasks, in the order in which they blocked.
    pub(crate) blocked: Vec<TaskId>,
    /// Tasks that wait for a free request, by direction, first come first.
    pub(crate) request_waiters: [VecDeque<TaskId>; 2],
    pub(crate) kblockd_kicked: bool,
    pub(crate) writeback: Writeback,
    /// The number of the appointment for looking for old data.
    pub(crate) flusher_appointment: u32,
    pub(crate) threads: KernelThreads,
    pub(crate) programs: Vec<Program>,
    /// Processes, by task index behind the first kernel threads.
    pub(crate) processes: Vec<Process>,
    pub(crate) processes_left: usize,
    /// Files of the workload, by their index there.
    pub(crate) workload_files: Vec<FileId>,
    pub(crate) meeting_points: Vec<MeetingPoint>,
    /// Tasks of each io context that have not ended.
    pub(crate) io_context_users: Vec<u32>,
    pub(crate) counters: MachineCounters,
}

impl World {
    /// Simulated time, in nanoseconds.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// Every task: kernel threads, then processes in the order of the scenario, then the threads of the pdflush pool that do not
    /// exist all the time. Their
    /// [`Task::causes`] are complete once the run has ended.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// What a process has done so far; `None` for kernel threads.
    #[must_use]
    pub fn process(&self, task: TaskId) -> Option<&super::ProcessTotals> {
        let index = task.index().checked_sub(self.first_process())?;
        self.processes.get(index).map(|process| &process.totals)
    }

    /// The index in the scenario of the process specification that a task runs; `None` for kernel
    /// threads.
    #[must_use]
    pub fn specification(&self, task: TaskId) -> Option<usize> {
        let index = task.index().checked_sub(self.first_process())?;
        self.processes.get(index).map(|process| process.program)
    }

    /// The request queue, with its counters, its elevator and its device.
    #[must_use]
    pub fn queue(&self) -> &BlockQueue {
        &self.queue
    }

    /// Where the run ends at the latest.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The machine's counters.
    #[must_use]
    pub fn counters(&self) -> MachineCounters {
        self.counters
    }

    /// The event trace.
    #[must_use]
    pub fn recorder(&self) -> &Recorder {
        &self.recorder
    }

    /// Converts between nanoseconds and jiffies.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The journal's state.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The files, those of the workload first.
    #[must_use]
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Metadata blocks.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    pub(crate) fn first_process(&self) -> usize {
        self.tasks.len() - self.processes.len() - self.threads.pool.len()
    }

    pub(crate) fn processes_left(&self) -> usize {
        self.processes_left
    }

    #[inline]
    pub(crate) fn set_now(&mut self, now_ns: u64) {
        debug_assert!(now_ns >= self.now_ns, "time goes forward");
        self.now_ns = now_ns;
    }

    /// The process that runs as a task; kernel threads have none.
    pub(crate) fn process_mut(&mut self, task: TaskId) -> Option<&mut Process> {
        let index = task.index().checked_sub(self.first_process())?;
        self.processes.get_mut(index)
    }

    /// Whether a process has to die.
    pub(crate) fn is_killed(&self, task: TaskId) -> bool {
        let index = task.index().checked_sub(self.first_process());
        index.and_then(|index| self.processes.get(index)).is_some_and(|process| process.killed)
    }

    /// What a wait is for, in words, names resolved.
    pub(crate) fn explain(&self, on: WaitOn) -> String {
        match on {
            WaitOn::Meet(barrier) => self.meeting_points.get(barrier as usize).map_or_else(
                || on.describe(),
                |point| {
                    format!(
                        "the other processes at \"{}\": {} of {} have come",
                        point.name, point.arrived, point.expected
                    )
                },
            ),
            other => other.describe(),
        }
    }

    /// Schedules an event.
    #[inline]
    pub(crate) fn schedule(&mut self, time_ns: u64, event: Event) {
        if matches!(event, Event::Flusher { .. }) {
            self.periodic_events += 1;
        }
        self.events.push(time_ns.max(self.now_ns), event);
    }

    /// When the next thing happens that no task causes by running on.
    #[inline]
    pub(crate) fn next_event_ns(&self) -> Option<u64> {
        let interrupt = self.block_due_ns.map(|due| (due + self.host.interrupt_ns).max(self.now_ns));
        match (self.events.next_time_ns(), interrupt) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Handles the next event; the queue's come before others of the same time.
    pub(crate) fn handle_next_event(&mut self) {
        let interrupt_ns = self.block_due_ns.map(|due| (due + self.host.interrupt_ns).max(self.now_ns));
        let event_ns = self.events.next_time_ns();
        match (interrupt_ns, event_ns) {
            (Some(interrupt), other) if other.is_none_or(|other| interrupt <= other) => {
                self.set_now(interrupt);
                self.counters.events += 1;
                self.interrupt();
            }
            _ => {
                let Some((time_ns, event)) = self.events.pop() else { return };
                self.set_now(time_ns);
                self.handle(event);
            }
        }
        self.check();
    }

    fn interrupt(&mut self) {
        self.counters.interrupts += 1;
        self.delay_interrupted_task();
        self.with_queue(None, |queue, now_ns, recorder, out| queue.advance(now_ns, recorder, out));
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Cpu { cpu, generation } => {
                self.step_done(cpu as usize, generation);
                return;
            }
            Event::Slice { cpu, generation } => self.slice_over(cpu as usize, generation),
            Event::Wake { task, number } => {
                let waits = self.tasks[task.index()].wait.as_ref().is_some_and(|wait| wait.number == number);
                if waits {
                    self.wake(task, None);
                }
            }
            Event::Journal { tid } => {
                if self.journal.running.as_ref().is_some_and(|running| running.tid == tid) {
                    self.journal.request_commit(tid);
                    self.wake_thread(self.threads.journal);
                }
            }
            Event::Flusher { appointment } => {
                self.periodic_events -= 1;
                if appointment == self.flusher_appointment {
                    self.flusher_due();
                }
            }
        }
        self.counters.events += 1;
    }

    /// Whether processes wait and nothing can wake them any more.
    pub(crate) fn is_deadlocked(&self) -> bool {
        self.block_due_ns.is_none()
            && self.events.len() == self.periodic_events
            && self.scheduler.waiting().is_empty()
            && (0..self.cpus.len()).all(|cpu| self.scheduler.current(cpu).is_none())
            && self.journal.running.is_none()
            && self.journal.committing.is_none()
            && self.files.dirty_pages() == 0
            && self.metadata.dirty() == 0
    }

    #[inline]
    pub(crate) fn record(&mut self, by: Option<TaskId>, kind: TraceKind) {
        self.recorder.set_context(self.now_ns, super::by(by));
        self.recorder.record(kind);
    }

    /// Laws that hold after every event, in debug builds.
    pub(crate) fn check(&self) {
        if !cfg!(debug_assertions) {
            return;
        }
        let mut running = 0;
        for (index, task) in self.tasks.iter().enumerate() {
            let id = TaskId(index as u32);
            running += usize::from(task.state == TaskState::Running);
            assert_eq!(
                task.state == TaskState::Running,
                self.scheduler.cpu_of(id).is_some(),
                "{}",
                task.name
            );
            assert_eq!(task.state == TaskState::Blocked, task.wait.is_some(), "{}", task.name);
            assert_eq!(task.causes.sum_ns(), task.charged_until_ns, "causes of {}", task.name);
        }
        assert!(running <= self.cpus.len());
        let blocked = self.tasks.iter().filter(|task| task.state == TaskState::Blocked).count();
        assert_eq!(blocked, self.blocked.len());
        let runnable = self.tasks.iter().filter(|task| task.state == TaskState::Runnable).count();
        assert_eq!(runnable, self.scheduler.waiting().len());
        assert!(self.ios.in_use() as u64 >= u64::from(self.queue.allocated()), "a request has lost its bios");
        self.check_pages();
        if let Some(memory) = &self.memory {
            memory.memory.check();
            self.check_frames();
        }
        let ended = self.tasks.iter().filter(|task| task.state == TaskState::Exited).count();
        assert_eq!(ended + self.processes_left, self.processes.len());
        debug_assert!(
            self.tasks
                .iter()
                .all(|task| { task.kind == TaskKind::Process || task.state != TaskState::Exited })
        );
    }
}
