//! What the rest of the machine does to a page in memory: uses it, dirties it, writes it, forgets it.
//!
//! *Models:* the page flags that reclaim looks at; activation by a second read; rotation when a write ends; freeing.
//! *Does not model:* page tables and the page cache themselves.
//! *Follows:* docs/model/reclaim.md, sections 4.1 and 4.5 (R4.5); Linux 2.6.31, `mm/swap.c`, `mark_page_accessed`,
//! `rotate_reclaimable_page`; `mm/filemap.c`, `end_page_writeback`.

use super::frame::{FrameId, Owner, Word};
use super::lru::Lru;
use super::memory::Memory;

impl Memory {
    fn change(&mut self, frame: FrameId, change: impl FnOnce(Word) -> Word) {
        let Some(word) = self.frames.words.get_mut(frame.0 as usize) else { return };
        if word.is_user() {
            *word = change(*word);
        }
    }

    fn flags(&self, frame: FrameId) -> Word {
        // What says where a free block begins is no flag.
        let word = self.frames.words.get(frame.0 as usize).copied();
        word.filter(|word| word.is_user()).unwrap_or(Word::NOTHING)
    }

    /// Whose page a frame holds; `None` if it holds no user page.
    #[must_use]
    pub fn owner(&self, frame: FrameId) -> Option<Owner> {
        self.flags(frame).is_user().then(|| self.frames.owner(frame.0))
    }

    /// The page is used through a page table.
    #[inline]
    pub fn touch(&mut self, frame: FrameId) {
        self.change(frame, |word| word.with(Word::YOUNG));
    }

    /// A page table points to the page from now on; it has just been used.
    pub fn map(&mut self, frame: FrameId) {
        self.change(frame, |word| word.with(Word::MAPPED | Word::YOUNG));
    }

    /// No page table points to the page any more. A use that reclaim has not seen counts as a reading (`zap_pte_range`).
    pub fn unmap(&mut self, frame: FrameId) {
        let young = self.flags(frame).any(Word::YOUNG);
        self.change(frame, |word| word.without(Word::MAPPED | Word::YOUNG));
        if young && !self.flags(frame).any(Word::ANON) {
            self.mark_accessed(frame);
        }
    }

    /// The page is read or written through a system call: the second time activates it (section 4.1).
    pub fn mark_accessed(&mut self, frame: FrameId) {
        let word = self.flags(frame);
        if word.any(Word::REFERENCED)
            && matches!(Lru::holding(word), Some(Lru::InactiveAnon | Lru::InactiveFile))
        {
            self.move_to(frame, word.without(Word::REFERENCED).with(Word::ACTIVE));
            self.vmstat.pgactivate += 1;
        } else {
            self.change(frame, |word| word.with(Word::REFERENCED));
        }
    }

    /// Moves a page that is on a list to the head of the one its new word says.
    fn move_to(&mut self, frame: FrameId, word: Word) {
        let zone = self.zone_of(frame.0);
        let Some(from) = Lru::holding(self.frames.word(frame.0)) else { return };
        self.take_off_lru(zone, frame.0, from);
        let kind = usize::from(from.is_file());
        self.zones[zone].recent_scanned[kind] += 1;
        self.zones[zone].recent_rotated[kind] += u64::from(word.any(Word::ACTIVE));
        self.add_to_lru(zone, frame.0, word);
    }

    /// The page has to be written before it can go.
    pub fn set_dirty(&mut self, frame: FrameId) {
        self.change(frame, |word| word.with(Word::DIRTY));
    }

    /// The page need not be written any more.
    pub fn clear_dirty(&mut self, frame: FrameId) {
        self.change(frame, |word| word.without(Word::DIRTY));
    }

    /// Whether the page has to be written.
    #[must_use]
    pub fn is_dirty(&self, frame: FrameId) -> bool {
        self.flags(frame).any(Word::DIRTY)
    }

    /// Whether the page is being written.
    #[must_use]
    pub fn is_under_writeback(&self, frame: FrameId) -> bool {
        self.flags(frame).any(Word::WRITEBACK)
    }

    /// Whether somebody has locked the page.
    #[must_use]
    pub fn is_locked(&self, frame: FrameId) -> bool {
        self.flags(frame).any(Word::LOCKED)
    }

    /// Whether page tables point to the page.
    #[must_use]
    pub fn is_mapped(&self, frame: FrameId) -> bool {
        self.flags(frame).any(Word::MAPPED)
    }

    /// The swap slot that the page has while it is in the swap cache.
    #[must_use]
    pub fn slot(&self, frame: FrameId) -> Option<u32> {
        self.slot_of(frame.0, self.flags(frame))
    }

