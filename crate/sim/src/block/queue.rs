//! The request queue of one device: the face that the rest of the machine sees.

use super::bio::{Bio, BioTag, Submitter, Sync};
use crate::observe::{HeldTotals, Recorder};

/// What became of a submitted bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submission {
    /// Merged or made into a request.
    Accepted,
    /// No request is free in this direction: sleep until [`BlockOut::wake`] says so, then resume.
    MustWait(Sync),
}

/// A bio that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BioCompletion {
    /// The submitter's name for it.
    pub tag: BioTag,
    /// When the device took the request it was part of, in nanoseconds.
    pub started_ns: u64,
    /// The queue's running totals at that moment.
    pub held_at_start: HeldTotals,
    /// How long the request's own submitter had been served by then, in nanoseconds.
    pub served_at_start_ns: u64,
}

/// What a call into a queue causes elsewhere; the caller empties it.
#[derive(Clone, Debug, Default)]
pub struct BlockOut {
    /// Bios that are done, in order.
    pub completed: Vec<BioCompletion>,
    /// Waiters for a free request to wake, one each time: by direction (index [`Sync::index`]).
    pub wake: [u32; 2],
    /// kblockd has work: call [`BlockQueue::run_work`] when it gets a CPU.
    pub kick_kblockd: bool,
}

/// The request queue of one device with its elevator and the device itself.
#[derive(Clone, Debug)]
pub struct BlockQueue {}

#[allow(unused_variables, clippy::unused_self)]
impl BlockQueue {
    /// Submits a bio in the context of its submitter. With `resumed`, the submitter has slept for a
    /// request since the first attempt.
    pub fn submit(
        &mut self,
        now_ns: u64,
        bio: &Bio,
        resumed: bool,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) -> Submission {
        Submission::Accepted
    }

    /// Somebody is going to wait for I/O, or asks for it to start: removes the plug, if any, and
    /// runs the queue.
    pub fn unplug(&mut self, now_ns: u64, recorder: &mut Recorder, out: &mut BlockOut) {}

    /// kblockd's turn: does the work it was kicked for.
    pub fn run_work(&mut self, now_ns: u64, recorder: &mut Recorder, out: &mut BlockOut) {}

    /// When the queue next has to be looked after: a timer, or the device. Changes with every call.
    #[must_use]
    pub fn next_event_ns(&self) -> Option<u64> {
        None
    }

    /// Handles everything due at `now_ns`.
    pub fn advance(&mut self, now_ns: u64, recorder: &mut Recorder, out: &mut BlockOut) {}

    /// A process is going to wait for another one's I/O and hands it its turn (section 2.20).
    pub fn yield_to(
        &mut self,
        now_ns: u64,
        from: Submitter,
        to: Submitter,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) {
    }

    /// The last task of an io context has exited.
    pub fn context_exited(
        &mut self,
        now_ns: u64,
        io_context: u32,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) {
    }

    /// Whether a direction is congested (section 1.2).
    #[must_use]
    pub fn is_congested(&self, sync: Sync) -> bool {
        false
    }

    /// The running totals of why the queue was held, up to `now_ns`.
    #[must_use]
    pub fn held_totals(&self, now_ns: u64) -> HeldTotals {
        HeldTotals::default()
    }

    /// How long `io_context`'s own slices have been served up to `now_ns`, in nanoseconds, while
    /// the device was busy.
    #[must_use]
    pub fn served_ns(&self, io_context: u32, now_ns: u64) -> u64 {
        0
    }

    /// When the device took the request that holds the bio `tag`, if it has: start time, totals and
    /// service at that moment, as in [`BioCompletion`]. O(requests in the device).
    #[must_use]
    pub fn started(&self, tag: BioTag) -> Option<BioCompletion> {
        None
    }
}
