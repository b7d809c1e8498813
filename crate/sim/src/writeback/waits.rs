//! Where writeback sleeps, and whether it had to.
//!
//! *Models:* the count, time and necessity of every such sleep, by place.
//! *Does not model:* the sleeps of reclaim: those are `mm/naps.rs`.
//! *Follows:* docs/model/reclaim.md, sections 5, 6.2 and 6.4.

use crate::mm::NapTotals;
use serde::{Deserialize, Serialize};

/// Where somebody sleeps because of dirty pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum WaitSite {
    /// A writer, in `balance_dirty_pages`.
    Throttle = 0,
    /// pdflush, in background writeback: the queue is congested.
    Background = 1,
    /// pdflush, writing old data: the queue is congested.
    Kupdate = 2,
}

impl WaitSite {
    /// All places.
    pub const ALL: [Self; 3] = [Self::Throttle, Self::Background, Self::Kupdate];

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Throttle => "writers, while too much is dirty",
            Self::Background => "pdflush, writing in the background",
            Self::Kupdate => "pdflush, writing what is old",
        }
    }
}

/// Totals by place. A sleep is necessary if a device was congested for the kind slept on when it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waits {
    totals: [NapTotals; WaitSite::ALL.len()],
}

impl Waits {
    /// The totals of a place.
    #[must_use]
    pub fn at(&self, site: WaitSite) -> &NapTotals {
        &self.totals[site as usize]
    }

    /// A sleep is over that lasted so long, in nanoseconds.
    pub fn record(&mut self, site: WaitSite, necessary: bool, slept_ns: u64) {
        let totals = &mut self.totals[site as usize];
        totals.taken += 1;
        totals.slept_ns += slept_ns;
        totals.longest_ns = totals.longest_ns.max(slept_ns);
        if !necessary {
            totals.unnecessary += 1;
            totals.slept_unnecessarily_ns += slept_ns;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each place has its own totals, and unnecessary sleeps are part of all.
    #[test]
    fn sleeps_are_counted_by_place_and_necessity() {
        let mut waits = Waits::default();
        waits.record(WaitSite::Throttle, true, 5);
        waits.record(WaitSite::Throttle, false, 7);
        waits.record(WaitSite::Kupdate, false, 1);
        let throttle = waits.at(WaitSite::Throttle);
        assert_eq!((throttle.taken, throttle.unnecessary, throttle.longest_ns), (2, 1, 7));
        assert_eq!((throttle.slept_ns, throttle.slept_unnecessarily_ns), (12, 7));
        assert_eq!(waits.at(WaitSite::Background).taken, 0);
        assert_eq!(waits.at(WaitSite::Kupdate).taken, 1);
    }
}
