//! What becomes of one page that reclaim looks at.
//!
//! *Models:* the tests in the kernel's order: locked, unevictable, under writeback, referenced, without swap slot, mapped, dirty,
//! with private buffers, free to go.
//! *Does not model:* failures of unmapping; freeing of lazily freed pages.
//! *Follows:* docs/model/reclaim.md, section 4.5; Linux 2.6.31 and 2.6.36, `mm/vmscan.c`, `shrink_page_list`, `pageout`,
//! `page_check_references`.

use super::control::Control;
use super::frame::{FrameId, Word};
use super::gfp::COSTLY_ORDER;
use super::memory::Memory;
use super::policy::References;
use super::shrink_inactive::Tally;
use super::step::{PageWrite, Removed, Unmapped};

/// What becomes of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Back to the inactive head; or to the unevictable list.
    Keep,
    /// To the active list: its word says so.
    Activate,
    /// It is free.
    Free,
    /// Its write has to end first.
    Wait,
}

/// What references say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Activate,
    Keep,
    ReclaimClean,
    Reclaim,
}

/// Flags that need a closer look.
pub(crate) const SPECIAL: u16 = Word::LOCKED
    | Word::SWAP_CACHE
    | Word::PRIVATE
    | Word::UNEVICTABLE
    | Word::DIRTY
    | Word::WRITEBACK
    | Word::RECLAIM
    | Word::ANON;

impl Memory {
    /// Judges a page; returns its fate and its word afterwards. Whoever calls puts it where it belongs.
    #[inline(always)]
    pub(crate) fn look_at(
        &mut self,
        frame: u32,
        word: Word,
        control: &mut Control,
        synchronous: bool,
        tally: &mut Tally,
    ) -> (Fate, Word) {
        if word.any(SPECIAL) || control.order != 0 || self.policy.references != References::TwoTrips {
            return self.look_closely_at(frame, word, control, synchronous, tally);
        }
        // The common case, a clean page of a file, in few steps.
        control.scanned += 1 + u64::from(word.any(Word::MAPPED));
        let was_referenced = word.any(Word::REFERENCED);
        if word.any(Word::YOUNG) {
            let word = word.without(Word::YOUNG).with(Word::REFERENCED);
            return if was_referenced { self.activate(word) } else { (Fate::Keep, word) };
        }
        (Fate::Free, word)
    }

    fn activate(&mut self, word: Word) -> (Fate, Word) {
        self.vmstat.pgactivate += 1;
        (Fate::Activate, word.with(Word::ACTIVE))
    }

    #[inline(never)]
    fn look_closely_at(
        &mut self,
        frame: u32,
        mut word: Word,
        control: &mut Control,
        synchronous: bool,
        tally: &mut Tally,
    ) -> (Fate, Word) {
        if word.any(Word::LOCKED) {
            return (Fate::Keep, word);
        }
        control.scanned += 1;
        if word.any(Word::UNEVICTABLE) || (!control.may_unmap && word.any(Word::MAPPED)) {
            return (Fate::Keep, word);
        }
        control.scanned += u64::from(word.any(Word::MAPPED | Word::SWAP_CACHE));
        let mut may_enter_fs = control.may_enter_fs || (word.any(Word::SWAP_CACHE) && control.may_io);
        if word.any(Word::WRITEBACK) {
            return (if synchronous && may_enter_fs { Fate::Wait } else { Fate::Keep }, word);
        }
        let in_use;
        (in_use, word) = self.references(word, control);
        match in_use {
            Use::Activate => return self.activate_special(frame, word),
            Use::Keep => return (Fate::Keep, word),
            Use::ReclaimClean | Use::Reclaim => {}
        }
        if word.any(Word::ANON) && !word.any(Word::SWAP_CACHE) {
            if !control.may_io {
                return (Fate::Keep, word);
            }
            if !self.add_to_swap(frame) {
                return self.activate(word);
            }
            word = word.with(Word::SWAP_CACHE | Word::DIRTY);
            may_enter_fs = true;
        }
        if word.any(Word::DIRTY) {
            if word.any(Word::MAPPED) {
                let owner = self.frames.owner(frame);
                self.out.unmapped.push(Unmapped { owner, frame: FrameId(frame) });
                word = word.without(Word::MAPPED | Word::YOUNG);
            }
            return self.page_out(frame, word, control, in_use, may_enter_fs, tally);
        }
        if word.any(Word::PRIVATE) {
            return self.activate_special(frame, word);
        }
        (Fate::Free, word)
    }

