//! Queues in and out of the service trees, requests in and out of queues.
//!
//! *Follows:* model/block-layer.md, sections 2.3, 2.6 and 2.14.

use super::policy::{PreemptingKey, Residual};
use super::queue::{Owner, QueueId};
use super::{Cfq, NOWHERE, is_held};
use crate::block::elevator::ElevatorIo;
use crate::block::{BioFlags, RequestId, RequestPool};
use crate::observe::TraceKind;

/// Priority slices differ by a fifth of the base slice per level.
const SLICE_SCALE: i64 = 5;
/// How far behind everybody else the idle class is put, in seconds' fifths.
const IDLE_DELAY_DIVISOR: i64 = 5;

impl Cfq {
    /// Section 2.3: slice of a queue of this sync-ness and priority, unscaled.
    pub(super) fn priority_slice(&self, is_sync: bool, priority: u8) -> i64 {
        let base = self.tunables.slice_jiffies[usize::from(is_sync)] as i64;
        base + base / SLICE_SCALE * (4 - i64::from(priority))
    }

    /// Section 2.3: how much later than now a queue is due, by its priority and the number of others.
    fn slice_offset(&self, id: QueueId) -> i64 {
        let queue = self.queue(id);
        let busy = i64::from(self.group_queues());
        (busy - 1) * (self.priority_slice(true, 0) - self.priority_slice(queue.is_sync(), queue.priority))
    }

    /// Busy queues as the key offset and the group's rules count them. In the grouped generations a
    /// queue that is just being added is not yet counted (section 0.2, on 2.3).
    pub(super) fn group_queues(&self) -> u32 {
        self.busy_queues
    }

    fn service_key(&mut self, id: QueueId, tree: super::queue::TreeId, in_front: bool, now: i64) -> i64 {
        if self.queue(id).is_idle_class() {
            let last = self.trees.last(tree).filter(|&last| last != id);
            return self.hz / IDLE_DELAY_DIVISOR + last.map_or(now, |last| self.queue(last).key);
        }
        if in_front {
            return match self.policy.preempting_key {
                PreemptingKey::Zero => 0,
                PreemptingKey::BeforeFirst => {
                    self.trees.first(tree).map_or(now, |first| self.queue(first).key) - self.hz
                }
            };
        }
        let offset = self.slice_offset(id);
        let residual = std::mem::take(&mut self.queue_mut(id).residual);
        match self.policy.residual {
            Residual::Added => now + offset + residual,
            Residual::Subtracted => now + offset - residual,
        }
    }

    /// Puts a queue where its key belongs, in the tree its type of work belongs to.
    pub(super) fn place_in_tree(&mut self, id: QueueId, in_front: bool, now: i64) {
        let tree = self.trees.tree_for(self.queue(id));
        let key = self.service_key(id, tree, in_front, now);
        if let Some(old) = self.queue(id).tree {
            if old == tree && self.queue(id).key == key {
                return;
            }
            self.trees.remove(old, id);
        }
        let class = self.queue(id).class;
        self.trees.insert(tree, id, class, key);
        let queue = self.queue_mut(id);
        queue.tree = Some(tree);
        queue.key = key;
    }

    /// A queue becomes busy.
    fn add_to_tree(&mut self, io: &mut ElevatorIo<'_>, id: QueueId) {
        io.recorder.record(TraceKind::CfqBusy(self.queue(id).name));
        self.queue_mut(id).on_tree = true;
        let now = io.now_jiffies as i64;
        if self.policy.saves_workload {
            self.place_in_tree(id, false, now);
            self.busy_queues += 1;
        } else {
            self.busy_queues += 1;
            self.place_in_tree(id, false, now);
        }
    }

    /// A queue is no longer busy.
    pub(super) fn remove_from_tree(&mut self, io: &mut ElevatorIo<'_>, id: QueueId) {
        io.recorder.record(TraceKind::CfqNotBusy(self.queue(id).name));
        if let Some(tree) = self.queue_mut(id).tree.take() {
            self.trees.remove(tree, id);
        }
        self.queue_mut(id).on_tree = false;
        self.busy_queues -= 1;
        if self.busy_queues == 0 {
            // The group is gone, and with it what was left of its workload's turn.
            self.saved_turn = None;
        }
    }

    /// Sets the request a queue serves next, and where that lies for [`Cfq::close_cooperator`].
    #[inline]
    pub(super) fn set_next(&mut self, requests: &RequestPool, id: QueueId, next: Option<RequestId>) {
        let queue = &mut self.queues[id.0 as usize];
        queue.next = next;
        let sector = next.filter(|_| !queue.is_idle_class()).map_or(NOWHERE, |next| requests[next].sector);
        self.next_sectors[id.0 as usize] = sector;
    }

    /// Takes a request into a queue's sorted set. One that starts where another does sends the other
    /// to the dispatch list.
    pub(super) fn add_sorted(&mut self, io: &mut ElevatorIo<'_>, id: QueueId, request: RequestId) {
        let sync = io.requests[request].sync().index();
        let sector = io.requests[request].sector;
        self.queue_mut(id).queued[sync] += 1;
        while let Some(alias) = self.queue_mut(id).sorted.insert(sector, request) {
            self.dispatch_request(io, alias);
        }
        if !self.queue(id).on_tree {
            self.add_to_tree(io, id);
        }
        let next = self.queue(id).next;
        let next = self.better(io.requests, next, Some(request), self.head);
        self.set_next(io.requests, id, next);
    }

    /// Forgets a request: it is dispatched, or merged into another.
    pub(super) fn remove(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let id = self.queue_of(io.requests, request);
        if self.queue(id).next == Some(request) {
            let next = self.next_after(io.requests, id, request);
            self.set_next(io.requests, id, next);
        }
        let (sync, sector) = (io.requests[request].sync().index(), io.requests[request].sector);
        let is_meta = io.requests[request].flags.has(BioFlags::META);
        let queue = &mut self.queues[id.0 as usize];
        io.requests.fifo_remove(&mut queue.fifo, request);
        queue.sorted.remove(sector, request);
        queue.queued[sync] -= 1;
        queue.meta_pending -= u32::from(is_meta);
        self.held -= 1;
        let leaves = self.queue(id).on_tree && self.queue(id).is_empty();
        if leaves && !self.policy.empty_queue_stays {
            self.remove_from_tree(io, id);
        }
    }

    /// Moves a request to the dispatch list.
    pub(super) fn dispatch_request(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        debug_assert!(is_held(io.requests, request));
        let id = self.queue_of(io.requests, request);
        if self.policy.next_follows_dispatch {
            let next = self.next_after(io.requests, id, request);
            self.set_next(io.requests, id, next);
        }
        self.remove(io, request);
        let is_sync = self.queue(id).is_sync();
        self.queue_mut(id).dispatched += 1;
        self.in_flight[usize::from(is_sync)] += 1;
        io.dispatch_sorted(request);
    }

    /// The io context whose queue this is; `None` for the shared async queues.
    pub(super) fn context_of(&self, id: QueueId) -> Option<u32> {
        match self.queue(id).owner {
            Owner::Context(io_context) => Some(io_context),
            Owner::Async => None,
        }
    }
}
