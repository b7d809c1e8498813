//! The queue's own book of why it was held, and whose slice the device worked for.

use super::elevator::Serving;
use crate::observe::{HeldReason, HeldTotals};

/// Running totals by reason, and by io context for the time the device was busy.
#[derive(Clone, Debug)]
pub(super) struct HeldAccount {
    totals: HeldTotals,
    /// Busy time in each io context's own slice.
    served_ns: Vec<u64>,
    /// Busy time in nobody's slice: everybody's own.
    unsliced_ns: u64,
    reason: HeldReason,
    serving: Serving,
    since_ns: u64,
}

impl Default for HeldAccount {
    fn default() -> Self {
        Self {
            totals: HeldTotals::default(),
            served_ns: Vec::new(),
            unsliced_ns: 0,
            reason: HeldReason::Ready,
            serving: Serving::Nobody,
            since_ns: 0,
        }
    }
}

impl HeldAccount {
    /// From `now_ns` on the queue is held for `reason` while `serving` has its turn.
    pub(super) fn set(&mut self, now_ns: u64, reason: HeldReason, serving: Serving) {
        let elapsed = now_ns - self.since_ns;
        if elapsed > 0 {
            self.totals.add(self.reason, elapsed);
            if self.reason == HeldReason::Busy {
                match self.serving {
                    Serving::Nobody => self.unsliced_ns += elapsed,
                    Serving::Context(context) => *self.served(context) += elapsed,
                    Serving::Async => {}
                }
            }
            self.since_ns = now_ns;
        }
        self.reason = reason;
        self.serving = serving;
    }

    fn served(&mut self, io_context: u32) -> &mut u64 {
        let index = io_context as usize;
        if self.served_ns.len() <= index {
            self.served_ns.resize(index + 1, 0);
        }
        &mut self.served_ns[index]
    }

    pub(super) fn totals(&self, now_ns: u64) -> HeldTotals {
        let mut totals = self.totals;
        totals.add(self.reason, now_ns - self.since_ns);
        totals
    }

    pub(super) fn served_ns(&self, io_context: u32, now_ns: u64) -> u64 {
        let own = self.served_ns.get(io_context as usize).copied().unwrap_or(0) + self.unsliced_ns;
        let is_own = self.reason == HeldReason::Busy
            && matches!(self.serving, Serving::Nobody | Serving::Context(_))
            && !matches!(self.serving, Serving::Context(context) if context != io_context);
        if is_own { own + (now_ns - self.since_ns) } else { own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Time in another's slice is not one's own; time in nobody's slice is everybody's.
    #[test]
    fn busy_time_is_split_by_slice() {
        let mut held = HeldAccount::default();
        held.set(10, HeldReason::Busy, Serving::Context(1));
        held.set(30, HeldReason::Busy, Serving::Context(2));
        held.set(60, HeldReason::Idling, Serving::Nobody);
        held.set(100, HeldReason::Busy, Serving::Nobody);
        assert_eq!(held.served_ns(1, 105), 20 + 5);
        assert_eq!(held.served_ns(2, 105), 30 + 5);
        let totals = held.totals(105);
        assert_eq!(totals.get(HeldReason::Busy), 55);
        assert_eq!(totals.get(HeldReason::Idling), 40);
        assert_eq!(totals.get(HeldReason::Ready), 10);
    }
}
