//! The narrow door between a request queue and its I/O scheduler.
//!
//! An elevator sees its own requests and the clock, nothing else: not the device's future, not the
//! tasks. What it wants done besides (run the queue, arm a timer) it asks for in [`Effects`].
//!
//! *Follows:* the hooks of Linux 2.6.30 to 2.6.38, `struct elevator_ops`.

mod anticipatory;
mod any;
pub mod cfq;
mod deadline;
mod noop;
#[cfg(test)]
mod reference;
mod release;
mod sorted;
pub mod tunables;

pub use anticipatory::{Anticipatory, AnticipatoryTunables};
pub use any::AnyElevator;
pub use cfq::{Cfq, CfqPolicy, CfqTunables};
pub use deadline::{Deadline, DeadlineTunables};
pub use noop::Noop;
pub use sorted::SortedRequests;

use super::bio::{Bio, Submitter, Sync};
use super::dispatch_list::DispatchList;
use super::request::{RequestId, RequestPool};
use crate::observe::Recorder;

/// What an elevator hook may see and touch, for the time of one call.
pub struct ElevatorIo<'a> {
    /// The time, in nanoseconds (observation only: kernel decisions use jiffies).
    pub now_ns: u64,
    /// The jiffy counter.
    pub now_jiffies: u64,
    /// The queue's requests.
    pub requests: &'a mut RequestPool,
    /// Where released requests go.
    pub dispatch_list: &'a mut DispatchList,
    /// What the hook wants done after it returns.
    pub effects: &'a mut Effects,
    /// The event trace.
    pub recorder: &'a mut Recorder,
    /// What the elevator may know about the device.
    pub device: DeviceFacts,
}

/// What the block layer knows about a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceFacts {
    /// Seeks cost nothing (`/sys/block/*/queue/rotational` is 0).
    pub non_rotational: bool,
    /// Block-layer tagging is in use.
    pub queues_commands: bool,
}

/// What an elevator wants done when its hook returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Effects {
    /// Run the queue at once, removing a plug (`__blk_run_queue`).
    pub run_queue: bool,
    /// Let kblockd run the queue (`kblockd_schedule_work`).
    pub kick_kblockd: bool,
    /// What to do with the elevator's one timer.
    pub timer: Option<TimerRequest>,
}

/// An order for the elevator's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerRequest {
    /// Fire in so many jiffies, instead of any earlier order.
    Arm {
        /// Jiffies from now.
        jiffies: u64,
    },
    /// Do not fire.
    Cancel,
}

/// Whether a submitter may have another request (`elevator_may_queue_fn`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MayQueue {
    /// If the pool's limits allow it.
    May,
    /// In any case: the elevator is waiting for this one.
    Must,
}

/// What the queue is doing from the elevator's point of view: for the cause of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serving {
    /// The elevator has no notion of a slice, or nobody's.
    Nobody,
    /// The slice of an io context is being served.
    Context(u32),
    /// The shared async queues' slice is being served.
    Async,
}

/// An I/O scheduler. At most one request moves to the dispatch list per [`Elevator::dispatch`].
pub trait Elevator {
    /// Whether the queue may be plugged: nothing waits (section 1.3, "elevator empty").
    fn is_empty(&self) -> bool;

    /// Whether `bio` may be merged into `request` (section 1.4, elevator consent).
    fn allows_merge(&self, requests: &RequestPool, request: RequestId, bio: &Bio) -> bool;

    /// A held request that starts where `bio` ends (section 1.4, front merge).
    fn front_merge_candidate(&self, requests: &RequestPool, bio: &Bio) -> Option<RequestId>;

    /// The held requests next to `request` in sector order, before and after, which it might be
    /// coalesced with.
    fn neighbours(
        &self,
        requests: &RequestPool,
        request: RequestId,
    ) -> (Option<RequestId>, Option<RequestId>);

    /// A bio has been put in front of `request`, whose first sector was `old_sector`.
    fn front_merged(&mut self, io: &mut ElevatorIo<'_>, request: RequestId, old_sector: u64);

    /// `absorbed` is about to be coalesced into `survivor` and must be forgotten; the survivor
    /// inherits the earlier fifo deadline.
    fn requests_merged(&mut self, io: &mut ElevatorIo<'_>, survivor: RequestId, absorbed: RequestId);

    /// Whether the submitter may have a request.
    fn may_queue(&mut self, _io: &mut ElevatorIo<'_>, _submitter: Submitter, _sync: Sync) -> MayQueue {
        MayQueue::May
    }

    /// A request has been allocated for a submitter: attach what the elevator keeps per request.
    fn prepare(&mut self, _io: &mut ElevatorIo<'_>, _request: RequestId) {}

    /// Takes a request in.
    fn insert(&mut self, io: &mut ElevatorIo<'_>, request: RequestId);

    /// Moves one request to the dispatch list if the elevator wants one served now. With `force`
    /// moves everything. Returns how many were moved.
    fn dispatch(&mut self, io: &mut ElevatorIo<'_>, force: bool) -> usize;

    /// The queue has been run as [`Effects::run_queue`] asked.
    fn queue_was_run(&mut self) {}

    /// The driver has looked at a request: it will be started next.
    fn activated(&mut self, _io: &mut ElevatorIo<'_>, _request: RequestId) {}

    /// The device has finished a request.
    fn completed(&mut self, _io: &mut ElevatorIo<'_>, _request: RequestId) {}

    /// A request is about to be freed.
    fn released(&mut self, _io: &mut ElevatorIo<'_>, _request: RequestId) {}

    /// The elevator's timer has fired.
    fn timer(&mut self, _io: &mut ElevatorIo<'_>) {}

    /// A submitter's io context has lost its last task.
    fn context_exited(&mut self, _io: &mut ElevatorIo<'_>, _io_context: u32) {}

    /// A process hands its turn to another because it is going to wait for it (section 2.20).
    fn yield_to(&mut self, _io: &mut ElevatorIo<'_>, _from: Submitter, _to: Submitter) {}

    /// Whose turn it is.
    fn serving(&self) -> Serving {
        Serving::Nobody
    }

    /// Whether the elevator holds requests back on purpose, waiting for somebody's next one.
    fn is_idling(&self) -> bool {
        false
    }

    /// Requests held, for checks.
    fn held(&self) -> usize;
}
