//! A real elevator moved by hand: for tests that tell a story.

use super::driver::{Subject, Ticket};
use super::fast::Fast;
use crate::block::elevator::{DeviceFacts, Effects, Elevator};
use crate::block::{Bio, BioFlags, BioTag, IoClass, PAGE_SECTORS, Submitter};

/// A plain read, a plain (async) write and a write that somebody waits for.
pub(crate) const READ: BioFlags = BioFlags(0);
pub(crate) const WRITE: BioFlags = BioFlags::WRITE;
pub(crate) const WRITE_SYNC: BioFlags = BioFlags::WRITE.with(BioFlags::SYNC);

/// An elevator, its queue and a device that takes whatever it gets.
pub(crate) struct Bench<E> {
    pub(crate) queue: Fast<E>,
    /// The jiffy counter: move it on at will.
    pub(crate) now: u64,
    /// What the last call asked for.
    pub(crate) effects: Effects,
    submitted: Ticket,
}

pub(crate) fn submitter(io_context: u32) -> Submitter {
    Submitter { task: io_context, io_context, class: IoClass::BestEffort, priority: 4 }
}

pub(crate) fn bio(io_context: u32, flags: BioFlags, sector: u64) -> Bio {
    Bio { sector, sectors: PAGE_SECTORS, flags, submitter: submitter(io_context), tag: BioTag(0) }
}

impl<E: Elevator> Bench<E> {
    pub(crate) fn new(elevator: E, now: u64) -> Self {
        let device = DeviceFacts { non_rotational: false, queues_commands: false };
        let queue = Fast::new(elevator, device);
        Self { queue, now, effects: Effects::default(), submitted: 0 }
    }

    pub(crate) fn elevator(&self) -> &E {
        &self.queue.elevator
    }

    /// Process `io_context` asks for a page; no merging.
    pub(crate) fn submit(&mut self, io_context: u32, flags: BioFlags, sector: u64) -> Ticket {
        let ticket = self.submitted;
        self.submitted += 1;
        self.effects = self.queue.insert(self.now, ticket, &bio(io_context, flags, sector));
        ticket
    }

    /// The same for consecutive pages.
    pub(crate) fn submit_pages(&mut self, flags: BioFlags, sector: u64, pages: u64) -> Vec<Ticket> {
        (0..pages).map(|page| self.submit(0, flags, sector + page * u64::from(PAGE_SECTORS))).collect()
    }

    /// The driver wants a request: asks the elevator if the dispatch list is empty, and starts what it
    /// gets.
    pub(crate) fn serve(&mut self) -> Option<Ticket> {
        if self.queue.dispatch_list().is_empty() {
            self.effects = self.queue.dispatch(self.now, false).1;
        }
        let first = self.queue.dispatch_list().first().copied()?;
        self.queue.activate(self.now, first);
        self.queue.start();
        Some(first)
    }

    /// Serves up to so many requests.
    pub(crate) fn serve_some(&mut self, count: usize) -> Vec<Ticket> {
        (0..count).map_while(|_| self.serve()).collect()
    }

    pub(crate) fn complete(&mut self, ticket: Ticket) {
        self.effects = self.queue.complete(self.now, ticket);
    }

    /// Serves one and completes it in the same jiffy.
    pub(crate) fn serve_and_complete(&mut self) -> Option<Ticket> {
        let ticket = self.serve()?;
        self.complete(ticket);
        Some(ticket)
    }
}
