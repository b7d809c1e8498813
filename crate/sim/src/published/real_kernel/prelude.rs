//! What went on before a trace begins.
//!
//! A trace begins in the middle of things. What was queued then, and what CFQ remembered of the processes,
//! comes from a prelude: the same workload went on before. A period of it, from one expiry of a queue to
//! the next of the same queue, is played as often as fits into [`HISTORY_NS`], each process earlier on its
//! way over the disk by what it covers in a period. The last one ends where that expiry is in the trace.
//! A period longer than that is played from the last selection of the queue on. From the trace's first
//! line on, the trace's own arrivals are played.

use super::arrivals::{Act, Arrival};
use super::trace::{Decision, Event, Owner, RealTrace, Shown, TraceError};
use crate::block::BioFlags;
use crate::observe::WorkloadType;

/// A mean think time settles within a dozen requests (section 2.10).
const HISTORY_NS: i64 = 150_000_000;
/// Shorter periods are not played more often.
const MOST_PERIODS: i64 = 100;
/// Time for the readers that raise the busy average, before the first period.
const BUSY_MOMENT_NS: i64 = 200_000_000;
/// A turn is never cut among more.
const MOST_READERS: u64 = 10;

/// The part of the trace that is played before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prelude {
    /// Where the period begins and ends, in nanoseconds from the first line.
    from_ns: i64,
    to_ns: i64,
    /// How often it is played.
    periods: i64,
    /// Where the first one begins.
    first_ns: i64,
}

impl Prelude {
    fn shift_ns(&self, periods: i64) -> i64 {
        periods * (self.to_ns - self.from_ns)
    }

    /// When the prelude begins, in nanoseconds from the trace's first line.
    fn begin_ns(&self) -> i64 {
        self.first_ns - self.shift_ns(self.periods)
    }
}

/// How many sectors a process moves on in a period.
fn covered(own: &[Arrival], process: usize, prelude: &Prelude) -> u64 {
    let first_since = |time: i64| {
        own.iter().find_map(|arrival| match arrival.act {
            Act::Bio(bio) if arrival.process == process && arrival.time_ns >= time => Some(bio.sector),
            _ => None,
        })
    };
    let (first, next) = (first_since(prelude.from_ns), first_since(prelude.to_ns));
    next.zip(first).and_then(|(next, first)| next.checked_sub(first)).unwrap_or(0)
}

/// The same, so many periods earlier on the way over the disk.
fn earlier(own: &[Arrival], arrival: &Arrival, periods: i64, prelude: &Prelude) -> Arrival {
    let back = covered(own, arrival.process, prelude).saturating_mul(periods.unsigned_abs());
    let act = match arrival.act {
        Act::Bio(bio) => Act::Bio(Shown { sector: bio.sector.saturating_sub(back), ..bio }),
        other => other,
    };
    Arrival { act, ..*arrival }
}

impl RealTrace {
    /// All acts in order of time: the prelude, then the trace.
    pub(super) fn arrivals(&self) -> Result<Vec<Arrival>, TraceError> {
        let own = self.own_arrivals()?;
        let prelude = self.prelude()?;
        let mut all = self.busy_moment(&prelude);
        all.extend(self.outstanding(&own, &prelude)?);
        for copy in (1..=prelude.periods).rev() {
            let shift = prelude.shift_ns(copy);
            let from = if copy == prelude.periods { prelude.first_ns } else { prelude.from_ns };
            let round = own.iter().filter(|arrival| (from..prelude.to_ns).contains(&arrival.time_ns));
            let shifted = round.map(|arrival| {
                let time_ns = arrival.time_ns - shift;
                Arrival { time_ns, ..earlier(&own, arrival, copy, &prelude) }
            });
            all.extend(shifted.filter(|arrival| arrival.time_ns < 0));
        }
        all.extend(own);
        Ok(all)
    }

    /// How far before the first line the replay begins, in nanoseconds.
    pub(super) fn history_ns(&self) -> Result<i64, TraceError> {
        Ok(BUSY_MOMENT_NS - self.prelude()?.begin_ns())
    }

    fn prelude(&self) -> Result<Prelude, TraceError> {
        let (from_ns, to_ns, owner) = self.period()?;
        let period = to_ns - from_ns;
        let periods = (HISTORY_NS / period + 1).min(MOST_PERIODS);
        let selected = self.lines.iter().rev().find_map(|line| match line.event {
            Event::Decision(Decision::Select(selected, _)) if Some(selected) == owner => {
                Some(line.time_ns as i64).filter(|time| (from_ns..to_ns).contains(time))
            }
            _ => None,
        });
        let first_ns = selected.filter(|_| periods == 1).unwrap_or(from_ns);
        Ok(Prelude { from_ns, to_ns, periods, first_ns })
    }

