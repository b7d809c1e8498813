//! The drive at work: commands come in, are decoded, cross the link or wait for the mechanism, and end.
//!
//! Four things happen by themselves: a command's decoding ends, a transfer ends, the mechanism finishes what
//! it does, and a quiet time ends. [`Machine::catch_up`] goes from one such moment to the next; after each,
//! [`Machine::dispatch`] decides what the mechanism does. Reading ahead is not an event: how far it has
//! come is computed when somebody wants to know.

use std::collections::VecDeque;

use super::super::flush_gate::FlushGate;
use super::super::serial::{Serial, earlier, transfer_ns};
use super::super::{Command, Operation, SECTOR_BYTES};
use super::SataDiskOptions;
use super::geometry::Geometry;
use super::schedule::{Candidate, Standpoint, choose_command, choose_run};
use super::segments::Segments;
use super::write_cache::{Extent, WriteCache};

/// What the mechanism is doing.
#[derive(Clone, Copy, Debug)]
enum Work {
    /// Reading for a command, from the first sector that the cache does not have.
    Read { command: Command, from: u64 },
    /// Writing for a command, past the cache.
    Write { command: Command },
    /// Writing dirty data.
    Destage { extent: Extent },
}

/// Reading on behind a read: `from_sector` begins to pass at `from_ns`.
#[derive(Clone, Copy, Debug)]
struct ReadAhead {
    from_ns: u64,
    from_sector: u64,
    limit_sector: u64,
}

/// A command that waits for the mechanism.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    command: Command,
    arrived_ns: u64,
}

/// The drive's state.
#[derive(Clone, Debug)]
pub(super) struct Machine {
    options: SataDiskOptions,
    geometry: Geometry,
    gate: FlushGate,
    /// Commands on their way in, with the moment at which they are understood.
    decoding: VecDeque<(u64, Command)>,
    /// Commands that need the medium, in order of arrival.
    waiting: Vec<Waiting>,
    /// Writes for which the cache has no room, in order of arrival.
    stalled: VecDeque<Command>,
    /// The flush that is being carried out.
    flush: Option<Command>,
    link: Serial,
    /// Transfers under way, with their ends.
    on_link: VecDeque<(u64, Command)>,
    /// What the mechanism does, and until when.
    work: Option<(u64, Work)>,
    head_sector: u64,
    ahead: Option<ReadAhead>,
    destaged_last: bool,
    dirty: WriteCache,
    /// Room in the cache for transfers under way, in sectors.
    reserved_sectors: u64,
    segments: Segments,
    last_activity_ns: u64,
    /// Ended commands that nobody has asked for yet.
    finished: VecDeque<(u64, u32)>,
}

/// Arrival, passage and end of commands.
impl Machine {
    pub(super) fn new(options: &SataDiskOptions, phase_ns: u64) -> Self {
        Self {
            geometry: Geometry::new(options, phase_ns),
            gate: FlushGate::default(),
            decoding: VecDeque::new(),
            waiting: Vec::new(),
            stalled: VecDeque::new(),
            flush: None,
            link: Serial::default(),
            on_link: VecDeque::new(),
            work: None,
            head_sector: 0,
            ahead: None,
            destaged_last: false,
            dirty: WriteCache::default(),
            reserved_sectors: 0,
            segments: Segments::new(options.segments, options.segment_bytes / SECTOR_BYTES),
            last_activity_ns: 0,
            finished: VecDeque::new(),
            options: options.clone(),
        }
    }

    pub(super) fn dirty_bytes(&self) -> u64 {
        (self.dirty.sectors() + self.destaging_sectors()) * SECTOR_BYTES
    }

    pub(super) fn head_sector(&self) -> u64 {
        self.head_sector
    }

    /// Takes a command.
    pub(super) fn arrive(&mut self, now_ns: u64, command: Command) {
        self.last_activity_ns = now_ns;
        if self.gate.enter(command) {
            self.decoding.push_back((now_ns + self.options.command_overhead_ns, command));
        }
    }

