//! An experiment's text.

use super::{Case, Column, Experiment, Interactive, Metric, Rate};
use crate::scenario::check::MAX_TIME_NS;
use crate::text::{Field, Node, Problem, Problems, Scale, Table};

pub(super) fn read(text: &str) -> Result<Experiment, Vec<Problem>> {
    let root = Node::parse("experiment", text)?;
    let mut problems = Problems::default();
    let experiment = read_root(&Field::root("experiment", &root), &mut problems);
    if let Some(experiment) = &experiment {
        check_names(experiment, &Field::root("experiment", &root), &mut problems);
    }
    problems.or(experiment)
}

fn read_root(root: &Field<'_>, problems: &mut Problems) -> Option<Experiment> {
    let mut table = root.table(problems)?;
    let mut words = |key| words(&mut table, key, problems);
    let (id, title, question) = (words("id"), words("title"), words("question"));
    let (date, published_table) = (words("date"), words("table"));
    let machine = table.require("machine", "the machine that all columns share", problems);
    let columns = each(&mut table, "column", problems, read_column);
    let cases = each(&mut table, "case", problems, read_case);
    let metrics = each(&mut table, "metric", problems, read_metric);
    let interactive = table.require("interactive", "what the page shows first", problems);
    let interactive = interactive.and_then(|field| read_interactive(&field, problems));
    table.finish(problems);
    let (cases, workloads) = cases.into_iter().unzip();
    Some(Experiment {
        id: id?,
        title: title?,
        question: question?,
        date: date?,
        table: published_table?,
        columns,
        cases,
        metrics,
        interactive: interactive?,
        machine: machine?.node.clone(),
        workloads,
    })
}

/// Text that must be there.
fn words(table: &mut Table<'_>, key: &'static str, problems: &mut Problems) -> Option<String> {
    let field = table.require(key, "some text", problems)?;
    field.text(problems).map(|text| text.trim().to_owned())
}

/// Text that may be absent.
fn maybe_words(table: &mut Table<'_>, key: &'static str, problems: &mut Problems) -> Option<String> {
    table.field(key)?.text(problems).map(|text| text.trim().to_owned())
}

/// Every item of a list of tables that must not be empty.
fn each<T>(
    table: &mut Table<'_>,
    key: &'static str,
    problems: &mut Problems,
    read: fn(&mut Table<'_>, &mut Problems) -> Option<T>,
) -> Vec<T> {
    let list = table.require(key, "at least one", problems);
    list.map(|list| list.tables(problems, read)).unwrap_or_default()
}

fn read_column(table: &mut Table<'_>, problems: &mut Problems) -> Option<Column> {
    let (label, kernel) = (words(table, "label", problems), words(table, "kernel", problems));
    let about = maybe_words(table, "about", problems).unwrap_or_default();
    Some(Column { label: label?, kernel: kernel?, about })
}

fn read_case(table: &mut Table<'_>, problems: &mut Problems) -> Option<(Case, (Node, Option<Node>))> {
    let (name, title) = (words(table, "name", problems), words(table, "title", problems));
    let workload = table.require("workload", "what runs", problems);
    let machine = table.field("machine").map(|field| field.node.clone());
    let mut time = |key| {
        let field = table.require(key, "how long it runs", problems)?;
        field.quantity(Scale::Time, &(1..=MAX_TIME_NS), problems)
    };
    let (time_ns, interactive_time_ns) = (time("time"), time("interactive-time"));
    let case =
        Case { name: name?, title: title?, time_ns: time_ns?, interactive_time_ns: interactive_time_ns? };
    Some((case, (workload?.node.clone(), machine)))
}

fn read_metric(table: &mut Table<'_>, problems: &mut Problems) -> Option<Metric> {
    let mut words_of = |key| words(table, key, problems);
    let (row, case, unit) = (words_of("row"), words_of("case"), words_of("unit"));
    if let Some(counter) = maybe_words(table, "counter", problems) {
        let (rate, process) = (Rate::Counter(counter), String::new());
        return Some(Metric { row: row?, case: case?, process, rate, unit: unit? });
    }
    if let Some(time) = table.field("time") {
        let kinds = [("elapsed", false), ("relative", true)];
        let is_relative = time.one_of(&kinds, problems);
        let rate = is_relative.map(|is| if is { Rate::RelativeTime } else { Rate::Elapsed });
        return Some(Metric { row: row?, case: case?, process: String::new(), rate: rate?, unit: unit? });
    }
    let process = words(table, "process", problems);
    let mark = maybe_words(table, "mark", problems);
    let bytes = table.field("bytes");
    let directions = [("read", true), ("written", false)];
    let is_read = bytes.map(|field| field.one_of(&directions, problems));
    let rate = match (mark, is_read) {
        (Some(mark), None) => Rate::Mark(mark),
        (None, Some(is_read)) => {
            if is_read? {
                Rate::BytesRead
            } else {
                Rate::BytesWritten
            }
        }
        _ => {
            problems.push(table.problem("a metric is a mark, bytes, a counter or a time, one of them"));
            return None;
        }
    };
    Some(Metric { row: row?, case: case?, process: process?, rate, unit: unit? })
}

fn read_interactive(field: &Field<'_>, problems: &mut Problems) -> Option<Interactive> {
    let mut table = field.table(problems)?;
    let case = words(&mut table, "case", problems);
    let columns =
        table.require("columns", "labels of columns", problems).and_then(|field| field.list(problems));
    let columns = columns.unwrap_or_default();
    let labels = columns.iter().filter_map(|label| label.text(problems)).map(str::to_owned).collect();
    table.finish(problems);
    Some(Interactive { case: case?, columns: labels })
}

/// What refers to something refers to what is there.
fn check_names(experiment: &Experiment, root: &Field<'_>, problems: &mut Problems) {
    let cases = || experiment.cases.iter().map(|case| case.name.as_str());
    let labels = || experiment.columns.iter().map(|column| column.label.as_str());
    let metrics = experiment.metrics.iter().map(|metric| metric.case.as_str());
    for case in metrics.chain([experiment.interactive.case.as_str()]) {
        if cases().all(|name| name != case) {
            let problem = root.problem(format!("there is no case \"{case}\""));
            problems.push(problem.with_names(case, cases()));
        }
    }
    for column in &experiment.interactive.columns {
        if labels().all(|label| label != column) {
            let problem = root.problem(format!("there is no column \"{column}\""));
            problems.push(problem.with_names(column, labels()));
        }
    }
}
