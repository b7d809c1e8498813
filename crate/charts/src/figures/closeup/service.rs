//! Whom the scheduler serves: whose slice it is, whose request is in the device, and for whom it idles, with what success.

use super::{Closeup, Current, tone};
use crate::describe::{Category, Event, EventKind, Figure, Fill, Interval, Lane, Lanes, Marker, Tone};
use stallarium_sim::observe::TraceKind;

/// How an idling ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Rewarded,
    InVain,
    CutOff,
}

pub(super) fn figure(closeup: &Closeup) -> Option<Figure> {
    let mut reading = Reading::new(closeup);
    for event in &closeup.detail.events {
        reading.read(event.time_ns, &event.kind);
    }
    reading.finish()
}

struct Reading<'a> {
    closeup: &'a Closeup,
    /// Tasks that own a slice or a request, in the order of their appearance: the first categories.
    tasks: Vec<usize>,
    slice: Current<usize>,
    idling: Current<usize>,
    /// Requests in the device: their tasks, oldest first, with their first sectors.
    in_device: Vec<(u64, usize)>,
    device: Current<usize>,
    slices: Vec<(u64, u64, usize)>,
    idles: Vec<(u64, u64, usize, Outcome)>,
    served: Vec<(u64, u64, usize)>,
    expired: Vec<(u64, bool)>,
    preempted: Vec<(u64, u32)>,
}

/// Stands for the shared async queues among tasks.
const ASYNC: usize = usize::MAX;

impl<'a> Reading<'a> {
    fn new(closeup: &'a Closeup) -> Self {
        Self {
            closeup,
            tasks: Vec::new(),
            slice: Current::new(),
            idling: Current::new(),
            in_device: Vec::new(),
            device: Current::new(),
            slices: Vec::new(),
            idles: Vec::new(),
            served: Vec::new(),
            expired: Vec::new(),
            preempted: Vec::new(),
        }
    }

    /// The task that owns a queue; shared async queues have none.
    fn owner(&self, owner: u32) -> usize {
        usize::try_from(owner).ok().filter(|task| *task < self.closeup.detail.tasks.len()).unwrap_or(ASYNC)
    }

    fn read(&mut self, now_ns: u64, kind: &TraceKind) {
        match *kind {
            TraceKind::CfqSelect(owner, _) => {
                let owner = self.owner(owner);
                self.end_slice(now_ns, Some(owner));
            }
            TraceKind::CfqExpire(_, used_up) => {
                self.expired.push((now_ns, used_up));
                self.end_slice(now_ns, None);
            }
            TraceKind::CfqIdleArm(owner, _) => {
                let owner = self.owner(owner);
                self.end_idling(now_ns, Outcome::CutOff, Some(owner));
            }
            TraceKind::CfqIdleRewarded(_) => self.end_idling(now_ns, Outcome::Rewarded, None),
            TraceKind::CfqIdleFired => self.end_idling(now_ns, Outcome::InVain, None),
            TraceKind::CfqPreempt(by) => {
                self.preempted.push((now_ns, by));
                self.end_idling(now_ns, Outcome::CutOff, None);
            }
            TraceKind::Start(facts, _) => {
                let task = usize::try_from(facts.task).unwrap_or(ASYNC);
                self.in_device.push((facts.sector, task));
                self.serve(now_ns);
                self.end_idling(now_ns, Outcome::CutOff, None);
            }
            TraceKind::Complete(facts, left) => {
                self.in_device.retain(|(sector, _)| *sector != facts.sector);
                // What was in the device before the first event is not known; what is left now is.
                let left = usize::try_from(left).unwrap_or(usize::MAX);
                while self.in_device.len() > left {
                    self.in_device.remove(0);
                }
                self.serve(now_ns);
            }
            _ => {}
        }
    }

    fn end_slice(&mut self, now_ns: u64, next: Option<usize>) {
        self.end_idling(now_ns, Outcome::CutOff, None);
        if let Some(ended) = self.slice.change(now_ns, next) {
            self.slices.push(ended);
        }
    }

    fn end_idling(&mut self, now_ns: u64, outcome: Outcome, next: Option<usize>) {
        if let Some((from, to, owner)) = self.idling.change(now_ns, next) {
            self.idles.push((from, to, owner, outcome));
        }
    }

    fn serve(&mut self, now_ns: u64) {
        let oldest = self.in_device.first().map(|(_, task)| *task);
        if oldest != self.device.what
            && let Some(ended) = self.device.change(now_ns, oldest)
        {
            self.served.push(ended);
        }
    }

    fn category(&mut self, task: usize) -> usize {
        let known = self.tasks.iter().position(|known| *known == task);
        known.unwrap_or_else(|| {
            self.tasks.push(task);
            self.tasks.len() - 1
        })
    }

