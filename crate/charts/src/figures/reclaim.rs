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

/// Adds a sentence: `label: 3 s of this; 2 s of that.`
pub(super) fn say(text: &mut String, label: &str, parts: &mut dyn Iterator<Item = (String, &str)>) {
    let before = [if text.is_empty() { "" } else { " " }, label, ":"];
    before.iter().for_each(|part| text.push_str(part));
    for (index, (value, name)) in parts.enumerate() {
        [if index == 0 { " " } else { "; " }, &value, " ", name].iter().for_each(|part| text.push_str(part));
    }
    text.push('.');
}

/// A part of a bar that is smaller than this, per cent, is not spoken of.
const SPOKEN_PERCENT: f64 = 0.5;

/// Stacked totals with a sentence for each bar: times as they are, pages as shares. `None` if all are smaller than `least` together.
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
        let total = bar.total(parts.len());
        let values =
            parts.iter().zip(&bar.values).map(|(part, value)| (part, *value, *value / total * 100.0));
        let values = values.filter(|(_, _, percent)| *percent >= SPOKEN_PERCENT);
        let mut words = values.map(|(part, value, percent)| {
            let share = || Unit::Percent.write(percent.round());
            let words = if unit == Unit::Nanoseconds { unit.write(value) } else { share() };
            (words, part.label.as_str())
        });
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
            words.push((format!("{} sleeps of at most {longest}:", sleeps.count), sleeps.cause.words()));
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
            bars.push(StackedBar::new(format!("{}, {what}", column.label), values));
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

#[cfg(test)]
mod tests {
    use super::super::samples::{column, run_with_marks};
    use super::super::{Shares, Timelines, WHOLE, shares, timelines, whole};
    use super::*;
    use crate::describe::Chart;
    use crate::figures::Published;
    use stallarium_sim::observe::Series;
    use stallarium_sim::report::{MemoryResult, RunResult, Subject, Timeline};
    use stallarium_sim::simulation::{DirectSleeps, KswapdDoing};

    const SECOND: u64 = 1_000_000_000;

    fn zone(name: &str, present: u32, scanned: [u64; 2], freed: [u64; 2]) -> ZoneResult {
        ZoneResult {
            name: name.into(),
            present,
            free: 10,
            marks: [10, 12, 15],
            allocated: scanned[0],
            scanned,
            freed,
            lru: vec![0; 5],
        }
    }

    /// A run of two zones in which kswapd sleeps for the first half.
    fn run() -> RunResult {
        let mut run = run_with_marks("old", 0, 2 * SECOND);
        let sleeps =
            DirectSleeps { cause: DirectSleep::Retry, count: 3, ns: 30_000_000, longest_ns: 20_000_000 };
        run.memory = Some(MemoryResult {
            zones: vec![zone("DMA", 40, [10, 0], [5, 0]), zone("DMA32", 960, [700, 300], [500, 100])],
            direct_sleeps: vec![sleeps],
            direct_reclaim_ns: 70_000_000,
            ..MemoryResult::default()
        });
        let mut add =
            |subject, series: &Series| run.timelines.push(Timeline::new(subject, series, 2 * SECOND));
        for (doing, half) in [(KswapdDoing::Asleep, 0), (KswapdDoing::Harder, 1)] {
            let mut series = Series::new(1_000_000, 256);
            series.spread(half * SECOND, (half + 1) * SECOND, SECOND);
            add(Subject::Kswapd(doing), &series);
        }
        for (zone, pages) in [("DMA", 40), ("DMA32", 360)] {
            let mut series = Series::new(1_000_000, 256);
            series.set(0, pages);
            add(Subject::FreePages { zone: zone.into() }, &series);
        }
        run
    }

    fn context(published: &Published) -> Context<'_> {
        Context { experiment: None, case: "", conditions: "", published }
    }

    /// Sleeps stand beside the time on the CPU, with their number and the longest; shares of pages are those of whoever looks at them.
    #[test]
    fn totals_are_said_by_cause_and_by_zone() {
        let (run, published) = (run(), Published::new());
        let columns = [column(&run, 0)];
        let figure = sleeps(&context(&published), &columns).expect("they sleep");
        let expected =
            "old: 70 ms reclaiming on the CPU; 30 ms napping in the allocator between two attempts.";
        assert_eq!(figure.summary.replace('\u{202f}', " "), expected);
        assert!(figure.note.contains("3 sleeps of at most"), "{}", figure.note);
        let figure = reclaimers(&context(&published), &columns).expect("they reclaim");
        assert!(figure.summary.contains("old, freed: 83\u{202f}% kswapd in DMA32; 1\u{202f}% kswapd in DMA; 17\u{202f}% direct reclaim in DMA32"), "{}", figure.summary);
        let Chart::Stacked(chart) = &figure.chart else { panic!("stacked") };
        assert_eq!(chart.bars[0].total(chart.parts.len()), 1010.0);
        assert!(allocation(&context(&published), &columns).is_some());
    }

    /// A lane's bands fill its height, and have the shares of their stretch; what never happens is not in the legend.
    #[test]
    fn shares_fill_their_lane() {
        let (run, published) = (run(), Published::new());
        for (which, expected) in [
            (Shares::Kswapd, vec![("asleep", 0.5), ("balancing harder at 9 to 6", 0.5)]),
            (Shares::Memory, vec![("free", 0.4), ("page tables and the kernel's own", 0.6)]),
        ] {
            let figure = shares(&context(&published), &[column(&run, 0)], which).expect("it is there");
            let Chart::Lanes(chart) = &figure.chart else { panic!("lanes") };
            let names: Vec<&str> = chart.categories.iter().map(|category| category.label.as_str()).collect();
            assert_eq!(names, expected.iter().map(|part| part.0).collect::<Vec<_>>());
            for (category, (name, share)) in expected.into_iter().enumerate() {
                let own = chart.lanes[0].intervals.iter().filter(|interval| interval.category == category);
                let covered: f64 = own.map(|part| part.share() * (part.end_ns - part.start_ns) as f64).sum();
                assert!((covered / (2 * SECOND) as f64 - share).abs() < 0.01, "{name}: {covered}");
            }
        }
    }

    /// Each zone has its own chart and marks, the largest first; of a run without memory nothing is shown.
    #[test]
    fn zones_are_shown_one_by_one() {
        let (run, published) = (run(), Published::new());
        let free = |index| timelines(&context(&published), &[column(&run, 0)], Timelines::Free(index));
        assert!(free(0).is_some_and(|figure| figure.title.contains("DMA32")));
        assert!(free(1).is_some_and(|figure| figure.title.contains("DMA against")));
        assert!(free(2).is_none());
        let plain = run_with_marks("old", 0, SECOND);
        let shown =
            WHOLE.iter().filter(|name| whole(name, &context(&published), &[column(&plain, 0)]).is_some());
        let shown: Vec<&&str> = shown.filter(|name| !["rates", "breakdown"].contains(name)).collect();
        assert!(shown.is_empty(), "{shown:?}");
    }
}