    /// Hands over what has ended, in order.
    pub(super) fn take_finished(&mut self, done: &mut Vec<u32>) {
        done.extend(self.finished.drain(..).map(|(_, tag)| tag));
    }

    /// The next moment at which something ends or happens.
    pub(super) fn next_event_ns(&self) -> Option<u64> {
        earlier(self.finished.front().map(|&(end_ns, _)| end_ns), self.next_inner_ns())
    }

    fn next_inner_ns(&self) -> Option<u64> {
        let decoded_ns = self.decoding.front().map(|&(ready_ns, _)| ready_ns);
        let sent_ns = self.on_link.front().map(|&(end_ns, _)| end_ns);
        let worked_ns = match self.work {
            Some((until_ns, _)) => Some(until_ns),
            None if self.dirty.is_empty() => None,
            None => Some(self.last_activity_ns + self.options.destage_quiet_ns),
        };
        earlier(earlier(decoded_ns, sent_ns), worked_ns)
    }

    /// Lets everything happen that happens up to `now_ns`, in order.
    pub(super) fn catch_up(&mut self, now_ns: u64) {
        while let Some(at_ns) = self.next_inner_ns().filter(|&at_ns| at_ns <= now_ns) {
            self.end_work(at_ns);
            self.end_transfers(at_ns);
            self.end_decoding(at_ns);
            self.dispatch(at_ns);
        }
    }

    fn end_decoding(&mut self, at_ns: u64) {
        while let Some(&(_, command)) = self.decoding.front().filter(|&&(ready_ns, _)| ready_ns <= at_ns) {
            self.decoding.pop_front();
            match command.operation {
                Operation::Flush => self.flush = Some(command),
                Operation::Write if self.options.write_cache && !command.force_unit_access => {
                    self.stalled.push_back(command);
                    self.admit_writes(at_ns);
                }
                Operation::Read | Operation::Write => {
                    let arrived_ns = at_ns - self.options.command_overhead_ns;
                    self.waiting.push(Waiting { command, arrived_ns });
                }
            }
        }
    }

    fn end_transfers(&mut self, at_ns: u64) {
        while let Some(&(_, command)) = self.on_link.front().filter(|&&(end_ns, _)| end_ns <= at_ns) {
            self.on_link.pop_front();
            if command.operation == Operation::Write {
                self.reserved_sectors -= u64::from(command.sectors);
                self.dirty.insert(command.sector, command.end());
                self.overwritten(at_ns, &command);
            }
            self.finish(at_ns, command.tag);
        }
    }

    /// Puts a transfer on the link.
    fn send(&mut self, at_ns: u64, command: Command) {
        let end_ns = self.link.occupy(at_ns, transfer_ns(command.bytes(), self.options.link_bytes_per_s));
        self.on_link.push_back((end_ns, command));
    }

    /// Lets waiting writes into the cache, in order, as far as there is room. One that is larger than the
    /// whole cache goes in when the cache is empty.
    fn admit_writes(&mut self, at_ns: u64) {
        while let Some(&command) = self.stalled.front() {
            let used = self.used_sectors();
            let sectors = u64::from(command.sectors);
            if used > 0 && (used + sectors) * SECTOR_BYTES > self.options.write_cache_bytes {
                break;
            }
            self.stalled.pop_front();
            self.reserved_sectors += sectors;
            self.send(at_ns, command);
        }
    }

    /// A command has ended.
    fn finish(&mut self, at_ns: u64, tag: u32) {
        self.last_activity_ns = at_ns;
        self.finished.push_back((at_ns, tag));
        self.gate.leave();
        while let Some(command) = self.gate.release() {
            self.decoding.push_back((at_ns + self.options.command_overhead_ns, command));
        }
    }
}

/// The write cache's fill.
impl Machine {
    fn destaging_sectors(&self) -> u64 {
        match self.work {
            Some((_, Work::Destage { extent })) => extent.end - extent.start,
            _ => 0,
        }
    }

    fn used_sectors(&self) -> u64 {
        self.dirty.sectors() + self.reserved_sectors + self.destaging_sectors()
    }

