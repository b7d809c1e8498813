//! What a trace shows beside what the replay does.

use super::arrivals::{Act, Expected};
use super::replay::Played;
use super::trace::{Decision, Event, RealTrace, Shown, TraceError};
use crate::block::BioFlags;
use std::fmt;

/// How much before the first line a simulated event may lie and still belong to the trace.
const SLACK_NS: i64 = 50_000;

/// The longest sequences that are compared; time and memory grow with the square.
const LONGEST_COMPARISON: usize = 5000;

/// How well two sequences agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Matches {
    /// Events the trace shows.
    pub recorded: usize,
    /// Events the replay has.
    pub simulated: usize,
    /// Events of the longest sequence that both have in the same order.
    pub in_order: usize,
}

/// A trace and its replay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// What the trace is called.
    pub name: String,
    /// Release and elevator.
    pub kernel: String,
    /// Bios fed to the simulated block layer, without the prelude.
    pub bios: usize,
    /// Requests the device takes, those of stretches left out included.
    pub starts: Matches,
    /// CFQ's decisions: queues selected and expired, idle timers, slices, turns.
    pub decisions: Matches,
    /// The largest difference between the recorded and the simulated start of a request, in nanoseconds.
    pub start_difference_ns: u64,
    /// The same for completions.
    pub done_difference_ns: u64,
    /// Where the two part, in words.
    pub first_divergence: Option<String>,
}

impl fmt::Display for Comparison {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kernel, bios, starts, decisions, .. } = self;
        write!(
            formatter,
            "{name} ({kernel}): {bios} bios; {} of {} starts",
            starts.in_order, starts.recorded
        )?;
        write!(formatter, " in the same order ({} simulated)", starts.simulated)?;
        if decisions.recorded > 0 {
            write!(formatter, ", {} of {} decisions", decisions.in_order, decisions.recorded)?;
            write!(formatter, " ({} simulated)", decisions.simulated)?;
        }
        let us = |ns: u64| (ns / 1000, ns / 100 % 10);
        let ((start, start_tenths), (done, done_tenths)) =
            (us(self.start_difference_ns), us(self.done_difference_ns));
        write!(formatter, "; largest difference {start}.{start_tenths} us at a start")?;
        write!(formatter, ", {done}.{done_tenths} us at a completion")?;
        match &self.first_divergence {
            None => Ok(()),
            Some(words) => write!(formatter, "; {words}"),
        }
    }
}

impl RealTrace {
    /// Replays the trace and compares.
    ///
    /// # Errors
    /// The trace leaves out what the replay needs, or its kernel or device is unknown.
    pub fn compare(&self, name: &str) -> Result<Comparison, TraceError> {
        let played = self.play()?;
        let expected = self.expected_starts()?;
        let first = expected.first().and_then(|start| start.time_ns).unwrap_or(0);
        let simulated = since(&played.starts, first - SLACK_NS);
        if expected.len().max(simulated.len()).max(played.decisions.len()) > LONGEST_COMPARISON {
            return Err(TraceError::whole("it has too many events to compare"));
        }
        let pairs = pairs(&expected, simulated, |expected, (_, shown)| same_request(expected, shown));
        let timed: Vec<(i64, Shown, i64, Shown)> = pairs
            .iter()
            .filter_map(|&(e, s)| {
                Some((expected[e].time_ns?, expected[e].request, simulated[s].0, simulated[s].1))
            })
            .collect();
        let (decisions, decision_divergence) = self.compare_decisions(&played, first);
        let start_divergence = first_divergence(&expected, simulated, &pairs);
        let own = self.arrivals()?;
        let bios = own.iter().filter(|arrival| arrival.time_ns >= 0 && matches!(arrival.act, Act::Bio(_)));
        Ok(Comparison {
            name: name.to_owned(),
            kernel: format!("{} {}", self.release, self.elevator),
            bios: bios.count(),
            starts: Matches { recorded: expected.len(), simulated: simulated.len(), in_order: pairs.len() },
            decisions,
            start_difference_ns: largest(timed.iter().map(|start| start.0.abs_diff(start.2))),
            done_difference_ns: self.done_difference(&played, &timed),
            first_divergence: start_divergence.or(decision_divergence),
        })
    }

