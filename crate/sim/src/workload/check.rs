//! What makes a workload impossible, found before it runs.
//!
//! Works on the resolved form, so that a workload from any source (a text, a translated fio job, a
//! program) is held to the same rules. Reports everything at once, each fault with its spot.
//!
//! The interpreter relies on what holds afterwards: every index is in range, a file operation finds
//! its handle open, and the steps between two that take simulated time are bounded.

use super::program::{Branch, HandleId, Operand, Pattern, ProcessSpec, Step, Times, Workload};
use crate::block::SECTOR_BYTES;
use crate::text::{Place, Problem, nearest_name};
use litemap::LiteMap;

/// The most processes, copies counted.
pub const MAX_PROCESSES: u32 = 1000;
/// The most files that exist before the run.
pub(super) const MAX_FILES: usize = 1000;
/// The most steps of one process, as written (rounds of loops do not count).
pub(super) const MAX_STEPS: usize = 10_000;
/// The largest device, and so the largest file: 16 TiB.
pub const MAX_DEVICE_BYTES: u64 = 16 << 40;
/// The most one step may read or write.
pub(super) const MAX_BYTES: u64 = MAX_DEVICE_BYTES;
/// The most one system call may read or write: 1 GiB (Linux stops a little below 2 GiB).
pub(super) const MAX_CALL_BYTES: u64 = 1 << 30;
/// The longest file that can be mapped, and the longest hole: 1 TiB, so that page numbers fit 32 bits.
pub(super) const MAX_HOLE_BYTES: u64 = 1 << 40;
/// The longest computation or sleep: 1 hour, as long as a run may be.
pub const MAX_TIME_NS: u64 = 3_600_000_000_000;
/// The most steps in a row that take no simulated time.
const MAX_FREE_STEPS: u64 = 1_000_000;
/// The deepest nesting of loops and choices.
const MAX_DEPTH: usize = 64;

/// What a fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// The workload as a whole.
    Workload,
    /// A file, by its index.
    File(usize),
    /// A process, by its index.
    Process(usize),
    /// A step of a process, counted from 0 in the order of the text, inner steps after the outer one.
    Step {
        /// Index of the process.
        process: usize,
        /// Number of the step.
        step: usize,
    },
}

/// One thing that is impossible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where.
    pub spot: Spot,
    /// What, as a clause.
    pub message: String,
    /// What to do about it; may be empty.
    pub hint: String,
}

impl Fault {
    fn new(spot: Spot, message: impl Into<String>) -> Self {
        Self { spot, message: message.into(), hint: String::new() }
    }

    /// The fault as a problem at `place`.
    #[must_use]
    pub fn problem(&self, place: Place) -> Problem {
        let problem = Problem::new(place, self.message.clone());
        if self.hint.is_empty() { problem } else { problem.with_hint(self.hint.clone()) }
    }
}

impl Workload {
    /// What makes this workload impossible to run; empty if nothing does.
    #[must_use]
    pub fn check(&self) -> Vec<Fault> {
        check(self)
    }
}

/// See [`Workload::check`].
pub(crate) fn check(workload: &Workload) -> Vec<Fault> {
    let mut faults = Vec::new();
    let total: u64 = workload.processes.iter().map(|process| u64::from(process.count)).sum();
    let whole = |message: String| Fault::new(Spot::Workload, message);
    if workload.processes.is_empty() {
        faults.push(whole("the workload has no process: nothing would run".to_owned()));
    }
    if total > u64::from(MAX_PROCESSES) {
        faults.push(whole(format!("{total} processes are too many: the most is {MAX_PROCESSES}")));
    }
    if workload.files.len() > MAX_FILES {
        faults.push(whole(format!("{} files are too many: the most is {MAX_FILES}", workload.files.len())));
    }
    check_files(workload, &mut faults);
    let names = workload.processes.iter().map(|process| process.name.as_str());
    for (index, message) in wrong_names(names, "process") {
        faults.push(Fault::new(Spot::Process(index), message));
    }
    for (index, process) in workload.processes.iter().enumerate() {
        check_process(workload, index, process, &mut faults);
    }
    faults
}

