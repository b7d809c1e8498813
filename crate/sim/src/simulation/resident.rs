//! Pages of files and of anonymous regions in memory: which frame each is in, and how the two stay in step.
//!
//! *Models:* a frame for every page of the page cache, mapped or not; a page's dirt, lock and writeback as reclaim sees them; the pages
//! that reclaim takes or writes; frames given back when a file or a region is gone.
//! *Does not model:* the nodes of the page cache's tree, buffers, frames of metadata and log blocks; on which CPU's list a frame ends
//! that its owner gives up: it is the first's.
//! *Follows:* docs/model/reclaim.md, sections 4.1 and 4.5; Linux 2.6.35, `mm/filemap.c`, `mm/truncate.c`.

use super::io::IoKind;
use super::memory::MachineMemory;
use super::operation::{Frame, Outcome};
use super::world::World;
use crate::fs::{FileId, PageFlags};
use crate::mm::{Caller, FrameId, NewPage, Owner, OwnerInfo, PageTable, PageWrite, Removed, Request};
use crate::task::TaskId;
use std::ops::Range;

/// What pages belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backing {
    /// A file: they are its page cache.
    File(FileId),
    /// An anonymous region of a process.
    Region(TaskId),
    /// A region that is gone.
    Gone,
}

/// The pages of a file or of a region that are in memory.
#[derive(Clone, Debug)]
pub(crate) struct Mapping {
    pub(crate) backing: Backing,
    /// Pages that page tables point to.
    pub(crate) table: PageTable,
    /// Pages in memory that no page table points to.
    pub(crate) cached: PageTable,
    /// Swap slots of pages that are not in memory.
    pub(crate) swapped: PageTable,
    /// Frames of its page tables.
    pub(crate) tables: Vec<FrameId>,
    /// Processes that have mapped it.
    pub(crate) users: u32,
}

impl Mapping {
    pub(crate) fn new(backing: Backing) -> Self {
        let (table, cached, swapped, tables) = Default::default();
        Self { backing, table, cached, swapped, tables, users: 0 }
    }

    /// The frame of a page.
    pub(crate) fn frame(&self, page: u32) -> Option<FrameId> {
        self.table.get(page).or_else(|| self.cached.get(page))
    }

    pub(crate) fn cache(&mut self, page: u32, frame: FrameId) {
        self.cached.add_table(page);
        self.cached.set(page, frame);
    }

    pub(crate) fn uncache(&mut self, page: u32) {
        self.cached.clear(page);
        if self.cached.present() == 0 {
            // Most files are small and many: none keeps memory for what it has lost.
            self.cached = PageTable::default();
        }
    }
}

/// A page of a file that is in use through a page table.
fn mapped_page(mapping: u32, page: u32) -> NewPage {
    let owner = Owner { mapping, index: page };
    NewPage { owner, anon: false, mapped: true, dirty: false, active: false }
}

impl MachineMemory {
    /// The number of the file's pages among the mappings, if it has had any.
    pub(crate) fn mapping_of(&self, file: FileId) -> Option<usize> {
        self.by_file
            .get(file.0 as usize)
            .map(|&number| number as usize)
            .filter(|&at| at < self.mappings.len())
    }

    /// The number of the file's mapping, which is made if there is none yet.
    pub(crate) fn map(&mut self, file: FileId) -> u32 {
        if let Some(known) = self.mapping_of(file) {
            return known as u32;
        }
        let index = file.0 as usize;
        if self.by_file.len() <= index {
            self.by_file.resize(index + 1, u32::MAX);
        }
        self.by_file[index] = self.mappings.len() as u32;
        self.add_mapping(Backing::File(file))
    }

    pub(crate) fn add_mapping(&mut self, backing: Backing) -> u32 {
        let has_writepage = matches!(backing, Backing::File(_));
        self.mappings.push(Mapping::new(backing));
        self.memory.add_owner(OwnerInfo { has_writepage, device: 1, ..OwnerInfo::default() })
    }

