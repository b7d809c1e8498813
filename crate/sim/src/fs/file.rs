//! Files: where their data lies, which of it is in memory, and what fsync has to know.

use super::journal::Tid;
use super::layout::Layout;
use super::metadata::DirectoryId;
use super::page_cache::{PAGE_BYTES, PageCache};
use crate::block::{PAGE_SECTORS, SECTOR_BYTES};
use std::collections::VecDeque;

/// Index of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileId(pub u32);

/// A run of pages that lie behind each other on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// First page of the file.
    pub page: u32,
    /// Pages.
    pub pages: u32,
    /// Sector of the first page.
    pub sector: u64,
}

/// One file.
#[derive(Clone, Debug)]
pub struct File {
    /// Length in bytes.
    pub size_bytes: u64,
    /// Its pages.
    pub cache: PageCache,
    /// Its inode's number.
    pub inode: u64,
    /// The directory it is in; `None` for files that exist before the run.
    pub directory: Option<DirectoryId>,
    /// The last transaction that changed its inode (`i_sync_tid`).
    pub sync_tid: Tid,
    /// The last one that changed what is needed to read its data (`i_datasync_tid`).
    pub datasync_tid: Tid,
    /// The last transaction that must not be committed before its data is on the device.
    pub ordered_tid: Tid,
    /// The inode has changes that fsync has not seen (`I_DIRTY`).
    pub inode_dirty: bool,
    /// Since when it has been dirty without a break, for the flusher.
    pub dirtied_ns: Option<u64>,
    /// Where the flusher goes on.
    pub writeback_index: u32,
    /// A task is writing it back, and no second one does at the same time (`I_SYNC`).
    pub is_written_back: bool,
    /// The tick at which its access time was last set.
    pub access_jiffies: u64,
    /// It has been removed.
    pub removed: bool,
    extents: Vec<Extent>,
}

impl File {
    /// Pages up to the end of the file.
    #[must_use]
    pub fn pages(&self) -> u32 {
        u32::try_from(self.size_bytes.div_ceil(PAGE_BYTES)).unwrap_or(u32::MAX)
    }

    /// Where a page lies, and how many pages from it on lie behind it; `None` if it has no block yet.
    #[must_use]
    pub fn locate(&self, page: u32) -> Option<(u64, u32)> {
        // Extents are sorted; nearly every file has one.
        let at = self.extents.partition_point(|extent| extent.page + extent.pages <= page);
        let extent = self.extents.get(at).filter(|extent| extent.page <= page)?;
        let into = page - extent.page;
        Some((extent.sector + u64::from(into) * u64::from(PAGE_SECTORS), extent.pages - into))
    }

    /// How many pages from `page` on, at most `limit`, have no block yet.
    #[must_use]
    pub fn unallocated_run(&self, page: u32, limit: u32) -> u32 {
        if self.locate(page).is_some() {
            return 0;
        }
        let next = self.extents.iter().map(|extent| extent.page).find(|&start| start > page);
        next.map_or(limit, |next| limit.min(next - page))
    }

    /// Records where a run of pages lies.
    pub fn add_extent(&mut self, extent: Extent) {
        let at = self.extents.partition_point(|other| other.page < extent.page);
        if let Some(previous) = at.checked_sub(1).and_then(|index| self.extents.get_mut(index)) {
            let behind = previous.sector + u64::from(previous.pages) * u64::from(PAGE_SECTORS);
            if previous.page + previous.pages == extent.page && behind == extent.sector {
                previous.pages += extent.pages;
                return;
            }
        }
        self.extents.insert(at, extent);
    }
}

/// All files, the space for new data, and the order in which files became dirty.
#[derive(Clone, Debug)]
pub struct Files {
    files: Vec<File>,
    data_start: u64,
    data_end: u64,
    cursor: u64,
    dirty_order: VecDeque<(u64, FileId)>,
    dirty_pages: u64,
    writeback_pages: u64,
    totals: PageTotals,
}

/// Pages that have changed their state, all together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageTotals {
    /// Clean pages that became dirty (`nr_dirtied`).
    pub dirtied: u64,
    /// Pages that were written (`nr_written`).
    pub written: u64,
    /// Dirty pages that need not be written any more.
    pub cancelled: u64,
}

