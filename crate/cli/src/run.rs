//! `stallarium run`.

use crate::args::RunArgs;
use crate::failure::{Failure, Status, print, print_json};
use crate::input::{Subject, window, words};
use crate::jobs::{Progress, drive, is_interrupted, report_short_runs, run_all, watch};
use stallarium_sim::report::{Detail, Runner, blktrace, events};

pub(crate) fn run(args: &RunArgs) -> Result<Status, Failure> {
    let subject = Subject::read(&args.subject)?;
    let form = &args.form;
    if form.events || form.blkparse || form.blktrace.is_some() {
        return closely(args, &subject);
    }
    if args.window.is_some() {
        return Err("--window goes with --events, --blkparse or --blktrace".to_owned().into());
    }
    let results = run_all(&subject.runs(subject.file.seed), 0)?;
    for (index, result) in results.iter().enumerate() {
        if form.json {
            print_json(result)?;
        } else if form.csv {
            print(&result.timelines_csv())?;
        } else {
            let gap = if index == 0 { "" } else { "\n\n" };
            print(&format!("{gap}{}", result.text(words(&args.subject))))?;
        }
    }
    if let Some(pinned) = subject.link.digest {
        compare_digest(pinned, &subject, results.first().map(|result| result.digest.0));
    }
    let is_short = report_short_runs(&results);
    Ok(if is_interrupted() {
        Status::Interrupted
    } else if is_short {
        Status::Fails
    } else {
        Status::Fine
    })
}

/// A link may carry the digest that it was made with.
fn compare_digest(pinned: u64, subject: &Subject, digest: Option<u64>) {
    if digest.is_some_and(|digest| digest != pinned) {
        let why = if subject.link.is_of_another_model() {
            "it was made with another version of the model"
        } else {
            "the result is not the one that was shared"
        };
        eprintln!("stallarium: the link's digest is {pinned:016x}: {why}");
    }
}

/// A window of one run.
fn closely(args: &RunArgs, subject: &Subject) -> Result<Status, Failure> {
    let (label, scenario) = subject.only_run("a window is one kernel's: choose one")?;
    let (from_ns, to_ns) = match &args.window {
        Some(text) => window(text)?,
        None => (0, scenario.limits.time_ns),
    };
    watch();
    let mut runner = Runner::new(&scenario, label).map_err(|error| error.to_string())?;
    let progress = Progress::new(to_ns.min(scenario.limits.time_ns));
    drive(&mut runner, to_ns, &progress);
    progress.finish();
    let detail = runner.detail(from_ns, to_ns, args.limit).map_err(|error| format!("--window: {error}"))?;
    write_detail(args, &detail)?;
    if detail.dropped != 0 {
        eprintln!(
            "stallarium: {} more events did not fit: ask for a shorter --window or a larger --limit",
            detail.dropped
        );
    }
    Ok(if is_interrupted() { Status::Interrupted } else { Status::Fine })
}

fn write_detail(args: &RunArgs, detail: &Detail) -> Result<(), Failure> {
    if let Some(path) = &args.form.blktrace {
        let written = std::fs::write(path, blktrace::binary(detail));
        return written.map_err(|error| format!("writing {}: {error}", path.display()).into());
    }
    print(&if args.form.blkparse { blktrace::text(detail) } else { events::text(detail) })
}
