//! The plain side: what a reference elevator sees, and how it is put behind the driver's door.

use super::driver::{State, Subject, Ticket};
use crate::block::elevator::{DeviceFacts, Effects, MayQueue, Serving, TimerRequest};
use crate::block::{Bio, BioFlags, Submitter, Sync};
use std::collections::BTreeMap;

/// A request as a reference sees it: plain data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainRequest {
    pub(crate) ticket: Ticket,
    pub(crate) sector: u64,
    pub(crate) sectors: u64,
    pub(crate) flags: BioFlags,
    pub(crate) submitter: Submitter,
    /// The sector it is sorted by: where it started when it was inserted or last put in front of.
    pub(crate) key: u64,
    /// Whether the elevator holds it; see [`PlainQueue::hold`].
    pub(crate) held: bool,
    /// Its place in order of arrival (a survivor may take an older one's).
    pub(crate) order: u64,
    /// The reference's own: when its fifo deadline passes.
    pub(crate) fifo_jiffies: u64,
    /// The reference's own: which queue it belongs to.
    #[allow(dead_code, reason = "for references with queues")]
    pub(crate) queue: usize,
}

impl PlainRequest {
    pub(crate) fn end(&self) -> u64 {
        self.sector + self.sectors
    }

    pub(crate) fn is_write(&self) -> bool {
        self.flags.is_write()
    }

    pub(crate) fn is_sync(&self) -> bool {
        self.flags.sync() == Sync::Sync
    }
}

/// All that a reference may see and touch.
#[derive(Clone, Debug)]
pub(crate) struct PlainQueue {
    pub(crate) now: u64,
    #[allow(dead_code, reason = "for references that look at the device")]
    pub(crate) device: DeviceFacts,
    /// Every request that is not finished, wherever it is.
    pub(crate) requests: BTreeMap<Ticket, PlainRequest>,
    pub(crate) dispatch_list: Vec<Ticket>,
    pub(crate) effects: Effects,
    activated: Vec<Ticket>,
    boundary: u64,
    arrivals: u64,
}

impl PlainQueue {
    pub(crate) fn new(device: DeviceFacts) -> Self {
        Self {
            now: 0,
            device,
            requests: BTreeMap::new(),
            dispatch_list: Vec::new(),
            effects: Effects::default(),
            activated: Vec::new(),
            boundary: 0,
            arrivals: 0,
        }
    }

    /// The elevator takes a request in, as the latest in order of arrival.
    pub(crate) fn hold(&mut self, ticket: Ticket) {
        self.arrivals += 1;
        let order = self.arrivals;
        let request = self.get_mut(ticket);
        request.held = true;
        request.order = order;
    }

    pub(crate) fn get(&self, ticket: Ticket) -> &PlainRequest {
        &self.requests[&ticket]
    }

    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> &mut PlainRequest {
        self.requests.get_mut(&ticket).expect("the driver knows the request")
    }

