//! What has to be true when fsync returns, seen step by step from outside: the trace, the page cache, the journal.

use crate::workloads::{SYNCED, SYNCING};
use stallarium_sim::block::PAGE_SECTORS;
use stallarium_sim::device::Device as _;
use stallarium_sim::fs::{FileId, PAGE_BYTES, Tid};
use stallarium_sim::kernel::{FsyncCommit, Policy};
use stallarium_sim::observe::{HeldReason, RequestFacts, TraceKind};
use stallarium_sim::scenario::Scenario;
use stallarium_sim::simulation::{Advance, Budget, World};
use stallarium_sim::task::{TaskId, TaskKind};
use std::collections::BTreeMap;
use std::ops::Range;

/// One thing that a write has gone through: its number in the trace.
#[derive(Clone, Copy, Debug, Default)]
struct Write {
    queued: usize,
    /// 0 while it is not complete.
    completed: usize,
}

/// What was known when a process was about to call fsync.
#[derive(Clone, Copy, Debug)]
struct Call {
    begun: usize,
    tid: Tid,
    is_inode_dirty: bool,
    committed: Tid,
    requested: Tid,
}

/// What one process is at.
#[derive(Clone, Copy, Debug, Default)]
struct Process {
    created: u64,
    file: Option<FileId>,
    call: Option<Call>,
}

struct Watch<'a> {
    scenario: &'a Scenario,
    policy: Policy,
    /// Only one process asks for commits.
    is_strict: bool,
    journal: Range<u64>,
    processes: BTreeMap<u32, Process>,
    /// Of each page of the device: the last write.
    writes: BTreeMap<u64, Write>,
    /// Writes of the journal thread to the log, oldest first.
    log: Vec<Write>,
    /// Of each log block: the last of them.
    last_log: BTreeMap<u64, usize>,
    /// How long the device had been flushing, by number in the trace of each completion of data.
    flushed_ns: BTreeMap<usize, u64>,
}

/// Runs a scenario event by event and checks every fsync of a process on a file of its own.
pub(crate) fn check(scenario: &Scenario, is_strict: bool) -> Result<(), String> {
    let mut simulation = crate::started(scenario);
    simulation.set_trace_limit(crate::runs::TRACE_LIMIT);
    let world = simulation.world();
    let first = world.journal().super_block_sector();
    let blocks = u64::from(scenario.machine.file_system.journal_mib) * 2048;
    let kind = scenario.machine.file_system.kind;
    let mut watch = Watch {
        scenario,
        policy: Policy::new(&scenario.kernel.release, &scenario.kernel.patches, kind).expect("checked"),
        is_strict,
        journal: first..first + blocks,
        processes: BTreeMap::new(),
        writes: BTreeMap::new(),
        log: Vec::new(),
        last_log: BTreeMap::new(),
        flushed_ns: BTreeMap::new(),
    };
    let mut seen = 0;
    loop {
        let more = matches!(simulation.advance(Budget::events(1)), Advance::More(_));
        let world = simulation.world();
        watch.note_new_files(world);
        let events = world.recorder().events();
        for (number, event) in events.iter().enumerate().skip(seen) {
            // Numbers begin with 1, 0 is "not yet".
            watch.enter(number + 1, &event.kind, world)?;
        }
        seen = events.len();
        if !more {
            return Ok(());
        }
    }
}

fn pages(facts: RequestFacts) -> Range<u64> {
    let page = u64::from(PAGE_SECTORS);
    facts.sector / page..(facts.sector + u64::from(facts.sectors)).div_ceil(page)
}

