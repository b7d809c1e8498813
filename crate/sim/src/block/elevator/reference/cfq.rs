//! CFQ, slow and obviously right: written from the model document and checked against each release,
//! apart from the elevator that the simulator uses.
//!
//! Everything is plain data that is scanned: no cached first entry, no counters that could be counted.
//! Which release does what is asked where it matters (`self.kernel >= Kernel::V33`), so that each
//! function reads like a list of changes.
//!
//! *Models:* sections 2.1 to 2.22 for one device and the root group. *Does not model:* cgroups; the
//! boost of holders of file system locks; the shape of the kernel's search tree of queues by sector
//! (see [`Cfq::nearest_queue`]). *Follows:* `block/cfq-iosched.c` of the releases in [`Kernel`].

mod against;
mod bench;
mod cast;
mod idling;
mod order;
mod requests;
mod select;
mod sharing;
pub(crate) mod tests;
pub(crate) mod vectors;

use super::driver::Ticket;
use super::plain::{PlainQueue, Reference};
use crate::block::elevator::{MayQueue, Serving};
use crate::block::{Bio, BioFlags, IoClass, Submitter, Sync};

/// The releases that differ, in order of time (section 2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kernel {
    /// 2.6.30 and 2.6.31.
    V30,
    /// 2.6.32-rc1 and -rc2.
    V32Rc1,
    /// 2.6.32-rc3 and -rc4.
    V32Rc3,
    /// 2.6.32-rc5 and -rc6.
    V32Rc5,
    /// 2.6.32-rc7 to final.
    V32,
    /// The block tree of 8 November 2009, "for-2.6.33".
    For33,
    /// 2.6.33.
    V33,
    /// 2.6.34 and 2.6.35; where they differ (references to merged queues) as 2.6.35.
    V34,
    /// 2.6.36.
    V36,
    /// 2.6.37.
    V37,
    /// 2.6.38.
    V38,
}

impl Kernel {
    pub(crate) const ALL: [Self; 11] = [
        Self::V30,
        Self::V32Rc1,
        Self::V32Rc3,
        Self::V32Rc5,
        Self::V32,
        Self::For33,
        Self::V33,
        Self::V34,
        Self::V36,
        Self::V37,
        Self::V38,
    ];
}

/// Changes on top of a release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Patches {
    /// 8e55063 alone, on for-2.6.33: between 26 November and 3 December 2009.
    pub(crate) only_8e55063: bool,
    /// 8e55063 taken out again, with the clause that c04645e592d put on the same lines (0.2).
    pub(crate) revert_8e55063: bool,
    /// Only the clause "alone in its group" taken out.
    pub(crate) revert_c04645e592d: bool,
    /// The July 2010 pair of section 2.18.
    pub(crate) rq_noidle_pair: bool,
    /// 749ef9f8423: a queue whose next request is NOIDLE loses its idle window (2.19 b).
    pub(crate) noidle_leaves_sync_tree: bool,
    /// 749ef9f8423: every completion tries to idle (2.19 c).
    pub(crate) always_try_to_idle: bool,
    /// The ramp-up formula of section 2.21.
    pub(crate) async_ramp_up: bool,
}

/// What can be set, in jiffies unless the name says otherwise (section 2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tunables {
    pub(crate) hz: u64,
    pub(crate) quantum: u64,
    /// Async, sync.
    pub(crate) fifo_expire: [u64; 2],
    pub(crate) back_seek_max_kib: u64,
    pub(crate) back_seek_penalty: u64,
    /// Async, sync.
    pub(crate) slice: [u64; 2],
    pub(crate) slice_async_rq: u64,
    pub(crate) slice_idle: u64,
    pub(crate) group_idle: u64,
    pub(crate) low_latency: bool,
}

impl Tunables {
    /// The defaults of section 2.2 at a tick rate.
    pub(crate) fn defaults(kernel: Kernel, hz: u64) -> Self {
        Self {
            hz,
            quantum: if kernel >= Kernel::V34 { 8 } else { 4 },
            fifo_expire: [hz / 4, hz / 8],
            back_seek_max_kib: 16 * 1024,
            back_seek_penalty: 2,
            slice: [(hz / 25).max(1), hz / 10],
            slice_async_rq: 2,
            slice_idle: (hz / 125).max(1),
            group_idle: if kernel >= Kernel::V36 { (hz / 125).max(1) } else { 0 },
            low_latency: kernel >= Kernel::V32Rc3,
        }
    }

    /// 2 ms, rounded up to jiffies.
    fn immediate(&self) -> u64 {
        (2 * self.hz).div_ceil(1000)
    }
}

type QueueId = usize;
type ContextId = usize;

/// A service tree (section 2.14); up to 2.6.32 there is only [`Tree::One`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tree {
    One,
    Of(Priority, Workload),
    Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Priority {
    BestEffort,
    RealTime,
    Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Workload {
    Async,
    SyncNoidle,
    Sync,
}

pub(crate) const WORKLOADS: [Workload; 3] = [Workload::Async, Workload::SyncNoidle, Workload::Sync];

/// Running means with the kernel's weights (section 2.10).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mean {
    pub(crate) samples: u64,
    pub(crate) total: u64,
    pub(crate) mean: u64,
}

