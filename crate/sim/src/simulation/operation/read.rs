//! Buffered reads: the page cache lookup, readahead, waiting for pages, copying.
//!
//! *Models:* the mark is tested before the wait, so that up to two windows are outstanding; the wait
//! removes the plug; asynchronous readahead is skipped while reads are congested.
//! *Does not model:* partially written pages, holes being read from the device.
//! *Follows:* model/block-layer.md, sections 0.2, 1.3, 1.5; Linux 2.6.35 `do_generic_file_read`,
//! `page_cache_async_readahead`, `mpage_readpages`.

use super::{Frame, Outcome, Reserve, Step};
use crate::block::{BioFlags, Sync};
use crate::fs::{FileId, PAGE_BYTES, PageFlags, Readahead};
use crate::simulation::io::IoKind;
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};
use crate::workload::HandleId;
use std::ops::Range;

/// Pages copied between two chances to be interrupted.
const COPY_PAGES_MAX: u32 = 32;
/// Pages in a bio: what fits a request of the default size.
const BIO_PAGES_MAX: u32 = 128;

/// One read call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadPages {
    file: FileId,
    handle: HandleId,
    page: u32,
    end_page: u32,
    /// The first page whose use is noted.
    marked_from: u32,
    bytes: u64,
    began_ns: u64,
    phase: ReadPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadPhase {
    Enter,
    Look,
    /// So many pages have been copied.
    Copied(u32),
    AccessTime,
}

impl ReadPages {
    /// `goes_on`: it begins where the call before it ended, so that a page that both read part of is used once.
    pub(crate) fn new(file: FileId, handle: HandleId, bytes: Range<u64>, goes_on: bool, now_ns: u64) -> Self {
        let Range { start: start_bytes, end: end_bytes } = bytes;
        let is_used = goes_on && !start_bytes.is_multiple_of(PAGE_BYTES);
        let page = (start_bytes / PAGE_BYTES) as u32;
        Self {
            file,
            handle,
            page,
            end_page: end_bytes.div_ceil(PAGE_BYTES) as u32,
            marked_from: page + u32::from(is_used),
            bytes: end_bytes - start_bytes,
            began_ns: now_ns,
            phase: ReadPhase::Enter,
        }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        match self.phase {
            ReadPhase::Enter => {
                self.phase = ReadPhase::Look;
                Ok(Outcome::Cpu(world.host.syscall_ns))
            }
            ReadPhase::Look if self.page >= self.end_page => {
                self.phase = ReadPhase::AccessTime;
                Ok(Outcome::Continue)
            }
            ReadPhase::Look => Ok(self.look(world, me)),
            ReadPhase::Copied(pages) => {
                self.page += pages;
                world.counters.page_hits += u64::from(pages);
                world.mark_read(self.file, self.marked_from.max(self.page - pages)..self.page);
                self.phase = ReadPhase::Look;
                Ok(Outcome::Continue)
            }
            ReadPhase::AccessTime => {
                self.touch_access_time(world, me)?;
                self.finish(world, me);
                Ok(Outcome::Done)
            }
        }
    }

    fn look(&mut self, world: &mut World, me: TaskId) -> Outcome {
        if world.is_killed(me) {
            return Outcome::Done;
        }
        let limit = (self.end_page - self.page).min(COPY_PAGES_MAX);
        let run = world.files.get(self.file).cache.plain_run(self.page, limit);
        if run != 0 {
            self.phase = ReadPhase::Copied(run);
            return Outcome::Cpu(u64::from(run) * world.host.read_page_ns);
        }
        let flags = world.files.get(self.file).cache.get(self.page);
        if flags == PageFlags::ABSENT {
            return self.read_ahead(world, me, false);
        }
        if flags.has(PageFlags::MARK) {
            world.files.get_mut(self.file).cache.clear_mark(self.page);
            if !world.queue.is_congested(Sync::Sync) {
                return self.read_ahead(world, me, true);
            }
            return Outcome::Continue;
        }
        // Being read: ask for it to start, then wait.
        world.unplug(me);
        if world.files.get(self.file).cache.get(self.page).has(PageFlags::READING) {
            world.counters.page_waits += 1;
            return Outcome::Wait(WaitOn::Page(self.file, self.page));
        }
        Outcome::Continue
    }

    fn read_ahead(&self, world: &mut World, me: TaskId, marked: bool) -> Outcome {
        let max = world.readahead_pages;
        let context = world.policy.readahead.context;
        let unplugs = marked && world.policy.readahead.unplugs_if_up_to_date;
        let miss = crate::fs::Miss { page: self.page, wanted: self.end_page - self.page, marked };
        let first_process = world.first_process();
        let World { processes, files, .. } = world;
        let file = files.get(self.file);
        let mut unknown = Readahead::default();
        let state = processes
            .get_mut(me.index() - first_process)
            .and_then(|process| process.handles.get_mut(self.handle.0 as usize))
            .map_or(&mut unknown, |handle| &mut handle.readahead);
        let Some(window) = state.ask(miss, max, context, &file.cache) else { return Outcome::Continue };
        let end = window.start.saturating_add(window.size).min(file.pages());
        let mark = window.start + window.size - window.async_size;
        world.counters.readahead_windows += 1;
        world.call(Frame::ReadWindow(ReadWindow {
            file: self.file,
            next: window.start,
            end,
            mark: (window.async_size != 0).then_some(mark),
            unplug_for: unplugs.then_some(self.page),
            run: 0,
            phase: WindowPhase::Allocate,
        }))
    }