    /// The frame that a page of a file is in.
    pub(crate) fn frame_of(&self, file: FileId, page: u32) -> Option<FrameId> {
        self.mappings.get(self.mapping_of(file)?)?.frame(page)
    }

    /// Puts a page that was just allocated into a mapping, in use through its page table.
    pub(crate) fn add_mapped(&mut self, mapping: u32, page: u32, frame: FrameId, cpu: usize) {
        self.memory.add_page(frame, &mapped_page(mapping, page), cpu);
        self.mappings[mapping as usize].table.set(page, frame);
        self.memory.vmstat.pgfault += 1;
        self.memory.vmstat.pgmajfault += 1;
    }

    /// Allocates pages of a mapping from `page` on, at most `count`, whose range has a page table, and puts them there as
    /// [`Self::add_mapped`] does. Returns how many; fewer than `count` means that the next has to go the slow way.
    pub(crate) fn add_mapped_run(
        &mut self,
        mapping: u32,
        page: u32,
        count: u32,
        request: Request,
        caller: &Caller,
    ) -> u32 {
        let table = &mut self.mappings[mapping as usize].table;
        let mut next = page;
        let done = self.memory.add_run(request, caller, &mapped_page(mapping, page), count, |frame| {
            table.set(next, frame);
            next += 1;
        });
        self.memory.vmstat.pgfault += u64::from(done);
        self.memory.vmstat.pgmajfault += u64::from(done);
        done
    }

    /// A page table points to a page in memory from now on.
    pub(crate) fn map_cached(&mut self, mapping: u32, page: u32, frame: FrameId) {
        let mapping = &mut self.mappings[mapping as usize];
        mapping.uncache(page);
        mapping.table.set(page, frame);
        self.memory.map(frame);
        self.memory.vmstat.pgfault += 1;
    }

    /// Frees a page's frame, or sees to it that this is done as soon as nobody has it in hand. The page is on no mapping any more.
    pub(crate) fn drop_frame(&mut self, frame: FrameId) {
        if !self.memory.forget(frame, 0) {
            self.orphans.push(frame);
        }
    }

    /// Frees frames that had to wait for reclaim or for a write.
    fn drop_orphans(&mut self) {
        let Self { orphans, memory, .. } = self;
        orphans.retain(|&frame| !memory.forget(frame, 0));
    }
}

impl World {
    /// Whether `page` of a file has to have a frame before it can be in the page cache.
    pub(crate) fn lacks_frame(&self, file: FileId, page: u32) -> bool {
        self.memory.as_ref().is_some_and(|memory| memory.frame_of(file, page).is_none())
    }

    /// Gives a page of a file a frame out of those that the task holds; false if it holds none.
    pub(crate) fn give_frame(&mut self, me: TaskId, file: FileId, page: u32, locked: bool) -> bool {
        if !self.lacks_frame(file, page) {
            return true;
        }
        let cpu = self.caller(me).cpu;
        let Some(memory) = &mut self.memory else { return true };
        let Some(frame) = memory.held[me.index()].pop() else { return false };
        let mapping = memory.map(file);
        let owner = Owner { mapping, index: page };
        let new = NewPage { owner, anon: false, mapped: false, dirty: false, active: false };
        memory.memory.add_page(frame, &new, cpu);
        memory.memory.set_locked(frame, locked);
        memory.mappings[mapping as usize].cache(page, frame);
        true
    }

    /// Gives back what the task holds and has not used.
    pub(crate) fn free_held(&mut self, me: TaskId) {
        let cpu = self.caller(me).cpu;
        let Some(memory) = &mut self.memory else { return };
        while let Some(frame) = memory.held[me.index()].pop() {
            memory.memory.free_pages(frame, 0, cpu);
        }
    }

    /// A task has changed a page. Returns whether it was clean.
    pub(crate) fn dirty_page(&mut self, file: FileId, page: u32) -> bool {
        if let Some(memory) = &mut self.memory
            && let Some(frame) = memory.frame_of(file, page)
        {
            memory.memory.set_dirty(frame);
            memory.memory.mark_accessed(frame);
        }
        self.files.dirty_page(self.now_ns, file, page)
    }

