//! What something is made of over the whole run: one high lane for each kernel, whose height is shared out.

use super::timelines::{mean, stretches};
use super::{Column, Context, palette, reclaim};
use crate::describe::{Category, Figure, Interval, Lane, Lanes, Span, Unit};
use stallarium_sim::mm::Lru;
use stallarium_sim::report::{RunResult, Subject, Timeline};
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

/// A part: which timelines it adds up.
type Part = (Category, Box<dyn Fn(&Subject) -> bool>);

/// A lane for each kernel over the whole run. `None` when no run has such a thing.
#[must_use]
pub fn shares(context: &Context<'_>, columns: &[Column<'_>], which: Shares) -> Option<Figure> {
    let title = match which {
        Shares::Memory => "What memory holds",
        Shares::Kswapd => "What kswapd does",
        Shares::Scanned => "Who looks at pages, by zone",
        Shares::Freed => "Who frees pages, by zone",
    };
    let parts = parts(which, columns);
    let last = (which == Shares::Memory).then(palette::rest_of_memory);
    let count = parts.len() + usize::from(last.is_some());
    let mut seen = vec![0.0; count];
    let mut sentences = Vec::new();
    let mut lanes = Vec::new();
    for column in columns.iter().filter(|column| column.run.memory.is_some()) {
        let (lane, totals) = lane(column, &parts, capacity(column.run, which));
        let all: f64 = totals.iter().sum();
        let labels = parts.iter().map(|part| &part.0).chain(&last);
        let mut named: Vec<(&str, f64)> = labels
            .map(|category| category.label.as_str())
            .zip(totals.iter().map(|total| total / all))
            .collect();
        seen.iter_mut().zip(&totals).for_each(|(seen, total)| *seen += total);
        stallarium_sim::short_sort::sort_by(&mut named, |one, other| other.1.total_cmp(&one.1));
        let most = named.iter().take(3).filter(|(_, share)| *share >= 0.005);
        let words: Vec<String> = most
            .map(|(name, share)| format!("{name} {}", Unit::Percent.write((share * 100.0).round())))
            .collect();
        if all > 0.0 {
            sentences.push(format!("{}: {}.", column.label, words.join(", ")));
            lanes.push(lane);
        }
    }
    if lanes.is_empty() {
        return None;
    }
    // The legend names what there is.
    let is_seen = |index: &usize| seen.get(*index).is_some_and(|total| *total > 0.0);
    for interval in lanes.iter_mut().flat_map(|lane: &mut Lane| &mut lane.intervals) {
        interval.category = (0..interval.category).filter(is_seen).count();
    }
    let categories = parts.into_iter().map(|part| part.0).chain(last).enumerate();
    let categories = categories.filter(|(index, _)| is_seen(index)).map(|(_, category)| category).collect();
    let end_ns = columns.iter().map(|column| column.run.elapsed_ns).max().unwrap_or(0);
    let chart = Lanes { span: Span::new(0, end_ns), categories, kinds: Vec::new(), lanes, is_shared: true };
    Some(Figure::new(title, chart).subtitle(context.conditions).summary(sentences.join(" ")))
}

/// The most that parts can add up to, if what is missing is a part as well.
fn capacity(run: &RunResult, which: Shares) -> Option<f64> {
    let zones = run.memory.iter().flat_map(|memory| &memory.zones);
    (which == Shares::Memory).then(|| zones.map(|zone| f64::from(zone.present)).sum())
}

/// A run's lane, and what each part adds up to.
fn lane(column: &Column<'_>, parts: &[Part], capacity: Option<f64>) -> (Lane, Vec<f64>) {
    let run = column.run;
    let timelines: Vec<Vec<&Timeline>> =
        parts.iter().map(|part| run.timelines_of(&part.1).collect()).collect();
    let least_ns = timelines.iter().flatten().map(|timeline| timeline.bucket_ns).max().unwrap_or(1);
    let mut lane = Lane::new(column.label);
    let mut totals = vec![0.0; parts.len() + usize::from(capacity.is_some())];
    for stretch in stretches(run.elapsed_ns, least_ns) {
        let value =
            |timelines: &Vec<&Timeline>| timelines.iter().map(|timeline| mean(timeline, stretch)).sum();
        let mut values: Vec<f64> = timelines.iter().map(value).collect();
        let known: f64 = values.iter().sum();
        values.extend(capacity.map(|all| (all - known).max(0.0)));
        let all = capacity.unwrap_or(known).max(known);
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

/// The parts, from below.
fn parts(which: Shares, columns: &[Column<'_>]) -> Vec<Part> {
    match which {
        Shares::Memory => {
            let lists = Lru::ALL.into_iter().map(|list| -> Part {
                (palette::list(list), Box::new(move |subject| *subject == Subject::OnList(list)))
            });
            let free: Part =
                (palette::free(), Box::new(|subject| matches!(subject, Subject::FreePages { .. })));
            lists.chain([free]).collect()
        }
        Shares::Kswapd => {
            let doing = KswapdDoing::ALL.into_iter().map(|doing| -> Part {
                (palette::kswapd(doing), Box::new(move |subject| *subject == Subject::Kswapd(doing)))
            });
            doing.collect()
        }
        Shares::Scanned | Shares::Freed => {
            let zones = reclaim::zones(columns);
            let places: Vec<(usize, &str)> = [0, 1]
                .into_iter()
                .flat_map(|by| zones.iter().map(move |zone| (by, zone.name.as_str())))
                .collect();
            let part = |index: usize| -> Part {
                let (by, zone) = places[index];
                let (zone, direct) = (zone.to_owned(), by == 1);
                let wanted = match which {
                    Shares::Scanned => Subject::Scanned { zone, direct },
                    _ => Subject::Freed { zone, direct },
                };
                (palette::reclaimer(index, &places), Box::new(move |subject| *subject == wanted))
            };
            (0..places.len()).map(part).collect()
        }
    }
}
