//! Runs a scenario step by step: progress, cancelling, checkpoints, and a window seen closely.
//!
//! A checkpoint is a clone of the simulation. To look closely at a window, the nearest checkpoint before it is run again
//! with the trace on; that it is the same run is proved by its digests at every step of the trail. Machines with much memory have
//! few checkpoints or none: their windows are run again from the beginning.

use super::collect;
use super::results::{Detail, EndReason, RunResult};
use crate::scenario::Scenario;
use crate::simulation::{Advance, Budget, End, NotStarted, Simulation};
use std::fmt;

/// The most checkpoints that are kept.
const CHECKPOINTS_MAX: usize = 16;
/// What all checkpoints together may take for simulated memory on the host, in bytes: a tab has 4 GiB for everything.
const CHECKPOINT_BYTES_MAX: usize = 256 << 20;
/// Steps of the trail that the longest run has; the digest is noted at each.
const TRAIL_STEPS: u64 = 1024;
/// Checkpoints are at first this many steps of the trail apart.
const CHECKPOINT_STEPS: u64 = 8;

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunProgress {
    /// Simulated time, in nanoseconds.
    pub now_ns: u64,
    /// Where it ends at the latest, in nanoseconds.
    pub limit_ns: u64,
    /// Events so far.
    pub events: u64,
    /// Share of the simulated time that is done, 0 to 1.
    pub share: f64,
}

/// What [`Runner::advance`] has to say.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The budget is used up, the run goes on.
    More(RunProgress),
    /// The run has ended; [`Runner::result`] says why.
    Done,
}

/// What a run is called in results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunLabel {
    /// The kernel's label, such as a column's.
    pub kernel: String,
    /// The case; may be empty.
    pub case: String,
}

impl RunLabel {
    /// A label of its two parts.
    #[must_use]
    pub fn new(kernel: &str, case: &str) -> Self {
        Self { kernel: kernel.to_owned(), case: case.to_owned() }
    }
}

/// A run of one scenario.
#[derive(Clone, Debug)]
pub struct Runner {
    scenario: Scenario,
    label: RunLabel,
    simulation: Simulation,
    end: Option<EndReason>,
    /// Windows can be looked at.
    keeps: bool,
    /// Checkpoints with the step of the trail they were taken at, the beginning first; without any the beginning is made anew.
    checkpoints: Vec<(u64, Simulation)>,
    checkpoint_steps: u64,
    trail: Trail,
}

/// The digests at equal steps of simulated time.
#[derive(Clone, Debug)]
struct Trail {
    step_ns: u64,
    digests: Vec<u64>,
}

/// Why a window cannot be shown closely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DetailError {
    /// The window's end is not after its beginning.
    Empty,
    /// The window begins after what has been run, which ends here, in nanoseconds.
    NotYet(u64),
    /// The runner keeps no checkpoints.
    NoCheckpoints,
    /// The second run was not the same run: an error in the simulator. The time up to which they agreed, in nanoseconds.
    Differs(u64),
}

impl fmt::Display for DetailError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("the window is empty: its end must be after its beginning"),
            Self::NotYet(now_ns) => {
                write!(formatter, "the window begins after the end of the run, at {:.6} s", seconds(*now_ns))
            }
            Self::NoCheckpoints => formatter.write_str("this run keeps no checkpoints to start again from"),
            Self::Differs(ns) => write!(
                formatter,
                "the second run differs from the first after {:.6} s: an error in the simulator, please report it",
                seconds(*ns)
            ),
        }
    }
}

impl std::error::Error for DetailError {}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Runner {
    /// A run at its beginning, which keeps checkpoints.
    ///
    /// # Errors
    /// The scenario names something that does not exist, or makes no sense.
    pub fn new(scenario: &Scenario, label: RunLabel) -> Result<Self, NotStarted> {
        let mut runner = Self::without_checkpoints(scenario, label)?;
        runner.keeps = true;
        if runner.checkpoints_max() > 1 {
            runner.checkpoints.push((0, runner.simulation.clone()));
        }
        Ok(runner)
    }

