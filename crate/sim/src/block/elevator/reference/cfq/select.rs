//! The dispatch loop: select, expire, depth, forced dispatch (sections 2.7, 2.9, 2.15).

use super::order::tree;
use super::{Cfq, Decision, Kernel, QueueId, Tree, Workload};
use crate::block::IoClass;
use crate::block::elevator::reference::plain::PlainQueue;

impl Cfq {
    /// `cfq_dispatch_requests` without force: at most one request.
    pub(super) fn dispatch_one(&mut self, q: &mut PlainQueue) -> usize {
        let Some(queue) = self.select(q) else { return 0 };
        if !self.may_dispatch(q, queue) {
            return 0;
        }
        let Some(ticket) = self.expired_request(q, queue).or(self.queues[queue].next) else { return 0 };
        let context = self.owners[&ticket].0;
        self.move_to_dispatch_list(q, queue, ticket);
        self.active_context.get_or_insert(context);
        self.queues[queue].slice_dispatch += 1;
        self.queues[queue].must_dispatch = false;
        let idle = self.queues[queue].class == IoClass::Idle;
        let quota_used = !self.queues[queue].sync && self.queues[queue].slice_dispatch >= self.quota(queue);
        if self.busy_queues() > 1 && (quota_used || idle) {
            self.queues[queue].slice_end = q.now + 1;
            self.expire_active(q, false);
        }
        1
    }

    /// Async requests in one slice (section 2.3).
    fn quota(&self, queue: QueueId) -> u64 {
        let base = self.tunables.slice_async_rq;
        2 * (base + base * (7 - self.queues[queue].priority))
    }

    /// `cfq_select_queue`.
    fn select(&mut self, q: &mut PlainQueue) -> Option<QueueId> {
        let Some(active) = self.active else { return self.pick(q, None) };
        if self.kernel >= Kernel::V33 {
            if self.requests_queued() == 0 {
                return None;
            }
            if self.queues[active].wait_busy && !self.is_empty_queue(active) {
                return self.expire_and_pick(q, None);
            }
        }
        if self.slice_used(q, active) && !self.queues[active].must_dispatch {
            if self.kernel >= Kernel::V33 && self.waits_for_last_of_slice(q, active) {
                return None;
            }
            return self.unless_group_waits(q, active);
        }
        if self.kernel == Kernel::V30 && self.real_time_waits_for(active) {
            self.expire_active(q, true);
            return self.pick(q, None);
        }
        if !self.is_empty_queue(active) {
            return Some(active);
        }
        if let Some(close) = self.close_cooperator(q, active, true) {
            return self.expire_and_pick(q, Some(close));
        }
        if self.timer_pending {
            return None;
        }
        if self.kernel >= Kernel::V38 {
            self.give_up_idling_if_fast(q, active);
        }
        if self.queues[active].dispatched > 0 && self.idles_between_requests(q, active) {
            return None;
        }
        self.unless_group_waits(q, active)
    }

    /// The slice is over, but the queue is alone, and its last request may be followed by another.
    fn waits_for_last_of_slice(&self, q: &PlainQueue, active: QueueId) -> bool {
        self.busy_queues() == 1
            && self.is_empty_queue(active)
            && self.queues[active].dispatched > 0
            && self.should_idle(q, active)
    }

    /// 2.6.36 on: with `group_idle`, a queue alone in its group waits for the group's requests.
    fn unless_group_waits(&mut self, q: &mut PlainQueue, _active: QueueId) -> Option<QueueId> {
        let in_flight = self.in_flight(true) + self.in_flight(false);
        let waits = self.kernel >= Kernel::V36 && self.tunables.group_idle > 0;
        if waits && self.busy_queues() == 1 && in_flight > 0 {
            return None;
        }
        self.expire_and_pick(q, None)
    }

    fn real_time_waits_for(&self, active: QueueId) -> bool {
        let real_time = |queue: &super::CfqQueue| queue.busy && queue.class == IoClass::RealTime;
        self.queues[active].class != IoClass::RealTime && self.queues.iter().any(real_time)
    }

    fn idles_between_requests(&self, q: &PlainQueue, queue: QueueId) -> bool {
        if self.kernel >= Kernel::For33 { self.should_idle(q, queue) } else { self.queues[queue].idle_window }
    }

