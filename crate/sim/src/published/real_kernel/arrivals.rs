//! What a trace feeds to the block layer: bios, unplugging, kblockd's turns.
//!
//! A stretch that the trace leaves out goes on as the lines around it: the process that reads goes on
//! reading, evenly, up to its next line.

use super::trace::{Event, Line, RealTrace, Shown, TraceError};
use crate::block::{BioFlags, PAGE_SECTORS};

/// More reads than this are not left out of a trace.
pub(super) const MOST_LEFT_OUT: u64 = 100_000;

/// What happens to the queue from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// A process submits a bio.
    Bio(Shown),
    /// A process waits for I/O, or asks for it to start.
    Unplug,
    /// kblockd gets the processor.
    Kblockd,
}

/// One act, in nanoseconds from the first line of the trace.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) time_ns: i64,
    pub(super) process: usize,
    pub(super) act: Act,
}

/// A start that the trace shows, or that a stretch left out must have had.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expected {
    /// `None` in a stretch left out.
    pub(super) time_ns: Option<i64>,
    pub(super) request: Shown,
    /// Its arrival is in the trace, so that the sectors are known to the replay too.
    pub(super) arrived: bool,
}

impl RealTrace {
    /// What the trace itself shows, in order of time.
    pub(super) fn own_arrivals(&self) -> Result<Vec<Arrival>, TraceError> {
        let mut arrivals = Vec::new();
        let mut bio_sectors = PAGE_SECTORS;
        let mut previous_process = None;
        for (index, line) in self.lines.iter().enumerate() {
            let time_ns = line.time_ns as i64;
            let kblockd = self.processes[line.process].starts_with("kblockd");
            if kblockd && previous_process != Some(line.process) {
                arrivals.push(Arrival { time_ns, process: line.process, act: Act::Kblockd });
            }
            previous_process = Some(line.process);
            let act = match line.event {
                Event::Add(request) => Some(Act::Bio(request)),
                Event::AddBarrier(request) => {
                    Some(Act::Bio(Shown { flags: request.flags.with(BioFlags::BARRIER), ..request }))
                }
                Event::Merge { sector, was } => {
                    Some(Act::Bio(self.merged_bio(index, sector, was, bio_sectors)))
                }
                Event::Unplug if !kblockd => Some(Act::Unplug),
                Event::Omitted { .. } => {
                    let (reader, reads) = self.left_out(index)?;
                    arrivals.extend(reads.into_iter().map(|(time_ns, read)| Arrival {
                        time_ns,
                        process: reader,
                        act: Act::Bio(read),
                    }));
                    None
                }
                _ => None,
            };
            if let Some(act) = act {
                if let Act::Bio(bio) = act {
                    bio_sectors = bio.sectors;
                }
                arrivals.push(Arrival { time_ns, process: line.process, act });
            }
        }
        arrivals.sort_by_key(|arrival| arrival.time_ns);
        Ok(arrivals)
    }

    /// The bio of a merge: its length shows in how long the request is the next time it is shown.
    fn merged_bio(&self, index: usize, sector: u64, was: u32, usual: u32) -> Shown {
        let mut flags = BioFlags::default();
        for line in &self.lines[..index] {
            if let Event::Add(request) = line.event
                && request.sector == sector
            {
                flags = request.flags;
            }
        }
        let grown = self.lines[index + 1..].iter().find_map(|line| match line.event {
            Event::Merge { sector: other, was } if other == sector => Some(was),
            Event::Start(request, _) if request.sector == sector => Some(request.sectors),
            _ => None,
        });
        let sectors = grown.and_then(|grown| grown.checked_sub(was)).filter(|sectors| *sectors > 0);
        let sectors = sectors.unwrap_or(usual);
        Shown { flags, sector: sector + u64::from(was), sectors }
    }

    /// Who reads in a stretch left out, and its reads: from the last line before to the first after.
    fn left_out(&self, index: usize) -> Result<(usize, Vec<(i64, Shown)>), TraceError> {
        let line = self.lines[index];
        let unknown = || TraceError::whole("a stretch left out does not go on as the lines around it");
        let is_add = |line: &&Line| matches!(line.event, Event::Add(_));
        let before = self.lines[..index].iter().rev().find(is_add).ok_or_else(unknown)?;
        let same_process = |line: &&Line| line.process == before.process && is_add(line);
        let after = self.lines[index + 1..].iter().find(same_process).ok_or_else(unknown)?;
        let (Event::Add(last), Event::Add(next)) = (before.event, after.event) else { return Err(unknown()) };
        let from = last.sector + u64::from(last.sectors);
        let length = u64::from(last.sectors);
        let gap = next.sector.checked_sub(from).ok_or_else(unknown)?;
        if gap % length.max(1) != 0 || gap / length.max(1) > MOST_LEFT_OUT {
            return Err(unknown());
        }
        let count = gap / length.max(1);
        let span = after.time_ns - line.time_ns;
        let read = |number: u64| {
            let time_ns = line.time_ns + span / count * number;
            (time_ns as i64, Shown { sector: from + number * length, ..last })
        };
        Ok((before.process, (0..count).map(read).collect()))
    }

    /// Every start in order, those of stretches left out included.
    pub(super) fn expected_starts(&self) -> Result<Vec<Expected>, TraceError> {
        let own = self.own_arrivals()?;
        let arrived = |request: Shown| {
            own.iter().any(|arrival| matches!(arrival.act, Act::Bio(bio) if bio.sector == request.sector))
        };
        let mut expected = Vec::new();
        let mut last: Option<Shown> = None;
        for line in &self.lines {
            match line.event {
                Event::Start(request, _) => {
                    last = Some(request);
                    let time_ns = Some(line.time_ns as i64);
                    expected.push(Expected { time_ns, request, arrived: arrived(request) });
                }
                Event::Omitted { starts, sectors, .. } => {
                    let before = last.ok_or_else(|| TraceError::whole("nothing is started before a gap"))?;
                    let length = sectors.checked_div(starts).unwrap_or(0);
                    let mut sector = before.sector + u64::from(before.sectors);
                    for _ in 0..starts {
                        let request = Shown { sector, sectors: length as u32, ..before };
                        expected.push(Expected { time_ns: None, request, arrived: true });
                        sector += length;
                    }
                }
                _ => {}
            }
        }
        Ok(expected)
    }

    /// How long the kernel takes from a completion that leaves the device empty to the start that follows
    /// from it, with what the start itself costs: the median of what the trace shows.
    pub(super) fn turnaround_ns(&self) -> u64 {
        let mut shown = Vec::new();
        let mut done: Option<Line> = None;
        let mut started: Option<(u64, u64)> = None;
        for line in &self.lines {
            match line.event {
                Event::Done(_, in_device) => {
                    if let Some((since, service)) = started.take() {
                        shown.extend((line.time_ns - since).checked_sub(service));
                    }
                    done = (in_device == 0).then_some(*line);
                }
                Event::Start(_, service_ns) => {
                    started = done
                        .take()
                        .filter(|done| done.process == line.process)
                        .map(|done| (done.time_ns, service_ns));
                }
                Event::Decision(_) | Event::Consequence => {}
                _ => done = None,
            }
        }
        shown.sort_unstable();
        shown.get(shown.len() / 2).copied().unwrap_or(0)
    }
}
