//! One pass over what is dirty: files, the oldest first, then metadata.
//!
//! *Models:* so many pages in all, each file at most once, files that another task is writing passed over, the end at congestion
//! for those who must not block; metadata through the block device's own mapping, in the order of sectors.
//! *Does not model:* super blocks and devices, inodes written without their pages, locked buffers.
//! *Follows:* docs/model/block-layer.md, section 0.4 point 2; docs/model/reclaim.md, sections 6.2 to 6.4; Linux 2.6.31
//! `generic_sync_sb_inodes`, 2.6.32 `writeback_inodes_wb`, `writeback_single_inode`.

use super::{Frame, Outcome, Step, WritePages};
use crate::block::Sync;
use crate::fs::FileId;
use crate::simulation::world::World;
use crate::task::{TaskId, TaskKind, WaitOn};
use crate::writeback::{Busy, PassResult};

/// A pass in progress. What it comes to is left with the machine's writeback, see `last_pass`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WritebackPass {
    /// What became dirty later is left alone.
    cutoff_ns: u64,
    pages: u32,
    left: u32,
    /// It ends as soon as the queue is congested.
    nonblocking: bool,
    /// The thread of the pool that it belongs to.
    pdflush: Option<usize>,
    /// Files still to be looked at; none before the first step.
    turns: Option<usize>,
    busy: Option<Busy>,
    metadata_done: bool,
    phase: Phase,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Next,
    /// The file is being written; the task had started so many pages before.
    File(FileId, u64),
    Metadata(u64),
}

impl WritebackPass {
    /// Up to `pages` pages that became dirty by `cutoff_ns`, by a task that may block.
    pub(crate) fn blocking(cutoff_ns: u64, pages: u32) -> Self {
        Self {
            cutoff_ns,
            pages,
            left: pages,
            nonblocking: false,
            pdflush: None,
            turns: None,
            busy: None,
            metadata_done: false,
            phase: Phase::Next,
        }
    }

