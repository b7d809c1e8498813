//! The text of a trace as data.

use super::arrivals::MOST_LEFT_OUT;
use crate::block::BioFlags;
use crate::device::ServerOptions;
use crate::observe::WorkloadType;
use std::fmt;

/// An hour.
const LONGEST_NS: u64 = 3_600_000_000_000;
/// The last sector of the largest device, 512 TiB.
const LAST_SECTOR: u64 = 1 << 40;
/// The longest request, in sectors.
pub(super) const LONGEST_REQUEST: u32 = 1024;

/// Why a trace cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// The line, counted from 1; 0 for the trace as a whole.
    pub line: usize,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line == 0 {
            write!(formatter, "trace: {}", self.problem)
        } else {
            write!(formatter, "trace line {}: {}", self.line, self.problem)
        }
    }
}

impl std::error::Error for TraceError {}

impl TraceError {
    pub(super) fn whole(problem: impl Into<String>) -> Self {
        Self { line: 0, problem: problem.into() }
    }
}

/// A request as a trace shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) flags: BioFlags,
    pub(super) sector: u64,
    pub(super) sectors: u32,
}

/// A decision of CFQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Made a queue active, in which tree.
    Select(Owner, WorkloadType),
    /// Dropped the active queue; with accounting.
    Expire(Owner, bool),
    /// Armed the idle timer, jiffies.
    Arm(Owner, u64),
    /// Chose a type of work for so many jiffies.
    Turn(u64),
    /// Set a slice, jiffies.
    Slice(Owner, u64),
}

/// Whose queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Index of a process of the trace.
    Process(usize),
    /// A shared async queue.
    Async,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A request enters the scheduler.
    Add(Shown),
    /// A barrier request enters the queue.
    AddBarrier(Shown),
    /// A bio joins the end of the request that starts here and was this long.
    Merge { sector: u64, was: u32 },
    /// The plug is removed.
    Unplug,
    /// The driver takes a request; its time in the device.
    Start(Shown, u64),
    /// A request is done; requests in the device after it.
    Done(Shown, u32),
    /// CFQ decides.
    Decision(Decision),
    /// Lines left out, up to a time, and the reads started in them.
    Omitted { until_ns: u64, starts: u64, sectors: u64 },
    /// Follows from the rest.
    Consequence,
}

/// One line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) time_ns: u64,
    pub(super) tick: u64,
    /// Index into [`RealTrace::processes`].
    pub(super) process: usize,
    pub(super) event: Event,
}

/// A trace: what ran on what, and what happened.
#[derive(Clone, Debug)]
pub struct RealTrace {
    /// Release, as in a scenario.
    pub release: String,
    /// Elevator, as in a scenario; its tunables were the defaults.
    pub elevator: String,
    /// The device.
    pub device: ServerOptions,
    /// Ticks a second.
    pub hz: u32,
    /// Processes as `name:id`, in the order in which they appear.
    pub processes: Vec<String>,
    pub(super) lines: Vec<Line>,
}

impl RealTrace {
    /// Reads a trace.
    ///
    /// # Errors
    /// The header does not say what is needed, or a line cannot be understood.
    pub fn parse(text: &str) -> Result<Self, TraceError> {
        let header: String = text.lines().filter(|line| line.starts_with('#')).collect();
        let mut trace = Self {
            release: release(&header)?,
            elevator: elevator(&header)?,
            device: device(&header)?,
            hz: number_after(&header, "HZ=")? as u32,
            processes: Vec::new(),
            lines: Vec::new(),
        };
        for (index, line) in text.lines().enumerate() {
            if !line.starts_with('#') && !line.trim().is_empty() {
                let line = trace.line(line).map_err(|problem| TraceError { line: index + 1, problem })?;
                trace.lines.push(line);
            }
        }
        if trace.lines.is_empty() {
            return Err(TraceError::whole("it has no events"));
        }
        Ok(trace)
    }

    fn line(&mut self, line: &str) -> Result<Line, String> {
        let mut columns = line.split('\t');
        let mut column = || columns.next().ok_or_else(|| "four columns are needed".to_owned());
        let (time, tick, process, event) = (column()?, column()?, column()?, column()?);
        let time_ns = microseconds(time)?;
        let tick = integer(tick)?;
        let last = self.lines.last().map_or(0, |line| line.time_ns);
        if time_ns < last {
            return Err("time goes backwards".to_owned());
        }
        if time_ns > LONGEST_NS || tick > LONGEST_NS / 100_000 {
            return Err("it is later than an hour after the first line".to_owned());
        }
        Ok(Line { time_ns, tick, process: self.process(process), event: self.event(event)? })
    }

    /// The index of a process, new or known.
    fn process(&mut self, name: &str) -> usize {
        self.processes.iter().position(|known| known == name).unwrap_or_else(|| {
            self.processes.push(name.to_owned());
            self.processes.len() - 1
        })
    }