    /// A run at its beginning that keeps no checkpoints: for many runs whose windows nobody will look at.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn without_checkpoints(scenario: &Scenario, label: RunLabel) -> Result<Self, NotStarted> {
        let simulation = Simulation::new(scenario)?;
        let step_ns = scenario.limits.time_ns.div_ceil(TRAIL_STEPS).max(1);
        Ok(Self {
            scenario: scenario.clone(),
            label,
            simulation,
            end: None,
            keeps: false,
            checkpoints: Vec::new(),
            checkpoint_steps: CHECKPOINT_STEPS,
            trail: Trail { step_ns, digests: Vec::new() },
        })
    }

    /// The scenario that is run.
    #[must_use]
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The simulation, to look at.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// How far the run has come.
    #[must_use]
    pub fn progress(&self) -> RunProgress {
        let progress = self.simulation.progress();
        RunProgress {
            now_ns: progress.now_ns,
            limit_ns: progress.limit_ns,
            events: progress.events,
            share: progress.now_ns as f64 / progress.limit_ns.max(1) as f64,
        }
    }

    /// Goes on for about `events` events, or to the end. What comes out does not depend on how often this is called.
    pub fn advance(&mut self, events: u64) -> Step {
        let stop_at = self.progress().events.saturating_add(events.max(1));
        while self.end.is_none() {
            let left = stop_at.saturating_sub(self.progress().events);
            if left == 0 {
                return Step::More(self.progress());
            }
            let until_ns = self.trail.next_ns();
            match self.simulation.advance(Budget::events(left).and_until(until_ns)) {
                Advance::Finished(end) => self.end = Some(end.into()),
                Advance::More(progress) if progress.events >= stop_at => {}
                Advance::More(_) => self.note_step(),
            }
        }
        Step::Done
    }

    /// Runs to the end.
    pub fn finish(&mut self) {
        while self.advance(u64::MAX) != Step::Done {}
    }

    /// Stops the run where it is: what there is can still be had.
    pub fn cancel(&mut self) {
        self.end.get_or_insert(EndReason::Cancelled);
    }

    /// What the run has to say so far. While it goes on, its end is given as [`EndReason::Cancelled`].
    #[must_use]
    pub fn result(&self) -> RunResult {
        let end = self.end.clone().unwrap_or(EndReason::Cancelled);
        collect::run_result(&self.scenario, &self.label, &self.simulation.settled(), end)
    }

    /// Everything that happened from `from_ns` to `to_ns`, both included, at most `entries_max` entries: runs the window
    /// again from the nearest checkpoint.
    ///
    /// # Errors
    /// The window is empty or not run yet, or no checkpoints are kept.
    pub fn detail(&self, from_ns: u64, to_ns: u64, entries_max: usize) -> Result<Detail, DetailError> {
        let now_ns = self.progress().now_ns;
        if to_ns <= from_ns {
            return Err(DetailError::Empty);
        }
        if from_ns > now_ns || (from_ns == now_ns && now_ns != 0) {
            return Err(DetailError::NotYet(now_ns));
        }
        let to_ns = to_ns.min(now_ns);
        let step_ns = self.trail.step_ns;
        // A checkpoint has handled everything up to and including its own time.
        let before = self.checkpoints.iter().rev().find(|(step, _)| *step == 0 || step * step_ns < from_ns);
        let (step, simulation) = match before {
            Some((step, checkpoint)) => (*step, checkpoint.clone()),
            None if self.keeps => {
                (0, Simulation::new(&self.scenario).map_err(|_| DetailError::NoCheckpoints)?)
            }
            None => return Err(DetailError::NoCheckpoints),
        };
        let mut again = Again { simulation, step, trail: &self.trail };
        if from_ns > 0 {
            again.advance_to(from_ns - 1)?;
        }
        let states = collect::task_states(again.simulation.world());
        again.simulation.set_trace_limit(entries_max.max(1));
        again.advance_to(to_ns)?;
        let dropped = again.simulation.world().recorder().dropped();
        let events = again.simulation.take_trace();
        again.simulation.set_trace_limit(0);
        // Up to the next step of the trail: only there can the window's own last part be compared.
        again.advance_to(to_ns.div_ceil(step_ns).saturating_mul(step_ns))?;
        let is_over = self.end.as_ref().is_some_and(|end| *end != EndReason::Cancelled);
        if is_over && again.simulation.end().is_some() && again.digest() != digest(&self.simulation) {
            return Err(DetailError::Differs(again.agreed_ns()));
        }
        let tasks = collect::task_names(&self.scenario, self.simulation.world());
        Ok(Detail { from_ns, to_ns, tasks, states, events, dropped })
    }

    /// A step of the trail is reached: its digest, and perhaps a checkpoint.
    fn note_step(&mut self) {
        self.trail.digests.push(digest(&self.simulation));
        let step = self.trail.digests.len() as u64;
        if self.checkpoints.is_empty() || !step.is_multiple_of(self.checkpoint_steps) {
            return;
        }
        let most = self.checkpoints_max();
        if most < 2 {
            self.checkpoints.clear();
            return;
        }
        while self.checkpoints.len() >= most {
            self.checkpoint_steps *= 2;
            let every = self.checkpoint_steps;
            self.checkpoints.retain(|(step, _)| step % every == 0);
        }
        if step.is_multiple_of(self.checkpoint_steps) {
            self.checkpoints.push((step, self.simulation.clone()));
        }
    }

    /// How many checkpoints may be kept, as large as the simulation is now.
    fn checkpoints_max(&self) -> usize {
        let bytes = self.simulation.world().memory_bytes().max(1);
        CHECKPOINTS_MAX.min(CHECKPOINT_BYTES_MAX / bytes)
    }
}

