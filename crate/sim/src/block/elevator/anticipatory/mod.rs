//! anticipatory: after a read, wait a moment for the same process's next one.
//!
//! *Models:* batches of sync and async requests; anticipation by think time, seek distance and exits
//! of each io context; closeness of other processes' requests; fifo expiry. "Read" in the kernel's
//! names means sync, "write" async.
//! *Does not model:* one history of an io context for all devices (see `history`). After a front
//! merge that sends another request on, the kernel may lose sight of the next request until another
//! arrives, and a forced dispatch then leaves requests behind; here it takes them all.
//! *Follows:* model/block-layer.md, section 3.3; Linux 2.6.30 to 2.6.32 `block/as-iosched.c` (removed
//! in 2.6.33).

mod anticipation;
mod batch;
mod history;
mod tunables;
mod waiting;

pub use tunables::AnticipatoryTunables;

use super::{Elevator, ElevatorIo, MayQueue, Serving};
use crate::block::{Bio, RequestId, RequestPool, Submitter, Sync};
use crate::engine::Clock;
use anticipation::{Anticipation, Candidate, Judgement};
use batch::Batch;
use history::History;
use waiting::Waiting;

/// The anticipatory I/O scheduler.
#[derive(Clone, Debug)]
pub struct Anticipatory {
    tunables: AnticipatoryTunables,
    /// Async and sync requests.
    waiting: [Waiting; 2],
    batch: Batch,
    anticipation: Anticipation,
    history: History,
    /// Requests dispatched and not yet finished.
    under_way: usize,
}

/// What a batch that has not expired has to offer.
enum Offer {
    Serve(RequestId),
    Wait,
    Nothing,
}

impl Anticipatory {
    /// An empty anticipatory, at jiffy `now_jiffies`. The first batches are timed by the defaults, as
    /// in the kernel, where tunables are set after the elevator has been started.
    #[must_use]
    pub fn new(tunables: AnticipatoryTunables, clock: &Clock, now_jiffies: u64) -> Self {
        let think_max_jiffies = (clock.hz() / 50).saturating_sub(1);
        let close_jiffies_max = clock.jiffies_from_ms(20, 0);
        Self {
            tunables,
            waiting: Default::default(),
            batch: Batch::new(&AnticipatoryTunables::for_clock(clock), now_jiffies),
            anticipation: Anticipation::new(close_jiffies_max),
            history: History::new(think_max_jiffies),
            under_way: 0,
        }
    }

    /// The tunables in force.
    #[must_use]
    pub fn tunables(&self) -> &AnticipatoryTunables {
        &self.tunables
    }

    fn of(&mut self, kind: Sync) -> &mut Waiting {
        &mut self.waiting[kind.index()]
    }

    fn waits(&self, kind: Sync) -> bool {
        !self.waiting[kind.index()].fifo.is_empty()
    }

    fn judgement(&self, now_jiffies: u64) -> Judgement {
        Judgement {
            now_jiffies,
            antic_expire_jiffies: self.tunables.antic_expire_jiffies,
            head: self.waiting[self.batch.kind.index()].head,
        }
    }

    /// Sorts a request in. One that starts at the same sector has to leave for the device first.
    fn sort_in(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let (sector, kind) = (io.requests[request].sector, io.requests[request].sync());
        while let Some(alias) = self.of(kind).sorted.insert(sector, request) {
            self.release(io, alias);
        }
    }

    /// Moves a request to the dispatch list; its process is the one to expect, if it is sync.
    fn release(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let facts = &io.requests[request];
        let (kind, end, io_context) = (facts.sync(), facts.end(), facts.submitter.io_context);
        self.anticipation.stop(io.effects);
        self.anticipation.expect((kind == Sync::Sync).then_some(io_context));
        if kind == Sync::Async {
            self.batch.count_write();
        }
        let waiting = self.of(kind);
        waiting.head = end;
        waiting.next = waiting.after(io.requests, request);
        self.forget(io, request);
        io.dispatch_sorted(request);
        self.history.context(io_context).released += 1;
        self.under_way += 1;
    }

    fn forget(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let kind = io.requests[request].sync();
        self.of(kind).forget(io.requests, request);
        let context = self.history.context(io.requests[request].submitter.io_context);
        context.queued = context.queued.saturating_sub(1);
    }

