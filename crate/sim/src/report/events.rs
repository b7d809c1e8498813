//! The event list: one line of text per event, fixed columns, the same on the command line and in the page.
//!
//! The columns and the words are described in `docs/events.md`.

use super::results::{Detail, TaskName};
use crate::block::BioFlags;
use crate::observe::{RequestFacts, TaskTrace, TraceEvent, TraceKind, WaitKind, WorkloadType};
use std::fmt::Write as _;

/// The heading of the columns.
pub const HEADING: &str =
    "#      seconds  on behalf of     event          flags          sector + count  more";

/// One event as a line, without its end. Columns: time in seconds, on whose behalf the CPU ran, the event, then flags and
/// place of a request or bio, then what else there is to say.
#[must_use]
pub fn line(event: &TraceEvent, tasks: &[TaskName]) -> String {
    let seconds = event.time_ns / 1_000_000_000;
    let fraction = event.time_ns % 1_000_000_000;
    let by = name_of(event.by, tasks);
    let (word, facts, more) = describe(&event.kind, tasks);
    let mut line = format!("{seconds:>4}.{fraction:09}  {by:<16.16} {word:<14}");
    if let Some(facts) = facts {
        let flags = flags(facts.flags);
        let _ = write!(line, " {flags:<6} {:>14} + {:<5}", facts.sector, facts.sectors);
    } else if !more.is_empty() {
        let _ = write!(line, " {:<29}", "");
    }
    if !more.is_empty() {
        let _ = write!(line, "  {more}");
    }
    line.truncate(line.trim_end().len());
    line
}

/// A whole window as text, with its heading and, if entries are missing, a last line that says so.
#[must_use]
pub fn text(detail: &Detail) -> String {
    let mut out = String::with_capacity(detail.events.len() * 80);
    out.push_str(HEADING);
    out.push('\n');
    for event in &detail.events {
        out.push_str(&line(event, &detail.tasks));
        out.push('\n');
    }
    if detail.dropped != 0 {
        let _ = writeln!(
            out,
            "# {} more events of this window did not fit: ask for a shorter window",
            detail.dropped
        );
    }
    out
}

/// A request's flags as letters: R or W, then what else it carries: see `docs/events.md`.
#[must_use]
pub fn flags(flags: BioFlags) -> String {
    let mut letters = String::from(if flags.is_write() { "W" } else { "R" });
    for (flag, letter) in [
        (BioFlags::SYNC, 'S'),
        (BioFlags::NOIDLE, 'N'),
        (BioFlags::UNPLUG, 'U'),
        (BioFlags::META, 'M'),
        (BioFlags::READAHEAD, 'A'),
        (BioFlags::BARRIER, 'B'),
        (BioFlags::FLUSH, 'F'),
        (BioFlags::FUA, 'X'),
    ] {
        if flags.has(flag) {
            letters.push(letter);
        }
    }
    letters
}

/// The task's name; interrupts have none.
#[must_use]
pub fn name_of(task: u32, tasks: &[TaskName]) -> &str {
    match tasks.get(task as usize) {
        Some(task) => &task.name,
        None if task == u32::MAX => "interrupt",
        None => "?",
    }
}

/// Whose queue CFQ means: a sync queue is called by its owner's name, an async one by its priority.
#[must_use]
pub fn queue_name(owner: u32, tasks: &[TaskName]) -> String {
    match tasks.get(owner as usize) {
        Some(task) => task.name.clone(),
        None => format!("async/{}", u32::MAX - owner),
    }
}

