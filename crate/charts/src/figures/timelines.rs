//! The whole run over time, one line for each kernel.

use super::reclaim::zones;
use super::{Column, Context};
use crate::describe::{Axis, Bucket, Figure, LineSeries, LineShape, Lines, Rule, Span, Unit};
use stallarium_sim::report::{Subject, Timeline};

/// The most points of a line: over shorter stretches a rate is only the noise of single files.
const POINTS: u64 = 100;

/// Fewer requests than this in a whole run are no load on the device.
const REQUESTS_MIN: u64 = 10;

/// A run that never has so small a part of the limits' pages dirty is not about them.
const NEAR: u64 = 10;

/// Which timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timelines {
    /// Units of work per second.
    Marks,
    /// Megabytes per second that the reader reads.
    Reading,
    /// Requests in the device and waiting for it.
    Depth,
    /// Free pages of a zone, against its marks: the largest zone is the first.
    Free(usize),
    /// Pages scanned a second, in all zones: by direct reclaim, otherwise by kswapd.
    Scanned(bool),
    /// Pages dirty or on their way to the device, against the limits.
    Dirty,
    /// Pages on their way to the device.
    UnderWriteback,
}

/// One line for each kernel over the whole run. `None` when no run has such a thing.
#[must_use]
pub fn timelines(context: &Context<'_>, columns: &[Column<'_>], which: Timelines) -> Option<Figure> {
    // Title, the axis's label and unit, and the timelines that are added up.
    let (title, label, unit, wanted) = match which {
        Timelines::Marks => {
            let (process, mark) = context.marked_often(columns)?;
            let title = format!("{process}: {mark} per second");
            let (label, unit) = (format!("{mark} per second"), format!("{mark}/s"));
            (title, label, unit, vec![Subject::Mark { process, mark }])
        }
        Timelines::Reading => {
            let process = reader(context, columns)?;
            let title = format!("{process}: data read");
            (title, "data read".to_owned(), "MB/s".to_owned(), vec![Subject::BytesRead { process }])
        }
        Timelines::Free(index) => {
            let zone = zones(columns).get(index)?.name.clone();
            let title = format!("Free memory: {zone} against its marks");
            let label = format!("free pages of {zone}, logarithmic");
            (title, label, "pages".to_owned(), vec![Subject::FreePages { zone }])
        }
        Timelines::Scanned(direct) => {
            let title = if direct {
                "Direct reclaim: pages that the process itself has to look at"
            } else {
                "kswapd: pages that it looks at"
            };
            let zones = zones(columns).into_iter();
            let wanted = zones.map(|zone| Subject::Scanned { zone: zone.name.clone(), direct }).collect();
            (title.to_owned(), "pages looked at per second".to_owned(), "pages/s".to_owned(), wanted)
        }
        Timelines::Dirty | Timelines::UnderWriteback => {
            limits(columns)?;
            let (title, wanted) = if which == Timelines::Dirty {
                let title = "Dirty memory: pages changed or on their way to the device, against the limits";
                (title, vec![Subject::Dirty, Subject::UnderWriteback])
            } else {
                ("Writeback: pages on their way to the device", vec![Subject::UnderWriteback])
            };
            (title.to_owned(), "pages".to_owned(), "pages".to_owned(), wanted)
        }
        Timelines::Depth => {
            let requests = |column: &Column<'_>| column.run.queue.completed.iter().sum::<u64>();
            columns.iter().map(requests).max().filter(|most| *most >= REQUESTS_MIN)?;
            let title = "Requests waiting for the device or in it".to_owned();
            (title, "requests".to_owned(), "requests".to_owned(), vec![Subject::InDevice, Subject::Waiting])
        }
    };
    let axis = Axis::new(label, Unit::named(unit));
    // From a whole zone down to its marks: only a logarithmic axis shows both.
    let axis = if matches!(which, Timelines::Free(_)) { axis.log() } else { axis };
    let rules = match which {
        Timelines::Free(index) => marks(columns, index),
        Timelines::Dirty => limits(columns).into_iter().flatten().collect(),
        _ => Vec::new(),
    };
    let mut end_ns = 0;
    let mut series = Vec::new();
    let mut averages = Vec::new();
    for column in columns {
        let found: Vec<&Timeline> = column.run.timelines_of(|subject| wanted.contains(subject)).collect();
        if found.is_empty() {
            continue;
        }
        let mut line = LineSeries::slot(column.label, column.slot, LineShape::Step);
        line.buckets = means(&found);
        end_ns = end_ns.max(column.run.elapsed_ns);
        let mean: f64 = found.iter().map(|timeline| timeline.mean()).sum();
        averages.push(format!("{} {}", column.label, axis.unit.write(mean)));
        series.push(line);
    }
    if series.is_empty() {
        return None;
    }
    let summary = format!("On average: {}.", averages.join("; "));
    let chart = Lines { span: Span::new(0, end_ns), y: axis, series, rules };
    Some(Figure::new(title, chart).subtitle(context.conditions).summary(summary))
}

