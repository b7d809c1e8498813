//! The published tables beside the simulated ones, what they claim, and the long run that decides: in words.

use super::setting::Setting;
use crate::figures::Published;
use crate::significant;
use serde::{Deserialize, Serialize};
use stallarium_sim::report::explain::duration;
use stallarium_sim::report::published::{Plan, published_data, simulated_table};
use stallarium_sim::report::{Cell, Claim, ClaimResult, ClaimStatus, RowResult, RunResult, TableResult};
use stallarium_sim::scenario::{Experiment, Overrides, form};
use stallarium_sim::short_sort;
use stallarium_sim::text::format_time;

/// Published beside simulated, in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The tables.
    pub tables: Vec<WordTable>,
    /// What they claim; empty while too little has been run to say.
    pub claims: Vec<WordClaim>,
    /// Why the kernels differ, in sentences; only of a long run.
    pub explanations: Vec<String>,
    /// What was run, in sentences.
    pub remark: String,
}

/// A table in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordTable {
    /// What it shows.
    pub caption: String,
    /// Labels of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<WordRow>,
}

/// A row in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordRow {
    /// What is measured.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// A remark; may be empty.
    pub note: String,
    /// One cell for each column.
    pub cells: Vec<WordCell>,
}

/// A cell in words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordCell {
    /// The simulated number with its spread; empty when it was not run.
    pub simulated: String,
    /// The published number.
    pub published: String,
    /// The gain over the baseline; empty in its own column, and when there is none to speak of.
    pub gain: String,
}

/// A claim in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordClaim {
    /// What it says.
    pub says: String,
    /// `firm`, `to reach` or `open`.
    pub status: String,
    /// `holds`, `fails`, `not run` or `not run at this size`.
    pub verdict: String,
    /// Both numbers and the bounds, and what is known.
    pub sentence: String,
}

/// The table as far as these runs fill it. Claims are stated for long runs, so none is judged.
///
/// # Errors
/// The published data cannot be read: a defect of the program.
pub(super) fn quick_look(
    experiment: &Experiment,
    setting: &Setting,
    runs: &[RunResult],
) -> Result<Judged, String> {
    let published = published_data(experiment)?;
    // A case that the table does not measure stands for the one it does.
    let measured = experiment.metrics.first().map(|metric| &metric.case);
    let is_measured = experiment.metrics.iter().any(|metric| metric.case == setting.case);
    let mut runs = runs.to_vec();
    if let (false, Some(measured)) = (is_measured, measured) {
        runs.iter_mut().for_each(|run| run.case.clone_from(measured));
    }
    let runs = &runs[..];
    let table = simulated_table(experiment, &published, runs)?;
    let seconds = runs.first().map_or(String::new(), |run| duration(run.elapsed_ns as f64));
    let mut remark = format!(
        "From \"{}\", {}, {}. Simulated here: one seed of {seconds}, a quick look. ",
        published.title, published.list, published.date
    );
    remark.push_str(&changes(setting));
    if !is_measured {
        remark.push_str("It is a smaller case than the published one: compare ratios, not numbers. ");
    }
    remark.push_str(
        "What the table claims is stated for the published length and several seeds: run that to judge it.",
    );
    let tables = [table];
    let tried = |claim: &Claim| {
        let result = claim.try_on(&tables);
        let words = claim_in_words(&result);
        // Numbers of the published size are not those of a smaller case; ratios are its own.
        if is_measured || claim.kind.is_ratio() { words } else { not_this_size(&result, words) }
    };
    let claims = published.claims.iter().map(tried).collect();
    Ok(Judged {
        tables: tables.iter().map(table_in_words).collect(),
        claims,
        explanations: Vec::new(),
        remark,
    })
}

/// What was changed of the published machine, in a sentence; empty when nothing was.
fn changes(setting: &Setting) -> String {
    let changed: Vec<String> = setting
        .overrides
        .iter()
        .filter(|(path, _)| *path != "time")
        .map(|(path, value)| format!("{path} = {value}"))
        .collect();
    if changed.is_empty() { String::new() } else { format!("Changed: {}. ", changed.join(", ")) }
}