    /// The requests the elevator holds, those of `which` only.
    pub(crate) fn held<'a>(
        &'a self,
        which: impl Fn(&PlainRequest) -> bool + 'a,
    ) -> impl Iterator<Item = PlainRequest> + 'a {
        self.requests.values().copied().filter(move |request| request.held && which(request))
    }

    /// The held request of `which` that arrived first.
    pub(crate) fn oldest(&self, which: impl Fn(&PlainRequest) -> bool) -> Option<PlainRequest> {
        self.held(which).min_by_key(|request| request.order)
    }

    /// The held request of `which` that starts at `sector`.
    pub(crate) fn starting_at(
        &self,
        sector: u64,
        which: impl Fn(&PlainRequest) -> bool,
    ) -> Option<PlainRequest> {
        self.held(which).find(|request| request.key == sector)
    }

    /// The held requests of `which` next to `ticket` in sector order, before and after.
    pub(crate) fn around(
        &self,
        ticket: Ticket,
        which: impl Fn(&PlainRequest) -> bool,
    ) -> (Option<Ticket>, Option<Ticket>) {
        let key = self.get(ticket).key;
        let before = self.held(&which).filter(|r| r.key < key).max_by_key(|r| r.key);
        let after = self.held(&which).filter(|r| r.key > key).min_by_key(|r| r.key);
        (before.map(|r| r.ticket), after.map(|r| r.ticket))
    }

    /// Section 1.4: the survivor inherits the earlier deadline, and with it the place in the fifo.
    pub(crate) fn inherit_deadline(&mut self, survivor: Ticket, absorbed: Ticket) {
        let gone = *self.get(absorbed);
        let stays = self.get_mut(survivor);
        if gone.fifo_jiffies < stays.fifo_jiffies {
            stays.fifo_jiffies = gone.fifo_jiffies;
            stays.order = gone.order;
        }
    }

    /// Section 1.7: behind the last request that may not be passed: one of the other direction, one
    /// the driver has seen, a barrier, or one that a one-way sweep from the boundary meets earlier.
    pub(crate) fn dispatch_sorted(&mut self, ticket: Ticket) {
        let new = self.requests[&ticket];
        let boundary = self.boundary;
        let on_the_sweep = |sector: u64| (sector < boundary, sector);
        let before = self.dispatch_list.iter().rposition(|other| {
            let other = self.requests[other];
            other.is_write() != new.is_write()
                || self.activated.contains(&other.ticket)
                || other.flags.has(BioFlags::BARRIER)
                || on_the_sweep(other.sector) <= on_the_sweep(new.sector)
        });
        self.dispatch_list.insert(before.map_or(0, |at| at + 1), ticket);
        self.get_mut(ticket).held = false;
    }

    pub(crate) fn dispatch_last(&mut self, ticket: Ticket) {
        self.boundary = self.requests[&ticket].end();
        self.dispatch_list.push(ticket);
        self.get_mut(ticket).held = false;
    }

    /// Whether the driver has looked at a request of the dispatch list.
    pub(crate) fn is_activated(&self, ticket: Ticket) -> bool {
        self.activated.contains(&ticket)
    }

    pub(crate) fn arm(&mut self, jiffies: u64) {
        self.effects.timer = Some(TimerRequest::Arm { jiffies });
    }

    pub(crate) fn cancel_timer(&mut self) {
        self.effects.timer = Some(TimerRequest::Cancel);
    }
}

/// A reference elevator: the hooks of [`crate::block::elevator::Elevator`] over plain data.
pub(crate) trait Reference {
    fn may_queue(&mut self, _queue: &mut PlainQueue, _submitter: Submitter, _sync: Sync) -> MayQueue {
        MayQueue::May
    }
    fn allows_merge(&self, _queue: &PlainQueue, _ticket: Ticket, _bio: &Bio) -> bool {
        true
    }
    fn front_merge_candidate(&self, queue: &PlainQueue, bio: &Bio) -> Option<Ticket>;
    fn neighbours(&self, queue: &PlainQueue, ticket: Ticket) -> (Option<Ticket>, Option<Ticket>);
    fn front_merged(&mut self, _queue: &mut PlainQueue, _ticket: Ticket, _old_sector: u64) {}
    fn requests_merged(&mut self, queue: &mut PlainQueue, survivor: Ticket, absorbed: Ticket);
    fn prepare(&mut self, _queue: &mut PlainQueue, _ticket: Ticket) {}
    fn insert(&mut self, queue: &mut PlainQueue, ticket: Ticket);
    fn dispatch(&mut self, queue: &mut PlainQueue, force: bool) -> usize;
    fn activated(&mut self, _queue: &mut PlainQueue, _ticket: Ticket) {}
    fn completed(&mut self, _queue: &mut PlainQueue, _ticket: Ticket) {}
    fn released(&mut self, _queue: &mut PlainQueue, _ticket: Ticket) {}
    fn timer(&mut self, _queue: &mut PlainQueue) {}
    fn queue_was_run(&mut self) {}
    fn context_exited(&mut self, _queue: &mut PlainQueue, _io_context: u32) {}
    fn is_empty(&self, queue: &PlainQueue) -> bool {
        queue.held(|_| true).next().is_none()
    }
    fn serving(&self) -> Serving {
        Serving::Nobody
    }
    fn is_idling(&self) -> bool {
        false
    }
}

/// A reference with its queue.
pub(crate) struct Plain<R> {
    pub(crate) rules: R,
    queue: PlainQueue,
}

impl<R: Reference> Plain<R> {
    pub(crate) fn new(rules: R, device: DeviceFacts) -> Self {
        Self { rules, queue: PlainQueue::new(device) }
    }