    /// For every start that both have: the first completion of the same request after it.
    fn done_difference(&self, played: &Played, starts: &[(i64, Shown, i64, Shown)]) -> u64 {
        let recorded: Vec<(i64, Shown)> = self
            .lines
            .iter()
            .filter_map(|line| match line.event {
                Event::Done(request, _) => Some((line.time_ns as i64, request)),
                _ => None,
            })
            .collect();
        let after = |events: &[(i64, Shown)], time: i64, request: &Shown| {
            let own = since(events, time).iter();
            own.map(|event| (event.0, event.1.sector)).find(|event| event.1 == request.sector).map(|e| e.0)
        };
        largest(starts.iter().filter_map(|(kernel_time, kernel, own_time, own)| {
            let done = after(&recorded, *kernel_time, kernel)?;
            Some(done.abs_diff(after(&played.completions, *own_time, own)?))
        }))
    }

    /// Decisions in order. Where lines are left out, nothing was decided.
    fn compare_decisions(&self, played: &Played, first: i64) -> (Matches, Option<String>) {
        let recorded: Vec<(i64, Decision)> = self
            .lines
            .iter()
            .filter_map(|line| match line.event {
                Event::Decision(decision) => Some((line.time_ns as i64, decision)),
                _ => None,
            })
            .collect();
        let first = recorded.first().map_or(first, |decision| decision.0);
        let simulated = since(&played.decisions, first - SLACK_NS);
        let pairs = pairs(&recorded, simulated, |a, b| a.1 == b.1);
        let matches = Matches { recorded: recorded.len(), simulated: simulated.len(), in_order: pairs.len() };
        let parted = pairs.iter().enumerate().position(|(index, &pair)| pair != (index, index));
        let parted = parted.or((pairs.len() < recorded.len()).then_some(pairs.len()));
        let words = parted.map(|index| {
            let show = |decision: Option<&(i64, Decision)>| {
                decision.map_or("nothing".to_owned(), |(time, decision)| {
                    format!("{decision:?} at {} us", time / 1000)
                })
            };
            let (kernel, own) = (show(recorded.get(index)), show(simulated.get(index)));
            format!("after {index} decisions alike, the kernel decides {kernel}, the simulation {own}")
        });
        (matches, words)
    }
}

/// The part of a sequence from a time on.
fn since<T>(events: &[(i64, T)], time_ns: i64) -> &[(i64, T)] {
    let at = events.partition_point(|(time, _)| *time < time_ns);
    &events[at..]
}

fn largest(differences: impl Iterator<Item = u64>) -> u64 {
    differences.max().unwrap_or(0)
}

/// Of what arrived before the trace only kind and length are known.
fn same_request(expected: &Expected, simulated: &Shown) -> bool {
    let kind = |shown: &Shown| (shown.flags.is_write(), shown.flags.sync(), shown.sectors);
    let sectors = !expected.arrived || expected.request.sector == simulated.sector;
    sectors && kind(&expected.request) == kind(simulated)
}

/// The longest common subsequence, as pairs of indices.
fn pairs<A, B>(left: &[A], right: &[B], same: impl Fn(&A, &B) -> bool) -> Vec<(usize, usize)> {
    let width = right.len() + 1;
    let mut longest = vec![0_u32; (left.len() + 1) * width];
    for (i, a) in left.iter().enumerate().rev() {
        for (j, b) in right.iter().enumerate().rev() {
            longest[i * width + j] = if same(a, b) {
                longest[(i + 1) * width + j + 1] + 1
            } else {
                longest[(i + 1) * width + j].max(longest[i * width + j + 1])
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut found = Vec::new();
    while i < left.len() && j < right.len() {
        if same(&left[i], &right[j]) {
            found.push((i, j));
            i += 1;
            j += 1;
        } else if longest[(i + 1) * width + j] >= longest[i * width + j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    found
}

fn first_divergence(
    expected: &[Expected],
    simulated: &[(i64, Shown)],
    pairs: &[(usize, usize)],
) -> Option<String> {
    let parted = pairs.iter().enumerate().position(|(index, &pair)| pair != (index, index));
    let index = parted.or((pairs.len() < expected.len()).then_some(pairs.len()))?;
    let kernel = expected.get(index).map_or("nothing more".to_owned(), |start| {
        let when = start.time_ns.map_or(String::new(), |time| format!(" at {} us", time / 1000));
        format!("{}{when}", words(&start.request))
    });
    let own = simulated
        .get(index)
        .map_or("nothing more".to_owned(), |(time, shown)| format!("{} at {} us", words(shown), time / 1000));
    Some(format!("after {index} starts alike, the kernel starts {kernel}, the simulation {own}"))
}

fn words(request: &Shown) -> String {
    let kind = match (request.flags.is_write(), request.flags.has(BioFlags::SYNC)) {
        (false, _) => "a read",
        (true, true) => "a sync write",
        (true, false) => "an async write",
    };
    format!("{kind} of {} sectors at {}", request.sectors, request.sector)
}
