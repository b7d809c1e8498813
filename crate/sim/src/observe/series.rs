//! Bounded series over time: whatever the length of a run, at most so many buckets, and no extreme and no sum is lost.
//!
//! *Models:* values in effect over time (gauges) and amounts that happen at moments (counts).
//! *Does not model:* anything finer than a bucket: a window is run again for that (ARCHITECTURE.md, rule 5).

use serde::{Deserialize, Serialize};

/// What happened in one stretch of time. All 0 while nothing has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
    /// The last value.
    pub last: u64,
    /// Of a gauge: value times nanoseconds in effect. Of a count: the amounts together.
    pub sum: u64,
    /// Values that were seen; 0 means that the bucket is empty.
    pub count: u64,
}

impl Bucket {
    fn see(&mut self, value: u64, sum: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.last = value;
        self.sum = self.sum.saturating_add(sum);
        self.count += 1;
    }

    /// This bucket and the one that follows it as one.
    #[must_use]
    pub fn followed_by(self, next: Self) -> Self {
        match (self.count, next.count) {
            (_, 0) => self,
            (0, _) => next,
            _ => Self {
                min: self.min.min(next.min),
                max: self.max.max(next.max),
                last: next.last,
                sum: self.sum.saturating_add(next.sum),
                count: self.count + next.count,
            },
        }
    }
}

/// A series of buckets of equal width. When time runs past the last possible one, neighbours are merged and the
/// width doubles. Recording costs O(1), and O(buckets passed) when a gauge has not changed for long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Series {
    buckets: Vec<Bucket>,
    bucket_ns: u64,
    limit: usize,
    /// The gauge's value, and since when it has not been entered.
    value: u64,
    since_ns: u64,
    /// The bucket last used, and where it ends.
    current: usize,
    current_end_ns: u64,
}

impl Series {
    /// An empty series that begins with buckets of `bucket_ns` (at least 1) and never has more than `limit` (an even
    /// number, at least 2).
    #[must_use]
    pub fn new(bucket_ns: u64, limit: usize) -> Self {
        let bucket_ns = bucket_ns.max(1);
        Self {
            buckets: Vec::new(),
            bucket_ns,
            limit: limit.max(2).next_multiple_of(2),
            value: 0,
            since_ns: 0,
            current: 0,
            current_end_ns: bucket_ns,
        }
    }

    /// The width of a bucket, in nanoseconds.
    #[must_use]
    pub fn bucket_ns(&self) -> u64 {
        self.bucket_ns
    }

    /// The buckets from time 0 on.
    #[must_use]
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// The sum over everything.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.buckets.iter().fold(0, |total, bucket| total.saturating_add(bucket.sum))
    }

    /// From `now_ns` on the gauge has `value`. Times must not go back; one that does counts as the last one.
    #[inline]
    pub fn set(&mut self, now_ns: u64, value: u64) {
        if value == self.value && !self.buckets.is_empty() {
            return;
        }
        let start_ns = self.current_end_ns - self.bucket_ns;
        if self.since_ns >= start_ns
            && (self.since_ns..self.current_end_ns).contains(&now_ns)
            && let Some(bucket) = self.buckets.get_mut(self.current)
            && bucket.count != 0
        {
            // The value up to now was seen when this bucket was entered or when it was set.
            let sum = product(self.value, now_ns - self.since_ns);
            bucket.see(value, sum);
            self.value = value;
            self.since_ns = now_ns;
            return;
        }
        self.settle(now_ns);
        self.value = value;
        let now_ns = now_ns.max(self.since_ns);
        self.bucket_at(now_ns).see(value, 0);
    }

    /// Enters the gauge's value up to `now_ns`.
    pub fn settle(&mut self, now_ns: u64) {
        let mut at_ns = self.since_ns;
        while at_ns < now_ns {
            let value = self.value;
            // Makes room before the bucket's end is asked for: merging moves it.
            self.bucket_at(at_ns);
            let until_ns = now_ns.min(self.current_end_ns);
            self.buckets[self.current].see(value, product(value, until_ns - at_ns));
            at_ns = until_ns;
        }
        self.since_ns = self.since_ns.max(now_ns);
    }

    /// `amount` happens at `now_ns`.
    pub fn count(&mut self, now_ns: u64, amount: u64) {
        self.bucket_at(now_ns).see(amount, amount);
    }

    /// `amount` has happened evenly from `from_ns` to `to_ns`; all of it at `from_ns` if there is no time between them.
    pub fn spread(&mut self, from_ns: u64, to_ns: u64, amount: u64) {
        let (mut at_ns, mut entered) = (from_ns, 0);
        loop {
            self.bucket_at(at_ns);
            let until_ns = to_ns.min(self.current_end_ns);
            // Products of times pass 64 bits; these divisions and products are the same on every target.
            let share =
                (until_ns - from_ns.min(until_ns)) as f64 / to_ns.saturating_sub(from_ns).max(1) as f64;
            let so_far = if until_ns >= to_ns { amount } else { (amount as f64 * share) as u64 };
            let part = so_far - entered;
            self.buckets[self.current].see(part, part);
            if until_ns >= to_ns {
                return;
            }
            (at_ns, entered) = (until_ns, so_far);
        }
    }

    /// The bucket of a moment, made if need be.
    fn bucket_at(&mut self, now_ns: u64) -> &mut Bucket {
        let is_current = now_ns < self.current_end_ns && now_ns >= self.current_end_ns - self.bucket_ns;
        if !is_current || self.current >= self.buckets.len() {
            self.turn_to(now_ns);
        }
        &mut self.buckets[self.current]
    }

    #[cold]
    fn turn_to(&mut self, now_ns: u64) {
        while now_ns / self.bucket_ns >= self.limit as u64 {
            self.halve();
        }
        self.current = (now_ns / self.bucket_ns) as usize;
        self.current_end_ns = (self.current as u64 + 1).saturating_mul(self.bucket_ns);
        if self.current >= self.buckets.len() {
            self.buckets.resize(self.current + 1, Bucket::default());
        }
    }

    fn halve(&mut self) {
        let pairs = self.buckets.chunks(2);
        self.buckets =
            pairs.map(|pair| pair.iter().copied().reduce(Bucket::followed_by).unwrap_or_default()).collect();
        self.bucket_ns = self.bucket_ns.saturating_mul(2);
    }
}

