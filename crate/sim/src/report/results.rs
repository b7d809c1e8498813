//! What a run, and an experiment of many runs, leave behind: plain data for the page, the command line and tests.
//!
//! Everything here travels as postcard between workers and as JSON between programs. Times are nanoseconds of
//! simulated time unless a name says otherwise.

use super::digest::Digest;
use super::histogram::PeriodHistogram;
use super::tables::{ClaimResult, TableResult};
use super::timelines::{Subject, Timeline, Turn};
use super::writeback::WritebackResult;
use crate::mm::NapSite;
use crate::observe::{CauseKind, HeldReason, SchedulerCounters, TaskTrace, TraceEvent};
use crate::simulation::DirectSleeps;
use serde::{Deserialize, Serialize};

/// Everything that is kept of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// What the kernel is called in tables: a column's label, or its name.
    pub kernel: String,
    /// The kernel's full name, such as `cfq@2.6.35+revert-8e55063:slice_idle=0`.
    pub kernel_name: String,
    /// The experiment's case, or the scenario's title; may be empty.
    pub case: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Timer ticks a second of the machine.
    pub hz: u32,
    /// Over completions and marks in order: equal digests mean the same run.
    pub digest: Digest,
    /// Simulated time that was covered.
    pub elapsed_ns: u64,
    /// Simulated time that was asked for.
    pub limit_ns: u64,
    /// Events of the simulation.
    pub events: u64,
    /// Why it ended.
    pub end: EndReason,
    /// Processes in the scenario's order, then the kernel threads.
    pub processes: Vec<ProcessResult>,
    /// The request queue and its device.
    pub queue: QueueResult,
    /// Memory, where it is simulated.
    pub memory: Option<MemoryResult>,
    /// Dirty pages.
    pub writeback: WritebackResult,
    /// Bounded series over the whole run.
    pub timelines: Vec<Timeline>,
    /// A window seen closely, if somebody asked for one.
    pub detail: Option<Detail>,
}

impl RunResult {
    /// The process or kernel thread of this name.
    #[must_use]
    pub fn process(&self, name: &str) -> Option<&ProcessResult> {
        self.processes.iter().find(|process| process.name == name)
    }

    /// The timelines that show something of this kind, in their order.
    pub fn timelines_of(&self, wanted: impl Fn(&Subject) -> bool) -> impl Iterator<Item = &Timeline> {
        self.timelines.iter().filter(move |timeline| wanted(&timeline.subject))
    }

    /// Whether the run covers the time it was asked for, so that its rates are what was wanted.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self.end, EndReason::TimeUp | EndReason::AllExited)
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum EndReason {
    /// The scenario's time is up.
    TimeUp,
    /// Every process has exited.
    AllExited,
    /// The scenario's limit of events is reached: less time is covered than was asked for.
    EventLimit,
    /// Somebody stopped it: less time is covered than was asked for.
    Cancelled,
    /// A request for memory could only be met by killing somebody: who asked, and for what, in words.
    OutOfMemory(String, String),
    /// Processes wait, and nothing can ever wake them: task and what it waits for, in words.
    Deadlock(Vec<(String, String)>),
}

impl EndReason {
    /// In words.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::TimeUp => "the scenario's time was up".to_owned(),
            Self::AllExited => "every process had ended".to_owned(),
            Self::EventLimit => "the limit of events was reached before the time was up".to_owned(),
            Self::Cancelled => "it was stopped before the time was up".to_owned(),
            Self::OutOfMemory(task, what) => {
                format!("out of memory: {task} wants {what}; the kernel would now kill a process")
            }
            Self::Deadlock(waiters) => {
                let each = |(task, what): &(String, String)| format!("{task} waits for {what}");
                format!("deadlock: {}", waiters.iter().map(each).collect::<Vec<_>>().join("; "))
            }
        }
    }
}

