//! CFQ, in every generation from 2.6.30 to 2.6.38.
//!
//! *Models:* per-context sync queues and shared async queues, service trees, slices that begin at
//! the first completion, idling, preemption, cooperation, NCQ detection, async depth; one root group.
//! *Does not model:* cgroups beyond the root group, the priority boost of tasks that hold a file
//! system lock, allocation failures.
//! *Follows:* model/block-layer.md, section 2; Linux block/cfq-iosched.c of each release. Which
//! release does what is data: [`CfqPolicy`].
//!
//! All times are jiffies as signed integers, so that keys may lie before the beginning.

mod choose;
mod cooperate;
mod depth;
mod idle;
mod ncq;
mod policy;
mod preempt;
mod queue;
mod select;
mod service;
mod slice;
mod tree;
mod tunables;

#[cfg(test)]
mod tests;

pub use policy::{
    AsyncDepth, CfqPolicy, ClassChange, Cooperation, DepthRule, DrainAsync, FifoDeadline, IdleAfter,
    IdleWhen, MeasuredFrom, MetadataPreempt, NcqDetection, NoidlePreempt, PreemptRules, PreemptingKey,
    Residual, SeekMemory, SeekyIdle, ServiceTrees, TreeIdle, WaitsBusy,
};
pub use tunables::CfqTunables;

use super::{Elevator, ElevatorIo, MayQueue, Serving, TimerRequest};
use crate::block::{Bio, BioFlags, IoClass, PAGE_SECTORS, Place, RequestId, RequestPool, Submitter, Sync};
use crate::engine::Clock;
use crate::observe::{TraceKind, WorkloadType};
use ncq::HwTag;
use queue::{CfqQueue, IoContext, Owner, QueueId, YieldTarget};
use tree::Trees;

/// No sector: beyond any device.
const NOWHERE: u64 = u64::MAX;

/// Priorities within a class.
const PRIORITIES: usize = 8;

/// The scheduler's state.
#[derive(Clone, Debug)]
pub struct Cfq {
    policy: CfqPolicy,
    tunables: CfqTunables,
    hz: i64,
    queues: Vec<CfqQueue>,
    /// Where each queue's next request begins; [`NOWHERE`] without one, and in the idle class.
    next_sectors: Vec<u64>,
    contexts: Vec<Option<IoContext>>,
    /// Async queues by class (best effort, real time) and priority, and the idle class's one.
    async_queues: [[Option<QueueId>; PRIORITIES]; 2],
    async_idle_queue: Option<QueueId>,
    trees: Trees,
    active: Option<QueueId>,
    /// The context of the first request dispatched since the active queue was chosen.
    active_context: Option<u32>,
    serving_class: IoClass,
    serving_workload: WorkloadType,
    workload_expires: i64,
    /// What was left of the workload's turn at the last expiry.
    saved_turn: Option<SavedTurn>,
    /// The workload's turn has seen a request without NOIDLE: one bit, or one bit per queue hash.
    requires_idle: u32,
    /// Averages of busy queues: best effort, real time.
    busy_average: [u32; 2],
    busy_queues: u32,
    /// Requests held.
    held: u32,
    /// Requests the driver has looked at: async, sync.
    in_driver: [u32; 2],
    /// Requests on the dispatch list or in the device, by queue: async, sync.
    in_flight: [u32; 2],
    hw_tag: HwTag,
    /// Where the last request started ends.
    head: u64,
    last_sync_end: i64,
    last_delayed_sync: i64,
    timer_armed: bool,
    /// The queue that must dispatch again once the queue has been run.
    must_dispatch_after_run: Option<QueueId>,
}

#[derive(Clone, Copy, Debug)]
struct SavedTurn {
    left: i64,
    workload: WorkloadType,
    class: IoClass,
}

impl Cfq {
    /// The scheduler of a release, with its tunables.
    #[must_use]
    pub fn new(policy: CfqPolicy, tunables: CfqTunables, clock: &Clock) -> Self {
        let start = clock.jiffies(0) as i64;
        Self {
            trees: Trees::new(policy.trees),
            hw_tag: HwTag::new(policy.ncq_detection),
            policy,
            tunables,
            hz: clock.hz() as i64,
            queues: Vec::new(),
            next_sectors: Vec::new(),
            contexts: Vec::new(),
            async_queues: [[None; PRIORITIES]; 2],
            async_idle_queue: None,
            active: None,
            active_context: None,
            serving_class: IoClass::BestEffort,
            serving_workload: WorkloadType::Async,
            workload_expires: 0,
            saved_turn: None,
            requires_idle: 0,
            busy_average: [0; 2],
            busy_queues: 0,
            held: 0,
            in_driver: [0; 2],
            in_flight: [0; 2],
            head: 0,
            last_sync_end: start,
            // One second before the start: writeback begins at full depth.
            last_delayed_sync: start - clock.hz() as i64,
            timer_armed: false,
            must_dispatch_after_run: None,
        }
    }

