//! Published tables beside simulated ones.

use super::claims::Claim;
use super::compare::{RowSpec, table};
use super::explain;
use super::published_text;
use super::results::{ExperimentResult, RunResult};
use super::statistics::median;
use super::tables::{Better, TableResult};
use crate::scenario::{Case, Experiment, Overrides, Problem, Scenario};
use crate::short_sort;
use serde::Serialize;

/// What `published/ID.toml` says, as far as it is needed here.
#[derive(Clone, Debug)]
pub struct PublishedData {
    /// The experiment's id.
    pub id: String,
    /// The message's subject.
    pub title: String,
    /// When it was sent.
    pub date: String,
    /// The mailing list.
    pub list: String,
    /// The machine, as far as it is known.
    pub machine: String,
    /// Remarks.
    pub notes: String,
    /// The tables.
    pub tables: Vec<PublishedTable>,
    /// What they claim.
    pub claims: Vec<Claim>,
}

/// A published table.
#[derive(Clone, Debug)]
pub struct PublishedTable {
    /// Its id.
    pub id: String,
    /// Its caption.
    pub caption: String,
    /// The column that its author compared with; the first if he did not say.
    pub baseline: Option<String>,
    /// Labels of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<PublishedRow>,
}

/// A row of a published table.
#[derive(Clone, Debug)]
pub struct PublishedRow {
    /// The metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Which direction is good.
    pub better: Better,
    /// The numbers, one for each column.
    pub values: Vec<f64>,
    /// The author could not explain them.
    pub unexplained: bool,
}

/// One run that an experiment needs.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// The column's label.
    pub column: String,
    /// The case's name.
    pub case: String,
    /// What is run.
    pub scenario: Scenario,
}

/// How an experiment is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The experiment.
    pub experiment: Experiment,
    /// Seeds, 1 to this.
    pub seeds: u64,
    /// Length of the workload relative to the published one, more than 0.
    pub scale: f64,
    /// Every run: by case, then column, then seed.
    pub runs: Vec<PlannedRun>,
}

impl Plan {
    /// Every kernel of the published table in every case, with seeds 1 to `seeds`; the time of each case times `scale`.
    ///
    /// # Errors
    /// There is no such experiment, the scale makes a run that is too short or too long, or an override does not fit.
    pub fn new(id: &str, seeds: u64, scale: f64, overrides: &Overrides) -> Result<Self, Vec<Problem>> {
        let experiment = Experiment::find(id)?;
        let place = |path: &str| crate::scenario::Place::of_path("command line", path);
        if !(scale.is_finite() && scale > 0.0 && scale <= 100.0) {
            let problem = Problem::new(place("scale"), "the length is a factor on the published one");
            return Err(vec![problem.with_value(scale.to_string()).with_allowed("more than 0, at most 100")]);
        }
        if !(1..=1000).contains(&seeds) {
            let problem = Problem::new(place("seeds"), "this many seeds cannot be run");
            return Err(vec![problem.with_value(seeds.to_string()).with_allowed("1 to 1000")]);
        }
        let mut runs = Vec::new();
        let is_measured = |case: &&Case| experiment.metrics.iter().any(|metric| metric.case == case.name);
        for case in experiment.cases.iter().filter(is_measured) {
            let time_ns = ((case.time_ns as f64 * scale) as u64).max(1);
            let overrides = if scale == 1.0 {
                overrides.clone()
            } else {
                overrides.clone().with("time", &format!("{time_ns} ns"))
            };
            for column in &experiment.columns {
                for seed in 1..=seeds {
                    let scenario = experiment.scenario(&column.label, &case.name, seed, &overrides)?;
                    runs.push(PlannedRun { column: column.label.clone(), case: case.name.clone(), scenario });
                }
            }
        }
        Ok(Self { experiment, seeds, scale, runs })
    }

    /// What the finished runs, in any order, say about the experiment.
    ///
    /// # Errors
    /// The published data of the experiment cannot be read: a defect of the program.
    pub fn result(&self, mut runs: Vec<RunResult>) -> Result<ExperimentResult, String> {
        let experiment = &self.experiment;
        let published = published_data(experiment)?;
        let tables = vec![simulated_table(experiment, &published, &runs)?];
        let claims = published.claims.iter().map(|claim| claim.try_on(&tables)).collect();
        let position = |run: &RunResult| {
            let case = experiment.cases.iter().position(|case| case.name == run.case);
            let column = experiment.columns.iter().position(|column| column.label == run.kernel);
            (case, column, run.seed)
        };
        short_sort::sort_by_key(&mut runs, position);
        let explanations = explain::experiment(experiment, &tables, &runs);
        for run in &mut runs {
            run.timelines = Vec::new();
        }
        Ok(ExperimentResult {
            experiment: experiment.id.clone(),
            title: experiment.title.clone(),
            seeds: (1..=self.seeds).collect(),
            scale: self.scale,
            model: crate::scenario::link::MODEL_VERSION,
            columns: experiment
                .columns
                .iter()
                .map(|column| (column.label.clone(), column.kernel.clone()))
                .collect(),
            cases: experiment.cases.iter().map(|case| case.name.clone()).collect(),
            median_abs_log_error: median_abs_log_error(&tables),
            runs,
            tables,
            claims,
            explanations,
        })
    }
}