    /// As [`Self::activate`], for a page that may hold a slot: above half full a slot is given up for a page that stays, unless page
    /// tables point to the slot or it is being written (`try_to_free_swap`).
    fn activate_special(&mut self, frame: u32, mut word: Word) -> (Fate, Word) {
        let is_half_full = self.swap.as_ref().is_some_and(super::swap::Swap::is_half_full);
        if is_half_full && word.has(Word::SWAP_CACHE | Word::MAPPED) && !word.any(Word::WRITEBACK) {
            if let Some(slot) = self.drop_from_swap_cache(frame, word) {
                self.free_slot(slot, None);
            }
            word = word.without(Word::SWAP_CACHE).with(Word::DIRTY);
        }
        self.activate(word)
    }

    /// Section 4.5, step 4; the flags looked at are cleared.
    fn references(&self, word: Word, control: &Control) -> (Use, Word) {
        let young = word.any(Word::YOUNG);
        let marked = word.any(Word::REFERENCED);
        let cleared = word.without(Word::YOUNG | Word::REFERENCED);
        let ignores_references =
            if self.policy.lumpy.ignores_references { control.lumpy } else { control.order > COSTLY_ORDER };
        match self.policy.references {
            References::Activate => {
                let in_use = word.any(Word::MAPPED | Word::SWAP_CACHE);
                let referenced = young || marked;
                let cheap = control.order <= COSTLY_ORDER;
                let what = match (referenced && cheap, in_use) {
                    (true, true) => Use::Activate,
                    (true, false) => Use::ReclaimClean,
                    _ => Use::Reclaim,
                };
                (what, cleared)
            }
            References::TwoTrips if ignores_references => (Use::Reclaim, cleared),
            References::TwoTrips if young && word.any(Word::ANON) => (Use::Activate, cleared),
            // The mark is left on activated pages too: used again after deactivation they are activated at the first look.
            References::TwoTrips if young && marked => (Use::Activate, cleared.with(Word::REFERENCED)),
            References::TwoTrips if young => (Use::Keep, cleared.with(Word::REFERENCED)),
            References::TwoTrips if marked => (Use::ReclaimClean, cleared),
            References::TwoTrips => (Use::Reclaim, cleared),
        }
    }

    /// Section 4.5, step 7.
    fn page_out(
        &mut self,
        frame: u32,
        word: Word,
        control: &Control,
        in_use: Use,
        may_enter_fs: bool,
        tally: &mut Tally,
    ) -> (Fate, Word) {
        let owner = self.frames.owner(frame);
        let info = self.owner_info(owner);
        let slot = self.slot_of(frame, word);
        let device = if slot.is_some() { self.swap_device() } else { info.device };
        tally.dirty += 1;
        if in_use == Use::ReclaimClean || !may_enter_fs || !control.may_writepage {
            return (Fate::Keep, word);
        }
        if slot.is_none() && !info.has_writepage {
            return self.activate(word);
        }
        // R4.6.
        let own = device != 0 && device == control.caller.writing_to;
        let insists = control.order > COSTLY_ORDER && self.policy.lumpy.writes_to_congested;
        if self.is_write_congested(device) && !control.caller.kswapd && !own && !insists {
            tally.dirty_refused += 1;
            return (Fate::Keep, word);
        }
        self.out.writes.push(PageWrite { owner, frame: FrameId(frame), slot });
        self.vmstat.nr_vmscan_write += 1;
        self.vmstat.pswpout += u64::from(slot.is_some());
        self.writeback_pages += 1;
        (Fate::Keep, word.without(Word::DIRTY).with(Word::WRITEBACK | Word::RECLAIM))
    }

    /// Takes a page out of the cache and gives its frame back.
    #[inline]
    pub(crate) fn release(&mut self, zone: usize, frame: u32, word: Word, cpu: usize) {
        self.remove(frame, word);
        self.work.freed += 1;
        self.vmstat.pgfree += 1;
        self.put_page(zone, frame, cpu, true);
    }

    /// Tells the outside that a page is gone.
    #[inline]
    pub(crate) fn remove(&mut self, frame: u32, word: Word) {
        let owner = self.frames.owner(frame);
        let slot = self.drop_from_swap_cache(frame, word);
        let mapped = word.any(Word::MAPPED);
        self.out.removed.push(Removed { owner, frame: FrameId(frame), mapped, slot });
    }
}
