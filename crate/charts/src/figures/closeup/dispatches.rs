//! Where each request goes: one dot for each request that the device takes, at its sector.

use super::{Closeup, tone};
use crate::describe::{Axis, Dot, DotKind, DotSeries, Dots, Figure, Marker, Unit};
use stallarium_sim::block::BioFlags;
use stallarium_sim::observe::TraceKind;
use stallarium_sim::short_sort;

/// The most parts that the disk is cut into.
const BANDS_MAX: usize = 4;

const READ: usize = 0;
const SYNC_WRITE: usize = 1;
const ASYNC_WRITE: usize = 2;
const ORDERED: usize = 3;

fn kind_of(flags: BioFlags) -> usize {
    if flags.has(BioFlags::BARRIER) || flags.has(BioFlags::FLUSH) {
        ORDERED
    } else if !flags.has(BioFlags::WRITE) {
        READ
    } else if flags.has(BioFlags::SYNC) {
        SYNC_WRITE
    } else {
        ASYNC_WRITE
    }
}

pub(super) fn figure(closeup: &Closeup) -> Option<Figure> {
    let mut series: Vec<DotSeries> = Vec::new();
    let mut tasks: Vec<u32> = Vec::new();
    let mut counts = [0u64; 4];
    for event in closeup.detail.events.get(closeup.visible())? {
        let TraceKind::Start(facts, _) = event.kind else { continue };
        let known = tasks.iter().position(|task| *task == facts.task);
        let index = known.unwrap_or_else(|| {
            tasks.push(facts.task);
            series.push(DotSeries::new(closeup.task_name(facts.task), tone(facts.task as usize)));
            series.len() - 1
        });
        let kind = kind_of(facts.flags);
        counts[kind] += 1;
        series[index].dots.push(Dot::new(event.time_ns, facts.sector as f64, kind));
    }
    series.first()?;
    // In the order of the tasks, so that the legend does not change while one moves about.
    let mut order: Vec<usize> = (0..tasks.len()).collect();
    short_sort::sort_by_key(&mut order, |&index| tasks[index]);
    let series: Vec<DotSeries> = order.into_iter().map(|index| std::mem::take(&mut series[index])).collect();
    let total: u64 = counts.iter().sum();
    let named = ["reads", "sync writes", "async writes", "barriers or flushes"];
    let parts: Vec<String> = named
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    let mut chart = Dots {
        span: closeup.span,
        y: Axis::new("place on the disk", Unit::Sectors),
        bands: Vec::new(),
        kinds: vec![
            DotKind::new("read", Marker::Disc),
            DotKind::new("sync write", Marker::Square),
            DotKind::new("async write", Marker::Ring),
            DotKind::new("barrier or flush", Marker::Diamond),
        ],
        series,
    };
    chart.cut_into_bands(BANDS_MAX);
    let bands = chart.bands.len();
    let mut figure = Figure::new("Where each dispatched request goes", chart)
        .summary(format!("{total} requests are sent to the device in this window: {}.", parts.join(", ")));
    if bands > 1 {
        figure = figure.note("Empty stretches of the disk are cut out.");
    }
    Some(figure)
}
