//! Making a file longer.
//!
//! *Models:* the change of the inode; what is added is a hole.
//! *Does not model:* making it shorter.
//! *Follows:* Linux 2.6.35, `sys_ftruncate`.

use super::{Outcome, Step};
use crate::fs::FileId;
use crate::simulation::world::World;
use crate::task::TaskId;

/// Makes a file that is shorter this long.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Truncate {
    file: FileId,
    bytes: u64,
    paid: bool,
}

impl Truncate {
    pub(crate) fn new(file: FileId, bytes: u64) -> Self {
        Self { file, bytes, paid: false }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        if !self.paid {
            self.paid = true;
            return Ok(Outcome::Cpu(world.host.syscall_ns));
        }
        let file = world.files.get(self.file);
        if file.size_bytes >= self.bytes || file.removed {
            return Ok(Outcome::Done);
        }
        let block = world.metadata.inode_block(file.inode);
        let tid = world.change_metadata(me, &[block])?;
        let file = world.files.get_mut(self.file);
        file.size_bytes = self.bytes;
        file.sync_tid = tid;
        file.datasync_tid = tid;
        file.inode_dirty = true;
        Ok(Outcome::Done)
    }
}