    /// The tunables in force.
    #[must_use]
    pub fn tunables(&self) -> &CfqTunables {
        &self.tunables
    }

    /// The average number of busy best-effort queues (section 2.14): the hidden state that decides
    /// the length of turns.
    #[must_use]
    pub fn busy_average(&self) -> u32 {
        self.busy_average[0]
    }

    #[inline]
    fn queue(&self, id: QueueId) -> &CfqQueue {
        &self.queues[id.0 as usize]
    }

    #[inline]
    fn queue_mut(&mut self, id: QueueId) -> &mut CfqQueue {
        &mut self.queues[id.0 as usize]
    }

    #[inline]
    fn context(&self, io_context: u32) -> Option<&IoContext> {
        self.contexts.get(io_context as usize)?.as_ref()
    }

    #[inline]
    fn context_mut(&mut self, io_context: u32, now: i64) -> &mut IoContext {
        let index = io_context as usize;
        if self.contexts.len() <= index {
            self.contexts.resize(index + 1, None);
        }
        self.contexts[index].get_or_insert_with(|| IoContext::new(now))
    }

    fn driver_total(&self) -> u32 {
        self.in_driver[0] + self.in_driver[1]
    }

    fn queue_of(&self, requests: &RequestPool, request: RequestId) -> QueueId {
        QueueId(requests[request].elevator_data)
    }

    /// The queue that requests of a submitter go to now, if it exists (no merge or split is done).
    fn existing_queue(&self, submitter: Submitter, sync: Sync) -> Option<QueueId> {
        let context = self.context(submitter.io_context)?;
        match sync {
            Sync::Sync => context.sync_queue,
            Sync::Async => context.async_queue,
        }
    }

    /// Section 2.4, queue identity: finds or creates the queue for a request.
    fn queue_for(&mut self, io: &mut ElevatorIo<'_>, submitter: Submitter, sync: Sync) -> QueueId {
        let now = io.now_jiffies as i64;
        self.context_mut(submitter.io_context, now);
        match sync {
            Sync::Sync => self.sync_queue_for(io, submitter),
            Sync::Async => {
                let queue = self.async_queue_for(submitter.class, submitter.priority);
                self.context_mut(submitter.io_context, now).async_queue = Some(queue);
                queue
            }
        }
    }

    fn sync_queue_for(&mut self, io: &mut ElevatorIo<'_>, submitter: Submitter) -> QueueId {
        let now = io.now_jiffies as i64;
        let io_context = submitter.io_context;
        if let Some(queue) = self.context(io_context).and_then(|context| context.sync_queue) {
            let kept =
                if self.must_split(queue, now) { self.split(io, queue, submitter) } else { Some(queue) };
            if let Some(queue) = kept {
                return self.follow_merge(io, queue, io_context);
            }
        }
        let owner = Owner::Context(io_context);
        let queue = self.new_queue(owner, submitter.task, submitter.class, submitter.priority);
        self.queue_mut(queue).process_references = 1;
        self.context_mut(io_context, now).sync_queue = Some(queue);
        queue
    }

    /// The shared async queue of a class and priority, created on first use.
    fn async_queue_for(&mut self, class: IoClass, priority: u8) -> QueueId {
        let existing = self.existing_async_queue(class, priority);
        if let Some(queue) = existing {
            return queue;
        }
        let name = u32::MAX - u32::from(priority);
        let queue = self.new_queue(Owner::Async, name, class, priority);
        match class {
            IoClass::Idle => self.async_idle_queue = Some(queue),
            IoClass::BestEffort => self.async_queues[0][priority as usize % PRIORITIES] = Some(queue),
            IoClass::RealTime => self.async_queues[1][priority as usize % PRIORITIES] = Some(queue),
        }
        queue
    }

    fn existing_async_queue(&self, class: IoClass, priority: u8) -> Option<QueueId> {
        match class {
            IoClass::Idle => self.async_idle_queue,
            IoClass::BestEffort => self.async_queues[0][priority as usize % PRIORITIES],
            IoClass::RealTime => self.async_queues[1][priority as usize % PRIORITIES],
        }
    }

    fn new_queue(&mut self, owner: Owner, name: u32, class: IoClass, priority: u8) -> QueueId {
        self.queues.push(CfqQueue::new(owner, name, class, priority));
        self.next_sectors.push(NOWHERE);
        QueueId((self.queues.len() - 1) as u32)
    }