/// The marks of a zone, as lines across the plot.
fn marks(columns: &[Column<'_>], index: usize) -> Vec<Rule> {
    let zone = zones(columns).into_iter().nth(index);
    let names = ["min", "low", "high"];
    zone.iter()
        .flat_map(|zone| zone.marks.iter().zip(names))
        .map(|(pages, name)| Rule::new(f64::from(*pages), format!("{name} {pages}")))
        .collect()
}

/// The limits of dirty memory at the end of the first run, if any run has come near enough to one for both to be seen.
fn limits(columns: &[Column<'_>]) -> Option<[Rule; 2]> {
    let writeback = &columns.first()?.run.writeback;
    let background = writeback.counter("nr_dirty_background_threshold")?;
    let limit = writeback.counter("nr_dirty_threshold")?;
    let dirty =
        columns.iter().flat_map(|column| column.run.timelines_of(|subject| *subject == Subject::Dirty));
    let most = dirty.flat_map(|timeline| &timeline.buckets).map(|bucket| bucket.max).max()?;
    (most >= background / NEAR).then(|| {
        [("background", background), ("limit", limit)]
            .map(|(name, pages)| Rule::new(pages as f64, format!("{name} {pages}")))
    })
}

/// The process whose reading the case measures; without an experiment, the first that has read.
fn reader(context: &Context<'_>, columns: &[Column<'_>]) -> Option<String> {
    use stallarium_sim::scenario::Rate;
    let of_metric = context.metrics().find(|metric| metric.rate == Rate::BytesRead);
    if of_metric.is_some() || context.experiment.is_some() {
        return of_metric.map(|metric| metric.process.clone());
    }
    let mut processes = columns.iter().flat_map(|column| &column.run.processes);
    processes.find(|process| process.read_bytes > 0).map(|process| process.name.clone())
}

/// Stretches of a time that are long enough for a mean. What happens within them is the close-up's.
pub(super) fn stretches(end_ns: u64, least_ns: u64) -> impl Iterator<Item = (u64, u64)> {
    let count = (end_ns / least_ns.max(1)).clamp(1, POINTS);
    let border = move |index| end_ns / count * index + end_ns % count * index / count;
    (0..count).map(move |index| (border(index), border(index + 1)))
}

/// A timeline's mean over a stretch.
pub(super) fn mean(timeline: &Timeline, (from_ns, to_ns): (u64, u64)) -> f64 {
    let width_ns = timeline.bucket_ns.max(1);
    let buckets = from_ns / width_ns..to_ns.div_ceil(width_ns);
    let weighted = buckets.map(|bucket| {
        let within_ns = to_ns.min((bucket + 1) * width_ns) - from_ns.max(bucket * width_ns);
        timeline.value(bucket as usize) * within_ns as f64
    });
    weighted.sum::<f64>() / (to_ns - from_ns).max(1) as f64
}

/// Timelines added up, as means over stretches.
fn means(timelines: &[&Timeline]) -> Vec<Bucket> {
    let end_ns = timelines.iter().map(|timeline| timeline.end_ns).max().unwrap_or(0);
    let least_ns = timelines.iter().map(|timeline| timeline.bucket_ns).max().unwrap_or(1);
    let point = |stretch: (u64, u64)| {
        Bucket::point(stretch.0, timelines.iter().map(|timeline| mean(timeline, stretch)).sum())
    };
    stretches(end_ns, least_ns).map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stallarium_sim::observe::Series;

    /// A rate's line has the mean of the whole run, whatever its buckets are.
    #[test]
    fn a_rate_keeps_its_mean() {
        let mut files = Series::new(1_000_000, 1024);
        (0..1000u64).for_each(|file| files.count(file * 5_000_000, 1));
        let subject = Subject::Mark { process: "fs_mark".into(), mark: "files".into() };
        let line = means(&[&Timeline::new(subject, &files, 5_000_000_000)]);
        assert!(line.len() <= POINTS as usize + 1, "{} points", line.len());
        assert!(line.iter().all(|point| (point.last - 200.0).abs() < 30.0), "{line:?}");
        let mean = line.iter().map(|point| point.last).sum::<f64>() / line.len() as f64;
        assert!((mean - 200.0).abs() < 2.0, "{mean}");
    }
}