/// The published data of an experiment.
///
/// # Errors
/// There is none, or it cannot be read.
pub fn published_data(experiment: &Experiment) -> Result<PublishedData, String> {
    let text = experiment.published_text().ok_or("no published data is embedded")?;
    published_text::read(text).map_err(|problems| {
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        format!("the published data of {}: {}", experiment.id, problems.join("; "))
    })
}

/// The experiment's table from whatever runs there are: complete or, in the page, still growing.
///
/// # Errors
/// The published data has no table of the experiment's name.
pub fn simulated_table(
    experiment: &Experiment,
    published: &PublishedData,
    runs: &[RunResult],
) -> Result<TableResult, String> {
    let original = published
        .tables
        .iter()
        .find(|table| table.id == experiment.table)
        .ok_or_else(|| format!("no table {} is published for {}", experiment.table, experiment.id))?;
    let columns: Vec<String> = experiment.columns.iter().map(|column| column.label.clone()).collect();
    let baseline = original.baseline.as_ref();
    let baseline = baseline.and_then(|label| columns.iter().position(|column| column == label)).unwrap_or(0);
    let rows: Vec<RowSpec> = experiment
        .metrics
        .iter()
        .map(|metric| {
            let row = original.rows.iter().find(|row| row.metric == metric.row);
            let value = |column: &String| {
                let position = original.columns.iter().position(|label| label == column)?;
                row.and_then(|row| row.values.get(position).copied())
            };
            let published: Vec<Option<f64>> = columns.iter().map(value).collect();
            RowSpec {
                metric: metric.clone(),
                better: row.map_or(Better::Higher, |row| row.better),
                // A number that is missing would shift the others: then none is shown.
                published: published.into_iter().collect::<Option<_>>().unwrap_or_default(),
                is_unexplained: row.is_some_and(|row| row.unexplained),
            }
        })
        .collect();
    Ok(table(&original.id, &original.caption, &columns, baseline, &rows, runs))
}

/// Median of |ln(simulated ratio / published ratio)| over the scored cells: each cell's ratio to its row's baseline.
/// Rows that their author calls unexplained are not scored.
#[must_use]
pub fn median_abs_log_error(tables: &[TableResult]) -> Option<f64> {
    let mut errors = Vec::new();
    for table in tables {
        for row in table.rows.iter().filter(|row| !row.is_unexplained) {
            let Some(base) = row.cells.get(table.baseline) else { continue };
            for (index, cell) in row.cells.iter().enumerate() {
                let (Some(published), Some(published_base)) = (cell.published, base.published) else {
                    continue;
                };
                if index == table.baseline || cell.values.is_empty() || base.values.is_empty() {
                    continue;
                }
                let simulated = super::claims::ratio(cell.statistics.mean, base.statistics.mean);
                let published = super::claims::ratio(published, published_base);
                errors.push(libm::log(simulated / published).abs());
            }
        }
    }
    median(&errors)
}

/// What `stallarium published --json` prints for one experiment, on one line.
#[derive(Clone, Debug, Serialize)]
pub struct PublishedJson<'r> {
    experiment: &'r str,
    seeds: usize,
    scale: f64,
    model: u32,
    tables: Vec<TableJson<'r>>,
    claims: Vec<ClaimJson<'r>>,
    median_abs_log_error: Option<f64>,
}

#[derive(Clone, Debug, Serialize)]
struct TableJson<'r> {
    id: &'r str,
    columns: &'r [String],
    rows: Vec<RowJson<'r>>,
}

#[derive(Clone, Debug, Serialize)]
struct RowJson<'r> {
    metric: &'r str,
    unit: &'r str,
    mean: Vec<Option<f64>>,
    min: Vec<Option<f64>>,
    max: Vec<Option<f64>>,
    stddev: Vec<Option<f64>>,
    published: Vec<Option<f64>>,
}

#[derive(Clone, Debug, Serialize)]
struct ClaimJson<'r> {
    id: &'r str,
    holds: bool,
    simulated: Option<f64>,
    published: Option<f64>,
    status: super::ClaimStatus,
    says: &'r str,
    sentence: &'r str,
}

impl<'r> From<&'r ExperimentResult> for PublishedJson<'r> {
    fn from(result: &'r ExperimentResult) -> Self {
        Self {
            experiment: &result.experiment,
            seeds: result.seeds.len(),
            scale: result.scale,
            model: result.model,
            tables: result.tables.iter().map(table_json).collect(),
            claims: result
                .claims
                .iter()
                .map(|claim| ClaimJson {
                    id: &claim.id,
                    holds: claim.holds,
                    simulated: claim.simulated,
                    published: claim.published,
                    status: claim.status,
                    says: &claim.says,
                    sentence: &claim.sentence,
                })
                .collect(),
            median_abs_log_error: result.median_abs_log_error,
        }
    }
}

