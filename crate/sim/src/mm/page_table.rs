//! Where the pages of a mapping are.
//!
//! *Models:* one level of page tables of 512 entries, each a page of kernel memory from the first use of its range on.
//! *Does not model:* the upper levels (one page for 512 tables), huge pages, a table's page being given back before the mapping ends,
//! separate tables of processes that map the same file.
//! *Follows:* docs/model/reclaim.md, section 5.4 (accounting identity).

use super::frame::FrameId;

/// Pages that one page of page tables maps.
pub const PAGES_A_TABLE: u32 = 512;

/// No table yet.
const NONE: u32 = u32::MAX;
/// There is a table, and no page in it.
const EMPTY: u32 = u32::MAX - 1;
/// No page here.
const ABSENT: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Leaf {
    frames: [u32; PAGES_A_TABLE as usize],
    used: u32,
}

/// The page table of one mapping. Memory follows the pages present; a look-up costs O(1).
#[derive(Clone, Debug, Default)]
pub struct PageTable {
    tables: Vec<u32>,
    leaves: Vec<Leaf>,
    free: Vec<u32>,
    table_count: u32,
    present: u32,
}

impl PageTable {
    /// Where a page is; `None` if it is not mapped.
    #[inline]
    #[must_use]
    pub fn get(&self, page: u32) -> Option<FrameId> {
        let leaf = self.leaves.get(*self.tables.get((page / PAGES_A_TABLE) as usize)? as usize)?;
        let frame = leaf.frames[(page % PAGES_A_TABLE) as usize];
        (frame != ABSENT).then_some(FrameId(frame))
    }

    /// Whether the page's range has a table, so that mapping it needs no memory but the page.
    #[inline]
    #[must_use]
    pub fn has_table(&self, page: u32) -> bool {
        self.tables.get((page / PAGES_A_TABLE) as usize).is_some_and(|&table| table != NONE)
    }

    /// The page's range has a table from now on.
    pub fn add_table(&mut self, page: u32) {
        let index = (page / PAGES_A_TABLE) as usize;
        if index >= self.tables.len() {
            self.tables.resize(index + 1, NONE);
        }
        if self.tables[index] == NONE {
            self.tables[index] = EMPTY;
            self.table_count += 1;
        }
    }

    /// Maps a page. Does nothing while its range has no table.
    #[inline]
    pub fn set(&mut self, page: u32, frame: FrameId) {
        let Some(table) = self.tables.get_mut((page / PAGES_A_TABLE) as usize) else { return };
        if *table == NONE {
            return;
        }
        if *table == EMPTY {
            *table = self.free.pop().unwrap_or_else(|| {
                self.leaves.push(Leaf { frames: [ABSENT; PAGES_A_TABLE as usize], used: 0 });
                self.leaves.len() as u32 - 1
            });
        }
        let leaf = &mut self.leaves[*table as usize];
        let slot = &mut leaf.frames[(page % PAGES_A_TABLE) as usize];
        if *slot == ABSENT {
            leaf.used += 1;
            self.present += 1;
        }
        *slot = frame.0;
    }

    /// How many pages from `page` on, at most `limit`, could be mapped with the table that their range has: none of them is mapped, and
    /// no other table is needed.
    #[inline]
    #[must_use]
    pub fn vacant_run(&self, page: u32, limit: u32) -> u32 {
        let (index, at) = ((page / PAGES_A_TABLE) as usize, (page % PAGES_A_TABLE) as usize);
        let limit = limit.min(PAGES_A_TABLE - at as u32);
        match self.tables.get(index) {
            None | Some(&NONE) => 0,
            Some(&EMPTY) => limit,
            Some(&leaf) => {
                let wanted = &self.leaves[leaf as usize].frames[at..at + limit as usize];
                wanted.iter().take_while(|frame| **frame == ABSENT).count() as u32
            }
        }
    }

    /// Unmaps a page.
    #[inline]
    pub fn clear(&mut self, page: u32) {
        let Some(table) = self.tables.get_mut((page / PAGES_A_TABLE) as usize) else { return };
        let Some(leaf) = self.leaves.get_mut(*table as usize) else { return };
        let slot = &mut leaf.frames[(page % PAGES_A_TABLE) as usize];
        if *slot == ABSENT {
            return;
        }
        *slot = ABSENT;
        leaf.used -= 1;
        self.present -= 1;
        if leaf.used == 0 {
            self.free.push(*table);
            *table = EMPTY;
        }
    }

    /// Every page with its frame, in order. Cost: the tables.
    pub fn iter(&self) -> impl Iterator<Item = (u32, FrameId)> {
        let leaves = self.tables.iter().enumerate();
        leaves.filter_map(|(index, &table)| Some((index, self.leaves.get(table as usize)?))).flat_map(
            |(index, leaf)| {
                let pages = (index as u32 * PAGES_A_TABLE..).zip(&leaf.frames);
                pages.filter(|(_, frame)| **frame != ABSENT).map(|(page, &frame)| (page, FrameId(frame)))
            },
        )
    }

    /// Pages mapped.
    #[must_use]
    pub fn present(&self) -> u32 {
        self.present
    }

    /// Memory that this takes on the host, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        std::mem::size_of_val(&self.leaves[..]) + std::mem::size_of_val(&self.tables[..])
    }

    /// Pages of kernel memory that the tables take.
    #[must_use]
    pub fn table_pages(&self) -> u32 {
        self.table_count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// A page table is a map whose keys have a table.
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0_u32..2000, 0_u8..3, 0_u32..1000), 0..400)) {
            let (mut table, mut map, mut tables) = (PageTable::default(), BTreeMap::new(), vec![false; 4]);
            for (page, what, frame) in steps {
                let range = (page / PAGES_A_TABLE) as usize;
                match what {
                    0 => {
                        table.add_table(page);
                        tables[range] = true;
                    }
                    1 => {
                        table.set(page, FrameId(frame));
                        if tables[range] {
                            map.insert(page, FrameId(frame));
                        }
                    }
                    _ => {
                        table.clear(page);
                        map.remove(&page);
                    }
                }
                prop_assert_eq!(table.get(page), map.get(&page).copied());
                prop_assert_eq!(table.has_table(page), tables[range]);
            }
            prop_assert_eq!(table.present() as usize, map.len());
            prop_assert_eq!(table.table_pages() as usize, tables.iter().filter(|table| **table).count());
            for page in 0..2000 {
                prop_assert_eq!(table.get(page), map.get(&page).copied());
            }
            for page in (0..2000).step_by(7) {
                let end = (page / PAGES_A_TABLE + 1) * PAGES_A_TABLE;
                let vacant = (page..end.min(page + 20)).take_while(|page| !map.contains_key(page)).count();
                let has_table = tables[(page / PAGES_A_TABLE) as usize];
                prop_assert_eq!(table.vacant_run(page, 20) as usize, if has_table { vacant } else { 0 });
            }
        }
    }
}
