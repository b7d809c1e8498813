//! An independent book of the request queue, kept from the event trace alone: which sectors wait, which are in the
//! device, and what barriers forbid.
//!
//! Bios that cover the same sectors in the same direction cannot be told apart in a trace, so the book counts
//! sectors, not bios.

use crate::sectors::Sectors;
use stallarium_sim::block::BioFlags;
use stallarium_sim::device::Device as _;
use stallarium_sim::observe::{RequestFacts, TraceEvent, TraceKind};
use stallarium_sim::simulation::World;

/// A draining barrier that is not complete.
#[derive(Clone, Copy, Debug)]
struct Barrier {
    facts: RequestFacts,
    /// Sectors accepted before it.
    accepted_before: u64,
}

/// What the trace says about the queue.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// Bios submitted, by their facts, that no request holds yet.
    asked: Vec<RequestFacts>,
    waiting: Sectors,
    in_device: Vec<RequestFacts>,
    barriers: Vec<Barrier>,
    /// Sectors that have become part of a request.
    accepted: u64,
    /// Sectors that the device has taken.
    started: u64,
    empty: u64,
    bios: u64,
    merges: u64,
    sleeps: u64,
    completed: [u64; 2],
    sectors: [u64; 2],
}

/// Reads a whole trace.
pub(crate) fn read(trace: &[TraceEvent], world: &World) -> Result<Book, String> {
    let mut book = Book::default();
    let depth = world.queue().device().depth() as usize;
    let mut before_ns = 0;
    for event in trace {
        let fault = |message: String| Err(format!("{message}, at {event:?}"));
        if event.time_ns < before_ns {
            return fault(format!("time went back from {before_ns}"));
        }
        before_ns = event.time_ns;
        if let Err(message) = book.enter(&event.kind) {
            return fault(message);
        }
        if book.in_device.len() > depth {
            return fault(format!("more than {depth} requests in the device"));
        }
    }
    Ok(book)
}

impl Book {
    fn enter(&mut self, kind: &TraceKind) -> Result<(), String> {
        match *kind {
            TraceKind::Queue(bio) => {
                self.bios += 1;
                self.empty += u64::from(bio.sectors == 0);
                self.asked.push(bio);
            }
            TraceKind::SleepForRequest => self.sleeps += 1,
            TraceKind::Insert(bio) => self.accept(bio)?,
            TraceKind::BackMerge(bio) | TraceKind::FrontMerge(bio) => {
                self.merges += 1;
                self.accept(bio)?;
            }
            TraceKind::Start(request, _) => self.start(request)?,
            TraceKind::Complete(request, _) => self.complete(request)?,
            _ => {}
        }
        Ok(())
    }

    fn accept(&mut self, bio: RequestFacts) -> Result<(), String> {
        let at = self.asked.iter().position(|asked| *asked == bio);
        self.asked.swap_remove(at.ok_or("a bio was accepted that nobody submitted")?);
        if bio.flags.has(BioFlags::BARRIER) && bio.sectors != 0 {
            self.barriers.push(Barrier { facts: bio, accepted_before: self.accepted });
        }
        let sectors = u64::from(bio.sectors);
        self.accepted += sectors;
        self.waiting.add(bio.flags.is_write(), bio.sector, bio.sector + sectors);
        Ok(())
    }

    fn start(&mut self, request: RequestFacts) -> Result<(), String> {
        let sectors = u64::from(request.sectors);
        if !self.waiting.take(request.flags.is_write(), request.sector, request.sector + sectors) {
            return Err("a request has sectors that nobody waits for".into());
        }
        self.check_barriers(request)?;
        self.started += sectors;
        self.in_device.push(request);
        Ok(())
    }

    /// Section 1.8: a draining barrier starts when everything before it is complete, and nothing behind it
    /// starts before it is.
    fn check_barriers(&self, request: RequestFacts) -> Result<(), String> {
        let Some(first) = self.barriers.first() else { return Ok(()) };
        if !request.flags.has(BioFlags::BARRIER) {
            let is_before = self.started + u64::from(request.sectors) <= first.accepted_before;
            return if is_before { Ok(()) } else { Err(format!("it overtakes {first:?}")) };
        }
        if request != first.facts || self.started != first.accepted_before || !self.in_device.is_empty() {
            let (started, device) = (self.started, &self.in_device);
            return Err(format!("a barrier starts after {started} sectors, beside {device:?}: {first:?}"));
        }
        Ok(())
    }

    fn complete(&mut self, request: RequestFacts) -> Result<(), String> {
        let at = self.in_device.iter().position(|in_device| *in_device == request);
        self.in_device.swap_remove(at.ok_or("a request ended that the device did not have")?);
        self.barriers.retain(|barrier| barrier.facts != request);
        self.completed[request.flags.sync().index()] += 1;
        self.sectors[usize::from(request.flags.is_write())] += u64::from(request.sectors);
        Ok(())
    }

    /// Sectors in requests that are not complete.
    pub(crate) fn outstanding(&self) -> u64 {
        self.waiting.total() + self.in_device.iter().map(|request| u64::from(request.sectors)).sum::<u64>()
    }

    /// The queue's own counters say the same.
    pub(crate) fn compare(&self, world: &World) -> Result<(), String> {
        let counters = world.queue().counters();
        let mine = (self.bios, self.merges, self.sleeps, self.completed, self.sectors);
        let its = (counters.bios, counters.merges, counters.sleeps, counters.completed, counters.sectors);
        if mine != its {
            return Err(format!("the trace says {mine:?}, the counters {its:?}"));
        }
        let asleep = self.asked.len() as u64;
        if asleep > world.tasks().len() as u64 {
            return Err(format!("{asleep} bios were never accepted"));
        }
        let asleep_empty = self.asked.iter().filter(|bio| bio.sectors == 0).count() as u64;
        let accepted = counters.bios - self.empty - (asleep - asleep_empty);
        let (done, outstanding) = (counters.completed_bios, self.outstanding());
        let allocated = u64::from(world.queue().allocated());
        // Each bio that is not complete has a sector or more, and each request a bio or more.
        let is_sound = done <= accepted
            && (done == accepted) == (outstanding == 0)
            && accepted - done <= outstanding
            && self.in_device.len() as u64 <= allocated
            && (outstanding == 0 || allocated != 0);
        if !is_sound {
            let bios = format!("{accepted} bios accepted, {done} complete, {outstanding} sectors on the way");
            return Err(format!("{bios}, {allocated} requests"));
        }
        Ok(())
    }
}
