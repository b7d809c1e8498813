//! The table behind a picture: the same facts for people who read them, and for spreadsheets.

use crate::describe::{Bars, Chart, Dots, Figure, Histogram, Lanes, Lines, Span, Stacked, Unit};
use crate::number::fixed;
use serde::{Deserialize, Serialize};

/// Rows of words under headings; every row has as many cells as there are headings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// One heading per column, with units.
    pub headings: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

impl Figure {
    /// The facts of the figure as a table: totals by category for lanes, counts for dots, extremes for lines, the numbers
    /// themselves for the others. Charts over time are totalled over `span`, or all their time.
    pub fn table(&self, span: Option<Span>) -> Table {
        match &self.chart {
            Chart::Lanes(chart) => lanes(chart, span.unwrap_or(chart.span)),
            Chart::Dots(chart) => dots(chart, span.unwrap_or(chart.span)),
            Chart::Lines(chart) => lines(chart, span.unwrap_or(chart.span)),
            chart => numbers(chart, true),
        }
    }
}

/// The numbers of a chart that is not over time, each once: in `words` with their units, otherwise plain. Nothing of others.
pub(crate) fn numbers(chart: &Chart, words: bool) -> Table {
    let write = |unit: &Unit, value: f64| if words { unit.write(value) } else { value.to_string() };
    match chart {
        Chart::Bars(chart) => bars(chart, &write),
        Chart::Stacked(chart) => stacked(chart, words, &write),
        Chart::Histogram(chart) => histogram(chart, words, &write),
        Chart::Lanes(_) | Chart::Dots(_) | Chart::Lines(_) => Table::default(),
    }
}

/// Writes a number of a unit.
type Write<'w> = &'w dyn Fn(&Unit, f64) -> String;

fn headings<'a>(first: &'a str, others: impl Iterator<Item = &'a str>) -> Vec<String> {
    std::iter::once(first).chain(others).map(str::to_owned).collect()
}

/// Time by category or its share, and the number of events by kind, for each lane.
fn lanes(chart: &Lanes, span: Span) -> Table {
    let categories = chart.categories.iter().map(|category| category.label.as_str());
    let kinds = chart.kinds.iter().map(|kind| kind.label.as_str());
    let rows = chart.lanes.iter().map(|lane| {
        let mut totals = vec![0.0; chart.categories.len()];
        for interval in &lane.intervals {
            let start = interval.start_ns.max(span.start_ns);
            let end = interval.end_ns.min(span.end_ns);
            if let Some(total) = totals.get_mut(interval.category) {
                *total += end.saturating_sub(start) as f64 * interval.share();
            }
        }
        let all: f64 = totals.iter().sum();
        let times = totals.into_iter().map(|total| match chart.is_shared {
            true => format!("{}\u{202F}%", fixed(if all > 0.0 { total / all * 100.0 } else { 0.0 }, 1)),
            false => Unit::Nanoseconds.write(total),
        });
        let counts = (0..chart.kinds.len()).map(|kind| {
            let events = lane.events.iter().filter(|event| event.kind == kind);
            events.filter(|event| holds(span, event.at_ns)).count().to_string()
        });
        std::iter::once(lane.label.clone()).chain(times).chain(counts).collect()
    });
    Table { headings: headings("lane", categories.chain(kinds)), rows: rows.collect() }
}

fn holds(span: Span, at_ns: u64) -> bool {
    at_ns >= span.start_ns && at_ns <= span.end_ns
}

