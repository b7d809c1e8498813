//! Histograms of periods as results carry them, and how a chart makes fewer, rounder bins of them.

use crate::observe::Periods;
use serde::{Deserialize, Serialize};

/// Counts of durations in bins of equal width; leading and trailing empty bins are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeriodHistogram {
    /// Where the first bin begins, in nanoseconds. Negative only in what [`Self::centred`] gives.
    pub from_ns: i64,
    /// The width of a bin, in nanoseconds; 0 when nothing was counted.
    pub width_ns: u64,
    /// Counts by bin.
    pub counts: Vec<u64>,
}

impl From<&Periods> for PeriodHistogram {
    fn from(periods: &Periods) -> Self {
        Self { from_ns: 0, width_ns: periods.width_ns(), counts: periods.counts().to_vec() }.trimmed()
    }
}

impl PeriodHistogram {
    /// How many durations were counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The same with bins of about `width_ns`, each centred on a multiple of its width, so that durations of whole
    /// ticks do not fall on a border. The width becomes the nearest even multiple of the present one.
    #[must_use]
    pub fn centred(&self, width_ns: u64) -> Self {
        if self.width_ns == 0 {
            return self.clone();
        }
        let half = (width_ns / 2).div_ceil(self.width_ns).max(1);
        let width = half * 2;
        // In units of the present width: bin b of the new ones covers [b * width - half, b * width + half).
        let first = self.from_ns.div_euclid(self.width_ns as i64);
        let bin_of = |index: i64| (first + index + half as i64).div_euclid(width as i64);
        let first_bin = bin_of(0);
        let mut counts = Vec::new();
        for (index, &count) in self.counts.iter().enumerate() {
            let bin = (bin_of(index as i64) - first_bin) as usize;
            if bin >= counts.len() {
                counts.resize(bin + 1, 0);
            }
            counts[bin] += count;
        }
        let unit = self.width_ns as i64;
        Self {
            from_ns: (first_bin * width as i64 - half as i64) * unit,
            width_ns: width * self.width_ns,
            counts,
        }
        .trimmed()
    }

    /// Each bin: from, to (nanoseconds) and count.
    pub fn bins(&self) -> impl Iterator<Item = (i64, i64, u64)> + '_ {
        let width = self.width_ns as i64;
        self.counts.iter().enumerate().map(move |(index, &count)| {
            let from = self.from_ns + index as i64 * width;
            (from, from + width, count)
        })
    }

    fn trimmed(mut self) -> Self {
        let leading = self.counts.iter().take_while(|&&count| count == 0).count();
        let used = self.counts.iter().rposition(|&count| count != 0).map_or(0, |last| last + 1);
        if used == 0 {
            return Self::default();
        }
        self.counts.truncate(used);
        self.counts.drain(..leading);
        self.from_ns += leading as i64 * self.width_ns as i64;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Periods just below and just above a tick fall into one bin, centred on it.
    #[test]
    fn ticks_are_in_the_middle_of_bins() {
        let mut periods = Periods::default();
        for ns in [8_990_000, 8_999_000, 9_004_000, 9_990_000, 10_010_000] {
            periods.record(ns);
        }
        let ticks = PeriodHistogram::from(&periods).centred(250_000);
        let full: Vec<_> = ticks.bins().filter(|bin| bin.2 != 0).collect();
        assert_eq!(full.iter().map(|bin| bin.2).collect::<Vec<_>>(), [3, 2]);
        assert!(full.iter().zip([9_000_000, 10_000_000]).all(|(bin, tick)| bin.0 < tick && tick < bin.1));
    }

    proptest! {
        /// Coarser bins count the same durations.
        #[test]
        fn centring_loses_nothing(
            durations in prop::collection::vec(0u64..100_000_000, 0..100),
            width in 1u64..20_000_000,
        ) {
            let mut periods = Periods::default();
            durations.iter().for_each(|&ns| periods.record(ns));
            let fine = PeriodHistogram::from(&periods);
            let coarse = fine.centred(width);
            prop_assert_eq!(fine.count(), durations.len() as u64);
            prop_assert_eq!(coarse.count(), fine.count());
            for (from, to, count) in coarse.bins() {
                let inside = fine.bins().filter(|bin| from <= bin.0 && bin.1 <= to).map(|bin| bin.2).sum::<u64>();
                prop_assert_eq!(count, inside);
            }
        }
    }
}
