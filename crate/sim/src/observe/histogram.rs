//! A histogram of durations with bounded memory: 32 steps per power of two, so a value is known to
//! about 3 %.

use super::series::product;
use serde::{Deserialize, Serialize};

const STEP_BITS: u32 = 5;
const STEPS: usize = 1 << STEP_BITS;

/// Counts of values by size. Recording costs O(1); memory grows with the largest value's logarithm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: u64,
    min: u64,
    max: u64,
}

impl Histogram {
    /// An empty histogram.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counts one value.
    pub fn record(&mut self, value: u64) {
        let bucket = bucket_of(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum = self.sum.saturating_add(value);
    }

    /// Counts one value several times.
    pub fn record_many(&mut self, value: u64, times: u64) {
        if times == 0 {
            return;
        }
        self.record(value);
        self.counts[bucket_of(value)] += times - 1;
        self.count += times - 1;
        self.sum = self.sum.saturating_add(product(value, times - 1));
    }

    /// Counts everything that `other` has counted.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
        self.min = if self.count == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum = self.sum.saturating_add(other.sum);
    }

    /// Values counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value, 0 if there is none.
    #[must_use]
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The largest value, 0 if there is none.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The mean, rounded down; 0 if there is no value.
    #[must_use]
    pub fn mean(&self) -> u64 {
        self.sum.checked_div(self.count).unwrap_or(0)
    }

    /// The smallest bucket end that at least `per_mille` thousandths of the values do not exceed.
    #[must_use]
    pub fn quantile(&self, per_mille: u64) -> u64 {
        let wanted = (self.count * per_mille.min(1000)).div_ceil(1000).max(1);
        let mut seen = 0;
        for (bucket, &count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return bucket_range(bucket).1.saturating_sub(1).min(self.max);
            }
        }
        self.max
    }

    /// The buckets that hold something: first value, value behind the last, count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.counts.iter().enumerate().filter(|&(_, &count)| count != 0).map(|(bucket, &count)| {
            let (from, to) = bucket_range(bucket);
            (from, to, count)
        })
    }
}

fn bucket_of(value: u64) -> usize {
    if value < STEPS as u64 {
        return value as usize;
    }
    let exponent = 63 - value.leading_zeros();
    let step = (value >> (exponent - STEP_BITS)) as usize - STEPS;
    ((exponent - STEP_BITS + 1) as usize) * STEPS + step
}

fn bucket_range(bucket: usize) -> (u64, u64) {
    if bucket < STEPS {
        return (bucket as u64, bucket as u64 + 1);
    }
    let shift = (bucket / STEPS - 1) as u32;
    let from = ((STEPS + bucket % STEPS) as u64) << shift;
    (from, from.saturating_add(1 << shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Every value lies in its bucket, and the bucket is narrower than 1/32 of it.
        #[test]
        fn buckets_are_tight(value in 0u64..u64::MAX / 2) {
            let (from, to) = bucket_range(bucket_of(value));
            prop_assert!(from <= value && value < to);
            prop_assert!(to - from <= (value / 32).max(1));
        }
    }

    #[test]
    fn quantiles_and_extremes() {
        let mut histogram = Histogram::new();
        (1..=1000).for_each(|value| histogram.record(value));
        assert_eq!((histogram.min(), histogram.max(), histogram.mean()), (1, 1000, 500));
        let median = histogram.quantile(500);
        assert!((500..=516).contains(&median), "{median}");
    }
}