/// The event's word, the request or bio it is about, and the rest.
fn describe(kind: &TraceKind, tasks: &[TaskName]) -> (&'static str, Option<RequestFacts>, String) {
    let owner = |facts: &RequestFacts| format!("of {}", name_of(facts.task, tasks));
    let queue = |owner: u32| format!("of {}", queue_name(owner, tasks));
    let none = String::new;
    match *kind {
        TraceKind::Queue(facts) => ("queue", Some(facts), none()),
        TraceKind::SleepForRequest => ("sleep", None, "no request is free".to_owned()),
        TraceKind::GetRequest(facts) => ("get", Some(facts), none()),
        TraceKind::Insert(facts) => ("insert", Some(facts), none()),
        TraceKind::BackMerge(facts) => ("merge-back", Some(facts), none()),
        TraceKind::FrontMerge(facts) => ("merge-front", Some(facts), none()),
        TraceKind::Dispatch(facts) => ("dispatch", Some(facts), owner(&facts)),
        TraceKind::Start(facts, depth) => {
            ("start", Some(facts), format!("{}, {depth} in the device", owner(&facts)))
        }
        TraceKind::Complete(facts, depth) => {
            ("complete", Some(facts), format!("{}, {depth} in the device", owner(&facts)))
        }
        TraceKind::Plug => ("plug", None, none()),
        TraceKind::Unplug(waiting) => ("unplug", None, format!("{waiting} waiting")),
        TraceKind::UnplugTimer(waiting) => ("unplug-timer", None, format!("{waiting} waiting")),
        TraceKind::CfqSelect(owner, workload) => {
            ("cfq-select", None, format!("{}, tree {}", queue(owner), tree(workload)))
        }
        TraceKind::CfqExpire(owner, used_up) => {
            let how = if used_up { "slice used up" } else { "slice not used up" };
            ("cfq-expire", None, format!("{}, {how}", queue(owner)))
        }
        TraceKind::CfqIdleArm(owner, jiffies) => {
            ("cfq-idle", None, format!("for the queue {}, {jiffies} jiffies", queue(owner)))
        }
        TraceKind::CfqIdleFired => ("cfq-idle-over", None, "nothing came".to_owned()),
        TraceKind::CfqIdleRewarded(owner) => ("cfq-idle-paid", None, format!("a request {}", queue(owner))),
        TraceKind::CfqSliceStart(owner, jiffies) => {
            ("cfq-slice", None, format!("{}, {jiffies} jiffies", queue(owner)))
        }
        TraceKind::CfqPreempt(owner) => ("cfq-preempt", None, format!("by the queue {}", queue(owner))),
        TraceKind::CfqWorkload(workload, jiffies) => {
            ("cfq-workload", None, format!("{}, {jiffies} jiffies", tree(workload)))
        }
        TraceKind::CfqBusy(owner) => ("cfq-busy", None, queue(owner)),
        TraceKind::CfqNotBusy(owner) => ("cfq-not-busy", None, queue(owner)),
        TraceKind::Task(task, state) => {
            let (word, more) = task_state(state);
            (word, None, format!("{}{more}", name_of(task, tasks)))
        }
        TraceKind::Mark(task, mark, amount) => {
            let named = tasks.get(task as usize).and_then(|task| task.marks.get(usize::from(mark)));
            let mark = named.map_or_else(|| format!("mark {mark}"), Clone::clone);
            ("mark", None, format!("{} {mark} +{amount}", name_of(task, tasks)))
        }
    }
}

/// The name of a service tree.
#[must_use]
pub fn tree(workload: WorkloadType) -> &'static str {
    match workload {
        WorkloadType::Async => "async",
        WorkloadType::SyncNoidle => "sync-noidle",
        WorkloadType::Sync => "sync",
    }
}

fn task_state(state: TaskTrace) -> (&'static str, &'static str) {
    match state {
        TaskTrace::Running => ("runs", ""),
        TaskTrace::Runnable => ("wants-cpu", ""),
        TaskTrace::Exited => ("exits", ""),
        TaskTrace::Blocked(wait) => (
            "waits",
            match wait {
                WaitKind::Read => " for a read",
                WaitKind::Write => " for a write",
                WaitKind::Commit => " for the journal",
                WaitKind::FreeRequest => " for a free request",
                WaitKind::Sleep => ": sleeps",
                WaitKind::Work => " for work",
                WaitKind::Start => " for other processes",
                WaitKind::Congestion => " for congestion to end",
                WaitKind::Throttle => " for fewer dirty pages",
            },
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks() -> Vec<TaskName> {
        let task = |name: &str, pid| TaskName { name: name.into(), pid, ..TaskName::default() };
        let mut tasks = vec![task("jbd2/sda1-8", 100), task("fs_mark", 101)];
        tasks[1].marks = vec!["files".into()];
        tasks
    }

    fn shown(by: u32, kind: TraceKind) -> String {
        line(&TraceEvent { time_ns: 1_002_946_001, by, kind }, &tasks())
    }

    /// Columns stand at the same place whatever the event.
    #[test]
    fn lines_have_fixed_columns() {
        let facts = RequestFacts {
            sector: 1_052_672,
            sectors: 8,
            flags: BioFlags::WRITE.with(BioFlags::SYNC).with(BioFlags::NOIDLE),
            task: 0,
        };
        let lines = [
            HEADING.to_owned(),
            shown(1, TraceKind::Queue(facts)),
            shown(u32::MAX, TraceKind::Start(facts, 1)),
            shown(1, TraceKind::CfqIdleArm(1, 8)),
            shown(1, TraceKind::Mark(1, 0, 1)),
            shown(u32::MAX, TraceKind::CfqSelect(u32::MAX - 4, WorkloadType::Async)),
            shown(u32::MAX, TraceKind::CfqIdleFired),
        ];
        assert_eq!(
            lines.join("\n"),
            "\
#      seconds  on behalf of     event          flags          sector + count  more
   1.002946001  fs_mark          queue          WSN           1052672 + 8
   1.002946001  interrupt        start          WSN           1052672 + 8      of jbd2/sda1-8, 1 in the device
   1.002946001  fs_mark          cfq-idle                                      for the queue of fs_mark, 8 jiffies
   1.002946001  fs_mark          mark                                          fs_mark files +1
   1.002946001  interrupt        cfq-select                                    of async/4, tree async
   1.002946001  interrupt        cfq-idle-over                                 nothing came"
        );
    }

    /// A window that did not fit says so.
    #[test]
    fn dropped_events_are_mentioned() {
        let detail = Detail { dropped: 3, ..Detail::default() };
        assert!(text(&detail).contains("3 more events"));
    }
}
