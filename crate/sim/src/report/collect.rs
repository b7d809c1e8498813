//! Makes results of a machine's state.

use super::digest::Digest;
use super::histogram::PeriodHistogram;
use super::results::{
    Average, CauseShare, EndReason, HeldShare, Latency, MarkResult, MemoryResult, NapResult, ProcessResult,
    QueueResult, RunResult, TaskName, TurnShare, ZoneResult,
};
use super::runner::RunLabel;
use super::timelines::{Subject, Timeline, Turn};
use super::writeback::WritebackResult;
use crate::mm::{Lru, NapSite};
use crate::observe::{CauseTotals, HeldReason, Histogram, Lane, Periods, Series, TaskTrace};
use crate::scenario::Scenario;
use crate::short_sort;
use crate::simulation::{ProcessTotals, World};
use crate::task::{Task, TaskId, TaskKind, TaskState};
use crate::workload::ProcessSpec;

/// A group of tasks that are shown together.
struct Group<'w> {
    name: &'w str,
    /// The specification, of processes.
    specification: Option<&'w ProcessSpec>,
    tasks: Vec<TaskId>,
}

/// The groups as the meter numbers them: kernel threads, those of the pdflush pool together, then specifications.
fn groups<'w>(scenario: &'w Scenario, world: &'w World) -> Vec<Group<'w>> {
    let ids = || (0..world.tasks().len() as u32).map(TaskId);
    let mut groups: Vec<Group<'w>> = Vec::new();
    let mut flushers = None;
    for id in ids().filter(|&id| world.specification(id).is_none()) {
        let task = &world.tasks()[id.index()];
        let is_flusher = task.kind == TaskKind::Flusher;
        if is_flusher && let Some(group) = flushers.and_then(|index: usize| groups.get_mut(index)) {
            group.tasks.push(id);
            continue;
        }
        if is_flusher {
            flushers = Some(groups.len());
        }
        groups.push(Group { name: &task.name, specification: None, tasks: vec![id] });
    }
    groups.extend(scenario.workload.processes.iter().enumerate().map(|(index, process)| Group {
        name: &process.name,
        specification: Some(process),
        tasks: ids().filter(|&id| world.specification(id) == Some(index)).collect(),
    }));
    groups
}

pub(super) fn run_result(scenario: &Scenario, label: &RunLabel, world: &World, end: EndReason) -> RunResult {
    let groups = groups(scenario, world);
    let kernel_name = scenario.kernel.to_string();
    let numbered = || groups.iter().enumerate();
    // The workload's processes are what a reader looks for first.
    let processes = numbered().filter(|(_, group)| group.specification.is_some());
    let threads = numbered().filter(|(_, group)| group.specification.is_none());
    RunResult {
        kernel: if label.kernel.is_empty() { kernel_name.clone() } else { label.kernel.clone() },
        kernel_name,
        case: label.case.clone(),
        seed: scenario.seed,
        hz: scenario.machine.hz,
        digest: Digest(world.recorder().meter().digest()),
        elapsed_ns: world.now_ns(),
        limit_ns: world.limits().time_ns,
        events: world.counters().events,
        end,
        processes: processes
            .chain(threads)
            .map(|(index, group)| process_result(world, index, group))
            .collect(),
        queue: queue_result(scenario, world, &groups),
        memory: memory_result(world),
        writeback: WritebackResult::of(world),
        timelines: timelines(world, &groups),
        detail: None,
    }
}

/// What each task is doing, by its index.
pub(super) fn task_states(world: &World) -> Vec<TaskTrace> {
    let state = |task: &Task| match (task.state, &task.wait) {
        (TaskState::Running, _) => TaskTrace::Running,
        (TaskState::Blocked, Some(wait)) => TaskTrace::Blocked(wait.on.kind()),
        (TaskState::Exited, _) => TaskTrace::Exited,
        (TaskState::Runnable | TaskState::Blocked, _) => TaskTrace::Runnable,
    };
    world.tasks().iter().map(state).collect()
}

pub(super) fn task_names(scenario: &Scenario, world: &World) -> Vec<TaskName> {
    let name = |(index, task): (usize, &Task)| {
        let specification = world.specification(TaskId(index as u32));
        let process = specification.and_then(|index| scenario.workload.processes.get(index));
        TaskName {
            name: task.name.clone(),
            pid: task.pid(),
            is_kernel_thread: process.is_none(),
            io_context: task.submitter.io_context,
            marks: process.map_or_else(Vec::new, |process| process.marks.clone()),
        }
    };
    world.tasks().iter().enumerate().map(name).collect()
}

