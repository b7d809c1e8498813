//! Queues that work close together: jumping ahead, merging, splitting.
//!
//! *Models:* the candidate at or next to the head among queues of the same priority.
//! *Does not model:* which of two near neighbours the kernel's tree happens to meet first: the nearer
//! one is taken, of two equally near ones that in front of the head, then the older queue.
//! *Follows:* model/block-layer.md, section 2.12.

use super::policy::{Cooperation, SeekMemory};
use super::queue::{Owner, QueueId, SEEKY_MEAN_SECTORS};
use super::{Cfq, NOWHERE};
use crate::block::Submitter;
use crate::block::elevator::ElevatorIo;

impl Cfq {
    /// Whether `sector` is near the head, by the measure of the active queue. `to_preempt`: the
    /// distance that counts as close is not capped for preemption in 2.6.33.
    #[inline]
    pub(super) fn is_close(&self, active: QueueId, sector: u64, to_preempt: bool) -> bool {
        let distance = sector.abs_diff(self.head);
        let statistics = match self.policy.seek {
            SeekMemory::History => return distance <= SEEKY_MEAN_SECTORS,
            SeekMemory::MeanPerTask => self.active_context.and_then(|c| self.context(c)).map(|c| &c.seek),
            SeekMemory::MeanPerQueue => Some(&self.queue(active).seek),
        };
        let mean = statistics.filter(|seek| seek.is_valid()).map_or(SEEKY_MEAN_SECTORS, |seek| seek.mean);
        let capped = self.policy.cooperation == Cooperation::MergeSplitAtExpiry && !to_preempt;
        distance <= if capped { mean.min(SEEKY_MEAN_SECTORS) } else { mean }
    }

    /// A queue whose next request continues where the head is, or lies near it. With `probe` the
    /// answer changes nothing.
    pub(super) fn close_cooperator(&mut self, id: QueueId, probe: bool) -> Option<QueueId> {
        if self.policy.cooperation == Cooperation::Jump {
            self.active_context?;
            let close = self.closest_queue(id)?;
            if self.queue(close).cooperated {
                return None;
            }
            if !probe {
                self.queue_mut(close).cooperated = true;
            }
            return Some(close);
        }
        let queue = self.queue(id);
        let grouped = self.policy.cooperation == Cooperation::MergeSplitAtExpiry;
        if !self.may_cooperate(id) || (grouped && self.group_queues() == 1) {
            return None;
        }
        let close = self.closest_queue(id)?;
        let same_class = self.queue(close).is_real_time() == queue.is_real_time();
        (self.may_cooperate(close) && same_class).then_some(close)
    }

    #[inline]
    fn may_cooperate(&self, id: QueueId) -> bool {
        let Some(io_context) = self.context_of(id) else { return false };
        !self.queue(id).is_idle_class() && !self.is_seeky(id, io_context)
    }

    /// The queue of the same priority whose next request starts at the head, or the nearest close
    /// one on either side.
    fn closest_queue(&self, id: QueueId) -> Option<QueueId> {
        let (priority, head) = (self.queue(id).priority, self.head);
        // One comparison passes over most queues, those without a request among them.
        let mut least = NOWHERE.abs_diff(head).saturating_sub(1);
        let mut nearest: Option<(u64, QueueId)> = None;
        for (index, &sector) in self.next_sectors.iter().enumerate() {
            let distance = sector.abs_diff(head);
            if distance > least {
                continue;
            }
            let beaten =
                nearest.is_some_and(|(held, _)| distance == least && (held >= head || sector < head));
            if !beaten && self.queues[index].priority == priority {
                least = distance;
                nearest = Some((sector, QueueId(index as u32)));
            }
        }
        let (sector, found) = nearest?;
        (least == 0 || self.is_close(id, sector, false)).then_some(found)
    }

    /// G1: a queue that jumped ahead may do so again once it was scheduled normally.
    pub(super) fn note_cooperation_over(&mut self, next: Option<QueueId>, jumped: bool) {
        if self.policy.cooperation != Cooperation::Jump {
            return;
        }
        let Some(next) = next else { return };
        let queue = self.queue_mut(next);
        if !jumped && !queue.cooperated_by_preemption {
            queue.cooperated = false;
        }
        queue.cooperated_by_preemption = false;
    }

