//! A window as a block trace: the text that `blkparse` prints, and the binary stream that `blktrace` writes and
//! `blkparse` reads, so that real tools such as `btt` work on simulated runs.
//!
//! *Models:* one trace file of one device, everything on CPU 0: queue, get request, sleep, merges, insert, issue,
//! complete, plug and unplug, names of processes, CFQ's decisions as messages.
//! *Does not model:* which CPU a task ran on, requeues, splits, remapping, bounces.
//! *Follows:* the binary format (version 7) as documented for `blktrace` and in Linux `blktrace_api.h`: records of
//! 48 bytes, little endian, each followed by its own data; the text format of blkparse(1).

use super::events::{queue_name, tree};
use super::results::{Detail, TaskName};
use crate::block::{BioFlags, SECTOR_BYTES};
use crate::observe::{RequestFacts, TraceEvent, TraceKind};
use std::fmt::Write as _;

/// The device's numbers, as `sda` has them.
const MAJOR: u32 = 8;
const MINOR: u32 = 0;
/// Marks a record of format version 7.
const MAGIC: u32 = 0x6561_7407;
/// Where the categories of an action begin.
const CATEGORY_SHIFT: u32 = 16;
/// The longest name of a process, its end included.
const NAME_BYTES: usize = 16;

/// Categories, as bits above the action.
mod category {
    pub(super) const READ: u32 = 1 << 0;
    pub(super) const WRITE: u32 = 1 << 1;
    pub(super) const FLUSH: u32 = 1 << 2;
    pub(super) const SYNC: u32 = 1 << 3;
    pub(super) const QUEUE: u32 = 1 << 4;
    pub(super) const ISSUE: u32 = 1 << 6;
    pub(super) const COMPLETE: u32 = 1 << 7;
    pub(super) const FS: u32 = 1 << 8;
    pub(super) const NOTIFY: u32 = 1 << 10;
    pub(super) const AHEAD: u32 = 1 << 11;
    pub(super) const META: u32 = 1 << 12;
    pub(super) const FUA: u32 = 1 << 15;
}

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Action {
    number: u32,
    /// As `blkparse` shows it.
    letters: &'static str,
    category: u32,
}

const fn action(number: u32, letters: &'static str, category: u32) -> Action {
    Action { number, letters, category }
}

const QUEUE: Action = action(1, "Q", category::QUEUE);
const BACK_MERGE: Action = action(2, "M", category::QUEUE);
const FRONT_MERGE: Action = action(3, "F", category::QUEUE);
const GET_REQUEST: Action = action(4, "G", category::QUEUE);
const SLEEP: Action = action(5, "S", category::QUEUE);
const ISSUE: Action = action(7, "D", category::ISSUE);
const COMPLETE: Action = action(8, "C", category::COMPLETE);
const PLUG: Action = action(9, "P", category::QUEUE);
const UNPLUG: Action = action(10, "U", category::QUEUE);
const UNPLUG_TIMER: Action = action(11, "UT", category::QUEUE);
const INSERT: Action = action(12, "I", category::QUEUE);
/// A note: a process's name.
const PROCESS_NAME: u32 = category::NOTIFY << CATEGORY_SHIFT;
/// A note: text.
const MESSAGE: u32 = category::NOTIFY << CATEGORY_SHIFT | 2;

/// What becomes one record.
enum Record {
    Request(Action, RequestFacts),
    Plug(Action),
    Unplug(Action, u32),
    Message(String),
}

