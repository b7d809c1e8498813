//! Using the pages of an anonymous region: zeroed frames, and pages that come back from swap.
//!
//! *Models:* faults at pages never used, at pages in the swap cache and at pages on the swap area; the window read around a slot; what
//! a write does to a slot.
//! *Does not model:* the page of zeros that reads of unused pages share (a first use always takes a frame), fork, `mlock`.
//! *Follows:* docs/model/reclaim.md, section 0.6; Linux 2.6.31, `mm/memory.c`, `do_anonymous_page`, `do_swap_page`; `mm/swap_state.c`,
//! `swapin_readahead`.

use super::touch::{FAULTS_A_STEP, TABLE, TOUCHES_A_STEP};
use super::{Allocate, Frame, Outcome, Reserve, Step};
use crate::block::BioFlags;
use crate::fs::PAGE_BYTES;
use crate::mm::{FrameId, Gfp, NewPage, Owner, Request};
use crate::simulation::io::IoKind;
use crate::simulation::world::World;
use crate::task::{TaskId, WaitOn};
use crate::workload::Pattern;
use std::ops::Range;

const PAGE: Request = Request::page(Gfp::HIGHUSER_MOVABLE.with(Gfp::ZERO));

/// Uses pages of a region.
#[derive(Clone, Debug)]
pub(crate) struct TouchRegion {
    region: u32,
    /// Pages that the region has.
    pages: u32,
    pattern: Pattern,
    writes_percent: u32,
    left: u64,
    page: u32,
    /// The present use writes.
    writes: bool,
    phase: Phase,
    began_ns: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Phase {
    Enter,
    Go,
    Ask(Request),
    Asked(Request),
    /// The window of slots around the page is about to be read.
    SwapIn,
    /// Frames are there: slots still to be looked at, and the page added whose read is to be submitted.
    Read(Range<u32>, Option<(u32, FrameId)>),
    /// The page in this frame is being read.
    Locked(FrameId),
}

impl TouchRegion {
    /// `bytes` of a region of `pages` pages (1 or more), all of it once if `None`.
    pub(crate) fn new(
        region: u32,
        pages: u32,
        bytes: Option<u64>,
        pattern: Pattern,
        writes_percent: u32,
    ) -> Self {
        let left = bytes.map_or(u64::from(pages), |bytes| bytes.div_ceil(PAGE_BYTES));
        let (page, writes, phase, began_ns) = (0, false, Phase::Enter, None);
        Self { region, pages, pattern, writes_percent, left, page, writes, phase, began_ns }
    }

    pub(super) fn step(&mut self, world: &mut World, me: TaskId) -> Step {
        match self.phase.clone() {
            Phase::Enter => {
                self.choose(world, me);
                self.phase = Phase::Go;
                Ok(Outcome::Cpu(world.host.syscall_ns))
            }
            Phase::Go if self.left == 0 || world.is_killed(me) => Ok(Outcome::Done),
            Phase::Go => Ok(self.go(world, me)),
            Phase::Ask(request) => {
                self.phase = Phase::Asked(request);
                self.began_ns.get_or_insert(world.now_ns);
                Ok(world.call(Frame::Allocate(Allocate::new(world, me, request))))
            }
            Phase::Asked(request) => Ok(self.receive(world, me, request)),
            Phase::SwapIn => Ok(self.read_window(world)),
            Phase::Read(slots, added) => self.read(world, me, slots, added),
            Phase::Locked(frame) => Ok(self.wait_read(world, me, frame)),
        }
    }

    /// Uses pages until a fault has to wait, or others have to have a chance.
    fn go(&mut self, world: &mut World, me: TaskId) -> Outcome {
        let (mut faults, mut touches) = (0, 0);
        let now_ns = world.now_ns;
        while self.left != 0 && faults < FAULTS_A_STEP && touches < TOUCHES_A_STEP {
            let Some(memory) = &mut world.memory else { return Outcome::Done };
            let mapping = &memory.mappings[self.region as usize];
            if let Some(frame) = mapping.table.get(self.page) {
                memory.memory.touch(frame);
                if self.writes {
                    memory.write_anonymous(frame);
                }
                touches += 1;
            } else if let Some(frame) = mapping.cached.get(self.page) {
                if memory.memory.is_locked(frame) {
                    self.phase = Phase::Locked(frame);
                    break;
                }
                memory.map_cached(self.region, self.page, frame);
                memory.swapped_in(frame, self.writes);
                faults += 1;
            } else if mapping.swapped.get(self.page).is_some() {
                self.began_ns.get_or_insert(now_ns);
                self.phase = Phase::SwapIn;
                break;
            } else {
                let request = if mapping.table.has_table(self.page) { PAGE } else { TABLE };
                let Some(frame) = world.allocate_at_once(me, request) else {
                    self.phase = Phase::Ask(request);
                    break;
                };
                self.put(world, me, request, frame);
                faults += u64::from(request == PAGE);
                if request == TABLE {
                    continue;
                }
            }
            self.used(world, me);
        }
        world.follow_up_memory(me);
        let cost_ns = faults * world.host.fault_ns + touches * world.host.touch_page_ns;
        if faults != 0 {
            // The first of them may have waited.
            let waited_ns = self.began_ns.take().map_or(0, |began_ns| now_ns - began_ns);
            Self::record(world, me, waited_ns + world.host.fault_ns, 1);
            Self::record(world, me, world.host.fault_ns, faults - 1);
        }
        if cost_ns == 0 { Outcome::Continue } else { Outcome::Cpu(cost_ns) }
    }

