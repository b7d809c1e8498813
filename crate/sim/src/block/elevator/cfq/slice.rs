//! Slices: activation, length, expiry, and the workload's turn.
//!
//! *Follows:* model/block-layer.md, sections 2.3, 2.7, 2.14 and 2.16.

use super::policy::ClassChange;
use super::queue::QueueId;
use super::tree::WORKLOADS;
use super::{Cfq, SavedTurn};
use crate::block::IoClass;
use crate::block::elevator::ElevatorIo;
use crate::observe::{TraceKind, WorkloadType};

/// A turn lasts at least so many jiffies.
const SHORTEST_TURN: i64 = 2;

impl Cfq {
    /// The latency the scheduler aims at, in jiffies: all of it, since there is one group.
    fn target_latency(&self) -> i64 {
        self.hz * 3 / 10
    }

    /// Makes a queue active: its slice clock starts with its first completion.
    pub(super) fn activate(&mut self, io: &mut ElevatorIo<'_>, id: QueueId) {
        let workload = self.serving_workload;
        let now = io.now_jiffies as i64;
        io.recorder.record(TraceKind::CfqSelect(self.queue(id).name, workload));
        let queue = self.queue_mut(id);
        queue.dispatch_start = now;
        queue.slice_start = None;
        queue.slice_end = 0;
        queue.slice_allocated = 0;
        queue.slice_dispatched = 0;
        queue.waiting = false;
        queue.must_dispatch = false;
        queue.must_allocate_used = false;
        queue.fifo_checked = false;
        queue.slice_new = true;
        self.cancel_timer(io);
        self.active = Some(id);
    }

    /// The average number of busy queues of a class: rises at once, sinks slowly (section 2.14).
    fn update_busy_average(&mut self, class: IoClass) -> i64 {
        let busy = self.trees.count_class(class);
        let average = &mut self.busy_average[usize::from(class == IoClass::RealTime)];
        *average = (3 * busy.max(*average) + busy.min(*average) + 2) / 4;
        i64::from(*average)
    }

    /// Length of a queue's slice; `low_latency` shortens it when many queues are busy.
    pub(super) fn scaled_slice(&mut self, id: QueueId) -> i64 {
        let queue = self.queue(id);
        let slice = self.priority_slice(queue.is_sync(), queue.priority);
        if !(self.policy.low_latency_scales_slices && self.tunables.low_latency) {
            return slice;
        }
        let class = if queue.is_real_time() { IoClass::RealTime } else { IoClass::BestEffort };
        let sync_slice = self.tunables.slice_jiffies[1] as i64;
        let expected = sync_slice * self.update_busy_average(class);
        if expected <= self.target_latency() {
            return slice;
        }
        let low = 2 * self.tunables.slice_idle_jiffies as i64 * slice / sync_slice.max(1);
        (slice * self.target_latency() / expected).max(low.min(slice))
    }

    /// The first request of a turn has completed: the slice begins.
    pub(super) fn start_slice(&mut self, io: &mut ElevatorIo<'_>, id: QueueId) {
        let slice = self.scaled_slice(id);
        let now = io.now_jiffies as i64;
        io.recorder.record(TraceKind::CfqSliceStart(self.queue(id).name, slice as u32));
        let queue = self.queue_mut(id);
        queue.slice_start = Some(now);
        queue.slice_end = now + slice;
        queue.slice_allocated = slice;
        queue.slice_new = false;
    }

    /// Ends a queue's turn. With `accounted`, what is left of its slice counts for its next key.
    pub(super) fn expire(&mut self, io: &mut ElevatorIo<'_>, id: QueueId, accounted: bool) {
        let now = io.now_jiffies as i64;
        io.recorder.record(TraceKind::CfqExpire(self.queue(id).name, accounted));
        if self.queue(id).waiting {
            self.cancel_timer(io);
        }
        self.mark_for_split(id);
        let queue = self.queue_mut(id);
        queue.waiting = false;
        queue.waits_busy = false;
        queue.yields_to = None;
        if accounted {
            if !queue.slice_new {
                queue.residual = queue.slice_end - now;
            } else if self.policy.unstarted_slice_is_residual {
                let slice = self.scaled_slice(id);
                self.queue_mut(id).residual = slice;
            }
        }
        if self.policy.saves_workload {
            self.save_turn(now);
        }
        let queue = self.queue(id);
        if self.policy.empty_queue_stays && queue.on_tree && queue.is_empty() {
            self.remove_from_tree(io, id);
        }
        if self.queue(id).on_tree {
            self.place_in_tree(id, false, now);
        }
        if self.active == Some(id) {
            self.active = None;
        }
        self.active_context = None;
    }