    /// Section 2.8: lets kblockd run the queue if anything is waiting.
    fn schedule_dispatch(&self, io: &mut ElevatorIo<'_>) {
        if self.busy_queues > 0 {
            io.effects.kick_kblockd = true;
        }
    }

    fn arm_timer(&mut self, io: &mut ElevatorIo<'_>, jiffies: u64) {
        self.timer_armed = true;
        io.effects.timer = Some(TimerRequest::Arm { jiffies });
    }

    fn cancel_timer(&mut self, io: &mut ElevatorIo<'_>) {
        if self.timer_armed {
            self.timer_armed = false;
            io.effects.timer = Some(TimerRequest::Cancel);
        }
    }

    /// Section 2.10 and what follows: statistics first, then: was it waited for, does it preempt?
    fn enqueued(&mut self, io: &mut ElevatorIo<'_>, id: QueueId, request: RequestId) {
        let now = io.now_jiffies as i64;
        let is_meta = io.requests[request].flags.has(BioFlags::META);
        self.held += 1;
        self.queue_mut(id).meta_pending += u32::from(is_meta);
        self.queue_mut(id).yields_to = None;
        self.update_statistics(io, id, request);
        if self.active == Some(id) {
            if self.queue(id).waiting {
                self.request_was_awaited(io, id, request);
            }
        } else if self.should_preempt(io, id, request, now) {
            self.preempt(io, id);
            io.effects.run_queue = true;
        }
    }

    /// Section 2.8, arrival for the waiting active queue: a request of one page on an otherwise idle
    /// device is held back for merging.
    fn request_was_awaited(&mut self, io: &mut ElevatorIo<'_>, id: QueueId, request: RequestId) {
        let start_now = io.requests[request].sectors > PAGE_SECTORS || self.busy_queues > 1;
        if start_now {
            io.recorder.record(TraceKind::CfqIdleRewarded(self.queue(id).name));
            self.cancel_timer(io);
            io.effects.run_queue = true;
        }
        match (start_now, self.policy.arrival_ends_wait) {
            (false, _) => self.queue_mut(id).must_dispatch = true,
            (true, true) => self.queue_mut(id).waiting = false,
            // 2.6.30 to 2.6.32 run the queue first and set the mark then.
            (true, false) => self.must_dispatch_after_run = Some(id),
        }
    }
}

impl Elevator for Cfq {
    fn is_empty(&self) -> bool {
        // Section 1.3: an empty queue that stays in its tree does not count as waiting.
        if self.policy.empty_queue_stays { self.held == 0 } else { self.busy_queues == 0 }
    }

    fn allows_merge(&self, requests: &RequestPool, request: RequestId, bio: &Bio) -> bool {
        let sync = bio.flags.sync();
        if sync == Sync::Sync && requests[request].sync() == Sync::Async {
            return false;
        }
        self.existing_queue(bio.submitter, sync) == Some(self.queue_of(requests, request))
    }

    fn front_merge_candidate(&self, _requests: &RequestPool, bio: &Bio) -> Option<RequestId> {
        let queue = self.existing_queue(bio.submitter, bio.flags.sync())?;
        self.queue(queue).sorted.find(bio.end())
    }

    fn neighbours(
        &self,
        requests: &RequestPool,
        request: RequestId,
    ) -> (Option<RequestId>, Option<RequestId>) {
        let sorted = &self.queue(self.queue_of(requests, request)).sorted;
        let sector = requests[request].sector;
        (sorted.predecessor(sector, request), sorted.successor(sector, request))
    }

    fn front_merged(&mut self, io: &mut ElevatorIo<'_>, request: RequestId, old_sector: u64) {
        let id = self.queue_of(io.requests, request);
        let sync = io.requests[request].sync().index();
        let queue = self.queue_mut(id);
        queue.sorted.remove(old_sector, request);
        queue.queued[sync] -= 1;
        self.add_sorted(io, id, request);
    }

    fn requests_merged(&mut self, io: &mut ElevatorIo<'_>, survivor: RequestId, absorbed: RequestId) {
        let id = self.queue_of(io.requests, survivor);
        let earlier = io.requests[absorbed].fifo_jiffies;
        if earlier < io.requests[survivor].fifo_jiffies {
            io.requests[survivor].fifo_jiffies = earlier;
            // Deadlines by start time are compared after the start times have been made equal, so
            // the survivor ages in its old place.
            if self.policy.fifo == FifoDeadline::FromArrivalByRequest {
                let queue = &mut self.queues[id.0 as usize];
                io.requests.fifo_move_behind(&mut queue.fifo, survivor, absorbed);
            }
        }
        // Before cf7c25cf91f the next request is chosen anew, around the one that goes.
        if self.policy.next_measured_from == MeasuredFrom::Dispatched && self.queue(id).next == Some(absorbed)
        {
            self.set_next(io.requests, id, Some(survivor));
        }
        self.remove(io, absorbed);
    }