/// The trace as `blkparse` prints it: a line for each event. Times are seconds since the run began.
#[must_use]
pub fn text(detail: &Detail) -> String {
    let mut out = String::with_capacity(detail.events.len() * 72);
    let mut sequence = 0;
    for (event, record) in records(detail) {
        let (pid, name) = process(event.by, &detail.tasks);
        if let Record::Message(message) = &record {
            // Messages have no number and no process.
            let _ = writeln!(out, "{}  m   N {message}", head(0, event.time_ns, 0));
            continue;
        }
        sequence += 1;
        let head = head(sequence, event.time_ns, pid);
        let _ = match record {
            Record::Request(action, facts) if facts.sectors == 0 => {
                writeln!(out, "{head} {:>2} {:>3} [{name}]", action.letters, rwbs(facts))
            }
            Record::Request(action, facts) => {
                let about = if action == COMPLETE { "0" } else { name };
                let place = format!("{} + {}", facts.sector, facts.sectors);
                writeln!(out, "{head} {:>2} {:>3} {place} [{about}]", action.letters, rwbs(facts))
            }
            Record::Plug(action) => writeln!(out, "{head} {:>2}   N [{name}]", action.letters),
            Record::Unplug(action, waiting) => {
                writeln!(out, "{head} {:>2}   N [{name}] {waiting}", action.letters)
            }
            Record::Message(_) => Ok(()),
        };
    }
    out
}

fn head(sequence: u32, time_ns: u64, pid: u32) -> String {
    let (seconds, fraction) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
    format!("{MAJOR:>3},{MINOR:<3} {cpu:>2} {sequence:>8} {seconds:>5}.{fraction:09} {pid:>5}", cpu = 0)
}

/// The trace as `blktrace` writes it for CPU 0 of one device: the content of a file such as `sda.blktrace.0`.
#[must_use]
pub fn binary(detail: &Detail) -> Vec<u8> {
    let mut out = Vec::with_capacity(detail.events.len() * 48);
    let begin_ns = detail.events.first().map_or(0, |event| event.time_ns);
    for (pid, name) in std::iter::once((0, "swapper")).chain(names(&detail.tasks)) {
        let mut data = [0; NAME_BYTES];
        for (byte, &letter) in data.iter_mut().zip(name.as_bytes()).take(NAME_BYTES - 1) {
            *byte = letter;
        }
        let header = Header { time_ns: begin_ns, pid, action: PROCESS_NAME, ..Header::default() };
        header.write(&mut out, &data);
    }
    let mut sequence = 0;
    for (event, record) in records(detail) {
        let (pid, _) = process(event.by, &detail.tasks);
        sequence += 1;
        let header = Header { sequence, time_ns: event.time_ns, pid, ..Header::default() };
        match record {
            Record::Request(action, facts) => Header {
                sector: facts.sector,
                bytes: facts.sectors.saturating_mul(SECTOR_BYTES as u32),
                action: action.number | (action.category | categories(facts.flags)) << CATEGORY_SHIFT,
                ..header
            }
            .write(&mut out, &[]),
            Record::Plug(action) => Header { action: plain(action), ..header }.write(&mut out, &[]),
            Record::Unplug(action, waiting) => {
                Header { action: plain(action), ..header }.write(&mut out, &u64::from(waiting).to_be_bytes());
            }
            Record::Message(message) => {
                sequence -= 1;
                Header { sequence: 0, pid: 0, action: MESSAGE, ..header }.write(&mut out, message.as_bytes());
            }
        }
    }
    out
}

/// An action that is about no request.
fn plain(action: Action) -> u32 {
    action.number | action.category << CATEGORY_SHIFT
}

/// The 48 bytes that begin a record.
#[derive(Clone, Copy, Default)]
struct Header {
    sequence: u32,
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
}

impl Header {
    fn write(self, out: &mut Vec<u8>, data: &[u8]) {
        let length = u16::try_from(data.len()).unwrap_or(u16::MAX);
        out.extend(MAGIC.to_le_bytes());
        out.extend(self.sequence.to_le_bytes());
        out.extend(self.time_ns.to_le_bytes());
        out.extend(self.sector.to_le_bytes());
        out.extend(self.bytes.to_le_bytes());
        out.extend(self.action.to_le_bytes());
        out.extend(self.pid.to_le_bytes());
        out.extend((MAJOR << 20 | MINOR).to_le_bytes());
        // CPU, error.
        out.extend(0_u32.to_le_bytes());
        out.extend(0_u16.to_le_bytes());
        out.extend(length.to_le_bytes());
        out.extend(data.iter().take(length.into()));
    }
}