impl Trail {
    /// The time of the next step, in nanoseconds.
    fn next_ns(&self) -> u64 {
        (self.digests.len() as u64 + 1).saturating_mul(self.step_ns)
    }
}

/// A second run of a part, compared with the first at each step.
struct Again<'r> {
    simulation: Simulation,
    step: u64,
    trail: &'r Trail,
}

impl Again<'_> {
    fn advance_to(&mut self, to_ns: u64) -> Result<(), DetailError> {
        loop {
            let step_end_ns = (self.step + 1).saturating_mul(self.trail.step_ns);
            let advance = self.simulation.advance(Budget::until(to_ns.min(step_end_ns)));
            if matches!(advance, Advance::Finished(_)) || to_ns < step_end_ns {
                return Ok(());
            }
            if let Some(&expected) = self.trail.digests.get(self.step as usize)
                && expected != self.digest()
            {
                return Err(DetailError::Differs(self.agreed_ns()));
            }
            self.step += 1;
        }
    }

    fn agreed_ns(&self) -> u64 {
        self.step.saturating_mul(self.trail.step_ns)
    }

    fn digest(&self) -> u64 {
        digest(&self.simulation)
    }
}

fn digest(simulation: &Simulation) -> u64 {
    simulation.world().recorder().meter().digest()
}

