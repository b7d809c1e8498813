//! Idling: keeping the device free for somebody's next request.
//!
//! *Follows:* model/block-layer.md, sections 2.8, 2.10 and 2.15.

use super::Cfq;
use super::policy::{IdleAfter, IdleWhen, SeekMemory, SeekyIdle, TreeIdle, WaitsBusy};
use super::queue::{QueueId, ThinkTime};
use crate::block::elevator::ElevatorIo;
use crate::block::{BioFlags, RequestId, Sync};
use crate::observe::{TraceKind, WorkloadType};

/// An idle wait that pays even for seeky tasks, in milliseconds.
const SHORT_IDLE_MS: i64 = 2;
/// Buckets of the per-queue NOIDLE flags (section 2.18).
const FLAG_BUCKETS: u32 = 31;

impl Cfq {
    /// The request statistics of section 2.10, taken before anything is decided.
    pub(super) fn update_statistics(&mut self, io: &ElevatorIo<'_>, id: QueueId, request: RequestId) {
        let now = io.now_jiffies as i64;
        let r = &io.requests[request];
        let (sector, sectors, end) = (r.sector, r.sectors, r.end());
        let io_context = r.submitter.io_context;
        let slice_idle = self.tunables.slice_idle_jiffies;
        let per_task = self.policy.seek == SeekMemory::MeanPerTask;
        let context = self.context_mut(io_context, now);
        let gap = now - context.last_end;
        context.think.add(gap.max(0) as u64, slice_idle);
        let last = if per_task { context.last_position } else { self.queue(id).last_end };
        let distance = if last == 0 { 0 } else { sector.abs_diff(last) };
        match self.policy.seek {
            SeekMemory::MeanPerTask => {
                let context = self.context_mut(io_context, now);
                context.seek.add_distance(distance);
                context.last_position = end;
            }
            SeekMemory::MeanPerQueue => self.queue_mut(id).seek.add_distance(distance),
            SeekMemory::History => {
                let non_rotational = io.device.non_rotational;
                self.queue_mut(id).seek.add_to_history(distance, sectors, non_rotational);
            }
        }
        self.queue_mut(id).last_end = end;
        self.note_seeky_merged_queue(id, now);
        self.update_idle_window(io, id, io_context);
    }

    /// Section 2.10: does the queue think too long, or seek so much that idling does not matter?
    fn update_idle_window(&mut self, io: &ElevatorIo<'_>, id: QueueId, io_context: u32) {
        if !self.queue(id).is_sync() || self.queue(id).is_idle_class() {
            return;
        }
        if self.queue(id).held() >= 4 {
            self.queue_mut(id).deep = true;
        }
        let next_is_noidle = self.policy.noidle_request_ends_idle_window
            && self.queue(id).next.is_some_and(|next| io.requests[next].flags.has(BioFlags::NOIDLE));
        let Some(context) = self.context(io_context) else { return };
        let (alive, think) = (context.alive, context.think);
        let off = next_is_noidle
            || !alive
            || self.tunables.slice_idle_jiffies == 0
            || self.seeking_forbids_idling(id, io_context);
        let limit = self.longest_think_time(id, io_context);
        let queue = self.queue_mut(id);
        if off {
            queue.idle_window = false;
        } else if think.is_valid() {
            queue.idle_window = think.mean <= limit;
        }
    }

    fn seeking_forbids_idling(&self, id: QueueId, io_context: u32) -> bool {
        match self.policy.seeky_idle {
            SeekyIdle::OffWithNcq => {
                let low_latency = self.policy.low_latency_idles_for_seeky && self.tunables.low_latency;
                !low_latency && self.hw_tag.is_set() && self.is_seeky(id, io_context)
            }
            SeekyIdle::Off => self.is_known_seeky(id, io_context),
            SeekyIdle::OffUnlessDeep => !self.queue(id).deep && self.is_known_seeky(id, io_context),
        }
    }

    /// Seeky tasks of 2.6.32 must think less than 2 ms to keep their idle window.
    fn longest_think_time(&self, id: QueueId, io_context: u32) -> u64 {
        if self.policy.seeky_must_think_shortly && self.is_known_seeky(id, io_context) {
            self.short_idle()
        } else {
            self.tunables.slice_idle_jiffies
        }
    }

    /// 2 ms in jiffies, rounded up as the kernel does.
    fn short_idle(&self) -> u64 {
        (SHORT_IDLE_MS * self.hz + 999) as u64 / 1000
    }

    /// Seeky by whatever the generation remembers, however few the samples.
    #[inline]
    pub(super) fn is_seeky(&self, id: QueueId, io_context: u32) -> bool {
        match self.policy.seek {
            SeekMemory::MeanPerTask => {
                self.context(io_context).is_some_and(|context| context.seek.mean_is_seeky())
            }
            SeekMemory::MeanPerQueue => self.queue(id).seek.mean_is_seeky(),
            SeekMemory::History => self.queue(id).seek.history_is_seeky(),
        }
    }

