//! The interpreter of compiled programs, and the loop of system calls behind a read or write step.

use super::{
    Create, Direct, DropCache, Frame, Fsync, Outcome, ReadPages, Touch, TouchRegion, Truncate, Unlink,
    WriteCall,
};
use crate::fs::{FileId, PAGE_BYTES, Readahead};
use crate::observe::TraceKind;
use crate::simulation::process::{LoopState, Process};
use crate::simulation::world::{Event, World};
use crate::task::{TaskId, WaitOn};
use crate::workload::{HandleId, Operand, Operation, Pattern, Step, Times};

/// Runs a process's program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Interpreter {
    /// The present operation has had its CPU time or its wait.
    paid: bool,
}

impl Interpreter {
    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let now_ns = world.now_ns;
        let index = me.index() - world.first_process();
        let World { processes, programs, .. } = world;
        let Some(process) = processes.get_mut(index) else { return Outcome::Done };
        let program = programs.get(process.program);
        let operation = program.and_then(|program| program.get(process.at));
        let Some(operation) = operation.filter(|_| !process.killed) else { return Outcome::Done };
        match operation {
            Operation::Repeat { times, end } => {
                begin_loop(process, now_ns, *times, *end);
                Outcome::Continue
            }
            Operation::Next { start } => {
                next_round(process, now_ns, *start);
                Outcome::Continue
            }
            Operation::Choose { branches } => {
                choose(process, branches);
                Outcome::Continue
            }
            Operation::Jump(target) => {
                process.at = *target;
                Outcome::Continue
            }
            Operation::Do(step) => {
                let step = step.clone();
                self.perform(world, me, &step)
            }
        }
    }

    fn perform(&mut self, world: &mut World, me: TaskId, step: &Step) -> Outcome {
        match step {
            Step::Meet(barrier) => return self.meet(world, me, *barrier),
            Step::Sleep(duration) => return self.sleep(world, me, *duration),
            _ => {}
        }
        let now_ns = world.now_ns;
        let Some(process) = world.process_mut(me) else { return Outcome::Done };
        process.at += 1;
        match *step {
            Step::Compute(duration) => Outcome::Exactly(process.draw(duration)),
            Step::Mark { mark, amount } => {
                if let Some(totals) = process.totals.marks.get_mut(mark.0 as usize) {
                    totals.count(now_ns, amount);
                }
                world.record(Some(me), TraceKind::Mark(me.0, mark.0, amount));
                Outcome::Continue
            }
            Step::Open { handle, file } => {
                let id = world.workload_files.get(file as usize).copied();
                open(world, me, handle, id);
                Outcome::Cpu(world.host.syscall_ns)
            }
            Step::Rewind(handle) => {
                if let Some(open) = process.handles.get_mut(handle.0 as usize) {
                    open.position_bytes = 0;
                }
                Outcome::Cpu(world.host.syscall_ns)
            }
            Step::Close(handle) => {
                let region = process.handles.get_mut(handle.0 as usize).and_then(|open| open.region.take());
                open(world, me, handle, None);
                let pages = region.map_or(0, |(region, _)| world.unmap_region(region));
                Outcome::Cpu(world.host.syscall_ns + pages * world.host.drop_page_ns)
            }
            Step::Create { handle, directories } => {
                let directory = (process.created % u64::from(directories.max(1))) as u32;
                process.created += 1;
                world.call(Frame::Create(Create::new(handle, directory)))
            }
            Step::Read { handle, bytes, call_bytes, pattern, direct } => {
                let left_bytes = process.draw(bytes);
                let writes = false;
                transfer(world, Transfer { handle, left_bytes, call_bytes, pattern, direct, writes })
            }
            Step::Write { handle, bytes, call_bytes, pattern, direct } => {
                let left_bytes = process.draw(bytes);
                let writes = true;
                transfer(world, Transfer { handle, left_bytes, call_bytes, pattern, direct, writes })
            }
            Step::ReadToEnd { handle, call_bytes } => transfer(
                world,
                Transfer {
                    handle,
                    left_bytes: u64::MAX,
                    call_bytes,
                    pattern: Pattern::Sequential,
                    direct: false,
                    writes: false,
                },
            ),
            Step::Fsync(handle) => {
                on_file(world, me, handle, |file| Frame::Fsync(Fsync::new(file, false, now_ns)))
            }
            Step::Fdatasync(handle) => {
                on_file(world, me, handle, |file| Frame::Fsync(Fsync::new(file, true, now_ns)))
            }
            Step::Unlink(handle) => on_file(world, me, handle, |file| Frame::Unlink(Unlink::new(file))),
            Step::Truncate { handle, bytes } => {
                on_file(world, me, handle, |file| Frame::Truncate(Truncate::new(file, bytes)))
            }
            Step::MapAnonymous { handle, bytes } => {
                map_anonymous(world, me, handle, bytes);
                Outcome::Cpu(world.host.syscall_ns)
            }
            Step::Touch { handle, bytes, pattern, writes_percent } => {
                let bytes = bytes.map(|bytes| process.draw(bytes));
                let handle = process.handles.get(handle.0 as usize);
                if let Some((region, pages)) = handle.and_then(|handle| handle.region) {
                    let percent = writes_percent.unwrap_or(100);
                    let touch = TouchRegion::new(region, pages, bytes, pattern, percent);
                    return world.call(Frame::TouchRegion(Box::new(touch)));
                }
                let file = handle.and_then(|open| open.file);
                file.map_or(Outcome::Continue, |file| {
                    world.call(Frame::Touch(Touch::new(world, file, bytes, pattern)))
                })
            }
            Step::DropCache(handle) => {
                on_file(world, me, handle, |file| Frame::DropCache(DropCache::new(file)))
            }
            Step::Repeat { .. } | Step::Choose(_) | Step::Meet(_) | Step::Sleep(_) => Outcome::Continue,
        }
    }

    fn sleep(&mut self, world: &mut World, me: TaskId, duration: Operand) -> Outcome {
        let Some(process) = world.process_mut(me) else { return Outcome::Done };
        process.at += 1;
        let duration_ns = process.draw(duration);
        world.sleep(me, duration_ns)
    }

    fn meet(&mut self, world: &mut World, me: TaskId, barrier: u32) -> Outcome {
        if std::mem::take(&mut self.paid) {
            if let Some(process) = world.process_mut(me) {
                process.at += 1;
            }
            return Outcome::Continue;
        }
        let Some(point) = world.meeting_points.get_mut(barrier as usize) else { return Outcome::Done };
        point.arrived += 1;
        self.paid = true;
        if point.arrived < point.expected {
            return Outcome::Wait(WaitOn::Meet(barrier));
        }
        point.arrived = 0;
        world.wake_all(None, |on| on == WaitOn::Meet(barrier));
        Outcome::Continue
    }
}

