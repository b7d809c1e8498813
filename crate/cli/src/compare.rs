//! `stallarium compare`.

use crate::args::CompareArgs;
use crate::failure::{Failure, Status, print, print_json};
use crate::input::{Subject, words};
use crate::jobs::{is_interrupted, report_short_runs, run_all};
use stallarium_sim::report::{compare, explain};
use std::fmt::Write as _;

pub(crate) fn compare(args: &CompareArgs) -> Result<Status, Failure> {
    let subject = Subject::read(&args.subject)?;
    let first = subject.file.seed;
    let last = first.saturating_add(args.seeds - 1);
    let runs: Vec<_> = (first..=last).flat_map(|seed| subject.runs(seed)).collect();
    let results = run_all(&runs, args.jobs)?;
    let rows = compare::natural_rows(&results);
    let table = compare::table("comparison", &subject.title, &subject.labels(), 0, &rows, &results);
    if args.form.json {
        print_json(&table)?;
    } else if args.form.csv {
        print(&table.csv())?;
    } else if args.form.markdown {
        print(&table.markdown())?;
    } else {
        let mut text = table.text();
        text.push_str("\nWhy\n");
        let complete: Vec<_> = results.iter().filter(|result| result.is_complete()).cloned().collect();
        for sentence in explain::comparison(&complete, words(&args.subject)) {
            let _ = writeln!(text, "  {sentence}");
        }
        print(&text)?;
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