    fn event(&mut self, text: &str) -> Result<Event, String> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        Ok(match word {
            "ADD" => Event::Add(shown(rest)?),
            "ADD-AT-END(barrier,held)" => Event::AddBarrier(shown(rest)?),
            "MERGE-BACK" => merge(rest)?,
            "UNPLUG" => Event::Unplug,
            "START" => Event::Start(shown(rest)?, microseconds(value(rest, "service_us=")?)?),
            "DONE" => Event::Done(shown(rest)?, integer(value(rest, "in_device=")?)? as u32),
            "OMITTED" => omitted(rest)?,
            "SELECT" => Event::Decision(Decision::Select(self.owner(rest)?, tree(value(rest, "tree=")?)?)),
            "EXPIRE" => {
                Event::Decision(Decision::Expire(self.owner(rest)?, value(rest, "timed_out=")? == "1"))
            }
            "IDLE-ARM" => Event::Decision(Decision::Arm(self.owner(rest)?, jiffies(rest)?)),
            "SLICE-START" => Event::Decision(Decision::Slice(self.owner(rest)?, jiffies(rest)?)),
            "WORKLOAD-CHOSEN" => Event::Decision(Decision::Turn(jiffies(rest)?)),
            "ADD-HEAD" | "PLUG" | "DISPATCH" | "SLICE-USED" | "SLICE-RESIDUE" | "BUSY" | "IDLE-QUEUE"
            | "NO-IDLE" | "IDLE-TIMER-FIRED" => Event::Consequence,
            _ => return Err(format!("unknown event \"{word}\"")),
        })
    }

    /// A queue is named after its process; a bare number or the journal is the shared async queue.
    fn owner(&mut self, rest: &str) -> Result<Owner, String> {
        let name = value(rest, "queue=")?;
        if !name.contains(':') || name.starts_with("jbd2") {
            return Ok(Owner::Async);
        }
        Ok(Owner::Process(self.process(name)))
    }

    /// When tick 0 begins, in nanoseconds from the first line, before it: as late as the lines allow.
    pub(super) fn phase_ns(&self) -> i64 {
        let tick_ns = 1_000_000_000 / i64::from(self.hz.max(1));
        let begins = self.lines.iter().map(|line| line.time_ns as i64 - line.tick as i64 * tick_ns);
        begins.min().unwrap_or(0)
    }
}

fn release(header: &str) -> Result<String, TraceError> {
    let after = header.split_once("Linux ").map(|(_, after)| after);
    let release = after.and_then(|after| after.split([',', ' ']).next());
    release.map(str::to_owned).ok_or_else(|| TraceError::whole("the header names no release"))
}

fn elevator(header: &str) -> Result<String, TraceError> {
    // The first line ends at the device's.
    let first = header.split("# Device").next().unwrap_or_default();
    for (word, name) in [("CFQ", "cfq"), ("deadline", "deadline"), ("noop", "noop")] {
        if first.contains(word) {
            return Ok(name.to_owned());
        }
    }
    Err(TraceError::whole("the header names no elevator"))
}

fn device(header: &str) -> Result<ServerOptions, TraceError> {
    let read_us = number_after(header, "read ")?;
    let write_us = number_after(header, "write ")?;
    let megabytes_per_s = number_after(header, "plus bytes/")?;
    Ok(ServerOptions {
        depth: number_after(header, "up to ")? as u32,
        read_latency_ns: read_us.saturating_mul(1000),
        write_latency_ns: write_us.saturating_mul(1000),
        bandwidth_bytes_per_s: megabytes_per_s.saturating_mul(1_000_000),
        ..ServerOptions::default()
    })
}

/// The number behind the first `words` that a number follows.
fn number_after(header: &str, words: &str) -> Result<u64, TraceError> {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
    let numbers = header.split(words).skip(1).map(digits);
    let mut numbers = numbers.filter_map(|digits| digits.parse().ok());
    numbers.next().ok_or_else(|| TraceError::whole(format!("the header has no number behind \"{words}\"")))
}

fn integer(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("\"{text}\" is not a number"))
}

/// `12.3` microseconds, in nanoseconds.
fn microseconds(text: &str) -> Result<u64, String> {
    let wrong = || format!("\"{text}\" is not a time in microseconds");
    let (whole, tenths) = text.split_once('.').unwrap_or((text, "0"));
    let whole: u64 = whole.parse().map_err(|_| wrong())?;
    let tenths: u64 =
        if tenths.len() == 1 { tenths.parse().map_err(|_| wrong())? } else { return Err(wrong()) };
    whole.checked_mul(1000).and_then(|ns| ns.checked_add(tenths * 100)).ok_or_else(wrong)
}

/// `RS 443648+512`, and possibly more.
fn shown(text: &str) -> Result<Shown, String> {
    let wrong = || format!("\"{text}\" does not begin with a request");
    let (kind, rest) = text.split_once(' ').ok_or_else(wrong)?;
    let place = rest.split(' ').next().unwrap_or(rest);
    let (sector, sectors) = place.split_once('+').ok_or_else(wrong)?;
    let mut flags = BioFlags::default();
    for letter in kind.chars() {
        flags = flags.with(match letter {
            'R' => BioFlags::default(),
            'W' => BioFlags::WRITE,
            'S' => BioFlags::SYNC,
            'n' => BioFlags::NOIDLE,
            _ => return Err(wrong()),
        });
    }
    let sectors: u32 = sectors.parse().map_err(|_| wrong())?;
    let sector = integer(sector)?;
    if sector > LAST_SECTOR || !(1..=LONGEST_REQUEST).contains(&sectors) {
        return Err(format!("\"{place}\" is no place on a device"));
    }
    Ok(Shown { flags, sector, sectors })
}

