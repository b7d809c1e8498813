//! The pages of one file: one byte of state each, in a flat array.
//!
//! *Models:* which pages are in memory, being read, dirty or under writeback, and the readahead mark.
//! *Does not model:* memory running out: a page stays until it is dropped on purpose (the allocator and
//! reclaim come behind this face).
//! *Follows:* the page flags of Linux 2.6.35.

use crate::block::BioTag;

/// Bytes in a page.
pub const PAGE_BYTES: u64 = 4096;

/// State of a page, as a set of bits; 0 is a page that is not in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageFlags(pub u8);

impl PageFlags {
    /// Not in memory.
    pub const ABSENT: Self = Self(0);
    /// Its content is valid.
    pub const UP_TO_DATE: Self = Self(1);
    /// In memory, locked until its read completes.
    pub const READING: Self = Self(2);
    /// Changed since it was last written.
    pub const DIRTY: Self = Self(4);
    /// Being written.
    pub const WRITEBACK: Self = Self(8);
    /// Whoever reaches this page starts the next window (PG_readahead).
    pub const MARK: Self = Self(16);

    /// Whether every flag of `other` is set.
    #[must_use]
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

#[derive(Clone, Copy, Debug)]
struct ReadInFlight {
    first: u32,
    pages: u32,
    bio: BioTag,
}

/// The cached pages of one file.
#[derive(Clone, Debug, Default)]
pub struct PageCache {
    state: Vec<u8>,
    dirty: u32,
    writeback: u32,
    reads: Vec<ReadInFlight>,
}

impl PageCache {
    /// The state of a page.
    #[must_use]
    #[inline]
    pub fn get(&self, page: u32) -> PageFlags {
        PageFlags(self.state.get(page as usize).copied().unwrap_or(0))
    }

    /// Pages changed and not yet on their way to the device.
    #[must_use]
    pub fn dirty(&self) -> u32 {
        self.dirty
    }

    /// Pages being written.
    #[must_use]
    pub fn under_writeback(&self) -> u32 {
        self.writeback
    }

    /// How many pages from `page` on, at most `limit`, are up to date and carry no mark: what a reader
    /// can copy without looking up.
    #[must_use]
    #[inline]
    pub fn plain_run(&self, page: u32, limit: u32) -> u32 {
        let wanted = PageFlags::UP_TO_DATE.0;
        let mask = wanted | PageFlags::MARK.0;
        let from = (page as usize).min(self.state.len());
        let to = (page as usize + limit as usize).min(self.state.len());
        self.state[from..to].iter().take_while(|&&state| state & mask == wanted).count() as u32
    }

    /// The first page at or after `from` that is not in memory, looking at no more than `limit` pages.
    #[must_use]
    pub fn next_hole(&self, from: u32, limit: u32) -> Option<u32> {
        (from..from.saturating_add(limit)).find(|&page| self.get(page) == PageFlags::ABSENT)
    }

    /// How many pages right before `page`, at most `limit`, are in memory.
    #[must_use]
    pub fn history(&self, page: u32, limit: u32) -> u32 {
        let from = page.saturating_sub(limit);
        (from..page).rev().take_while(|&before| self.get(before) != PageFlags::ABSENT).count() as u32
    }

    /// The first dirty page at or after `from`.
    #[must_use]
    pub fn next_dirty(&self, from: u32) -> Option<u32> {
        if self.dirty == 0 {
            return None;
        }
        let start = (from as usize).min(self.state.len());
        let at = self.state[start..].iter().position(|&state| state & PageFlags::DIRTY.0 != 0)?;
        Some((start + at) as u32)
    }

    /// How many pages from `page` on, at most `limit`, are dirty and not under writeback.
    #[must_use]
    pub fn dirty_run(&self, page: u32, limit: u32) -> u32 {
        let mask = PageFlags::DIRTY.0 | PageFlags::WRITEBACK.0;
        let from = (page as usize).min(self.state.len());
        let to = (page as usize + limit as usize).min(self.state.len());
        self.state[from..to].iter().take_while(|&&state| state & mask == PageFlags::DIRTY.0).count() as u32
    }

    /// Adds an absent page that is going to be read.
    pub fn add_for_read(&mut self, page: u32) {
        *self.slot(page) = PageFlags::READING.0;
    }

    /// Marks a page that has just been added for readahead.
    pub fn set_mark(&mut self, page: u32) {
        *self.slot(page) |= PageFlags::MARK.0;
    }

    /// Takes the mark off a page.
    pub fn clear_mark(&mut self, page: u32) {
        *self.slot(page) &= !PageFlags::MARK.0;
    }

    /// Says which bio reads `pages` pages from `first` on.
    pub fn read_submitted(&mut self, first: u32, pages: u32, bio: BioTag) {
        self.reads.push(ReadInFlight { first, pages, bio });
    }

