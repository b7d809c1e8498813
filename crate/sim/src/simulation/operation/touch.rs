//! Using the pages of a mapped file, one byte of each.
//!
//! *Models:* page faults: a page table's page for every 512 pages, the page itself, the read of a page that lies on the device; pages
//! that are mapped already.
//! *Does not model:* readahead (the mapping is MADV_RANDOM) and fault-around, writing through the mapping, the TLB.
//! *Follows:* docs/model/reclaim.md, section 5.4; Linux 2.6.35, `mm/memory.c`, `mm/filemap.c`, `filemap_fault`.

use super::{Allocate, Frame, Outcome, ReadWindow, Step};
use crate::fs::{FileId, PAGE_BYTES, PageFlags};
use crate::mm::{FrameId, Gfp, Request};
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};
use crate::workload::Pattern;

/// Faults between two chances for others to go on.
pub(super) const FAULTS_A_STEP: u64 = 8;
/// Pages used between two chances for others to go on.
pub(super) const TOUCHES_A_STEP: u64 = 64;

/// A page for a page table (`pte_alloc_one`).
pub(super) const TABLE: Request = Request::page(Gfp::KERNEL.with(Gfp::REPEAT).with(Gfp::ZERO));
const PAGE: Request = Request::page(Gfp::HIGHUSER_MOVABLE.with(Gfp::COLD));

/// Maps a file and uses its pages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    file: FileId,
    pattern: Pattern,
    /// Pages still to be used.
    left: u64,
    /// The page that is used next.
    page: u32,
    mapping: u32,
    phase: Phase,
    /// When the fault in progress began, if it did not end at once.
    began_ns: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Enter,
    Go,
    /// The page has to be in the page cache first.
    Read,
    /// Memory for this request has to be had the slow way.
    Ask(Request),
    /// It has been asked for.
    Asked(Request),
}

impl Touch {
    /// `bytes` of the file, all of it once if `None`.
    pub(crate) fn new(world: &World, file: FileId, bytes: Option<u64>, pattern: Pattern) -> Self {
        let pages = u64::from(world.files.get(file).pages());
        let left = if pages == 0 { 0 } else { bytes.map_or(pages, |bytes| bytes.div_ceil(PAGE_BYTES)) };
        Self { file, pattern, left, page: 0, mapping: 0, phase: Phase::Enter, began_ns: None }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        match self.phase {
            Phase::Enter => {
                let Some(memory) = &mut world.memory else { return Ok(Outcome::Done) };
                self.mapping = memory.map(self.file);
                world.map_file(me, self.mapping, self.file);
                self.choose_page(world, me);
                self.phase = Phase::Go;
                Ok(Outcome::Cpu(world.host.syscall_ns))
            }
            Phase::Go if self.left == 0 || world.is_killed(me) => Ok(Outcome::Done),
            Phase::Go => Ok(self.go(world, me)),
            Phase::Read => Ok(self.read(world, me)),
            Phase::Ask(request) => {
                self.phase = Phase::Asked(request);
                self.began_ns.get_or_insert(world.now_ns);
                Ok(world.call(Frame::Allocate(Allocate::new(world, me, request))))
            }
            Phase::Asked(request) => Ok(self.receive(world, me, request)),
        }
    }

    /// Uses pages until a fault has to wait, or others have to have a chance.
    fn go(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let (mut faults, mut touches) = (0, 0);
        while self.left != 0 && faults < FAULTS_A_STEP && touches < TOUCHES_A_STEP {
            let run = self.fresh_run(world, FAULTS_A_STEP - faults);
            if run != 0 {
                let done = self.fault_in(world, me, run);
                faults += u64::from(done);
                if done == run {
                    continue;
                }
                self.phase = Phase::Ask(PAGE);
                break;
            }
            let Some(memory) = &mut world.memory else { return Outcome::Done };
            let table = &memory.mappings[self.mapping as usize].table;
            if let Some(frame) = table.get(self.page) {
                memory.memory.touch(frame);
                touches += 1;
                self.used(world, me);
                continue;
            }
            let request = if table.has_table(self.page) { PAGE } else { TABLE };
            if request == PAGE && self.must_be_read(world) {
                self.phase = Phase::Read;
                break;
            }
            if request == PAGE && self.map_cached(world) {
                faults += 1;
                self.used(world, me);
                continue;
            }
            let Some(frame) = world.allocate_at_once(me, request) else {
                self.phase = Phase::Ask(request);
                break;
            };
            faults += u64::from(request == PAGE);
            self.put(world, me, request, frame);
        }
        world.follow_up_memory(me);
        let cost_ns = faults * world.host.fault_ns + touches * world.host.touch_page_ns;
        if faults != 0
            && let Some(process) = world.process_mut(me)
        {
            process.totals.faults += faults;
            process.totals.fault_ns.record_many(cost_ns / faults, faults);
        }
        if cost_ns == 0 { Outcome::Continue } else { Outcome::Cpu(cost_ns) }
    }

