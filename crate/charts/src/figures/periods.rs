//! How long each unit of work took: histograms in which ticks show.

use super::{Column, Context};
use crate::describe::{Arrangement, Figure, Histogram, HistogramSeries, Unit};
use stallarium_sim::report::explain::singular;
use stallarium_sim::report::{MarkResult, PeriodHistogram};
use stallarium_sim::short_sort;

/// The most bins of one plot: more are narrower than can be told apart.
const BINS_MAX: u64 = 140;
/// A bin is a quarter of a tick of 1 ms, so that ticks stand apart.
const NARROWEST_NS: u64 = 256_000;
/// Of a thousand periods, how many of the longest may lie beyond the plot.
const BEYOND_PER_MILLE: u64 = 5;
/// A number of ticks that fewer periods last is not worth a word, per cent of all.
const SHARE_MIN_PERCENT: u64 = 2;

/// Times from one unit of work to the next under each kernel, one plot each. `None` when fewer than two were counted.
#[must_use]
pub fn periods(context: &Context<'_>, columns: &[Column<'_>]) -> Option<Figure> {
    let (process, mark) = context.marked_often(columns)?;
    let found: Vec<(&Column<'_>, &MarkResult)> = columns
        .iter()
        .filter_map(|column| Some((column, column.run.process(&process)?.mark(&mark)?)))
        .filter(|(_, mark)| mark.periods.count() > 0)
        .collect();
    let ends: Vec<(u64, u64)> = found.iter().map(|(_, mark)| range_ns(&mark.periods)).collect();
    let (low, high) = (ends.iter().map(|end| end.0).min()?, ends.iter().map(|end| end.1).max()?);
    // From nothing on, unless that would be mostly nothing.
    let low = if low < high / 2 { 0 } else { low };
    let mut width_ns = NARROWEST_NS;
    while (high - low) / width_ns > BINS_MAX {
        width_ns *= 2;
    }
    let plots: Vec<PeriodHistogram> = found.iter().map(|(_, mark)| mark.periods.centred(width_ns)).collect();
    // Recorded more coarsely, a run's bins stay wider than asked for: all take the widest.
    let width_ns = plots.iter().map(|plot| plot.width_ns).max()?;
    let plots: Vec<PeriodHistogram> = found.iter().map(|(_, mark)| mark.periods.centred(width_ns)).collect();
    if plots.iter().any(|plot| plot.width_ns != width_ns) {
        return None;
    }
    let width = width_ns as i64;
    // Bins are centred on multiples of their width; one more at each end, so that none stands at the edge.
    let first = ((low as i64).div_euclid(width) - 1).max(0) * width - width / 2;
    let bins = ((high as i64 - first) / width + 2).clamp(1, 4 * BINS_MAX as i64) as usize;
    let mut beyond = 0;
    let series = found.iter().zip(&plots).map(|((column, _), plot)| {
        let mut counts = vec![0; bins];
        for (from, _, count) in plot.bins() {
            match usize::try_from((from - first) / width).ok().and_then(|bin| counts.get_mut(bin)) {
                Some(bin) => *bin += count,
                None => beyond += count,
            }
        }
        HistogramSeries::slot(column.label, column.slot, counts)
    });
    let series: Vec<HistogramSeries> = series.collect();
    let unit = singular(&mark);
    let chart = Histogram {
        label: format!("time from one {unit} to the next"),
        unit: Unit::Nanoseconds,
        first: first as f64,
        width: width as f64,
        counted: mark.clone(),
        series,
        arrangement: Arrangement::Multiples,
        rules: Vec::new(),
    };
    let summary = found.iter().map(|(column, mark)| sentence(column, mark)).collect::<Vec<_>>().join(" ");
    let mut figure = Figure::new(format!("How long each {unit} takes"), chart)
        .subtitle(context.conditions)
        .summary(summary);
    if beyond > 0 {
        let beyond = crate::significant(beyond as f64);
        figure = figure.note(format!("{beyond} longer ones lie beyond the right end."));
    }
    Some(figure)
}

/// Where the shortest begins, and where all but a few of the longest end.
fn range_ns(periods: &PeriodHistogram) -> (u64, u64) {
    let allowed = periods.count() * BEYOND_PER_MILLE / 1000;
    let (mut low, mut high, mut seen) = (u64::MAX, 0, 0);
    for (from, to, count) in periods.bins().filter(|bin| bin.2 > 0) {
        low = low.min(from.max(0).unsigned_abs());
        if seen + allowed < periods.count() {
            high = to.max(0).unsigned_abs();
        }
        seen += count;
    }
    (low.min(high), high)
}

/// The middle of the periods and their end, and the ticks they last where a timer makes them, in a sentence.
fn sentence(column: &Column<'_>, mark: &MarkResult) -> String {
    let tick_ns = 1_000_000_000 / u64::from(column.run.hz.max(1));
    let write = |ns: u64| Unit::Nanoseconds.write(ns as f64);
    let (median, p99) = (write(mark.period.p50_ns), write(mark.period.p99_ns));
    let mut text = format!("Under {}: half up to {median}, 99 % up to {p99}", column.label);
    let is_timed = column.run.queue.scheduler.idle_fired * 2 > mark.periods.count();
    let ticks = if is_timed { ticks(&mark.periods, tick_ns) } else { Vec::new() };
    if ticks.iter().map(|(_, share)| share).sum::<u64>() >= 50 {
        let tick = write(tick_ns);
        let shares = ticks.iter().enumerate().map(|(place, (ticks, share))| match place {
            0 => format!("{share} % last {ticks} ticks of {tick}"),
            _ => format!("{share} % {ticks}"),
        });
        let shares = shares.collect::<Vec<_>>().join(" and ");
        text.push_str(&format!("; {shares}, because a timer ends each wait"));
    }
    text.push('.');
    text
}

/// The one or two whole numbers of ticks, at least two, near which most periods lie, the most frequent first, each with
/// its share of all periods, per cent. Near is a quarter of a tick: a period begins and ends a little after its tick.
fn ticks(periods: &PeriodHistogram, tick_ns: u64) -> Vec<(u64, u64)> {
    let mut most: Vec<(u64, u64)> = Vec::new();
    for (from, to, count) in periods.bins().filter(|bin| bin.2 > 0) {
        let middle = (from.max(0) + to.max(0)).unsigned_abs() / 2;
        let nearest = (middle + tick_ns / 2) / tick_ns;
        if nearest >= 2 && middle.abs_diff(nearest * tick_ns) <= tick_ns / 4 {
            match most.iter_mut().find(|(known, _)| *known == nearest) {
                Some((_, total)) => *total += count,
                None => most.push((nearest, count)),
            }
        }
    }
    short_sort::sort_by_key(&mut most, |&(_, count)| std::cmp::Reverse(count));
    most.truncate(2);
    let shares = most.into_iter().map(|(ticks, count)| (ticks, count * 100 / periods.count()));
    shares.filter(|(_, share)| *share >= SHARE_MIN_PERCENT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Published;
    use crate::figures::samples::{column, run_with_periods};

    /// Periods of 9 and 10 ticks stand in bins of their own, and the sentence says so.
    #[test]
    fn ticks_are_visible_and_named() {
        let ms = 1_000_000;
        let mut run = run_with_periods("vanilla cfq", &[(9 * ms, 60), (10 * ms, 38), (22 * ms, 2)]);
        run.queue.scheduler.idle_fired = 100;
        let context = Context { experiment: None, case: "", conditions: "", published: &Published::new() };
        let figure = periods(&context, &[column(&run, 1)]).expect("a figure");
        let crate::Chart::Histogram(chart) = &figure.chart else { panic!("a histogram") };
        let full: Vec<u64> = chart.series[0].counts.iter().copied().filter(|count| *count > 0).collect();
        assert_eq!(full, [60, 38, 2]);
        let nine = chart.series[0].counts.iter().position(|count| *count == 60).expect("there") as f64;
        let (from, to) = (chart.first + nine * chart.width, chart.first + (nine + 1.0) * chart.width);
        assert!(from < 9e6 && 9e6 < to, "9 ms between {from} and {to}");
        for part in ["60 % last 9 ticks of", " and 38 % 10, because"] {
            assert!(figure.summary.contains(part), "{}", figure.summary);
        }
    }

    /// Nothing is lost when one kernel's periods are fifty times another's.
    #[test]
    fn all_periods_are_shown_or_told() {
        let ms = 1_000_000;
        let (fast, slow) = (
            run_with_periods("deadline", &[(2 * ms, 1000)]),
            run_with_periods("vanilla cfq", &[(400 * ms, 40), (9 * ms, 1)]),
        );
        let context = Context { experiment: None, case: "", conditions: "", published: &Published::new() };
        let figure = periods(&context, &[column(&fast, 0), column(&slow, 1)]).expect("a figure");
        let crate::Chart::Histogram(chart) = &figure.chart else { panic!("a histogram") };
        let shown: u64 = chart.series.iter().flat_map(|series| &series.counts).sum();
        assert_eq!(shown, 1041);
    }
}