fn process_result(world: &World, index: usize, group: &Group<'_>) -> ProcessResult {
    let totals: Vec<&ProcessTotals> = group.tasks.iter().filter_map(|&id| world.process(id)).collect();
    let sum = |of: fn(&ProcessTotals) -> u64| totals.iter().map(|totals| of(totals)).sum();
    let mark_names = group.specification.map_or(&[][..], |process| &process.marks);
    let marks = mark_names.iter().enumerate();
    ProcessResult {
        name: group.name.to_owned(),
        is_kernel_thread: group.specification.is_none(),
        tasks: group.tasks.len() as u32,
        marks: marks.map(|(mark, name)| mark_result(world, (index, mark), name, &totals)).collect(),
        read_bytes: sum(|totals| totals.read_bytes),
        written_bytes: sum(|totals| totals.written_bytes),
        files_created: sum(|totals| totals.files_created),
        killed: sum(|totals| u64::from(totals.killed)),
        faults: sum(|totals| totals.faults),
        fault_latency: latency(totals.iter().map(|totals| &totals.fault_ns)),
        fsyncs: sum(|totals| totals.fsync_ns.count()),
        fsync_latency: latency(totals.iter().map(|totals| &totals.fsync_ns)),
        read_latency: latency(totals.iter().map(|totals| &totals.read_ns)),
        causes: causes(group.tasks.iter().map(|id| &world.tasks()[id.index()].causes)),
    }
}

fn memory_result(world: &World) -> Option<MemoryResult> {
    let memory = world.memory()?;
    let rows = memory.vmstat.rows(memory.zones(), memory.policy().kswapd_two_stage_sleep);
    let nap = |site: NapSite| {
        let totals = memory.naps().at(site);
        NapResult {
            site,
            taken: totals.taken,
            unnecessary: totals.unnecessary,
            left_out: totals.left_out,
            slept_ns: totals.slept_ns,
            longest_ns: totals.longest_ns,
        }
    };
    let naps = NapSite::ALL.into_iter().map(nap).filter(|nap| nap.taken + nap.left_out != 0);
    let zones = memory.zones().iter().filter(|zone| zone.is_populated()).map(|zone| ZoneResult {
        name: zone.kind.name().to_owned(),
        present: zone.present,
        free: zone.free.max(0).unsigned_abs(),
        marks: zone.marks,
        allocated: zone.events.pgalloc,
        scanned: [zone.events.pgscan_kswapd, zone.events.pgscan_direct],
        freed: [zone.events.kswapd_steal, zone.events.pgsteal - zone.events.kswapd_steal],
        lru: Lru::ALL.iter().map(|&lru| u64::from(zone.lru_pages(lru))).collect(),
    });
    Some(MemoryResult {
        vmstat: rows.into_iter().map(|row| (row.name, row.value)).collect(),
        zones: zones.collect(),
        naps: naps.collect(),
        page_table_pages: world.page_table_pages(),
        direct_sleeps: world.direct_sleeps().to_vec(),
        direct_reclaim_ns: world.direct_reclaim_ns(),
    })
}

fn mark_result(
    world: &World,
    (group, mark): (usize, usize),
    name: &str,
    totals: &[&ProcessTotals],
) -> MarkResult {
    let marks = || totals.iter().filter_map(|totals| totals.marks.get(mark));
    let passed = || marks().filter(|mark| mark.passes != 0);
    let periods = world.recorder().meter().mark(group, mark).map(|(_, periods)| periods);
    MarkResult {
        name: name.to_owned(),
        count: marks().map(|mark| mark.count).sum(),
        passes: marks().map(|mark| mark.passes).sum(),
        first_ns: passed().map(|mark| mark.first_ns).min().unwrap_or(0),
        last_ns: passed().map(|mark| mark.last_ns).max().unwrap_or(0),
        periods: periods.map_or_else(PeriodHistogram::default, PeriodHistogram::from),
        period: exact(latency(marks().map(|mark| &mark.period_ns)), periods),
    }
}

/// The meter knows the mean exactly; quantiles stay those of the logarithmic histogram.
fn exact(latency: Latency, periods: Option<&Periods>) -> Latency {
    let mean = periods.and_then(|periods| periods.sum_ns().checked_div(periods.count()));
    Latency { mean_ns: mean.unwrap_or(latency.mean_ns), ..latency }
}

fn latency<'h>(histograms: impl Iterator<Item = &'h Histogram>) -> Latency {
    let mut all = Histogram::new();
    histograms.for_each(|histogram| all.merge(histogram));
    Latency {
        count: all.count(),
        min_ns: all.min(),
        mean_ns: all.mean(),
        p50_ns: all.quantile(500),
        p90_ns: all.quantile(900),
        p99_ns: all.quantile(990),
        p999_ns: all.quantile(999),
        max_ns: all.max(),
    }
}

