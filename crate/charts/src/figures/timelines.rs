//! The whole run over time, one line for each kernel.

use super::{Column, Context};
use crate::describe::{Axis, Bucket, Figure, LineSeries, LineShape, Lines, Rule, Span, Unit};
use stallarium_sim::report::{Subject, Timeline, ZoneResult};

/// The most points of a line: over shorter stretches a rate is only the noise of single files.
const POINTS: u64 = 100;

/// Fewer requests than this in a whole run are no load on the device.
const REQUESTS_MIN: u64 = 10;

/// Which timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timelines {
    /// Units of work per second.
    Marks,
    /// Megabytes per second that the reader reads.
    Reading,
    /// Requests in the device and waiting for it.
    Depth,
    /// Free pages of the largest zone, against its marks.
    Free,
    /// Pages scanned a second by direct reclaim.
    DirectScan,
}

/// Whether a timeline is one of those drawn.
type Wanted = Box<dyn Fn(&Subject) -> bool>;

/// One line for each kernel over the whole run. `None` when no run has such a thing.
#[must_use]
pub fn timelines(context: &Context<'_>, columns: &[Column<'_>], which: Timelines) -> Option<Figure> {
    let marked = context.marked_often(columns);
    let (title, axis, wanted): (String, Axis, Wanted) = match which {
        Timelines::Marks => {
            let (process, mark) = marked?;
            let axis = Axis::new(format!("{mark} per second"), Unit::named(format!("{mark}/s")));
            let title = format!("{process}: {mark} per second");
            (
                title,
                axis,
                Box::new(move |subject| {
                    *subject == Subject::Mark { process: process.clone(), mark: mark.clone() }
                }),
            )
        }
        Timelines::Reading => {
            let process = reader(context, columns)?;
            let axis = Axis::new("data read", Unit::named("MB/s"));
            let title = format!("{process}: data read");
            (
                title,
                axis,
                Box::new(move |subject| *subject == Subject::BytesRead { process: process.clone() }),
            )
        }
        Timelines::Free => {
            let zone = largest_zone(columns)?.name.clone();
            // From the whole zone down to the marks: only a logarithmic axis shows both.
            let axis = Axis::new(format!("free pages of {zone}, logarithmic"), Unit::named("pages")).log();
            let title = format!("Free memory: {zone} against its marks");
            (title, axis, Box::new(move |subject| *subject == Subject::FreePages { zone: zone.clone() }))
        }
        Timelines::DirectScan => {
            largest_zone(columns)?;
            let axis = Axis::new("pages looked at per second", Unit::named("pages/s"));
            let title = "Direct reclaim: pages that the process itself has to look at".to_owned();
            (title, axis, Box::new(|subject| *subject == Subject::Scanned { direct: true }))
        }
        Timelines::Depth => {
            let requests = |column: &Column<'_>| column.run.queue.completed.iter().sum::<u64>();
            columns.iter().map(requests).max().filter(|most| *most >= REQUESTS_MIN)?;
            let axis = Axis::new("requests", Unit::named("requests"));
            (
                "Requests waiting for the device or in it".to_owned(),
                axis,
                Box::new(|subject| matches!(subject, Subject::InDevice | Subject::Waiting)),
            )
        }
    };
    let rules = if which == Timelines::Free { marks(columns) } else { Vec::new() };
    let mut end_ns = 0;
    let mut series = Vec::new();
    let mut means = Vec::new();
    for column in columns {
        let found: Vec<&Timeline> = column.run.timelines_of(&wanted).collect();
        if found.is_empty() {
            continue;
        }
        let mut line = LineSeries::slot(column.label, column.slot, LineShape::Step);
        line.buckets = sum(&found);
        end_ns = end_ns.max(column.run.elapsed_ns);
        let mean: f64 = found.iter().map(|timeline| timeline.mean()).sum();
        means.push(format!("{} {}", column.label, axis.unit.write(mean)));
        series.push(line);
    }
    if series.is_empty() {
        return None;
    }
    let summary = format!("On average: {}.", means.join("; "));
    let chart = Lines { span: Span::new(0, end_ns), y: axis, series, rules };
    Some(Figure::new(title, chart).subtitle(context.conditions).summary(summary))
}

/// The zone with most memory.
fn largest_zone<'r>(columns: &[Column<'r>]) -> Option<&'r ZoneResult> {
    let zones =
        columns.iter().filter_map(|column| column.run.memory.as_ref()).flat_map(|memory| &memory.zones);
    zones.max_by_key(|zone| zone.present)
}

/// The marks of the largest zone, as lines across the plot.
fn marks(columns: &[Column<'_>]) -> Vec<Rule> {
    let zone = largest_zone(columns);
    let names = ["min", "low", "high"];
    zone.iter()
        .flat_map(|zone| zone.marks.iter().zip(names))
        .map(|(pages, name)| Rule::new(f64::from(*pages), name))
        .collect()
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

/// A timeline as its mean over stretches that are long enough to have one. What happens within them is the close-up's.
fn means(timeline: &Timeline) -> Vec<Bucket> {
    let buckets = timeline.buckets.len();
    let wanted = (timeline.end_ns / POINTS).max(1);
    let group = usize::try_from(wanted.div_ceil(timeline.bucket_ns.max(1))).unwrap_or(1).max(1);
    (0..buckets)
        .step_by(group)
        .filter_map(|from| {
            let members = from..(from + group).min(buckets);
            let covered: u64 = members.clone().map(|bucket| timeline.covered_ns(bucket)).sum();
            // The end of the run may leave a stretch too short to speak of a rate.
            if covered * 2 < timeline.bucket_ns.saturating_mul(group as u64) && from > 0 {
                return None;
            }
            let weighted: f64 =
                members.map(|bucket| timeline.value(bucket) * timeline.covered_ns(bucket) as f64).sum();
            let value = if covered > 0 { weighted / covered as f64 } else { 0.0 };
            Some(Bucket::point(from as u64 * timeline.bucket_ns, value))
        })
        .collect()
}

/// Timelines of the same buckets added up.
fn sum(timelines: &[&Timeline]) -> Vec<Bucket> {
    let mut parts = timelines.iter().map(|timeline| means(timeline));
    let mut total = parts.next().unwrap_or_default();
    for part in parts {
        for (so_far, more) in total.iter_mut().zip(part) {
            *so_far = Bucket::point(so_far.at_ns, so_far.last + more.last);
        }
    }
    total
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
        let line = means(&Timeline::new(subject, &files, 5_000_000_000));
        assert!(line.len() <= POINTS as usize + 1, "{} points", line.len());
        assert!(line.iter().all(|point| (point.last - 200.0).abs() < 30.0), "{line:?}");
        let mean = line.iter().map(|point| point.last).sum::<f64>() / line.len() as f64;
        assert!((mean - 200.0).abs() < 2.0, "{mean}");
    }
}
