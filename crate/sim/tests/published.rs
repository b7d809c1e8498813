//! The published claims at the published length over 8 seeds.
//!
//! Goal: what the tables of July 2010 claim follows from the kernels' rules, with one machine for all
//! columns. Method: every run of `stallarium published cfq-noidle-2010`; all firm claims must hold, and
//! the open ones, for which no rule is known, must be run and have a number and a note.

use stallarium_sim::report::published::{Plan, PlannedRun};
use stallarium_sim::report::{ClaimStatus, RunLabel, RunResult, Runner};
use stallarium_sim::scenario::Overrides;
use std::sync::Mutex;

/// The project's own target for the median of |ln(simulated ratio / published ratio)|.
const MEDIAN_ERROR_MAX: f64 = 0.35;
const SEEDS: u64 = 8;

fn run(planned: &PlannedRun) -> RunResult {
    let label = RunLabel::new(&planned.column, &planned.case);
    let mut runner = Runner::without_checkpoints(&planned.scenario, label).expect("a published scenario");
    runner.finish();
    runner.result()
}

/// All runs, on as many threads as there are processors; the results do not depend on the order.
fn run_all(plan: &Plan) -> Vec<RunResult> {
    let next = Mutex::new(plan.runs.iter());
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let work = || {
        let mut results = Vec::new();
        loop {
            let planned = next.lock().expect("nobody panicked").next();
            match planned {
                Some(planned) => results.push(run(planned)),
                None => return results,
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no run panics")).collect()
    })
}

#[test]
fn firm_claims_of_cfq_noidle_2010_hold() {
    let plan = Plan::new("cfq-noidle-2010", SEEDS, 1.0, &Overrides::none()).expect("a published experiment");
    let result = plan.result(run_all(&plan)).expect("published data is embedded");
    assert_eq!(result.claims.len(), 12, "every published claim is tried");
    for claim in &result.claims {
        let simulated = claim.simulated.unwrap_or(f64::NAN);
        assert!(simulated.is_finite() && simulated > 0.0, "{} has a number", claim.id);
        match claim.status {
            ClaimStatus::Firm => assert!(claim.holds, "{}: {simulated}", claim.sentence),
            ClaimStatus::Reach | ClaimStatus::Open => {
                assert!(claim.sentence.contains("no rule known"), "{}: why it is open", claim.sentence);
            }
        }
    }
    let error = result.median_abs_log_error.expect("cells are scored");
    assert!(error < MEDIAN_ERROR_MAX, "the median error is {error}");
}
