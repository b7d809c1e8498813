//! Creating and removing files, and dropping a file's pages.
//!
//! *Models:* the metadata blocks each changes, as one handle.
//! *Does not model:* lookups, orphan lists, truncation in pieces.
//! *Follows:* model/block-layer.md, section 4.3; Linux 2.6.35 `ext4_create`, `ext4_unlink`,
//! `sys_fadvise64_64`.

use super::program::open;
use super::{Outcome, Step};
use crate::fs::{DirectoryId, FileId};
use crate::simulation::world::World;
use crate::task::TaskId;
use crate::workload::HandleId;

/// Creates an empty file and opens it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Create {
    handle: HandleId,
    directory: DirectoryId,
    phase: CreatePhase,
}

#[derive(Clone, Copy, Debug)]
enum CreatePhase {
    Enter,
    Choose,
    Change { inode: u64, blocks: [u32; 5] },
}

impl Create {
    pub(crate) fn new(handle: HandleId, directory: u32) -> Self {
        Self { handle, directory: DirectoryId(directory), phase: CreatePhase::Enter }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        match self.phase {
            CreatePhase::Enter => {
                self.phase = CreatePhase::Choose;
                Ok(Outcome::Cpu(world.host.syscall_ns + world.host.create_ns))
            }
            CreatePhase::Choose => {
                let inode = world.metadata.new_inode();
                let blocks = world.metadata.create_entry(self.directory, inode);
                self.phase = CreatePhase::Change { inode, blocks };
                Ok(Outcome::Continue)
            }
            CreatePhase::Change { inode, blocks } => {
                let tid = world.change_metadata(me, &blocks)?;
                let id = world.files.add(inode, 0, 0, Some(self.directory));
                let file = world.files.get_mut(id);
                file.sync_tid = tid;
                file.datasync_tid = tid;
                file.inode_dirty = true;
                open(world, me, self.handle, Some(id));
                if let Some(process) = world.process_mut(me) {
                    process.totals.files_created += 1;
                }
                Ok(Outcome::Done)
            }
        }
    }
}

/// Removes a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unlink {
    file: FileId,
    paid: bool,
}

impl Unlink {
    pub(crate) fn new(file: FileId) -> Self {
        Self { file, paid: false }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        let file = world.files.get(self.file);
        let (inode, removed, directory) = (file.inode, file.removed, file.directory);
        if removed {
            return Ok(Outcome::Done);
        }
        if !self.paid {
            self.paid = true;
            return Ok(Outcome::Cpu(world.host.syscall_ns + world.host.create_ns));
        }
        let first = world.files.get(self.file).locate(0).map(|(sector, _)| sector);
        let entry = world.metadata.remove_entry(directory.unwrap_or(DirectoryId(0)), inode);
        let mut blocks = entry.to_vec();
        if let Some(sector) = first {
            blocks.extend(world.metadata.allocation(sector, inode));
        }
        world.change_metadata(me, &blocks)?;
        world.remove_file(self.file);
        Ok(Outcome::Done)
    }
}

/// Drops the clean pages of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropCache {
    file: FileId,
    paid: bool,
}

impl DropCache {
    pub(crate) fn new(file: FileId) -> Self {
        Self { file, paid: false }
    }

    pub(super) fn step(&mut self, world: &mut World) -> Outcome {
        if !self.paid {
            self.paid = true;
            let pages = u64::from(world.files.get(self.file).cache.cached());
            return Outcome::Cpu(world.host.syscall_ns + pages * world.host.drop_page_ns);
        }
        world.drop_pages(self.file);
        Outcome::Done
    }
}