    /// How many pages from the next one on, at most `limit`, need nothing but a frame each: they are used in order, have their page
    /// table, lie nowhere on the device and are not in memory.
    fn fresh_run(&self, world: &World, limit: u64) -> u32 {
        let Some(memory) = &world.memory else { return 0 };
        let mapping = &memory.mappings[self.mapping as usize];
        if self.pattern != Pattern::Sequential || mapping.cached.present() != 0 {
            return 0;
        }
        let file = world.files.get(self.file);
        let limit = limit.min(self.left).min(u64::from(file.pages() - self.page)) as u32;
        let vacant = mapping.table.vacant_run(self.page, limit);
        if vacant == 0 { 0 } else { file.unallocated_run(self.page, vacant) }
    }

    /// Faults in the next `count` pages, which need nothing but a frame each, as far as there is memory at once. Returns how many.
    fn fault_in(&mut self, world: &mut World, me: TaskId, count: u32) -> u32 {
        let caller = world.caller(me);
        let Some(memory) = &mut world.memory else { return 0 };
        let done = memory.add_mapped_run(self.mapping, self.page, count, PAGE, &caller);
        self.left -= u64::from(done);
        self.page = (self.page + done) % world.files.get(self.file).pages();
        done
    }

    /// Maps the page if it is in the page cache.
    fn map_cached(&self, world: &mut World) -> bool {
        let Some(memory) = &mut world.memory else { return false };
        let cached = memory.mappings[self.mapping as usize].cached.get(self.page);
        let Some(frame) = cached else { return false };
        memory.map_cached(self.mapping, self.page, frame);
        true
    }

    /// Whether the page lies on the device and is not in the page cache.
    fn must_be_read(&self, world: &World) -> bool {
        let file = world.files.get(self.file);
        file.locate(self.page).is_some() && !file.cache.get(self.page).has(PageFlags::UP_TO_DATE)
    }

    fn read(&mut self, world: &mut World, me: TaskId) -> Outcome {
        self.began_ns.get_or_insert(world.now_ns);
        let flags = world.files.get(self.file).cache.get(self.page);
        if flags == PageFlags::ABSENT {
            return world.call(Frame::ReadWindow(ReadWindow::one(self.file, self.page)));
        }
        if flags.has(PageFlags::READING) {
            world.unplug(me);
            if world.files.get(self.file).cache.get(self.page).has(PageFlags::READING) {
                return Outcome::Wait(WaitOn::Page(self.file, self.page));
            }
        }
        self.phase = Phase::Go;
        Outcome::Continue
    }

    /// Memory was had the slow way, or not at all.
    fn receive(&mut self, world: &mut World, me: TaskId, request: Request) -> Outcome {
        self.phase = Phase::Go;
        let granted = world.memory.as_mut().and_then(|memory| memory.take_granted(me)).flatten();
        let Some(frame) = granted else {
            // The fault fails, as with SIGBUS: what is left is given up.
            self.left = 0;
            return Outcome::Continue;
        };
        let is_page = request == PAGE;
        self.put(world, me, request, frame);
        if !is_page {
            return Outcome::Continue;
        }
        let (fault_ns, now_ns) = (world.host.fault_ns, world.now_ns);
        let took_ns = self.began_ns.take().map_or(0, |began_ns| now_ns - began_ns) + fault_ns;
        if let Some(process) = world.process_mut(me) {
            process.totals.faults += 1;
            process.totals.fault_ns.record(took_ns);
        }
        Outcome::Cpu(fault_ns)
    }

    /// Puts a page where it was wanted.
    fn put(&mut self, world: &mut World, me: TaskId, request: Request, frame: FrameId) {
        let cpu = world.caller(me).cpu;
        let Some(memory) = &mut world.memory else { return };
        if request == TABLE {
            let mapping = &mut memory.mappings[self.mapping as usize];
            mapping.table.add_table(self.page);
            mapping.tables.push(frame);
        } else {
            memory.add_mapped(self.mapping, self.page, frame, cpu);
            self.used(world, me);
        }
    }

    fn used(&mut self, world: &mut World, me: TaskId) {
        self.left -= 1;
        self.page = match self.pattern {
            Pattern::Sequential => (self.page + 1) % world.files.get(self.file).pages().max(1),
            Pattern::Random => self.page,
        };
        self.choose_page(world, me);
    }

    /// Draws the page that is used next, if pages are used at random.
    fn choose_page(&mut self, world: &mut World, me: TaskId) {
        if self.pattern == Pattern::Sequential {
            return;
        }
        let pages = u64::from(world.files.get(self.file).pages());
        if let Some(process) = world.process_mut(me) {
            self.page = process.dice.below(pages) as u32;
        }
    }
}
