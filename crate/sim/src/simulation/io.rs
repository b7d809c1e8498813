//! Bios in flight: what each is for, and what its completion does.

use super::operation::Outcome;
use super::resident::Backing;
use super::world::World;
use crate::block::{
    Bio, BioCompletion, BioFlags, BioTag, BlockOut, BlockQueue, PAGE_SECTORS, Submission, Sync,
};
use crate::fs::FileId;
use crate::mm::{FrameId, Memory};
use crate::observe::Recorder;
use crate::task::{TaskId, WaitOn};

/// What a bio is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IoKind {
    /// Reads pages of a file into memory.
    Read { file: FileId, page: u32, pages: u32 },
    /// Writes one page of a file.
    Data { file: FileId, page: u32 },
    /// Reads a page from swap.
    SwapIn { frame: FrameId },
    /// Writes a page to swap.
    SwapOut { frame: FrameId },
    /// Writes a log block.
    Log,
    /// Something that exactly one task waits for by name: commit record, super block, flush.
    Single,
    /// The same when it is done and the task has not noticed yet: until then the name is not given to
    /// another bio.
    SingleDone,
    /// Direct I/O.
    Direct { task: TaskId },
    /// Writes a metadata block in place.
    Metadata { block: u32 },
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    kind: Option<IoKind>,
    /// Counts the uses of the name.
    generation: u32,
}

/// Names for bios in flight.
#[derive(Clone, Debug, Default)]
pub(crate) struct IoTable {
    slots: Vec<Slot>,
    free: Vec<u32>,
    /// The last bio submitted.
    last: Option<BioTag>,
}

impl IoTable {
    fn name(&mut self, kind: IoKind) -> BioTag {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { kind: None, generation: 0 });
            (self.slots.len() - 1) as u32
        });
        let slot = &mut self.slots[index as usize];
        slot.kind = Some(kind);
        slot.generation = slot.generation.wrapping_add(1);
        BioTag(index)
    }

    fn release(&mut self, tag: BioTag) -> Option<IoKind> {
        let kind = self.slots.get_mut(tag.0 as usize)?.kind.take();
        if kind.is_some() {
            self.free.push(tag.0);
        }
        kind
    }

    /// Bios in flight.
    pub(crate) fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// The name with its generation, to recognise it later.
    fn stamped(&self, tag: BioTag) -> Option<(BioTag, u32)> {
        let slot = self.slots.get(tag.0 as usize)?;
        slot.kind.map(|_| (tag, slot.generation))
    }

    /// The bio that is for `kind`. Cost: the bios in flight.
    fn find(&self, kind: IoKind) -> Option<BioTag> {
        let at = self.slots.iter().position(|slot| slot.kind == Some(kind))?;
        Some(BioTag(at as u32))
    }

    /// Whether the name still means the same bio.
    pub(crate) fn is_current(&self, tag: BioTag, generation: u32) -> bool {
        self.stamped(tag) == Some((tag, generation))
    }

    /// Whether the bio that its submitter waits for by this name is done; its name is then free.
    pub(crate) fn take_done(&mut self, tag: BioTag) -> bool {
        let is_done =
            self.slots.get(tag.0 as usize).is_some_and(|slot| slot.kind == Some(IoKind::SingleDone));
        if is_done {
            self.release(tag);
        }
        is_done
    }

    /// Frees the name of a completed bio, unless somebody still has to notice; returns what it was for.
    fn complete(&mut self, tag: BioTag) -> Option<IoKind> {
        let slot = self.slots.get_mut(tag.0 as usize)?;
        if slot.kind == Some(IoKind::Single) {
            return slot.kind.replace(IoKind::SingleDone);
        }
        self.release(tag)
    }
}