/// The product, or the largest number if it is larger. WebAssembly has no test for overflow of 64 bits but a multiplication of
/// 128, so that factors whose bits already say that it fits go by the plain one.
pub(super) fn product(first: u64, second: u64) -> u64 {
    if first.leading_zeros() + second.leading_zeros() >= u64::BITS {
        first * second
    } else {
        first.saturating_mul(second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Amounts at increasing times.
    fn steps() -> impl Strategy<Value = Vec<(u64, u64)>> {
        prop::collection::vec((0u64..5_000, 0u64..100), 1..300).prop_map(|steps| {
            let mut now = 0;
            let later = |(step, value)| {
                now += step;
                (now, value)
            };
            steps.into_iter().map(later).collect()
        })
    }

    proptest! {
        /// Counts: however often neighbours were merged, sum, number, smallest and largest are those of the input,
        /// and each amount lies in the bucket of its time.
        #[test]
        fn counts_lose_nothing(steps in steps(), width in 1u64..50, limit in 2usize..40) {
            let mut series = Series::new(width, limit);
            for &(now, amount) in &steps {
                series.count(now, amount);
            }
            prop_assert!(series.buckets().len() <= limit.next_multiple_of(2));
            for (index, bucket) in series.buckets().iter().enumerate() {
                let from = index as u64 * series.bucket_ns();
                let mine: Vec<u64> = steps
                    .iter()
                    .filter(|(now, _)| (from..from + series.bucket_ns()).contains(now))
                    .map(|step| step.1)
                    .collect();
                prop_assert_eq!(bucket.count, mine.len() as u64);
                prop_assert_eq!(bucket.sum, mine.iter().sum::<u64>());
                prop_assert_eq!(bucket.min, mine.iter().copied().min().unwrap_or(0));
                prop_assert_eq!(bucket.max, mine.iter().copied().max().unwrap_or(0));
                prop_assert_eq!(bucket.last, mine.last().copied().unwrap_or(0));
            }
            prop_assert_eq!(series.total(), steps.iter().map(|step| step.1).sum::<u64>());
        }

        /// Gauges: each bucket's sum is the exact integral of the value over it, and its extremes are those of the
        /// values in effect, a value that was replaced in the same instant included.
        #[test]
        fn gauges_integrate(steps in steps(), width in 1u64..50, limit in 2usize..40) {
            let mut series = Series::new(width, limit);
            for &(now, value) in &steps {
                series.set(now, value);
            }
            let end = steps.last().map_or(0, |step| step.0) + 777;
            series.settle(end);
            let mut spans = vec![(0, 0)];
            spans.extend(&steps);
            for (index, bucket) in series.buckets().iter().enumerate() {
                let from = index as u64 * series.bucket_ns();
                let to = from + series.bucket_ns();
                let (mut sum, mut max) = (0, 0);
                for (at, &(begin, value)) in spans.iter().enumerate() {
                    let until = spans.get(at + 1).map_or(end, |next| next.0);
                    let (begin_in, until_in) = (begin.max(from), until.min(to));
                    if begin_in < until_in {
                        sum += value * (until_in - begin_in);
                    }
                    if begin_in < until_in || (from..to).contains(&begin) {
                        max = max.max(value);
                    }
                }
                prop_assert_eq!(bucket.sum, sum);
                prop_assert_eq!(bucket.max, max);
            }
        }
    }

    /// Merging an empty bucket does not invent a smallest value of 0.
    #[test]
    fn an_empty_neighbour_changes_nothing() {
        let full = Bucket { min: 3, max: 9, last: 4, sum: 16, count: 3 };
        assert_eq!(full.followed_by(Bucket::default()), full);
        assert_eq!(Bucket::default().followed_by(full), full);
    }
}