    /// The bio that reads `page`, if it has been submitted.
    #[must_use]
    pub fn reading_bio(&self, page: u32) -> Option<BioTag> {
        self.reads.iter().find(|read| page.wrapping_sub(read.first) < read.pages).map(|read| read.bio)
    }

    /// The read of `pages` pages from `first` on is complete.
    pub fn read_completed(&mut self, first: u32, pages: u32, bio: BioTag) {
        if let Some(at) = self.reads.iter().position(|read| read.bio == bio) {
            self.reads.swap_remove(at);
        }
        for page in first..first + pages {
            let slot = self.slot(page);
            // A page dropped meanwhile stays dropped.
            if *slot & PageFlags::READING.0 != 0 {
                *slot = *slot & !PageFlags::READING.0 | PageFlags::UP_TO_DATE.0;
            }
        }
    }

    /// A task has changed the page.
    pub fn set_dirty(&mut self, page: u32) {
        let slot = self.slot(page);
        let was = *slot;
        *slot |= PageFlags::DIRTY.0 | PageFlags::UP_TO_DATE.0;
        if was & PageFlags::DIRTY.0 == 0 {
            self.dirty += 1;
        }
    }

    /// A dirty page is going to be written.
    pub fn start_writeback(&mut self, page: u32) {
        let slot = self.slot(page);
        debug_assert!(PageFlags(*slot).has(PageFlags::DIRTY) && !PageFlags(*slot).has(PageFlags::WRITEBACK));
        *slot = *slot & !PageFlags::DIRTY.0 | PageFlags::WRITEBACK.0;
        self.dirty -= 1;
        self.writeback += 1;
    }

    /// A page has been written. Returns whether no page of the file is under writeback any more.
    pub fn end_writeback(&mut self, page: u32) -> bool {
        let slot = self.slot(page);
        debug_assert!(PageFlags(*slot).has(PageFlags::WRITEBACK));
        *slot &= !PageFlags::WRITEBACK.0;
        self.writeback -= 1;
        self.writeback == 0
    }

    /// Pages up to the last that has been in memory.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.state.len() as u32
    }

    /// Whether no page has ever been in memory.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.is_empty()
    }

    /// Whether a page is dirty, or being read or written.
    #[must_use]
    pub fn is_busy(&self, page: u32) -> bool {
        self.get(page).0 & (PageFlags::DIRTY.0 | PageFlags::WRITEBACK.0 | PageFlags::READING.0) != 0
    }

    /// Drops one page, if it is clean and not busy.
    pub fn forget(&mut self, page: u32) {
        if !self.is_busy(page)
            && let Some(state) = self.state.get_mut(page as usize)
        {
            *state = 0;
        }
    }

    /// Drops every page that is clean and not busy; returns how many. Cost: the file's pages.
    pub fn drop_clean(&mut self) -> u32 {
        let busy = PageFlags::DIRTY.0 | PageFlags::WRITEBACK.0 | PageFlags::READING.0;
        let mut dropped = 0;
        for state in &mut self.state {
            if *state != 0 && *state & busy == 0 {
                *state = 0;
                dropped += 1;
            }
        }
        dropped
    }

    /// Forgets changes that need not be written any more: the file is gone.
    pub fn cancel_dirty(&mut self) {
        for state in &mut self.state {
            *state &= !PageFlags::DIRTY.0;
        }
        self.dirty = 0;
    }

    /// Pages in memory. Cost: the file's pages.
    #[must_use]
    pub fn cached(&self) -> u32 {
        self.state.iter().filter(|&&state| state != 0).count() as u32
    }

    #[inline]
    fn slot(&mut self, page: u32) -> &mut u8 {
        let index = page as usize;
        if index >= self.state.len() {
            self.state.resize(index + 1, 0);
        }
        &mut self.state[index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The counters equal what a scan finds, whatever happens to the pages.
        #[test]
        fn counters_follow_the_flags(steps in prop::collection::vec((0u32..32, 0u8..4), 0..200)) {
            let mut cache = PageCache::default();
            for (page, what) in steps {
                let flags = cache.get(page);
                match what {
                    0 => cache.set_dirty(page),
                    1 if flags.has(PageFlags::DIRTY) && !flags.has(PageFlags::WRITEBACK) => {
                        cache.start_writeback(page);
                    }
                    2 if flags.has(PageFlags::WRITEBACK) => { cache.end_writeback(page); }
                    3 => { cache.drop_clean(); }
                    _ => {}
                }
                let count = |flag| (0..32).filter(|&page| cache.get(page).has(flag)).count() as u32;
                prop_assert_eq!(cache.dirty(), count(PageFlags::DIRTY));
                prop_assert_eq!(cache.under_writeback(), count(PageFlags::WRITEBACK));
            }
        }
    }
}
