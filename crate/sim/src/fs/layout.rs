//! Where things lie on the device.
//!
//! *Models:* a journal, metadata and data far apart, so that no two of them are close in CFQ's sense
//! (section 0.2: more than 8192 sectors), and files that exist before the run where the scenario puts
//! them.
//! *Does not model:* block groups as ext3 and ext4 place them.

use crate::block::PAGE_SECTORS;
use crate::short_sort;

/// Sectors left free around everything.
const MARGIN_SECTORS: u64 = 32_768;
/// Metadata takes this share of the device.
const METADATA_SHARE: u64 = 16;

/// The device's areas, in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// First sector of the journal.
    pub journal_start: u64,
    /// First sector of the metadata area.
    pub metadata_start: u64,
    /// Metadata blocks of 4 KiB.
    pub metadata_blocks: u64,
    /// First sector for new data.
    pub data_start: u64,
    /// The sector behind the area for new data.
    pub data_end: u64,
}

impl Layout {
    /// Places journal, metadata and new data around the `taken` ranges (first sector, end) of files
    /// that exist already. On a device too small for that, areas overlap: only positions are modelled.
    #[must_use]
    pub fn new(capacity_sectors: u64, journal_sectors: u64, taken: &[(u64, u64)]) -> Self {
        let capacity = capacity_sectors.max(64 * u64::from(PAGE_SECTORS));
        let mut taken = taken.to_vec();
        let metadata_sectors = capacity / METADATA_SHARE;
        let metadata_start = place(capacity, metadata_sectors, capacity / 32, &taken);
        taken.push((metadata_start, metadata_start + metadata_sectors));
        // mke2fs puts the journal near the middle.
        let journal_start = place(capacity, journal_sectors, capacity / 2, &taken);
        taken.push((journal_start, journal_start + journal_sectors));
        let (data_start, data_end) = largest_gap(capacity, &taken);
        Self {
            journal_start,
            metadata_start,
            metadata_blocks: (metadata_sectors / u64::from(PAGE_SECTORS)).max(1),
            data_start,
            data_end,
        }
    }

    /// Where new data begins: the middle of its area.
    #[must_use]
    pub fn first_data_sector(&self) -> u64 {
        align(self.data_start + (self.data_end - self.data_start) / 2)
    }
}

/// The first sector of `length` free sectors at `preferred` or behind it, else anywhere, else
/// `preferred` itself.
fn place(capacity: u64, length: u64, preferred: u64, taken: &[(u64, u64)]) -> u64 {
    let collides = |start: u64| {
        taken
            .iter()
            .find(|&&(from, to)| start < to + MARGIN_SECTORS && from < start + length + MARGIN_SECTORS)
            .map(|&(_, to)| align(to + MARGIN_SECTORS))
    };
    for first in [align(preferred), 0] {
        let mut start = first;
        while start + length <= capacity {
            match collides(start) {
                None => return start,
                Some(behind) => start = behind,
            }
        }
    }
    align(preferred)
}

/// The longest stretch without anything in it, a margin kept; the second half of the device if there
/// is none.
fn largest_gap(capacity: u64, taken: &[(u64, u64)]) -> (u64, u64) {
    let mut taken = taken.to_vec();
    taken.push((capacity, capacity));
    short_sort::sort_by_key(&mut taken, |stretch| *stretch);
    let (mut from, mut best) = (0, (0, 0));
    for (start, end) in taken {
        let (gap_start, gap_end) = (align(from + MARGIN_SECTORS), start.saturating_sub(MARGIN_SECTORS));
        if gap_end > gap_start && gap_end - gap_start > best.1 - best.0 {
            best = (gap_start, gap_end);
        }
        from = from.max(end);
    }
    if best.1 - best.0 < MARGIN_SECTORS { (align(capacity / 2), capacity) } else { best }
}

fn align(sector: u64) -> u64 {
    sector.next_multiple_of(u64::from(PAGE_SECTORS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Section 0.2: on a device with room, no two areas come within 8192 sectors.
        #[test]
        fn areas_keep_their_distance(at in 0u64..40_000_000, length in 8u64..12_000_000) {
            let capacity = 54_000_000;
            let file = (at, at + length);
            let layout = Layout::new(capacity, 262_144, &[file]);
            let areas = [
                file,
                (layout.journal_start, layout.journal_start + 262_144),
                (layout.metadata_start, layout.metadata_start + layout.metadata_blocks * 8),
                (layout.data_start, layout.data_end),
            ];
            for (index, a) in areas.iter().enumerate() {
                prop_assert!(a.1 <= capacity);
                for b in &areas[index + 1..] {
                    prop_assert!(a.1 + 8192 < b.0 || b.1 + 8192 < a.0, "{a:?} {b:?}");
                }
            }
        }
    }
}
