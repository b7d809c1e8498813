//! The sequential streams that an array has recognised.

use super::super::Command;

/// One stream, or one read that may become the start of a stream.
#[derive(Clone, Copy, Debug)]
struct Stream {
    /// The sector behind the last read.
    next_sector: u64,
    /// A second read continued the first: data are read ahead.
    confirmed: bool,
    /// The sector behind the last one asked for from the spindles.
    frontier_sector: u64,
    /// When all up to the frontier is in the cache.
    frontier_ns: u64,
    /// When it was last continued, as a count of reads.
    used: u64,
}

/// A table of streams with a fixed number of places.
#[derive(Clone, Debug)]
pub(super) struct Streams {
    places: Vec<Stream>,
    limit: usize,
    prefetch_sectors: u64,
    reads: u64,
}

impl Streams {
    /// An empty table with `limit` places; confirmed streams are read `prefetch_sectors` ahead.
    pub(super) fn new(limit: u32, prefetch_sectors: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(1).max(1);
        Self { places: Vec::with_capacity(limit), limit, prefetch_sectors, reads: 0 }
    }

    /// The stream that `command` continues. Of a confirmed one that is any read that begins in what was
    /// read ahead, or not further back than the array reads ahead: two outstanding reads may swap.
    pub(super) fn find(&self, command: &Command) -> Option<usize> {
        self.places.iter().position(|stream| {
            if stream.confirmed {
                let oldest = stream.next_sector.saturating_sub(self.prefetch_sectors);
                (oldest..=stream.frontier_sector).contains(&command.sector)
            } else {
                command.sector == stream.next_sector
            }
        })
    }

    /// Remembers a read that continues nothing. It takes the place of the least recently used read that
    /// led nowhere, so that random reads do not push out the streams between them.
    pub(super) fn begin(&mut self, command: &Command) {
        self.reads += 1;
        let stream = Stream {
            next_sector: command.end(),
            confirmed: false,
            frontier_sector: command.end(),
            frontier_ns: 0,
            used: self.reads,
        };
        if self.places.len() < self.limit {
            self.places.push(stream);
        } else if let Some(oldest) = self.places.iter_mut().min_by_key(|place| (place.confirmed, place.used))
        {
            *oldest = stream;
        }
    }

    /// Notes that `command` continues the stream; true if that is what confirms it.
    pub(super) fn confirm(&mut self, index: usize, command: &Command) -> bool {
        self.reads += 1;
        let stream = &mut self.places[index];
        stream.used = self.reads;
        stream.next_sector = stream.next_sector.max(command.end());
        !std::mem::replace(&mut stream.confirmed, true)
    }

    /// Moves the frontier as far ahead of `command` as the array reads, but not beyond the end of the
    /// medium; returns the sectors that this adds.
    pub(super) fn extend(&mut self, index: usize, command: &Command, capacity_sectors: u64) -> u64 {
        let stream = &mut self.places[index];
        let limit = capacity_sectors.max(command.end());
        let wanted = command.end().saturating_add(self.prefetch_sectors).min(limit);
        let more = wanted.saturating_sub(stream.frontier_sector);
        stream.frontier_sector += more;
        more
    }

    /// The spindles could deliver the last extension, which takes `duration_ns`, at `end_ns`; it cannot
    /// be there before the data in front of it.
    pub(super) fn will_be_ready(&mut self, index: usize, end_ns: u64, duration_ns: u64) {
        let stream = &mut self.places[index];
        stream.frontier_ns = end_ns.max(stream.frontier_ns.saturating_add(duration_ns));
    }

    /// The sector up to which data were asked for, and when they are there.
    pub(super) fn frontier(&self, index: usize) -> (u64, u64) {
        let stream = &self.places[index];
        (stream.frontier_sector, stream.frontier_ns)
    }
}