/// The number of dots by kind, and the range of their places, for each series.
fn dots(chart: &Dots, span: Span) -> Table {
    let kinds = chart.kinds.iter().map(|kind| kind.label.as_str());
    let rows = chart.series.iter().map(|series| {
        let shown = series.dots.iter().filter(|dot| holds(span, dot.at_ns));
        let counts = (0..chart.kinds.len())
            .map(|kind| shown.clone().filter(|dot| dot.kind == kind).count().to_string());
        let low = shown.clone().map(|dot| dot.value).fold(f64::INFINITY, f64::min);
        let high = shown.clone().map(|dot| dot.value).fold(f64::NEG_INFINITY, f64::max);
        let ends = [low, high].map(|value| chart.y.unit.write(value));
        std::iter::once(series.label.clone()).chain(counts).chain(ends).collect()
    });
    Table { headings: headings("series", kinds.chain(["lowest", "highest"])), rows: rows.collect() }
}

/// Least, greatest and last value of each line.
fn lines(chart: &Lines, span: Span) -> Table {
    let rows = chart.series.iter().map(|series| {
        let mut shown =
            series.buckets.iter().filter(|bucket| holds(span, bucket.at_ns) && bucket.last.is_finite());
        let min = shown.clone().map(|bucket| bucket.min).fold(f64::INFINITY, f64::min);
        let max = shown.clone().map(|bucket| bucket.max).fold(f64::NEG_INFINITY, f64::max);
        let last = shown.next_back().map_or(f64::NAN, |bucket| bucket.last);
        let values = [min, max, last].map(|value| chart.y.unit.write(value));
        std::iter::once(series.label.clone()).chain(values).collect()
    });
    Table { headings: headings("line", ["least", "greatest", "last"].into_iter()), rows: rows.collect() }
}

/// Every bar with its spread and its reference.
fn bars(chart: &Bars, write: Write<'_>) -> Table {
    let reference = if chart.reference.is_empty() { "reference" } else { &chart.reference };
    let mut rows = Vec::new();
    for (group, name) in chart.groups.iter().enumerate() {
        for series in &chart.series {
            let Some(Some(bar)) = series.bars.get(group) else {
                continue;
            };
            let unit = &chart.axis.unit;
            let (least, greatest) = bar.spread.unzip();
            let values = [Some(bar.value), least, greatest, bar.reference];
            let cells = values.map(|value| value.map_or(String::new(), |value| write(unit, value)));
            rows.push([name.clone(), series.label.clone()].into_iter().chain(cells).collect());
        }
    }
    Table {
        headings: headings("group", ["measurement", "value", "least", "greatest", reference].into_iter()),
        rows,
    }
}

/// Every part, in words with its share, and the total.
fn stacked(chart: &Stacked, words: bool, write: Write<'_>) -> Table {
    let parts = chart.parts.iter().map(|part| part.label.as_str());
    let rows = chart.bars.iter().map(|bar| {
        let total = bar.total(chart.parts.len());
        let mut row = vec![bar.label.clone()];
        for value in (0..chart.parts.len()).map(|part| bar.value(part)) {
            let mut cell = write(&chart.unit, value);
            if words {
                let share = if total > 0.0 { value / total * 100.0 } else { 0.0 };
                cell += &format!(" ({}\u{202F}%)", fixed(share, 1));
            }
            row.push(cell);
        }
        row.push(write(&chart.unit, total));
        row
    });
    Table { headings: headings("bar", parts.chain(["total"])), rows: rows.collect() }
}

/// Every bin; in words those that are not empty in all series.
fn histogram(chart: &Histogram, words: bool, write: Write<'_>) -> Table {
    let labels = chart.series.iter().map(|series| series.label.as_str());
    let headings = headings("from", std::iter::once("to").chain(labels));
    let bins = chart.series.iter().map(|series| series.counts.len()).max().unwrap_or(0);
    let mut rows = Vec::new();
    for bin in 0..bins {
        let counts = || chart.series.iter().map(|series| series.counts.get(bin).copied().unwrap_or(0));
        if !words || counts().any(|count| count > 0) {
            let from = chart.first + bin as f64 * chart.bin_width();
            let ends = [from, from + chart.bin_width()].map(|end| write(&chart.unit, end));
            rows.push(ends.into_iter().chain(counts().map(|count| count.to_string())).collect());
        }
    }
    Table { headings, rows }
}