/// What one process, several that run the same program, or a kernel thread did.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessResult {
    /// The program's name in the workload, or the kernel thread's name.
    pub name: String,
    /// A thread of the kernel, not of the workload.
    pub is_kernel_thread: bool,
    /// How many tasks are taken together here.
    pub tasks: u32,
    /// What it counted.
    pub marks: Vec<MarkResult>,
    /// Bytes that its system calls have read.
    pub read_bytes: u64,
    /// Bytes that its system calls have written.
    pub written_bytes: u64,
    /// Files created.
    pub files_created: u64,
    /// How many of them the OOM killer has chosen.
    pub killed: u64,
    /// Page faults that had to find memory for a page.
    pub faults: u64,
    /// How long those took.
    pub fault_latency: Latency,
    /// fsync and fdatasync calls that returned.
    pub fsyncs: u64,
    /// How long those took.
    pub fsync_latency: Latency,
    /// How long each system call that read took.
    pub read_latency: Latency,
    /// Where its time went: sums to elapsed time times [`Self::tasks`].
    pub causes: Vec<CauseShare>,
}

impl ProcessResult {
    /// The mark of this name.
    #[must_use]
    pub fn mark(&self, name: &str) -> Option<&MarkResult> {
        self.marks.iter().find(|mark| mark.name == name)
    }

    /// Nanoseconds of one cause.
    #[must_use]
    pub fn cause_ns(&self, cause: CauseKind, via_journal: bool) -> u64 {
        let is_it = |share: &&CauseShare| share.cause == cause && share.via_journal == via_journal;
        self.causes.iter().find(is_it).map_or(0, |share| share.ns)
    }
}

/// What memory management did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryResult {
    /// Lines of `/proc/vmstat` at the end: the kernel's name and the value, in the kernel's order.
    pub vmstat: Vec<(String, u64)>,
    /// The zones at the end, lowest first.
    pub zones: Vec<ZoneResult>,
    /// Naps, by where they are taken.
    pub naps: Vec<NapResult>,
    /// Pages of kernel memory that page tables take.
    pub page_table_pages: u64,
    /// How tasks that wanted memory slept, by cause; causes without any are left out.
    pub direct_sleeps: Vec<DirectSleeps>,
    /// Direct reclaim on the CPU by tasks that wanted memory, the naps left out, in nanoseconds.
    pub direct_reclaim_ns: u64,
}

impl MemoryResult {
    /// The counter of this name.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.vmstat.iter().find(|(known, _)| known == name).map(|(_, value)| *value)
    }
}

/// A zone at the end of a run, in pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ZoneResult {
    /// As the kernel prints it: `DMA32`.
    pub name: String,
    /// Present pages.
    pub present: u32,
    /// Free pages.
    pub free: u64,
    /// The marks: min, low and high.
    pub marks: [u32; 3],
    /// Pages allocated.
    pub allocated: u64,
    /// Pages that reclaim looked at: kswapd, tasks that wanted memory.
    pub scanned: [u64; 2],
    /// Pages that reclaim freed: kswapd, tasks that wanted memory.
    pub freed: [u64; 2],
    /// Pages on the lists inactive anon, active anon, inactive file, active file, unevictable.
    pub lru: Vec<u64>,
}

/// Naps taken in one place (`congestion_wait` and its like).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NapResult {
    /// Where.
    pub site: NapSite,
    /// How many.
    pub taken: u64,
    /// Of these, how many while no device was congested.
    pub unnecessary: u64,
    /// How many were left out by the rule, because nothing was congested.
    pub left_out: u64,
    /// Time slept, in nanoseconds.
    pub slept_ns: u64,
    /// The longest, in nanoseconds.
    pub longest_ns: u64,
}

/// What a workload counted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarkResult {
    /// The mark's name in the workload, such as `files`.
    pub name: String,
    /// Units of work.
    pub count: u64,
    /// Times a process came past it.
    pub passes: u64,
    /// When that was the first time; 0 if never.
    pub first_ns: u64,
    /// When that was the last time; 0 if never.
    pub last_ns: u64,
    /// Time from one pass of a task to its next.
    pub periods: PeriodHistogram,
    /// The same as percentiles.
    pub period: Latency,
}

/// Percentiles of durations, in nanoseconds; all 0 when nothing was measured. Quantiles are known to about 3 %.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    /// Durations measured.
    pub count: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The mean, rounded down.
    pub mean_ns: u64,
    /// Half of them were no longer.
    pub p50_ns: u64,
    /// 90 of 100 were no longer.
    pub p90_ns: u64,
    /// 99 of 100 were no longer.
    pub p99_ns: u64,
    /// 999 of 1000 were no longer.
    pub p999_ns: u64,
    /// The longest.
    pub max_ns: u64,
}

