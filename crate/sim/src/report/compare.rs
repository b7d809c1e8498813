//! Tables of runs: a row for each metric, a column for each kernel, a cell's values by seed.

use super::results::{ProcessResult, RunResult};
use super::statistics::{Difference, Statistics, gain_percent};
use super::tables::{Better, Cell, RowResult, TableResult};
use crate::scenario::{Metric, Rate};

/// What a row of a table shows.
#[derive(Clone, Debug, PartialEq)]
pub struct RowSpec {
    /// What is measured, of whom, in which case.
    pub metric: Metric,
    /// Which direction is good.
    pub better: Better,
    /// The published numbers by column; empty if there are none.
    pub published: Vec<f64>,
    /// The author of the published numbers could not explain them.
    pub is_unexplained: bool,
}

/// The figure of a metric in one run; `None` if the run has no such process or mark, or covers no time.
#[must_use]
pub fn figure(run: &RunResult, metric: &Metric) -> Option<f64> {
    let process = || run.processes.iter().find(|process| process.name == metric.process);
    let amount = match &metric.rate {
        Rate::Counter(name) => return Some(run.memory.as_ref()?.counter(name)? as f64),
        Rate::Elapsed | Rate::RelativeTime => return Some(run.elapsed_ns as f64 / 1e9),
        Rate::Mark(mark) => process()?.mark(mark)?.count as f64,
        Rate::BytesRead => process()?.read_bytes as f64 / 1e6,
        Rate::BytesWritten => process()?.written_bytes as f64 / 1e6,
    };
    (run.elapsed_ns != 0).then(|| amount * 1e9 / run.elapsed_ns as f64)
}

/// A table of `rows` by `columns`. Runs that were cut short do not count: a column whose runs all were has empty cells.
/// `baseline` is the index of the column that the others are compared with.
#[must_use]
pub fn table(
    id: &str,
    caption: &str,
    columns: &[String],
    baseline: usize,
    rows: &[RowSpec],
    runs: &[RunResult],
) -> TableResult {
    let rows = rows.iter().map(|spec| row(columns, baseline, spec, runs)).collect();
    TableResult { id: id.to_owned(), caption: caption.to_owned(), columns: columns.to_vec(), baseline, rows }
}

fn row(columns: &[String], baseline: usize, spec: &RowSpec, runs: &[RunResult]) -> RowResult {
    // Pairs of seed and figure: a difference is taken only between runs of the same seed.
    let mut samples: Vec<Vec<(u64, f64)>> = columns
        .iter()
        .map(|column| {
            let mine = runs
                .iter()
                .filter(|run| run.kernel == *column && run.case == spec.metric.case && run.is_complete());
            mine.filter_map(|run| Some((run.seed, figure(run, &spec.metric)?))).collect()
        })
        .collect();
    if spec.metric.rate == Rate::RelativeTime {
        relate(&mut samples, baseline);
    }
    let base = samples.get(baseline).map_or(&[][..], Vec::as_slice);
    let cells = samples.iter().enumerate().map(|(index, sample)| {
        let values: Vec<f64> = sample.iter().map(|pair| pair.1).collect();
        let is_baseline = index == baseline;
        let statistics = Statistics::of(&values);
        let base_mean = Statistics::of(&base.iter().map(|pair| pair.1).collect::<Vec<_>>()).mean;
        let is_comparable = !is_baseline && !values.is_empty() && !base.is_empty();
        Cell {
            statistics,
            published: spec.published.get(index).copied(),
            gain_percent: is_comparable
                .then(|| gain_percent(statistics.mean, base_mean, spec.better))
                .flatten(),
            difference: is_comparable.then(|| paired(sample, base)).flatten(),
            values,
        }
    });
    RowResult {
        metric: spec.metric.row.clone(),
        unit: spec.metric.unit.clone(),
        better: spec.better,
        cells: cells.collect(),
        is_unexplained: spec.is_unexplained,
    }
}

/// Every figure as a multiple of the baseline's mean; none where there is no baseline.
fn relate(samples: &mut [Vec<(u64, f64)>], baseline: usize) {
    let values = |sample: &Vec<(u64, f64)>| sample.iter().map(|pair| pair.1).collect::<Vec<_>>();
    let mean = samples.get(baseline).map_or(0.0, |base| Statistics::of(&values(base)).mean);
    for sample in samples {
        if mean == 0.0 {
            sample.clear();
        }
        sample.iter_mut().for_each(|pair| pair.1 /= mean);
    }
}

fn paired(sample: &[(u64, f64)], base: &[(u64, f64)]) -> Option<Difference> {
    let of_seed = |seed: u64| base.iter().find(|pair| pair.0 == seed);
    let pairs = sample.iter().filter_map(|&(seed, value)| Some((value, of_seed(seed)?.1)));
    let (values, bases): (Vec<f64>, Vec<f64>) = pairs.unzip();
    Difference::paired(&values, &bases)
}

