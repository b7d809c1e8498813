//! Arrivals, completions and the idle timer (sections 2.8, 2.10, 2.11, 2.13, 2.15).

use super::{Cfq, ContextId, Decision, Kernel, Mean, QueueId, Workload, is_meta};
use crate::block::elevator::reference::driver::Ticket;
use crate::block::elevator::reference::plain::PlainQueue;
use crate::block::{BioFlags, IoClass, PAGE_SECTORS};

/// 4 MiB in sectors: further is seeky (to 2.6.33), nearer is close.
const FAR_SECTORS: u64 = 8 * 1024;
/// From 2.6.34: a step further than this counts as a seek.
const SEEK_SECTORS: u64 = 800;
/// From 2.6.34, without rotation: a request shorter than this counts as a seek.
const SHORT_SECTORS: u64 = 64;

pub(super) fn add_think_time(mean: &mut Mean, jiffies: u64) {
    mean.samples = (7 * mean.samples + 256) / 8;
    mean.total = (7 * mean.total + 256 * jiffies) / 8;
    mean.mean = (mean.total + 128) / mean.samples;
}

pub(super) fn add_seek(mean: &mut Mean, distance: u64) {
    let cap = if mean.samples <= 60 { 2 * 1024 * 1024 } else { 2 * 1024 * 64 };
    let distance = distance.min(mean.mean * 4 + cap);
    mean.samples = (7 * mean.samples + 256) / 8;
    mean.total = (7 * mean.total + 256 * distance) / 8;
    mean.mean = (mean.total + mean.samples / 2) / mean.samples;
}

impl Cfq {
    /// `cfq_rq_enqueued`.
    pub(super) fn enqueued(&mut self, q: &mut PlainQueue, queue: QueueId, ticket: Ticket) {
        let context = self.owners[&ticket].0;
        self.update_think_time(q, context);
        self.update_seek(q, queue, context, ticket);
        self.update_idle_window(q, queue, context);
        let end = q.requests[&ticket].end();
        self.contexts[context].last_end = end;
        self.queues[queue].last_end = end;
        if self.active == Some(queue) {
            if self.queues[queue].waiting {
                self.awaited(q, queue, ticket);
            }
        } else if self.should_preempt(q, queue, ticket) {
            self.preempt(q, queue);
            q.effects.run_queue = true;
        }
    }

    /// The request that CFQ has been idling for.
    fn awaited(&mut self, q: &mut PlainQueue, queue: QueueId, ticket: Ticket) {
        let large = q.requests[&ticket].sectors > u64::from(PAGE_SECTORS);
        if large || self.busy_queues() > 1 {
            self.delete_timer(q);
            q.effects.run_queue = true;
            if self.kernel >= Kernel::V33 {
                self.queues[queue].waiting = false;
            } else {
                self.late_must_dispatch = Some(queue);
            }
        } else {
            self.queues[queue].must_dispatch = true;
        }
    }

    fn update_think_time(&mut self, q: &PlainQueue, context: ContextId) {
        let longest = 2 * self.tunables.slice_idle;
        let context = &mut self.contexts[context];
        add_think_time(&mut context.think, (q.now - context.last_end_jiffies).min(longest));
    }

    fn update_seek(&mut self, q: &PlainQueue, queue: QueueId, context: ContextId, ticket: Ticket) {
        let request = &q.requests[&ticket];
        let per_task = self.kernel < Kernel::For33;
        let last = if per_task { self.contexts[context].last_end } else { self.queues[queue].last_end };
        let distance = if last == 0 { 0 } else { last.abs_diff(request.sector) };
        if per_task {
            add_seek(&mut self.contexts[context].seek, distance);
        } else if self.kernel < Kernel::V34 {
            add_seek(&mut self.queues[queue].seek, distance);
            if self.kernel == Kernel::For33 && self.queues[queue].coop {
                let since = self.queues[queue].seeky_since;
                self.queues[queue].seeky_since =
                    if self.is_seeky(queue) { since.or(Some(q.now)) } else { None };
            }
        } else {
            let seek = if q.device.non_rotational {
                request.sectors < SHORT_SECTORS
            } else {
                distance > SEEK_SECTORS
            };
            let queue = &mut self.queues[queue];
            queue.seek_history = queue.seek_history << 1 | u32::from(seek);
        }
    }

    /// Seeky by its own history (from for-2.6.33 on).
    pub(super) fn is_seeky(&self, queue: QueueId) -> bool {
        let queue = &self.queues[queue];
        if self.kernel >= Kernel::V34 {
            queue.seek_history.count_ones() > 4
        } else {
            queue.seek.mean > FAR_SECTORS
        }
    }