impl World {
    /// A sleep of `me` that begins now.
    pub(crate) fn sleep(&mut self, me: TaskId, duration_ns: u64) -> Outcome {
        let wake_ns = self.now_ns.saturating_add(duration_ns);
        // The wait that this step returns gets the next number.
        let number = self.tasks[me.index()].upcoming_wait_number();
        self.schedule(wake_ns, Event::Wake { task: me, number });
        Outcome::Wait(WaitOn::Time)
    }
}

fn begin_loop(process: &mut Process, now_ns: u64, times: Times, end: u32) {
    let state = match times {
        Times::Count(0) | Times::For(0) => {
            process.at = end + 1;
            return;
        }
        Times::Count(count) => LoopState::Count(count - 1),
        Times::Forever => LoopState::Forever,
        Times::For(ns) => LoopState::Until(now_ns.saturating_add(ns)),
    };
    process.loops.push(state);
    process.at += 1;
}

fn next_round(process: &mut Process, now_ns: u64, start: u32) {
    let goes_round = match process.loops.last_mut() {
        Some(LoopState::Count(left)) if *left > 0 => {
            *left -= 1;
            true
        }
        Some(LoopState::Forever) => true,
        Some(LoopState::Until(end_ns)) => now_ns < *end_ns,
        _ => false,
    };
    if goes_round {
        process.at = start + 1;
    } else {
        process.loops.pop();
        process.at += 1;
    }
}