/// A share of a task's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CauseShare {
    /// Why it passed.
    pub cause: CauseKind,
    /// The cause hit the journal's thread, for which the task waited.
    pub via_journal: bool,
    /// How much.
    pub ns: u64,
}

/// What passed through the request queue, and what it was doing meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueResult {
    /// The elevator's name.
    pub elevator: String,
    /// Bios submitted.
    pub bios: u64,
    /// Bios merged into an existing request.
    pub merges: u64,
    /// Times a submitter slept for a free request.
    pub sleeps: u64,
    /// Requests the device has finished, async and sync.
    pub completed: [u64; 2],
    /// Sectors the device has finished, read and written.
    pub sectors: [u64; 2],
    /// From a bio's submission to its request's completion, over bios (`btt` calls it Q2C).
    pub q2c: Average,
    /// From the start of a bio's request in the device to its completion, over bios (`btt` calls it D2C).
    pub d2c: Average,
    /// From a request's start in the device to its completion, over requests.
    pub service: Average,
    /// What the queue was held for: sums to the elapsed time.
    pub held: Vec<HeldShare>,
    /// The same, by whose turn it was: sums to the elapsed time.
    pub turns: Vec<TurnShare>,
    /// What the scheduler did; all 0 for elevators that have no slices and do not idle.
    pub scheduler: SchedulerCounters,
}

/// An average with what it is taken over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Average {
    /// How many.
    pub count: u64,
    /// Sum, in nanoseconds.
    pub sum_ns: u64,
}

impl Average {
    /// The mean in nanoseconds; 0 of nothing.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum_ns as f64 / self.count as f64 }
    }
}

/// How long the queue was held for a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldShare {
    /// Why.
    pub reason: HeldReason,
    /// How long.
    pub ns: u64,
}

/// How long the device's time belonged to somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnShare {
    /// Whose turn, doing what.
    pub turn: Turn,
    /// How long.
    pub ns: u64,
}

/// A window of a run, seen closely.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Detail {
    /// The window's beginning.
    pub from_ns: u64,
    /// The window's end.
    pub to_ns: u64,
    /// The tasks by their index, which trace events carry.
    pub tasks: Vec<TaskName>,
    /// What each task was doing when the window began, by its index.
    pub states: Vec<TaskTrace>,
    /// What happened, oldest first.
    pub events: Vec<TraceEvent>,
    /// Entries that did not fit: the window's end is missing.
    pub dropped: u64,
}

/// What a task is called in a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskName {
    /// As `ps` shows it.
    pub name: String,
    /// Process id.
    pub pid: u32,
    /// A thread of the kernel.
    pub is_kernel_thread: bool,
    /// Its io context: the number CFQ's entries name its queue by.
    pub io_context: u32,
    /// Names of its marks, by the index that trace events carry.
    pub marks: Vec<String>,
}

/// An experiment, run: kernels by cases by seeds, with its tables and claims.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExperimentResult {
    /// The experiment's id.
    pub experiment: String,
    /// Its title.
    pub title: String,
    /// The seeds, each run on every kernel in every case.
    pub seeds: Vec<u64>,
    /// The workload's length relative to the published one.
    pub scale: f64,
    /// Version of the model.
    pub model: u32,
    /// Columns: label and full name of each kernel.
    pub columns: Vec<(String, String)>,
    /// Names of the cases.
    pub cases: Vec<String>,
    /// Every run, without timelines: by case, then column, then seed.
    pub runs: Vec<RunResult>,
    /// The published tables beside the simulated ones.
    pub tables: Vec<TableResult>,
    /// What the tables claim, and whether it holds.
    pub claims: Vec<ClaimResult>,
    /// Median of |ln(simulated ratio / published ratio)| over the scored cells; `None` if there is none.
    pub median_abs_log_error: Option<f64>,
    /// Why the kernels differ, in sentences.
    pub explanations: Vec<String>,
}

impl ExperimentResult {
    /// The run of a case on a column with a seed.
    #[must_use]
    pub fn run(&self, case: &str, column: &str, seed: u64) -> Option<&RunResult> {
        self.runs.iter().find(|run| run.case == case && run.kernel == column && run.seed == seed)
    }

    /// Whether every claim that must hold does.
    #[must_use]
    pub fn all_firm_claims_hold(&self) -> bool {
        self.claims.iter().all(|claim| claim.holds || claim.status != super::ClaimStatus::Firm)
    }
}