    /// 2.6.38: a seeky queue with an idle window whose slice is not half over has drained faster than
    /// it can be filled.
    fn give_up_idling_if_fast(&mut self, q: &PlainQueue, active: QueueId) {
        let seeky = self.is_seeky(active);
        let queue = &mut self.queues[active];
        let left = queue.slice_end.wrapping_sub(q.now);
        let gone = q.now.wrapping_sub(queue.slice_start);
        if seeky && queue.idle_window && (queue.slice_new || left > gone) {
            queue.deep = false;
            queue.idle_window = false;
        }
    }

    fn expire_and_pick(&mut self, q: &mut PlainQueue, close: Option<QueueId>) -> Option<QueueId> {
        self.expire_active(q, false);
        self.pick(q, close)
    }

    /// The new active queue: the close cooperator, or the first in line.
    fn pick(&mut self, q: &mut PlainQueue, close: Option<QueueId>) -> Option<QueueId> {
        let chosen = match close {
            Some(close) => Some(close),
            None => {
                let first = self.first_in_line(q);
                if let Some(first) = first.filter(|first| !self.queues[*first].coop_preempt) {
                    self.clear_coop_jump(first);
                }
                first
            }
        };
        if let Some(chosen) = chosen {
            self.queues[chosen].coop_preempt = false;
            self.activate(q, chosen);
        }
        self.active = chosen;
        chosen
    }

    /// Up to 2.6.32 the flag means "has jumped the queue": forgotten when its turn comes anyway.
    fn clear_coop_jump(&mut self, queue: QueueId) {
        if self.kernel < Kernel::For33 {
            self.queues[queue].coop = false;
        }
    }

    fn first_in_line(&mut self, q: &PlainQueue) -> Option<QueueId> {
        if self.kernel < Kernel::For33 {
            return self.in_tree(Tree::One).first().copied();
        }
        self.choose_workload(q);
        if self.kernel >= Kernel::V33 && self.requests_queued() == 0 {
            return None;
        }
        self.in_tree(tree(self.serving_priority, self.serving)).first().copied()
    }

    /// `__cfq_set_active_queue` for a queue.
    fn activate(&mut self, q: &mut PlainQueue, queue: QueueId) {
        let served = self.served_as(queue);
        let state = &mut self.queues[queue];
        state.slice_start = 0;
        state.slice_end = 0;
        state.slice_dispatch = 0;
        state.waiting = false;
        state.must_dispatch = false;
        state.must_alloc_slice = false;
        state.fifo_checked = false;
        state.slice_new = true;
        self.delete_timer(q);
        self.active = Some(queue);
        self.note(q, Decision::Select(served));
    }

    pub(super) fn expire_active(&mut self, q: &mut PlainQueue, accounting: bool) {
        if let Some(active) = self.active {
            self.expire(q, active, accounting);
        }
    }

    /// `__cfq_slice_expired`.
    pub(super) fn expire(&mut self, q: &mut PlainQueue, queue: QueueId, accounting: bool) {
        self.note(q, Decision::Expire(accounting));
        if self.queues[queue].waiting {
            self.delete_timer(q);
        }
        self.queues[queue].waiting = false;
        self.queues[queue].wait_busy = false;
        if self.kernel >= Kernel::V33 && self.queues[queue].coop && self.is_seeky(queue) {
            self.queues[queue].split_coop = true;
        }
        if accounting && !self.queues[queue].slice_new {
            self.queues[queue].residual = self.queues[queue].slice_end as i64 - q.now as i64;
        } else if accounting && self.kernel >= Kernel::V38 {
            self.queues[queue].residual = self.scaled_slice(queue) as i64;
        }
        if self.kernel >= Kernel::V33 {
            let left = self.workload_expires - q.now as i64;
            self.saved = (left > 0).then_some((left as u64, self.serving, self.serving_priority));
            if self.queues[queue].busy && self.is_empty_queue(queue) {
                self.become_idle(queue);
            }
        }
        self.resort(q, queue);
        if self.active == Some(queue) {
            self.active = None;
        }
        self.active_context = None;
    }

