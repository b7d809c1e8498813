//! Metadata blocks: what a create, an allocation or a time stamp changes, and the state of each block
//! in the block device's own page cache.
//!
//! *Models:* directory blocks, inode tables of 16 inodes a block, inode and block bitmaps, one group
//! descriptor block; which of them are dirty, being written in place, or part of a transaction.
//! *Does not model:* block groups' placement, extents' index blocks, the super block's counters.
//! *Follows:* model/block-layer.md, section 4.3 point 3; Linux 2.6.35 `fs/ext4/ialloc.c`, `mballoc.c`.

use super::journal::Tid;
use super::layout::Layout;
use crate::block::PAGE_SECTORS;
use std::collections::BTreeMap;

/// Inodes of 256 bytes in a block.
const INODES_PER_BLOCK: u64 = 16;
/// Directory entries in a block, with names of some 40 characters as fs_mark makes them.
const ENTRIES_PER_BLOCK: u64 = 80;
/// Inodes a bitmap covers.
const INODES_PER_GROUP: u64 = 8_192;
/// Data blocks a bitmap covers.
const BLOCKS_PER_GROUP: u64 = 32_768;

/// Index of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DirectoryId(pub u32);

/// One block of 4 KiB and its state.
#[derive(Clone, Debug)]
pub struct MetadataBlock {
    /// First sector.
    pub sector: u64,
    /// Dirty in the block device's page cache: the flusher may write it.
    pub dirty: bool,
    /// Being written in place.
    pub writing: bool,
    /// Part of the running transaction.
    pub running: bool,
    /// Part of the committing transaction.
    pub committing: bool,
    /// The committed transaction whose space in the journal it holds.
    pub checkpoint: Option<Tid>,
}

/// All metadata blocks touched so far.
#[derive(Clone, Debug)]
pub struct Metadata {
    blocks: Vec<MetadataBlock>,
    by_sector: BTreeMap<u64, u32>,
    start: u64,
    area_blocks: u64,
    next_inode: u64,
    entries: Vec<u64>,
    dirty: u32,
    writing: u32,
    dirtied: u64,
    written: u64,
    /// Since when the block device has had dirty pages without a break.
    dirtied_ns: Option<u64>,
}

/// The parts of the metadata area, each as its share in thirty-seconds.
#[derive(Clone, Copy)]
enum Part {
    Descriptors = 0,
    BlockBitmaps = 1,
    InodeBitmaps = 2,
    DirectoryInodes = 3,
    Inodes = 4,
    DirectoryBlocks = 16,
}

impl Metadata {
    /// The metadata of a device laid out so; `inodes` are in use already.
    #[must_use]
    pub fn new(layout: &Layout, inodes: u64) -> Self {
        Self {
            blocks: Vec::new(),
            by_sector: BTreeMap::new(),
            start: layout.metadata_start,
            area_blocks: layout.metadata_blocks,
            next_inode: inodes.next_multiple_of(INODES_PER_BLOCK),
            entries: Vec::new(),
            dirty: 0,
            writing: 0,
            dirtied: 0,
            written: 0,
            dirtied_ns: None,
        }
    }

    /// A block by its index.
    #[must_use]
    pub fn block(&self, index: u32) -> &MetadataBlock {
        &self.blocks[index as usize]
    }

    /// A block by its index, to change what has no counter behind it.
    pub fn block_mut(&mut self, index: u32) -> &mut MetadataBlock {
        &mut self.blocks[index as usize]
    }

    /// Blocks dirty in the block device's page cache.
    #[must_use]
    pub fn dirty(&self) -> u32 {
        self.dirty
    }

    /// Blocks being written in place.
    #[must_use]
    pub fn writing(&self) -> u32 {
        self.writing
    }

    /// Marks a block as being written in place, or not any more.
    pub fn set_writing(&mut self, index: u32, writing: bool) {
        let block = &mut self.blocks[index as usize];
        if block.writing != writing {
            block.writing = writing;
            if writing {
                self.writing += 1;
            } else {
                self.writing -= 1;
                self.written += 1;
            }
        }
    }

    /// How often a clean block has become dirty.
    #[must_use]
    pub fn dirtied(&self) -> u64 {
        self.dirtied
    }

    /// How many blocks have been written in place.
    #[must_use]
    pub fn written(&self) -> u64 {
        self.written
    }

    /// Since when the block device has had dirty pages without a break, in nanoseconds.
    #[must_use]
    pub fn dirtied_ns(&self) -> Option<u64> {
        self.dirtied_ns
    }

