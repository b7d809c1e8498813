//! What something is made of over the whole run: one high lane for each kernel, whose height is shared out.

use super::reclaim::{places, say};
use super::timelines::{mean, stretches};
use super::{Column, Context, palette};
use crate::describe::{Figure, Interval, Lane, Lanes, Span, Unit};
use stallarium_sim::mm::LRU_LISTS;
use stallarium_sim::report::{RunResult, Subject};
use stallarium_sim::simulation::KswapdDoing;

/// What is shared out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shares {
    /// Memory: free, on which list, the rest.
    Memory,
    /// kswapd's time.
    Kswapd,
    /// Pages that are looked at, by whom and in which zone.
    Scanned,
    /// Pages that are freed, by whom and in which zone.
    Freed,
}

/// A lane for each kernel over the whole run. `None` when no run has such a thing.
#[must_use]
pub fn shares(context: &Context<'_>, columns: &[Column<'_>], which: Shares) -> Option<Figure> {
    let places = places(columns);
    let (title, mut categories) = match which {
        Shares::Memory => ("What memory holds", palette::memory()),
        Shares::Kswapd => ("What kswapd does", KswapdDoing::ALL.map(palette::kswapd).to_vec()),
        Shares::Scanned => ("Who looks at pages, by zone", palette::reclaimers(&places)),
        Shares::Freed => ("Who frees pages, by zone", palette::reclaimers(&places)),
    };
    let mut seen = vec![false; categories.len()];
    let mut summary = String::new();
    let mut lanes = Vec::new();
    for column in columns {
        let (lane, totals) = lane(column, which, &places, categories.len());
        let all: f64 = totals.iter().sum();
        if all > 0.0 {
            let percent = totals.iter().map(|total| (total / all * 100.0).round());
            let named = categories.iter().zip(percent).filter(|(_, percent)| *percent > 0.0);
            let mut words = named.map(|(part, percent)| (Unit::Percent.write(percent), part.label.as_str()));
            say(&mut summary, column.label, &mut words);
            seen.iter_mut().zip(totals).for_each(|(seen, total)| *seen |= total > 0.0);
            lanes.push(lane);
        }
    }
    let end_ns = columns.iter().map(|column| column.run.elapsed_ns).max()?;
    if lanes.is_empty() {
        return None;
    }
    // The legend names what there is.
    for interval in lanes.iter_mut().flat_map(|lane: &mut Lane| &mut lane.intervals) {
        interval.category = seen[..interval.category].iter().filter(|seen| **seen).count();
    }
    let mut is_seen = seen.iter();
    categories.retain(|_| is_seen.next() == Some(&true));
    let chart = Lanes { span: Span::new(0, end_ns), categories, kinds: Vec::new(), lanes, is_shared: true };
    Some(Figure::new(title, chart).subtitle(context.conditions).summary(summary))
}

/// A run's lane, and what each part adds up to.
fn lane(column: &Column<'_>, which: Shares, places: &[(bool, String)], parts: usize) -> (Lane, Vec<f64>) {
    let run = column.run;
    let timelines = || {
        run.timelines.iter().filter_map(|timeline| Some((part(which, &timeline.subject, places)?, timeline)))
    };
    let least_ns = timelines().map(|(_, timeline)| timeline.bucket_ns).max().unwrap_or(u64::MAX);
    let mut lane = Lane::new(column.label);
    let mut totals = vec![0.0; parts];
    for stretch in stretches(run.elapsed_ns, least_ns) {
        let mut values = vec![0.0; parts];
        for (part, timeline) in timelines() {
            values[part] += mean(timeline, stretch);
        }
        let known: f64 = values.iter().sum();
        if which == Shares::Memory
            && let Some(rest) = values.last_mut()
        {
            *rest = (pages(run) - known).max(0.0);
        }
        let all: f64 = values.iter().sum();
        let mut from = 0.0;
        for (category, value) in values.into_iter().enumerate().filter(|(_, value)| *value > 0.0) {
            totals[category] += value * (stretch.1 - stretch.0) as f64;
            let to = from + value / all;
            lane.intervals
                .push(Interval { band: (from, to), ..Interval::new(stretch.0, stretch.1, category) });
            from = to;
        }
    }
    (lane, totals)
}

/// Which part a timeline belongs to.
fn part(which: Shares, subject: &Subject, places: &[(bool, String)]) -> Option<usize> {
    match (which, subject) {
        (Shares::Memory, Subject::OnList(list)) => Some(list.index()),
        (Shares::Memory, Subject::FreePages { .. }) => Some(LRU_LISTS),
        (Shares::Kswapd, Subject::Kswapd(doing)) => Some(*doing as usize),
        (Shares::Scanned, Subject::Scanned { zone, direct })
        | (Shares::Freed, Subject::Freed { zone, direct }) => {
            places.iter().position(|place| place.0 == *direct && place.1 == *zone)
        }
        _ => None,
    }
}

/// All pages of a run's machine.
fn pages(run: &RunResult) -> f64 {
    let zones = run.memory.iter().flat_map(|memory| &memory.zones);
    zones.map(|zone| f64::from(zone.present)).sum()
}