    /// Ends the active queue's turn, if there is one.
    pub(super) fn expire_active(&mut self, io: &mut ElevatorIo<'_>, accounted: bool) {
        if let Some(active) = self.active {
            self.expire(io, active, accounted);
        }
    }

    fn save_turn(&mut self, now: i64) {
        self.saved_turn = (self.workload_expires > now).then(|| SavedTurn {
            left: self.workload_expires - now,
            workload: self.serving_workload,
            class: self.serving_class,
        });
    }

    /// Before a queue is picked: which class and type of work is served, and until when.
    pub(super) fn choose_workload(&mut self, io: &mut ElevatorIo<'_>) {
        let now = io.now_jiffies as i64;
        if self.policy.saves_workload {
            match self.saved_turn {
                Some(saved) => {
                    self.workload_expires = now + saved.left;
                    self.serving_workload = saved.workload;
                    self.serving_class = saved.class;
                }
                None => self.workload_expires = now - 1,
            }
        }
        let previous = self.serving_class;
        let busy = |class| self.trees.count_class(class) > 0;
        self.serving_class = if busy(IoClass::RealTime) {
            IoClass::RealTime
        } else if busy(IoClass::BestEffort) {
            IoClass::BestEffort
        } else {
            self.serving_class = IoClass::Idle;
            self.workload_expires = now + 1;
            return;
        };
        let class_changed = previous != self.serving_class;
        let keeps = !class_changed || self.policy.class_change == ClassChange::Ignored;
        let tree = self.trees.tree(self.serving_class, self.serving_workload);
        if keeps && self.trees.count(tree) > 0 && now <= self.workload_expires {
            return;
        }
        self.serving_workload = if class_changed && self.policy.class_change == ClassChange::PrefersNoidle {
            self.preferred_workload()
        } else {
            self.workload_of_lowest_key()
        };
        let turn = self.turn_length();
        io.recorder.record(TraceKind::CfqWorkload(self.serving_workload, turn as u32));
        self.workload_expires = now + turn;
        self.requires_idle = 0;
    }

    fn preferred_workload(&self) -> WorkloadType {
        [WorkloadType::SyncNoidle, WorkloadType::Sync]
            .into_iter()
            .find(|&workload| self.trees.count(self.trees.tree(self.serving_class, workload)) > 0)
            .unwrap_or(WorkloadType::Async)
    }

    fn workload_of_lowest_key(&self) -> WorkloadType {
        let keys = WORKLOADS.iter().filter_map(|&workload| {
            let first = self.trees.first(self.trees.tree(self.serving_class, workload))?;
            Some((self.queue(first).key, workload))
        });
        keys.min_by_key(|&(key, _)| key).map_or(WorkloadType::SyncNoidle, |(_, workload)| workload)
    }

    /// Section 2.14: the workload's share of the target latency.
    pub(super) fn turn_length(&self) -> i64 {
        let tree = self.trees.tree(self.serving_class, self.serving_workload);
        let count = i64::from(self.trees.count(tree));
        let average = self.busy_average[usize::from(self.serving_class == IoClass::RealTime)];
        let all = i64::from(average.max(self.trees.count_class(self.serving_class))).max(1);
        let mut turn = self.target_latency() * count / all;
        if self.serving_workload == WorkloadType::Async {
            if self.policy.caps_async_turn {
                let share = self.target_latency() * i64::from(self.trees.count_async());
                turn = turn.min(share / i64::from(self.busy_queues.max(1)));
            }
            let [slice_async, slice_sync] = self.tunables.slice_jiffies;
            turn = turn * slice_async as i64 / (slice_sync as i64).max(1);
        } else {
            turn = turn.max(2 * self.tunables.slice_idle_jiffies as i64);
        }
        turn.max(SHORTEST_TURN)
    }
}
