//! The dispatch loop: keep the active queue, or find the next.
//!
//! *Follows:* model/block-layer.md, sections 2.7 and 2.15; Linux 2.6.35 `cfq_select_queue`,
//! `cfq_dispatch_requests`.

use super::Cfq;
use super::policy::ServiceTrees;
use super::queue::{QueueId, YieldTarget};
use crate::block::IoClass;
use crate::block::elevator::ElevatorIo;

/// What selection decides about the active queue.
enum Verdict {
    /// Serve it.
    Keep,
    /// Serve nothing.
    Wait,
    /// Its turn is over.
    Expire {
        /// What is left of its slice counts.
        accounted: bool,
        /// The queue that is next, if that is decided.
        successor: Option<QueueId>,
    },
}

impl Cfq {
    /// The queue to serve, made active; `None` to serve nothing.
    pub(super) fn select_queue(&mut self, io: &mut ElevatorIo<'_>) -> Option<QueueId> {
        let mut successor = None;
        if let Some(active) = self.active {
            match self.judge(io, active) {
                Verdict::Keep => return Some(active),
                Verdict::Wait => return None,
                Verdict::Expire { accounted, successor: next } => {
                    self.expire(io, active, accounted);
                    successor = next;
                }
            }
        }
        let next = match successor {
            Some(next) => Some(next),
            None => self.next_queue(io),
        };
        self.note_cooperation_over(next, successor.is_some());
        if let Some(next) = next {
            self.activate(io, next);
        }
        next
    }

    fn judge(&mut self, io: &mut ElevatorIo<'_>, id: QueueId) -> Verdict {
        const EXPIRE: Verdict = Verdict::Expire { accounted: false, successor: None };
        let now = io.now_jiffies as i64;
        if self.policy.empty_queue_stays && self.held == 0 {
            return Verdict::Wait;
        }
        let is_empty = self.queue(id).is_empty();
        if let Some(target) = self.queue(id).yields_to.filter(|_| is_empty) {
            return self.judge_yielding(id, target);
        }
        if self.queue(id).waits_busy && !is_empty {
            return EXPIRE;
        }
        if self.queue(id).slice_used(now) && !self.queue(id).must_dispatch {
            return if self.waits_for_lone_queue(io, id) || self.waits_for_group() {
                Verdict::Wait
            } else {
                EXPIRE
            };
        }
        if self.policy.real_time_expires_active && !self.queue(id).is_real_time() && self.real_time_is_busy()
        {
            return Verdict::Expire { accounted: true, successor: None };
        }
        if !is_empty {
            return Verdict::Keep;
        }
        if let Some(close) = self.close_cooperator(id, false) {
            self.set_up_merge(id, close);
            return Verdict::Expire { accounted: false, successor: Some(close) };
        }
        if self.timer_armed {
            return Verdict::Wait;
        }
        self.stop_idling_if_device_is_fast(id, now);
        if self.queue(id).dispatched > 0 && self.should_idle(io, id) {
            return Verdict::Wait;
        }
        if self.waits_for_group() { Verdict::Wait } else { EXPIRE }
    }

    /// Section 2.20 (unverified): the turn goes to the process that is waited for, once it has a
    /// request, or to whoever is due once nothing of the yielding queue is left in the device.
    fn judge_yielding(&self, id: QueueId, target: YieldTarget) -> Verdict {
        let sync = self.context(target.io_context).and_then(|context| context.sync_queue);
        let shared = self.existing_async_queue(target.class, target.priority);
        let successor =
            [sync, shared].into_iter().flatten().find(|&queue| queue != id && !self.queue(queue).is_empty());
        if successor.is_none() && self.queue(id).dispatched > 0 {
            return Verdict::Wait;
        }
        Verdict::Expire { accounted: true, successor }
    }

    /// Section 2.15, G3: a used-up slice is no reason to leave a lone queue whose requests are in
    /// the device and which is worth idling for.
    fn waits_for_lone_queue(&self, io: &ElevatorIo<'_>, id: QueueId) -> bool {
        let queue = self.queue(id);
        self.policy.empty_queue_stays
            && self.group_queues() == 1
            && queue.is_empty()
            && queue.dispatched > 0
            && self.should_idle(io, id)
    }

    /// Section 2.16: with `group_idle`, a lone queue's requests in the device are waited for.
    fn waits_for_group(&self) -> bool {
        self.policy.has_group_idle
            && self.tunables.group_idle_jiffies > 0
            && self.group_queues() == 1
            && self.in_flight[0] + self.in_flight[1] > 0
    }

    fn real_time_is_busy(&self) -> bool {
        self.trees.iter().any(|id| self.queue(id).is_real_time())
    }

    /// The queue that is due.
    fn next_queue(&mut self, io: &mut ElevatorIo<'_>) -> Option<QueueId> {
        if self.policy.trees == ServiceTrees::ByWorkload {
            self.choose_workload(io);
            if self.held == 0 {
                return None;
            }
        }
        let tree = match self.serving_class {
            IoClass::Idle => self.trees.tree(IoClass::Idle, self.serving_workload),
            class => self.trees.tree(class, self.serving_workload),
        };
        self.trees.first(tree)
    }

    /// Dispatches one request of the selected queue (section 2.7).
    pub(super) fn dispatch_next(&mut self, io: &mut ElevatorIo<'_>, id: QueueId) {
        let expired = self.expired_in_fifo(io, id);
        let Some(request) = expired.or(self.queue(id).next) else { return };
        let io_context = io.requests[request].submitter.io_context;
        self.dispatch_request(io, request);
        if self.active_context.is_none() {
            self.active_context = Some(io_context);
        }
        let quota = self.async_quota(self.queue(id).priority);
        let others_busy = self.busy_queues > 1;
        let queue = self.queue_mut(id);
        queue.slice_dispatched += 1;
        queue.must_dispatch = false;
        let quota_used = !queue.is_sync() && queue.slice_dispatched >= quota;
        if others_busy && (quota_used || queue.is_idle_class()) {
            queue.slice_end = io.now_jiffies as i64 + 1;
            self.expire_active(io, false);
        }
    }

    /// Section 2.3: requests an async queue may send in one turn.
    fn async_quota(&self, priority: u8) -> u64 {
        let base = self.tunables.slice_async_rq;
        2 * (base + base * (super::PRIORITIES as u64 - 1 - u64::from(priority)))
    }

    /// A barrier: everything goes, in the order of the trees (section 1.8).
    pub(super) fn dispatch_everything(&mut self, io: &mut ElevatorIo<'_>) -> usize {
        if self.policy.forced_dispatch_expires_first {
            self.expire_active(io, false);
        }
        let mut dispatched = 0;
        while self.held > 0 {
            let Some(id) = self.trees.any() else { break };
            if self.policy.forced_dispatch_expires_first {
                self.activate(io, id);
            }
            while let Some(next) = self.queue(id).next {
                self.dispatch_request(io, next);
                dispatched += 1;
            }
            if self.policy.empty_queue_stays {
                self.expire(io, id, false);
            }
        }
        if !self.policy.forced_dispatch_expires_first {
            self.expire_active(io, false);
        }
        dispatched
    }
}
