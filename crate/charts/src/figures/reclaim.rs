//! Who reclaims, what those who want memory sleep for, and where pages come from: totals of whole runs.

use super::{Column, Context, palette};
use crate::describe::{Axis, Bar, BarSeries, Bars, Figure, Measure, Stacked, StackedBar, Unit};
use stallarium_sim::report::{MemoryResult, ZoneResult};
use stallarium_sim::short_sort;
use stallarium_sim::simulation::DirectSleep;

/// Shorter than this in every run, nanoseconds: nothing to look at.
const SLEEP_MIN_NS: u64 = 1_000_000;

/// The memory of each run that has it, with the run's label.
fn memories<'r>(columns: &[Column<'r>]) -> Vec<(&'r str, &'r MemoryResult)> {
    columns.iter().filter_map(|column| Some((column.label, column.run.memory.as_ref()?))).collect()
}

/// The zones of the first run that has memory, the largest first.
pub(super) fn zones<'r>(columns: &[Column<'r>]) -> Vec<&'r ZoneResult> {
    let memory = columns.iter().find_map(|column| column.run.memory.as_ref());
    let mut zones: Vec<&ZoneResult> = memory.iter().flat_map(|memory| &memory.zones).collect();
    short_sort::sort_by_key(&mut zones, |zone| std::cmp::Reverse(zone.present));
    zones
}

/// How long tasks were kept from their memory, and by what. `None` when nobody was.
#[must_use]
pub fn sleeps(context: &Context<'_>, columns: &[Column<'_>]) -> Option<Figure> {
    let runs = memories(columns);
    let mut causes: Vec<DirectSleep> = Vec::new();
    let all = runs.iter().flat_map(|(_, memory)| &memory.direct_sleeps);
    for sleeps in all.filter(|sleeps| sleeps.ns >= SLEEP_MIN_NS) {
        if !causes.contains(&sleeps.cause) {
            causes.push(sleeps.cause);
        }
    }
    short_sort::sort_by_key(&mut causes, |cause| *cause);
    let mut parts = vec![palette::reclaiming()];
    parts.extend(causes.iter().map(|cause| palette::direct_sleep(*cause)));
    let mut sentences = Vec::new();
    let bars: Vec<StackedBar> = runs
        .iter()
        .map(|(label, memory)| {
            let mut values = vec![memory.direct_reclaim_ns as f64];
            let mut words = vec![format!("{} on the CPU", Unit::Nanoseconds.write(values[0]))];
            for cause in &causes {
                let sleeps = memory.direct_sleeps.iter().find(|sleeps| sleeps.cause == *cause);
                values.push(sleeps.map_or(0.0, |sleeps| sleeps.ns as f64));
                words.extend(sleeps.map(|sleeps| {
                    let [all, longest] =
                        [sleeps.ns, sleeps.longest_ns].map(|ns| Unit::Nanoseconds.write(ns as f64));
                    format!("{all} in {} sleeps of at most {longest}: {}", sleeps.count, cause.words())
                }));
            }
            sentences.push(format!("{label}: {}.", words.join("; ")));
            StackedBar::new(*label, values)
        })
        .collect();
    if bars.iter().all(|bar| bar.total(parts.len()) < SLEEP_MIN_NS as f64) {
        return None;
    }
    let label = "time of all tasks on the way to a page".to_owned();
    let chart = Stacked { parts, bars, unit: Unit::Nanoseconds, label, measure: Measure::Total };
    let title = "How long tasks reclaim and sleep before they get their memory";
    Some(Figure::new(title, chart).subtitle(context.conditions).summary(sentences.join(" ")))
}

/// Pages looked at and pages freed in the whole run, by whom and in which zone. `None` when nobody reclaims.
#[must_use]
pub fn reclaimers(context: &Context<'_>, columns: &[Column<'_>]) -> Option<Figure> {
    let places: Vec<(usize, &str)> = [0, 1]
        .into_iter()
        .flat_map(|by| zones(columns).into_iter().map(move |zone| (by, &*zone.name)))
        .collect();
    let mut bars = Vec::new();
    let mut sentences = Vec::new();
    for (label, memory) in memories(columns) {
        let by_place = |of: fn(&ZoneResult) -> [u64; 2]| -> Vec<f64> {
            let pages = |&(by, name): &(usize, &str)| {
                memory.zones.iter().find(|zone| zone.name == name).map_or(0.0, |zone| of(zone)[by] as f64)
            };
            places.iter().map(pages).collect()
        };
        let (scanned, freed) = (by_place(|zone| zone.scanned), by_place(|zone| zone.freed));
        let share = |pages: &[f64]| {
            let direct: f64 = pages.iter().skip(pages.len() / 2).sum();
            let all: f64 = pages.iter().sum();
            Unit::Percent.write(if all > 0.0 { direct / all * 100.0 } else { 0.0 })
        };
        sentences.push(format!(
            "{label}: direct reclaim looks at {} of the pages and frees {}.",
            share(&scanned),
            share(&freed)
        ));
        bars.push(StackedBar::new(format!("{label}: looked at"), scanned));
        bars.push(StackedBar::new(format!("{label}: freed"), freed));
    }
    if bars.iter().all(|bar| bar.total(places.len()) == 0.0) {
        return None;
    }
    let parts = (0..places.len()).map(|index| palette::reclaimer(index, &places)).collect();
    let chart = Stacked {
        parts,
        bars,
        unit: Unit::named("pages"),
        label: "pages".to_owned(),
        measure: Measure::Total,
    };
    let title = "Who looks at pages and who frees them, by zone";
    Some(Figure::new(title, chart).subtitle(context.conditions).summary(sentences.join(" ")))
}

/// Pages allocated in the whole run, by zone. `None` where there is but one zone, or no memory.
#[must_use]
pub fn allocation(context: &Context<'_>, columns: &[Column<'_>]) -> Option<Figure> {
    let zones = zones(columns);
    if zones.len() < 2 {
        return None;
    }
    let names: Vec<String> = zones.iter().map(|zone| zone.name.clone()).collect();
    let axis = Axis::new("pages allocated, logarithmic", Unit::named("pages")).log();
    let mut sentences = Vec::new();
    let mut series = Vec::new();
    for column in columns {
        let Some(memory) = &column.run.memory else { continue };
        let allocated = |name: &String| {
            memory
                .zones
                .iter()
                .find(|zone| zone.name == *name)
                .map(|zone| zone.allocated)
                .filter(|pages| *pages > 0)
        };
        let pages: Vec<Option<u64>> = names.iter().map(allocated).collect();
        let each = names.iter().zip(&pages);
        let words =
            each.map(|(name, pages)| format!("{} from {name}", axis.unit.write(pages.unwrap_or(0) as f64)));
        sentences.push(format!("{}: {}.", column.label, words.collect::<Vec<_>>().join(", ")));
        let mut bars = BarSeries::slot(column.label, column.slot);
        bars.bars = pages.into_iter().map(|pages| pages.map(|pages| Bar::new(pages as f64))).collect();
        series.push(bars);
    }
    let chart = Bars { axis, groups: names, series, reference: String::new() };
    let title = "Which zone pages come from";
    Some(Figure::new(title, chart).subtitle(context.conditions).summary(sentences.join(" ")))
}