/// The word behind `key`.
fn value<'a>(text: &'a str, key: &str) -> Result<&'a str, String> {
    let found = text.split(' ').find_map(|word| word.strip_prefix(key));
    found.ok_or_else(|| format!("\"{key}\" is missing"))
}

fn jiffies(text: &str) -> Result<u64, String> {
    integer(value(text, "jiffies=")?)
}

fn tree(name: &str) -> Result<WorkloadType, String> {
    match name {
        "ASYNC" => Ok(WorkloadType::Async),
        "NOIDLE" => Ok(WorkloadType::SyncNoidle),
        "SYNC" => Ok(WorkloadType::Sync),
        _ => Err(format!("unknown tree \"{name}\"")),
    }
}

/// `into 443648 (was 256)`.
fn merge(text: &str) -> Result<Event, String> {
    let wrong = || format!("\"{text}\" is not a merge");
    let mut words = text.split([' ', '(', ')']).filter(|word| !word.is_empty());
    let sector = words.nth(1).ok_or_else(wrong)?;
    let was = words.nth(1).ok_or_else(wrong)?;
    let sector = integer(sector)?;
    let was = was.parse().map_err(|_| wrong())?;
    if sector > LAST_SECTOR || was > LONGEST_REQUEST {
        Err(wrong())
    } else {
        Ok(Event::Merge { sector, was })
    }
}

/// `462 events to +106143.8 us: 115 read starts, 116 read completions, 29440 sectors started; ...`.
fn omitted(text: &str) -> Result<Event, String> {
    let wrong = || format!("\"{text}\" does not say what was left out");
    let before = |unit: &str| {
        let (front, _) = text.split_once(unit)?;
        front.rsplit([' ', '+']).next()
    };
    let until = before(" us").ok_or_else(wrong)?;
    let starts = before(" read starts").ok_or_else(wrong)?;
    let sectors = before(" sectors started").ok_or_else(wrong)?;
    let (starts, sectors) = (integer(starts)?, integer(sectors)?);
    if starts == 0 || starts > MOST_LEFT_OUT || sectors / starts > u64::from(LONGEST_REQUEST) {
        return Err(wrong());
    }
    Ok(Event::Omitted { until_ns: microseconds(until)?, starts, sectors })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "# Linux 2.6.35, a test, CFQ.\n# Device: up to 32 accepted by the driver; read 430 us, write 420 us, plus bytes/400 MB/s\n# HZ=1000.\n";

    fn one(line: &str) -> Result<Event, TraceError> {
        RealTrace::parse(&format!("{HEADER}{line}\n")).map(|trace| trace.lines[0].event)
    }

    /// Every kind of line that carries something.
    #[test]
    fn lines_are_read() {
        let flags = BioFlags::WRITE.with(BioFlags::SYNC).with(BioFlags::NOIDLE);
        let write = Shown { flags, sector: 42_219_264, sectors: 8 };
        assert_eq!(one("1168.4\t1\tfsmark:132\tADD WSn 42219264+8"), Ok(Event::Add(write)));
        let start = one("0.0\t0\tirq\tSTART WSn 42219264+8 in_device=1 service_us=430.2");
        assert_eq!(start, Ok(Event::Start(write, 430_200)));
        let merge = one("0.0\t0\tx:1\tMERGE-BACK into 443648 (was 256)");
        assert_eq!(merge, Ok(Event::Merge { sector: 443_648, was: 256 }));
        let omitted = one(
            "15357.9\t15\t...\tOMITTED 462 events to +106143.8 us: 115 read starts, 116 read completions, 29440 sectors started; same pattern as the lines around",
        );
        assert_eq!(omitted, Ok(Event::Omitted { until_ns: 106_143_800, starts: 115, sectors: 29_440 }));
        let select = one("0.0\t0\tirq\tSELECT queue=23 tree=ASYNC");
        assert_eq!(select, Ok(Event::Decision(Decision::Select(Owner::Async, WorkloadType::Async))));
    }

    /// What is wrong is said with its line.
    #[test]
    fn problems_name_their_line() {
        for line in ["nonsense", "x\t0\tirq\tUNPLUG", "0.0\t0\tirq\tADD RS 12", "0.0\t0\tirq\tDANCE"] {
            assert_eq!(one(line).map_err(|error| error.line), Err(4), "{line}");
        }
        assert!(RealTrace::parse("").is_err());
        assert!(RealTrace::parse("# Linux 2.6.35, CFQ.\n0.0\t0\tirq\tUNPLUG\n").is_err());
    }
}
