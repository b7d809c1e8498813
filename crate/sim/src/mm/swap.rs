//! Swap slots.
//!
//! *Models:* slots taken in order inside a free cluster of 256, else the first free one; which frame holds a slot's page.
//! *Does not model:* several swap areas, priorities, discards.
//! *Follows:* docs/model/reclaim.md, section 0.6 (from memory, unverified); Linux 2.6.31, `mm/swapfile.c`, `scan_swap_map`.

use super::frame::{FrameId, Word};
use super::memory::Memory;

/// Slots in a cluster (SWAPFILE_CLUSTER).
const CLUSTER_SLOTS: u32 = 256;
/// No slot.
const NONE: u32 = u32::MAX;

/// A swap area.
#[derive(Clone, Debug)]
pub struct Swap {
    /// Whether each slot is taken.
    used: Vec<bool>,
    used_slots: u32,
    /// Used slots of each cluster.
    cluster_used: Vec<u32>,
    /// Where the cluster in use goes on, and how much of it is left.
    next: u32,
    cluster_left: u32,
    /// Index + 1 of the device; 0 is none.
    device: u16,
    /// The slot of each frame that is in the swap cache.
    slots: Vec<u32>,
}

impl Swap {
    fn new(slots: u32, device: u16, frames: u32) -> Self {
        Self {
            used: vec![false; slots as usize],
            used_slots: 0,
            cluster_used: vec![0; slots.div_ceil(CLUSTER_SLOTS) as usize],
            next: 0,
            cluster_left: 0,
            device,
            slots: vec![NONE; frames as usize],
        }
    }

    /// Slots in all.
    #[must_use]
    pub fn total_slots(&self) -> u32 {
        self.used.len() as u32
    }

    /// Slots taken.
    #[must_use]
    pub fn used_slots(&self) -> u32 {
        self.used_slots
    }

    /// Above half, slots are given up as soon as their page is in memory (`vm_swap_full`).
    #[must_use]
    pub fn is_half_full(&self) -> bool {
        self.used_slots * 2 > self.total_slots()
    }

    /// Whether a slot is taken.
    #[must_use]
    pub fn is_used(&self, slot: u32) -> bool {
        self.used.get(slot as usize).copied().unwrap_or(false)
    }

    fn take(&mut self) -> Option<u32> {
        if self.used_slots == self.total_slots() {
            return None;
        }
        if self.cluster_left == 0 {
            let empty = self.cluster_used.iter().position(|&used| used == 0);
            if let Some(cluster) = empty {
                self.next = cluster as u32 * CLUSTER_SLOTS;
                self.cluster_left = CLUSTER_SLOTS.min(self.total_slots() - self.next);
            } else {
                self.next = 0;
            }
        }
        let slot = (self.next..self.total_slots()).find(|&slot| !self.used[slot as usize])?;
        self.cluster_left = (self.cluster_left + self.next).saturating_sub(slot + 1);
        self.next = slot + 1;
        self.used[slot as usize] = true;
        self.used_slots += 1;
        self.cluster_used[(slot / CLUSTER_SLOTS) as usize] += 1;
        Some(slot)
    }

    fn give(&mut self, slot: u32) {
        if let Some(used) = self.used.get_mut(slot as usize)
            && std::mem::take(used)
        {
            self.used_slots -= 1;
            self.cluster_used[(slot / CLUSTER_SLOTS) as usize] -= 1;
        }
    }
}

impl Memory {
    /// Adds a swap area of so many slots on a device (index + 1; 0 for none).
    pub fn add_swap(&mut self, slots: u32, device: u16) {
        self.swap = Some(Swap::new(slots, device, self.frames.count()));
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
