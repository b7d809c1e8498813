//! The read-ahead cache: a few runs of sectors that the drive has read.

/// One run of sectors, `start` to `end`, that can be sent without touching the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    start: u64,
    end: u64,
    used: u64,
}

/// A fixed number of segments; a new run takes the place of the least recently used.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    places: Vec<Segment>,
    limit: usize,
    segment_sectors: u64,
    uses: u64,
}

impl Segments {
    /// No data; room for `limit` runs of at most `segment_sectors`.
    pub(super) fn new(limit: u32, segment_sectors: u64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(1).max(1);
        Self { places: Vec::with_capacity(limit), limit, segment_sectors, uses: 0 }
    }

    /// How far from `start` on the data are in the cache: the end of the run that holds it or ends there,
    /// otherwise `start` itself.
    pub(super) fn cached_until(&self, start: u64) -> u64 {
        let holds = |segment: &&Segment| segment.start <= start && start <= segment.end;
        self.places.iter().filter(holds).map(|segment| segment.end).max().unwrap_or(start)
    }

    /// The medium was read from `start` to `end`: prolongs the run that reached `start`, or begins one.
    /// A run that grows beyond a segment loses its oldest data.
    pub(super) fn fill(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        self.uses += 1;
        let grown = self.places.iter().position(|segment| segment.start <= start && start <= segment.end);
        let index = grown.unwrap_or_else(|| self.free_place(start));
        let segment = &mut self.places[index];
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(segment.end.saturating_sub(self.segment_sectors));
        segment.used = self.uses;
    }

    /// `start` was asked for: the run that holds it stays longer.
    pub(super) fn touch(&mut self, start: u64) {
        self.uses += 1;
        if let Some(segment) = self.places.iter_mut().find(|place| (place.start..place.end).contains(&start))
        {
            segment.used = self.uses;
        }
    }

    /// Sectors were written: forgets every run that held some of them.
    pub(super) fn forget(&mut self, start: u64, end: u64) {
        self.places.retain(|segment| end <= segment.start || segment.end <= start);
    }

    /// An empty place at `start`.
    fn free_place(&mut self, start: u64) -> usize {
        let empty = Segment { start, end: start, used: self.uses };
        if self.places.len() < self.limit {
            self.places.push(empty);
            return self.places.len() - 1;
        }
        let oldest = (0..self.places.len()).min_by_key(|&index| self.places[index].used).unwrap_or(0);
        self.places[oldest] = empty;
        oldest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run grows at its end, forgets its beginning when full, and dies when written to.
    #[test]
    fn a_segment_slides_over_the_disk() {
        let mut segments = Segments::new(2, 100);
        segments.fill(1000, 1040);
        segments.fill(1040, 1080);
        assert_eq!((segments.cached_until(1000), segments.cached_until(1080)), (1080, 1080));
        segments.fill(1080, 1130);
        assert_eq!((segments.cached_until(1029), segments.cached_until(1030)), (1029, 1130));
        segments.forget(1129, 1131);
        assert_eq!(segments.cached_until(1030), 1030);
    }

    /// The run that was not asked for longest makes room.
    #[test]
    fn the_least_recently_used_makes_room() {
        let mut segments = Segments::new(2, 100);
        segments.fill(0, 10);
        segments.fill(500, 510);
        segments.touch(0);
        segments.fill(900, 910);
        assert_eq!((segments.cached_until(0), segments.cached_until(500)), (10, 500));
    }
}