impl Mean {
    pub(crate) fn is_valid(&self) -> bool {
        self.samples > 80
    }
}

/// One queue: a task's sync requests, or everybody's async requests of one priority.
#[derive(Clone, Debug)]
struct CfqQueue {
    sync: bool,
    class: IoClass,
    priority: u64,
    /// The io context that made it.
    owner: u32,
    /// Requests held, in order of their deadlines.
    fifo: Vec<Ticket>,
    next: Option<Ticket>,
    /// Has requests, or (2.6.33 on) is the active queue.
    busy: bool,
    tree: Option<Tree>,
    key: i64,
    dispatched: u64,
    allocated: u64,
    process_refs: i64,
    slice_new: bool,
    slice_start: u64,
    slice_end: u64,
    residual: i64,
    slice_dispatch: u64,
    idle_window: bool,
    waiting: bool,
    must_dispatch: bool,
    must_alloc_slice: bool,
    fifo_checked: bool,
    deep: bool,
    wait_busy: bool,
    coop: bool,
    coop_preempt: bool,
    split_coop: bool,
    merge_into: Option<QueueId>,
    seek: Mean,
    seek_history: u32,
    last_end: u64,
    seeky_since: Option<u64>,
}

/// A task's (or a group of tasks') state on this device.
#[derive(Clone, Debug)]
struct Context {
    io_context: u32,
    alive: bool,
    /// Async, sync.
    queues: [Option<QueueId>; 2],
    think: Mean,
    last_end_jiffies: u64,
    seek: Mean,
    last_end: u64,
}

/// What CFQ decided, for tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    /// Made a queue active.
    Select(Serving),
    /// Dropped the active queue; with accounting of the rest of its slice or without.
    Expire(bool),
    /// Armed the idle timer.
    Arm(u64),
    /// Set the active queue's slice.
    Slice(u64),
    /// Chose a workload for so many jiffies.
    Turn(Workload, u64),
    /// Preempted the active queue.
    Preempt,
}

/// The scheduler.
#[derive(Clone, Debug)]
pub(crate) struct Cfq {
    kernel: Kernel,
    patches: Patches,
    tunables: Tunables,
    queues: Vec<CfqQueue>,
    contexts: Vec<Context>,
    /// Every tree's queues in order of service.
    trees: Vec<(Tree, Vec<QueueId>)>,
    active: Option<QueueId>,
    active_context: Option<ContextId>,
    timer_pending: bool,
    last_position: u64,
    /// Seen by the driver and not finished.
    in_driver: Vec<Ticket>,
    /// Whose each request is, and when it was allocated.
    owners: std::collections::BTreeMap<Ticket, (ContextId, u64)>,
    /// Up to for-2.6.33 the mark "must dispatch" is set after the run that an arrival starts.
    late_must_dispatch: Option<QueueId>,
    hw_tag: bool,
    hw_tag_decided: bool,
    hw_tag_samples: u64,
    hw_tag_peak: usize,
    /// End of the last sync request (rc3 to for-2.6.33), or of the last late one (2.6.33 on).
    last_sync_end: i64,
    serving_priority: Priority,
    serving: Workload,
    workload_expires: i64,
    saved: Option<(u64, Workload, Priority)>,
    noidle_tree_requires_idle: bool,
    queues_requiring_idle: Vec<QueueId>,
    /// By real time or not.
    busy_average: [u64; 2],
    pub(crate) log: Vec<(u64, Decision)>,
}

impl Cfq {
    pub(crate) fn new(kernel: Kernel, patches: Patches, tunables: Tunables) -> Self {
        let group_idle = if kernel >= Kernel::V36 { tunables.group_idle } else { 0 };
        let low_latency = tunables.low_latency && kernel >= Kernel::V32Rc3;
        // A machine starts in the 300th second of its jiffies. From 2.6.33 on CFQ assumes a late sync
        // request one second before.
        let seconds = if kernel >= Kernel::V33 { 299 } else { 300 };
        let last_sync_end = seconds * tunables.hz as i64;
        Self {
            kernel,
            patches,
            tunables: Tunables { low_latency, group_idle, ..tunables },
            queues: Vec::new(),
            contexts: Vec::new(),
            trees: Vec::new(),
            active: None,
            active_context: None,
            timer_pending: false,
            last_position: 0,
            in_driver: Vec::new(),
            owners: std::collections::BTreeMap::new(),
            late_must_dispatch: None,
            hw_tag: true,
            hw_tag_decided: false,
            hw_tag_samples: 0,
            hw_tag_peak: 0,
            last_sync_end,
            serving_priority: Priority::BestEffort,
            serving: Workload::Async,
            workload_expires: 0,
            saved: None,
            noidle_tree_requires_idle: false,
            queues_requiring_idle: Vec::new(),
            busy_average: [0; 2],
            log: Vec::new(),
        }
    }

    fn note(&mut self, q: &PlainQueue, decision: Decision) {
        self.log.push((q.now, decision));
    }

    fn busy_queues(&self) -> usize {
        self.queues.iter().filter(|queue| queue.busy).count()
    }