impl Files {
    /// No files on a device laid out so.
    #[must_use]
    pub fn new(layout: &Layout) -> Self {
        Self {
            files: Vec::new(),
            data_start: layout.data_start,
            data_end: layout.data_end,
            // New directories go to block groups with room, away from the journal's: the middle of
            // the free stretch stands for that. Real traces show 40 per cent of a small disk between.
            cursor: layout.first_data_sector(),
            dirty_order: VecDeque::new(),
            dirty_pages: 0,
            writeback_pages: 0,
            totals: PageTotals::default(),
        }
    }

    /// Adds a file that lies at `sector`, with nothing in memory; `sector` is not used for an empty
    /// one.
    pub fn add(
        &mut self,
        inode: u64,
        size_bytes: u64,
        sector: u64,
        directory: Option<DirectoryId>,
    ) -> FileId {
        let id = FileId(self.files.len() as u32);
        let mut file = File {
            size_bytes,
            cache: PageCache::default(),
            inode,
            directory,
            sync_tid: Tid::default(),
            datasync_tid: Tid::default(),
            ordered_tid: Tid::default(),
            inode_dirty: false,
            dirtied_ns: None,
            writeback_index: 0,
            is_written_back: false,
            access_jiffies: 0,
            removed: false,
            extents: Vec::new(),
        };
        let pages = file.pages();
        if pages != 0 {
            file.add_extent(Extent { page: 0, pages, sector });
        }
        self.files.push(file);
        id
    }

    /// A file.
    #[must_use]
    pub fn get(&self, id: FileId) -> &File {
        &self.files[id.0 as usize]
    }

    /// A file, to change.
    pub fn get_mut(&mut self, id: FileId) -> &mut File {
        &mut self.files[id.0 as usize]
    }