    /// Pages of files and anonymous pages in memory, wherever they are. Cost: the zones.
    #[must_use]
    pub fn user_pages(&self) -> u64 {
        let pages = self.zones.iter().map(|zone| {
            let lru: u64 = (0..zone.lru.len()).map(|lru| u64::from(zone.lru[lru].len())).sum();
            lru + u64::from(zone.isolated[0] + zone.isolated[1] + zone.in_vectors)
        });
        pages.sum()
    }

    /// Pages that the kernel holds for itself. Cost: the zones.
    #[must_use]
    pub fn kernel_pages(&self) -> u64 {
        self.zones.iter().map(|zone| u64::from(zone.kernel_pages)).sum()
    }

    /// The file system does not write a page that reclaim wanted written: it is dirty as before (`redirty_page_for_writepage`).
    pub fn refuse_write(&mut self, frame: FrameId) {
        if self.is_under_writeback(frame) {
            self.writeback_pages -= 1;
            self.change(frame, |word| word.without(Word::WRITEBACK | Word::RECLAIM).with(Word::DIRTY));
        }
    }

    /// Somebody else than reclaim begins to write the page.
    pub fn begin_write(&mut self, frame: FrameId) {
        let word = self.flags(frame);
        if word.is_user() && !word.any(Word::WRITEBACK) {
            self.writeback_pages += 1;
        }
        self.change(frame, |word| word.without(Word::DIRTY).with(Word::WRITEBACK));
    }

    /// The page's write has ended. One that reclaim started makes the page the next to be looked at (R4.5).
    pub fn written(&mut self, frame: FrameId) {
        let word = self.flags(frame);
        if !word.is_user() || !word.any(Word::WRITEBACK) {
            return;
        }
        self.writeback_pages -= 1;
        let after = word.without(Word::WRITEBACK | Word::RECLAIM);
        self.frames.set(frame.0, after);
        let rotates = word.any(Word::RECLAIM)
            && !word.any(Word::ACTIVE | Word::UNEVICTABLE | Word::LOCKED | Word::DIRTY);
        if rotates && let Some(lru @ (Lru::InactiveAnon | Lru::InactiveFile)) = Lru::holding(word) {
            let zone = self.zone_of(frame.0);
            self.take_off_lru(zone, frame.0, lru);
            self.zones[zone].lru[lru.index()].push_tail(&mut self.frames, frame.0);
            self.vmstat.pgrotated += 1;
        }
    }

    /// Locks or unlocks a page: reclaim keeps away from a locked one.
    pub fn set_locked(&mut self, frame: FrameId, locked: bool) {
        self.set_flag(frame, Word::LOCKED, locked);
    }

    /// Says whether the page has buffers that cannot be released, such as those of a running transaction.
    pub fn set_private(&mut self, frame: FrameId, private: bool) {
        self.set_flag(frame, Word::PRIVATE, private);
    }

    /// Pins a page in memory, or unpins it.
    pub fn set_unevictable(&mut self, frame: FrameId, pinned: bool) {
        let word = self.flags(frame);
        self.set_flag(frame, Word::UNEVICTABLE, pinned);
        if Lru::holding(word).is_some() {
            let word = if pinned {
                word.with(Word::UNEVICTABLE).without(Word::ACTIVE)
            } else {
                word.without(Word::UNEVICTABLE)
            };
            self.move_to(frame, word);
        }
    }

    fn set_flag(&mut self, frame: FrameId, flag: u16, set: bool) {
        self.change(frame, |word| if set { word.with(flag) } else { word.without(flag) });
    }

    /// The page is not needed any more (truncated, or its region is gone): its frame is free, at once. False if reclaim has it in
    /// hand, somebody has locked it or it is being written: then try again later.
    pub fn forget(&mut self, frame: FrameId, cpu: usize) -> bool {
        let word = self.flags(frame);
        if !word.is_user() || word.any(Word::WRITEBACK | Word::LOCKED) || word.place() == Word::ISOLATED {
            return false;
        }
        let zone = self.zone_of(frame.0);
        if let Some(lru) = Lru::holding(word) {
            self.take_off_lru(zone, frame.0, lru);
        } else {
            self.remove_from_vector(frame.0, word);
            self.zones[zone].in_vectors -= 1;
        }
        if let Some(slot) = self.drop_from_swap_cache(frame.0, word) {
            self.free_slot(slot, None);
        }
        self.vmstat.pgfree += 1;
        self.put_page(zone, frame.0, cpu, false);
        true
    }

    fn remove_from_vector(&mut self, frame: u32, word: Word) {
        let lru = Lru::of(word).index();
        for cpu in &mut self.cpus {
            // The page may have changed its kind while it waited: look everywhere, its own vector first.
            let len = cpu.vectors.len();
            for vector in (lru..len).chain(0..lru) {
                let vector = &mut cpu.vectors[vector];
                let held = &mut vector.frames[..usize::from(vector.len)];
                if let Some(at) = held.iter().position(|&held| held == frame) {
                    held.copy_within(at + 1.., at);
                    vector.len -= 1;
                    return;
                }
            }
        }
    }
}
