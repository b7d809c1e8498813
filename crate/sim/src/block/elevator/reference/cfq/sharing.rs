//! Whose queue: io contexts, priorities, close cooperators, merged and split queues (2.4, 2.12).

use super::{Cfq, CfqQueue, Context, ContextId, Kernel, Mean, QueueId};
use crate::block::elevator::reference::driver::Ticket;
use crate::block::elevator::reference::plain::PlainQueue;
use crate::block::{IoClass, Submitter, Sync};

impl Cfq {
    fn context_of(&self, io_context: u32) -> Option<ContextId> {
        self.contexts.iter().position(|context| context.io_context == io_context && context.alive)
    }

    /// The queue that a living io context uses now.
    pub(super) fn queue_of(&self, io_context: u32, sync: Sync) -> Option<QueueId> {
        self.contexts[self.context_of(io_context)?].queues[sync.index()]
    }

    /// `cfq_set_request`: finds or makes the queue of a new request.
    pub(super) fn set_request(&mut self, q: &mut PlainQueue, ticket: Ticket) {
        let submitter = q.requests[&ticket].submitter;
        let sync = q.requests[&ticket].flags.sync();
        let context = self.context_of(submitter.io_context).unwrap_or_else(|| {
            self.contexts.push(Context {
                io_context: submitter.io_context,
                alive: true,
                queues: [None; 2],
                think: Mean::default(),
                last_end_jiffies: q.now,
                seek: Mean::default(),
                last_end: 0,
            });
            self.contexts.len() - 1
        });
        let queue = self.settle_queue(q, context, submitter, sync);
        self.queues[queue].allocated += 1;
        self.owners.insert(ticket, (context, q.now));
        q.get_mut(ticket).queue = queue;
    }

    fn settle_queue(
        &mut self,
        q: &mut PlainQueue,
        context: ContextId,
        submitter: Submitter,
        sync: Sync,
    ) -> QueueId {
        let mut current = self.contexts[context].queues[sync.index()];
        if let Some(queue) = current
            && self.should_split(q, queue)
        {
            current = self.split(q, context, queue, submitter);
        }
        let Some(queue) = current else {
            let queue = self.get_queue(submitter, sync);
            self.queues[queue].process_refs += 1;
            self.contexts[context].queues[sync.index()] = Some(queue);
            return queue;
        };
        let Some(target) = self.queues[queue].merge_into else { return queue };
        self.contexts[context].queues[Sync::Sync.index()] = Some(target);
        self.queues[target].coop = true;
        self.put(q, queue);
        target
    }

    /// `cfq_get_queue`: async queues are shared by everybody of the same class and priority.
    pub(super) fn get_queue(&mut self, submitter: Submitter, sync: Sync) -> QueueId {
        let idle = submitter.class == IoClass::Idle;
        let priority = if idle { 7 } else { u64::from(submitter.priority) };
        let is_sync = sync == Sync::Sync;
        let same =
            |queue: &CfqQueue| !queue.sync && queue.class == submitter.class && queue.priority == priority;
        if !is_sync && let Some(shared) = self.queues.iter().position(same) {
            return shared;
        }
        self.queues.push(CfqQueue {
            sync: is_sync,
            class: submitter.class,
            priority,
            owner: submitter.io_context,
            fifo: Vec::new(),
            next: None,
            busy: false,
            tree: None,
            key: 0,
            dispatched: 0,
            allocated: 0,
            // The device itself holds on to an async queue.
            process_refs: i64::from(!is_sync),
            slice_new: false,
            slice_start: 0,
            slice_end: 0,
            residual: 0,
            slice_dispatch: 0,
            idle_window: is_sync && !idle,
            waiting: false,
            must_dispatch: false,
            must_alloc_slice: false,
            fifo_checked: false,
            deep: false,
            wait_busy: false,
            coop: false,
            coop_preempt: false,
            split_coop: false,
            merge_into: None,
            seek: Mean::default(),
            seek_history: 0,
            last_end: 0,
            seeky_since: None,
        });
        self.queues.len() - 1
    }

    /// A process lets go of a queue.
    fn put(&mut self, q: &mut PlainQueue, queue: QueueId) {
        self.queues[queue].process_refs -= 1;
        self.drop_if_unused(q, queue);
    }

    /// A queue that nobody uses and that has no request is freed; it cannot stay active.
    pub(super) fn drop_if_unused(&mut self, q: &mut PlainQueue, queue: QueueId) {
        let unused = self.queues[queue].process_refs == 0 && self.queues[queue].allocated == 0;
        if unused && self.active == Some(queue) {
            self.expire(q, queue, false);
            self.schedule_dispatch(q);
        }
    }