    /// A task has read pages.
    pub(crate) fn mark_read(&mut self, file: FileId, pages: Range<u32>) {
        let Some(memory) = &mut self.memory else { return };
        for page in pages {
            if let Some(frame) = memory.frame_of(file, page) {
                memory.memory.mark_accessed(frame);
            }
        }
    }

    /// A dirty page is going to be written by somebody else than reclaim.
    pub(crate) fn start_writeback(&mut self, file: FileId, page: u32) {
        if let Some(memory) = &mut self.memory
            && let Some(frame) = memory.frame_of(file, page)
        {
            memory.memory.begin_write(frame);
        }
        self.files.start_writeback(file, page);
    }

    /// The read of pages is complete.
    pub(crate) fn unlock_read(&mut self, file: FileId, first: u32, pages: u32) {
        let removed = self.files.get(file).removed;
        for page in first..first + pages {
            let Some(memory) = &mut self.memory else { return };
            if let Some(frame) = memory.frame_of(file, page) {
                memory.memory.set_locked(frame, false);
            }
            if removed {
                self.drop_page(file, page);
            }
        }
    }

    /// A page of a file has been written. Returns the frame that it is in, if memory is simulated.
    pub(crate) fn page_written(&mut self, file: FileId, page: u32) -> Option<FrameId> {
        let frame = self.memory.as_mut().and_then(|memory| {
            let frame = memory.frame_of(file, page)?;
            memory.memory.written(frame);
            Some(frame)
        });
        if self.files.get(file).removed {
            self.drop_page(file, page);
        }
        frame
    }

    /// Frees the frame of a page that is clean, idle and not mapped, and forgets the page.
    fn drop_page(&mut self, file: FileId, page: u32) {
        let World { memory: Some(memory), files, .. } = self else { return };
        let Some(at) = memory.mapping_of(file) else { return };
        let cache = &mut files.get_mut(file).cache;
        if let Some(frame) = memory.mappings[at].cached.get(page)
            && !cache.is_busy(page)
            && memory.memory.forget(frame, 0)
        {
            cache.forget(page);
            memory.mappings[at].uncache(page);
        }
    }

    /// Drops a file's pages that are clean and idle; mapped ones stay. Cost: the file's pages.
    pub(crate) fn drop_pages(&mut self, file: FileId) {
        if self.memory.is_none() {
            self.files.get_mut(file).cache.drop_clean();
            return;
        }
        let pages: Vec<u32> = self
            .memory
            .iter()
            .flat_map(|memory| {
                let mapping = memory.mapping_of(file).map(|at| &memory.mappings[at]);
                mapping.into_iter().flat_map(|mapping| mapping.cached.iter()).map(|(page, _)| page)
            })
            .collect();
        for page in pages {
            self.drop_page(file, page);
        }
    }

    /// A process maps a file.
    pub(crate) fn map_file(&mut self, me: TaskId, mapping: u32, file: FileId) {
        let pages = self.files.get(file).pages();
        let Some(process) = self.process_mut(me) else { return };
        if process.mapped_files.iter().all(|&(known, _)| known != mapping) {
            process.mapped_files.push((mapping, pages));
            if let Some(memory) = &mut self.memory {
                memory.mappings[mapping as usize].users += 1;
            }
        }
    }

    /// A process that ends has nothing mapped any more. What nobody else has mapped stays in the page cache, and its page tables are
    /// free; the last process leaves the machine as it is.
    pub(super) fn unmap_files(&mut self, me: TaskId) {
        let is_last = self.processes_left() <= 1;
        let Some(process) = self.process_mut(me) else { return };
        let mapped = std::mem::take(&mut process.mapped_files);
        let Some(memory) = self.memory.as_mut().filter(|_| !is_last) else { return };
        for (number, _) in mapped {
            let mapping = &mut memory.mappings[number as usize];
            mapping.users -= 1;
            if mapping.users != 0 {
                continue;
            }
            let table = std::mem::take(&mut mapping.table);
            for (page, frame) in table.iter() {
                memory.memory.unmap(frame);
                mapping.cache(page, frame);
            }
            let tables = std::mem::take(&mut mapping.tables);
            tables.iter().for_each(|&frame| memory.memory.free_pages(frame, 0, 0));
        }
    }