    fn call<T>(&mut self, now: u64, hook: impl FnOnce(&mut R, &mut PlainQueue) -> T) -> (T, Effects) {
        self.queue.now = now;
        self.queue.effects = Effects::default();
        let answer = hook(&mut self.rules, &mut self.queue);
        (answer, self.queue.effects)
    }
}

impl<R: Reference> Subject for Plain<R> {
    fn may_queue(&mut self, now: u64, submitter: Submitter, sync: Sync) -> (MayQueue, Effects) {
        self.call(now, |rules, queue| rules.may_queue(queue, submitter, sync))
    }

    fn allows_merge(&self, ticket: Ticket, bio: &Bio) -> bool {
        self.rules.allows_merge(&self.queue, ticket, bio)
    }

    fn front_merge_candidate(&self, bio: &Bio) -> Option<Ticket> {
        self.rules.front_merge_candidate(&self.queue, bio)
    }

    fn neighbours(&self, ticket: Ticket) -> (Option<Ticket>, Option<Ticket>) {
        self.rules.neighbours(&self.queue, ticket)
    }

    fn append(&mut self, ticket: Ticket, bio: &Bio) {
        self.queue.get_mut(ticket).sectors += u64::from(bio.sectors);
    }

    fn prepend(&mut self, ticket: Ticket, bio: &Bio) {
        let request = self.queue.get_mut(ticket);
        request.sector = bio.sector;
        request.sectors += u64::from(bio.sectors);
    }

    fn front_merged(&mut self, now: u64, ticket: Ticket, old_sector: u64) -> Effects {
        self.call(now, |rules, queue| {
            queue.get_mut(ticket).key = queue.get(ticket).sector;
            rules.front_merged(queue, ticket, old_sector);
        })
        .1
    }

    fn coalesce(&mut self, now: u64, survivor: Ticket, absorbed: Ticket) -> Effects {
        let effects = self
            .call(now, |rules, queue| {
                rules.requests_merged(queue, survivor, absorbed);
                rules.released(queue, absorbed);
            })
            .1;
        let gone = self.queue.requests.remove(&absorbed).expect("the driver knows the request");
        self.queue.get_mut(survivor).sectors += gone.sectors;
        effects
    }

    fn insert(&mut self, now: u64, ticket: Ticket, bio: &Bio) -> Effects {
        let request = PlainRequest {
            ticket,
            sector: bio.sector,
            sectors: u64::from(bio.sectors),
            flags: bio.flags,
            submitter: bio.submitter,
            key: bio.sector,
            held: false,
            order: 0,
            fifo_jiffies: 0,
            queue: 0,
        };
        self.queue.requests.insert(ticket, request);
        self.call(now, |rules, queue| {
            rules.prepare(queue, ticket);
            rules.insert(queue, ticket);
        })
        .1
    }

    fn dispatch(&mut self, now: u64, force: bool) -> (usize, Effects) {
        self.call(now, |rules, queue| rules.dispatch(queue, force))
    }

    fn dispatch_list(&self) -> Vec<Ticket> {
        self.queue.dispatch_list.clone()
    }

    fn activate(&mut self, now: u64, ticket: Ticket) -> Effects {
        self.queue.activated.push(ticket);
        self.queue.boundary = self.queue.requests[&ticket].end();
        self.call(now, |rules, queue| rules.activated(queue, ticket)).1
    }

    fn start(&mut self) {
        self.queue.dispatch_list.remove(0);
    }

    fn complete(&mut self, now: u64, ticket: Ticket) -> Effects {
        let effects = self
            .call(now, |rules, queue| {
                rules.completed(queue, ticket);
                rules.released(queue, ticket);
            })
            .1;
        self.queue.activated.retain(|other| *other != ticket);
        self.queue.requests.remove(&ticket);
        effects
    }

    fn timer(&mut self, now: u64) -> Effects {
        self.call(now, Reference::timer).1
    }

    fn queue_was_run(&mut self) {
        self.rules.queue_was_run();
    }

    fn context_exited(&mut self, now: u64, io_context: u32) -> Effects {
        self.call(now, |rules, queue| rules.context_exited(queue, io_context)).1
    }

    fn state(&self) -> State {
        State {
            is_empty: self.rules.is_empty(&self.queue),
            held: self.queue.held(|_| true).count(),
            serving: self.rules.serving(),
            is_idling: self.rules.is_idling(),
        }
    }
}