    /// `cfq_exit_io_context`: the async queue first, then the sync one.
    pub(super) fn exit_context(&mut self, q: &mut PlainQueue, io_context: u32) {
        let Some(context) = self.context_of(io_context) else { return };
        self.contexts[context].alive = false;
        for sync in [Sync::Async, Sync::Sync] {
            if let Some(queue) = self.contexts[context].queues[sync.index()].take() {
                self.exit_queue(q, queue);
            }
        }
    }

    fn exit_queue(&mut self, q: &mut PlainQueue, queue: QueueId) {
        if self.active == Some(queue) {
            self.expire(q, queue, false);
            self.schedule_dispatch(q);
        }
        self.put_cooperators(q, queue);
        self.put(q, queue);
    }

    /// Lets go of all queues that this one was to be merged into.
    fn put_cooperators(&mut self, q: &mut PlainQueue, queue: QueueId) {
        let mut next = self.queues[queue].merge_into;
        while let Some(target) = next.filter(|target| *target != queue) {
            next = self.queues[target].merge_into;
            self.put(q, target);
        }
    }

    /// `cfq_close_cooperator`. Up to 2.6.32, `jump` marks the one that is found.
    pub(super) fn close_cooperator(
        &mut self,
        q: &PlainQueue,
        active: QueueId,
        jump: bool,
    ) -> Option<QueueId> {
        if self.kernel < Kernel::For33 {
            self.active_context?;
            let close = self.nearest_queue(q, active)?;
            if self.queues[close].coop {
                return None;
            }
            self.queues[close].coop = jump;
            return Some(close);
        }
        let alone = self.kernel >= Kernel::V33 && self.busy_queues() == 1;
        let idle = self.kernel >= Kernel::V34 && self.queues[active].class == IoClass::Idle;
        if !self.queues[active].sync || self.is_seeky(active) || alone || idle {
            return None;
        }
        let close = self.nearest_queue(q, active)?;
        let real_time = |queue: QueueId| self.queues[queue].class == IoClass::RealTime;
        if !self.queues[close].sync || self.is_seeky(close) || real_time(close) != real_time(active) {
            return None;
        }
        if jump && self.queues[active].merge_into.is_none() {
            self.set_up_merge(active, close);
        }
        Some(close)
    }

    /// `cfqq_close`. The kernel's tree holds one neighbour of the head at the end of a search, which
    /// of the two depends on the tree's shape, and takes it if it is close, else the other. Here the
    /// nearer one is asked, of two equally near ones the one that is not behind the head. The kernel
    /// keeps only one of several queues with the same next sector; here the oldest is asked.
    pub(super) fn nearest_queue(&self, q: &PlainQueue, active: QueueId) -> Option<QueueId> {
        let members = self.sector_tree(q, self.queues[active].priority);
        let head = self.last_position;
        let nearest =
            members.iter().min_by_key(|(sector, queue)| (sector.abs_diff(head), *sector < head, *queue));
        let (sector, queue) = *nearest?;
        let next = self.queues[queue].next?;
        (sector == head || self.is_close(q, active, next, false)).then_some(queue)
    }

    /// `cfq_setup_merge`: the queue with fewer processes is to be merged into the other.
    fn set_up_merge(&mut self, queue: QueueId, mut target: QueueId) {
        let strict = self.kernel >= Kernel::V34;
        if strict && self.queues[target].process_refs == 0 {
            return;
        }
        while let Some(further) = self.queues[target].merge_into {
            if further == queue {
                return;
            }
            target = further;
        }
        let (from, to) = (self.queues[queue].process_refs, self.queues[target].process_refs);
        if from == 0 || (strict && to == 0) {
            return;
        }
        if to >= from {
            self.queues[queue].merge_into = Some(target);
            self.queues[target].process_refs += from;
        } else {
            self.queues[target].merge_into = Some(queue);
            self.queues[queue].process_refs += to;
        }
    }

    /// For-2.6.33: seeky for more than a second. 2.6.33 on: seeky at the end of a slice.
    fn should_split(&self, q: &PlainQueue, queue: QueueId) -> bool {
        let state = &self.queues[queue];
        if self.kernel < Kernel::For33 || !state.coop {
            return false;
        }
        if self.kernel == Kernel::For33 {
            return state.seeky_since.is_some_and(|since| q.now > since + self.tunables.hz);
        }
        state.split_coop
    }

    /// `split_cfqq`: the last process keeps the queue, others leave it.
    fn split(
        &mut self,
        q: &mut PlainQueue,
        context: ContextId,
        queue: QueueId,
        submitter: Submitter,
    ) -> Option<QueueId> {
        if self.queues[queue].process_refs == 1 {
            let state = &mut self.queues[queue];
            state.seeky_since = None;
            state.owner = submitter.io_context;
            state.coop = false;
            state.split_coop = false;
            return Some(queue);
        }
        self.contexts[context].queues[Sync::Sync.index()] = None;
        if self.kernel >= Kernel::V34 {
            self.put_cooperators(q, queue);
        }
        self.put(q, queue);
        None
    }
}
