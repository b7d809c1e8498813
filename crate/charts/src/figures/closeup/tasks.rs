//! What each process and kernel thread is doing: on a CPU, waiting for one, or waiting for what.

use super::{Closeup, Current};
use crate::describe::{Category, Event, EventKind, Figure, Fill, Interval, Lane, Lanes, Marker, Tone, Unit};
use crate::figures::palette;
use stallarium_sim::observe::{TaskTrace, TraceKind, WaitKind};
use stallarium_sim::short_sort;

/// The most lanes: with more, none can be read.
const LANES_MAX: usize = 14;

/// The categories in a fixed order, so that they keep their colours while one moves about.
const WAITS: [WaitKind; 9] = [
    WaitKind::Read,
    WaitKind::Write,
    WaitKind::Commit,
    WaitKind::FreeRequest,
    WaitKind::Sleep,
    WaitKind::Work,
    WaitKind::Start,
    WaitKind::Congestion,
    WaitKind::Throttle,
];
const RUNNING: usize = 0;
const RUNNABLE: usize = 1;
const FIRST_WAIT: usize = 2;

fn category(state: TaskTrace) -> Option<usize> {
    match state {
        TaskTrace::Running => Some(RUNNING),
        TaskTrace::Runnable => Some(RUNNABLE),
        TaskTrace::Blocked(kind) => Some(FIRST_WAIT + WAITS.iter().position(|known| *known == kind)?),
        TaskTrace::Exited => None,
    }
}

pub(super) fn figure(closeup: &Closeup) -> Option<Figure> {
    let span = closeup.span;
    let count = closeup.detail.tasks.len();
    let mut states: Vec<Current<usize>> = (0..count).map(|_| Current::new()).collect();
    let mut lanes: Vec<Lane> = closeup.detail.tasks.iter().map(|task| Lane::new(task.name.clone())).collect();
    let keep = |lanes: &mut [Lane], task: usize, ended: Option<(u64, u64, usize)>| {
        if let (Some(lane), Some((from, to, category))) = (lanes.get_mut(task), ended)
            && to > span.start_ns
            && from < span.end_ns
        {
            lane.intervals.push(Interval::new(from, to, category));
        }
    };
    for (current, state) in states.iter_mut().zip(&closeup.detail.states) {
        current.change(closeup.detail.from_ns, category(*state));
    }
    for event in &closeup.detail.events {
        match event.kind {
            TraceKind::Task(task, state) => {
                let task = usize::try_from(task).unwrap_or(usize::MAX);
                let ended =
                    states.get_mut(task).and_then(|current| current.change(event.time_ns, category(state)));
                keep(&mut lanes, task, ended);
            }
            TraceKind::Mark(task, mark, amount)
                if event.time_ns >= span.start_ns && event.time_ns < span.end_ns =>
            {
                let names = closeup.detail.tasks.get(task as usize).map(|task| &task.marks);
                let name = names.and_then(|names| names.get(usize::from(mark)));
                let label = name.map(|name| format!("{amount} {name}"));
                if let Some(lane) = lanes.get_mut(task as usize) {
                    lane.events.push(Event { label, ..Event::new(event.time_ns, 0) });
                }
            }
            _ => {}
        }
    }
    let end_ns = closeup.known_until_ns();
    for (task, current) in states.iter_mut().enumerate() {
        let ended = current.change(end_ns, None);
        keep(&mut lanes, task, ended);
    }
    let is_kernel = |lane: &Lane| {
        closeup.detail.tasks.iter().any(|task| task.name == lane.label && task.is_kernel_thread)
    };
    short_sort::sort_by_key(&mut lanes, is_kernel);
    lanes.retain(|lane| !lane.intervals.is_empty());
    let before = lanes.len();
    lanes.retain(|lane| !is_idle(lane, closeup));
    let hidden = before - lanes.len().min(LANES_MAX);
    lanes.truncate(LANES_MAX);
    lanes.first()?;
    let summary = summary(&lanes, closeup);
    let mut categories = vec![
        Category::new("on the CPU", Tone::Series(2), Fill::Solid),
        Category::new("wants a CPU", Tone::Series(2), Fill::Tint),
    ];
    categories.extend(WAITS.map(palette::wait));
    let used = |category: usize| {
        lanes.iter().flat_map(|lane| &lane.intervals).any(|interval| interval.category == category)
    };
    let kept: Vec<usize> = (0..categories.len()).filter(|&index| used(index)).collect();
    for interval in lanes.iter_mut().flat_map(|lane| &mut lane.intervals) {
        interval.category = kept.iter().position(|&index| index == interval.category).unwrap_or(usize::MAX);
    }
    let categories = kept.iter().filter_map(|&index| categories.get(index).cloned()).collect();
    let has_marks = lanes.iter().any(|lane| !lane.events.is_empty());
    let kinds = if has_marks {
        vec![EventKind::new("unit of work done", Tone::Neutral, Marker::Diamond)]
    } else {
        Vec::new()
    };
    let mut figure =
        Figure::new("What each process is doing", Lanes { span, categories, kinds, lanes, is_shared: false })
            .summary(summary);
    if hidden > 0 {
        let what = if hidden == 1 { "One task that does" } else { "Tasks that do" };
        figure = figure.note(format!(
            "{what} next to nothing here, or that would be one lane too many, left out: {hidden}."
        ));
    }
    Some(figure)
}

/// Whether a thread has nothing to do for nearly all of the window.
fn is_idle(lane: &Lane, closeup: &Closeup) -> bool {
    let span = closeup.span;
    let idle = FIRST_WAIT + WAITS.iter().position(|wait| *wait == WaitKind::Work).unwrap_or(0);
    let within = |interval: &Interval| {
        interval.end_ns.min(span.end_ns).saturating_sub(interval.start_ns.max(span.start_ns))
    };
    let ns: u64 = lane.intervals.iter().filter(|interval| interval.category == idle).map(within).sum();
    ns as f64 > span.end_ns.saturating_sub(span.start_ns) as f64 * 0.98
}

/// How much of the window the first process spends in what takes most of it.
fn summary(lanes: &[Lane], closeup: &Closeup) -> String {
    let span = closeup.span;
    let mut sentences = Vec::new();
    for lane in lanes.iter().take(3) {
        let mut totals = [0u64; FIRST_WAIT + WAITS.len()];
        for interval in &lane.intervals {
            if let Some(total) = totals.get_mut(interval.category) {
                *total +=
                    interval.end_ns.min(span.end_ns).saturating_sub(interval.start_ns.max(span.start_ns));
            }
        }
        let Some((most, ns)) = totals.iter().enumerate().max_by_key(|(_, ns)| **ns) else { continue };
        let what = match most {
            RUNNING => "is on the CPU".to_owned(),
            RUNNABLE => "wants a CPU".to_owned(),
            wait => WAITS.get(wait - FIRST_WAIT).map_or(String::new(), |kind| {
                let label = palette::wait(*kind).label;
                if *kind == WaitKind::Work { "has nothing to do".to_owned() } else { label }
            }),
        };
        let (part, whole) = (*ns as f64, span.end_ns.saturating_sub(span.start_ns) as f64);
        sentences.push(format!(
            "{} {what} for {} of {}.",
            lane.label,
            Unit::Nanoseconds.write(part),
            Unit::Nanoseconds.write(whole)
        ));
    }
    sentences.join(" ")
}
