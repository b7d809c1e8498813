//! Runs in parallel, with progress on stderr and a clean end on Ctrl-C.

use crate::failure::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use stallarium_sim::report::{EndReason, RunLabel, RunResult, Runner, Step};
use stallarium_sim::scenario::Scenario;
use std::io::IsTerminal as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Events between two looks at the clock and at Ctrl-C.
const EVENTS_AT_A_TIME: u64 = 50_000;

/// Whether somebody has pressed Ctrl-C since [`watch`] was first called.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C ends runs where they are, and the second the program.
pub(crate) fn watch() {
    static WATCHED: OnceLock<()> = OnceLock::new();
    WATCHED.get_or_init(|| {
        // Without a handler Ctrl-C ends the program at once, which is no worse than before.
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                std::process::exit(130);
            }
        });
    });
}

/// Whether somebody has pressed Ctrl-C.
pub(crate) fn is_interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// A bar on stderr, if somebody is there to see it.
pub(crate) struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar for runs of so much simulated time in all, in nanoseconds.
    pub(crate) fn new(total_ns: u64) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden() };
        }
        let bar = ProgressBar::new(milliseconds(total_ns));
        let template = "{bar:30} {percent:>3} %  {msg}  {elapsed} gone, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self { bar }
    }

    fn add(&self, ns: u64) {
        self.bar.inc(milliseconds(ns));
        let seconds = self.bar.elapsed().as_secs_f64();
        let simulated = self.bar.position() as f64 / 1000.0;
        if seconds > 0.0 {
            self.bar.set_message(format!(
                "{simulated:.1} s simulated, {:.1} times as fast as the machine",
                simulated / seconds
            ));
        }
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn milliseconds(ns: u64) -> u64 {
    ns / 1_000_000
}

/// Runs to its end, to `until_ns`, or to Ctrl-C.
pub(crate) fn drive(runner: &mut Runner, until_ns: u64, progress: &Progress) {
    let mut done_ns = runner.progress().now_ns;
    while let Step::More(now) = runner.advance(EVENTS_AT_A_TIME) {
        progress.add(now.now_ns - done_ns);
        done_ns = now.now_ns;
        if is_interrupted() {
            runner.cancel();
        } else if now.now_ns > until_ns {
            break;
        }
    }
    progress.add(runner.progress().now_ns - done_ns);
}

/// Runs everything, `jobs` at a time (0 for as many as there are processors). After Ctrl-C what has begun is cut short
/// and the rest left out.
pub(crate) fn run_all(runs: &[(RunLabel, Scenario)], jobs: usize) -> Result<Vec<RunResult>, Failure> {
    watch();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build();
    let pool = pool.map_err(|error| format!("starting {jobs} threads: {error}"))?;
    let total_ns = runs.iter().map(|(_, scenario)| scenario.limits.time_ns).fold(0, u64::saturating_add);
    let progress = Progress::new(total_ns);
    let run_one = |(label, scenario): &(RunLabel, Scenario)| -> Result<Option<RunResult>, Failure> {
        if is_interrupted() {
            return Ok(None);
        }
        let runner = Runner::without_checkpoints(scenario, label.clone());
        let mut runner = runner.map_err(|error| format!("{}: {error}", label.kernel))?;
        drive(&mut runner, u64::MAX, &progress);
        Ok(Some(runner.result()))
    };
    let results: Result<Vec<Option<RunResult>>, Failure> =
        pool.install(|| runs.par_iter().map(run_one).collect());
    progress.finish();
    Ok(results?.into_iter().flatten().collect())
}

/// Says on stderr which runs ended before their time, and whether any did.
pub(crate) fn report_short_runs(results: &[RunResult]) -> bool {
    let mut any = false;
    for result in results.iter().filter(|result| !result.is_complete()) {
        any = true;
        if result.end != EndReason::Cancelled {
            let (kernel, case, seed) = (&result.kernel, &result.case, result.seed);
            eprintln!("stallarium: {kernel} {case} seed {seed}: {}", result.end.describe());
        }
    }
    if is_interrupted() {
        eprintln!("stallarium: stopped by Ctrl-C; runs that were cut short are left out");
    }
    any
}
