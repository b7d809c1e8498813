//! Who may have a request: limits, congestion, batching.
//!
//! *Models:* the two pools (sync, async), the full and congested flags, batchers.
//! *Does not model:* failing allocations for want of memory.
//! *Follows:* model/block-layer.md, section 1.2; Linux 2.6.35 `get_request`, `freed_request`.

use super::bio::Sync;

/// Requests a batcher may allocate beyond the limit.
const BATCH_REQUESTS: u32 = 32;

/// The request pools of one queue.
#[derive(Clone, Debug)]
pub(super) struct Allocation {
    nr_requests: u32,
    /// How long a batch lasts: HZ/50.
    batch_jiffies: u64,
    count: [u32; 2],
    full: [bool; 2],
    congested: [bool; 2],
    /// Tasks asleep for a request, per direction.
    waiting: [u32; 2],
    /// Per io context.
    batchers: Vec<Batcher>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Batcher {
    credit: u32,
    since_jiffies: u64,
}

impl Allocation {
    pub(super) fn new(nr_requests: u32, hz: u64) -> Self {
        Self {
            nr_requests,
            batch_jiffies: hz / 50,
            count: [0; 2],
            full: [false; 2],
            congested: [false; 2],
            waiting: [0; 2],
            batchers: Vec::new(),
        }
    }

    /// The count at which an allocation makes the direction congested.
    fn congestion_on(&self) -> u32 {
        (self.nr_requests - self.nr_requests / 8 + 1).min(self.nr_requests)
    }

    /// The count below which the direction is no longer congested.
    fn congestion_off(&self) -> u32 {
        (self.nr_requests - self.nr_requests / 8).saturating_sub(self.nr_requests / 16 + 1).max(1)
    }

    /// Takes a request for `io_context`, or says no. `must`: the elevator is waiting for it.
    pub(super) fn allocate(&mut self, sync: Sync, io_context: u32, now_jiffies: u64, must: bool) -> bool {
        let d = sync.index();
        let next = self.count[d] + 1;
        let at_limit = next >= self.nr_requests;
        if next >= self.congestion_on() {
            if at_limit {
                if !self.full[d] {
                    self.start_batch(io_context, now_jiffies);
                    self.full[d] = true;
                } else if !must && !self.is_batcher(io_context, now_jiffies) {
                    return false;
                }
            }
            self.congested[d] = true;
        }
        if self.count[d] >= 3 * self.nr_requests / 2 {
            return false;
        }
        self.count[d] = next;
        if at_limit && self.is_batcher(io_context, now_jiffies) {
            let batcher = self.batcher(io_context);
            batcher.credit = batcher.credit.saturating_sub(1);
        }
        true
    }

    /// Gives a request back. Whether to wake one waiter of its direction.
    pub(super) fn free(&mut self, sync: Sync) -> bool {
        let d = sync.index();
        self.count[d] -= 1;
        if self.count[d] < self.congestion_off() {
            self.congested[d] = false;
        }
        if self.count[d] + 1 > self.nr_requests {
            return false;
        }
        self.full[d] = false;
        let wake = self.waiting[d] > 0;
        self.waiting[d] -= u32::from(wake);
        wake
    }

    /// A task goes to sleep for a request.
    pub(super) fn wait(&mut self, sync: Sync) {
        self.waiting[sync.index()] += 1;
    }

    /// A task was woken for a request, or filled the pool: it becomes a batcher, unless it is one.
    pub(super) fn start_batch(&mut self, io_context: u32, now_jiffies: u64) {
        if self.is_batcher(io_context, now_jiffies) {
            return;
        }
        *self.batcher(io_context) = Batcher { credit: BATCH_REQUESTS, since_jiffies: now_jiffies };
    }

    fn is_batcher(&mut self, io_context: u32, now_jiffies: u64) -> bool {
        let batch_jiffies = self.batch_jiffies;
        let batcher = self.batcher(io_context);
        batcher.credit == BATCH_REQUESTS
            || (batcher.credit > 0 && now_jiffies < batcher.since_jiffies + batch_jiffies)
    }

    fn batcher(&mut self, io_context: u32) -> &mut Batcher {
        let index = io_context as usize;
        if self.batchers.len() <= index {
            self.batchers.resize(index + 1, Batcher::default());
        }
        &mut self.batchers[index]
    }

    pub(super) fn is_congested(&self, sync: Sync) -> bool {
        self.congested[sync.index()]
    }

    /// Whether giving one request back leaves fewer than the threshold at which congestion ends (docs/model/reclaim.md,
    /// section 5.1, R5.4).
    pub(super) fn is_below_congestion(&self, sync: Sync) -> bool {
        self.count[sync.index()] <= self.congestion_off()
    }

