//! How long it took from one pass of a mark to the next, in bins of equal width: ticks show as peaks.

use serde::{Deserialize, Serialize};

/// The most bins.
const BINS: usize = 2048;
/// The width at first, in nanoseconds: 2048 bins of 8 us cover 16 ms.
const FIRST_WIDTH_NS: u64 = 8_000;

/// Counts of durations in bins of equal width; when one does not fit, the width doubles. Recording costs O(1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Periods {
    width_ns: u64,
    counts: Vec<u64>,
    count: u64,
    sum_ns: u64,
    min_ns: u64,
    max_ns: u64,
}

impl Default for Periods {
    fn default() -> Self {
        Self { width_ns: FIRST_WIDTH_NS, counts: Vec::new(), count: 0, sum_ns: 0, min_ns: 0, max_ns: 0 }
    }
}

impl Periods {
    /// Counts one duration.
    pub fn record(&mut self, ns: u64) {
        while ns / self.width_ns >= BINS as u64 {
            self.counts = self.counts.chunks(2).map(|pair| pair.iter().sum()).collect();
            self.width_ns *= 2;
        }
        let bin = (ns / self.width_ns) as usize;
        if bin >= self.counts.len() {
            self.counts.resize(bin + 1, 0);
        }
        self.counts[bin] += 1;
        self.min_ns = if self.count == 0 { ns } else { self.min_ns.min(ns) };
        self.max_ns = self.max_ns.max(ns);
        self.count += 1;
        self.sum_ns = self.sum_ns.saturating_add(ns);
    }

    /// The width of a bin, in nanoseconds.
    #[must_use]
    pub fn width_ns(&self) -> u64 {
        self.width_ns
    }

    /// Counts by bin, from 0 on.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum, in nanoseconds.
    #[must_use]
    pub fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// The shortest and the longest, in nanoseconds; 0 when nothing was counted.
    #[must_use]
    pub fn extremes_ns(&self) -> (u64, u64) {
        (self.min_ns, self.max_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each duration is counted once, in the bin it lies in, however often the width doubled.
        #[test]
        fn every_duration_is_in_its_bin(durations in prop::collection::vec(0u64..5_000_000_000, 0..200)) {
            let mut periods = Periods::default();
            durations.iter().for_each(|&ns| periods.record(ns));
            prop_assert!(periods.counts().len() <= BINS);
            for (bin, &count) in periods.counts().iter().enumerate() {
                let from = bin as u64 * periods.width_ns();
                let mine = durations.iter().filter(|ns| (from..from + periods.width_ns()).contains(ns));
                prop_assert_eq!(count, mine.count() as u64);
            }
            prop_assert_eq!(periods.count(), durations.len() as u64);
            let extremes = (durations.iter().min().copied(), durations.iter().max().copied());
            prop_assert_eq!(periods.extremes_ns(), (extremes.0.unwrap_or(0), extremes.1.unwrap_or(0)));
        }
    }
}
