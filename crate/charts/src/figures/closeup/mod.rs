//! A window of one run in full detail: several charts over the same time, drawn from the events of the trace.
//!
//! What a lane shows at the window's beginning has begun before it, so the events reach back a little.

mod depth;
mod dispatches;
mod service;
mod tasks;

use crate::describe::{Figure, Span, Tone};
use serde::{Deserialize, Serialize};
use stallarium_sim::report::{Detail, events};

/// A window, seen closely.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Closeup {
    /// What is shown.
    pub span: Span,
    /// The events, from some time before the window on.
    pub detail: Detail,
    /// The elevator's name.
    pub elevator: String,
}

impl Closeup {
    /// The chart of this name; `None` when there is no such chart, or nothing in it.
    #[must_use]
    pub fn figure(&self, name: &str) -> Option<Figure> {
        match name {
            "service" => service::figure(self),
            "tasks" => tasks::figure(self),
            "dispatches" => dispatches::figure(self),
            "depth" => depth::figure(self),
            _ => None,
        }
    }

    /// What the reader should know about the window; empty when all of it is shown.
    #[must_use]
    pub fn remark(&self) -> String {
        match self.detail.events.last() {
            Some(last) if self.detail.dropped > 0 && last.time_ns < self.span.end_ns => {
                let at = crate::instant(last.time_ns as f64, 1e6);
                format!(
                    "More happens in this window than can be kept: its detail ends at {at}. Zoom in to see the rest."
                )
            }
            _ => String::new(),
        }
    }

    /// The events within the window, by their index.
    pub fn visible(&self) -> std::ops::Range<usize> {
        let events = &self.detail.events;
        let from = events.partition_point(|event| event.time_ns < self.span.start_ns);
        let to = events.partition_point(|event| event.time_ns < self.span.end_ns);
        from..to.max(from)
    }

    /// Until when it is known what happens, nanoseconds.
    fn known_until_ns(&self) -> u64 {
        match self.detail.dropped {
            0 => self.detail.to_ns.max(self.span.end_ns),
            _ => self.detail.events.last().map_or(0, |event| event.time_ns),
        }
    }

    fn task_name(&self, task: u32) -> &str {
        let found = usize::try_from(task).ok().and_then(|task| self.detail.tasks.get(task));
        found.map_or("unknown", |task| task.name.as_str())
    }

    /// So many of the events within the window, one line each, and how many there are.
    #[must_use]
    pub fn event_lines(&self, most: usize) -> (Vec<String>, usize) {
        let events = self.detail.events.get(self.visible()).unwrap_or_default();
        let lines = events.iter().take(most).map(|event| events::line(event, &self.detail.tasks));
        (lines.collect(), events.len())
    }
}

/// The colour of a task in every chart of a close-up.
fn tone(task: usize) -> Tone {
    Tone::Series(u8::try_from(task % crate::PALETTE_LEN).unwrap_or(0))
}

/// Intervals under construction: one at a time, from one event to another.
struct Current<T> {
    since_ns: u64,
    what: Option<T>,
}

impl<T> Current<T> {
    fn new() -> Self {
        Self { since_ns: 0, what: None }
    }

    /// What was so until now, with its beginning and end, and `what` from now on.
    fn change(&mut self, now_ns: u64, what: Option<T>) -> Option<(u64, u64, T)> {
        let before = std::mem::replace(&mut self.what, what);
        let since_ns = std::mem::replace(&mut self.since_ns, now_ns);
        before.filter(|_| now_ns > since_ns).map(|before| (since_ns, now_ns, before))
    }
}
