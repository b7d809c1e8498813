//! Anonymous regions and the swap area.
//!
//! *Models:* whose page each slot holds, what a use of a page does to its slot, a region's end.
//! *Does not model:* regions that processes share, more than one swap area.
//! *Follows:* docs/model/reclaim.md, section 0.6; Linux 2.6.31, `mm/swapfile.c`, `reuse_swap_page`, `try_to_free_swap`.

use super::memory::MachineMemory;
use super::resident::{Backing, Mapping};
use super::world::World;
use crate::block::PAGE_SECTORS;
use crate::mm::{FrameId, NewPage, Owner};
use crate::task::TaskId;

impl MachineMemory {
    /// A new region of a task; returns its number.
    pub(crate) fn add_region(&mut self, task: TaskId) -> u32 {
        let Some(number) = self.free_regions.pop() else { return self.add_mapping(Backing::Region(task)) };
        self.mappings[number as usize] = Mapping::new(Backing::Region(task));
        number
    }

    /// Whose page a slot holds, if that page is not in memory.
    pub(crate) fn owner_of_slot(&self, slot: u32) -> Option<Owner> {
        let owner = *self.slot_owners.get(slot as usize)?;
        let mapping = self.mappings.get(owner.mapping as usize)?;
        (mapping.swapped.get(owner.index) == Some(FrameId(slot))).then_some(owner)
    }

    /// Notes whose page is written to a slot.
    pub(super) fn set_owner_of_slot(&mut self, slot: u32, owner: Owner) {
        let index = slot as usize;
        if self.slot_owners.len() <= index {
            self.slot_owners.resize(index + 1, Owner { mapping: u32::MAX, index: 0 });
        }
        self.slot_owners[index] = owner;
    }

    /// A page in memory is written to: what its slot holds is worth nothing any more, and the slot is given up unless it is just being
    /// written.
    pub(crate) fn write_anonymous(&mut self, frame: FrameId) {
        if let Some(slot) = self.memory.slot(frame) {
            if !self.memory.is_under_writeback(frame) {
                self.memory.free_slot(slot, Some(frame));
            }
            self.memory.set_dirty(frame);
        }
    }

    /// A page that was in the swap cache is in use again.
    pub(crate) fn swapped_in(&mut self, frame: FrameId, writes: bool) {
        let is_half_full = self.memory.swap().is_some_and(crate::mm::Swap::is_half_full);
        if writes || (is_half_full && !self.memory.is_under_writeback(frame)) {
            self.write_anonymous(frame);
        }
    }
}

impl World {
    /// Where a slot lies on the device.
    pub(crate) fn swap_sector(&self, slot: u32) -> u64 {
        self.swap_start + u64::from(slot) * u64::from(PAGE_SECTORS)
    }

    /// Adds the page that a slot holds to the swap cache, locked until it is read, in a frame that the task holds. `None` if the slot
    /// holds no page that is not in memory, or no frame is left.
    pub(crate) fn add_swapped(&mut self, me: TaskId, slot: u32) -> Option<FrameId> {
        let cpu = self.caller(me).cpu;
        let memory = self.memory.as_mut()?;
        let owner = memory.owner_of_slot(slot)?;
        let frame = memory.held[me.index()].pop()?;
        let new = NewPage { owner, anon: true, mapped: false, dirty: false, active: false };
        memory.memory.add_page(frame, &new, cpu);
        memory.memory.set_locked(frame, true);
        memory.memory.put_in_swap_cache(frame, slot);
        let mapping = &mut memory.mappings[owner.mapping as usize];
        mapping.swapped.clear(owner.index);
        mapping.cache(owner.index, frame);
        Some(frame)
    }

    /// A region is gone: its frames, slots and page tables are free. Returns how many pages it had in memory.
    pub(crate) fn unmap_region(&mut self, region: u32) -> u64 {
        let Some(memory) = &mut self.memory else { return 0 };
        let gone = Mapping::new(Backing::Gone);
        let old = std::mem::replace(&mut memory.mappings[region as usize], gone);
        let orphans = memory.orphans.len();
        for table in [&old.table, &old.cached] {
            for (_, frame) in table.iter() {
                memory.memory.unmap(frame);
                memory.drop_frame(frame);
            }
        }
        old.swapped.iter().for_each(|(_, FrameId(slot))| memory.memory.free_slot(slot, None));
        old.tables.iter().for_each(|&frame| memory.memory.free_pages(frame, 0, 0));
        if memory.orphans.len() == orphans {
            memory.free_regions.push(region);
        }
        u64::from(old.table.present()) + u64::from(old.cached.present())
    }

    /// Ends every region of a process.
    pub(super) fn unmap_regions(&mut self, me: TaskId) {
        let Some(process) = self.process_mut(me) else { return };
        let regions: Vec<u32> = process
            .handles
            .iter_mut()
            .filter_map(|handle| handle.region.take())
            .map(|(number, _)| number)
            .collect();
        for region in regions {
            self.unmap_region(region);
        }
    }
}