fn check_files(workload: &Workload, faults: &mut Vec<Fault>) {
    for (index, message) in wrong_names(workload.files.iter().map(|file| file.name.as_str()), "file") {
        faults.push(Fault::new(Spot::File(index), message));
    }
    for (index, file) in workload.files.iter().enumerate() {
        let spot = Spot::File(index);
        if file.size_bytes == 0 || file.size_bytes > MAX_DEVICE_BYTES {
            faults.push(Fault::new(spot, "a file has 1 byte to 16 TiB"));
        }
        if file.at_per_mille > 999 {
            faults.push(Fault::new(spot, "a file begins between 0 % and 99.9 % of the device"));
        }
    }
}

/// Names that are empty or taken, with their indices.
fn wrong_names<'n>(names: impl Iterator<Item = &'n str>, what: &str) -> Vec<(usize, String)> {
    let mut seen = LiteMap::new_vec();
    let mut wrong = Vec::new();
    for (index, name) in names.enumerate() {
        if name.is_empty() {
            wrong.push((index, format!("a {what} needs a name")));
        } else if seen.insert(name, index).is_some() {
            wrong.push((
                index,
                format!("there are two {what} entries called \"{name}\"; results are told apart by name"),
            ));
        }
    }
    wrong
}

fn check_process(workload: &Workload, index: usize, process: &ProcessSpec, faults: &mut Vec<Fault>) {
    let spot = Spot::Process(index);
    if process.count == 0 {
        faults.push(Fault::new(spot, "a process runs at least once: count is 1 or more"));
    }
    if process.io_priority > 7 {
        faults.push(Fault::new(
            spot,
            format!("io-priority {} is too large: 0 (highest) to 7", process.io_priority),
        ));
    }
    let mut checker = Checker { workload, process, index, next_step: 0, faults };
    let mut handles = vec![Handle::Nothing; process.handles.len()];
    checker.steps(&process.steps, &mut handles, 0);
    if checker.next_step > MAX_STEPS {
        let message = format!("{} steps are too many: the most is {MAX_STEPS}", checker.next_step);
        faults.push(Fault::new(spot, message));
    }
}

/// What a handle refers to at a point of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Handle {
    /// No file yet, or one that was removed.
    Nothing,
    /// A file that was closed.
    Closed,
    /// An open file.
    Open,
    /// An anonymous region.
    Region,
    /// Anything: a fault was reported, and one is enough.
    Unknown,
}

/// How a list of steps spends simulated time, in the worst case of every draw.
#[derive(Clone, Copy, Debug)]
struct Cost {
    /// It takes some time, whatever is drawn.
    takes_time: bool,
    /// The most steps in a row that take none.
    free_steps: u64,
}

struct Checker<'a> {
    workload: &'a Workload,
    process: &'a ProcessSpec,
    index: usize,
    next_step: usize,
    faults: &'a mut Vec<Fault>,
}