/// The causes of several tasks added up, the task's own first.
fn causes<'t>(tasks: impl Iterator<Item = &'t CauseTotals>) -> Vec<CauseShare> {
    let mut shares: Vec<CauseShare> = Vec::new();
    for (cause, ns) in tasks.flat_map(CauseTotals::iter) {
        let known = shares
            .iter_mut()
            .find(|share| share.cause == cause.kind && share.via_journal == cause.via_journal);
        match known {
            Some(share) => share.ns += ns,
            None => shares.push(CauseShare { cause: cause.kind, via_journal: cause.via_journal, ns }),
        }
    }
    short_sort::sort_by_key(&mut shares, |share| (share.via_journal, share.cause));
    shares
}

fn queue_result(scenario: &Scenario, world: &World, groups: &[Group<'_>]) -> QueueResult {
    let counters = world.queue().counters();
    let held = world.queue().held_totals(world.now_ns());
    let meter = world.recorder().meter();
    let requests = counters.completed.iter().sum();
    QueueResult {
        elevator: scenario.kernel.elevator.clone(),
        bios: counters.bios,
        merges: counters.merges,
        sleeps: counters.sleeps,
        completed: counters.completed,
        sectors: counters.sectors,
        q2c: Average { count: counters.completed_bios, sum_ns: counters.bio_ns },
        d2c: Average { count: counters.completed_bios, sum_ns: counters.bio_device_ns },
        service: Average { count: requests, sum_ns: counters.device_ns },
        held: HeldReason::ALL
            .into_iter()
            .map(|reason| HeldShare { reason, ns: held.get(reason) })
            .filter(|share| share.ns != 0)
            .collect(),
        turns: lanes(world)
            .map(|(lane, series)| TurnShare { turn: turn(lane, groups), ns: series.total() })
            .filter(|share| share.ns != 0)
            .collect(),
        scheduler: meter.scheduler(),
    }
}

/// The lanes with their last stretch entered. Before the queue's first state, it had nothing to do.
fn lanes(world: &World) -> impl Iterator<Item = (Lane, Series)> {
    let now_ns = world.now_ns();
    world.recorder().meter().lanes().map(move |(lane, series)| {
        let mut series = series.clone();
        series.settle(now_ns);
        (lane, series)
    })
}

fn turn(lane: Lane, groups: &[Group<'_>]) -> Turn {
    let name = |group: usize| {
        groups.get(group).map_or_else(|| "other processes".to_owned(), |group| group.name.to_owned())
    };
    match lane {
        Lane::Nothing => Turn::Nothing,
        Lane::NoSlice => Turn::NoSlice,
        Lane::AsyncSlice => Turn::AsyncSlice,
        Lane::Idle => Turn::Idle,
        Lane::Plugged => Turn::Plugged,
        Lane::Draining => Turn::Draining,
        Lane::Flushing => Turn::Flushing,
        Lane::Slice(group) => Turn::Slice(name(group)),
        Lane::IdleFor(group) => Turn::IdleFor(name(group)),
    }
}

fn timelines(world: &World, groups: &[Group<'_>]) -> Vec<Timeline> {
    let end_ns = world.now_ns();
    let meter = world.recorder().meter();
    let mut timelines = Vec::new();
    let mut add = |subject, series: &Series| timelines.push(Timeline::new(subject, series, end_ns));
    for (index, group) in groups.iter().enumerate() {
        let process = group.name.to_owned();
        let marks = group.specification.map_or(&[][..], |process| &process.marks);
        for (mark, name) in marks.iter().enumerate() {
            if let Some((series, _)) = meter.mark(index, mark) {
                add(Subject::Mark { process: process.clone(), mark: name.clone() }, series);
            }
        }
        if let Some([read, written]) = meter.bytes(index) {
            if !read.buckets().is_empty() {
                add(Subject::BytesRead { process: process.clone() }, read);
            }
            if !written.buckets().is_empty() {
                add(Subject::BytesWritten { process: process.clone() }, written);
            }
        }
    }
    add(Subject::InDevice, meter.in_device());
    add(Subject::Waiting, meter.waiting());
    for (lane, series) in meter.lanes() {
        add(Subject::Turn(turn(lane, groups)), series);
    }
    if world.queue().elevator().as_cfq().is_some() {
        add(Subject::BusyAverage, meter.busy_average());
    }
    let writeback = world.writeback();
    if world.nr_dirtied() != 0 {
        add(Subject::Dirty, &writeback.dirty);
        add(Subject::UnderWriteback, &writeback.under_writeback);
    }
    for (zone, series) in world.free_pages_over_time() {
        add(Subject::FreePages { zone: zone.to_owned() }, series);
    }
    for (watched, series) in world.reclaim_over_time() {
        add(Subject::of_reclaim(watched), series);
    }
    timelines
}