impl World {
    /// Calls the request queue on behalf of a task or, with `None`, an interrupt, and delivers what
    /// comes of it.
    pub(crate) fn with_queue<R>(
        &mut self,
        by: Option<TaskId>,
        call: impl FnOnce(&mut BlockQueue, u64, &mut Recorder, &mut BlockOut) -> R,
    ) -> R {
        self.recorder.set_context(self.now_ns, super::by(by));
        let result = call(&mut self.queue, self.now_ns, &mut self.recorder, &mut self.block_out);
        self.block_due_ns = self.queue.next_event_ns();
        self.deliver();
        result
    }

    /// Removes the plug for a task that is going to wait.
    pub(crate) fn unplug(&mut self, me: TaskId) {
        self.with_queue(Some(me), |queue, now_ns, recorder, out| queue.unplug(now_ns, recorder, out));
    }

    /// Submits a bio of `me`.
    ///
    /// # Errors
    ///
    /// When no request is free: the step has to end with that wait and to be repeated.
    pub(crate) fn submit(
        &mut self,
        me: TaskId,
        sector: u64,
        sectors: u32,
        flags: BioFlags,
        kind: IoKind,
    ) -> Result<BioTag, Outcome> {
        let tag = self.ios.name(kind);
        let task = &mut self.tasks[me.index()];
        let resumed = std::mem::take(&mut task.resumed);
        let bio = Bio { sector, sectors, flags, submitter: task.submitter, tag };
        let submission = self.with_queue(Some(me), |queue, now_ns, recorder, out| {
            queue.submit(now_ns, &bio, resumed, recorder, out)
        });
        match submission {
            Submission::Accepted => {
                self.ios.last = Some(tag);
                Ok(tag)
            }
            Submission::MustWait(sync) => {
                self.ios.release(tag);
                Err(Outcome::Wait(WaitOn::FreeRequest(sync)))
            }
        }
    }

    /// Hands on what a call into the queue has brought about: completed bios first, as the interrupt
    /// handler does, then free requests, then kblockd.
    fn deliver(&mut self) {
        if !self.block_out.completed.is_empty() {
            let mut completed = std::mem::take(&mut self.block_out.completed);
            for completion in completed.drain(..) {
                self.complete(&completion);
            }
            // Keep the allocation.
            self.block_out.completed = completed;
            self.note_dirty_pages();
        }
        for direction in 0..2 {
            for _ in 0..std::mem::take(&mut self.block_out.wake[direction]) {
                if let Some(task) = self.request_waiters[direction].pop_front() {
                    self.tasks[task.index()].resumed = true;
                    self.wake(task, None);
                }
            }
        }
        self.tell_of_congestion();
        if std::mem::take(&mut self.block_out.kick_kblockd) {
            self.kblockd_kicked = true;
            self.wake_thread(self.threads.kblockd);
        }
    }

    /// The queue's congestion as memory management sees it, and whoever sleeps for its end.
    fn tell_of_congestion(&mut self) {
        if let Some(memory) = &mut self.memory {
            let congested = [self.queue.is_congested(Sync::Async), self.queue.is_congested(Sync::Sync)];
            memory.memory.set_congested(0, congested);
        }
        let freed = std::mem::take(&mut self.block_out.uncongested);
        if freed != [false; 2] {
            self.wake_congested(freed);
        }
    }

