//! Buffered writes: pages become dirty, the inode changes, ext3 allocates.
//!
//! *Models:* the inode's change joins the running transaction at every call; with delayed allocation
//! (ext4) blocks are chosen at writeback, without it (ext3) now.
//! *Does not model:* reading a page that is written in part; frames taken one by one: up to 64 are looked for together.
//! *Follows:* docs/model/block-layer.md, sections 4.1 and 4.3; docs/model/reclaim.md, section 6.4 (when a writer looks how much is
//! dirty); Linux 2.6.35 `generic_file_buffered_write`, `ext4_da_write_end`.

use super::{Frame, Outcome, Reserve, Step, Throttle};
use crate::fs::{FileId, PAGE_BYTES};
use crate::simulation::world::World;
use crate::task::TaskId;

/// Pages written between two chances to be interrupted.
const WRITE_PAGES_MAX: u32 = 64;

/// One write call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteCall {
    file: FileId,
    page: u32,
    end_page: u32,
    start_bytes: u64,
    end_bytes: u64,
    phase: WritePhase,
    /// Frames for the pages that are copied next have been looked for.
    reserves: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WritePhase {
    Enter,
    Copy,
    /// The next so many pages have been copied and are to be made dirty.
    Dirty(u32),
    /// All pages are dirty; the file may have become longer.
    Grow,
}

impl WriteCall {
    pub(crate) fn new(file: FileId, start_bytes: u64, end_bytes: u64) -> Self {
        Self {
            file,
            page: (start_bytes / PAGE_BYTES) as u32,
            end_page: end_bytes.div_ceil(PAGE_BYTES) as u32,
            start_bytes,
            end_bytes,
            phase: WritePhase::Enter,
            reserves: false,
        }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        match self.phase {
            WritePhase::Enter => {
                // The time stamps change, and with them the inode.
                world.change_inode(me, self.file, false)?;
                self.phase = WritePhase::Copy;
                Ok(Outcome::Cpu(world.host.syscall_ns))
            }
            WritePhase::Copy => {
                let most = WRITE_PAGES_MAX.min(world.writeback.ratelimit());
                let pages = (self.end_page - self.page).min(most);
                if world.memory.is_some() && !std::mem::take(&mut self.reserves) {
                    self.reserves = true;
                    let lacking =
                        (self.page..self.page + pages).filter(|&page| world.lacks_frame(self.file, page));
                    let in_transaction = world.policy.journal.delayed_allocation;
                    let reserve = Reserve::write(lacking.count() as u32, in_transaction);
                    return Ok(world.call(Frame::Reserve(reserve)));
                }
                self.phase = WritePhase::Dirty(pages);
                Ok(Outcome::Cpu(u64::from(pages) * world.host.write_page_ns))
            }
            WritePhase::Dirty(pages) => {
                if !world.policy.journal.delayed_allocation {
                    self.allocate(world, me, pages)?;
                }
                let (mut fresh, mut pages_done) = (0, 0);
                for page in self.page..self.page + pages {
                    if !world.give_frame(me, self.file, page, false) {
                        break;
                    }
                    fresh += u32::from(world.dirty_page(self.file, page));
                    pages_done += 1;
                }
                world.free_held(me);
                // The others had a frame that reclaim has taken since.
                let pages = pages_done;
                if pages == 0 && world.is_killed(me) {
                    return Ok(Outcome::Done);
                }
                self.page += pages;
                self.phase = if self.page < self.end_page { WritePhase::Copy } else { WritePhase::Grow };
                Ok(Self::balance_dirty_pages(world, me, (fresh, pages)))
            }
            WritePhase::Grow => {
                self.finish(world, me)?;
                Ok(Outcome::Done)
            }
        }
    }

    /// ext3: blocks for the pages that have none, as one run each.
    fn allocate(&self, world: &mut World, me: TaskId, pages: u32) -> Result<(), Outcome> {
        let mut page = self.page;
        while page < self.page + pages {
            let left = self.page + pages - page;
            let file = world.files.get(self.file);
            if let Some((_, contiguous)) = file.locate(page) {
                page += contiguous.min(left);
                continue;
            }
            let run = file.unallocated_run(page, left);
            world.allocate(me, self.file, page, run)?;
            page += run;
        }
        world.order_data(self.file);
        Ok(())
    }

    /// Every so many pages a writer looks whether it makes pages dirty faster than the device cleans them.
    fn balance_dirty_pages(world: &mut World, me: TaskId, pages: (u32, u32)) -> Outcome {
        world.note_dirty_pages();
        let cpu = world.scheduler.cpu_of(me).unwrap_or(0);
        let World { writeback, policy, .. } = world;
        let chunk_pages = writeback.dirtied(me.index(), cpu, pages, &policy.writeback);
        chunk_pages.map_or(Outcome::Continue, |chunk| world.call(Frame::Throttle(Throttle::new(chunk))))
    }

    fn finish(&self, world: &mut World, me: TaskId) -> Result<(), Outcome> {
        let grows = self.end_bytes > world.files.get(self.file).size_bytes;
        if grows {
            world.change_inode(me, self.file, true)?;
            world.files.get_mut(self.file).size_bytes = self.end_bytes;
        }
        if let Some(process) = world.process_mut(me) {
            process.totals.written_bytes += self.end_bytes - self.start_bytes;
        }
        world.recorder.moved(world.now_ns, me.0, true, self.end_bytes - self.start_bytes);
        Ok(())
    }
}