    /// Seeky, and enough samples say so (the history needs none).
    fn is_known_seeky(&self, id: QueueId, io_context: u32) -> bool {
        let valid = match self.policy.seek {
            SeekMemory::MeanPerTask => {
                self.context(io_context).is_some_and(|context| context.seek.is_valid())
            }
            SeekMemory::MeanPerQueue => self.queue(id).seek.is_valid(),
            SeekMemory::History => true,
        };
        valid && self.is_seeky(id, io_context)
    }

    /// Whether a non-rotational device with command queueing makes idling pointless.
    fn device_needs_no_idling(&self, io: &ElevatorIo<'_>) -> bool {
        io.device.non_rotational && self.hw_tag.is_set()
    }

    /// Section 2.15: is this queue worth idling for?
    pub(super) fn should_idle(&self, io: &ElevatorIo<'_>, id: QueueId) -> bool {
        let queue = self.queue(id);
        if self.policy.tree_idle == TreeIdle::Never {
            return queue.idle_window;
        }
        if queue.is_idle_class() || (self.policy.has_group_idle && self.tunables.slice_idle_jiffies == 0) {
            return false;
        }
        let last_sync = self.policy.tree_idle == TreeIdle::LastSync;
        if queue.idle_window && !(last_sync && self.device_needs_no_idling(io)) {
            return true;
        }
        let tree = queue.tree.unwrap_or_else(|| self.trees.tree_for(queue));
        match self.trees.count(tree) {
            0 => !last_sync,
            1 if last_sync => queue.is_sync(),
            1 => self.trees.first(tree) == Some(id),
            _ => false,
        }
    }

    /// Idles for the active queue's next request, if all of section 2.15 allows it.
    fn try_to_idle(&mut self, io: &mut ElevatorIo<'_>, id: QueueId) {
        if self.device_needs_no_idling(io) {
            return;
        }
        let group_idle = self.group_idle_applies();
        let own_idle = self.tunables.slice_idle_jiffies > 0 && self.should_idle(io, id);
        if !own_idle && !group_idle {
            return;
        }
        let pending = match self.policy.idle_when {
            IdleWhen::DeviceEmpty => self.driver_total(),
            IdleWhen::OwnRequestsDone => self.queue(id).dispatched,
        };
        if pending > 0 {
            return;
        }
        let Some(io_context) = self.active_context else { return };
        let Some(context) = self.context(io_context) else { return };
        if !context.alive {
            return;
        }
        let now = io.now_jiffies as i64;
        if self.policy.idle_must_fit_slice && self.thinks_longer_than_slice(id, &context.think, now) {
            return;
        }
        self.queue_mut(id).waiting = true;
        let mut jiffies =
            if own_idle { self.tunables.slice_idle_jiffies } else { self.tunables.group_idle_jiffies };
        if self.policy.short_idle_for_seeky && self.is_known_seeky(id, io_context) {
            jiffies = jiffies.min(self.short_idle());
        }
        if self.policy.short_idle_in_noidle_tree && self.others_in_noidle_tree() {
            if io.device.non_rotational || self.hw_tag.is_set() {
                return;
            }
            jiffies = jiffies.min(self.short_idle());
        }
        io.recorder.record(TraceKind::CfqIdleArm(self.queue(id).name, jiffies as u32));
        self.arm_timer(io, jiffies);
    }

    fn thinks_longer_than_slice(&self, id: QueueId, think: &ThinkTime, now: i64) -> bool {
        // The kernel compares unsigned numbers: a slice end in the past counts as far away.
        let left = (self.queue(id).slice_end - now) as u64;
        think.is_valid() && left < think.mean
    }

    fn group_idle_applies(&self) -> bool {
        self.policy.has_group_idle && self.tunables.group_idle_jiffies > 0 && self.group_queues() == 1
    }

    /// G2: the queue that idles has left its tree; is anybody else in it?
    fn others_in_noidle_tree(&self) -> bool {
        let tree = self.trees.tree(self.serving_class, WorkloadType::SyncNoidle);
        self.serving_workload == WorkloadType::SyncNoidle && self.trees.count(tree) > 0
    }

    /// A request of any queue has completed (sections 2.8 and 2.15).
    pub(super) fn request_completed(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let now = io.now_jiffies as i64;
        let id = self.queue_of(io.requests, request);
        let is_sync = io.requests[request].sync() == Sync::Sync;
        self.update_hw_tag();
        self.in_driver[usize::from(is_sync)] -= 1;
        let queue_is_sync = self.queue(id).is_sync();
        self.queue_mut(id).dispatched -= 1;
        self.in_flight[usize::from(queue_is_sync)] -= 1;
        if is_sync {
            self.note_sync_completion(io, request, now);
        }
        if self.active == Some(id) {
            self.active_queue_completed(io, id, request, now);
        }
        if self.driver_total() == 0 {
            self.schedule_dispatch(io);
        }
    }