    /// Plans to make one queue of two, in the direction of the fewer processes.
    pub(super) fn set_up_merge(&mut self, id: QueueId, close: QueueId) {
        if self.policy.cooperation == Cooperation::Jump || self.queue(id).merging_into.is_some() {
            return;
        }
        let mut close = close;
        if self.queue(close).process_references == 0 {
            return;
        }
        while let Some(further) = self.queue(close).merging_into {
            if further == id {
                return;
            }
            close = further;
        }
        let (own, others) = (self.queue(id).process_references, self.queue(close).process_references);
        if own == 0 || others == 0 {
            return;
        }
        let (from, into, moving) = if others >= own { (id, close, own) } else { (close, id, others) };
        self.queue_mut(from).merging_into = Some(into);
        self.queue_mut(into).process_references += moving;
    }

    /// At a process's next request: moves it to the queue its own is being merged into.
    pub(super) fn follow_merge(&mut self, io: &mut ElevatorIo<'_>, id: QueueId, io_context: u32) -> QueueId {
        let Some(into) = self.queue(id).merging_into else { return id };
        self.queue_mut(into).cooperated = true;
        if let Some(context) = self.contexts.get_mut(io_context as usize).and_then(Option::as_mut) {
            context.sync_queue = Some(into);
        }
        self.let_go(io, id);
        into
    }

    /// A process no longer uses a queue (`cfq_put_queue`).
    pub(super) fn let_go(&mut self, io: &mut ElevatorIo<'_>, id: QueueId) {
        let references = &mut self.queue_mut(id).process_references;
        *references = references.saturating_sub(1);
        self.expire_if_unused(io, id);
    }

    /// A queue without process and request is freed, and cannot stay active. The device itself holds
    /// on to the async queues.
    pub(super) fn expire_if_unused(&mut self, io: &mut ElevatorIo<'_>, id: QueueId) {
        let queue = self.queue(id);
        let unused = queue.is_sync() && queue.process_references == 0 && queue.allocated == 0;
        if unused && self.active == Some(id) {
            self.expire(io, id, false);
            self.schedule_dispatch(io);
        }
    }

    /// The queues that this one was to be merged into lose the process (`cfq_put_cooperator`).
    pub(super) fn forget_planned_merges(&mut self, io: &mut ElevatorIo<'_>, id: QueueId) {
        let mut next = self.queue(id).merging_into;
        while let Some(into) = next.filter(|&into| into != id) {
            next = self.queue(into).merging_into;
            self.let_go(io, into);
        }
    }

    /// Whether a merged queue has been seeky for too long.
    pub(super) fn must_split(&self, id: QueueId, now: i64) -> bool {
        let queue = self.queue(id);
        queue.cooperated
            && match self.policy.cooperation {
                Cooperation::Jump => false,
                Cooperation::MergeSplitAfterSecond => {
                    queue.seeky_since.is_some_and(|since| now > since + self.hz)
                }
                Cooperation::MergeSplitAtExpiry => queue.to_be_split,
            }
    }

    /// Takes a process out of a merged queue; the last one keeps it.
    pub(super) fn split(
        &mut self,
        io: &mut ElevatorIo<'_>,
        id: QueueId,
        submitter: Submitter,
    ) -> Option<QueueId> {
        let io_context = submitter.io_context;
        let queue = self.queue_mut(id);
        if queue.process_references <= 1 {
            queue.owner = Owner::Context(io_context);
            queue.name = submitter.task;
            queue.cooperated = false;
            queue.to_be_split = false;
            queue.seeky_since = None;
            return Some(id);
        }
        if let Some(context) = self.contexts.get_mut(io_context as usize).and_then(Option::as_mut) {
            context.sync_queue = None;
        }
        self.forget_planned_merges(io, id);
        self.let_go(io, id);
        None
    }

    /// G3: at the end of a turn a merged queue that has become seeky is marked.
    pub(super) fn mark_for_split(&mut self, id: QueueId) {
        let Some(io_context) = self.context_of(id) else { return };
        if self.policy.cooperation == Cooperation::MergeSplitAtExpiry
            && self.queue(id).cooperated
            && self.is_seeky(id, io_context)
        {
            self.queue_mut(id).to_be_split = true;
        }
    }

    /// G2: since when a merged queue has been seeky.
    pub(super) fn note_seeky_merged_queue(&mut self, id: QueueId, now: i64) {
        if self.policy.cooperation != Cooperation::MergeSplitAfterSecond || !self.queue(id).cooperated {
            return;
        }
        let seeky = self.queue(id).seek.mean_is_seeky();
        let queue = self.queue_mut(id);
        queue.seeky_since = if seeky { queue.seeky_since.or(Some(now)) } else { None };
    }
}