    fn record(world: &mut World, me: TaskId, took_ns: u64, faults: u64) {
        if faults != 0
            && let Some(process) = world.process_mut(me)
        {
            process.totals.faults += faults;
            process.totals.fault_ns.record_many(took_ns, faults);
        }
    }

    /// Memory was had the slow way, or not at all.
    fn receive(&mut self, world: &mut World, me: TaskId, request: Request) -> Outcome {
        self.phase = Phase::Go;
        let granted = world.memory.as_mut().and_then(|memory| memory.take_granted(me)).flatten();
        let Some(frame) = granted else {
            self.left = 0;
            return Outcome::Continue;
        };
        self.put(world, me, request, frame);
        if request == TABLE {
            return Outcome::Continue;
        }
        self.used(world, me);
        let fault_ns = world.host.fault_ns;
        let waited_ns = self.began_ns.take().map_or(0, |began_ns| world.now_ns - began_ns);
        Self::record(world, me, waited_ns + fault_ns, 1);
        Outcome::Cpu(fault_ns)
    }

    /// Puts a page where it was wanted.
    fn put(&self, world: &mut World, me: TaskId, request: Request, frame: FrameId) {
        let cpu = world.caller(me).cpu;
        let Some(memory) = &mut world.memory else { return };
        let mapping = &mut memory.mappings[self.region as usize];
        if request == TABLE {
            mapping.table.add_table(self.page);
            mapping.tables.push(frame);
            return;
        }
        mapping.table.set(self.page, frame);
        let owner = Owner { mapping: self.region, index: self.page };
        let new = NewPage { owner, anon: true, mapped: true, dirty: false, active: true };
        memory.memory.add_page(frame, &new, cpu);
        memory.memory.vmstat.pgfault += 1;
    }

    /// Finds the slots to be read, and asks for as many frames.
    fn read_window(&mut self, world: &mut World) -> Outcome {
        self.phase = Phase::Go;
        let Some(memory) = &world.memory else { return Outcome::Done };
        let slot = memory.mappings[self.region as usize].swapped.get(self.page);
        let (Some(FrameId(slot)), Some(swap)) = (slot, memory.memory.swap()) else {
            return Outcome::Continue;
        };
        let slots = swap.read_window(slot);
        let wanted = slots.clone().filter(|&slot| memory.owner_of_slot(slot).is_some()).count();
        self.phase = Phase::Read(slots, None);
        world.call(Frame::Reserve(Reserve::write(wanted as u32, false)))
    }

    /// Adds the pages of the window one after the other, and has them read.
    fn read(
        &mut self,
        world: &mut World,
        me: TaskId,
        mut slots: Range<u32>,
        mut added: Option<(u32, FrameId)>,
    ) -> Step {
        if added.is_none() {
            added = slots.find_map(|slot| world.add_swapped(me, slot).map(|frame| (slot, frame)));
            self.phase = Phase::Read(slots.clone(), added);
            if added.is_some() {
                return Ok(Outcome::Cpu(world.host.submit_bio_ns));
            }
        }
        let Some((slot, frame)) = added else {
            if let Some(memory) = &mut world.memory {
                memory.memory.vmstat.pgmajfault += 1;
            }
            world.free_held(me);
            self.phase = Phase::Go;
            return Ok(Outcome::Continue);
        };
        let sector = world.swap_sector(slot);
        world.submit(me, sector, World::sectors(1), BioFlags::default(), IoKind::SwapIn { frame })?;
        if let Some(memory) = &mut world.memory {
            memory.memory.vmstat.pswpin += 1;
        }
        self.phase = Phase::Read(slots, None);
        Ok(Outcome::Continue)
    }

    fn wait_read(&mut self, world: &mut World, me: TaskId, frame: FrameId) -> Outcome {
        self.began_ns.get_or_insert(world.now_ns);
        world.unplug(me);
        // Reclaim may have taken the page since it was read, and somebody else have the frame.
        let is_locked = world.memory.as_ref().is_some_and(|memory| {
            let cached = memory.mappings[self.region as usize].cached.get(self.page);
            cached == Some(frame) && memory.memory.is_locked(frame)
        });
        if is_locked {
            return Outcome::Wait(WaitOn::SwapIn(frame));
        }
        self.phase = Phase::Go;
        Outcome::Continue
    }

    fn used(&mut self, world: &mut World, me: TaskId) {
        self.left -= 1;
        self.page = (self.page + 1) % self.pages;
        self.choose(world, me);
    }

    /// Draws the page that is used next, if pages are used at random, and whether it is written to.
    fn choose(&mut self, world: &mut World, me: TaskId) {
        let Some(process) = world.process_mut(me) else { return };
        if self.pattern == Pattern::Random {
            self.page = process.dice.below(self.pages.into()) as u32;
        }
        self.writes = match self.writes_percent {
            0 => false,
            100 => true,
            percent => process.dice.below(100) < u64::from(percent),
        };
    }
}
