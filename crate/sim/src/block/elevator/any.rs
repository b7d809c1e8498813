//! One of the elevators, dispatched statically so that simulations can be cloned and stay fast.

use super::{
    Anticipatory, Bio, Cfq, Deadline, Elevator, ElevatorIo, MayQueue, Noop, RequestId, RequestPool, Serving,
    Submitter, Sync,
};

/// Any elevator. A new one is a variant here, a file beside this one, and a name in `kernel`.
#[derive(Clone, Debug)]
pub enum AnyElevator {
    /// First in, first out.
    Noop(Noop),
    /// Deadlines and batches.
    Deadline(Deadline),
    /// Anticipation of the next read.
    Anticipatory(Anticipatory),
    /// Complete fair queueing. Boxed: it is much larger than the others.
    Cfq(Box<Cfq>),
}

macro_rules! each {
    ($self:ident, $elevator:ident => $call:expr) => {
        match $self {
            AnyElevator::Noop($elevator) => $call,
            AnyElevator::Deadline($elevator) => $call,
            AnyElevator::Anticipatory($elevator) => $call,
            AnyElevator::Cfq($elevator) => $call,
        }
    };
}

impl AnyElevator {
    /// CFQ, if that is what it is.
    #[must_use]
    pub fn as_cfq(&self) -> Option<&Cfq> {
        if let Self::Cfq(cfq) = self { Some(cfq) } else { None }
    }
}

impl Elevator for AnyElevator {
    #[inline]
    fn is_empty(&self) -> bool {
        each!(self, elevator => elevator.is_empty())
    }
    fn allows_merge(&self, requests: &RequestPool, request: RequestId, bio: &Bio) -> bool {
        each!(self, elevator => elevator.allows_merge(requests, request, bio))
    }
    fn front_merge_candidate(&self, requests: &RequestPool, bio: &Bio) -> Option<RequestId> {
        each!(self, elevator => elevator.front_merge_candidate(requests, bio))
    }
    #[inline]
    fn neighbours(
        &self,
        requests: &RequestPool,
        request: RequestId,
    ) -> (Option<RequestId>, Option<RequestId>) {
        each!(self, elevator => elevator.neighbours(requests, request))
    }
    fn front_merged(&mut self, io: &mut ElevatorIo<'_>, request: RequestId, old_sector: u64) {
        each!(self, elevator => elevator.front_merged(io, request, old_sector));
    }
    fn requests_merged(&mut self, io: &mut ElevatorIo<'_>, survivor: RequestId, absorbed: RequestId) {
        each!(self, elevator => elevator.requests_merged(io, survivor, absorbed));
    }
    fn may_queue(&mut self, io: &mut ElevatorIo<'_>, submitter: Submitter, sync: Sync) -> MayQueue {
        each!(self, elevator => elevator.may_queue(io, submitter, sync))
    }
    fn prepare(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        each!(self, elevator => elevator.prepare(io, request));
    }
    fn insert(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        each!(self, elevator => elevator.insert(io, request));
    }
    #[inline]
    fn dispatch(&mut self, io: &mut ElevatorIo<'_>, force: bool) -> usize {
        each!(self, elevator => elevator.dispatch(io, force))
    }
    fn queue_was_run(&mut self) {
        each!(self, elevator => elevator.queue_was_run());
    }
    #[inline]
    fn activated(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        each!(self, elevator => elevator.activated(io, request));
    }
    fn completed(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        each!(self, elevator => elevator.completed(io, request));
    }
    fn released(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        each!(self, elevator => elevator.released(io, request));
    }
    fn timer(&mut self, io: &mut ElevatorIo<'_>) {
        each!(self, elevator => elevator.timer(io));
    }
    fn context_exited(&mut self, io: &mut ElevatorIo<'_>, io_context: u32) {
        each!(self, elevator => elevator.context_exited(io, io_context));
    }
    fn yield_to(&mut self, io: &mut ElevatorIo<'_>, from: Submitter, to: Submitter) {
        each!(self, elevator => elevator.yield_to(io, from, to));
    }
    #[inline]
    fn serving(&self) -> Serving {
        each!(self, elevator => elevator.serving())
    }
    fn is_idling(&self) -> bool {
        each!(self, elevator => elevator.is_idling())
    }
    fn held(&self) -> usize {
        each!(self, elevator => elevator.held())
    }
}
