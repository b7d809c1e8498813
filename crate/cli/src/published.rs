//! `stallarium published`.

use crate::args::PublishedArgs;
use crate::failure::{Failure, Status, print, print_json};
use crate::jobs::{is_interrupted, report_short_runs, run_all};
use stallarium_sim::published::real_kernel;
use stallarium_sim::report::published::{Plan, PublishedJson};
use stallarium_sim::report::{ExperimentResult, RunLabel};
use stallarium_sim::scenario::{Experiment, Overrides};

pub(crate) fn published(args: &PublishedArgs) -> Result<Status, Failure> {
    let ids: Vec<&str> = match &args.id {
        Some(id) => vec![id],
        None if args.real => Vec::new(),
        None => Experiment::ids().collect(),
    };
    // Everything that can be refused is refused before anything is run.
    let overrides = Overrides::from_document("command line");
    let plans = ids.iter().map(|id| Plan::new(id, args.seeds, args.scale, &overrides));
    let plans = plans.collect::<Result<Vec<Plan>, _>>()?;
    let mut status = if args.real { real(args)? } else { Status::Fine };
    for (index, plan) in plans.iter().enumerate() {
        let label = |run: &stallarium_sim::report::published::PlannedRun| {
            (RunLabel::new(&run.column, &run.case), run.scenario.clone())
        };
        let runs: Vec<_> = plan.runs.iter().map(label).collect();
        let results = run_all(&runs, args.jobs)?;
        let is_short = report_short_runs(&results);
        let result = plan.result(results)?;
        show(args, &result, index)?;
        if is_interrupted() {
            return Ok(Status::Interrupted);
        }
        let holds = if args.firm_only {
            result.all_firm_claims_hold()
        } else {
            result.claims.iter().all(|claim| claim.holds)
        };
        if is_short || !holds {
            status = Status::Fails;
        }
    }
    Ok(status)
}

/// Replays the traces of real kernels.
fn real(args: &PublishedArgs) -> Result<Status, Failure> {
    let comparisons = real_kernel::compare_all().map_err(|error| error.to_string())?;
    let mut status = Status::Fine;
    for comparison in &comparisons {
        if comparison.first_divergence.is_some() {
            status = Status::Fails;
        }
        if args.form.json {
            let (starts, decisions) = (&comparison.starts, &comparison.decisions);
            print_json(&serde_json::json!({
                "real": comparison.name,
                "kernel": comparison.kernel,
                "bios": comparison.bios,
                "starts": {
                    "recorded": starts.recorded, "simulated": starts.simulated, "in_order": starts.in_order,
                },
                "decisions": {
                    "recorded": decisions.recorded,
                    "simulated": decisions.simulated,
                    "in_order": decisions.in_order,
                },
                "start_difference_ns": comparison.start_difference_ns,
                "done_difference_ns": comparison.done_difference_ns,
                "first_divergence": comparison.first_divergence,
            }))?;
        } else {
            print(&format!("{comparison}\n"))?;
        }
    }
    Ok(status)
}

fn show(args: &PublishedArgs, result: &ExperimentResult, index: usize) -> Result<(), Failure> {
    if args.form.json {
        return print_json(&PublishedJson::from(result));
    }
    let gap = if index == 0 { "" } else { "\n\n" };
    let tables = || result.tables.iter();
    print(gap)?;
    if args.form.csv {
        print(&tables().map(|table| table.csv()).collect::<String>())
    } else if args.form.markdown {
        print(&tables().map(|table| table.markdown()).collect::<String>())
    } else {
        print(&result.text())
    }
}
