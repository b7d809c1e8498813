//! Plays a trace's arrivals into the simulated block layer.

use super::arrivals::{Act, Arrival};
use super::trace::{Decision, Owner, RealTrace, Shown, TraceError};
use crate::block::{Bio, BioTag, BlockOut, BlockQueue, IoClass, Submission, Submitter};
use crate::device::{AnyDevice, Device, DeviceOptions};
use crate::engine::Clock;
use crate::kernel::Kernel;
use crate::observe::{Recorder, RequestFacts, TraceKind};
use crate::scenario::{FileSystemKind, KernelChoice};
use litemap::LiteMap;

/// The priority at which ext4's journal thread runs (section 2.4); others have the default.
const JOURNAL_PRIORITY: u8 = 3;
const DEFAULT_PRIORITY: u8 = 4;

/// A kicked worker's turn belongs to the trace's next line of kblockd if that comes within this time;
/// otherwise the worker ran at once and found nothing to do that the trace would show.
const WORKER_WAITS_NS: i64 = 300_000;

/// What the simulated block layer did; times in nanoseconds from the trace's first line.
#[derive(Clone, Debug, Default)]
pub(super) struct Played {
    pub(super) starts: Vec<(i64, Shown)>,
    pub(super) completions: Vec<(i64, Shown)>,
    pub(super) decisions: Vec<(i64, Decision)>,
}

impl RealTrace {
    /// Replays the trace.
    pub(super) fn play(&self) -> Result<Played, TraceError> {
        let arrivals = self.arrivals()?;
        let mut player = Player::new(self)?;
        for (index, arrival) in arrivals.iter().enumerate() {
            player.advance_to(arrival.time_ns, &arrivals[index..]);
            player.act(*arrival, &arrivals[index..]);
        }
        let end = self.lines.last().map_or(0, |line| line.time_ns) as i64;
        player.advance_to(end, &[]);
        if player.refused {
            return Err(TraceError::whole("more requests wait than the queue has"));
        }
        Ok(player.played)
    }

    fn submitter(&self, process: usize) -> Submitter {
        let journal = self.processes.get(process).is_some_and(|name| name.starts_with("jbd2"));
        Submitter {
            task: process as u32,
            io_context: process as u32,
            class: IoClass::BestEffort,
            priority: if journal { JOURNAL_PRIORITY } else { DEFAULT_PRIORITY },
        }
    }
}

struct Player<'a> {
    trace: &'a RealTrace,
    queue: BlockQueue,
    recorder: Recorder,
    out: BlockOut,
    /// Simulated nanoseconds at the trace's first line.
    origin_ns: i64,
    turnaround_ns: u64,
    worker_waits: bool,
    bios: u32,
    /// A bio found no free request, which the trace does not show.
    refused: bool,
    played: Played,
}

impl<'a> Player<'a> {
    fn new(trace: &'a RealTrace) -> Result<Self, TraceError> {
        let clock = Clock::new(trace.hz, false);
        let choice = KernelChoice {
            release: trace.release.clone(),
            patches: Vec::new(),
            elevator: trace.elevator.clone(),
            tunables: LiteMap::new(),
        };
        let kernel = Kernel::new(&choice, FileSystemKind::Ext4, &clock)
            .map_err(|error| TraceError::whole(error.to_string()))?;
        let device = AnyDevice::new(&DeviceOptions::Server(trace.device.clone()), 0)
            .map_err(|error| TraceError::whole(error.to_string()))?;
        // A tick of the simulation begins where a tick of the trace does.
        let tick_ns = clock.tick_ns() as i64;
        let ticks = trace.history_ns()? / tick_ns + 2;
        Ok(Self {
            trace,
            queue: BlockQueue::new(kernel.policy.block, kernel.limits, kernel.elevator, device, clock),
            recorder: Recorder::new(usize::MAX),
            out: BlockOut::default(),
            origin_ns: ticks * tick_ns - trace.phase_ns(),
            turnaround_ns: trace.turnaround_ns(),
            worker_waits: false,
            bios: 0,
            refused: false,
            played: Played::default(),
        })
    }