impl Watch<'_> {
    fn note_new_files(&mut self, world: &World) {
        for index in 0..world.tasks().len() as u32 {
            let Some(totals) = world.process(TaskId(index)) else { continue };
            let process = self.processes.entry(index).or_default();
            if totals.files_created != process.created {
                process.created = totals.files_created;
                process.file = Some(FileId(world.files().len() as u32 - 1));
            }
        }
    }

    fn enter(&mut self, number: usize, kind: &TraceKind, world: &World) -> Result<(), String> {
        match *kind {
            TraceKind::Queue(bio) if bio.flags.is_write() && bio.sectors != 0 => {
                let write = Write { queued: number, completed: 0 };
                let is_journal = world.tasks()[bio.task as usize].kind == TaskKind::Journal;
                if is_journal && self.journal.contains(&bio.sector) {
                    self.last_log.insert(bio.sector, self.log.len());
                    self.log.push(write);
                }
                for page in pages(bio) {
                    self.writes.insert(page, write);
                }
            }
            TraceKind::Complete(request, _) if request.flags.is_write() => {
                let sectors = request.sector..request.sector + u64::from(request.sectors);
                for page in pages(request) {
                    if let Some(write) = self.writes.get_mut(&page) {
                        write.completed = number;
                    }
                }
                for index in self.last_log.range(sectors).map(|(_, &index)| index) {
                    self.log[index].completed = number;
                }
                let flushed_ns = world.queue().held_totals(world.now_ns()).get(HeldReason::Flushing);
                self.flushed_ns.insert(number, flushed_ns);
            }
            TraceKind::Mark(task, mark, _) if mark == SYNCING.0 => self.begin(number, task, world),
            TraceKind::Mark(task, mark, _) if mark == SYNCED.0 => self.end(task, world)?,
            _ => {}
        }
        Ok(())
    }

    fn begin(&mut self, number: usize, task: u32, world: &World) {
        let process = self.processes.entry(task).or_default();
        let Some(file) = process.file.map(|file| world.files().get(file)) else { return };
        process.call = Some(Call {
            begun: number,
            // What fdatasync waits for is the smaller one.
            tid: file.datasync_tid.min(file.sync_tid),
            is_inode_dirty: file.inode_dirty,
            committed: world.journal().commit_sequence,
            requested: world.journal().commit_request,
        });
    }

    fn end(&mut self, task: u32, world: &World) -> Result<(), String> {
        let process = self.processes.entry(task).or_default();
        let (Some(id), Some(call)) = (process.file, process.call.take()) else {
            return Err(format!("task {task} has come back from an fsync without a file"));
        };
        let fault = |message: String| Err(format!("task {task}, file {}, {call:?}: {message}", id.0));
        let file = world.files().get(id);
        if file.cache.dirty() != 0 || file.cache.under_writeback() != 0 {
            let (dirty, under_way) = (file.cache.dirty(), file.cache.under_writeback());
            return fault(format!("{dirty} pages are dirty, {under_way} under way"));
        }
        let mut data_done = 0;
        for page in 0..file.size_bytes.div_ceil(PAGE_BYTES) as u32 {
            let Some((sector, _)) = file.locate(page) else { continue };
            let write = self.writes.get(&(sector / u64::from(PAGE_SECTORS))).copied().unwrap_or_default();
            if write.completed < write.queued.max(1) {
                return fault(format!("page {page} at {sector} is not on the device: {write:?}"));
            }
            data_done = data_done.max(write.completed);
        }
        let committed = world.journal().commit_sequence;
        let forces = self.policy.fs.journal.fsync_commit == FsyncCommit::ForceWithSyncHandle;
        // Section 4.1: a plain start of the commit does not wait for one that somebody else has asked for.
        let must_commit =
            if forces { call.is_inode_dirty } else { self.is_strict && call.requested < call.tid };
        if must_commit && committed < call.tid {
            return fault(format!("transaction {} is the last committed", committed.0));
        }
        if self.is_strict && must_commit {
            return self.check_order(call, data_done, world).or_else(fault);
        }
        Ok(())
    }

    /// Data, log, commit record.
    fn check_order(&self, call: Call, data_done: usize, world: &World) -> Result<(), String> {
        let from = self.log.partition_point(|write| write.queued < call.begun);
        let Some((record, log)) = self.log[from..].split_last() else {
            return Err("nothing was committed".into());
        };
        if log.is_empty() {
            return Err("a commit record without a log".into());
        }
        let log_done = log.iter().map(|write| write.completed).max().unwrap_or(0);
        let is_complete = log.iter().all(|write| write.completed != 0) && record.completed != 0;
        // jbd2 submits its log beside data that others have ordered with it, but fsync has waited for its own.
        let is_in_order = log.iter().all(|write| write.queued > data_done) && record.queued > log_done;
        if !is_complete || !is_in_order {
            return Err(format!("data complete at {data_done}, log {log:?}, record {record:?}"));
        }
        if world.journal().commit_sequence <= call.committed {
            return Err("the record of no transaction".into());
        }
        let has_cache = world.queue().device().has_volatile_cache();
        let flushed_ns = world.queue().held_totals(world.now_ns()).get(HeldReason::Flushing);
        if has_cache
            && self.scenario.machine.file_system.barrier
            && self.flushed_ns.get(&data_done).is_some_and(|before_ns| *before_ns >= flushed_ns)
        {
            return Err("the device's cache was not flushed after the data".into());
        }
        Ok(())
    }
}
