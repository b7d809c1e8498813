//! Direct reclaim: a task frees pages itself because it could not get one.
//!
//! *Models:* the descent of priorities over all zones of the zonelist, slab, the nap after a pass, what is reported back.
//! *Does not model:* memory cgroups, zone_reclaim; that up to 2.6.34 the pages that slab is weighed against are counted once, before the
//! first pass.
//! *Follows:* docs/model/reclaim.md, section 3.6; Linux 2.6.31 and 2.6.36, `mm/vmscan.c`, `do_try_to_free_pages`, `shrink_zones`.

use super::control::Control;
use super::gfp::{Caller, Gfp, Request};
use super::memory::Memory;
use super::policy::ReclaimResult;
use super::scan::{BATCH_PAGES, DEF_PRIORITY};
use super::shrink_zone::ZoneShrink;
use super::step::{NapSite, Step};

/// The machine. One step is at most one batch.
#[derive(Clone, Debug)]
pub(crate) struct DirectReclaim {
    control: Control,
    class: usize,
    priority: u8,
    /// Zones of this pass still to come: the next is one below.
    zones_left: usize,
    shrink: Option<ZoneShrink>,
    total_scanned: u64,
    all_unreclaimable: bool,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Zones,
    EndOfPass,
    NextPass,
}

/// What may be done on behalf of a request.
fn control(memory: &Memory, request: Request, caller: &Caller) -> Control {
    Control {
        caller: Caller { memalloc: true, ..*caller },
        order: request.order,
        lumpy: false,
        may_enter_fs: request.gfp.has(Gfp::FS),
        may_io: request.gfp.has(Gfp::IO),
        may_writepage: !memory.laptop_mode,
        may_unmap: true,
        may_swap: true,
        scanned: 0,
        reclaimed: 0,
        target: u64::from(BATCH_PAGES),
    }
}

impl DirectReclaim {
    /// Begins, and is counted whatever it reaches.
    pub(crate) fn new(memory: &mut Memory, request: Request, class: usize, caller: &Caller) -> Self {
        memory.vmstat.allocstall += 1;
        Self {
            control: control(memory, request, caller),
            class,
            priority: DEF_PRIORITY,
            zones_left: class + 1,
            shrink: None,
            total_scanned: 0,
            all_unreclaimable: true,
            stage: Stage::Zones,
        }
    }

    /// The priority it has reached.
    pub(crate) fn priority(&self) -> u8 {
        self.priority
    }

    /// Takes a step; the result is what the allocator takes for progress.
    pub(crate) fn step(&mut self, memory: &mut Memory) -> Step<u64> {
        loop {
            if let Some(shrink) = &mut self.shrink {
                match shrink.step(memory, &mut self.control).or_result() {
                    Ok(()) => self.shrink = None,
                    Err(step) => return step,
                }
            }
            match self.stage {
                Stage::Zones => self.next_zone(memory),
                Stage::EndOfPass => {
                    if let Some(step) = self.end_pass(memory) {
                        return step;
                    }
                }
                Stage::NextPass => {
                    if self.priority == 0 {
                        return Step::Done(self.result(memory));
                    }
                    self.priority -= 1;
                    self.control.scanned = 0;
                    self.zones_left = self.class + 1;
                    self.all_unreclaimable = true;
                    self.stage = Stage::Zones;
                }
            }
        }
    }

    fn next_zone(&mut self, memory: &mut Memory) {
        let Some(index) = self.zones_left.checked_sub(1) else {
            self.stage = Stage::EndOfPass;
            return;
        };
        self.zones_left = index;
        let zone = &memory.zones[index];
        if !zone.is_populated() || (zone.all_unreclaimable && self.priority != DEF_PRIORITY) {
            return;
        }
        self.all_unreclaimable = false;
        self.shrink = Some(ZoneShrink::new(memory, &self.control, index, self.priority));
    }

    /// Slab, then: enough? nap? `None`: go on at once.
    fn end_pass(&mut self, memory: &mut Memory) -> Option<Step<u64>> {
        self.stage = Stage::NextPass;
        memory.work.passes += 1;
        let with_anon = memory.counts_anon();
        let lru_pages =
            memory.zones[..=self.class].iter().map(|zone| zone.reclaimable_pages(with_anon)).sum();
        let slab = memory.shrink_slab(
            self.control.scanned,
            self.control.may_enter_fs,
            lru_pages,
            self.control.caller.cpu,
        );
        self.control.reclaimed += slab.pages;
        self.total_scanned += self.control.scanned;
        if self.control.reclaimed >= self.control.target {
            return Some(Step::Done(self.control.reclaimed));
        }
        if self.total_scanned > u64::from(BATCH_PAGES + BATCH_PAGES / 2) {
            memory.out.wake_flushers_pages = memory.out.wake_flushers_pages.max(self.total_scanned);
            self.control.may_writepage = true;
        }
        if self.control.scanned != 0 && self.priority < DEF_PRIORITY - 2 {
            let rule = memory.policy.reclaim_nap?;
            return Some(memory.nap(NapSite::Reclaim, rule, Some(self.class)));
        }
        None
    }

    fn result(&self, memory: &Memory) -> u64 {
        let reclaimed = self.control.reclaimed;
        match memory.policy.reclaim_result {
            ReclaimResult::ZeroIfHopeless if self.all_unreclaimable => 0,
            ReclaimResult::ZeroIfHopeless => reclaimed,
            ReclaimResult::OneIfHope | ReclaimResult::OneIfReclaimable if reclaimed != 0 => reclaimed,
            ReclaimResult::OneIfReclaimable => {
                let with_anon = memory.counts_anon();
                let zones = &memory.zones[..=self.class];
                u64::from(zones.iter().any(|zone| zone.is_populated() && zone.is_reclaimable(with_anon)))
            }
            ReclaimResult::OneIfHope => u64::from(!self.all_unreclaimable),
        }
    }
}