    fn note_sync_completion(&mut self, io: &ElevatorIo<'_>, request: RequestId, now: i64) {
        let r = &io.requests[request];
        let (io_context, started) = (r.submitter.io_context, r.start_jiffies as i64);
        self.context_mut(io_context, now).last_end = now;
        self.last_sync_end = now;
        if started + self.tunables.fifo_expire_jiffies[1] as i64 <= now {
            self.last_delayed_sync = now;
        }
    }

    fn active_queue_completed(&mut self, io: &mut ElevatorIo<'_>, id: QueueId, request: RequestId, now: i64) {
        if self.queue(id).slice_new {
            self.start_slice(io, id);
        }
        if self.should_wait_busy(id, now) {
            let idle = match self.tunables.slice_idle_jiffies {
                0 if self.policy.has_group_idle => self.tunables.group_idle_jiffies,
                idle => idle,
            };
            let queue = self.queue_mut(id);
            queue.slice_end = now + idle as i64;
            queue.waits_busy = true;
        }
        let queue = self.queue(id);
        let is_sync = io.requests[request].sync() == Sync::Sync;
        if queue.slice_used(now) || queue.is_idle_class() {
            self.expire(io, id, true);
        } else if is_sync && queue.is_empty() && self.close_cooperator(id, true).is_none() {
            let noidle = io.requests[request].flags.has(BioFlags::NOIDLE);
            if self.completion_begins_idling(id, noidle) {
                self.try_to_idle(io, id);
            }
        }
    }

    /// Section 2.15, the table of completions.
    fn completion_begins_idling(&mut self, id: QueueId, noidle: bool) -> bool {
        let alone = self.group_queues() == 1;
        match self.policy.idle_after {
            IdleAfter::NotNoidle => !noidle,
            IdleAfter::Always => true,
            IdleAfter::TreeFlag { or_alone } => {
                self.requires_idle |= u32::from(!noidle);
                self.serving_workload == WorkloadType::Sync || self.requires_idle != 0 || (or_alone && alone)
            }
            IdleAfter::QueueFlags => {
                let flag = 1 << (id.0 % FLAG_BUCKETS);
                self.requires_idle =
                    if noidle { self.requires_idle & !flag } else { self.requires_idle | flag };
                self.requires_idle != 0 || alone
            }
        }
    }

    /// Section 2.15, wait-busy.
    fn should_wait_busy(&self, id: QueueId, now: i64) -> bool {
        let queue = self.queue(id);
        match self.policy.waits_busy {
            WaitsBusy::Never => return false,
            WaitsBusy::AloneAndEmpty if !queue.is_empty() => return false,
            WaitsBusy::Alone | WaitsBusy::AloneAndEmpty => {}
        }
        if self.group_queues() > 1 {
            return false;
        }
        let thinks_too_long = self
            .active_context
            .and_then(|io_context| self.context(io_context))
            .is_some_and(|context| self.thinks_longer_than_slice(id, &context.think, now));
        queue.slice_used(now) || thinks_too_long || queue.slice_end - now == 1
    }

    /// Section 2.8: the wait was in vain, unless a request came that has not been started.
    pub(super) fn idle_timer_fired(&mut self, io: &mut ElevatorIo<'_>) {
        let now = io.now_jiffies as i64;
        if let Some(id) = self.active {
            let queue = self.queue(id);
            if queue.must_dispatch {
                self.schedule_dispatch(io);
                return;
            }
            if !queue.slice_used(now) {
                if self.busy_queues == 0 {
                    return;
                }
                if !queue.is_empty() {
                    self.schedule_dispatch(io);
                    return;
                }
                self.queue_mut(id).deep = false;
            }
        }
        self.expire_active(io, false);
        self.schedule_dispatch(io);
    }

    /// Section 2.22, 8e1ac665510: a seeky queue that finishes its requests in less than half its
    /// slice is on a device too fast to idle on.
    pub(super) fn stop_idling_if_device_is_fast(&mut self, id: QueueId, now: i64) {
        let Some(io_context) = self.context_of(id) else { return };
        let queue = self.queue(id);
        if !self.policy.deep_seeky_stops_idling || !queue.idle_window || !self.is_seeky(id, io_context) {
            return;
        }
        let young = queue.slice_end - now > now - queue.slice_start.unwrap_or(0);
        if queue.slice_new || young {
            let queue = self.queue_mut(id);
            queue.deep = false;
            queue.idle_window = false;
        }
    }

    /// Section 2.20 (unverified): yielding is refused when the noidle tree has others that come
    /// back soon, so that idling for the tree is worth it.
    pub(super) fn noidle_tree_is_worth_idling(&self, id: QueueId) -> bool {
        if self.serving_workload != WorkloadType::SyncNoidle {
            return false;
        }
        let tree = self.trees.tree(self.serving_class, WorkloadType::SyncNoidle);
        let others: Vec<u64> = self
            .trees
            .iter()
            .filter(|&other| other != id && self.queue(other).tree == Some(tree))
            .filter_map(|other| self.context(self.context_of(other)?))
            .map(|context| context.think.mean)
            .collect();
        let count = others.len() as u64;
        count > 0 && others.iter().sum::<u64>() / count < self.tunables.slice_idle_jiffies
    }
}