    fn name(&self, task: usize) -> &'a str {
        let found = self.closeup.detail.tasks.get(task);
        found.map_or("shared async queue", |task| task.name.as_str())
    }

    /// Intervals that go on beyond the last event are shown to the window's end.
    fn close(&mut self) {
        let end_ns = self.closeup.known_until_ns();
        self.slices.extend(self.slice.change(end_ns, None));
        self.served.extend(self.device.change(end_ns, None));
        let idling = self.idling.change(end_ns, None);
        self.idles.extend(idling.map(|(from, to, owner)| (from, to, owner, Outcome::CutOff)));
    }

    fn finish(mut self) -> Option<Figure> {
        self.close();
        let span = self.closeup.span;
        let shown = |from: u64, to: u64| to > span.start_ns && from < span.end_ns;
        let has_slices = !self.slices.is_empty();
        let mut lanes = Vec::new();
        let by_owner = |reading: &mut Self, label: &str, stretches: Vec<(u64, u64, usize)>| {
            let mut lane = Lane::new(label);
            for (from, to, task) in stretches.into_iter().filter(|stretch| shown(stretch.0, stretch.1)) {
                let category = reading.category(task);
                lane.intervals.push(Interval::new(from, to, category));
            }
            lane
        };
        let slices = std::mem::take(&mut self.slices);
        let mut slice_lane = by_owner(&mut self, "slice of", slices);
        let served = std::mem::take(&mut self.served);
        let device_lane = by_owner(&mut self, "in the device", served);
        let owners = self.tasks.len();
        let idles: Vec<_> = self.idles.iter().copied().filter(|idle| shown(idle.0, idle.1)).collect();
        let mut idle_lane = Lane::new("idling for");
        for &(from, to, owner, outcome) in &idles {
            let mut interval = Interval::new(from, to, owners + outcome as usize);
            interval.label = Some(self.name(owner).to_owned());
            idle_lane.intervals.push(interval);
        }
        for &(at_ns, used_up) in self.expired.iter().filter(|(at, _)| shown(*at, at + 1)) {
            slice_lane.events.push(Event { label: None, ..Event::new(at_ns, usize::from(!used_up)) });
        }
        for &(at_ns, by) in self.preempted.iter().filter(|(at, _)| shown(*at, at + 1)) {
            let label = Some(self.name(self.owner(by)).to_owned());
            slice_lane.events.push(Event { label, ..Event::new(at_ns, 2) });
        }
        if has_slices {
            lanes.push(slice_lane);
            lanes.push(idle_lane);
        }
        lanes.push(device_lane);
        if lanes.iter().all(|lane| lane.intervals.is_empty()) {
            return None;
        }
        let chart = Lanes {
            span,
            categories: self.categories(has_slices),
            kinds: kinds(has_slices),
            lanes,
            is_shared: false,
        };
        Some(
            Figure::new("Who is served, and for whom the scheduler idles", chart)
                .summary(self.summary(&idles, has_slices)),
        )
    }

    fn categories(&self, has_slices: bool) -> Vec<Category> {
        let of_task = |&task: &usize| match task {
            ASYNC => Category::new(self.name(task), Tone::Neutral, Fill::Solid),
            _ => Category::new(self.name(task), tone(task), Fill::Solid),
        };
        let mut categories: Vec<Category> = self.tasks.iter().map(of_task).collect();
        if has_slices {
            categories.push(Category::new("idling, rewarded", Tone::Good, Fill::Half));
            categories.push(Category::new("idling, in vain", Tone::Bad, Fill::Hatched));
            categories.push(Category::new("idling, cut off", Tone::Neutral, Fill::Tint));
        }
        categories
    }

    fn summary(&self, idles: &[(u64, u64, usize, Outcome)], has_slices: bool) -> String {
        if !has_slices {
            return format!(
                "The {} elevator has no slices and does not idle for a process.",
                self.closeup.elevator
            );
        }
        let span = self.closeup.span;
        let total = |outcome: Outcome| {
            let of = idles.iter().filter(|idle| idle.3 == outcome);
            let ns: u64 = of.clone().map(|idle| idle.1.min(span.end_ns) - idle.0.max(span.start_ns)).sum();
            (of.count(), crate::describe::Unit::Nanoseconds.write(ns as f64))
        };
        if idles.is_empty() {
            return "In this window the scheduler never idles.".to_owned();
        }
        let outcomes = [
            (total(Outcome::InVain), "in vain"),
            (total(Outcome::Rewarded), "rewarded by a request"),
            (total(Outcome::CutOff), "cut off"),
        ];
        let parts = outcomes.iter().filter(|((count, _), _)| *count > 0);
        let parts: Vec<String> =
            parts.map(|((count, time), outcome)| format!("{count} {outcome} ({time})")).collect();
        let times = if idles.len() == 1 { "once" } else { &format!("{} times", idles.len()) };
        format!("In this window the scheduler idles {times}: {}.", parts.join(", "))
    }
}

fn kinds(has_slices: bool) -> Vec<EventKind> {
    if !has_slices {
        return Vec::new();
    }
    vec![
        EventKind::new("slice used up", Tone::Neutral, Marker::Tick),
        EventKind::new("slice given up", Tone::Neutral, Marker::Ring),
        EventKind::new("preempted", Tone::Bad, Marker::Triangle),
    ]
}
