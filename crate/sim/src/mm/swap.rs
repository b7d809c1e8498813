//! Swap slots.
//!
//! *Models:* one area: slots taken in order inside the first 256 free ones in a row, else where the search stands; the window read
//! around a slot; which frame holds a slot's page.
//! *Does not model:* several areas, priorities, discards, counts of references (a slot has one owner), giving up the slot of a page in
//! memory because another one is looking for room (from 2.6.31).
//! *Follows:* docs/model/reclaim.md, section 0.6; Linux 2.6.30 and 2.6.31, `mm/swapfile.c`, `scan_swap_map`, `swap_entry_free`,
//! `valid_swaphandles`.

use super::frame::{FrameId, Word};
use super::memory::Memory;
use super::policy::AnonAging;
use std::ops::Range;

/// Slots in a cluster (SWAPFILE_CLUSTER).
const CLUSTER_SLOTS: u32 = 256;
/// Slots in a window that is read at once: 2^page_cluster.
const WINDOW_SLOTS: u32 = 8;
/// No slot.
const NONE: u32 = u32::MAX;

/// A swap area. A slot's number is its page on the area; page 0 is the header.
#[derive(Clone, Debug)]
pub struct Swap {
    /// Whether each slot is taken; the header is.
    used: Vec<bool>,
    used_slots: u32,
    /// No slot below is free. It may be taken itself.
    lowest: u32,
    /// No slot above is free.
    highest: u32,
    /// Where the search goes on, and for how many slots before it looks for a new cluster.
    next: u32,
    cluster_left: u32,
    /// New clusters are looked for from where the search stands, not from the beginning (SWP_SOLIDSTATE).
    solid_state: bool,
    /// Index + 1 of the device; 0 is none.
    device: u16,
    /// The slot of each frame that is in the swap cache.
    slots: Vec<u32>,
}

impl Swap {
    fn new(slots: u32, device: u16, solid_state: bool, frames: u32) -> Self {
        let slots = slots.min(NONE - 2);
        let mut used = vec![false; slots as usize + 1];
        used[0] = true;
        Self {
            used,
            used_slots: 0,
            lowest: 1,
            highest: slots,
            next: 1,
            cluster_left: 0,
            solid_state,
            device,
            slots: vec![NONE; frames as usize],
        }
    }

    /// Slots in all.
    #[must_use]
    pub fn total_slots(&self) -> u32 {
        self.used.len() as u32 - 1
    }

    /// Slots taken.
    #[must_use]
    pub fn used_slots(&self) -> u32 {
        self.used_slots
    }

    /// Memory that this takes on the host, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        std::mem::size_of_val(&self.used[..]) + std::mem::size_of_val(&self.slots[..])
    }

    /// Above half, slots are given up as soon as their page is in memory (`vm_swap_full`).
    #[must_use]
    pub fn is_half_full(&self) -> bool {
        self.used_slots * 2 > self.total_slots()
    }

    /// Whether a slot is taken.
    #[must_use]
    pub fn is_used(&self, slot: u32) -> bool {
        slot != 0 && self.used.get(slot as usize).copied().unwrap_or(false)
    }

    /// Slots whose page is in memory as well. Cost: the frames.
    pub(crate) fn slots_in_cache(&self) -> u64 {
        self.slots.iter().filter(|&&slot| slot != NONE).count() as u64
    }

    /// The slots read together with `slot`: those beside it in its aligned window of 8, as far as they are taken without a gap.
    /// Nothing if it is not taken itself.
    #[must_use]
    pub fn read_window(&self, slot: u32) -> Range<u32> {
        if !self.is_used(slot) {
            return slot..slot;
        }
        let base = slot - slot % WINDOW_SLOTS;
        let first = (base..slot).rev().take_while(|&below| self.is_used(below)).last().unwrap_or(slot);
        let above = (slot + 1..base + WINDOW_SLOTS).take_while(|&above| self.is_used(above)).count();
        first..slot + 1 + above as u32
    }

    /// The first of 256 free slots in a row, all of them at or above `from` and below `end`.
    fn free_cluster(&self, from: u32, end: u32) -> Option<u32> {
        let mut free = 0;
        for slot in from..end {
            free = if self.used[slot as usize] { 0 } else { free + 1 };
            if free == CLUSTER_SLOTS {
                return Some(slot + 1 - CLUSTER_SLOTS);
            }
        }
        None
    }

    /// Takes a slot. A last free one at the very beginning may be missed, as in the kernel.
    fn take(&mut self) -> Option<u32> {
        let mut base = self.next;
        if self.cluster_left == 0 {
            self.cluster_left = CLUSTER_SLOTS;
            if self.total_slots() - self.used_slots >= CLUSTER_SLOTS {
                if !self.solid_state {
                    base = self.lowest;
                }
                let found = self.free_cluster(base, self.highest + 1);
                let found = found.or_else(|| self.free_cluster(self.lowest, base));
                base = found.unwrap_or(base);
            }
        }
        self.cluster_left -= 1;
        if self.highest == 0 {
            return None;
        }
        if base > self.highest {
            base = self.lowest;
        }
        let is_free = |slot: &u32| !self.used[*slot as usize];
        let slot = (base..=self.highest).find(is_free).or_else(|| (self.lowest + 1..base).find(is_free))?;
        self.lowest += u32::from(slot == self.lowest);
        self.highest -= u32::from(slot == self.highest);
        self.used[slot as usize] = true;
        self.used_slots += 1;
        if self.used_slots == self.total_slots() {
            (self.lowest, self.highest) = (self.total_slots() + 1, 0);
        }
        self.next = slot + 1;
        Some(slot)
    }

    fn give(&mut self, slot: u32) {
        if self.is_used(slot) {
            self.used[slot as usize] = false;
            self.used_slots -= 1;
            self.lowest = self.lowest.min(slot);
            self.highest = self.highest.max(slot);
        }
    }
}