/// The events that a block trace has, in order.
fn records(detail: &Detail) -> impl Iterator<Item = (&TraceEvent, Record)> {
    // A sleep is about the bio that its task queued last.
    let mut queued = RequestFacts { sector: 0, sectors: 0, flags: BioFlags::default(), task: 0 };
    detail.events.iter().filter_map(move |event| {
        if let TraceKind::Queue(facts) = event.kind {
            queued = facts;
        }
        Some((event, record(&event.kind, queued, &detail.tasks)?))
    })
}

fn record(kind: &TraceKind, queued: RequestFacts, tasks: &[TaskName]) -> Option<Record> {
    let cfq = |owner: u32, what: String| Some(Record::Message(format!("{} {what}", cfq_name(owner, tasks))));
    match *kind {
        TraceKind::Queue(facts) => Some(Record::Request(QUEUE, facts)),
        TraceKind::SleepForRequest => Some(Record::Request(SLEEP, queued)),
        TraceKind::GetRequest(facts) => Some(Record::Request(GET_REQUEST, facts)),
        TraceKind::Insert(facts) => Some(Record::Request(INSERT, facts)),
        TraceKind::BackMerge(facts) => Some(Record::Request(BACK_MERGE, facts)),
        TraceKind::FrontMerge(facts) => Some(Record::Request(FRONT_MERGE, facts)),
        TraceKind::Start(facts, _) => Some(Record::Request(ISSUE, facts)),
        TraceKind::Complete(facts, _) => Some(Record::Request(COMPLETE, facts)),
        TraceKind::Plug => Some(Record::Plug(PLUG)),
        TraceKind::Unplug(waiting) => Some(Record::Unplug(UNPLUG, waiting)),
        TraceKind::UnplugTimer(waiting) => Some(Record::Unplug(UNPLUG_TIMER, waiting)),
        TraceKind::CfqSelect(owner, workload) => cfq(owner, format!("selected, tree {}", tree(workload))),
        TraceKind::CfqExpire(owner, used_up) => {
            cfq(owner, format!("expired, slice {}used up", if used_up { "" } else { "not " }))
        }
        TraceKind::CfqIdleArm(owner, jiffies) => cfq(owner, format!("idling {jiffies} jiffies")),
        TraceKind::CfqIdleRewarded(owner) => cfq(owner, "idling rewarded".to_owned()),
        TraceKind::CfqIdleFired => Some(Record::Message("cfq idling over, nothing came".to_owned())),
        TraceKind::CfqSliceStart(owner, jiffies) => cfq(owner, format!("slice of {jiffies} jiffies")),
        TraceKind::CfqPreempt(owner) => cfq(owner, "preempts".to_owned()),
        TraceKind::CfqBusy(_)
        | TraceKind::CfqNotBusy(_)
        | TraceKind::CfqWorkload(..)
        | TraceKind::Dispatch(_)
        | TraceKind::Task(..)
        | TraceKind::Mark(..) => None,
    }
}

/// A queue as CFQ's messages call it: by the process id of its owner, S for sync or A for async.
fn cfq_name(owner: u32, tasks: &[TaskName]) -> String {
    match tasks.get(owner as usize) {
        Some(task) => format!("cfq{}S", task.pid),
        None => format!("cfq {}", queue_name(owner, tasks)),
    }
}

/// Process id and name; interrupts run as the idle task.
fn process(by: u32, tasks: &[TaskName]) -> (u32, &str) {
    let named = names(tasks).nth(by as usize);
    named.filter(|_| by != u32::MAX).unwrap_or((0, "swapper"))
}

/// Process ids and names as long as the kernel keeps them.
fn names(tasks: &[TaskName]) -> impl Iterator<Item = (u32, &str)> {
    tasks.iter().map(|task| {
        let end = task.name.char_indices().map(|(at, character)| at + character.len_utf8());
        let end = end.take_while(|&end| end < NAME_BYTES).last().unwrap_or(0);
        (task.pid, task.name.get(..end).unwrap_or(""))
    })
}

