//! Who may take the device from the active queue.
//!
//! *Follows:* model/block-layer.md, section 2.11; Linux `cfq_should_preempt`, `cfq_preempt_queue`.

use super::Cfq;
use super::policy::{MetadataPreempt, NoidlePreempt};
use super::queue::QueueId;
use crate::block::elevator::ElevatorIo;
use crate::block::{BioFlags, RequestId, Sync};
use crate::observe::{TraceKind, WorkloadType};

impl Cfq {
    /// The first rule that matches decides.
    pub(super) fn should_preempt(
        &mut self,
        io: &ElevatorIo<'_>,
        newcomer: QueueId,
        request: RequestId,
        now: i64,
    ) -> bool {
        let Some(active) = self.active else { return false };
        let rules = self.policy.preempt;
        let (a, n) = (self.queue(active), self.queue(newcomer));
        let r = &io.requests[request];
        if rules.used_slice_first && a.slice_used(now) {
            return true;
        }
        if n.is_idle_class() {
            return false;
        }
        if a.is_idle_class() {
            return true;
        }
        if rules.noidle == NoidlePreempt::SameTree && self.in_active_noidle_tree(active, newcomer) {
            return true;
        }
        if rules.real_time_protected && a.is_real_time() && !n.is_real_time() {
            return false;
        }
        if r.sync() == Sync::Sync && !a.is_sync() {
            return true;
        }
        if !rules.used_slice_first && a.slice_used(now) {
            return true;
        }
        if rules.noidle == NoidlePreempt::PairWhileEmpty && self.completes_noidle_pair(active, newcomer) {
            return true;
        }
        if r.flags.has(BioFlags::META) && a.meta_pending == 0 {
            return rules.metadata == MetadataPreempt::Preempts;
        }
        if n.is_real_time() && !a.is_real_time() {
            return true;
        }
        if rules.pointless_wait_ends && a.is_empty() && !self.should_idle(io, active) {
            return true;
        }
        if self.active_context.is_none() || !a.waiting {
            return false;
        }
        self.close_request_preempts(active, newcomer, r.sector)
    }

    fn in_active_noidle_tree(&self, active: QueueId, newcomer: QueueId) -> bool {
        self.serving_workload == WorkloadType::SyncNoidle
            && self.queue(newcomer).tree == self.queue(active).tree
    }

    /// The newcomer is the second of exactly two queues in the noidle tree being served, and the
    /// active one has nothing to send.
    fn completes_noidle_pair(&self, active: QueueId, newcomer: QueueId) -> bool {
        let n = self.queue(newcomer);
        self.serving_workload == WorkloadType::SyncNoidle
            && n.workload() == WorkloadType::SyncNoidle
            && n.tree.is_some_and(|tree| self.trees.count(tree) == 2)
            && self.queue(active).is_empty()
    }

    fn close_request_preempts(&mut self, active: QueueId, newcomer: QueueId, sector: u64) -> bool {
        if !self.is_close(active, sector, true) {
            return false;
        }
        if !self.policy.preempt.close_once {
            return true;
        }
        if self.queue(newcomer).cooperated && self.busy_queues > 1 {
            return false;
        }
        let queue = self.queue_mut(newcomer);
        queue.cooperated = true;
        queue.cooperated_by_preemption = true;
        true
    }

    /// Expires the active queue, with what is left of its slice, and puts the newcomer in front.
    pub(super) fn preempt(&mut self, io: &mut ElevatorIo<'_>, newcomer: QueueId) {
        io.recorder.record(TraceKind::CfqPreempt(self.queue(newcomer).name));
        let old = self.active.map(|active| self.queue(active).workload());
        self.expire_active(io, true);
        if self.policy.preempt.ends_turn && old.is_some_and(|old| old != self.queue(newcomer).workload()) {
            self.saved_turn = None;
        }
        self.place_in_tree(newcomer, true, io.now_jiffies as i64);
        let queue = self.queue_mut(newcomer);
        queue.slice_end = 0;
        queue.slice_new = true;
    }
}
