//! What runs look like: results of the simulator as descriptions of charts.
//!
//! Whole runs side by side ([`rates`], [`throughput`], [`breakdown`], [`periods`], [`timelines`]) take one [`Column`] for each kernel; a
//! [`Closeup`] is a window of one run.

mod breakdown;
mod closeup;
mod palette;
mod periods;
mod rates;
mod reclaim;
#[cfg(test)]
mod samples;
mod shares;
mod timelines;

pub use breakdown::breakdown;
pub use closeup::Closeup;
pub use periods::periods;
pub use rates::{rates, throughput};
pub use reclaim::{allocation, reclaimers, sleeps};
pub use shares::{Shares, shares};
pub use timelines::{Timelines, timelines};

use crate::describe::Figure;
use stallarium_sim::report::RunResult;
use stallarium_sim::scenario::{Experiment, Metric, Rate};

/// One kernel's run among others.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// What the kernel is called.
    pub label: &'a str,
    /// Its place in the palette.
    pub slot: u8,
    /// What it did.
    pub run: &'a RunResult,
    /// The same with further seeds, for the spread; may be empty.
    pub others: &'a [RunResult],
}

/// What was run, for titles and published numbers.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The experiment, if the runs belong to one.
    pub experiment: Option<&'a Experiment>,
    /// The case's name.
    pub case: &'a str,
    /// The conditions in a line: case, device, HZ, seed.
    pub conditions: &'a str,
    /// The published numbers.
    pub published: &'a Published,
}

/// Names of the charts of whole runs.
pub const WHOLE: [&str; 21] = [
    "rates",
    "throughput",
    "breakdown",
    "periods",
    "sleeps",
    "reclaimers",
    "allocation",
    "files",
    "reader",
    "free",
    "free-2",
    "free-3",
    "direct-scan",
    "kswapd-scan",
    "memory",
    "kswapd",
    "scanners",
    "freers",
    "dirty",
    "writeback",
    "queue",
];

/// The chart of this name over whole runs, one of [`WHOLE`]. `None` when there is no such chart, or nothing in it.
#[must_use]
pub fn whole(name: &str, context: &Context<'_>, columns: &[Column<'_>]) -> Option<Figure> {
    if columns.is_empty() {
        return None;
    }
    let over_time = |which| timelines(context, columns, which);
    let shared = |which| shares(context, columns, which);
    match name {
        "rates" => rates(context, columns),
        "throughput" => throughput(context, columns),
        "breakdown" => breakdown(context, columns),
        "periods" => periods(context, columns),
        "sleeps" => sleeps(context, columns),
        "reclaimers" => reclaimers(context, columns),
        "allocation" => allocation(context, columns),
        "files" => over_time(Timelines::Marks),
        "reader" => over_time(Timelines::Reading),
        "free" => over_time(Timelines::Free(0)),
        "free-2" => over_time(Timelines::Free(1)),
        "free-3" => over_time(Timelines::Free(2)),
        "direct-scan" => over_time(Timelines::Scanned(true)),
        "kswapd-scan" => over_time(Timelines::Scanned(false)),
        "dirty" => over_time(Timelines::Dirty),
        "writeback" => over_time(Timelines::UnderWriteback),
        "queue" => over_time(Timelines::Depth),
        "memory" => shared(Shares::Memory),
        "kswapd" => shared(Shares::Kswapd),
        "scanners" => shared(Shares::Scanned),
        "freers" => shared(Shares::Freed),
        _ => None,
    }
}

/// Published numbers by row and column of their table.
pub type Published = Vec<((String, String), f64)>;

/// Fewer units of work than this make no rate.
const OFTEN: u64 = 5;

impl<'a> Context<'a> {
    /// The metrics that are measured in this case.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = &'a Metric> {
        let case = self.case;
        let metrics = self.experiment.map_or(&[][..], |experiment| &experiment.metrics[..]);
        metrics.iter().filter(move |metric| metric.case == case)
    }

    /// The published number of a metric in the column of this label.
    pub(crate) fn published_value(&self, metric: &Metric, label: &str) -> Option<f64> {
        let is_it = |((row, column), _): &&((String, String), f64)| *row == metric.row && column == label;
        self.published.iter().find(is_it).map(|(_, value)| *value)
    }

    /// The same as [`Self::marked`], if units are counted often enough to speak of a rate.
    pub(crate) fn marked_often(&self, columns: &[Column<'_>]) -> Option<(String, String)> {
        let (process, mark) = self.marked(columns)?;
        let count = |column: &Column<'_>| Some(column.run.process(&process)?.mark(&mark)?.count);
        let most = columns.iter().filter_map(count).max()?;
        (most >= OFTEN).then_some((process, mark))
    }

    /// The first metric that counts a mark; without an experiment, the first mark of the first run.
    pub(crate) fn marked(&self, columns: &[Column<'_>]) -> Option<(String, String)> {
        let of_metric = self.metrics().find_map(|metric| match &metric.rate {
            Rate::Mark(mark) => Some((metric.process.clone(), mark.clone())),
            _ => None,
        });
        let counts_marks = |experiment: &Experiment| {
            experiment.metrics.iter().any(|metric| matches!(metric.rate, Rate::Mark(_)))
        };
        if of_metric.is_some() || self.experiment.is_some_and(counts_marks) {
            return of_metric;
        }
        columns
            .iter()
            .flat_map(|column| &column.run.processes)
            .find_map(|process| process.marks.first().map(|mark| (process.name.clone(), mark.name.clone())))
    }
}