    /// `cfq_update_idle_window`.
    fn update_idle_window(&mut self, q: &PlainQueue, queue: QueueId, context: ContextId) {
        if !self.queues[queue].sync || self.queues[queue].class == IoClass::Idle {
            return;
        }
        if self.kernel >= Kernel::V33 && self.queues[queue].fifo.len() >= 4 {
            self.queues[queue].deep = true;
        }
        let task = &self.contexts[context];
        let off = self.next_is_noidle(q, queue)
            || !task.alive
            || self.tunables.slice_idle == 0
            || self.seeks_too_much(queue, context);
        if off {
            self.queues[queue].idle_window = false;
        } else if task.think.is_valid() {
            let patient = if self.is_seeky_task_of_2_6_32(context) {
                self.tunables.immediate()
            } else {
                self.tunables.slice_idle
            };
            self.queues[queue].idle_window = task.think.mean <= patient;
        }
    }

    fn next_is_noidle(&self, q: &PlainQueue, queue: QueueId) -> bool {
        let rule = self.kernel >= Kernel::V37 || self.patches.noidle_leaves_sync_tree;
        let next = self.queues[queue].next;
        rule && next.is_some_and(|next| q.requests[&next].flags.has(BioFlags::NOIDLE))
    }

    fn seeks_too_much(&self, queue: QueueId, context: ContextId) -> bool {
        if self.kernel < Kernel::For33 {
            let seeky = self.contexts[context].seek.mean > FAR_SECTORS;
            let ignored = self.kernel >= Kernel::V32Rc3 && self.tunables.low_latency;
            return !ignored && self.hw_tag && seeky;
        }
        let valid = self.kernel >= Kernel::V34 || self.queues[queue].seek.is_valid();
        let deep = self.kernel >= Kernel::V33 && self.queues[queue].deep;
        !deep && valid && self.is_seeky(queue)
    }

    fn is_seeky_task_of_2_6_32(&self, context: ContextId) -> bool {
        let seek = &self.contexts[context].seek;
        let rule = self.kernel >= Kernel::V32Rc5 && self.kernel < Kernel::For33;
        rule && seek.is_valid() && seek.mean > FAR_SECTORS
    }

    /// `cfq_should_preempt`: section 2.11.
    fn should_preempt(&mut self, q: &PlainQueue, new: QueueId, ticket: Ticket) -> bool {
        let Some(active) = self.active else { return false };
        let class = |queue: QueueId| self.queues[queue].class;
        let groups = self.kernel >= Kernel::V33;
        if !groups && self.slice_used(q, active) {
            return true;
        }
        if class(new) == IoClass::Idle {
            return false;
        }
        if class(active) == IoClass::Idle {
            return true;
        }
        if groups && class(active) == IoClass::RealTime && class(new) != IoClass::RealTime {
            return false;
        }
        let same_tree = self.queues[new].tree == self.queues[active].tree;
        if self.kernel == Kernel::For33 && self.serving == Workload::SyncNoidle && same_tree {
            return true;
        }
        if q.requests[&ticket].is_sync() && !self.queues[active].sync {
            return true;
        }
        if groups && (self.slice_used(q, active) || self.takes_noidle_turn(new, active)) {
            return true;
        }
        let meta_pending = self.queues[active].fifo.iter().any(|held| is_meta(q, *held));
        if is_meta(q, ticket) && !meta_pending {
            return self.kernel != Kernel::V32Rc5;
        }
        if class(new) == IoClass::RealTime && class(active) != IoClass::RealTime {
            return true;
        }
        if self.kernel >= Kernel::V38 && self.is_empty_queue(active) && !self.should_idle(q, active) {
            return true;
        }
        if self.active_context.is_none() || !self.queues[active].waiting {
            return false;
        }
        self.is_close(q, active, ticket, true) && self.may_jump(new)
    }

    /// 2.6.33 on, section 2.11 row 9.
    fn takes_noidle_turn(&self, new: QueueId, active: QueueId) -> bool {
        let members = self.queues[new].tree.map_or(0, |tree| self.in_tree(tree).len());
        self.serving == Workload::SyncNoidle
            && self.workload_of(new) == Workload::SyncNoidle
            && members == 2
            && self.is_empty_queue(active)
    }

    /// 2.6.32 from rc7 on: a queue jumps once, then waits for its turn.
    fn may_jump(&mut self, new: QueueId) -> bool {
        if self.kernel != Kernel::V32 {
            return true;
        }
        if self.queues[new].coop && self.busy_queues() != 1 {
            return false;
        }
        self.queues[new].coop_preempt = true;
        self.queues[new].coop = true;
        true
    }

