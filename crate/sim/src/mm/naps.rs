//! Waiting for congestion to end.
//!
//! *Models:* who naps, for how long, on which queue, and whether anything was congested; `wait_iff_congested`; the switches of the
//! series "Record if the congestion was unnecessary".
//! *Does not model:* waking up: the caller knows when requests complete (R5.4).
//! *Follows:* docs/model/reclaim.md, section 5.

use super::memory::Memory;
use super::policy::{CongestionSwitch, NapQueue, NapRule};
use super::step::{Nap, NapSite, Step};

/// Totals of one place where somebody naps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NapTotals {
    /// Naps taken.
    pub taken: u64,
    /// Of these, naps while nothing was congested.
    pub unnecessary: u64,
    /// Naps left out because nothing was congested.
    pub left_out: u64,
    /// Time slept, in nanoseconds.
    pub slept_ns: u64,
    /// Of it, in unnecessary naps.
    pub slept_unnecessarily_ns: u64,
    /// The longest nap.
    pub longest_ns: u64,
}

/// Totals by place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Naps {
    totals: [NapTotals; NapSite::ALL.len()],
}

impl Naps {
    /// The totals of a place.
    #[must_use]
    pub fn at(&self, site: NapSite) -> &NapTotals {
        &self.totals[site as usize]
    }

    /// What the kernel itself accounts, given its switch: nothing, time, or time by necessity: (all, unnecessary), in nanoseconds.
    #[must_use]
    pub fn accounted_ns(&self, switch: CongestionSwitch) -> (Option<u64>, Option<u64>) {
        let all = self.totals.iter().map(|totals| totals.slept_ns).sum();
        let unnecessary = self.totals.iter().map(|totals| totals.slept_unnecessarily_ns).sum();
        (
            (switch >= CongestionSwitch::Trace).then_some(all),
            (switch >= CongestionSwitch::AccountUnnecessary).then_some(unnecessary),
        )
    }
}

impl Memory {
    /// Begins a nap by the rule, for `zone`'s sake; or says to yield where the rule or a switch leaves it out.
    pub(crate) fn nap<T>(&mut self, site: NapSite, rule: NapRule, zone: Option<usize>) -> Step<T> {
        let queue = rule.queue();
        let necessary = match queue {
            NapQueue::Async => self.is_any_congested(0),
            NapQueue::Sync => self.is_any_congested(1),
            NapQueue::AsyncThenSync => self.is_any_congested(0) || self.is_any_congested(1),
        };
        let zone_congested = zone.is_none_or(|zone| self.zones[zone].congested);
        let by_rule = match rule {
            NapRule::Always(_) => true,
            NapRule::IfZoneCongested(_) => necessary && zone_congested,
        };
        let switched_off = self.policy.congestion == CongestionSwitch::DoNotSleep && !necessary;
        let totals = &mut self.naps.totals[site as usize];
        if !by_rule || switched_off {
            totals.left_out += 1;
            return Step::Yield;
        }
        totals.taken += 1;
        totals.unnecessary += u64::from(!necessary);
        let per_second = if site == NapSite::Retry { 50 } else { 10 };
        Step::Nap(Nap { site, queue, jiffies: (self.hz / per_second).max(1), necessary })
    }

    /// Reports how long a nap has been, in nanoseconds.
    pub fn napped(&mut self, nap: &Nap, slept_ns: u64) {
        let totals = &mut self.naps.totals[nap.site as usize];
        totals.slept_ns += slept_ns;
        if !nap.necessary {
            totals.slept_unnecessarily_ns += slept_ns;
        }
        totals.longest_ns = totals.longest_ns.max(slept_ns);
    }
}