    fn has_expired(&mut self, io: &ElevatorIo<'_>, kind: Sync) -> bool {
        let expire = self.tunables.expire_jiffies(kind);
        self.of(kind).has_expired(io.requests, expire, io.now_jiffies)
    }

    fn dispatch_one(&mut self, io: &mut ElevatorIo<'_>) -> usize {
        let (reads, writes) = (self.waits(Sync::Sync), self.waits(Sync::Async));
        self.batch.note_demand(reads, writes);
        if !(reads || writes) || self.anticipation.is_waiting() || self.batch.is_changing {
            return 0;
        }
        let may_go_on = !(reads && writes && self.batch.has_expired(io.now_jiffies));
        let offer = if may_go_on { self.go_on(io, reads && !writes) } else { Offer::Nothing };
        let request = match offer {
            Offer::Serve(request) => Some(request),
            Offer::Wait => None,
            Offer::Nothing => self.begin_batch(io, reads, writes),
        };
        let Some(request) = request else { return 0 };
        if self.batch.is_changing {
            if self.under_way > 0 {
                return 0;
            }
            self.batch.take_effect_at_once(&self.tunables, io.now_jiffies);
        }
        self.release(io, request);
        1
    }

    /// The next request of the present batch, if it is not better to wait for another one.
    fn go_on(&mut self, io: &mut ElevatorIo<'_>, only_reads: bool) -> Offer {
        let kind = self.batch.kind;
        let next = self.waiting[kind.index()].next;
        let mut takes_oldest = false;
        if kind == Sync::Sync && self.tunables.antic_expire_jiffies > 0 {
            takes_oldest = self.has_expired(io, kind);
            if !takes_oldest && self.should_wait(io, next) {
                let judgement = self.judgement(io.now_jiffies);
                self.anticipation.begin(io.effects, judgement);
                return Offer::Wait;
            }
        }
        if !takes_oldest {
            if next.is_none() {
                return Offer::Nothing;
            }
            if only_reads {
                self.batch.extend(&self.tunables, io.now_jiffies);
            }
            takes_oldest = self.has_expired(io, kind);
        }
        let oldest = self.waiting[kind.index()].fifo.first();
        let request = if takes_oldest { oldest } else { next };
        request.map_or(Offer::Nothing, Offer::Serve)
    }

    fn should_wait(&mut self, io: &ElevatorIo<'_>, next: Option<RequestId>) -> bool {
        let candidate = next.map(|id| Candidate::new(io.requests, id));
        let judgement = self.judgement(io.now_jiffies);
        self.anticipation.should_wait(&mut self.history, candidate, judgement)
    }

    /// Begins a batch of the other kind if it waits, with its oldest request.
    fn begin_batch(&mut self, io: &ElevatorIo<'_>, reads: bool, writes: bool) -> Option<RequestId> {
        let reads_go = reads && !(writes && self.batch.kind == Sync::Sync);
        let kind = if reads_go { Sync::Sync } else { Sync::Async };
        self.batch.begin(kind);
        let waiting = self.of(kind);
        waiting.note_checked(io.now_jiffies);
        waiting.fifo.first()
    }

    /// Sends everything on, sync requests first, each kind in the order of service.
    fn dispatch_all(&mut self, io: &mut ElevatorIo<'_>) -> usize {
        self.batch.reset();
        let mut moved = 0;
        for kind in [Sync::Sync, Sync::Async] {
            while let Some(request) = self.of(kind).next.or(self.of(kind).fifo.first()) {
                self.release(io, request);
                moved += 1;
            }
            self.of(kind).note_checked(io.now_jiffies);
        }
        moved
    }
}

impl Elevator for Anticipatory {
    fn is_empty(&self) -> bool {
        self.held() == 0
    }

    fn allows_merge(&self, _requests: &RequestPool, _request: RequestId, _bio: &Bio) -> bool {
        true
    }

    /// Since the split into sync and async in 2.6.30 the kernel looks for a read's front merge among
    /// the async requests and for a write's among the sync ones, so only a sync write is ever found.
    fn front_merge_candidate(&self, requests: &RequestPool, bio: &Bio) -> Option<RequestId> {
        let wrong_kind = if bio.flags.is_write() { Sync::Sync } else { Sync::Async };
        let found = self.waiting[wrong_kind.index()].sorted.find(bio.end())?;
        (requests[found].is_write() == bio.flags.is_write()).then_some(found)
    }

