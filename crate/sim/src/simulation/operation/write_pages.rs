//! Writing a file's dirty pages, and what allocation and time stamps do to the running transaction.
//!
//! *Models:* one bio per page of 4 KiB, which the request queue merges; delayed allocation of whole
//! runs; writeback in whatever context asks for it.
//! *Does not model:* bigger bios; locks on pages.
//! *Follows:* model/block-layer.md, sections 1.6, 4.1, 4.3; Linux 2.6.35 `ext4_da_writepages`,
//! `write_cache_pages`, `__block_write_full_page`.

use super::{Checkpoint, Frame, Outcome, Step};
use crate::block::{BioFlags, Sync};
use crate::fs::{Access, FileId, PageFlags, Tid};
use crate::simulation::io::IoKind;
use crate::simulation::world::{Event, World};
use crate::task::{TaskId, WaitOn};

/// The longest run allocated at once, in pages.
const ALLOCATE_PAGES_MAX: u32 = 2048;

/// Writes dirty pages of a file, at most a given number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WritePages {
    file: FileId,
    flags: BioFlags,
    /// Somebody waits: pages already under writeback are waited for instead of passed over.
    waits: bool,
    /// It ends as soon as the queue is congested.
    nonblocking: bool,
    /// How many more pages may be written.
    left: u32,
    /// Where to look for the next dirty page.
    next: u32,
    /// Where to stop looking.
    end: u32,
    /// At the file's end it goes on from the beginning up to here.
    wrap_end: Option<u32>,
    /// Behind the last page written.
    reached: u32,
    /// The run being submitted.
    page: u32,
    run: u32,
    paid: bool,
}

impl WritePages {
    /// All dirty pages, for somebody who waits.
    pub(crate) fn sync(file: FileId, flags: BioFlags) -> Self {
        Self {
            file,
            flags,
            waits: true,
            nonblocking: false,
            left: u32::MAX,
            next: 0,
            end: u32::MAX,
            wrap_end: None,
            reached: 0,
            page: 0,
            run: 0,
            paid: false,
        }
    }

    /// Up to `pages` dirty pages from page `next` on and round to it, in the background. With `nonblocking` it ends as soon
    /// as the queue is congested.
    pub(crate) fn background(
        file: FileId,
        flags: BioFlags,
        next: u32,
        pages: u32,
        nonblocking: bool,
    ) -> Self {
        Self {
            waits: false,
            nonblocking,
            left: pages,
            next,
            wrap_end: (next != 0).then_some(next),
            reached: next,
            ..Self::sync(file, flags)
        }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        if self.run != 0 {
            return self.submit_page(world, me);
        }
        let wanted = self.left != 0;
        let found = world.files.get(self.file).cache.next_dirty(self.next);
        let Some(page) = found.filter(|&page| wanted && page < self.end) else {
            if wanted && let Some(end) = self.wrap_end.take() {
                (self.next, self.end) = (0, end);
                return Ok(Outcome::Continue);
            }
            world.files.get_mut(self.file).writeback_index =
                if self.waits { self.next } else { self.reached };
            return Ok(Outcome::Done);
        };
        self.page = page;
        if world.files.get(self.file).cache.get(page).has(PageFlags::WRITEBACK) {
            if self.waits {
                world.unplug(me);
                return Err(Outcome::Wait(WaitOn::Writeback(self.file)));
            }
            self.next = page + 1;
            return Ok(Outcome::Continue);
        }
        if self.nonblocking && world.queue.is_congested(Sync::Async) {
            world.writeback.set_stopped(me.index(), true);
            (self.left, self.wrap_end) = (0, None);
            return Ok(Outcome::Continue);
        }
        self.begin_run(world, me)
    }

    /// Finds the run of dirty pages that begins here and makes sure that it has blocks.
    fn begin_run(&mut self, world: &mut World, me: TaskId) -> Step {
        let file = world.files.get(self.file);
        let most = self.left.min(ALLOCATE_PAGES_MAX).min(self.end - self.page);
        let dirty = file.cache.dirty_run(self.page, most);
        let run = match file.locate(self.page) {
            Some((_, contiguous)) => dirty.min(contiguous),
            None => {
                let run = file.unallocated_run(self.page, dirty);
                if !self.paid {
                    self.paid = true;
                    return Ok(Outcome::Cpu(world.host.allocate_blocks_ns));
                }
                world.allocate(me, self.file, self.page, run)?;
                world.order_data(self.file);
                run
            }
        };
        self.paid = false;
        self.run = run.max(1);
        self.next = self.page + self.run;
        self.reached = self.next;
        self.left -= self.run.min(self.left);
        for page in self.page..self.page + self.run {
            world.start_writeback(self.file, page);
        }
        world.writeback.started(me.index(), self.run);
        world.note_dirty_pages();
        Ok(Outcome::Continue)
    }