    pub(super) fn allocated(&self) -> u32 {
        self.count[0] + self.count[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(pool: &mut Allocation, io_context: u32, requests: u32) -> u32 {
        (0..requests).filter(|_| pool.allocate(Sync::Sync, io_context, 1000, false)).count() as u32
    }

    /// Section 10, test 1: thresholds for 128 and for 4 requests.
    #[test]
    fn thresholds() {
        let pool = Allocation::new(128, 1000);
        assert_eq!((pool.congestion_on(), pool.congestion_off()), (113, 103));
        let pool = Allocation::new(4, 1000);
        assert_eq!((pool.congestion_on(), pool.congestion_off()), (4, 3));
    }

    /// Section 1.2, test vectors: the 113th allocation sets congested, and the flag clears when the
    /// count drops to 102.
    #[test]
    fn congestion_has_hysteresis() {
        let mut pool = Allocation::new(128, 1000);
        assert_eq!(fill(&mut pool, 1, 112), 112);
        assert!(!pool.is_congested(Sync::Sync));
        assert_eq!(fill(&mut pool, 1, 1), 1);
        assert!(pool.is_congested(Sync::Sync));
        for _ in 0..10 {
            pool.free(Sync::Sync);
        }
        assert!(pool.is_congested(Sync::Sync), "103 left");
        pool.free(Sync::Sync);
        assert!(!pool.is_congested(Sync::Sync), "102 left");
        assert!(!pool.is_congested(Sync::Async), "directions are separate");
    }

    /// docs/model/reclaim.md, A12 and R5.4: on at 113, off below 103; each request given back that leaves fewer wakes sleepers, also
    /// where nothing was congested.
    #[test]
    fn a12_every_request_given_back_below_the_threshold_counts() {
        let mut pool = Allocation::new(128, 1000);
        fill(&mut pool, 1, 112);
        assert!(!pool.is_congested(Sync::Sync), "112 taken");
        let counts: Vec<bool> = (0..112)
            .map(|_| {
                let counts = pool.is_below_congestion(Sync::Sync);
                pool.free(Sync::Sync);
                counts
            })
            .collect();
        let first = counts.iter().position(|&counts| counts).expect("some");
        assert_eq!(112 - first, 103, "the one that leaves 102");
        assert!(counts[first..].iter().all(|&counts| counts));
    }

    /// Section 1.2, rules 2 and 3: the 128th allocation makes its caller a batcher, who may take 32
    /// in all; others are refused.
    #[test]
    fn a_batcher_fills_the_pool_beyond_its_limit() {
        let mut pool = Allocation::new(128, 1000);
        assert_eq!(fill(&mut pool, 1, 200), 127 + BATCH_REQUESTS);
        assert_eq!(fill(&mut pool, 2, 1), 0, "not a batcher");
        assert!(pool.allocate(Sync::Sync, 2, 1000, true), "the elevator waits for this one");
    }

    /// Section 1.2, rule 4: a batch lasts 20 ms, but its first request may always be taken.
    #[test]
    fn a_batch_expires() {
        let mut pool = Allocation::new(128, 1000);
        fill(&mut pool, 1, 130);
        assert!(!pool.allocate(Sync::Sync, 1, 1020, false), "20 ms later");
        pool.start_batch(1, 1020);
        assert!(pool.allocate(Sync::Sync, 1, 2000, false), "full credit never expires");
    }

    /// Section 1.2, rules 2 and 6: once the pool has had room again, whoever fills it next becomes the batcher.
    #[test]
    fn a_pool_fills_more_than_once() {
        let mut pool = Allocation::new(128, 1000);
        fill(&mut pool, 1, 128);
        (0..10).for_each(|_| _ = pool.free(Sync::Sync));
        assert_eq!(fill(&mut pool, 2, 20), 20, "10 up to the limit, and 10 of its batch");
    }

    /// Section 1.2, rule 3: nobody gets more than one and a half times the limit.
    #[test]
    fn hard_cap() {
        let mut pool = Allocation::new(128, 1000);
        for io_context in 0..10 {
            pool.start_batch(io_context, 1000);
            fill(&mut pool, io_context, 40);
        }
        assert_eq!(pool.allocated(), 192);
    }

    /// Section 1.2, rule 6: a waiter is woken when the count falls below the limit, one per free.
    #[test]
    fn freeing_wakes_one_waiter() {
        let mut pool = Allocation::new(128, 1000);
        fill(&mut pool, 1, 200);
        pool.wait(Sync::Sync);
        pool.wait(Sync::Sync);
        let frees_until_wake = (1..).find(|_| pool.free(Sync::Sync)).unwrap();
        assert_eq!(frees_until_wake, 32, "159 allocated, woken when 127 are left");
        assert!(pool.free(Sync::Sync));
        assert!(!pool.free(Sync::Sync));
    }
}