/// The long run: every kernel of the published table, in every case, with several seeds.
#[derive(Clone, Debug)]
pub struct Verdict {
    plan: Plan,
    setting: Setting,
    runs: Vec<RunResult>,
}

/// One run of the long run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// The setting with this kernel alone.
    pub setting: Setting,
    /// The kernel's label.
    pub kernel: String,
    /// How much time it simulates, nanoseconds.
    pub limit_ns: u64,
}

impl Verdict {
    /// The long run with the changes of a setting. Its length is the published one, whatever the setting says.
    ///
    /// # Errors
    /// What is wrong with the setting, in sentences.
    pub fn new(setting: &Setting, seeds: u32) -> Result<Self, String> {
        let mut overrides = Overrides::from_document("page");
        overrides.values.clone_from(&setting.overrides);
        overrides.values.remove("time");
        let plan = Plan::new(&setting.experiment, seeds.into(), 1.0, &overrides).map_err(|problems| {
            let texts: Vec<String> = problems.iter().map(form::complaint).collect();
            texts.join(" ")
        })?;
        Ok(Self { plan, setting: setting.clone(), runs: Vec::new() })
    }

    /// Every run, the longest first, so that no worker is left alone with one at the end.
    #[must_use]
    pub fn tasks(&self) -> Vec<Task> {
        let task = |run: &stallarium_sim::report::published::PlannedRun| {
            let limit_ns = run.scenario.limits.time_ns;
            let mut overrides = self.setting.overrides.clone();
            overrides.insert("time".to_owned(), format_time(limit_ns));
            let setting = Setting {
                case: run.case.clone(),
                kernels: vec![run.column.clone()],
                seed: run.scenario.seed.to_string(),
                overrides,
                ..self.setting.clone()
            };
            Task { setting, kernel: run.column.clone(), limit_ns }
        };
        let mut tasks: Vec<Task> = self.plan.runs.iter().map(task).collect();
        short_sort::sort_by_key(&mut tasks, |task| std::cmp::Reverse(task.limit_ns));
        tasks
    }

    /// Keeps the result of a run.
    pub fn put(&mut self, mut result: RunResult) {
        // A hundred runs' timelines are not looked at, and would fill the memory.
        result.timelines = Vec::new();
        self.runs.push(result);
    }

    /// What the runs say.
    ///
    /// # Errors
    /// The published data cannot be read: a defect of the program.
    pub fn judge(&self) -> Result<Judged, String> {
        let result = self.plan.result(self.runs.clone())?;
        let firm = result.claims.iter().filter(|claim| claim.status == ClaimStatus::Firm);
        let holding = firm.clone().filter(|claim| claim.holds).count();
        let error = result.median_abs_log_error.map_or(String::new(), |error| {
            format!(
                " The typical ratio to the baseline is off by a factor of {}.",
                significant(libm::exp(error))
            )
        });
        let remark = format!(
            "Simulated: the published length, {} seeds. {}Of {} firm claims {holding} hold.{error}",
            self.plan.seeds,
            changes(&self.setting),
            firm.count(),
        );
        Ok(Judged {
            tables: result.tables.iter().map(table_in_words).collect(),
            claims: result.claims.iter().map(claim_in_words).collect(),
            explanations: result.explanations,
            remark,
        })
    }
}

fn table_in_words(table: &TableResult) -> WordTable {
    let baseline = table.columns.get(table.baseline).map_or("", String::as_str);
    WordTable {
        caption: format!(
            "{}: simulated, published, and the simulated gain over {baseline}",
            capital(&table.caption)
        ),
        columns: table.columns.clone(),
        rows: table.rows.iter().map(row_in_words).collect(),
    }
}

/// The text with a capital letter, unless it begins with a program's name: `fs_mark` is written as it is.
pub(super) fn capital(text: &str) -> String {
    let is_name = text.split_whitespace().next().is_some_and(|word| word.contains('_'));
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if !is_name => format!("{}{}", first.to_ascii_uppercase(), letters.as_str()),
        _ => text.to_owned(),
    }
}

fn row_in_words(row: &RowResult) -> WordRow {
    WordRow {
        metric: row.metric.clone(),
        unit: row.unit.clone(),
        note: if row.is_unexplained {
            "unexplained by its author: not scored".to_owned()
        } else {
            String::new()
        },
        cells: row.cells.iter().map(cell_in_words).collect(),
    }
}