fn table_json(table: &TableResult) -> TableJson<'_> {
    let row = |row: &'_ super::RowResult| {
        let of = |value: fn(&super::Statistics) -> f64| {
            let cells = row.cells.iter();
            cells.map(|cell| (!cell.values.is_empty()).then(|| value(&cell.statistics))).collect()
        };
        (of(|s| s.mean), of(|s| s.min), of(|s| s.max), of(|s| s.stddev))
    };
    let rows = table.rows.iter().map(|entry| {
        let (mean, min, max, stddev) = row(entry);
        let published = entry.cells.iter().map(|cell| cell.published).collect();
        RowJson { metric: &entry.metric, unit: &entry.unit, mean, min, max, stddev, published }
    });
    TableJson { id: &table.id, columns: &table.columns, rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use super::super::compare::tests::{files_row, run};
    use super::*;

    /// The error is that of ratios to the baseline: a machine that is twice as fast throughout makes none.
    #[test]
    fn the_error_is_of_ratios() {
        let columns = ["deadline".to_owned(), "cfq".to_owned()];
        let runs = |deadline, cfq| [run("deadline", "", 1, deadline, 0), run("cfq", "", 1, cfq, 0)];
        let error = |deadline, cfq| {
            let rows = [files_row("", &[500.0, 100.0])];
            median_abs_log_error(&[table("t", "", &columns, 1, &rows, &runs(deadline, cfq))])
        };
        assert!(error(10_000, 2_000).is_some_and(|error| error < 1e-12));
        assert!(error(5_000, 2_000).is_some_and(|error| (error - std::f64::consts::LN_2).abs() < 1e-12));
        let unexplained = RowSpec { is_unexplained: true, ..files_row("", &[500.0, 100.0]) };
        assert_eq!(median_abs_log_error(&[table("t", "", &columns, 1, &[unexplained], &runs(1, 1))]), None);
    }

    /// Every embedded experiment's table, columns and metrics exist in its published data.
    #[test]
    fn experiments_agree_with_their_published_data() {
        for id in Experiment::ids() {
            let experiment = Experiment::find(id).expect("embedded");
            let published = published_data(&experiment).expect("it can be read");
            let table = simulated_table(&experiment, &published, &[]).expect("the table exists");
            for row in &table.rows {
                assert!(row.cells.iter().all(|cell| cell.published.is_some()), "{id}: {}", row.metric);
            }
            assert_eq!((published.id.as_str(), published.date), (id, experiment.date));
            assert!(!published.claims.is_empty());
        }
    }

    /// A plan has every combination once, and scales the time.
    #[test]
    fn a_plan_is_complete() {
        let plan = Plan::new("cfq-noidle-2010", 2, 0.01, &Overrides::none()).expect("it exists");
        assert_eq!(plan.runs.len(), plan.experiment.cases.len() * plan.experiment.columns.len() * 2);
        let first = &plan.runs[0];
        assert_eq!(first.scenario.limits.time_ns, plan.experiment.cases[0].time_ns / 100);
        let wrong = Plan::new("cfq-noidel-2010", 2, 1.0, &Overrides::none()).expect_err("no such experiment");
        assert_eq!(wrong[0].nearest.as_deref(), Some("cfq-noidle-2010"));
        assert!(Plan::new("cfq-noidle-2010", 0, 1.0, &Overrides::none()).is_err());
        assert!(Plan::new("cfq-noidle-2010", 1, f64::NAN, &Overrides::none()).is_err());
    }

    /// The line that other programs read has the documented keys, in order.
    #[test]
    fn the_json_line_has_its_form() {
        let columns = ["deadline".to_owned(), "cfq".to_owned()];
        let runs = [run("deadline", "", 1, 5_000, 0), run("cfq", "", 1, 1_000, 0)];
        let tables = vec![table("t", "", &columns, 1, &[files_row("", &[529.44, 107.88])], &runs)];
        let result = ExperimentResult {
            experiment: "e".into(),
            seeds: vec![1],
            scale: 1.0,
            model: 1,
            median_abs_log_error: None,
            tables,
            ..ExperimentResult::default()
        };
        assert_eq!(
            serde_json::to_string(&PublishedJson::from(&result)).expect("plain data"),
            "{\"experiment\":\"e\",\"seeds\":1,\"scale\":1.0,\"model\":1,\"tables\":[{\"id\":\"t\",\
             \"columns\":[\"deadline\",\"cfq\"],\"rows\":[{\"metric\":\"fs_mark\",\"unit\":\"files/s\",\
             \"mean\":[500.0,100.0],\"min\":[500.0,100.0],\"max\":[500.0,100.0],\"stddev\":[0.0,0.0],\
             \"published\":[529.44,107.88]}]}],\"claims\":[],\"median_abs_log_error\":null}"
        );
    }
}