    fn requests_queued(&self) -> usize {
        self.queues.iter().map(|queue| queue.fifo.len()).sum()
    }

    /// Dispatched and not finished, of async queues or of sync ones.
    fn in_flight(&self, sync: bool) -> u64 {
        self.queues.iter().filter(|queue| queue.sync == sync).map(|queue| queue.dispatched).sum()
    }

    fn is_empty_queue(&self, queue: QueueId) -> bool {
        self.queues[queue].fifo.is_empty()
    }

    fn served_as(&self, queue: QueueId) -> Serving {
        if self.queues[queue].sync { Serving::Context(self.queues[queue].owner) } else { Serving::Async }
    }

    /// Asks kblockd to run the queue if there is something to serve.
    fn schedule_dispatch(&mut self, q: &mut PlainQueue) {
        if self.busy_queues() > 0 {
            q.effects.kick_kblockd = true;
        }
    }

    fn delete_timer(&mut self, q: &mut PlainQueue) {
        if self.timer_pending {
            self.timer_pending = false;
            q.cancel_timer();
        }
    }
}

fn is_meta(q: &PlainQueue, ticket: Ticket) -> bool {
    q.requests[&ticket].flags.has(BioFlags::META)
}

impl Reference for Cfq {
    /// Once in a slice, the task that CFQ idles for gets a request in any case (section 1.2).
    fn may_queue(&mut self, _q: &mut PlainQueue, submitter: Submitter, sync: Sync) -> MayQueue {
        let Some(queue) = self.queue_of(submitter.io_context, sync) else { return MayQueue::May };
        let queue = &mut self.queues[queue];
        if queue.waiting && !queue.must_alloc_slice {
            queue.must_alloc_slice = true;
            return MayQueue::Must;
        }
        MayQueue::May
    }

    fn allows_merge(&self, q: &PlainQueue, ticket: Ticket, bio: &Bio) -> bool {
        let request = &q.requests[&ticket];
        let sync = bio.flags.sync();
        if sync == Sync::Sync && !request.is_sync() {
            return false;
        }
        self.queue_of(bio.submitter.io_context, sync) == Some(request.queue)
    }

    fn front_merge_candidate(&self, q: &PlainQueue, bio: &Bio) -> Option<Ticket> {
        let queue = self.queue_of(bio.submitter.io_context, bio.flags.sync())?;
        self.sorted(q, queue).into_iter().find(|ticket| q.requests[ticket].key == bio.end())
    }

    fn neighbours(&self, q: &PlainQueue, ticket: Ticket) -> (Option<Ticket>, Option<Ticket>) {
        self.around(q, q.requests[&ticket].queue, ticket)
    }

    fn front_merged(&mut self, q: &mut PlainQueue, ticket: Ticket, _old_sector: u64) {
        self.put_in_place(q, ticket);
    }

    fn requests_merged(&mut self, q: &mut PlainQueue, survivor: Ticket, absorbed: Ticket) {
        self.merge_requests(q, survivor, absorbed);
    }

    fn prepare(&mut self, q: &mut PlainQueue, ticket: Ticket) {
        self.set_request(q, ticket);
    }

    fn insert(&mut self, q: &mut PlainQueue, ticket: Ticket) {
        let queue = q.requests[&ticket].queue;
        let expire = self.tunables.fifo_expire[usize::from(q.requests[&ticket].is_sync())];
        let now = q.now;
        q.hold(ticket);
        q.get_mut(ticket).fifo_jiffies = now + expire;
        self.queues[queue].fifo.push(ticket);
        self.put_in_place(q, ticket);
        self.enqueued(q, queue, ticket);
    }

    fn dispatch(&mut self, q: &mut PlainQueue, force: bool) -> usize {
        if self.busy_queues() == 0 {
            return 0;
        }
        if force {
            return self.forced_dispatch(q);
        }
        self.dispatch_one(q)
    }

    fn activated(&mut self, q: &mut PlainQueue, ticket: Ticket) {
        self.in_driver.push(ticket);
        self.last_position = q.requests[&ticket].end();
    }

    fn completed(&mut self, q: &mut PlainQueue, ticket: Ticket) {
        self.complete(q, ticket);
    }

    fn released(&mut self, q: &mut PlainQueue, ticket: Ticket) {
        let queue = q.requests[&ticket].queue;
        self.owners.remove(&ticket);
        self.queues[queue].allocated -= 1;
        self.drop_if_unused(q, queue);
    }

    fn timer(&mut self, q: &mut PlainQueue) {
        self.timer_pending = false;
        self.idle_timer(q);
    }

    fn queue_was_run(&mut self) {
        if let Some(queue) = self.late_must_dispatch.take() {
            self.queues[queue].must_dispatch = true;
        }
    }

    fn context_exited(&mut self, q: &mut PlainQueue, io_context: u32) {
        self.exit_context(q, io_context);
    }

    fn serving(&self) -> Serving {
        self.active.map_or(Serving::Nobody, |queue| self.served_as(queue))
    }

    fn is_idling(&self) -> bool {
        self.timer_pending
    }
}
