//! How many requests are in the device, and how many wait for it.

use super::Closeup;
use crate::describe::{Axis, Bucket, Figure, LineSeries, LineShape, Lines, Unit};
use stallarium_sim::observe::TraceKind;

pub(super) fn figure(closeup: &Closeup) -> Option<Figure> {
    let span = closeup.span;
    let mut device = LineSeries::slot("in the device", 0, LineShape::Step);
    let mut waiting = LineSeries::slot("waiting", 1, LineShape::Step);
    // How many waited at the first event is not in the trace: the fewest ever seen are taken for none.
    let (mut count, mut least) = (0i64, 0i64);
    for event in &closeup.detail.events {
        match event.kind {
            TraceKind::Insert(_) => count += 1,
            TraceKind::Start(_, after) => {
                count -= 1;
                put(&mut device, event.time_ns, f64::from(after));
            }
            TraceKind::Complete(_, after) => {
                put(&mut device, event.time_ns, f64::from(after));
                continue;
            }
            _ => continue,
        }
        least = least.min(count);
        put(&mut waiting, event.time_ns, count as f64);
    }
    for bucket in &mut waiting.buckets {
        let shift = least as f64;
        *bucket =
            Bucket { min: bucket.min - shift, max: bucket.max - shift, last: bucket.last - shift, ..*bucket };
    }
    let most = |line: &LineSeries| {
        let shown =
            line.buckets.iter().filter(|bucket| bucket.at_ns >= span.start_ns && bucket.at_ns < span.end_ns);
        shown.map(|bucket| bucket.max).fold(0.0, f64::max)
    };
    if device.buckets.is_empty() {
        return None;
    }
    let summary = format!(
        "At most {} in the device and {} waiting at a time.",
        Unit::Count.write(most(&device)),
        Unit::Count.write(most(&waiting))
    );
    let y = Axis::new("requests", Unit::named("requests"));
    let chart = Lines { span, y, series: vec![device, waiting], rules: Vec::new() };
    Some(Figure::new("Queue depth", chart).summary(summary))
}

/// At one moment only the last value stays in effect, with the extremes it passed.
fn put(line: &mut LineSeries, at_ns: u64, value: f64) {
    match line.buckets.last_mut() {
        Some(last) if last.at_ns == at_ns => {
            *last = Bucket { at_ns, min: last.min.min(value), max: last.max.max(value), last: value };
        }
        _ => line.buckets.push(Bucket::point(at_ns, value)),
    }
}
