//! Requests in sector order: what elevators look up neighbours and front merges in.
//!
//! *Models:* the sorted set of requests that deadline, anticipatory and CFQ keep, in which no two
//! requests start at the same sector.
//! *Does not model:* the tree behind it; the order is the same.
//! *Follows:* model/block-layer.md, section 1.4; Linux 2.6.35 `elv_rb_add`, `elv_rb_find`.
//!
//! A queue holds at most a few hundred requests, so a sorted array with binary search beats a tree.

use super::super::request::RequestId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    sector: u64,
    id: RequestId,
}

/// A set of requests sorted by their first sector.
///
/// Each request is known by the sector it was inserted with. Between a front merge and its
/// reinsertion the request itself starts earlier than that; every method that takes a request finds
/// it all the same.
#[derive(Clone, Debug, Default)]
pub struct SortedRequests {
    entries: Vec<Entry>,
}

impl SortedRequests {
    /// An empty set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts `id`, which starts at `sector`, unless another request starts there: then nothing is
    /// inserted and that one, the alias, is returned. The kernel's elevators then dispatch the alias
    /// at once and insert again. O(log n) to find the place.
    #[must_use = "an alias has to be moved out of the way, or the request is not inserted"]
    pub fn insert(&mut self, sector: u64, id: RequestId) -> Option<RequestId> {
        let at = self.first_at_or_behind(sector);
        match self.entries.get(at) {
            Some(entry) if entry.sector == sector => Some(entry.id),
            _ => {
                self.entries.insert(at, Entry { sector, id });
                None
            }
        }
    }

    /// Removes `id`, which starts at `sector`. Returns whether it was held.
    #[inline]
    pub fn remove(&mut self, sector: u64, id: RequestId) -> bool {
        let Some(at) = self.position(sector, id) else { return false };
        self.entries.remove(at);
        true
    }

    /// The request that starts at `sector`.
    #[must_use]
    pub fn find(&self, sector: u64) -> Option<RequestId> {
        let entry = self.entries.get(self.first_at_or_behind(sector))?;
        (entry.sector == sector).then_some(entry.id)
    }

    /// Whether `id`, which starts at `sector`, is held.
    #[must_use]
    pub fn contains(&self, sector: u64, id: RequestId) -> bool {
        self.position(sector, id).is_some()
    }

    /// The request with the lowest first sector.
    #[must_use]
    pub fn first(&self) -> Option<RequestId> {
        self.entries.first().map(|entry| entry.id)
    }

    /// The request right behind `id`, which starts at `sector`, in sector order.
    #[must_use]
    #[inline]
    pub fn successor(&self, sector: u64, id: RequestId) -> Option<RequestId> {
        let at = self.position(sector, id)?;
        self.entries.get(at + 1).map(|entry| entry.id)
    }

    /// The request right in front of `id`, which starts at `sector`, in sector order.
    #[must_use]
    #[inline]
    pub fn predecessor(&self, sector: u64, id: RequestId) -> Option<RequestId> {
        let at = self.position(sector, id)?;
        self.entries.get(at.checked_sub(1)?).map(|entry| entry.id)
    }

    /// How many requests are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether none is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All requests, in sector order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = RequestId> + '_ {
        self.entries.iter().map(|entry| entry.id)
    }

    #[inline]
    fn first_at_or_behind(&self, sector: u64) -> usize {
        // Streams arrive in order: most insertions go to the end.
        match self.entries.last() {
            Some(last) if last.sector >= sector => self.entries.partition_point(|e| e.sector < sector),
            _ => self.entries.len(),
        }
    }

    /// Where `id` is. A request that has grown at its front is still where its old sector belongs,
    /// which is the next place but for overlapping requests.
    #[inline]
    fn position(&self, sector: u64, id: RequestId) -> Option<usize> {
        let at = self.first_at_or_behind(sector);
        if self.entries.get(at).is_some_and(|entry| entry.id == id) {
            return Some(at);
        }
        self.entries.iter().position(|entry| entry.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn id(number: u32) -> RequestId {
        RequestId(number)
    }

    /// Section 1.4: neighbours are the next requests in sector order, whatever the order of arrival.
    #[test]
    fn keeps_sector_order() {
        let mut sorted = SortedRequests::new();
        for (sector, number) in [(300, 1), (100, 2), (200, 3)] {
            assert_eq!(sorted.insert(sector, id(number)), None);
        }
        assert_eq!(sorted.iter().collect::<Vec<_>>(), [id(2), id(3), id(1)]);
        assert_eq!(sorted.first(), Some(id(2)));
        assert_eq!(sorted.successor(200, id(3)), Some(id(1)));
        assert_eq!(sorted.predecessor(200, id(3)), Some(id(2)));
        assert_eq!(sorted.predecessor(100, id(2)), None);
        assert_eq!(sorted.successor(300, id(1)), None);
        assert_eq!(sorted.find(200), Some(id(3)));
        assert_eq!(sorted.find(201), None);
    }

    /// `elv_rb_add`: a second request at the same sector is refused and the first one named.
    #[test]
    fn a_second_request_at_a_sector_names_the_first() {
        let mut sorted = SortedRequests::new();
        assert_eq!(sorted.insert(8, id(1)), None);
        assert_eq!(sorted.insert(8, id(2)), Some(id(1)));
        assert_eq!(sorted.len(), 1);
        assert!(sorted.remove(8, id(1)));
        assert_eq!(sorted.insert(8, id(2)), None);
        assert!(!sorted.remove(8, id(1)));
        assert!(sorted.contains(8, id(2)));
    }

    /// A request that a bio was put in front of is found by its new sector before it is reinserted.
    #[test]
    fn a_front_merged_request_keeps_its_place_until_reinserted() {
        let mut sorted = SortedRequests::new();
        for (sector, number) in [(100, 1), (200, 2), (300, 3)] {
            assert_eq!(sorted.insert(sector, id(number)), None);
        }
        assert_eq!(sorted.predecessor(192, id(2)), Some(id(1)));
        assert_eq!(sorted.successor(192, id(2)), Some(id(3)));
        assert!(sorted.remove(192, id(2)));
        assert_eq!(sorted.len(), 2);
    }

    proptest! {
        /// Against a list that is scanned: same answers after any insertions and removals.
        #[test]
        fn agrees_with_a_scanned_list(actions in prop::collection::vec((0_u64..24, any::<bool>()), 1..80)) {
            let mut sorted = SortedRequests::new();
            let mut plain: Vec<(u64, RequestId)> = Vec::new();
            for (number, (sector, inserts)) in actions.into_iter().enumerate() {
                let new = id(number as u32);
                let held = plain.iter().find(|entry| entry.0 == sector).copied();
                if inserts {
                    prop_assert_eq!(sorted.insert(sector, new), held.map(|entry| entry.1));
                    if held.is_none() {
                        plain.push((sector, new));
                    }
                } else if let Some(entry) = held {
                    prop_assert!(sorted.remove(entry.0, entry.1));
                    plain.retain(|other| *other != entry);
                }
                for &(at, request) in &plain {
                    let behind = plain.iter().filter(|e| e.0 > at).min().map(|e| e.1);
                    let in_front = plain.iter().filter(|e| e.0 < at).max().map(|e| e.1);
                    prop_assert_eq!(sorted.successor(at, request), behind);
                    prop_assert_eq!(sorted.predecessor(at, request), in_front);
                    prop_assert_eq!(sorted.find(at), Some(request));
                }
                prop_assert_eq!(sorted.first(), plain.iter().min().map(|e| e.1));
                prop_assert_eq!(sorted.len(), plain.len());
            }
        }
    }
}