    /// A file is gone: its pages need not be written any more, and those that are idle are dropped.
    pub(crate) fn remove_file(&mut self, file: FileId) {
        if let Some(memory) = &mut self.memory
            && let Some(at) = memory.mapping_of(file)
        {
            let cache = &self.files.get(file).cache;
            for page in (0..cache.len()).filter(|&page| cache.get(page).has(PageFlags::DIRTY)) {
                if let Some(frame) = memory.mappings[at].frame(page) {
                    memory.memory.clear_dirty(frame);
                }
            }
        }
        self.files.remove(file);
        self.drop_pages(file);
    }

    /// Reclaim has taken a page.
    pub(super) fn page_removed(&mut self, removed: &Removed) {
        let Some(memory) = &mut self.memory else { return };
        let Some(mapping) = memory.mappings.get_mut(removed.owner.mapping as usize) else { return };
        let page = removed.owner.index;
        if removed.mapped {
            mapping.table.clear(page);
        } else {
            mapping.uncache(page);
        }
        let slot = removed.slot;
        match mapping.backing {
            Backing::File(file) => {
                let cache = &mut self.files.get_mut(file).cache;
                debug_assert!(!cache.is_busy(page), "reclaim has taken a page in use");
                cache.forget(page);
            }
            Backing::Region(_) => {
                debug_assert!(slot.is_some(), "the contents of an anonymous page are lost");
                if let Some(slot) = slot {
                    mapping.swapped.add_table(page);
                    mapping.swapped.set(page, FrameId(slot));
                }
            }
            Backing::Gone => {
                memory.orphans.retain(|&frame| frame != removed.frame);
                if let Some(slot) = slot {
                    memory.memory.free_slot(slot, None);
                }
            }
        }
    }

    /// Reclaim wants a page written: it is under writeback from now on, and its reclaimer has to submit it.
    pub(super) fn page_out(&mut self, me: TaskId, write: &PageWrite) {
        let Some(memory) = &mut self.memory else { return };
        let Some(mapping) = memory.mappings.get(write.owner.mapping as usize) else { return };
        match mapping.backing {
            Backing::File(file) => {
                // Reclaim cannot have blocks allocated, for that would need the journal (`ext4_writepage`).
                if self.files.get(file).locate(write.owner.index).is_none() {
                    memory.memory.refuse_write(write.frame);
                    return;
                }
                self.files.start_writeback(file, write.owner.index);
            }
            Backing::Region(_) | Backing::Gone => {
                if let Some(slot) = write.slot {
                    memory.set_owner_of_slot(slot, write.owner);
                }
            }
        }
        memory.to_write[me.index()].push_back(*write);
    }

    /// The next write that reclaim on behalf of `me` has begun and not yet submitted; `None` if there is none.
    pub(crate) fn submit_page_out(&mut self, me: TaskId) -> Option<Outcome> {
        let memory = self.memory.as_ref()?;
        let write = *memory.to_write[me.index()].front()?;
        let page = write.owner.index;
        let (sector, kind) = match memory.mappings[write.owner.mapping as usize].backing {
            Backing::File(file) => {
                (self.files.get(file).locate(page).map(|(sector, _)| sector), IoKind::Data { file, page })
            }
            Backing::Region(_) | Backing::Gone => {
                let sector = write.slot.map(|slot| self.swap_sector(slot));
                (sector, IoKind::SwapOut { frame: write.frame })
            }
        };
        let flags = self.policy.write_flags.background;
        if let Some(sector) = sector
            && let Err(wait) = self.submit(me, sector, Self::sectors(1), flags, kind)
        {
            return Some(wait);
        }
        if let Some(memory) = &mut self.memory {
            memory.to_write[me.index()].pop_front();
        }
        Some(Outcome::Cpu(self.host.submit_bio_ns))
    }