/// The rows of a table about runs that no published table describes: each mark's rate, each process's MB/s.
#[must_use]
pub fn natural_rows(runs: &[RunResult]) -> Vec<RowSpec> {
    let mut rows: Vec<RowSpec> = Vec::new();
    for run in runs {
        for process in run.processes.iter().filter(|process| !process.is_kernel_thread) {
            for metric in natural_metrics(process, &run.case) {
                if !rows.iter().any(|row| row.metric == metric) {
                    let better = Better::Higher;
                    rows.push(RowSpec { metric, better, published: Vec::new(), is_unexplained: false });
                }
            }
        }
    }
    rows
}

fn natural_metrics(process: &ProcessResult, case: &str) -> Vec<Metric> {
    let metric = |what: &str, rate: Rate, unit: String| Metric {
        row: format!("{}{}{what}", process.name, if what.is_empty() { "" } else { " " }),
        case: case.to_owned(),
        process: process.name.clone(),
        rate,
        unit,
    };
    let marks = process.marks.iter();
    let mut metrics: Vec<Metric> = marks
        .map(|mark| metric(&mark.name, Rate::Mark(mark.name.clone()), format!("{}/s", mark.name)))
        .collect();
    if process.read_bytes != 0 {
        metrics.push(metric("read", Rate::BytesRead, "MB/s".to_owned()));
    }
    if process.written_bytes != 0 {
        metrics.push(metric("written", Rate::BytesWritten, "MB/s".to_owned()));
    }
    metrics
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::results::{EndReason, MarkResult, QueueResult};
    use super::*;

    /// A run that did nothing but count marks and read.
    pub(in crate::report) fn run(
        kernel: &str,
        case: &str,
        seed: u64,
        files: u64,
        read_bytes: u64,
    ) -> RunResult {
        let mark = MarkResult {
            name: "files".into(),
            count: files,
            passes: files,
            first_ns: 0,
            last_ns: 0,
            periods: Default::default(),
            period: Default::default(),
        };
        let process = ProcessResult {
            name: "fs_mark".into(),
            is_kernel_thread: false,
            tasks: 1,
            marks: vec![mark],
            read_bytes,
            written_bytes: 0,
            files_created: files,
            killed: 0,
            faults: 0,
            fault_latency: Default::default(),
            fsyncs: files,
            fsync_latency: Default::default(),
            read_latency: Default::default(),
            causes: Vec::new(),
        };
        RunResult {
            kernel: kernel.into(),
            kernel_name: kernel.into(),
            case: case.into(),
            seed,
            hz: 1000,
            digest: Default::default(),
            elapsed_ns: 10_000_000_000,
            limit_ns: 10_000_000_000,
            events: 1,
            end: EndReason::TimeUp,
            processes: vec![process],
            queue: QueueResult::default(),
            memory: None,
            writeback: crate::report::WritebackResult::default(),
            timelines: Vec::new(),
            detail: None,
        }
    }

    pub(in crate::report) fn files_row(case: &str, published: &[f64]) -> RowSpec {
        RowSpec {
            metric: Metric {
                row: "fs_mark".into(),
                case: case.into(),
                process: "fs_mark".into(),
                rate: Rate::Mark("files".into()),
                unit: "files/s".into(),
            },
            better: Better::Higher,
            published: published.to_vec(),
            is_unexplained: false,
        }
    }

    /// Cells hold each seed's figure; the gain and the paired difference are against the baseline.
    #[test]
    fn a_table_of_two_kernels() {
        let columns = ["deadline".to_owned(), "cfq".to_owned()];
        let mut runs = Vec::new();
        for (seed, files) in [(1, 5000), (2, 5200), (3, 5100)] {
            runs.push(run("deadline", "alone", seed, files, 0));
            runs.push(run("cfq", "alone", seed, files / 5, 0));
        }
        runs.push(run("cfq", "beside", 1, 7, 0));
        let mut cut = run("cfq", "alone", 4, 1, 0);
        cut.end = EndReason::EventLimit;
        runs.push(cut);
        let table = table("t", "", &columns, 1, &[files_row("alone", &[529.44, 107.88])], &runs);
        let cells = &table.rows[0].cells;
        assert_eq!(cells[0].values, [500.0, 520.0, 510.0]);
        assert_eq!(cells[1].values, [100.0, 104.0, 102.0]);
        assert_eq!(cells[0].gain_percent, Some(400.0));
        assert_eq!(cells[1].gain_percent, None);
        assert!(cells[0].difference.is_some_and(|difference| difference.is_real()));
        assert_eq!(cells[0].published, Some(529.44));
    }

    /// A table of one's own has a row for everything that was counted or moved.
    #[test]
    fn natural_rows_name_process_and_unit() {
        let rows = natural_rows(&[run("cfq", "", 1, 10, 5_000_000), run("cfq", "", 2, 10, 5_000_000)]);
        let shown: Vec<_> =
            rows.iter().map(|row| (row.metric.row.as_str(), row.metric.unit.as_str())).collect();
        assert_eq!(shown, [("fs_mark files", "files/s"), ("fs_mark read", "MB/s")]);
        assert_eq!(figure(&run("cfq", "", 1, 10, 5_000_000), &rows[1].metric), Some(0.5));
    }
}