    /// Whether a request is close to the head, by the active queue's standards.
    pub(super) fn is_close(&self, q: &PlainQueue, active: QueueId, ticket: Ticket, preempt: bool) -> bool {
        let distance = self.last_position.abs_diff(q.requests[&ticket].sector);
        let seek = match (self.kernel, self.active_context) {
            (kernel, _) if kernel >= Kernel::V34 => return distance <= FAR_SECTORS,
            (kernel, _) if kernel >= Kernel::For33 => self.queues[active].seek,
            (_, Some(context)) => self.contexts[context].seek,
            (_, None) => return false,
        };
        let mut near = if seek.is_valid() { seek.mean } else { FAR_SECTORS };
        if self.kernel == Kernel::V33 && !preempt {
            near = near.min(FAR_SECTORS);
        }
        distance <= near
    }

    /// `cfq_preempt_queue`.
    fn preempt(&mut self, q: &mut PlainQueue, new: QueueId) {
        self.note(q, Decision::Preempt);
        let old = self.active.map(|old| self.workload_of(old));
        self.expire_active(q, true);
        if self.kernel >= Kernel::V38 && old != Some(self.workload_of(new)) {
            self.saved = None;
        }
        self.enter_tree(q, new, true);
        self.queues[new].slice_end = 0;
        self.queues[new].slice_new = true;
    }

    /// `cfq_completed_request`.
    pub(super) fn complete(&mut self, q: &mut PlainQueue, ticket: Ticket) {
        let queue = q.requests[&ticket].queue;
        let sync = q.requests[&ticket].is_sync();
        let (context, allocated) = self.owners[&ticket];
        self.update_hw_tag();
        self.in_driver.retain(|other| *other != ticket);
        self.queues[queue].dispatched -= 1;
        if sync {
            self.contexts[context].last_end_jiffies = q.now;
            let late = allocated + self.tunables.fifo_expire[1] <= q.now;
            if self.kernel < Kernel::V33 || late {
                self.last_sync_end = q.now as i64;
            }
        }
        if self.active == Some(queue) {
            self.completed_for_active(q, queue, ticket);
        }
        if self.in_driver.is_empty() {
            self.schedule_dispatch(q);
        }
    }

    fn completed_for_active(&mut self, q: &mut PlainQueue, queue: QueueId, ticket: Ticket) {
        if self.queues[queue].slice_new {
            self.set_slice(q, queue);
        }
        if self.kernel >= Kernel::V33 && self.should_wait_busy(q, queue) {
            let more = match (self.tunables.slice_idle, self.kernel >= Kernel::V36) {
                (0, true) => self.tunables.group_idle,
                (idle, _) => idle,
            };
            self.queues[queue].slice_end = q.now + more;
            self.queues[queue].wait_busy = true;
        }
        if self.slice_used(q, queue) || self.queues[queue].class == IoClass::Idle {
            self.expire_active(q, true);
        } else if q.requests[&ticket].is_sync()
            && self.is_empty_queue(queue)
            && self.close_cooperator(q, queue, false).is_none()
            && self.tries_to_idle(q, queue, ticket)
        {
            self.arm(q, queue);
        }
    }

    /// `cfq_should_wait_busy`.
    fn should_wait_busy(&self, q: &PlainQueue, queue: QueueId) -> bool {
        if self.kernel >= Kernel::V38 && !self.is_empty_queue(queue) {
            return false;
        }
        if self.busy_queues() > 1 {
            return false;
        }
        if self.slice_used(q, queue) {
            return true;
        }
        let left = self.queues[queue].slice_end - q.now;
        self.thinks_longer_than(left) || left == 1
    }

    fn thinks_longer_than(&self, left: u64) -> bool {
        self.active_context.is_some_and(|context| {
            let think = &self.contexts[context].think;
            think.is_valid() && left < think.mean
        })
    }

    fn has_8e55063(&self) -> bool {
        let released = self.kernel >= Kernel::V33 && !self.patches.revert_8e55063;
        released || (self.kernel == Kernel::For33 && self.patches.only_8e55063)
    }