    fn may_queue(&mut self, _io: &mut ElevatorIo<'_>, submitter: Submitter, sync: Sync) -> MayQueue {
        let Some(id) = self.existing_queue(submitter, sync) else { return MayQueue::May };
        let queue = self.queue_mut(id);
        if queue.waiting && !queue.must_allocate_used {
            queue.must_allocate_used = true;
            return MayQueue::Must;
        }
        MayQueue::May
    }

    fn prepare(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let (submitter, sync) = (io.requests[request].submitter, io.requests[request].sync());
        let queue = self.queue_for(io, submitter, sync);
        self.queue_mut(queue).allocated += 1;
        io.requests[request].elevator_data = queue.0;
    }

    fn insert(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let id = self.queue_of(io.requests, request);
        let deadline = match self.policy.fifo {
            FifoDeadline::FromStartByQueue => {
                let sync = usize::from(self.queue(id).is_sync());
                io.requests[request].start_jiffies + self.tunables.fifo_expire_jiffies[sync]
            }
            FifoDeadline::FromArrivalByRequest => {
                let sync = io.requests[request].sync().index();
                io.now_jiffies + self.tunables.fifo_expire_jiffies[sync]
            }
        };
        io.requests[request].fifo_jiffies = deadline;
        let fifo = &mut self.queues[id.0 as usize].fifo;
        io.requests.fifo_push(fifo, request);
        self.add_sorted(io, id, request);
        self.enqueued(io, id, request);
    }

    fn dispatch(&mut self, io: &mut ElevatorIo<'_>, force: bool) -> usize {
        if self.busy_queues == 0 {
            return 0;
        }
        if force {
            return self.dispatch_everything(io);
        }
        let Some(id) = self.select_queue(io) else { return 0 };
        if !self.may_dispatch(io, id) {
            return 0;
        }
        self.dispatch_next(io, id);
        1
    }

    fn queue_was_run(&mut self) {
        if let Some(id) = self.must_dispatch_after_run.take() {
            self.queue_mut(id).must_dispatch = true;
        }
    }

    fn activated(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let request = &io.requests[request];
        self.in_driver[request.sync().index()] += 1;
        self.head = request.end();
    }

    fn completed(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        self.request_completed(io, request);
    }

    fn released(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let queue = self.queue_of(io.requests, request);
        self.queue_mut(queue).allocated -= 1;
        self.expire_if_unused(io, queue);
    }

    fn timer(&mut self, io: &mut ElevatorIo<'_>) {
        self.timer_armed = false;
        io.recorder.record(TraceKind::CfqIdleFired);
        self.idle_timer_fired(io);
    }

    fn context_exited(&mut self, io: &mut ElevatorIo<'_>, io_context: u32) {
        let now = io.now_jiffies as i64;
        let context = self.context_mut(io_context, now);
        context.alive = false;
        let queues = [context.async_queue.take(), context.sync_queue.take()];
        for queue in queues.into_iter().flatten() {
            if self.active == Some(queue) {
                self.expire(io, queue, false);
                self.schedule_dispatch(io);
            }
            self.forget_planned_merges(io, queue);
            self.let_go(io, queue);
        }
    }

    fn yield_to(&mut self, io: &mut ElevatorIo<'_>, from: Submitter, to: Submitter) {
        if !self.policy.yields {
            return;
        }
        let Some(id) = self.existing_queue(from, Sync::Sync) else { return };
        if !self.queue(id).is_empty() || (self.active != Some(id) && self.queue(id).dispatched == 0) {
            return;
        }
        if self.noidle_tree_is_worth_idling(id) {
            return;
        }
        self.queue_mut(id).yields_to =
            Some(YieldTarget { io_context: to.io_context, class: to.class, priority: to.priority });
        io.effects.run_queue = true;
    }

    fn serving(&self) -> Serving {
        match self.active.map(|id| self.queue(id).owner) {
            None => Serving::Nobody,
            Some(Owner::Context(io_context)) => Serving::Context(io_context),
            Some(Owner::Async) => Serving::Async,
        }
    }

    fn is_idling(&self) -> bool {
        self.timer_armed
    }

    fn held(&self) -> usize {
        self.held as usize
    }
}

/// Whether a request is still with the elevator.
fn is_held(requests: &RequestPool, request: RequestId) -> bool {
    requests[request].place == Place::Elevator
}
