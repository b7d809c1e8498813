//! Counters and gauges that are read now and then: the series cost nothing between two readings.
//!
//! *Models:* what has been counted since the last reading, spread over the time since; values in effect from a reading on.
//! *Does not model:* what a gauge does between two readings.

use super::series::Series;

/// The most buckets of a series that is sampled, and the times it is read while none of them is full.
const BUCKETS: usize = 256;

/// What a counter or a gauge says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A total that only grows.
    Total(u64),
    /// A value in effect.
    Value(u64),
}

/// Series that are read together, always in the same order.
#[derive(Clone, Debug, Default)]
pub struct Sampled {
    series: Vec<Series>,
    totals: Vec<u64>,
    since_ns: u64,
    due_ns: u64,
}

impl Sampled {
    /// When the next reading is wanted: once a bucket.
    #[must_use]
    #[inline]
    pub fn due_ns(&self) -> u64 {
        self.due_ns
    }

    /// The series, in the order of the readings.
    #[must_use]
    pub fn series(&self) -> &[Series] {
        &self.series
    }

    /// Takes readings at `now_ns`; the first decides how many there are. Buckets are at first `bucket_ns` wide.
    pub fn read(&mut self, now_ns: u64, bucket_ns: u64, readings: impl Iterator<Item = Reading>) {
        for (index, reading) in readings.enumerate() {
            if index == self.series.len() {
                self.series.push(Series::new(bucket_ns, BUCKETS));
                self.totals.push(0);
            }
            let series = &mut self.series[index];
            match reading {
                Reading::Value(value) => {
                    // Entered up to now even if it has not changed, so that all series have buckets of one width.
                    series.settle(now_ns);
                    series.set(now_ns, value);
                }
                Reading::Total(total) => {
                    let before = std::mem::replace(&mut self.totals[index], total);
                    series.spread(self.since_ns, now_ns, total.saturating_sub(before));
                }
            }
        }
        self.since_ns = now_ns;
        let width_ns = self.series.first().map_or(bucket_ns, Series::bucket_ns);
        self.due_ns = (now_ns / width_ns + 1).saturating_mul(width_ns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whenever it is read, a counter's series adds up to its total, a gauge's to its integral, and both have buckets of one
        /// width.
        #[test]
        fn nothing_is_lost_between_readings(steps in prop::collection::vec((1u64..4_000, 0u64..1_000), 1..200)) {
            let mut sampled = Sampled::default();
            let (mut now, mut total, mut value, mut integral) = (0, 0, 0, 0);
            for (step, amount) in steps {
                now += step;
                total += amount;
                integral += value * step;
                value = amount;
                sampled.read(now, 10, [Reading::Total(total), Reading::Value(value)].into_iter());
            }
            let [counter, gauge] = sampled.series() else { panic!("two") };
            prop_assert_eq!((counter.total(), gauge.total()), (total, integral));
            prop_assert!(counter.buckets().len() <= BUCKETS);
            // A reading on a border has no time behind it yet.
            prop_assert!(counter.bucket_ns() == gauge.bucket_ns() || now % gauge.bucket_ns() == 0);
            prop_assert!(sampled.due_ns() > now);
        }

        /// Spread over time, an amount keeps its sum, and equal times get equal parts but for rounding.
        #[test]
        fn an_amount_is_spread_evenly(from in 0u64..5_000, length in 0u64..50_000, amount in 0u64..1_000_000) {
            let mut series = Series::new(100, 16);
            series.spread(from, from + length, amount);
            prop_assert_eq!(series.total(), amount);
            let width = series.bucket_ns();
            for (index, bucket) in series.buckets().iter().enumerate() {
                let start = index as u64 * width;
                if start >= from && start + width <= from + length {
                    let fair = amount as f64 * width as f64 / length as f64;
                    prop_assert!((bucket.sum as f64 - fair).abs() <= 1.0, "{bucket:?}, {fair}");
                }
            }
        }
    }
}