    /// Section 2.15, the table of completion rules.
    fn tries_to_idle(&mut self, q: &PlainQueue, queue: QueueId, ticket: Ticket) -> bool {
        let noidle = q.requests[&ticket].flags.has(BioFlags::NOIDLE);
        if self.kernel >= Kernel::V37 || self.patches.always_try_to_idle {
            return true;
        }
        if !self.has_8e55063() {
            return !noidle;
        }
        let clause = self.kernel >= Kernel::V33 && !self.patches.revert_c04645e592d;
        let alone = clause && self.busy_queues() == 1;
        if self.patches.rq_noidle_pair {
            self.queues_requiring_idle.retain(|other| *other != queue);
            if !noidle {
                self.queues_requiring_idle.push(queue);
            }
            return alone || !self.queues_requiring_idle.is_empty();
        }
        self.noidle_tree_requires_idle |= !noidle;
        alone || self.noidle_tree_requires_idle || self.serves_sync_tree()
    }

    /// `cfq_arm_slice_timer`.
    fn arm(&mut self, q: &mut PlainQueue, queue: QueueId) {
        if q.device.non_rotational && self.hw_tag {
            return;
        }
        let mut length = self.tunables.slice_idle;
        let mut for_group = false;
        let wants = if self.kernel >= Kernel::For33 {
            self.should_idle(q, queue)
        } else {
            self.queues[queue].idle_window
        };
        if length == 0 || !wants {
            for_group = self.kernel >= Kernel::V36 && self.tunables.group_idle > 0;
            if !for_group {
                return;
            }
            length = self.tunables.group_idle;
        }
        let own_only = self.has_8e55063();
        let at_work = if own_only { self.queues[queue].dispatched > 0 } else { !self.in_driver.is_empty() };
        if at_work || !self.active_context.is_some_and(|context| self.contexts[context].alive) {
            return;
        }
        let left = self.queues[queue].slice_end - q.now;
        if self.kernel >= Kernel::V32Rc5 && self.thinks_longer_than(left) {
            return;
        }
        if for_group && self.busy_queues() > 1 {
            return;
        }
        self.queues[queue].waiting = true;
        if let Some(length) = self.shortened(q, length) {
            self.timer_pending = true;
            q.arm(length);
            self.note(q, Decision::Arm(length));
        }
    }

    /// Up to 2.6.32: 2 ms for a seeky task. For-2.6.33: 2 ms on a noidle tree with other queues in
    /// it, nothing at all (but waiting) if the device seeks freely or queues commands.
    fn shortened(&self, q: &PlainQueue, length: u64) -> Option<u64> {
        let short = length.min(self.tunables.immediate());
        if self.kernel < Kernel::For33 {
            let seek = self.active_context.map(|context| self.contexts[context].seek).unwrap_or_default();
            let seeky = seek.is_valid() && seek.mean > FAR_SECTORS;
            return Some(if seeky { short } else { length });
        }
        let tree = super::order::tree(self.serving_priority, Workload::SyncNoidle);
        let others = self.serving == Workload::SyncNoidle && !self.in_tree(tree).is_empty();
        if self.kernel != Kernel::For33 || !others {
            return Some(length);
        }
        (!q.device.non_rotational && !self.hw_tag).then_some(short)
    }

    /// `cfq_idle_slice_timer`.
    pub(super) fn idle_timer(&mut self, q: &mut PlainQueue) {
        let Some(active) = self.active else {
            self.schedule_dispatch(q);
            return;
        };
        let goes_on = self.queues[active].must_dispatch;
        if !goes_on && self.slice_used(q, active) {
            self.expire_active(q, false);
        } else if !goes_on {
            if self.busy_queues() == 0 {
                return;
            }
            if self.is_empty_queue(active) {
                if self.kernel >= Kernel::V33 {
                    self.queues[active].deep = false;
                }
                self.expire_active(q, false);
            }
        }
        self.schedule_dispatch(q);
    }

    /// `cfq_update_hw_tag`: section 2.13, at a completion, before it is counted.
    fn update_hw_tag(&mut self) {
        const FEW: usize = 5;
        let keeps = self.kernel >= Kernel::V33;
        let in_driver = self.in_driver.len();
        self.hw_tag_peak = self.hw_tag_peak.max(in_driver);
        if keeps && self.hw_tag && self.hw_tag_decided {
            return;
        }
        if self.requests_queued() <= FEW && in_driver <= FEW {
            return;
        }
        if self.kernel >= Kernel::For33
            && let Some(active) = self.active
            && self.queues[active].idle_window
            && self.queues[active].dispatched as usize + self.queues[active].fifo.len() < FEW
            && in_driver < FEW
        {
            return;
        }
        self.hw_tag_samples += 1;
        if self.hw_tag_samples <= 50 {
            return;
        }
        self.hw_tag = self.hw_tag_peak >= FEW;
        self.hw_tag_decided = true;
        if !keeps {
            self.hw_tag_samples = 0;
            self.hw_tag_peak = 0;
        }
    }
}