    fn simulated(&self, time_ns: i64) -> u64 {
        (time_ns + self.origin_ns).max(0) as u64
    }

    /// Handles timers and completions up to and including `time_ns`. A completion is handled when the
    /// kernel has got as far as a start that follows from it.
    fn advance_to(&mut self, time_ns: i64, ahead: &[Arrival]) {
        let until = self.simulated(time_ns);
        while let Some(due) = self.queue.next_event_ns() {
            let completion = self.queue.device().next_event_ns() == Some(due);
            let handled = if completion { due + self.turnaround_ns } else { due };
            if handled > until {
                return;
            }
            self.recorder.set_context(handled, u32::MAX);
            self.queue.advance(handled, &mut self.recorder, &mut self.out);
            let early = if completion { self.turnaround_ns } else { 0 };
            self.collect(early);
            self.kick(handled, ahead);
        }
    }

    fn act(&mut self, arrival: Arrival, ahead: &[Arrival]) {
        let now = self.simulated(arrival.time_ns);
        self.recorder.set_context(now, arrival.process as u32);
        match arrival.act {
            Act::Bio(shown) => {
                let bio = Bio {
                    sector: shown.sector,
                    sectors: shown.sectors,
                    flags: shown.flags,
                    submitter: self.trace.submitter(arrival.process),
                    tag: BioTag(self.bios),
                };
                self.bios += 1;
                let submission = self.queue.submit(now, &bio, false, &mut self.recorder, &mut self.out);
                self.refused |= submission != Submission::Accepted;
            }
            Act::Unplug => self.queue.unplug(now, &mut self.recorder, &mut self.out),
            Act::Kblockd => self.work(now),
        }
        self.collect(0);
        self.kick(now, ahead);
    }

    fn work(&mut self, now: u64) {
        self.worker_waits = false;
        self.queue.run_work(now, &mut self.recorder, &mut self.out);
    }

    /// Lets a kicked kblockd run now, unless the trace shows its turn soon.
    fn kick(&mut self, now: u64, ahead: &[Arrival]) {
        self.worker_waits |= std::mem::take(&mut self.out.kick_kblockd);
        self.out.completed.clear();
        if !self.worker_waits {
            return;
        }
        let now_trace = now as i64 - self.origin_ns;
        let soon = |arrival: &&Arrival| arrival.time_ns <= now_trace + WORKER_WAITS_NS;
        let shown = ahead.iter().take_while(soon).any(|arrival| arrival.act == Act::Kblockd);
        if !shown {
            self.work(now);
            self.collect(0);
            self.out.kick_kblockd = false;
        }
    }

    /// Sorts what was recorded; completions happened `early_ns` before they were handled.
    fn collect(&mut self, early_ns: u64) {
        for event in self.recorder.take() {
            let time = event.time_ns as i64 - self.origin_ns;
            match event.kind {
                TraceKind::Start(facts, _) => self.played.starts.push((time, shown(facts))),
                TraceKind::Complete(facts, _) => {
                    self.played.completions.push((time - early_ns as i64, shown(facts)));
                }
                kind => self.played.decisions.extend(decision(kind).map(|decision| (time, decision))),
            }
        }
    }
}

fn shown(facts: RequestFacts) -> Shown {
    Shown { flags: facts.flags, sector: facts.sector, sectors: facts.sectors }
}

fn owner(name: u32) -> Owner {
    if name > u32::MAX / 2 { Owner::Async } else { Owner::Process(name as usize) }
}

fn decision(kind: TraceKind) -> Option<Decision> {
    Some(match kind {
        TraceKind::CfqSelect(name, workload) => Decision::Select(owner(name), workload),
        TraceKind::CfqExpire(name, accounted) => Decision::Expire(owner(name), accounted),
        TraceKind::CfqIdleArm(name, jiffies) => Decision::Arm(owner(name), jiffies.into()),
        TraceKind::CfqWorkload(_, jiffies) => Decision::Turn(jiffies.into()),
        TraceKind::CfqSliceStart(name, jiffies) => Decision::Slice(owner(name), jiffies.into()),
        _ => return None,
    })
}
