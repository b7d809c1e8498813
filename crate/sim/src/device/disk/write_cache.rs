//! The data that a drive has acknowledged but not yet written.

/// A run of sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// First sector.
    pub(super) start: u64,
    /// The sector behind the last.
    pub(super) end: u64,
}

impl Extent {
    fn sectors(self) -> u64 {
        self.end - self.start
    }
}

/// Dirty sectors, as runs in ascending order that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(super) struct WriteCache {
    runs: Vec<Extent>,
    sectors: u64,
}

impl WriteCache {
    /// Dirty sectors in all.
    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Whether nothing is dirty.
    pub(super) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// The runs, in ascending order.
    pub(super) fn runs(&self) -> &[Extent] {
        &self.runs
    }

    /// Adds sectors. Those that were dirty already are overwritten, and written to the medium once.
    pub(super) fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let first = self.runs.partition_point(|run| run.end < start);
        let last = self.runs.partition_point(|run| run.start <= end);
        let mut merged = Extent { start, end };
        for run in &self.runs[first..last] {
            merged.start = merged.start.min(run.start);
            merged.end = merged.end.max(run.end);
            self.sectors -= run.sectors();
        }
        self.sectors += merged.sectors();
        self.runs.splice(first..last, [merged]);
    }

    /// Takes up to `limit` sectors from the front of run `index`, to be written.
    pub(super) fn take(&mut self, index: usize, limit: u64) -> Extent {
        let run = &mut self.runs[index];
        let taken = Extent { start: run.start, end: run.end.min(run.start.saturating_add(limit)) };
        run.start = taken.end;
        if run.start == run.end {
            self.runs.remove(index);
        }
        self.sectors -= taken.sectors();
        taken
    }

    /// Whether every sector from `start` to `end` is dirty, so that a read needs no medium.
    pub(super) fn contains(&self, start: u64, end: u64) -> bool {
        let index = self.runs.partition_point(|run| run.end < end);
        self.runs.get(index).is_some_and(|run| run.start <= start && end <= run.end)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The runs say the same as a set of single sectors.
        #[test]
        fn runs_are_a_set_of_sectors(
            steps in prop::collection::vec((0u64..60, 0u64..10, any::<bool>()), 1..60),
        ) {
            let mut cache = WriteCache::default();
            let mut set = BTreeSet::new();
            for (sector, length, take) in steps {
                if take && !cache.is_empty() {
                    let index = usize::try_from(sector).unwrap_or(0) % cache.runs().len();
                    let taken = cache.take(index, length.max(1));
                    prop_assert!(taken.start < taken.end && taken.sectors() <= length.max(1));
                    for sector in taken.start..taken.end {
                        prop_assert!(set.remove(&sector));
                    }
                } else {
                    cache.insert(sector, sector + length);
                    set.extend(sector..sector + length);
                }
                prop_assert_eq!(cache.sectors(), set.len() as u64);
                let listed: BTreeSet<u64> = cache.runs().iter().flat_map(|run| run.start..run.end).collect();
                prop_assert_eq!(&listed, &set);
                prop_assert!(cache.runs().windows(2).all(|pair| pair[0].end < pair[1].start));
                let all = (sector..=sector + length).all(|sector| set.contains(&sector));
                prop_assert_eq!(cache.contains(sector, sector + length + 1), all);
            }
        }
    }
}