    fn neighbours(
        &self,
        requests: &RequestPool,
        request: RequestId,
    ) -> (Option<RequestId>, Option<RequestId>) {
        let sorted = &self.waiting[requests[request].sync().index()].sorted;
        let sector = requests[request].sector;
        (sorted.predecessor(sector, request), sorted.successor(sector, request))
    }

    fn front_merged(&mut self, io: &mut ElevatorIo<'_>, request: RequestId, old_sector: u64) {
        let kind = io.requests[request].sync();
        self.of(kind).sorted.remove(old_sector, request);
        self.sort_in(io, request);
    }

    fn requests_merged(&mut self, io: &mut ElevatorIo<'_>, survivor: RequestId, absorbed: RequestId) {
        let kind = io.requests[survivor].sync();
        let earlier = io.requests[absorbed].fifo_jiffies;
        if earlier < io.requests[survivor].fifo_jiffies {
            io.requests.fifo_move_behind(&mut self.of(kind).fifo, survivor, absorbed);
            io.requests[survivor].fifo_jiffies = earlier;
        }
        self.forget(io, absorbed);
        let io_context = io.requests[absorbed].submitter.io_context;
        self.history.note_end(io_context, kind == Sync::Sync, io.now_jiffies);
    }

    fn may_queue(&mut self, _io: &mut ElevatorIo<'_>, submitter: Submitter, _sync: Sync) -> MayQueue {
        let is_expected = self.anticipation.waits_for() == Some(submitter.io_context);
        if is_expected { MayQueue::Must } else { MayQueue::May }
    }

    fn insert(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let facts = &io.requests[request];
        let (kind, sector, end, io_context) =
            (facts.sync(), facts.sector, facts.end(), facts.submitter.io_context);
        self.history.revive(io_context);
        if kind == Sync::Sync {
            self.history.note_sync_request(io_context, sector, end, io.now_jiffies);
        }
        self.history.context(io_context).queued += 1;
        self.sort_in(io, request);
        io.requests[request].fifo_jiffies = io.now_jiffies + self.tunables.expire_jiffies(kind);
        let waiting = self.of(kind);
        io.requests.fifo_push(&mut waiting.fifo, request);
        waiting.next = waiting.better(io.requests, Some(request), waiting.next);
        if self.anticipation.is_waiting() {
            let candidate = Candidate::new(io.requests, request);
            let judgement = self.judgement(io.now_jiffies);
            if self.anticipation.should_stop(&mut self.history, Some(candidate), judgement) {
                self.anticipation.stop(io.effects);
            }
        }
    }

    fn dispatch(&mut self, io: &mut ElevatorIo<'_>, force: bool) -> usize {
        if force { self.dispatch_all(io) } else { self.dispatch_one(io) }
    }

    fn activated(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let context = self.history.context(io.requests[request].submitter.io_context);
        context.released = context.released.saturating_sub(1);
    }

    fn completed(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        let (kind, io_context) = (io.requests[request].sync(), io.requests[request].submitter.io_context);
        if self.batch.is_changing && self.under_way == 1 {
            self.batch.take_effect(&self.tunables, io.now_jiffies);
            io.effects.kick_kblockd = true;
        }
        self.under_way = self.under_way.saturating_sub(1);
        self.batch.note_end(kind, &self.tunables, io.now_jiffies);
        let antic_expire = self.tunables.antic_expire_jiffies;
        self.anticipation.note_end(io.effects, io_context, io.now_jiffies, antic_expire);
        self.history.note_end(io_context, kind == Sync::Sync, io.now_jiffies);
    }

    fn timer(&mut self, io: &mut ElevatorIo<'_>) {
        self.anticipation.time_out(io.effects, &mut self.history);
    }

    fn context_exited(&mut self, _io: &mut ElevatorIo<'_>, io_context: u32) {
        self.history.context(io_context).has_exited = true;
    }

    /// While it anticipates, the io context that is waited for.
    fn serving(&self) -> Serving {
        self.anticipation.waits_for().map_or(Serving::Nobody, Serving::Context)
    }

    fn is_idling(&self) -> bool {
        self.anticipation.is_waiting()
    }

    fn held(&self) -> usize {
        self.waiting.iter().map(|waiting| waiting.sorted.len()).sum()
    }
}

#[cfg(test)]
mod tests;