    fn submit_page(&mut self, world: &mut World, me: TaskId) -> Step {
        if !self.paid {
            self.paid = true;
            return Ok(Outcome::Cpu(world.host.submit_bio_ns));
        }
        let (file, page) = (self.file, self.page);
        if let Some((sector, _)) = world.files.get(file).locate(page) {
            world.submit(me, sector, World::sectors(1), self.flags, IoKind::Data { file, page })?;
        }
        self.paid = false;
        self.page += 1;
        self.run -= 1;
        Ok(Outcome::Continue)
    }
}

impl World {
    /// Makes metadata blocks part of the running transaction on behalf of `me`.
    ///
    /// # Errors
    ///
    /// With what has to be done or waited for first; the step is then taken again.
    pub(crate) fn change_metadata(&mut self, me: TaskId, blocks: &[u32]) -> Result<Tid, Outcome> {
        let had_running = self.journal.running.is_some();
        match self.journal.access(self.now_ns, &mut self.metadata, blocks) {
            Access::Granted(tid) => {
                if !had_running {
                    self.transaction_started(tid);
                }
                Ok(tid)
            }
            Access::Shadow => Err(Outcome::Wait(WaitOn::Shadow)),
            Access::Writing(block) => {
                self.unplug(me);
                if self.metadata.block(block).writing {
                    Err(Outcome::Wait(WaitOn::Metadata(block)))
                } else {
                    Err(Outcome::Continue)
                }
            }
            Access::Full => {
                if let Some(tid) = self.journal.running.as_ref().map(|running| running.tid) {
                    self.request_commit(tid);
                }
                Err(Outcome::Wait(WaitOn::TransactionLocked))
            }
            Access::NoRoom => Err(self.call(Frame::Checkpoint(Checkpoint::new()))),
        }
    }

    /// Arms the timer that commits a transaction nobody asks for.
    pub(crate) fn transaction_started(&mut self, tid: Tid) {
        let interval = self.clock.jiffies_from_ms(self.policy.journal.commit_interval_ms, 1);
        let expires_ns = self.clock.timer_ns(self.now_ns, interval);
        self.schedule(expires_ns, Event::Journal { tid });
    }

    /// Asks the journal thread for a commit; returns whether that is news.
    pub(crate) fn request_commit(&mut self, tid: Tid) -> bool {
        let is_news = self.journal.request_commit(tid);
        if is_news {
            self.wake_thread(self.threads.journal);
        }
        is_news
    }

    /// Changes a file's inode; `for_data` if its data cannot be read without the change.
    pub(crate) fn change_inode(&mut self, me: TaskId, file: FileId, for_data: bool) -> Result<(), Outcome> {
        let block = self.metadata.inode_block(self.files.get(file).inode);
        let tid = self.change_metadata(me, &[block])?;
        let file = self.files.get_mut(file);
        file.sync_tid = tid;
        if for_data {
            file.datasync_tid = tid;
        }
        file.inode_dirty = true;
        Ok(())
    }

    /// Gives `pages` pages of a file blocks.
    pub(crate) fn allocate(
        &mut self,
        me: TaskId,
        file: FileId,
        page: u32,
        pages: u32,
    ) -> Result<(), Outcome> {
        let inode = self.files.get(file).inode;
        let blocks = self.metadata.allocation(self.files.next_sector(), inode);
        let tid = self.change_metadata(me, &blocks)?;
        self.files.allocate(file, page, pages);
        let file = self.files.get_mut(file);
        file.sync_tid = tid;
        file.datasync_tid = tid;
        file.inode_dirty = true;
        Ok(())
    }

    /// The running transaction may only be committed once the file's data is on the device.
    pub(crate) fn order_data(&mut self, file: FileId) {
        if let Some(running) = &mut self.journal.running {
            let ordered_tid = &mut self.files.get_mut(file).ordered_tid;
            if *ordered_tid != running.tid {
                *ordered_tid = running.tid;
                running.ordered.push(file);
            }
        }
    }
}