    /// The cache is so full that dirty data can no longer wait for a pause.
    fn is_pressed(&self) -> bool {
        let percent = u64::from(self.options.pressed_percent);
        let used_percent = self.used_sectors().saturating_mul(SECTOR_BYTES * 100);
        !self.stalled.is_empty() || used_percent > self.options.write_cache_bytes.saturating_mul(percent)
    }

    fn is_quiet(&self, at_ns: u64) -> bool {
        at_ns >= self.last_activity_ns + self.options.destage_quiet_ns
    }
}

/// The mechanism.
impl Machine {
    /// Decides what the mechanism does next: nothing but destaging while a flush is carried out; otherwise
    /// waiting commands first, unless the cache is pressed and it is its turn; otherwise destaging, when
    /// pressed or when it has been quiet. With nothing to do it reads ahead or stands still.
    fn dispatch(&mut self, at_ns: u64) {
        if self.work.is_some() {
            return;
        }
        self.serve_from_cache(at_ns);
        if let Some(flush) = self.flush {
            if self.dirty.is_empty() {
                self.flush = None;
                self.finish(at_ns, flush.tag);
            } else {
                self.destage(at_ns);
            }
            return;
        }
        let pressed = !self.dirty.is_empty() && self.is_pressed();
        let turn_to_destage = pressed && !self.destaged_last;
        if !self.waiting.is_empty() && !turn_to_destage {
            self.serve(at_ns);
        } else if pressed || (!self.dirty.is_empty() && self.is_quiet(at_ns)) {
            self.destage(at_ns);
        }
    }

    /// Sends what the caches have to waiting reads.
    fn serve_from_cache(&mut self, at_ns: u64) {
        self.follow_read_ahead(at_ns);
        let mut index = 0;
        while let Some(&Waiting { command, .. }) = self.waiting.get(index) {
            let (start, end) = (command.sector, command.end());
            let cached = self.segments.cached_until(start) >= end || self.dirty.contains(start, end);
            if command.operation == Operation::Read && cached {
                self.waiting.remove(index);
                self.segments.touch(start);
                self.read_further_ahead(at_ns, end);
                self.send(at_ns, command);
            } else {
                index += 1;
            }
        }
    }

    /// Begins the nearest waiting command.
    fn serve(&mut self, at_ns: u64) {
        let from = self.stop_read_ahead(at_ns);
        let (segments, options) = (&self.segments, &self.options);
        let candidates = self.waiting.iter().map(|waiting| Candidate {
            sector: match waiting.command.operation {
                Operation::Read => segments.cached_until(waiting.command.sector),
                _ => waiting.command.sector,
            },
            settle_ns: match waiting.command.operation {
                Operation::Read => options.read_settle_ns,
                _ => options.write_settle_ns,
            },
            arrived_ns: waiting.arrived_ns,
        });
        let chosen = choose_command(&self.geometry, from, options.age_limit_ns, candidates);
        let Some(index) = chosen else { return };
        let command = self.waiting.remove(index).command;
        self.destaged_last = false;
        if command.operation == Operation::Read {
            // The last sectors may have come in while the head finished the one under it.
            let from_sector = self.segments.cached_until(command.sector).min(command.end());
            self.begin(from, from_sector, command.end(), Work::Read { command, from: from_sector });
        } else {
            self.begin(from, command.sector, command.end(), Work::Write { command });
        }
    }

    /// Begins to write the dirty run that the head reaches first.
    fn destage(&mut self, at_ns: u64) {
        let from = self.stop_read_ahead(at_ns);
        let settle_ns = self.options.write_settle_ns;
        let Some(index) = choose_run(&self.geometry, from, settle_ns, self.dirty.runs()) else { return };
        let extent = self.dirty.take(index, self.options.destage_step_bytes / SECTOR_BYTES);
        self.destaged_last = true;
        self.begin(from, extent.start, extent.end, Work::Destage { extent });
    }