/// The categories that a request's flags put it in.
fn categories(flags: BioFlags) -> u32 {
    let mut bits = category::FS | if flags.is_write() { category::WRITE } else { category::READ };
    for (flag, bit) in [
        (BioFlags::SYNC, category::SYNC),
        (BioFlags::META, category::META),
        (BioFlags::READAHEAD, category::AHEAD),
        // Until 2.6.36 the bit stood for barriers; today's tools show it as a flush.
        (BioFlags::BARRIER, category::FLUSH),
        (BioFlags::FLUSH, category::FLUSH),
        (BioFlags::FUA, category::FUA),
    ] {
        if flags.has(flag) {
            bits |= bit;
        }
    }
    bits
}

/// The letters of `blkparse`'s RWBS column.
fn rwbs(facts: RequestFacts) -> String {
    let bits = categories(facts.flags);
    let has = |bit: u32, letter: &'static str| if bits & bit != 0 { letter } else { "" };
    let direction = match (bits & category::WRITE != 0, facts.sectors) {
        (true, _) => "W",
        (false, 0) => "N",
        (false, _) => "R",
    };
    format!(
        "{}{direction}{}{}{}{}",
        has(category::FLUSH, "F"),
        has(category::FUA, "F"),
        has(category::AHEAD, "A"),
        has(category::SYNC, "S"),
        has(category::META, "M")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail() -> Detail {
        let facts = RequestFacts {
            sector: 2048,
            sectors: 8,
            flags: BioFlags::WRITE.with(BioFlags::SYNC).with(BioFlags::META),
            task: 0,
        };
        let empty =
            RequestFacts { sector: 0, sectors: 0, flags: BioFlags::WRITE.with(BioFlags::FLUSH), task: 0 };
        let event = |time_ns, by, kind| TraceEvent { time_ns, by, kind };
        Detail {
            states: Vec::new(),
            tasks: vec![TaskName { name: "jbd2/sda1-8".into(), pid: 102, ..TaskName::default() }],
            events: vec![
                event(1_500, 0, TraceKind::Queue(facts)),
                event(1_500, 0, TraceKind::Plug),
                event(1_600, 0, TraceKind::Unplug(1)),
                event(1_700, 0, TraceKind::Start(facts, 1)),
                event(1_700, 0, TraceKind::CfqIdleArm(0, 8)),
                event(2_000_001_700, u32::MAX, TraceKind::Complete(facts, 0)),
                event(2_000_001_800, 0, TraceKind::Queue(empty)),
            ],
            ..Detail::default()
        }
    }

    #[test]
    fn text_as_blkparse_prints_it() {
        assert_eq!(
            text(&detail()),
            "  8,0    0        1     0.000001500   102  Q WSM 2048 + 8 [jbd2/sda1-8]
  8,0    0        2     0.000001500   102  P   N [jbd2/sda1-8]
  8,0    0        3     0.000001600   102  U   N [jbd2/sda1-8] 1
  8,0    0        4     0.000001700   102  D WSM 2048 + 8 [jbd2/sda1-8]
  8,0    0        0     0.000001700     0  m   N cfq102S idling 8 jiffies
  8,0    0        5     2.000001700     0  C WSM 2048 + 8 [0]
  8,0    0        6     2.000001800   102  Q  FW [jbd2/sda1-8]
"
        );
    }

    /// Every record is 48 bytes and its data, in order of time, and says what the format's documents say.
    #[test]
    fn binary_records_are_well_formed() {
        let bytes = binary(&detail());
        let word =
            |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes(b.try_into().expect("4 bytes")));
        let (mut at, mut actions) = (0, Vec::new());
        while at < bytes.len() {
            assert_eq!(word(at), Some(MAGIC));
            actions.push(word(at + 28).expect("an action") & 0xffff);
            let length = u16::from_le_bytes([bytes[at + 46], bytes[at + 47]]);
            at += 48 + usize::from(length);
        }
        assert_eq!(at, bytes.len());
        assert_eq!(actions, [0, 0, 1, 9, 10, 7, 2, 8, 1]);
    }
}
