//! Time: nanoseconds for the machine, jiffies for the kernel's own arithmetic.
//!
//! *Models:* the tick at HZ 100, 250 or 1000; timers that expire on a tick (section 0.1).
//! *Does not model:* lost ticks, tickless idle (it does not move a timer's expiry).
//! *Follows:* model/block-layer.md, section 0.1.

use serde::{Deserialize, Serialize};

/// Nanoseconds in one second.
const SECOND_NS: u64 = 1_000_000_000;

/// The jiffy counter's value when a simulation starts, in seconds' worth of ticks: far enough from
/// zero that "a minute ago" can be computed without a sign.
const FIRST_JIFFY_SECONDS: u64 = 300;

/// Converts between simulated nanoseconds and the kernel's jiffies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    hz: u64,
    tick_ns: u64,
    exact_timers: bool,
}

impl Clock {
    /// A clock that ticks `hz` times a second. With `exact_timers` a timer set for n jiffies waits
    /// exactly n ticks' length instead of expiring on a tick: no kernel of the period did that for
    /// the timers modelled here, it shows what the ticks are worth.
    ///
    /// `hz` is 1 to 10 000 and divides a second into whole nanoseconds; other values are rounded.
    #[must_use]
    pub fn new(hz: u32, exact_timers: bool) -> Self {
        let hz = u64::from(hz).clamp(1, 10_000);
        Self { hz, tick_ns: SECOND_NS / hz, exact_timers }
    }

    /// Ticks a second.
    #[must_use]
    pub fn hz(&self) -> u64 {
        self.hz
    }

    /// Length of one tick, in nanoseconds.
    #[must_use]
    pub fn tick_ns(&self) -> u64 {
        self.tick_ns
    }

    /// The jiffy counter at `now_ns`.
    #[must_use]
    pub fn jiffies(&self, now_ns: u64) -> u64 {
        FIRST_JIFFY_SECONDS * self.hz + now_ns / self.tick_ns
    }

    /// The time at which a timer fires that is armed at `now_ns` for `jiffies` ticks from now: the
    /// tick on which the counter reaches the target, so up to one tick early in real time.
    #[must_use]
    pub fn timer_ns(&self, now_ns: u64, jiffies: u64) -> u64 {
        if self.exact_timers {
            now_ns + jiffies * self.tick_ns
        } else {
            (now_ns / self.tick_ns + jiffies) * self.tick_ns
        }
    }

    /// Milliseconds as whole jiffies, rounded down, at least `at_least`.
    #[must_use]
    pub fn jiffies_from_ms(&self, ms: u64, at_least: u64) -> u64 {
        (ms * self.hz / 1000).max(at_least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 0.1: a timer of 8 jiffies armed inside a tick waits between 7 and 8 ms.
    #[test]
    fn a_timer_expires_on_a_tick() {
        let clock = Clock::new(1000, false);
        assert_eq!(clock.timer_ns(1_946_000, 8), 9_000_000);
        assert_eq!(clock.timer_ns(2_000_000, 8), 10_000_000);
        assert_eq!(Clock::new(1000, true).timer_ns(1_946_000, 8), 9_946_000);
    }

    /// Section 0.1: at HZ=250 a jiffy is 4 ms, at HZ=100 it is 10 ms.
    #[test]
    fn jiffies_count_ticks() {
        for (hz, ticks) in [(1000, 12), (250, 3), (100, 1)] {
            let clock = Clock::new(hz, false);
            assert_eq!(clock.jiffies(12_999_999) - clock.jiffies(0), ticks);
        }
    }
}
