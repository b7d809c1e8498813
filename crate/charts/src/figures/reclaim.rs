//! Who reclaims, what those who want memory sleep for, and where pages come from: totals of whole runs.

use super::{Column, Context, palette};
use crate::describe::{Axis, Bar, BarSeries, Bars, Category, Figure, Measure, Stacked, StackedBar, Unit};
use stallarium_sim::report::ZoneResult;
use stallarium_sim::short_sort;
use stallarium_sim::simulation::DirectSleep;

/// All runs together reclaim and sleep for less than this, nanoseconds: nothing to look at.
const LEAST_NS: f64 = 1e6;

/// The zones of the first run that has memory, the largest first.
pub(super) fn zones<'r>(columns: &[Column<'r>]) -> Vec<&'r ZoneResult> {
    let memory = columns.iter().find_map(|column| column.run.memory.as_ref());
    let mut zones: Vec<&ZoneResult> = memory.iter().flat_map(|memory| &memory.zones).collect();
    short_sort::sort_by_key(&mut zones, |zone| std::cmp::Reverse(zone.present));
    zones
}

/// Where somebody reclaims: whether tasks themselves do, and the zone. kswapd's come first.
pub(super) fn places(columns: &[Column<'_>]) -> Vec<(bool, String)> {
    let zones = zones(columns);
    let by = |direct| zones.iter().map(move |zone| (direct, zone.name.clone()));
    by(false).chain(by(true)).collect()
}

/// Adds a sentence: `label: 3 s of this, 2 s of that.`
pub(super) fn say(text: &mut String, label: &str, parts: &mut dyn Iterator<Item = (String, &str)>) {
    let before = [if text.is_empty() { "" } else { " " }, label, ":"];
    before.iter().for_each(|part| text.push_str(part));
    for (index, (value, name)) in parts.enumerate() {
        [if index == 0 { " " } else { ", " }, &value, " ", name].iter().for_each(|part| text.push_str(part));
    }
    text.push('.');
}

/// Stacked totals with a sentence for each bar; `None` if all are smaller than `least` together.
fn stacked(
    context: &Context<'_>,
    (title, label, unit): (&str, &str, Unit),
    (parts, bars): (Vec<Category>, Vec<StackedBar>),
    least: f64,
) -> Option<Figure> {
    if bars.iter().map(|bar| bar.total(parts.len())).sum::<f64>() < least {
        return None;
    }
    let mut summary = String::new();
    for bar in &bars {
        let values = parts.iter().zip(&bar.values).filter(|(_, value)| **value > 0.0);
        let mut words = values.map(|(part, value)| (unit.write(*value), part.label.as_str()));
        say(&mut summary, &bar.label, &mut words);
    }
    let chart = Stacked { parts, bars, unit, label: label.to_owned(), measure: Measure::Total };
    Some(Figure::new(title, chart).subtitle(context.conditions).summary(summary))
}

/// How long tasks were kept from their memory, and by what. `None` when nobody was.
#[must_use]
pub fn sleeps(context: &Context<'_>, columns: &[Column<'_>]) -> Option<Figure> {
    let memories = || columns.iter().filter_map(|column| Some((column.label, column.run.memory.as_ref()?)));
    let is_there = |cause: &DirectSleep| {
        memories().any(|(_, memory)| memory.direct_sleeps.iter().any(|sleeps| sleeps.cause == *cause))
    };
    let causes: Vec<DirectSleep> = DirectSleep::ALL.into_iter().filter(is_there).collect();
    let mut parts = vec![palette::reclaiming()];
    parts.extend(causes.iter().map(|cause| palette::direct_sleep(*cause)));
    let mut note = String::new();
    let mut bars = Vec::new();
    for (label, memory) in memories() {
        let mut values = vec![memory.direct_reclaim_ns as f64];
        values.resize(parts.len(), 0.0);
        let mut words = Vec::new();
        for sleeps in &memory.direct_sleeps {
            if let Some(index) = causes.iter().position(|cause| *cause == sleeps.cause) {
                values[index + 1] = sleeps.ns as f64;
            }
            let longest = Unit::Nanoseconds.write(sleeps.longest_ns as f64);
            words.push((format!("{} times at most {longest}:", sleeps.count), sleeps.cause.words()));
        }
        if !words.is_empty() {
            say(&mut note, label, &mut words.into_iter());
        }
        bars.push(StackedBar::new(label, values));
    }
    let title = "How long tasks reclaim and sleep before they get their memory";
    let label = "time of all tasks on the way to a page";
    let figure = stacked(context, (title, label, Unit::Nanoseconds), (parts, bars), LEAST_NS)?;
    Some(figure.note(note))
}

/// Pages looked at and pages freed in the whole run, by whom and in which zone. `None` when nobody reclaims.
#[must_use]
pub fn reclaimers(context: &Context<'_>, columns: &[Column<'_>]) -> Option<Figure> {
    let places = places(columns);
    let mut bars = Vec::new();
    for column in columns {
        for what in ["looked at", "freed"] {
            let pages = |(direct, name): &(bool, String)| {
                let zones = &column.run.memory.as_ref()?.zones;
                let zone = zones.iter().find(|zone| zone.name == *name)?;
                let pages = if what == "freed" { &zone.freed } else { &zone.scanned };
                Some(pages[usize::from(*direct)] as f64)
            };
            let values = places.iter().map(|place| pages(place).unwrap_or(0.0)).collect();
            bars.push(StackedBar::new(format!("{}: {what}", column.label), values));
        }
    }
    let title = "Who looks at pages and who frees them, by zone";
    stacked(context, (title, "", Unit::named("pages")), (palette::reclaimers(&places), bars), 1.0)
}

/// Pages allocated in the whole run, by zone. `None` where there is but one zone, or no memory.
#[must_use]
pub fn allocation(context: &Context<'_>, columns: &[Column<'_>]) -> Option<Figure> {
    let zones = zones(columns);
    if zones.len() < 2 {
        return None;
    }
    let axis = Axis::new("pages allocated, logarithmic", Unit::named("pages")).log();
    let mut summary = String::new();
    let mut series = Vec::new();
    for column in columns {
        let allocated = |zone: &&ZoneResult| {
            let memory = column.run.memory.as_ref()?;
            Some(memory.zones.iter().find(|own| own.name == zone.name)?.allocated as f64)
        };
        let mut bars = BarSeries::slot(column.label, column.slot);
        let pages: Vec<f64> = zones.iter().map(|zone| allocated(zone).unwrap_or(0.0)).collect();
        let each = zones.iter().zip(&pages);
        let mut words =
            each.map(|(zone, pages)| (format!("{} from", axis.unit.write(*pages)), zone.name.as_str()));
        say(&mut summary, column.label, &mut words);
        bars.bars = pages.into_iter().map(|pages| (pages > 0.0).then(|| Bar::new(pages))).collect();
        series.push(bars);
    }
    let groups = zones.iter().map(|zone| zone.name.clone()).collect();
    let chart = Bars { axis, groups, series, reference: String::new() };
    Some(Figure::new("Which zone pages come from", chart).subtitle(context.conditions).summary(summary))
}
