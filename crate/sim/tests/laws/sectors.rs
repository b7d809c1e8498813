//! A multiset of sectors.

use std::collections::BTreeMap;

/// Stretches that do not overlap, by direction and first sector, with their ends and how often they are in it.
#[derive(Debug, Default)]
pub(crate) struct Sectors {
    stretches: BTreeMap<(bool, u64), (u64, u32)>,
    total: u64,
}

impl Sectors {
    /// How many sectors are in it, each counted as often as it is.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    /// Makes `at` a boundary between stretches.
    fn split(&mut self, is_write: bool, at: u64) {
        let before = self.stretches.range_mut((is_write, 0)..(is_write, at)).next_back();
        if let Some((_, (end, count))) = before
            && *end > at
        {
            let rest = (std::mem::replace(end, at), *count);
            self.stretches.insert((is_write, at), rest);
        }
    }

    /// Puts each sector of `from..to` into it once more.
    pub(crate) fn add(&mut self, is_write: bool, from: u64, to: u64) {
        self.split(is_write, from);
        self.split(is_write, to);
        let mut gaps = Vec::new();
        let mut at = from;
        for (&(_, start), (end, count)) in self.stretches.range_mut((is_write, from)..(is_write, to)) {
            gaps.push((at, start));
            *count += 1;
            at = *end;
        }
        gaps.push((at, to));
        for (start, end) in gaps.into_iter().filter(|(start, end)| start < end) {
            self.stretches.insert((is_write, start), (end, 1));
        }
        self.total += to - from;
    }

    /// Takes each sector of `from..to` out once; false if one is not in it.
    pub(crate) fn take(&mut self, is_write: bool, from: u64, to: u64) -> bool {
        self.split(is_write, from);
        self.split(is_write, to);
        let mut at = from;
        let mut gone = Vec::new();
        for (&place, (end, count)) in self.stretches.range_mut((is_write, from)..(is_write, to)) {
            if place.1 != at {
                return false;
            }
            at = *end;
            *count -= 1;
            if *count == 0 {
                gone.push(place);
            }
        }
        for place in gone {
            self.stretches.remove(&place);
        }
        self.total -= to - from;
        at == to
    }
}

#[test]
fn sectors_are_counted() {
    let mut sectors = Sectors::default();
    sectors.add(true, 0, 16);
    sectors.add(true, 8, 24);
    sectors.add(false, 8, 9);
    assert_eq!(sectors.total(), 33);
    assert!(sectors.take(true, 4, 20));
    assert!(!sectors.take(true, 4, 5), "it was in it once");
    assert!(sectors.take(true, 8, 16), "these were in it twice");
}
