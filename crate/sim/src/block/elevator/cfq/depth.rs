//! How many requests a queue may have in the device.
//!
//! *Follows:* model/block-layer.md, section 2.9; Linux `cfq_may_dispatch`.

use super::Cfq;
use super::policy::{AsyncDepth, DepthRule, DrainAsync};
use super::queue::QueueId;
use crate::block::elevator::ElevatorIo;

impl Cfq {
    /// Whether the selected queue may dispatch now.
    pub(super) fn may_dispatch(&self, io: &ElevatorIo<'_>, id: QueueId) -> bool {
        let queue = self.queue(id);
        if queue.is_empty() {
            return false;
        }
        let async_in_device = match self.policy.drain_async {
            DrainAsync::Never => 0,
            DrainAsync::InDriver => self.in_driver[0],
            DrainAsync::InFlight => self.in_flight[0],
        };
        if async_in_device > 0 && self.worth_draining_for(io, id) {
            return false;
        }
        if !queue.is_sync() && self.in_flight[1] > 0 {
            return false;
        }
        let dispatched = u64::from(queue.dispatched);
        let Some(mut limit) = self.depth_limit(io.now_jiffies as i64, id, dispatched) else { return false };
        if !queue.is_sync()
            && let Some(depth) = self.async_depth(io.now_jiffies as i64, id)
        {
            limit = limit.min(depth);
        }
        dispatched < limit
    }

    /// Rule (a) asks for the idle window alone in the first generation, for should-idle later.
    fn worth_draining_for(&self, io: &ElevatorIo<'_>, id: QueueId) -> bool {
        if self.policy.tree_idle == super::TreeIdle::Never {
            self.queue(id).idle_window
        } else {
            self.should_idle(io, id)
        }
    }

    /// Rules (c) to (e): the limit, or `None` when the queue has enough.
    #[inline]
    fn depth_limit(&self, now: i64, id: QueueId, dispatched: u64) -> Option<u64> {
        let queue = self.queue(id);
        let quantum = self.tunables.quantum;
        let first = match self.policy.depth {
            _ if queue.is_idle_class() => 1,
            DepthRule::QuantumTimesFour | DepthRule::QuantumUnlimited => quantum,
            DepthRule::HalfQuantum => (quantum / 2).max(1),
        };
        if dispatched < first {
            return Some(first);
        }
        if queue.is_idle_class() {
            return None;
        }
        let alone = self.busy_queues <= 1;
        match self.policy.depth {
            DepthRule::QuantumTimesFour => alone.then_some(first * 4),
            DepthRule::QuantumUnlimited => alone.then_some(u64::MAX),
            DepthRule::HalfQuantum if alone => Some(u64::MAX),
            DepthRule::HalfQuantum => (!self.slice_used_soon(now, id)).then_some(quantum),
        }
    }

    /// Whether what the queue has in the device will take the rest of its slice.
    fn slice_used_soon(&self, now: i64, id: QueueId) -> bool {
        let queue = self.queue(id);
        let pending = self.tunables.slice_idle_jiffies as i64 * i64::from(queue.dispatched);
        queue.slice_new || now + pending > queue.slice_end
    }

    /// Rule (f): async requests ramp up with the time since sync I/O suffered.
    pub(super) fn async_depth(&self, now: i64, id: QueueId) -> Option<u64> {
        if !self.tunables.low_latency {
            return None;
        }
        let slice_sync = (self.tunables.slice_jiffies[1] as i64).max(1);
        let since = |reference: i64| ((now - reference) / slice_sync).max(0) as u64;
        let depth = match self.policy.async_depth {
            AsyncDepth::Unlimited => return None,
            AsyncDepth::SinceLastSync => since(self.last_sync_end),
            AsyncDepth::SinceDelayedSync => since(self.last_delayed_sync),
            AsyncDepth::RampUp => since(self.last_sync_end) + self.rest_of_slice_in_idle_windows(now, id),
        };
        Some(if depth == 0 && self.queue(id).dispatched == 0 { 1 } else { depth })
    }

    /// Section 0.3: while a slice is new its end is not known; all of it is left.
    fn rest_of_slice_in_idle_windows(&self, now: i64, id: QueueId) -> u64 {
        let queue = self.queue(id);
        let left = if queue.slice_new {
            self.priority_slice(false, queue.priority)
        } else {
            (queue.slice_end - now).max(0)
        };
        (left as u64).div_ceil(self.tunables.slice_idle_jiffies.max(1))
    }
}