fn choose(process: &mut Process, branches: &[(u32, u32)]) {
    let total: u64 = branches.iter().map(|&(weight, _)| u64::from(weight)).sum();
    let mut drawn = process.dice.below(total);
    process.at += 1;
    for &(weight, target) in branches {
        if drawn < u64::from(weight) {
            process.at = target;
            return;
        }
        drawn -= u64::from(weight);
    }
}

/// Makes a handle stand for a new region.
fn map_anonymous(world: &mut World, me: TaskId, handle: HandleId, bytes: u64) {
    let Some(region) = world.memory.as_mut().map(|memory| memory.add_region(me)) else { return };
    let pages = u32::try_from(bytes.div_ceil(PAGE_BYTES)).unwrap_or(u32::MAX).max(1);
    if let Some(process) = world.process_mut(me)
        && let Some(open) = process.handles.get_mut(handle.0 as usize)
    {
        open.file = None;
        open.region = Some((region, pages));
    }
}

/// Makes a handle stand for `file`, at its beginning.
pub(super) fn open(world: &mut World, me: TaskId, handle: HandleId, file: Option<FileId>) {
    if let Some(process) = world.process_mut(me)
        && let Some(open) = process.handles.get_mut(handle.0 as usize)
    {
        open.file = file;
        open.position_bytes = 0;
        open.readahead = Readahead::default();
    }
}

fn on_file(world: &mut World, me: TaskId, handle: HandleId, frame: impl FnOnce(FileId) -> Frame) -> Outcome {
    let file = world.process_mut(me).and_then(|process| process.handles.get(handle.0 as usize)?.file);
    // A call on a closed handle fails at once.
    match file {
        Some(file) => world.call(frame(file)),
        None => Outcome::Cpu(world.host.syscall_ns),
    }
}

fn transfer(world: &mut World, frame: Transfer) -> Outcome {
    world.call(Frame::Transfer(frame))
}

/// Reads or writes an amount, one system call after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    handle: HandleId,
    left_bytes: u64,
    call_bytes: u64,
    pattern: Pattern,
    direct: bool,
    writes: bool,
}

impl Transfer {
    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let index = me.index() - world.first_process();
        let World { processes, files, .. } = world;
        let Some(process) = processes.get_mut(index) else { return Outcome::Done };
        let Process { handles, dice, killed, .. } = process;
        let Some(handle) = handles.get_mut(self.handle.0 as usize) else { return Outcome::Done };
        let Some(file) = handle.file else { return Outcome::Done };
        let size_bytes = files.get(file).size_bytes;
        let call_bytes = self.call_bytes.clamp(1, MAX_CALL_BYTES);
        let (start_bytes, room_bytes) = match self.pattern {
            Pattern::Sequential if self.writes => {
                (handle.position_bytes, MAX_FILE_BYTES.saturating_sub(handle.position_bytes))
            }
            Pattern::Sequential => (handle.position_bytes, size_bytes.saturating_sub(handle.position_bytes)),
            Pattern::Random => {
                let start = dice.below((size_bytes / call_bytes).max(1)) * call_bytes;
                (start, if self.writes { call_bytes } else { size_bytes.saturating_sub(start) })
            }
        };
        let bytes = call_bytes.min(self.left_bytes).min(room_bytes);
        if bytes == 0 || *killed {
            return Outcome::Done;
        }
        self.left_bytes -= bytes;
        if self.pattern == Pattern::Sequential {
            handle.position_bytes += bytes;
        }
        let end_bytes = start_bytes + bytes;
        let call = match (self.direct, self.writes) {
            (true, writes) => Frame::Direct(Direct::new(file, start_bytes, end_bytes, writes)),
            (false, true) => Frame::WriteCall(WriteCall::new(file, start_bytes, end_bytes)),
            (false, false) => {
                let goes_on = self.pattern == Pattern::Sequential;
                Frame::ReadPages(ReadPages::new(
                    file,
                    self.handle,
                    start_bytes..end_bytes,
                    goes_on,
                    world.now_ns,
                ))
            }
        };
        world.call(call)
    }
}

/// The longest single call, in bytes.
const MAX_CALL_BYTES: u64 = 1 << 30;
/// The longest file, in bytes: page numbers stay within 32 bits, their states within memory.
const MAX_FILE_BYTES: u64 = 1 << 40;
