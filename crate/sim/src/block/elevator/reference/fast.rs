//! The fast side: a real elevator, with the pool and the dispatch list that a request queue would
//! give it, behind the driver's door.

use super::driver::{State, Subject, Ticket};
use crate::block::elevator::{DeviceFacts, Effects, Elevator, ElevatorIo, MayQueue};
use crate::block::{Bio, DispatchList, Place, RequestId, RequestPool, Submitter, Sync};
use crate::observe::{Recorder, TraceKind};
use std::collections::BTreeMap;

const JIFFY_NS: u64 = 1_000_000;

/// A real elevator with its queue.
pub(crate) struct Fast<E> {
    pub(crate) elevator: E,
    device: DeviceFacts,
    requests: RequestPool,
    dispatch_list: DispatchList,
    pub(crate) recorder: Recorder,
    ids: BTreeMap<Ticket, RequestId>,
    /// By slot of the arena.
    tickets: Vec<Ticket>,
    started: usize,
}

impl<E: Elevator> Fast<E> {
    pub(crate) fn new(elevator: E, device: DeviceFacts) -> Self {
        Self {
            elevator,
            device,
            requests: RequestPool::new(),
            dispatch_list: DispatchList::default(),
            recorder: Recorder::new(usize::MAX),
            ids: BTreeMap::new(),
            tickets: Vec::new(),
            started: 0,
        }
    }

    fn call<T>(&mut self, now: u64, hook: impl FnOnce(&mut E, &mut ElevatorIo<'_>) -> T) -> (T, Effects) {
        self.recorder.set_context(now * JIFFY_NS, u32::MAX);
        let mut effects = Effects::default();
        let mut io = ElevatorIo {
            now_ns: now * JIFFY_NS,
            now_jiffies: now,
            requests: &mut self.requests,
            dispatch_list: &mut self.dispatch_list,
            effects: &mut effects,
            recorder: &mut self.recorder,
            device: self.device,
        };
        let answer = hook(&mut self.elevator, &mut io);
        self.check();
        (answer, effects)
    }

    /// Every request that left for the driver has been recorded, once.
    fn check(&self) {
        let is_dispatch = |kind: &TraceKind| matches!(kind, TraceKind::Dispatch(_));
        let recorded = self.recorder.events().iter().filter(|event| is_dispatch(&event.kind)).count();
        assert_eq!(recorded, self.started + self.dispatch_list.len(), "Dispatch events");
    }

    fn ticket(&self, id: RequestId) -> Ticket {
        self.tickets[id.0 as usize]
    }
}

impl<E: Elevator> Subject for Fast<E> {
    fn may_queue(&mut self, now: u64, submitter: Submitter, sync: Sync) -> (MayQueue, Effects) {
        self.call(now, |elevator, io| elevator.may_queue(io, submitter, sync))
    }

    fn allows_merge(&self, ticket: Ticket, bio: &Bio) -> bool {
        self.elevator.allows_merge(&self.requests, self.ids[&ticket], bio)
    }

    fn front_merge_candidate(&self, bio: &Bio) -> Option<Ticket> {
        let id = self.elevator.front_merge_candidate(&self.requests, bio)?;
        Some(self.ticket(id))
    }

    fn neighbours(&self, ticket: Ticket) -> (Option<Ticket>, Option<Ticket>) {
        let (before, after) = self.elevator.neighbours(&self.requests, self.ids[&ticket]);
        (before.map(|id| self.ticket(id)), after.map(|id| self.ticket(id)))
    }

    fn append(&mut self, ticket: Ticket, bio: &Bio) {
        let id = self.ids[&ticket];
        self.requests.hash_remove(id);
        self.requests.append_bio(id, bio);
        self.requests.hash_insert(id);
    }

    fn prepend(&mut self, ticket: Ticket, bio: &Bio) {
        self.requests.prepend_bio(self.ids[&ticket], bio);
    }

    fn front_merged(&mut self, now: u64, ticket: Ticket, old_sector: u64) -> Effects {
        let id = self.ids[&ticket];
        self.call(now, |elevator, io| elevator.front_merged(io, id, old_sector)).1
    }

    fn coalesce(&mut self, now: u64, survivor: Ticket, absorbed: Ticket) -> Effects {
        let into = self.ids[&survivor];
        let from = self.ids.remove(&absorbed).expect("the driver knows the request");
        let start = self.requests[into].start_jiffies.min(self.requests[from].start_jiffies);
        self.requests[into].start_jiffies = start;
        let effects = self
            .call(now, |elevator, io| {
                elevator.requests_merged(io, into, from);
                elevator.released(io, from);
            })
            .1;
        self.requests.hash_remove(into);
        self.requests.hash_remove(from);
        self.requests.absorb(into, from);
        self.requests.hash_insert(into);
        self.requests.release(from);
        effects
    }

    fn insert(&mut self, now: u64, ticket: Ticket, bio: &Bio) -> Effects {
        let id = self.requests.allocate(bio, now * JIFFY_NS, now);
        let slot = id.0 as usize;
        if self.tickets.len() <= slot {
            self.tickets.resize(slot + 1, Ticket::MAX);
        }
        self.tickets[slot] = ticket;
        self.ids.insert(ticket, id);
        self.requests.hash_insert(id);
        self.call(now, |elevator, io| {
            elevator.prepare(io, id);
            elevator.insert(io, id);
        })
        .1
    }

    fn dispatch(&mut self, now: u64, force: bool) -> (usize, Effects) {
        let before = self.dispatch_list.len();
        let (moved, effects) = self.call(now, |elevator, io| elevator.dispatch(io, force));
        assert_eq!(moved, self.dispatch_list.len() - before, "requests moved by dispatch");
        (moved, effects)
    }

    fn dispatch_list(&self) -> Vec<Ticket> {
        let mut list = self.dispatch_list.clone();
        let ids = std::iter::from_fn(|| list.pop());
        ids.map(|id| {
            assert_eq!(self.requests[id].place, Place::DispatchList);
            self.ticket(id)
        })
        .collect()
    }

    fn activate(&mut self, now: u64, ticket: Ticket) -> Effects {
        let id = self.ids[&ticket];
        self.requests[id].activated = true;
        self.dispatch_list.set_boundary(self.requests[id].end());
        self.call(now, |elevator, io| elevator.activated(io, id)).1
    }

    fn start(&mut self) {
        if let Some(id) = self.dispatch_list.pop() {
            self.requests.hash_remove(id);
            self.requests[id].place = Place::Device;
            self.started += 1;
        }
    }

    fn complete(&mut self, now: u64, ticket: Ticket) -> Effects {
        let id = self.ids.remove(&ticket).expect("the driver knows the request");
        let effects = self
            .call(now, |elevator, io| {
                elevator.completed(io, id);
                elevator.released(io, id);
            })
            .1;
        self.requests.take_bios(id, |_| {});
        self.requests.release(id);
        effects
    }

    fn timer(&mut self, now: u64) -> Effects {
        self.call(now, Elevator::timer).1
    }

    fn queue_was_run(&mut self) {
        self.elevator.queue_was_run();
    }

    fn context_exited(&mut self, now: u64, io_context: u32) -> Effects {
        self.call(now, |elevator, io| elevator.context_exited(io, io_context)).1
    }

    fn state(&self) -> State {
        State {
            is_empty: self.elevator.is_empty(),
            held: self.elevator.held(),
            serving: self.elevator.serving(),
            is_idling: self.elevator.is_idling(),
        }
    }
}