impl Checker<'_> {
    fn steps(&mut self, steps: &[Step], handles: &mut [Handle], depth: usize) -> Cost {
        let mut total = Cost { takes_time: false, free_steps: 0 };
        let mut endless = false;
        for step in steps {
            let number = self.next_step;
            self.next_step += 1;
            if endless {
                self.fault(number, "this step is never reached: the loop before it runs for ever", "");
                endless = false;
            }
            let cost = self.step(step, number, handles, depth);
            endless |= matches!(step, Step::Repeat { times: Times::Forever, .. });
            total.takes_time |= cost.takes_time;
            total.free_steps = total.free_steps.saturating_add(cost.free_steps);
        }
        total
    }

    fn fault(&mut self, step: usize, message: impl Into<String>, hint: &str) {
        let spot = Spot::Step { process: self.index, step };
        let mut fault = Fault::new(spot, message);
        hint.clone_into(&mut fault.hint);
        self.faults.push(fault);
    }

    fn step(&mut self, step: &Step, number: usize, handles: &mut [Handle], depth: usize) -> Cost {
        const FREE: Cost = Cost { takes_time: false, free_steps: 1 };
        const TIMED: Cost = Cost { takes_time: true, free_steps: 0 };
        match step {
            Step::Repeat { .. } | Step::Choose(_) if depth >= MAX_DEPTH => {
                self.fault(number, format!("loops and choices are nested more than {MAX_DEPTH} deep"), "");
                FREE
            }
            Step::Repeat { times, body } => self.repeat(*times, body, number, handles, depth),
            Step::Choose(branches) => self.choose(branches, number, handles, depth),
            Step::Create { handle, directories } => {
                if *directories == 0 {
                    self.fault(number, "files are created in at least 1 directory", "");
                }
                self.opens(*handle, number, handles);
                TIMED
            }
            Step::Open { handle, file } => {
                if index_of(*file) >= self.workload.files.len() {
                    self.fault(number, "the workload has no such file", "");
                }
                self.opens(*handle, number, handles);
                FREE
            }
            Step::Read { handle, bytes, call_bytes, pattern, direct }
            | Step::Write { handle, bytes, call_bytes, pattern, direct } => {
                self.needs(*handle, &[Handle::Open], number, handles);
                self.transfer(*bytes, *call_bytes, *pattern, *direct, number);
                TIMED
            }
            Step::ReadToEnd { handle, call_bytes } => {
                self.needs(*handle, &[Handle::Open], number, handles);
                self.transfer(Operand::Fixed(1), *call_bytes, Pattern::Sequential, false, number);
                TIMED
            }
            Step::Fsync(handle) | Step::Fdatasync(handle) => {
                self.needs(*handle, &[Handle::Open], number, handles);
                TIMED
            }
            Step::Truncate { handle, bytes } => {
                self.needs(*handle, &[Handle::Open], number, handles);
                if *bytes == 0 || *bytes > MAX_HOLE_BYTES {
                    self.fault(number, "a file is made 1 byte to 1 TiB long", "");
                }
                TIMED
            }
            Step::MapAnonymous { handle, bytes } => {
                if *bytes == 0 || *bytes > MAX_HOLE_BYTES {
                    self.fault(number, "a region has 1 byte to 1 TiB", "");
                }
                self.opens(*handle, number, handles);
                self.set(*handle, Handle::Region, handles);
                FREE
            }
            Step::Touch { handle, bytes, writes_percent, .. } => {
                let wanted = [Handle::Open, Handle::Region];
                // Files are only read.
                self.needs(*handle, &wanted[usize::from(writes_percent.is_some())..], number, handles);
                if writes_percent.is_some_and(|percent| percent > 100) {
                    self.fault(number, "0 to 100 of a hundred uses write", "");
                }
                let (low, high) = bytes.map_or((1, 1), ends);
                if low == 0 || low > high || high > MAX_HOLE_BYTES {
                    self.fault(number, "1 byte to 1 TiB are touched, in a range that runs forward", "");
                }
                // The file may be empty.
                FREE
            }
            Step::Rewind(handle) | Step::DropCache(handle) => {
                self.needs(*handle, &[Handle::Open], number, handles);
                FREE
            }
            Step::Close(handle) => {
                self.needs(*handle, &[Handle::Open, Handle::Region], number, handles);
                let was = handles.get(usize::from(handle.0)).copied();
                let is_region = was == Some(Handle::Region);
                self.set(*handle, if is_region { Handle::Nothing } else { Handle::Closed }, handles);
                FREE
            }
            Step::Unlink(handle) => {
                self.needs(*handle, &[Handle::Open, Handle::Closed], number, handles);
                self.set(*handle, Handle::Nothing, handles);
                FREE
            }
            Step::Compute(time) | Step::Sleep(time) => {
                let (low, high) = ends(*time);
                if low > high || high > MAX_TIME_NS {
                    self.fault(number, "a time is a range of at most 1 hour that runs forward", "");
                }
                if low > 0 { TIMED } else { FREE }
            }
            Step::Mark { mark, amount } => {
                if usize::from(mark.0) >= self.process.marks.len() || *amount == 0 {
                    self.fault(number, "a mark has a name and counts at least 1", "");
                }
                FREE
            }
            Step::Meet(barrier) => {
                if index_of(*barrier) >= self.workload.barriers.len() {
                    self.fault(number, "the workload has no such barrier", "");
                }
                FREE
            }
        }
    }

    fn repeat(
        &mut self,
        times: Times,
        body: &[Step],
        number: usize,
        handles: &mut [Handle],
        depth: usize,
    ) -> Cost {
        let before = handles.to_vec();
        let cost = self.steps(body, handles, depth + 1);
        if matches!(times, Times::Count(0) | Times::For(0)) {
            self.fault(number, "a loop runs at least once", "");
        }
        let rounds = if let Times::Count(count) = times { count } else { u64::MAX };
        let free_steps = if cost.takes_time {
            cost.free_steps.saturating_mul(2)
        } else {
            cost.free_steps.max(1).saturating_mul(rounds)
        };
        if free_steps > MAX_FREE_STEPS {
            let hint = "let every way through it compute, sleep, create, read, write or fsync";
            let message = match times {
                Times::Count(_) => {
                    format!("the loop takes no time for more than {MAX_FREE_STEPS} steps in a row")
                }
                _ => "the loop takes no time, so it would never end".to_owned(),
            };
            self.fault(number, message, hint);
        }
        if times != Times::Count(1) {
            self.compare_rounds(&before, handles, number);
        }
        // Reported once; what surrounds the loop is judged without it.
        Cost { takes_time: cost.takes_time, free_steps: free_steps.min(MAX_FREE_STEPS / 2) }
    }

    /// A second round must find the handles as the first one did.
    fn compare_rounds(&mut self, before: &[Handle], after: &[Handle], number: usize) {
        for (index, (before, after)) in before.iter().zip(after).enumerate() {
            let name = self.process.handles.get(index).map_or("?", String::as_str);
            let message = match (before, after) {
                (Handle::Nothing | Handle::Closed, Handle::Open | Handle::Region) => {
                    format!("a round leaves \"{name}\" open, and the next would open it again")
                }
                (Handle::Open | Handle::Region, Handle::Closed | Handle::Nothing) => {
                    format!("a round closes \"{name}\", which the next would still need")
                }
                (Handle::Closed, Handle::Nothing) => {
                    format!("a round removes \"{name}\", which the next would still need")
                }
                _ => continue,
            };
            self.fault(number, message, "open and close it within the loop, or outside");
        }
    }

    fn choose(&mut self, branches: &[Branch], number: usize, handles: &mut [Handle], depth: usize) -> Cost {
        if branches.is_empty() || branches.iter().any(|branch| branch.weight == 0) {
            self.fault(number, "a choice has branches, each with a weight of 1 or more", "");
        }
        if branches.iter().map(|branch| u64::from(branch.weight)).sum::<u64>() > u64::from(u32::MAX) {
            self.fault(number, "the weights add up to more than 4 thousand million", "");
        }
        let before = handles.to_vec();
        let mut total = Cost { takes_time: !branches.is_empty(), free_steps: 1 };
        for (index, branch) in branches.iter().enumerate() {
            let mut after = before.clone();
            let cost = self.steps(&branch.steps, &mut after, depth + 1);
            total.takes_time &= cost.takes_time;
            total.free_steps = total.free_steps.max(cost.free_steps.saturating_add(1));
            if index == 0 {
                handles.clone_from_slice(&after);
            } else {
                self.compare_branches(handles, &after, number);
            }
        }
        total
    }

    /// What follows a choice must not depend on the draw.
    fn compare_branches(&mut self, first: &mut [Handle], other: &[Handle], number: usize) {
        for (index, (first, other)) in first.iter_mut().zip(other).enumerate() {
            if *first == Handle::Unknown || *other == Handle::Unknown {
                *first = Handle::Unknown;
            } else if first != other && [*first, *other].iter().any(|&state| state >= Handle::Open) {
                let name = self.process.handles.get(index).map_or("?", String::as_str);
                let message = format!("\"{name}\" is open after one branch and not after another");
                let spot = Spot::Step { process: self.index, step: number };
                self.faults.push(Fault::new(spot, message));
            } else if *first != *other {
                *first = Handle::Nothing;
            }
        }
    }

    fn opens(&mut self, handle: HandleId, number: usize, handles: &mut [Handle]) {
        if matches!(handles.get(usize::from(handle.0)), Some(Handle::Open | Handle::Region)) {
            let message = format!("\"{}\" is open already", self.name(handle));
            self.fault(number, message, "close it first, or open the file under another name");
        }
        self.needs(handle, &[Handle::Nothing, Handle::Closed, Handle::Open, Handle::Region], number, handles);
        self.set(handle, Handle::Open, handles);
    }

    fn needs(&mut self, handle: HandleId, wanted: &[Handle], number: usize, handles: &mut [Handle]) {
        let Some(state) = handles.get_mut(usize::from(handle.0)) else {
            self.fault(number, "the process has no such handle", "");
            return;
        };
        if *state == Handle::Unknown || wanted.contains(state) {
            return;
        }
        let was = if *state == Handle::Closed { "closed" } else { "not open" };
        *state = Handle::Unknown;
        let name = self.name(handle);
        let others = self.process.handles.iter().map(String::as_str).filter(|other| *other != name);
        let hint = match nearest_name(name, others) {
            Some(near) => format!("did you mean {near}?"),
            None => "create or open it first".to_owned(),
        };
        self.fault(number, format!("\"{name}\" is {was} here"), &hint);
    }

    fn set(&self, handle: HandleId, state: Handle, handles: &mut [Handle]) {
        if let Some(slot) = handles.get_mut(usize::from(handle.0)).filter(|slot| **slot != Handle::Unknown) {
            *slot = state;
        }
    }

    fn name(&self, handle: HandleId) -> &str {
        self.process.handles.get(usize::from(handle.0)).map_or("?", String::as_str)
    }

    fn transfer(&mut self, bytes: Operand, call_bytes: u64, pattern: Pattern, direct: bool, number: usize) {
        let (low, high) = ends(bytes);
        if low == 0 || low > high || high > MAX_BYTES {
            self.fault(number, "1 byte to 16 TiB are read or written, in a range that runs forward", "");
        }
        if call_bytes == 0 || call_bytes > MAX_CALL_BYTES {
            self.fault(number, "a call moves 1 byte to 1 GiB", "");
        }
        if direct
            && (!call_bytes.is_multiple_of(SECTOR_BYTES) || low != high || !low.is_multiple_of(SECTOR_BYTES))
        {
            let message = "direct I/O moves whole sectors: bytes and call are multiples of 512, and no range";
            self.fault(number, message, "");
        }
        if pattern == Pattern::Random && high > call_bytes && low != high {
            // A range of bytes at random places would end in part of a call at a multiple of a whole one.
            self.fault(number, "random reads and writes move a fixed number of bytes", "");
        }
    }
}

fn ends(operand: Operand) -> (u64, u64) {
    match operand {
        Operand::Fixed(value) => (value, value),
        Operand::Between(low, high) => (low, high),
    }
}

fn index_of(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}