    /// How many files there are, removed ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Memory that the state of all pages takes on the host, in bytes: one a page.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.files.iter().map(|file| file.cache.len() as usize).sum()
    }

    /// Whether there is no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The sector that the next allocation will get.
    #[must_use]
    pub fn next_sector(&self) -> u64 {
        self.cursor
    }

    /// Allocates blocks for `pages` pages of a file from `page` on, behind the previous allocation.
    pub fn allocate(&mut self, id: FileId, page: u32, pages: u32) {
        let sectors = u64::from(pages) * u64::from(PAGE_SECTORS);
        if self.cursor + sectors > self.data_end {
            self.cursor = self.data_start;
        }
        let extent = Extent { page, pages, sector: self.cursor };
        self.cursor += sectors;
        self.get_mut(id).add_extent(extent);
    }

    /// A task has changed a page. Returns whether it was clean.
    pub fn dirty_page(&mut self, now_ns: u64, id: FileId, page: u32) -> bool {
        let file = &mut self.files[id.0 as usize];
        let before = file.cache.dirty();
        file.cache.set_dirty(page);
        let was_clean = file.cache.dirty() != before;
        self.dirty_pages += u64::from(was_clean);
        self.totals.dirtied += u64::from(was_clean);
        self.note_dirty(now_ns, id);
        was_clean
    }

    /// Notes that a file is dirty, pages or inode.
    pub fn note_dirty(&mut self, now_ns: u64, id: FileId) {
        let file = &mut self.files[id.0 as usize];
        if file.dirtied_ns.is_none() {
            file.dirtied_ns = Some(now_ns);
            self.dirty_order.push_back((now_ns, id));
        }
    }

    /// A dirty page is going to be written.
    pub fn start_writeback(&mut self, id: FileId, page: u32) {
        let file = &mut self.files[id.0 as usize];
        file.cache.start_writeback(page);
        self.dirty_pages -= 1;
        self.writeback_pages += 1;
        if file.cache.dirty() == 0 {
            file.dirtied_ns = None;
        }
    }

    /// A page has been written. Returns whether no page of its file is under writeback any more.
    pub fn end_writeback(&mut self, id: FileId, page: u32) -> bool {
        self.writeback_pages -= 1;
        self.totals.written += 1;
        self.files[id.0 as usize].cache.end_writeback(page)
    }

    /// Forgets the changes of a file that is gone. Its pages are the caller's to drop.
    pub fn remove(&mut self, id: FileId) {
        let file = &mut self.files[id.0 as usize];
        self.dirty_pages -= u64::from(file.cache.dirty());
        self.totals.cancelled += u64::from(file.cache.dirty());
        file.cache.cancel_dirty();
        file.dirtied_ns = None;
        file.removed = true;
    }

    /// Dirty pages of all files.
    #[must_use]
    pub fn dirty_pages(&self) -> u64 {
        self.dirty_pages
    }

    /// Pages of all files being written.
    #[must_use]
    pub fn writeback_pages(&self) -> u64 {
        self.writeback_pages
    }

    /// What has become of pages so far. Pages dirtied = dirty + being written + written + cancelled.
    #[must_use]
    pub fn page_totals(&self) -> PageTotals {
        self.totals
    }

    /// Entries in the flusher's order: at least as many as there are dirty files.
    #[must_use]
    pub fn dirty_files(&self) -> usize {
        self.dirty_order.len()
    }

    /// The file that has been dirty longest, if it became dirty at or before `cutoff_ns`.
    pub fn oldest_dirty(&mut self, cutoff_ns: u64) -> Option<FileId> {
        while let Some(&(since_ns, id)) = self.dirty_order.front() {
            let file = &self.files[id.0 as usize];
            if file.dirtied_ns == Some(since_ns) && file.cache.dirty() != 0 {
                return (since_ns <= cutoff_ns).then_some(id);
            }
            self.dirty_order.pop_front();
        }
        None
    }

    /// The flusher turns to the oldest file: behind it come the others that became dirty at or before
    /// `cutoff_ns`.
    pub fn rotate_oldest(&mut self, cutoff_ns: u64) {
        let Some(entry) = self.dirty_order.pop_front() else { return };
        let behind = self.dirty_order.iter().position(|&(since_ns, _)| since_ns > cutoff_ns);
        self.dirty_order.insert(behind.unwrap_or(self.dirty_order.len()), entry);
    }

    /// Sector of the first block of a file placed at so many thousandths of `capacity_sectors`.
    #[must_use]
    pub fn place(capacity_sectors: u64, at_per_mille: u32, size_bytes: u64) -> u64 {
        let sectors = size_bytes.div_ceil(PAGE_BYTES) * (PAGE_BYTES / SECTOR_BYTES);
        let wanted = capacity_sectors / 1000 * u64::from(at_per_mille.min(1000));
        let start = wanted.min(capacity_sectors.saturating_sub(sectors));
        start / u64::from(PAGE_SECTORS) * u64::from(PAGE_SECTORS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Files {
        Files::new(&Layout::new(54_000_000, 262_144, &[]))
    }

    /// The traces: files of 64 KiB lie 128 sectors apart.
    #[test]
    fn new_data_lies_behind_the_previous_allocation() {
        let mut files = files();
        let (a, b) = (files.add(1, 0, 0, None), files.add(2, 0, 0, None));
        files.allocate(a, 0, 16);
        files.allocate(b, 0, 16);
        files.allocate(b, 16, 4);
        let first = files.get(a).locate(0).expect("allocated").0;
        assert_eq!(files.get(b).locate(0), Some((first + 128, 20)));
        assert_eq!(files.get(b).locate(18), Some((first + 128 + 18 * 8, 2)));
        assert_eq!(files.get(b).locate(20), None);
    }

    /// A file written and cleaned again is not old; one that stays dirty is.
    #[test]
    fn the_oldest_dirty_file_comes_first() {
        let mut files = files();
        let (a, b) = (files.add(1, 0, 0, None), files.add(2, 0, 0, None));
        files.dirty_page(10, a, 0);
        files.dirty_page(20, b, 0);
        files.start_writeback(a, 0);
        assert_eq!(files.oldest_dirty(15), None);
        assert_eq!(files.oldest_dirty(20), Some(b));
        assert_eq!(files.dirty_pages(), 1);
    }
}