    /// Frames that have to wait until nobody has them in hand are freed.
    pub(super) fn free_orphans(&mut self) {
        if let Some(memory) = &mut self.memory
            && !memory.orphans.is_empty()
        {
            memory.drop_orphans();
        }
    }

    /// Every page in memory has one frame, every user page belongs to somebody, and what else was handed out is a page table or in
    /// somebody's hands. Cost: the files and the tasks.
    pub(crate) fn check_frames(&self) {
        let Some(memory) = &self.memory else { return };
        let known = memory
            .mappings
            .iter()
            .map(|mapping| u64::from(mapping.table.present()) + u64::from(mapping.cached.present()));
        let known = known.sum::<u64>() + memory.orphans.len() as u64;
        assert_eq!(known, memory.memory.user_pages(), "a frame without a page, or a page without a frame");
        let tables: u64 = memory.mappings.iter().map(|mapping| mapping.tables.len() as u64).sum();
        let frames = self.stacks.iter().flatten();
        let found = frames.filter(|frame| matches!(frame, Frame::Allocate(allocate) if allocate.has_page()));
        let in_hand = memory.pages_in_hand() + found.count() as u64;
        let known = memory.kernel_pages_at_start + tables + in_hand;
        assert_eq!(known, memory.memory.kernel_pages(), "{tables} tables, {in_hand} in hand");
    }

    /// The same page by page: flags of pages and of frames agree, a page is in one place, and so is what a slot holds. Cost: all frames, and
    /// all pages of all files.
    ///
    /// # Panics
    /// A law does not hold: a defect of the simulator.
    pub fn check_every_page(&self) {
        self.check();
        let Some(memory) = &self.memory else { return };
        memory.memory.check_every_frame();
        let swapped: u64 = memory.mappings.iter().map(|mapping| u64::from(mapping.swapped.present())).sum();
        if let Some(swap) = memory.memory.swap() {
            let known = swapped + swap.slots_in_cache();
            assert_eq!(
                known,
                u64::from(swap.used_slots()),
                "a slot without a page, or a page without a slot"
            );
        }
        for (at, mapping) in memory.mappings.iter().enumerate() {
            for (table, is_mapped) in [(&mapping.table, true), (&mapping.cached, false)] {
                for (page, frame) in table.iter() {
                    assert_eq!(memory.memory.owner(frame), Some(Owner { mapping: at as u32, index: page }));
                    assert_eq!(memory.memory.is_mapped(frame), is_mapped, "page {page}");
                    assert!(mapping.swapped.get(page).is_none(), "page {page} is in two places");
                }
            }
            for (page, FrameId(slot)) in mapping.swapped.iter() {
                let owner = Owner { mapping: at as u32, index: page };
                assert_eq!(memory.owner_of_slot(slot), Some(owner), "slot {slot}");
            }
            let Backing::File(file) = mapping.backing else { continue };
            let cache = &self.files.get(file).cache;
            for page in 0..cache.len() {
                let flags = cache.get(page);
                let Some(frame) = mapping.frame(page) else {
                    assert_eq!(flags, PageFlags::ABSENT, "page {page} of file {} has no frame", file.0);
                    continue;
                };
                let memory = &memory.memory;
                assert_eq!(memory.is_dirty(frame), flags.has(PageFlags::DIRTY), "page {page}");
                assert_eq!(memory.is_under_writeback(frame), flags.has(PageFlags::WRITEBACK), "page {page}");
                assert_eq!(memory.is_locked(frame), flags.has(PageFlags::READING), "page {page}");
                assert!(mapping.table.get(page).is_none() || mapping.cached.get(page).is_none());
            }
        }
    }
}