fn cell_in_words(cell: &Cell) -> WordCell {
    let numbers = &cell.statistics;
    let simulated = match numbers.count {
        0 => String::new(),
        1 => significant(numbers.mean),
        _ => format!("{} ± {}", significant(numbers.mean), significant(numbers.stddev)),
    };
    let is_chance = cell.difference.is_some_and(|difference| !difference.is_real());
    let gain = match cell.gain_percent {
        _ if numbers.count == 0 => String::new(),
        Some(_) if is_chance => "no difference".to_owned(),
        Some(gain) => {
            format!("{}{} %", if gain > 0.0 { "+" } else { "" }, significant(gain.round()).replace('-', "−"))
        }
        None => String::new(),
    };
    WordCell { simulated, published: cell.published.map_or(String::new(), significant), gain }
}

fn claim_in_words(claim: &ClaimResult) -> WordClaim {
    let status = match claim.status {
        ClaimStatus::Firm => "firm",
        ClaimStatus::Reach => "to reach",
        ClaimStatus::Open => "open",
    };
    let verdict = match (claim.simulated, claim.holds) {
        (None, _) => "not run",
        (Some(_), true) => "holds",
        (Some(_), false) => "fails",
    };
    let sentence = claim.sentence.strip_prefix(&format!("{}: ", claim.says)).unwrap_or(&claim.sentence);
    let bounds = match (claim.simulated, claim.published) {
        (None, Some(published)) => format!("Published {}.", significant(published)),
        _ => capital(sentence),
    };
    WordClaim {
        says: capital(&claim.says),
        status: status.to_owned(),
        verdict: verdict.to_owned(),
        sentence: bounds,
    }
}

/// A claim about numbers that a case of another size cannot meet or miss.
fn not_this_size(claim: &ClaimResult, words: WordClaim) -> WordClaim {
    let Some(simulated) = claim.simulated else { return words };
    let published =
        claim.published.map_or_else(String::new, |number| format!(", published {}", significant(number)));
    let sentence = format!(
        "Simulated {} in this smaller case{published}: judged at the published size only.",
        significant(simulated)
    );
    WordClaim { verdict: "not run at this size".to_owned(), sentence, ..words }
}