impl From<End> for EndReason {
    fn from(end: End) -> Self {
        match end {
            End::TimeUp => Self::TimeUp,
            End::AllExited => Self::AllExited,
            End::EventLimit => Self::EventLimit,
            End::OutOfMemory(asker) => Self::OutOfMemory(asker.task, asker.waits_for),
            End::Deadlock(blocked) => {
                Self::Deadlock(blocked.into_iter().map(|task| (task.task, task.waits_for)).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::TraceKind;
    use crate::scenario::{Experiment, Overrides};

    fn scenario(kernel: &str, case: &str, ms: u64) -> Scenario {
        let experiment = Experiment::find("cfq-noidle-2010").expect("embedded");
        let overrides = Overrides::from_document("test").with("time", &format!("{ms} ms"));
        experiment.scenario(kernel, case, 3, &overrides).expect("valid")
    }

    fn run(scenario: &Scenario) -> Runner {
        let mut runner = Runner::new(scenario, RunLabel::default()).expect("it starts");
        runner.finish();
        runner
    }

    /// However a run is cut into budgets, its digest and its whole result are the same.
    #[test]
    fn budgets_do_not_matter() {
        let scenario = scenario("vanilla cfq", "mixed", 600);
        let whole = run(&scenario).result();
        for events in [1, 7, 1000] {
            let mut runner = Runner::without_checkpoints(&scenario, RunLabel::default()).expect("it starts");
            while let Step::More(progress) = runner.advance(events) {
                assert!(progress.share < 1.0 && progress.now_ns <= progress.limit_ns);
            }
            assert_eq!(runner.result(), whole);
        }
    }

    /// A window run again shows what the run, traced from the beginning, shows there.
    #[test]
    fn a_window_is_a_part_of_the_whole() {
        let scenario = scenario("vanilla cfq", "mixed", 600);
        let mut traced = Simulation::new(&scenario).expect("it starts");
        traced.set_trace_limit(usize::MAX);
        while let Advance::More(_) = traced.advance(Budget::events(1000)) {}
        let whole = traced.take_trace();
        let runner = run(&scenario);
        for (from_ns, to_ns) in [(0, 1_000_000), (123_456_789, 200_000_000), (590_000_000, 700_000_000)] {
            let detail = runner.detail(from_ns, to_ns, usize::MAX).expect("it was run");
            let expected: Vec<_> = whole
                .iter()
                .filter(|event| (from_ns..=to_ns.min(600_000_000)).contains(&event.time_ns))
                .copied()
                .collect();
            assert!(!expected.is_empty());
            assert_eq!(detail.events, expected);
            assert_eq!(detail.dropped, 0);
        }
        assert!(whole.iter().any(|event| matches!(event.kind, TraceKind::Mark(..))));
    }

    /// A window that does not fit says how much is missing; an impossible one says why.
    #[test]
    fn windows_are_bounded() {
        let runner = run(&scenario("deadline", "fs-mark", 100));
        let all = runner.detail(0, 100_000_000, usize::MAX).expect("it was run");
        let part = runner.detail(0, 100_000_000, 10).expect("it was run");
        assert_eq!(part.events, all.events[..10]);
        assert_eq!(part.dropped as usize, all.events.len() - 10);
        assert_eq!(runner.detail(5, 5, 10), Err(DetailError::Empty));
        assert_eq!(runner.detail(200_000_000, 300_000_000, 10), Err(DetailError::NotYet(100_000_000)));
    }

    /// There are never more than 16 checkpoints, the first is the beginning, and they are equally far apart.
    #[test]
    fn checkpoints_are_thinned_out() {
        let runner = run(&scenario("deadline", "fs-mark", 300));
        let steps: Vec<u64> = runner.checkpoints.iter().map(|checkpoint| checkpoint.0).collect();
        assert!((8..=CHECKPOINTS_MAX).contains(&steps.len()), "{steps:?}");
        assert!(
            steps.iter().enumerate().all(|(index, &step)| step == index as u64 * runner.checkpoint_steps)
        );
    }

    /// A machine whose clones would fill a tab keeps none: a window is run again from the beginning, and is the same.
    #[test]
    fn large_machines_keep_no_checkpoints() {
        let text = |gib: u32| {
            format!(
                "kernels = \"cfq@2.6.36\"\ntime = \"2 s\"\n[machine.memory]\nsize-mib = {}\n\
                 [workload]\nuse = \"mapped-file-stream\"\nfile-size = \"256 MiB\"\n",
                gib << 10
            )
        };
        let run = |gib| {
            let scenario = Scenario::from_toml(&text(gib)).unwrap_or_else(|problems| panic!("{problems:#?}"));
            let runner = run(&scenario);
            assert_eq!(runner.result().end, EndReason::AllExited);
            let bytes = runner.simulation.world().memory_bytes();
            let detail = runner.detail(40_000_000, 41_000_000, 100).expect("it was run");
            assert!(!detail.states.is_empty());
            (runner.checkpoints.len(), bytes)
        };
        let (checkpoints, bytes) = run(64);
        assert_eq!(checkpoints, 0);
        assert!((200 << 20..300 << 20).contains(&bytes), "{bytes} bytes");
        let (checkpoints, bytes) = run(8);
        assert!((2..=CHECKPOINTS_MAX).contains(&checkpoints), "{checkpoints}");
        assert!(checkpoints * bytes <= CHECKPOINT_BYTES_MAX, "{checkpoints} of {bytes} bytes");
    }

    /// A run that is stopped has what it has, and says that it was stopped.
    #[test]
    fn a_cancelled_run_keeps_what_it_has() {
        let scenario = scenario("deadline", "fs-mark", 300);
        let mut runner = Runner::new(&scenario, RunLabel::default()).expect("it starts");
        assert!(matches!(runner.advance(2000), Step::More(_)));
        runner.cancel();
        assert_eq!(runner.advance(2000), Step::Done);
        let result = runner.result();
        assert_eq!(result.end, EndReason::Cancelled);
        assert!(result.elapsed_ns > 0 && result.elapsed_ns < 300_000_000);
        assert!(runner.detail(0, result.elapsed_ns, 100).is_ok());
    }
}
