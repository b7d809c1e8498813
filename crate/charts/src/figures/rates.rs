//! How much each kernel got done: bars, with the published numbers as marks.

use super::{Column, Context};
use crate::describe::{Axis, Bar, BarSeries, Bars, Figure, Unit};
use crate::significant;
use stallarium_sim::report::RunResult;
use stallarium_sim::scenario::{Metric, Rate};
use stallarium_sim::short_sort;

/// What a metric counts, per second of simulated time: units of work, or millions of bytes.
///
/// `None` when the run has no such process or mark, or covers no time.
pub(super) fn measure(run: &RunResult, process: &str, rate: &Rate) -> Option<f64> {
    let process = run.process(process)?;
    let amount = match rate {
        Rate::Mark(mark) => process.mark(mark)?.count as f64,
        Rate::BytesRead => process.read_bytes as f64 / 1e6,
        Rate::BytesWritten => process.written_bytes as f64 / 1e6,
        Rate::Counter(_) | Rate::Elapsed | Rate::RelativeTime => return None,
    };
    (run.elapsed_ns > 0).then(|| amount / run.elapsed_ns as f64 * 1e9)
}

/// Units of work per second under each kernel: files of fs_mark. `None` when the case counts none.
#[must_use]
pub fn rates(context: &Context<'_>, columns: &[Column<'_>]) -> Option<Figure> {
    let (process, mark) = context.marked_often(columns)?;
    let metric = context.metrics().find(|metric| matches!(metric.rate, Rate::Mark(_)));
    let rate = Rate::Mark(mark.clone());
    let unit = metric.map_or_else(|| format!("{mark}/s"), |metric| metric.unit.clone());
    let axis =
        Axis::new(format!("{mark} per second of simulated time, logarithmic"), Unit::named(unit)).log();
    let title = format!("How many {mark} {process} gets done");
    bars(context, columns, &process, &rate, metric, axis, title)
}

/// Megabytes per second under each kernel: the reader. `None` when the case measures none.
#[must_use]
pub fn throughput(context: &Context<'_>, columns: &[Column<'_>]) -> Option<Figure> {
    let metric =
        context.metrics().find(|metric| matches!(metric.rate, Rate::BytesRead | Rate::BytesWritten))?;
    let verb = if metric.rate == Rate::BytesRead { "reads" } else { "writes" };
    let axis = Axis::new(format!("what {} {verb}", metric.process), Unit::named(metric.unit.clone()));
    let title = format!("How fast {} {verb}", metric.process);
    bars(context, columns, &metric.process, &metric.rate, Some(metric), axis, title)
}

fn bars(
    context: &Context<'_>,
    columns: &[Column<'_>],
    process: &str,
    rate: &Rate,
    metric: Option<&Metric>,
    axis: Axis,
    title: String,
) -> Option<Figure> {
    let published = |column: &Column<'_>| context.published_value(metric?, column.label);
    let mut series = BarSeries::slot("simulated", 0);
    series.bars = columns
        .iter()
        .map(|column| {
            let mut bar = Bar::new(measure(column.run, process, rate)?);
            let all: Vec<f64> = column
                .others
                .iter()
                .filter_map(|run| measure(run, process, rate))
                .chain([bar.value])
                .collect();
            if all.len() > 1 {
                let low = all.iter().copied().fold(f64::INFINITY, f64::min);
                let high = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                bar = bar.spread(low, high);
            }
            Some(published(column).map_or(bar, |value| bar.reference(value)))
        })
        .collect();
    if series.bars.iter().all(Option::is_none) {
        return None;
    }
    let summary = summary(process, columns, &series, &axis.unit);
    let has_published = series.bars.iter().flatten().any(|bar| bar.reference.is_some());
    let chart = Bars {
        axis,
        groups: columns.iter().map(|column| column.label.to_owned()).collect(),
        series: vec![series],
        reference: if has_published { "published".to_owned() } else { String::new() },
    };
    Some(Figure::new(title, chart).subtitle(context.conditions).summary(summary))
}

/// The most against the least, in a sentence.
fn summary(process: &str, columns: &[Column<'_>], series: &BarSeries, unit: &Unit) -> String {
    let values = columns.iter().zip(&series.bars);
    let mut known: Vec<(&str, f64)> =
        values.filter_map(|(column, bar)| Some((column.label, bar.as_ref()?.value))).collect();
    short_sort::sort_by(&mut known, |one, other| other.1.total_cmp(&one.1));
    match known[..] {
        [] => String::new(),
        [(label, value)] => format!("{process} under {label}: {}.", unit.write(value)),
        [(first, most), .., (last, least)] => {
            let ratio = if least > 0.0 && most / least >= 1.05 {
                format!("{} times as much", significant((most / least * 10.0).round() / 10.0))
            } else {
                "hardly any difference".to_owned()
            };
            let (most, least) = (unit.write(most), unit.write(least));
            format!("{process}: most under {first}, {most}; least under {last}, {least}: {ratio}.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Published;
    use crate::figures::samples::{column, run_with_marks};
    use stallarium_sim::scenario::Experiment;

    /// The bars are counts by simulated time, and the sentence compares the extremes.
    #[test]
    fn bars_are_rates_of_simulated_time() {
        let (fast, slow) =
            (run_with_marks("deadline", 2_500, 5_000_000_000), run_with_marks("cfq", 500, 5_000_000_000));
        let context =
            Context { experiment: None, case: "fs-mark", conditions: "", published: &Published::new() };
        let figure = rates(&context, &[column(&fast, 0), column(&slow, 1)]).expect("marks were counted");
        assert!(
            figure.summary.contains("deadline, 500") && figure.summary.contains("5 times as much"),
            "{}",
            figure.summary
        );
        let crate::Chart::Bars(bars) = &figure.chart else { panic!("bars") };
        let values: Vec<f64> = bars.series[0].bars.iter().flatten().map(|bar| bar.value).collect();
        assert_eq!(values, [500.0, 100.0]);
        assert_eq!(bars.reference, "");
    }

    /// A published number stands beside the kernel and the row that it belongs to, and nowhere else.
    #[test]
    fn published_numbers_are_references() {
        let experiment = Experiment::find("cfq-noidle-2010").expect("embedded");
        let runs =
            [run_with_marks("deadline", 2_500, 5_000_000_000), run_with_marks("noop", 500, 5_000_000_000)];
        let published = Published::from([(("fs_mark alone".to_owned(), "deadline".to_owned()), 529.44)]);
        let context =
            Context { experiment: Some(&experiment), case: "fs-mark", conditions: "", published: &published };
        let figure = rates(&context, &[column(&runs[0], 0), column(&runs[1], 5)]).expect("a figure");
        let crate::Chart::Bars(bars) = &figure.chart else { panic!("bars") };
        let references: Vec<_> = bars.series[0].bars.iter().flatten().map(|bar| bar.reference).collect();
        assert_eq!(references, [Some(529.44), None]);
    }

    /// A case without the metric has no such chart, rather than an empty one.
    #[test]
    fn no_metric_no_chart() {
        let run = run_with_marks("deadline", 10, 1_000_000_000);
        let experiment = Experiment::find("cfq-noidle-2010").expect("embedded");
        let published = Published::new();
        let context =
            Context { experiment: Some(&experiment), case: "reader", conditions: "", published: &published };
        assert!(rates(&context, &[column(&run, 0)]).is_none());
        assert!(throughput(&context, &[column(&run, 0)]).is_none());
    }
}
