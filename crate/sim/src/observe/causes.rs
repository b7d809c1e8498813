//! Where a task's time went: every nanosecond of every task has exactly one cause.
//!
//! *Models:* the breakdown of waits, their share spent behind the journal thread included.
//! *Does not model:* time stolen by interrupts (it counts as the interrupted task's own).
//! *Follows:* ARCHITECTURE.md, "every wait has a cause".

use super::held::{HeldReason, HeldTotals};
use serde::{Deserialize, Serialize};

/// Why a task's time passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CauseKind {
    /// It computed, in its own code or in the kernel.
    OnCpu,
    /// It could have run, but had no CPU.
    WaitCpu,
    /// It slept on purpose.
    Sleep,
    /// A kernel thread had nothing to do.
    Work,
    /// It waited for its own request, which the device was serving.
    InDevice,
    /// Its request waited: the device was busy, and nobody else's slice was the reason.
    DeviceBusy,
    /// Its request waited while another queue's slice was served.
    OtherSlice,
    /// Its request waited because the scheduler kept the device idle for somebody.
    Idling,
    /// Its request waited in a plugged queue.
    Plugged,
    /// Its request waited while a barrier let earlier requests finish.
    Draining,
    /// Its request waited while the device wrote out its cache.
    Flushing,
    /// Its request could have been started, but nobody ran the queue (a worker's turn).
    NotRun,
    /// It waited for a free request.
    NoFreeRequest,
    /// It waited for the journal thread's turn or for another task that makes room in the journal.
    Journal,
    /// It slept in `congestion_wait`.
    Congestion,
    /// There was no memory left, and it waited for what a killed process gives back.
    OutOfMemory,
    /// It was held up because it makes pages dirty faster than they are written.
    Throttled,
    /// It waited for another task that was writing the same file back.
    FileBusy,
    /// It waited for other processes.
    Start,
    /// It had ended.
    Ended,
}

impl CauseKind {
    /// Every cause, in the order of declaration.
    pub const ALL: [Self; 20] = [
        Self::OnCpu,
        Self::WaitCpu,
        Self::Sleep,
        Self::Work,
        Self::InDevice,
        Self::DeviceBusy,
        Self::OtherSlice,
        Self::Idling,
        Self::Plugged,
        Self::Draining,
        Self::Flushing,
        Self::NotRun,
        Self::NoFreeRequest,
        Self::Journal,
        Self::Congestion,
        Self::OutOfMemory,
        Self::Throttled,
        Self::FileBusy,
        Self::Start,
        Self::Ended,
    ];

    /// A short name in plain words.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::OnCpu => "on the CPU",
            Self::WaitCpu => "waiting for a CPU",
            Self::Sleep => "sleeping",
            Self::Work => "nothing to do",
            Self::InDevice => "own request in the device",
            Self::DeviceBusy => "device busy",
            Self::OtherSlice => "another queue's slice",
            Self::Idling => "scheduler idling",
            Self::Plugged => "queue plugged",
            Self::Draining => "draining for a barrier",
            Self::Flushing => "device flushing its cache",
            Self::NotRun => "queue not run",
            Self::NoFreeRequest => "no free request",
            Self::Journal => "journal busy",
            Self::Congestion => "sleeping for congestion to end",
            Self::OutOfMemory => "out of memory: waiting for a killed process",
            Self::Throttled => "held up: too many dirty pages",
            Self::FileBusy => "another task writes the file",
            Self::Start => "waiting for other processes",
            Self::Ended => "ended",
        }
    }
}

/// A cause: what, and whether it hit the task itself or the journal thread that it waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Cause {
    /// What.
    pub kind: CauseKind,
    /// It happened to the journal thread while the task waited for it.
    pub via_journal: bool,
}

/// Nanoseconds per cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CauseTotals {
    own_ns: [u64; CauseKind::ALL.len()],
    journal_ns: [u64; CauseKind::ALL.len()],
}

impl CauseTotals {
    /// Adds `ns` nanoseconds to a cause that hit the task itself.
    pub fn add(&mut self, kind: CauseKind, ns: u64) {
        self.own_ns[kind as usize] += ns;
    }

    /// The total of one cause, in nanoseconds.
    #[must_use]
    pub fn get(&self, cause: Cause) -> u64 {
        let row = if cause.via_journal { &self.journal_ns } else { &self.own_ns };
        row[cause.kind as usize]
    }

    /// The sum over all causes, in nanoseconds: the time the totals cover.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        self.own_ns.iter().chain(&self.journal_ns).sum()
    }

    /// Causes with their nanoseconds, those with none left out; the task's own first.
    pub fn iter(&self) -> impl Iterator<Item = (Cause, u64)> + '_ {
        [false, true].into_iter().flat_map(move |via_journal| {
            CauseKind::ALL.into_iter().filter_map(move |kind| {
                let cause = Cause { kind, via_journal };
                let ns = self.get(cause);
                (ns != 0).then_some((cause, ns))
            })
        })
    }

    /// Adds what the journal thread went through between `before` and `after`, its own totals at the
    /// beginning and at the end of an interval, as seen by a task that waited for it.
    pub fn add_via_journal(&mut self, before: &Self, after: &Self) {
        for (index, total) in self.journal_ns.iter_mut().enumerate() {
            let own = after.own_ns[index] - before.own_ns[index];
            let via = after.journal_ns[index] - before.journal_ns[index];
            *total += own + via;
        }
    }

    /// Adds `duration_ns` of waiting for a request to be started: `held` says what the queue did
    /// meanwhile, `served_ns` how long the waiter's own slice was served.
    pub fn add_held(&mut self, held: &HeldTotals, served_ns: u64, duration_ns: u64) {
        let busy = held.get(HeldReason::Busy);
        let own = busy.min(served_ns);
        let mut left = duration_ns;
        for (kind, ns) in [
            (CauseKind::DeviceBusy, own),
            (CauseKind::OtherSlice, busy - own),
            (CauseKind::Idling, held.get(HeldReason::Idling)),
            (CauseKind::Plugged, held.get(HeldReason::Plugged)),
            (CauseKind::Draining, held.get(HeldReason::Draining)),
            (CauseKind::Flushing, held.get(HeldReason::Flushing)),
        ] {
            let ns = ns.min(left);
            self.add(kind, ns);
            left -= ns;
        }
        self.add(CauseKind::NotRun, left);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The labels' array and the enum agree, or a total would be read under another name.
    #[test]
    fn every_cause_is_listed_at_its_own_index() {
        for (index, kind) in CauseKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
        }
    }

    /// A wait's breakdown adds up to its length whatever the queue reports.
    #[test]
    fn a_held_wait_is_charged_in_full() {
        let mut held = HeldTotals::default();
        held.add(HeldReason::Busy, 700);
        held.add(HeldReason::Idling, 200);
        let mut totals = CauseTotals::default();
        totals.add_held(&held, 300, 1000);
        assert_eq!(totals.sum_ns(), 1000);
        let own = |kind| totals.get(Cause { kind, via_journal: false });
        assert_eq!(own(CauseKind::DeviceBusy), 300);
        assert_eq!(own(CauseKind::OtherSlice), 400);
        assert_eq!(own(CauseKind::Idling), 200);
        assert_eq!(own(CauseKind::NotRun), 100);
    }
}