    /// The same by a thread of the pool, which ends at congestion.
    pub(crate) fn pdflush(cutoff_ns: u64, pages: u32, thread: usize) -> Self {
        Self { nonblocking: true, pdflush: Some(thread), ..Self::blocking(cutoff_ns, pages) }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Outcome {
        match self.phase {
            Phase::Next => self.next(world, me),
            Phase::File(file, before) => {
                let pages = self.written_since(world, me, before);
                if world.tasks[me.index()].kind == TaskKind::Flusher {
                    world.counters.flushed_pages += u64::from(pages);
                }
                world.files.get_mut(file).is_written_back = false;
                self.let_go(world, WaitOn::BusyFile(Some(file)))
            }
            Phase::Metadata(before) => {
                self.written_since(world, me, before);
                world.writeback.metadata_busy = false;
                self.let_go(world, WaitOn::BusyFile(None))
            }
        }
    }

    fn next(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let turns = *self.turns.get_or_insert_with(|| {
            world.writeback.set_stopped(me.index(), false);
            world.files.dirty_files()
        });
        let is_congested = self.nonblocking && world.queue.is_congested(Sync::Async);
        let is_over = self.left == 0 || is_congested || world.writeback.has_stopped(me.index());
        if is_over {
            world.writeback.set_stopped(me.index(), is_congested || world.writeback.has_stopped(me.index()));
            return self.end(world, me);
        }
        let file = world.files.oldest_dirty(self.cutoff_ns).filter(|_| turns != 0);
        if file.is_none() && !self.wants_metadata(world) {
            return self.end(world, me);
        }
        // Another thread of the pool has the device.
        if self.pdflush.is_some_and(|thread| !world.writeback.pdflush.acquire(thread)) {
            return self.end(world, me);
        }
        match file {
            Some(file) => {
                self.turns = Some(turns - 1);
                self.write_file(world, me, file)
            }
            None => self.write_metadata(world, me),
        }
    }

    fn write_file(&mut self, world: &mut World, me: TaskId, file: FileId) -> Outcome {
        world.files.rotate_oldest(self.cutoff_ns);
        let state = world.files.get_mut(file);
        if std::mem::replace(&mut state.is_written_back, true) {
            self.busy = Some(Busy::File(file.0));
            self.release(world);
            return Outcome::Continue;
        }
        let from = state.writeback_index;
        self.phase = Phase::File(file, world.writeback.started_by(me.index()));
        let flags = world.policy.write_flags.background;
        world.call(Frame::WritePages(WritePages::background(file, flags, from, self.left, self.nonblocking)))
    }

    fn wants_metadata(&self, world: &World) -> bool {
        !self.metadata_done
            && world.metadata.dirty() != 0
            && world.metadata.dirtied_ns().is_some_and(|since_ns| since_ns <= self.cutoff_ns)
    }

    fn write_metadata(&mut self, world: &mut World, me: TaskId) -> Outcome {
        self.metadata_done = true;
        if std::mem::replace(&mut world.writeback.metadata_busy, true) {
            self.busy = Some(Busy::Metadata);
            self.release(world);
            return Outcome::Continue;
        }
        self.phase = Phase::Metadata(world.writeback.started_by(me.index()));
        let from = world.writeback.metadata_index;
        world.call(Frame::MetadataFlush(MetadataFlush::new(from, self.left, self.nonblocking)))
    }

    /// Counts what the task has started since; returns how much.
    fn written_since(&mut self, world: &World, me: TaskId, before: u64) -> u32 {
        let pages = u32::try_from(world.writeback.started_by(me.index()) - before).unwrap_or(u32::MAX);
        self.left -= pages.min(self.left);
        pages
    }

    fn release(&self, world: &mut World) {
        if self.pdflush.is_some() {
            world.writeback.pdflush.release();
        }
    }

    fn let_go(&mut self, world: &mut World, on: WaitOn) -> Outcome {
        self.release(world);
        world.wake_all(None, |waits_on| waits_on == on);
        self.phase = Phase::Next;
        Outcome::Continue
    }

    fn end(&self, world: &mut World, me: TaskId) -> Outcome {
        let result = PassResult {
            written_pages: self.pages - self.left,
            is_full: self.left == 0,
            congested: world.writeback.has_stopped(me.index()),
            busy: self.busy,
        };
        world.writeback.pass_over(me.index(), result);
        Outcome::Done
    }
}

/// Writes dirty metadata blocks in place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MetadataFlush {
    sector: u64,
    /// It has not begun with the first sector, nor gone back to it.
    may_wrap: bool,
    /// How many more blocks may be written.
    left: u32,
    nonblocking: bool,
    paid: bool,
    /// The block whose write has been started and is to be submitted.
    started: Option<u32>,
}

impl MetadataFlush {
    /// At most `left` blocks from `sector` on and round to the first.
    pub(crate) fn new(sector: u64, left: u32, nonblocking: bool) -> Self {
        Self { sector, may_wrap: sector != 0, left, nonblocking, paid: false, started: None }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        if let Some(block) = self.started {
            return self.submit(world, me, block);
        }
        if self.nonblocking && world.queue.is_congested(Sync::Async) {
            world.writeback.set_stopped(me.index(), true);
            self.left = 0;
        }
        if self.left == 0 {
            world.writeback.metadata_index = self.sector;
            return Ok(Outcome::Done);
        }
        let Some(block) = world.metadata.next_dirty(self.sector) else {
            if std::mem::take(&mut self.may_wrap) {
                self.sector = 0;
                return Ok(Outcome::Continue);
            }
            world.writeback.metadata_index = 0;
            world.metadata.restart_age(world.now_ns);
            return Ok(Outcome::Done);
        };
        if !self.paid {
            self.paid = true;
            return Ok(Outcome::Cpu(world.host.submit_bio_ns));
        }
        world.start_metadata_write(block);
        world.writeback.started(me.index(), 1);
        self.left -= 1;
        self.started = Some(block);
        self.submit(world, me, block)
    }

    fn submit(&mut self, world: &mut World, me: TaskId, block: u32) -> Step {
        world.submit_metadata(me, block)?;
        world.counters.flushed_metadata_blocks += 1;
        self.sector = world.metadata.block(block).sector + 1;
        (self.paid, self.started) = (false, None);
        Ok(Outcome::Continue)
    }
}