/// The published numbers of an experiment, by row and column.
#[must_use]
pub fn numbers(experiment: &Experiment) -> Published {
    let Ok(table) = published_data(experiment).and_then(|data| simulated_table(experiment, &data, &[]))
    else {
        return Published::new();
    };
    let mut numbers = Published::new();
    for row in &table.rows {
        for (column, cell) in table.columns.iter().zip(&row.cells) {
            if let Some(published) = cell.published {
                numbers.push(((row.metric.clone(), column.clone()), published));
            }
        }
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::super::{PageRun, open_link};
    use super::*;

    fn finish(setting: &Setting, kernel: &str) -> RunResult {
        let mut run = PageRun::new(setting, kernel, false).expect("right");
        while !run.advance(u64::MAX) {}
        run.result()
    }

    /// With one kernel run, its cell has both numbers, and the others the published one alone.
    #[test]
    fn a_quick_look_fills_what_was_run() {
        let mut setting = open_link("").setting;
        setting.overrides.insert("time".into(), "500 ms".into());
        setting.overrides.insert("machine.cpus".into(), "1".into());
        let experiment = Experiment::find(&setting.experiment).expect("embedded");
        let judged = quick_look(&experiment, &setting, &[finish(&setting, "deadline")]).expect("readable");
        let row = &judged.tables[0].rows[0];
        assert_eq!((row.metric.as_str(), row.cells.len()), ("fs_mark alone", 5));
        assert!(!row.cells[0].simulated.is_empty() && row.cells[0].published == "529", "{row:?}");
        assert!(row.cells[1..].iter().all(|cell| cell.simulated.is_empty() && !cell.published.is_empty()));
        assert!(
            judged.remark.contains("machine.cpus = 1") && judged.remark.contains("500 ms"),
            "{}",
            judged.remark
        );
        assert!(judged.claims.iter().all(|claim| claim.verdict == "not run"));
        let cell = (("mixed fs_mark".to_owned(), "vanilla cfq".to_owned()), 6.6);
        assert!(numbers(&experiment).contains(&cell));
    }

    /// The page's own case of the memory experiment is smaller than the published run. Every ratio that is claimed goes the same way in it, from
    /// one on; numbers of the whole run are not judged.
    #[test]
    fn every_sign_holds_in_the_smaller_case() {
        let setting = open_link("1t.experiment=congestion-wait-2010").setting;
        let experiment = Experiment::find(&setting.experiment).expect("embedded");
        assert_eq!(setting.case, "late");
        assert!(
            experiment.metrics.iter().all(|metric| metric.case != setting.case),
            "it is not the measured one"
        );
        let labels = experiment.columns.iter().map(|column| column.label.as_str());
        let runs: Vec<RunResult> = labels.map(|label| finish(&setting, label)).collect();
        let judged = quick_look(&experiment, &setting, &runs).expect("readable");
        let claims = published_data(&experiment).expect("readable").claims;
        assert_eq!(claims.len(), judged.claims.len());
        let mut directions = 0;
        for (claim, words) in claims.iter().zip(&judged.claims) {
            if !claim.kind.is_ratio() {
                assert_eq!(words.verdict, "not run at this size", "{}", claim.id);
                assert!(words.sentence.contains("smaller case"), "{}", words.sentence);
                continue;
            }
            assert_eq!(words.verdict, "holds", "{}: {}", claim.id, words.sentence);
            // A claim that bounds a ratio on one side of 1 claims a direction.
            let (least, most) = (claim.at_least.unwrap_or(0.0), claim.at_most.unwrap_or(f64::INFINITY));
            if least > 1.0 || most < 1.0 {
                directions += 1;
                let (of, to) = (&runs[1], &runs[0]);
                let number = |run: &RunResult| match run
                    .memory
                    .as_ref()
                    .and_then(|memory| memory.counter(&claim.metric))
                {
                    Some(count) => count as f64,
                    None => run.elapsed_ns as f64,
                };
                assert_eq!(
                    (of.kernel.as_str(), to.kernel.as_str()),
                    (claim.of[0].as_str(), claim.to.as_deref().unwrap_or(""))
                );
                assert_eq!(number(of) > number(to), least > 1.0, "{}", claim.id);
            }
        }
        assert!(directions >= 5, "{directions} claims have a direction");
    }

    /// The long run has every kernel in every case with every seed, and each of its tasks is one that can be run.
    #[test]
    fn the_long_run_is_complete_and_can_be_run() {
        let mut setting = open_link("").setting;
        setting.overrides.insert("time".into(), "1 ms".into());
        setting.overrides.insert("machine.hz".into(), "250".into());
        let verdict = Verdict::new(&setting, 2).expect("right");
        let tasks = verdict.tasks();
        assert_eq!(tasks.len(), 5 * 3 * 2);
        assert!(tasks.windows(2).all(|pair| pair[0].limit_ns >= pair[1].limit_ns));
        for task in tasks {
            let run = PageRun::new(&task.setting, &task.kernel, false).expect("right");
            assert_eq!(run.limit_ns(), task.limit_ns);
            assert_eq!(task.setting.overrides.get("machine.hz").expect("said"), "250");
        }
        assert!(Verdict::new(&Setting { experiment: "none".into(), ..setting }, 2).is_err());
    }

    /// Once its runs are there, claims are tried: whatever they say, both numbers are named.
    #[test]
    fn the_long_run_is_judged() {
        let mut verdict = Verdict::new(&open_link("").setting, 1).expect("right");
        for mut task in verdict.tasks().into_iter().filter(|task| task.setting.case == "fs-mark") {
            task.setting.overrides.insert("time".into(), "400 ms".into());
            verdict.put(finish(&task.setting, &task.kernel));
        }
        let judged = verdict.judge().expect("readable");
        let alone = judged
            .claims
            .iter()
            .find(|claim| claim.sentence.contains("published 4.9"))
            .expect("a claim about both alone");
        assert!(alone.verdict == "holds" || alone.verdict == "fails", "{alone:?}");
        assert!(judged.tables[0].rows[0].cells[0].gain.starts_with('+'), "{:?}", judged.tables[0].rows[0]);
        assert!(judged.remark.contains("firm claims"));
    }
}