impl Memory {
    /// Adds a swap area of so many slots on a device (index + 1; 0 for none), which seeks or not.
    pub fn add_swap(&mut self, slots: u32, device: u16, solid_state: bool) {
        self.swap = Some(Swap::new(slots, device, solid_state, self.frames.count()));
    }

    /// The swap area.
    #[must_use]
    pub fn swap(&self) -> Option<&Swap> {
        self.swap.as_ref()
    }

    /// Whether a slot is free (`nr_swap_pages` > 0).
    #[inline]
    pub(crate) fn has_swap_space(&self) -> bool {
        self.swap.as_ref().is_some_and(|swap| swap.used_slots < swap.total_slots())
    }

    /// Whether inactive anonymous lists may be topped up.
    #[inline]
    pub(crate) fn may_age_anon(&self, rule: AnonAging) -> bool {
        match rule {
            AnonAging::Always => true,
            AnonAging::FreeSlot => self.has_swap_space(),
            AnonAging::SwapArea => self.swap.is_some(),
        }
    }

    /// Whether anonymous pages are among those that reclaim could free.
    #[inline]
    pub(crate) fn counts_anon(&self) -> bool {
        self.policy.anon_counts_without_swap || self.has_swap_space()
    }

    pub(crate) fn swap_device(&self) -> u16 {
        self.swap.as_ref().map_or(0, |swap| swap.device)
    }

    /// Gives a page a slot; false if there is none.
    pub(crate) fn add_to_swap(&mut self, frame: u32) -> bool {
        let Some(swap) = &mut self.swap else { return false };
        let Some(slot) = swap.take() else { return false };
        swap.slots[frame as usize] = slot;
        true
    }

    /// The slot of a page in the swap cache.
    pub(crate) fn slot_of(&self, frame: u32, word: Word) -> Option<u32> {
        if !word.any(Word::SWAP_CACHE) {
            return None;
        }
        self.swap
            .as_ref()
            .and_then(|swap| swap.slots.get(frame as usize).copied())
            .filter(|&slot| slot != NONE)
    }

    /// The page leaves the swap cache, its contents stay in the slot.
    #[inline]
    pub(crate) fn drop_from_swap_cache(&mut self, frame: u32, word: Word) -> Option<u32> {
        let slot = self.slot_of(frame, word)?;
        if let Some(swap) = &mut self.swap {
            swap.slots[frame as usize] = NONE;
        }
        Some(slot)
    }

    /// A page read from `slot` is in the swap cache: as long as it is clean it can be dropped without being written.
    pub fn put_in_swap_cache(&mut self, frame: FrameId, slot: u32) {
        let Some(swap) = &mut self.swap else { return };
        if let Some(place) = swap.slots.get_mut(frame.0 as usize) {
            *place = slot;
            let word = self.frames.word(frame.0);
            self.frames.set(frame.0, word.with(Word::SWAP_CACHE));
        }
    }

    /// Gives a slot up: its page has been changed in memory, or is gone. A frame that holds it leaves the swap cache.
    pub fn free_slot(&mut self, slot: u32, frame: Option<FrameId>) {
        if let Some(frame) = frame {
            let word = self.frames.word(frame.0);
            if self.slot_of(frame.0, word) == Some(slot) {
                self.drop_from_swap_cache(frame.0, word);
                self.frames.set(frame.0, word.without(Word::SWAP_CACHE));
            }
        }
        if let Some(swap) = &mut self.swap {
            swap.give(slot);
        }
    }
}
