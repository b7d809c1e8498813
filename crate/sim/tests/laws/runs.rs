//! Running scenarios, and what of a run is compared.

use stallarium_sim::observe::TraceEvent;
use stallarium_sim::scenario::Scenario;
use stallarium_sim::simulation::{Advance, Budget, End, Simulation, World};
use stallarium_sim::task::{TaskId, TaskKind, TaskState, WaitOn};

/// More entries than any of the runs here makes.
pub(crate) const TRACE_LIMIT: usize = 2_000_000;

/// A run that has ended, with its trace.
pub(crate) struct Run {
    pub(crate) simulation: Simulation,
    pub(crate) end: End,
    pub(crate) trace: Vec<TraceEvent>,
}

impl Run {
    /// Runs a scenario to its end in one go.
    pub(crate) fn traced(scenario: &Scenario) -> Self {
        let mut simulation = crate::started(scenario);
        simulation.set_trace_limit(TRACE_LIMIT);
        let end = finish(&mut simulation, || Budget::events(u64::MAX));
        let trace = simulation.take_trace();
        Self { simulation, end, trace }
    }

    pub(crate) fn state(&self) -> String {
        state(&self.simulation)
    }
}

/// Advances to the end; returns it.
pub(crate) fn finish(simulation: &mut Simulation, mut budget: impl FnMut() -> Budget) -> End {
    loop {
        if let Advance::Finished(end) = simulation.advance(budget()) {
            return end;
        }
    }
}

fn tasks(world: &World) -> impl Iterator<Item = TaskId> {
    (0..world.tasks().len() as u32).map(TaskId)
}

/// Everything that a run leaves behind.
pub(crate) fn state(simulation: &Simulation) -> String {
    let world = simulation.world();
    let causes: Vec<_> = world.tasks().iter().map(|task| (&task.name, task.state, task.causes)).collect();
    let totals: Vec<_> = tasks(world).map(|id| world.process(id)).collect();
    format!(
        "{:?} {} {:?} {:?} {causes:?} {totals:?} {:?} {:?} {:?}",
        simulation.end(),
        world.now_ns(),
        world.counters(),
        world.queue().counters(),
        world.queue().held_totals(world.now_ns()),
        (world.queue().allocated(), world.queue().in_device(), world.queue().is_plugged()),
        (world.journal().commit_sequence, world.files().dirty_pages(), world.metadata().dirty()),
    )
}

/// Numbers that never fall in the course of a run.
pub(crate) fn samples(world: &World) -> Vec<u64> {
    let queue = world.queue().counters();
    let machine = world.counters();
    let mut samples = vec![
        world.now_ns(),
        machine.events,
        machine.commits,
        machine.log_blocks,
        machine.interrupts,
        machine.context_switches,
        queue.bios,
        queue.completed_bios,
        queue.completed[0],
        queue.completed[1],
        queue.merges,
        queue.sleeps,
        u64::from(world.journal().commit_sequence.0),
        world.files().len() as u64,
    ];
    for totals in tasks(world).filter_map(|id| world.process(id)) {
        samples.extend([totals.files_created, totals.read_bytes, totals.written_bytes]);
        samples.extend([totals.fsync_ns.count(), totals.read_ns.count()]);
        samples.extend(totals.marks.iter().flat_map(|mark| [mark.count, mark.passes, mark.last_ns]));
    }
    samples
}

/// Marks agree with themselves.
pub(crate) fn check_marks(world: &World) -> Result<(), String> {
    for totals in tasks(world).filter_map(|id| world.process(id)) {
        for mark in &totals.marks {
            let is_sound = mark.period_ns.count() == mark.passes.saturating_sub(1)
                && mark.count >= mark.passes
                && mark.first_ns <= mark.last_ns
                && mark.last_ns <= world.now_ns();
            if !is_sound {
                return Err(format!("{mark:?} at {} ns", world.now_ns()));
            }
        }
    }
    Ok(())
}

/// A process naps for memory that it may never get: nothing can be reclaimed, and by the kernel's own rules nobody is killed either.
/// Who may not call the file system looks for free pages only after a reclaim that has freed some (docs/model/reclaim.md, section 2.1,
/// steps 7 and 8), and from 2.6.36 on zones that kswapd has given up may count as reclaimable for ever (section 3.6).
pub(crate) fn somebody_starves(world: &World) -> bool {
    let naps = |wait: &stallarium_sim::task::Wait| matches!(wait.on, WaitOn::Congestion(_));
    let processes = world.tasks().iter().filter(|task| task.kind == TaskKind::Process);
    processes.filter_map(|task| task.wait.as_ref()).any(naps)
}

/// Nothing is under way and nothing dirty.
pub(crate) fn check_quiet(world: &World) -> Result<(), String> {
    let queue = world.queue();
    if queue.allocated() != 0 || queue.in_device() != 0 || queue.is_plugged() {
        return Err(format!(
            "{} requests, {} in the device, plugged: {}",
            queue.allocated(),
            queue.in_device(),
            queue.is_plugged()
        ));
    }
    if world.files().dirty_pages() != 0 || world.metadata().dirty() != 0 {
        return Err(format!(
            "dirty: {} pages, {} blocks",
            world.files().dirty_pages(),
            world.metadata().dirty()
        ));
    }
    for task in world.tasks() {
        let on = task.wait.as_ref().map(|wait| wait.on);
        let is_at_rest = match on {
            Some(WaitOn::Meet(_)) => true,
            Some(WaitOn::Time) => task.name == "clock",
            Some(WaitOn::Work) => task.kind != TaskKind::Process,
            _ => task.state == TaskState::Exited,
        };
        if !is_at_rest {
            let memory = world.memory().map(|memory| (memory.user_pages(), memory.vmstat));
            return Err(format!("{} is {:?}, waiting for {on:?}: {memory:?}", task.name, task.state));
        }
    }
    Ok(())
}