    /// Marks a block dirty in the block device's page cache, or clean.
    pub fn set_dirty(&mut self, now_ns: u64, index: u32, dirty: bool) {
        let block = &mut self.blocks[index as usize];
        if block.dirty == dirty {
            return;
        }
        block.dirty = dirty;
        if dirty {
            self.dirty += 1;
            self.dirtied += 1;
            self.dirtied_ns.get_or_insert(now_ns);
        } else {
            self.dirty -= 1;
        }
    }

    /// The flusher has gone over the block device: what is dirty from now on counts from now on.
    pub fn restart_age(&mut self, now_ns: u64) {
        self.dirtied_ns = (self.dirty != 0).then_some(now_ns);
    }

    /// The first dirty block at or behind `sector`, in the order of sectors.
    #[must_use]
    pub fn next_dirty(&self, sector: u64) -> Option<u32> {
        if self.dirty == 0 {
            return None;
        }
        self.by_sector.range(sector..).map(|(_, &index)| index).find(|&index| self.block(index).dirty)
    }

    /// The number of a new inode.
    pub fn new_inode(&mut self) -> u64 {
        self.next_inode += 1;
        self.next_inode - 1
    }

    /// The block of the inode table that holds `inode`.
    pub fn inode_block(&mut self, inode: u64) -> u32 {
        self.find(Part::Inodes, inode / INODES_PER_BLOCK)
    }

    /// What adding a file to a directory changes: the directory's block and inode, the inode bitmap,
    /// the group descriptor and the file's own inode.
    pub fn create_entry(&mut self, directory: DirectoryId, inode: u64) -> [u32; 5] {
        let at = directory.0 as usize;
        if at >= self.entries.len() {
            self.entries.resize(at + 1, 0);
        }
        self.entries[at] += 1;
        self.entry_blocks(directory, inode)
    }

    /// What removing a file from a directory changes; the same blocks.
    pub fn remove_entry(&mut self, directory: DirectoryId, inode: u64) -> [u32; 5] {
        if let Some(entries) = self.entries.get_mut(directory.0 as usize) {
            *entries = entries.saturating_sub(1);
        }
        self.entry_blocks(directory, inode)
    }

    fn entry_blocks(&mut self, directory: DirectoryId, inode: u64) -> [u32; 5] {
        let entries = self.entries.get(directory.0 as usize).copied().unwrap_or(0);
        let number = u64::from(directory.0);
        [
            self.find(
                Part::DirectoryBlocks,
                number * 64 + entries.saturating_sub(1) / ENTRIES_PER_BLOCK % 64,
            ),
            self.find(Part::DirectoryInodes, number / INODES_PER_BLOCK),
            self.find(Part::InodeBitmaps, inode / INODES_PER_GROUP),
            self.find(Part::Descriptors, 0),
            self.inode_block(inode),
        ]
    }

    /// What allocating data at `sector` for `inode` changes: block bitmap, group descriptor, inode.
    pub fn allocation(&mut self, sector: u64, inode: u64) -> [u32; 3] {
        let group = sector / u64::from(PAGE_SECTORS) / BLOCKS_PER_GROUP;
        [self.find(Part::BlockBitmaps, group), self.find(Part::Descriptors, 0), self.inode_block(inode)]
    }

    fn find(&mut self, part: Part, number: u64) -> u32 {
        let share = (self.area_blocks / 32).max(1);
        let shares = match part {
            Part::Inodes => 12,
            Part::DirectoryBlocks => 16,
            _ => 1,
        };
        // On a small device numbers wrap round: blocks are then shared, which only merges writes.
        let block = part as u64 * share + number % (shares * share);
        let sector = self.start + block * u64::from(PAGE_SECTORS);
        if let Some(&index) = self.by_sector.get(&sector) {
            return index;
        }
        let index = self.blocks.len() as u32;
        self.blocks.push(MetadataBlock {
            sector,
            dirty: false,
            writing: false,
            running: false,
            committing: false,
            checkpoint: None,
        });
        self.by_sector.insert(sector, index);
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Section 0.4, the traces: a file created, written and synced changes six blocks, so that a
    /// commit writes seven with its descriptor.
    #[test]
    fn a_small_file_changes_six_blocks() {
        let layout = Layout::new(54_000_000, 262_144, &[]);
        let mut metadata = Metadata::new(&layout, 0);
        let inode = metadata.new_inode();
        let mut changed: BTreeSet<u32> = metadata.create_entry(DirectoryId(3), inode).into();
        changed.extend(metadata.allocation(layout.data_start, inode));
        assert_eq!(changed.len(), 6);
    }
}