    /// Positions the head at `start`, and lets the sectors up to `end` pass under it.
    fn begin(&mut self, from: Standpoint, start: u64, end: u64, work: Work) {
        let settle_ns = match work {
            Work::Read { .. } => self.options.read_settle_ns,
            Work::Write { .. } | Work::Destage { .. } => self.options.write_settle_ns,
        };
        let positioning_ns = self.geometry.positioning_ns(from.at_ns, from.head_sector, start, settle_ns);
        let until_ns = from.at_ns + positioning_ns + self.geometry.pass_ns(start, end);
        self.head_sector = end;
        self.work = Some((until_ns, work));
    }

    /// Ends what the mechanism did, if it is over.
    fn end_work(&mut self, at_ns: u64) {
        let Some((_, work)) = self.work.filter(|&(until_ns, _)| until_ns <= at_ns) else { return };
        self.work = None;
        match work {
            Work::Read { command, from } => {
                let end = command.end();
                self.segments.fill(from, end);
                let limit_sector = self.read_ahead_limit(end);
                self.ahead = Some(ReadAhead { from_ns: at_ns, from_sector: end, limit_sector });
                self.finish(at_ns, command.tag);
            }
            Work::Write { command } => {
                self.overwritten(at_ns, &command);
                self.finish(at_ns, command.tag);
            }
            Work::Destage { .. } => self.admit_writes(at_ns),
        }
    }
}

/// Reading ahead.
impl Machine {
    fn read_ahead_limit(&self, end: u64) -> u64 {
        let limit = end.saturating_add(self.options.read_ahead_bytes / SECTOR_BYTES);
        limit.min(self.options.capacity_sectors).max(end)
    }

    /// Notes how far reading ahead has come: whole sectors only.
    fn follow_read_ahead(&mut self, at_ns: u64) {
        let Some(ahead) = self.ahead.as_mut().filter(|ahead| ahead.from_ns <= at_ns) else { return };
        let spiral_ns = self.geometry.spiral_ns(ahead.from_sector) + (at_ns - ahead.from_ns);
        let reached = self.geometry.sector_at(spiral_ns).min(ahead.limit_sector);
        self.segments.fill(ahead.from_sector, reached);
        ahead.from_ns += self.geometry.pass_ns(ahead.from_sector, reached);
        ahead.from_sector = reached;
        self.head_sector = reached;
    }

    /// Ends reading ahead, since the mechanism is needed. The sector under the head counts as read, so that a
    /// command that wants the next one waits only until that begins; another loses nothing either.
    fn stop_read_ahead(&mut self, at_ns: u64) -> Standpoint {
        self.follow_read_ahead(at_ns);
        if let Some(ahead) = self.ahead.take()
            && ahead.from_ns < at_ns
            && ahead.from_sector < ahead.limit_sector
        {
            self.head_sector = ahead.from_sector + 1;
            self.segments.fill(ahead.from_sector, self.head_sector);
        }
        Standpoint { at_ns, head_sector: self.head_sector }
    }

    /// A read up to `end` was served from a segment: goes on reading behind it, so that a steady reader
    /// always finds data. If the head has stopped meanwhile it must wait for its sector to come round.
    fn read_further_ahead(&mut self, at_ns: u64, end: u64) {
        let limit_sector = self.read_ahead_limit(end);
        let (geometry, head) = (&self.geometry, self.head_sector);
        let Some(ahead) = self.ahead.as_mut() else { return };
        let here = ahead.from_sector.saturating_sub(self.options.segment_bytes / SECTOR_BYTES);
        if !(here..=ahead.from_sector).contains(&end) || limit_sector <= ahead.limit_sector {
            return;
        }
        let stopped = ahead.from_sector == ahead.limit_sector && ahead.from_ns < at_ns;
        if stopped {
            ahead.from_ns = at_ns + geometry.positioning_ns(at_ns, head, ahead.from_sector, 0);
        }
        ahead.limit_sector = limit_sector;
    }

    /// Sectors were written: what was read of them before is out of date.
    fn overwritten(&mut self, at_ns: u64, command: &Command) {
        let (start, end) = (command.sector, command.end());
        self.follow_read_ahead(at_ns);
        self.segments.forget(start, end);
        if self.ahead.is_some_and(|ahead| start < ahead.limit_sector && ahead.from_sector < end) {
            self.ahead = None;
        }
    }
}