    /// A read changes the access time, at most once a tick, if the file system is mounted so.
    fn touch_access_time(&self, world: &mut World, me: TaskId) -> Result<(), Outcome> {
        if !world.file_system.access_time {
            return Ok(());
        }
        let now_jiffies = world.clock.jiffies(world.now_ns);
        let file = world.files.get(self.file);
        if file.access_jiffies == now_jiffies {
            return Ok(());
        }
        let block = world.metadata.inode_block(file.inode);
        let tid = world.change_metadata(me, &[block])?;
        let file = world.files.get_mut(self.file);
        file.access_jiffies = now_jiffies;
        file.sync_tid = tid;
        file.inode_dirty = true;
        Ok(())
    }

    fn finish(&self, world: &mut World, me: TaskId) {
        let now_ns = world.now_ns;
        let Some(process) = world.process_mut(me) else { return };
        process.totals.read_bytes += self.bytes;
        process.totals.read_ns.record(now_ns - self.began_ns);
        if let Some(handle) = process.handles.get_mut(self.handle.0 as usize) {
            handle.readahead.read_ended_in(self.end_page.saturating_sub(1));
        }
        world.recorder.moved(now_ns, me.0, false, self.bytes);
    }
}

/// Reads one window into memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadWindow {
    file: FileId,
    next: u32,
    end: u32,
    mark: Option<u32>,
    /// Unplug afterwards if this page is up to date.
    unplug_for: Option<u32>,
    /// Pages from `next` on that have been added and are about to be submitted.
    run: u32,
    phase: WindowPhase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WindowPhase {
    Allocate,
    /// Frames for the pages that are absent.
    Reserve,
    Add,
    Submit,
}

impl ReadWindow {
    /// One page and no more.
    pub(super) fn one(file: FileId, page: u32) -> Self {
        let end = page.saturating_add(1);
        Self { file, next: page, end, mark: None, unplug_for: None, run: 0, phase: WindowPhase::Allocate }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        match self.phase {
            WindowPhase::Allocate => {
                self.phase = if world.memory.is_some() { WindowPhase::Reserve } else { WindowPhase::Add };
                let cache = &world.files.get(self.file).cache;
                let absent =
                    (self.next..self.end).filter(|&page| cache.get(page) == PageFlags::ABSENT).count() as u64;
                Ok(Outcome::Cpu(absent * world.host.readahead_page_ns))
            }
            WindowPhase::Reserve => {
                self.phase = WindowPhase::Add;
                let pages = (self.next..self.end).filter(|&page| world.lacks_frame(self.file, page));
                Ok(world.call(Frame::Reserve(Reserve::read(pages.count() as u32))))
            }
            WindowPhase::Add => Ok(self.add(world, me)),
            WindowPhase::Submit => self.submit(world, me),
        }
    }

    /// Adds the next run of absent pages that lie behind each other on the device.
    fn add(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let file = world.files.get_mut(self.file);
        let limit = self.end.saturating_sub(self.next);
        let Some(start) = file.cache.next_hole(self.next, limit) else { return self.finish(world, me) };
        self.next = start;
        let place = file.locate(start);
        if !world.give_frame(me, self.file, start, place.is_some()) {
            // Pages that have gone since are left to the next window.
            return self.finish(world, me);
        }
        let Some((_, contiguous)) = place else {
            // A hole in the file reads as zeros, without I/O.
            let file = world.files.get_mut(self.file);
            file.cache.add_for_read(start);
            file.cache.read_completed(start, 1, crate::block::BioTag(u32::MAX));
            self.next += 1;
            return Outcome::Continue;
        };
        let limit = (self.end - start).min(contiguous).min(BIO_PAGES_MAX);
        self.run = 0;
        while self.run < limit
            && world.files.get(self.file).cache.get(start + self.run) == PageFlags::ABSENT
            && world.give_frame(me, self.file, start + self.run, true)
        {
            let file = world.files.get_mut(self.file);
            file.cache.add_for_read(start + self.run);
            if self.mark == Some(start + self.run) {
                file.cache.set_mark(start + self.run);
            }
            self.run += 1;
        }
        self.phase = WindowPhase::Submit;
        Outcome::Cpu(world.host.submit_bio_ns)
    }

    fn submit(&mut self, world: &mut World, me: TaskId) -> Step {
        let (file, page, pages) = (self.file, self.next, self.run);
        if let Some((sector, _)) = world.files.get(file).locate(page) {
            let kind = IoKind::Read { file, page, pages };
            let bio = world.submit(me, sector, World::sectors(pages), BioFlags::default(), kind)?;
            // The bio may be complete already only on a device without latency; none of ours is.
            world.files.get_mut(file).cache.read_submitted(page, pages, bio);
        }
        self.next += pages;
        self.phase = WindowPhase::Add;
        Ok(Outcome::Continue)
    }

    fn finish(&self, world: &mut World, me: TaskId) -> Outcome {
        world.free_held(me);
        if let Some(page) = self.unplug_for
            && world.files.get(self.file).cache.get(page).has(PageFlags::UP_TO_DATE)
        {
            world.unplug(me);
        }
        Outcome::Done
    }
}