    /// `cfq_forced_dispatch`: everything goes, nobody is active afterwards.
    pub(super) fn forced_dispatch(&mut self, q: &mut PlainQueue) -> usize {
        let mut moved = 0;
        if self.kernel >= Kernel::V34 {
            self.expire_active(q, false);
        }
        while let Some(queue) = self.first_to_force() {
            if self.kernel >= Kernel::V34 {
                self.activate(q, queue);
            }
            while let Some(next) = self.queues[queue].next {
                self.move_to_dispatch_list(q, queue, next);
                moved += 1;
            }
            if self.kernel >= Kernel::V33 {
                self.expire(q, queue, false);
            }
        }
        self.expire_active(q, false);
        moved
    }

    fn first_to_force(&self) -> Option<QueueId> {
        if self.kernel >= Kernel::V33 && self.requests_queued() == 0 {
            return None;
        }
        self.trees.iter().find_map(|(_, queues)| queues.first().copied())
    }

    /// `cfq_may_dispatch`: section 2.9.
    pub(super) fn may_dispatch(&self, q: &PlainQueue, queue: QueueId) -> bool {
        let state = &self.queues[queue];
        if self.kernel >= Kernel::V32Rc1 && self.idles_between_requests(q, queue) && self.async_at_work(q) {
            return false;
        }
        if !state.sync && self.in_flight(true) > 0 {
            return false;
        }
        let idle = state.class == IoClass::Idle;
        let quantum = self.tunables.quantum;
        let half = (quantum / 2).max(1);
        let mut limit = match (idle, self.kernel >= Kernel::V34) {
            (true, _) => 1,
            (false, true) => half,
            (false, false) => quantum,
        };
        if state.dispatched >= limit {
            let others = self.busy_queues() > 1;
            let soon = self.kernel < Kernel::V34 || self.slice_used_soon(q, queue);
            if idle || (others && soon) {
                return false;
            }
            limit = match (others, self.kernel >= Kernel::V33) {
                (true, _) => quantum,
                (false, true) => u64::MAX,
                (false, false) => 4 * limit,
            };
        }
        if !state.sync && self.tunables.low_latency {
            limit = limit.min(self.async_depth(q, queue));
        }
        state.dispatched < limit
    }

    /// Async requests the driver has seen (to 2.6.33) or that are dispatched (2.6.34 on).
    fn async_at_work(&self, q: &PlainQueue) -> bool {
        if self.kernel >= Kernel::V34 {
            self.in_flight(false) > 0
        } else {
            self.in_driver.iter().any(|ticket| !q.requests[ticket].is_sync())
        }
    }

    fn slice_used_soon(&self, q: &PlainQueue, queue: QueueId) -> bool {
        let state = &self.queues[queue];
        state.slice_new || q.now + self.tunables.slice_idle * state.dispatched > state.slice_end
    }

    /// Section 2.9 f, and 2.21 for the ramp-up formula.
    fn async_depth(&self, q: &PlainQueue, queue: QueueId) -> u64 {
        let elapsed = (q.now as i64 - self.last_sync_end) as u64;
        let depth = elapsed / self.tunables.slice[1];
        let state = &self.queues[queue];
        if self.patches.async_ramp_up {
            let whole = self.priority_slice(state.sync, state.priority);
            let left = if state.slice_new { whole } else { state.slice_end.saturating_sub(q.now) };
            return (depth + left.div_ceil(self.tunables.slice_idle.max(1))).max(1);
        }
        if depth == 0 && state.dispatched == 0 { 1 } else { depth }
    }

    /// Section 2.15, from for-2.6.33 on.
    pub(super) fn should_idle(&self, q: &PlainQueue, queue: QueueId) -> bool {
        let state = &self.queues[queue];
        if self.kernel >= Kernel::V36 && self.tunables.slice_idle == 0 {
            return false;
        }
        if state.class == IoClass::Idle {
            return false;
        }
        let fast = self.kernel >= Kernel::V33 && q.device.non_rotational && self.hw_tag;
        if state.idle_window && !fast {
            return true;
        }
        let members = self.in_tree(state.tree.unwrap_or_else(|| self.tree_of(queue)));
        if self.kernel >= Kernel::V33 {
            return members.len() == 1 && state.sync;
        }
        members.is_empty() || members == [queue]
    }

    pub(super) fn serves_sync_tree(&self) -> bool {
        self.serving == Workload::Sync
    }
}
