//! Where a process's time went, for one unit of its work: stacked bars, one for each kernel.

use super::{Column, Context, palette};
use crate::describe::{Figure, Measure, Stacked, StackedBar, Unit};
use stallarium_sim::observe::CauseKind;
use stallarium_sim::report::ProcessResult;
use stallarium_sim::report::explain::singular;
use stallarium_sim::scenario::Rate;

/// A cause that nowhere makes up a fiftieth of the time goes into "other".
const LEAST_SHARE: f64 = 0.02;

/// What the time of a process is divided by.
enum Per<'a> {
    Mark(&'a str),
    Megabyte,
}

/// Where the time of the case's first measured process went. `None` when no run has it.
#[must_use]
pub fn breakdown(context: &Context<'_>, columns: &[Column<'_>]) -> Option<Figure> {
    let marked = context.marked(columns);
    let (process, per) = match &marked {
        Some((process, mark)) => (process.as_str(), Per::Mark(mark)),
        None => {
            let metric = context.metrics().find(|metric| metric.rate == Rate::BytesRead)?;
            (metric.process.as_str(), Per::Megabyte)
        }
    };
    let known: Vec<(&str, &ProcessResult, f64)> = columns
        .iter()
        .filter_map(|column| {
            let found = column.run.process(process)?;
            let units = match per {
                Per::Mark(mark) => found.mark(mark)?.count as f64,
                Per::Megabyte => found.read_bytes as f64 / 1e6,
            };
            (units > 0.0).then_some((column.label, found, units))
        })
        .collect();
    let causes = causes(&known);
    let mut parts: Vec<_> = causes.iter().map(|&(kind, via)| palette::cause(kind, via)).collect();
    let mut bars: Vec<StackedBar> = known
        .iter()
        .map(|(label, process, units)| {
            let value = |&(kind, via): &(CauseKind, bool)| process.cause_ns(kind, via) as f64 / units;
            let mut values: Vec<f64> = causes.iter().map(value).collect();
            let all: f64 = process.causes.iter().map(|share| share.ns as f64 / units).sum();
            values.push(all - values.iter().sum::<f64>());
            StackedBar::new(*label, values)
        })
        .collect();
    bars.first()?;
    let has_other = bars.iter().any(|bar| bar.values.last().is_some_and(|rest| *rest >= 1.0));
    if has_other {
        parts.push(crate::describe::Category::new("other", Default::default(), Default::default()));
    } else {
        bars.iter_mut().for_each(|bar| bar.values.truncate(parts.len()));
    }
    let unit = match per {
        Per::Mark(mark) => singular(mark),
        Per::Megabyte => "megabyte".to_owned(),
    };
    let summary = bars.iter().filter_map(|bar| sentence(bar, &parts, &unit)).collect::<Vec<_>>().join(" ");
    let label = format!("simulated time per {unit}");
    let chart = Stacked { parts, bars, unit: Unit::Nanoseconds, label, measure: Measure::Total };
    Some(
        Figure::new(format!("Where {process}'s time goes, per {unit}"), chart)
            .subtitle(context.conditions)
            .summary(summary),
    )
}

/// The causes that matter under some kernel, in their own order.
fn causes(known: &[(&str, &ProcessResult, f64)]) -> Vec<(CauseKind, bool)> {
    let matters = |kind: CauseKind, via: bool| {
        known.iter().any(|(_, process, _)| {
            let all: u64 = process.causes.iter().map(|share| share.ns).sum();
            process.cause_ns(kind, via) as f64 > all as f64 * LEAST_SHARE
        })
    };
    let both = CauseKind::ALL.into_iter().flat_map(|kind| [(kind, false), (kind, true)]);
    both.filter(|&(kind, via)| matters(kind, via)).collect()
}

/// The largest part of a bar, in a sentence.
fn sentence(bar: &StackedBar, parts: &[crate::describe::Category], unit: &str) -> Option<String> {
    let total = bar.total(parts.len());
    let (part, value) = bar.values.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1))?;
    let name = &parts.get(part)?.label;
    let share = (value / total * 100.0).round();
    let time = Unit::Nanoseconds.write(total);
    Some(format!("Under {} a {unit} takes {time}, {share} % of it: {name}.", bar.label))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Published;
    use crate::figures::samples::{column, run_with_marks};

    /// A bar is as long as its process's time for one file, whatever was folded into "other".
    #[test]
    fn parts_add_up_to_the_time_of_a_file() {
        let mut run = run_with_marks("cfq", 500, 5_000_000_000);
        run.processes[0].causes = vec![
            share(CauseKind::Idling, false, 4_000_000_000),
            share(CauseKind::InDevice, true, 950_000_000),
            share(CauseKind::OnCpu, false, 30_000_000),
            share(CauseKind::Plugged, false, 20_000_000),
        ];
        let context = Context { experiment: None, case: "", conditions: "", published: &Published::new() };
        let figure = breakdown(&context, &[column(&run, 0)]).expect("a figure");
        let crate::Chart::Stacked(chart) = &figure.chart else { panic!("stacked") };
        assert_eq!(chart.bars[0].total(chart.parts.len()), 10_000_000.0);
        let labels: Vec<&str> = chart.parts.iter().map(|part| part.label.as_str()).collect();
        assert_eq!(labels, ["journal thread: own request in the device", "scheduler idling", "other"]);
        assert!(figure.summary.contains("80 % of it: scheduler idling"), "{}", figure.summary);
    }

    fn share(cause: CauseKind, via_journal: bool, ns: u64) -> stallarium_sim::report::CauseShare {
        stallarium_sim::report::CauseShare { cause, via_journal, ns }
    }
}