    fn complete(&mut self, completion: &BioCompletion) {
        let tag = completion.tag;
        let Some(kind) = self.ios.complete(tag) else {
            debug_assert!(false, "a bio was completed twice");
            return;
        };
        match kind {
            IoKind::Read { file, page, pages } => {
                self.files.get_mut(file).cache.read_completed(page, pages, tag);
                self.unlock_read(file, page, pages);
                self.wake_all(
                    Some(completion),
                    |on| matches!(on, WaitOn::Page(of, at) if of == file && at.wrapping_sub(page) < pages),
                );
            }
            IoKind::Data { file, page } => {
                self.writeback.wrote(1);
                let is_last = self.files.end_writeback(file, page);
                if let Some(frame) = self.page_written(file, page) {
                    self.wake_all(Some(completion), |on| on == WaitOn::PageWritten(frame));
                }
                if is_last {
                    self.wake_all(Some(completion), |on| on == WaitOn::Writeback(file));
                }
            }
            IoKind::SwapIn { frame } => {
                self.swap_io_done(|memory| memory.set_locked(frame, false));
                self.wake_all(Some(completion), |on| on == WaitOn::SwapIn(frame));
            }
            IoKind::SwapOut { frame } => {
                self.swap_io_done(|memory| memory.written(frame));
                self.wake_all(Some(completion), |on| on == WaitOn::PageWritten(frame));
            }
            IoKind::Log => {
                self.journal.log_in_flight -= 1;
                if self.journal.log_in_flight == 0 {
                    self.wake_all(Some(completion), |on| on == WaitOn::Log);
                }
            }
            IoKind::Single => self.wake_all(Some(completion), |on| on == WaitOn::Bio(tag)),
            IoKind::SingleDone => debug_assert!(false, "a bio was completed twice"),
            IoKind::Direct { task } => {
                let owner = &mut self.tasks[task.index()];
                owner.direct_in_flight -= 1;
                if owner.direct_in_flight == 0
                    && owner.wait.as_ref().is_some_and(|wait| wait.on == WaitOn::Direct)
                {
                    self.wake(task, Some(completion));
                }
            }
            IoKind::Metadata { block } => {
                self.metadata.set_writing(block, false);
                self.writeback.wrote(1);
                self.journal.clean_blocks_listed = true;
                self.wake_all(Some(completion), |on| on == WaitOn::Metadata(block));
            }
        }
    }

    /// A page has been read from swap or written to it.
    fn swap_io_done(&mut self, change: impl FnOnce(&mut Memory)) {
        if let Some(memory) = &mut self.memory {
            change(&mut memory.memory);
        }
        self.free_orphans();
    }

    /// What the write of a page in memory is called.
    fn write_of(&self, frame: FrameId) -> Option<IoKind> {
        let memory = self.memory.as_ref()?;
        let owner = memory.memory.owner(frame)?;
        match memory.mappings.get(owner.mapping as usize)?.backing {
            Backing::File(file) => Some(IoKind::Data { file, page: owner.index }),
            Backing::Region(_) | Backing::Gone => Some(IoKind::SwapOut { frame }),
        }
    }

    /// One of the bios that a wait is for, as far as it is known.
    pub(crate) fn bio_waited_for(&self, task: TaskId, on: WaitOn) -> Option<(BioTag, u32)> {
        let tag = match on {
            WaitOn::Page(file, page) => self.files.get(file).cache.reading_bio(page)?,
            WaitOn::Bio(tag) => tag,
            WaitOn::SwapIn(frame) => self.ios.find(IoKind::SwapIn { frame })?,
            WaitOn::PageWritten(frame) => self.ios.find(self.write_of(frame)?)?,
            // Whoever begins to wait for several has usually submitted the last of them just before.
            WaitOn::Writeback(_) | WaitOn::Log | WaitOn::Direct | WaitOn::Metadata(_) => self.ios.last?,
            _ => return None,
        };
        let kind = self.ios.slots.get(tag.0 as usize)?.kind?;
        let is_meant = match (on, kind) {
            (WaitOn::Writeback(file), IoKind::Data { file: of, .. }) => file == of,
            (WaitOn::Direct, IoKind::Direct { task: of }) => task == of,
            (WaitOn::Metadata(block), IoKind::Metadata { block: of }) => block == of,
            (WaitOn::Log, kind) => kind == IoKind::Log,
            (WaitOn::Page(..) | WaitOn::Bio(_) | WaitOn::PageWritten(_) | WaitOn::SwapIn(_), _) => true,
            _ => false,
        };
        is_meant.then(|| self.ios.stamped(tag)).flatten()
    }

    /// The sectors of so many pages.
    pub(crate) fn sectors(pages: u32) -> u32 {
        pages * PAGE_SECTORS
    }
}