    /// From the first expiry of a queue to the next of the same queue, and whose it is; without CFQ, from
    /// the first completion that leaves the device empty to the next of a request of the same kind.
    fn period(&self) -> Result<(i64, i64, Option<Owner>), TraceError> {
        let expired = |event: Event| match event {
            Event::Decision(Decision::Expire(owner, _)) => Some(owner),
            _ => None,
        };
        let emptied = |event: Event| match event {
            Event::Done(request, 0) => Some((request.flags, request.sectors)),
            _ => None,
        };
        let events = || self.lines.iter().map(|line| (line.time_ns as i64, line.event));
        let expiries: Vec<_> = events().filter_map(|(time, event)| Some((time, expired(event)?))).collect();
        let ends: Vec<_> = events().filter_map(|(time, event)| Some((time, emptied(event)?))).collect();
        let again = match expiries.first() {
            Some(&(from, owner)) => round_again(&expiries).map(|to| (from, to, Some(owner))),
            None => ends.first().zip(round_again(&ends)).map(|(first, to)| (first.0, to, None)),
        };
        again.ok_or_else(|| TraceError::whole("nothing in it comes round again"))
    }

    /// What is queued when the prelude begins.
    fn outstanding(&self, own: &[Arrival], prelude: &Prelude) -> Result<Vec<Arrival>, TraceError> {
        let time_ns = prelude.begin_ns();
        let mut found = Vec::new();
        for start in self.expected_starts()? {
            if start.time_ns.is_none_or(|time| time < prelude.first_ns) {
                continue;
            }
            let end = start.request.sector + u64::from(start.request.sectors);
            let waiting = own.iter().filter(|arrival| {
                matches!(arrival.act, Act::Bio(bio) if (start.request.sector..end).contains(&bio.sector))
                    && arrival.time_ns < prelude.first_ns
            });
            let mut bios: Vec<Arrival> = waiting.map(|arrival| Arrival { time_ns, ..*arrival }).collect();
            if !start.arrived {
                let process = self.nearest_submitter(start.request)?;
                bios.push(Arrival { time_ns, process, act: Act::Bio(start.request) });
            }
            // Each is started, if it may be, before the next comes, so that they are not merged.
            let unplug = bios.last().map(|bio| Arrival { act: Act::Unplug, ..*bio });
            found.extend(bios.iter().map(|bio| earlier(own, bio, prelude.periods, prelude)));
            found.extend(unplug);
        }
        Ok(found)
    }

    /// Who submits requests of this kind nearest to this one.
    fn nearest_submitter(&self, request: Shown) -> Result<usize, TraceError> {
        let adds = self.lines.iter().filter_map(|line| match line.event {
            Event::Add(other) | Event::AddBarrier(other) => Some((other, line.process)),
            _ => None,
        });
        let alike = adds.filter(|(other, _)| other.flags == request.flags);
        let nearest = alike.min_by_key(|(other, _)| other.sector.abs_diff(request.sector));
        let nearest = nearest.ok_or_else(|| TraceError::whole("nobody submits what is started first"))?;
        Ok(nearest.1)
    }

    /// CFQ's average of busy queues remembers for ever how many there once were (section 2.14). It
    /// shows in the length of the first turn: if that is a fraction of the whole, the replay begins
    /// with as many processes that read at once.
    fn busy_moment(&self, prelude: &Prelude) -> Vec<Arrival> {
        let readers = self.turn_share().filter(|share| (2..=MOST_READERS).contains(share)).unwrap_or(0);
        let time_ns = prelude.begin_ns() - BUSY_MOMENT_NS;
        (0..readers)
            .map(|reader| Arrival {
                time_ns,
                process: self.processes.len() + reader as usize,
                act: Act::Bio(Shown {
                    flags: BioFlags::default(),
                    sector: (reader + 1) * 20_000_000,
                    sectors: 256,
                }),
            })
            .collect()
    }

    /// Into how many parts the first turn divides the whole.
    fn turn_share(&self) -> Option<u64> {
        let mut decisions = self.lines.iter().filter_map(|line| match line.event {
            Event::Decision(decision) => Some(decision),
            _ => None,
        });
        let turn = decisions.find_map(|decision| match decision {
            Decision::Turn(jiffies) => Some(jiffies),
            _ => None,
        })?;
        let Some(Decision::Select(_, workload)) = decisions.next() else { return None };
        let whole = u64::from(self.hz) * 3 / 10;
        // Async turns are cut in the proportion of the slices, 40 to 100.
        let whole = if workload == WorkloadType::Async { whole * 40 / 100 } else { whole };
        whole.checked_div(turn)
    }
}

/// When the first of a sequence comes again.
fn round_again<T: PartialEq>(events: &[(i64, T)]) -> Option<i64> {
    let (first, rest) = events.split_first()?;
    rest.iter().find(|(time, event)| *event == first.1 && *time > first.0).map(|event| event.0)
}
