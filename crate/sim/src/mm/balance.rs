//! One balance of kswapd: descents of priorities until every zone passes HIGH.
//!
//! *Models:* `balance_pgdat` with the check before or after the shrink, naps or their omission under MIN, restarts, and giving up an
//! order that cannot be had.
//! *Does not model:* memory cgroups' soft limits.
//! *Follows:* docs/model/reclaim.md, sections 3.4 and 3.5, 0.5 (G4, G14); Linux 2.6.31 and 2.6.36, `mm/vmscan.c`, `balance_pgdat`.

use super::control::Control;
use super::gfp::Caller;
use super::lru::Lru;
use super::memory::Memory;
use super::policy::{BalanceCheck, ZoneExit};
use super::scan::{BATCH_PAGES, DEF_PRIORITY};
use super::shrink_zone::ZoneShrink;
use super::step::{NapSite, Step};
use super::watermark::{AllocFlags, Mark};

/// The machine. One step is at most one batch.
#[derive(Clone, Debug)]
pub(crate) struct Balance {
    control: Control,
    priority: u8,
    /// The zone up to which zones are shrunk.
    end: usize,
    zone: usize,
    all_ok: bool,
    under_min: bool,
    lru_pages: u64,
    total_scanned: u64,
    shrink: Option<ZoneShrink>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Start,
    /// Looking, from the highest zone, for one that fails; the next is one below.
    FindEnd(usize),
    Zone,
    AfterZone,
    EndOfPass,
    AfterNap,
    Over,
}

impl Balance {
    pub(crate) fn new(memory: &Memory, order: u8, cpu: usize) -> Self {
        let target = match memory.policy.zone_exit {
            ZoneExit::AtTarget => u64::MAX,
            ZoneExit::MoreThanBatch => u64::from(BATCH_PAGES),
        };
        Self {
            control: Control {
                caller: Caller::kswapd_on_cpu(cpu),
                order,
                lumpy: false,
                may_enter_fs: true,
                may_io: true,
                may_writepage: false,
                may_unmap: true,
                may_swap: true,
                scanned: 0,
                reclaimed: 0,
                target,
            },
            priority: DEF_PRIORITY,
            end: 0,
            zone: 0,
            all_ok: true,
            under_min: false,
            lru_pages: 0,
            total_scanned: 0,
            shrink: None,
            stage: Stage::Start,
        }
    }

    pub(crate) fn priority(&self) -> u8 {
        self.priority
    }

    pub(crate) fn set_cpu(&mut self, cpu: usize) {
        self.control.caller.cpu = cpu;
    }

    pub(crate) fn step(&mut self, memory: &mut Memory) -> Step<()> {
        loop {
            if let Some(shrink) = &mut self.shrink {
                match shrink.step(memory, &mut self.control).or_result::<()>() {
                    Ok(()) => self.shrink = None,
                    Err(step) => return step,
                }
            }
            match self.stage {
                Stage::Start => {
                    memory.vmstat.pageoutrun += 1;
                    self.total_scanned = 0;
                    self.control.reclaimed = 0;
                    self.control.may_writepage = !memory.laptop_mode;
                    self.begin_pass(memory, DEF_PRIORITY);
                }
                Stage::FindEnd(left) => {
                    if let Some(step) = self.find_end(memory, left) {
                        return step;
                    }
                }
                Stage::Zone => self.shrink_next(memory),
                Stage::AfterZone => self.after_zone(memory),
                Stage::EndOfPass => {
                    if let Some(step) = self.end_pass(memory) {
                        return step;
                    }
                }
                Stage::AfterNap => {
                    if self.control.reclaimed >= u64::from(BATCH_PAGES) || self.priority == 0 {
                        self.stage = Stage::Over;
                    } else {
                        self.begin_pass(memory, self.priority - 1);
                    }
                }
                Stage::Over => {
                    if self.all_ok {
                        return Step::Done(());
                    }
                    if self.control.reclaimed < u64::from(BATCH_PAGES) {
                        self.control.order = 0;
                    }
                    self.stage = Stage::Start;
                    return Step::Yield;
                }
            }
        }
    }

    fn begin_pass(&mut self, memory: &mut Memory, priority: u8) {
        memory.work.passes += 1;
        self.priority = priority;
        self.all_ok = true;
        self.under_min = false;
        self.stage = Stage::FindEnd(memory.zones.len());
    }

    fn is_skipped(&self, memory: &Memory, zone: usize) -> bool {
        let zone = &memory.zones[zone];
        !zone.is_populated() || (zone.all_unreclaimable && self.priority != DEF_PRIORITY)
    }

    fn passes(&self, memory: &Memory, zone: usize, mark: Mark, class: usize) -> bool {
        memory.zones[zone].passes(mark, self.control.order, class, AllocFlags::default())
    }

    /// Part A of a pass: the highest zone that fails HIGH; the inactive anonymous lists above it are topped up.
    fn find_end(&mut self, memory: &mut Memory, left: usize) -> Option<Step<()>> {
        let Some(zone) = left.checked_sub(1) else {
            // No zone fails: all is well.
            self.stage = Stage::Over;
            return None;
        };
        self.stage = Stage::FindEnd(zone);
        if self.is_skipped(memory, zone) {
            return None;
        }
        let topped_up =
            memory.may_age_anon(memory.policy.kswapd_anon_aging) && memory.is_inactive_low(zone, false);
        if topped_up {
            memory.shrink_active(zone, Lru::ActiveAnon, BATCH_PAGES, self.control.caller.cpu);
        }
        if !self.passes(memory, zone, Mark::High, 0) {
            let with_anon = memory.counts_anon();
            self.end = zone;
            self.zone = 0;
            self.lru_pages = memory.zones[..=zone].iter().map(|zone| zone.reclaimable_pages(with_anon)).sum();
            self.stage = Stage::Zone;
        }
        topped_up.then_some(Step::Work)
    }

    /// Part C, first half.
    fn shrink_next(&mut self, memory: &mut Memory) {
        while self.zone <= self.end && self.is_skipped(memory, self.zone) {
            self.zone += 1;
        }
        if self.zone > self.end {
            self.stage = Stage::EndOfPass;
            return;
        }
        if memory.policy.balance_check == BalanceCheck::BeforeShrink {
            self.all_ok &= self.passes(memory, self.zone, Mark::High, self.end);
        }
        self.control.scanned = 0;
        self.stage = Stage::AfterZone;
        let zone = &memory.zones[self.zone];
        let far = zone.marks[Mark::High as usize].saturating_mul(8);
        if !zone.passes_pages(far, self.control.order, self.end, AllocFlags::default()) {
            let shrink = ZoneShrink::new(memory, &self.control, self.zone, self.priority);
            self.shrink = Some(shrink);
        }
    }

    /// Part C, second half.
    fn after_zone(&mut self, memory: &mut Memory) {
        let slab = memory.shrink_slab(self.control.scanned, true, self.lru_pages, self.control.caller.cpu);
        self.control.reclaimed += slab.pages;
        self.total_scanned += self.control.scanned;
        self.stage = Stage::Zone;
        let index = self.zone;
        self.zone += 1;
        let with_anon = memory.counts_anon();
        let zone = &mut memory.zones[index];
        if zone.all_unreclaimable {
            return;
        }
        if slab.objects == 0 && !zone.is_reclaimable(with_anon) {
            zone.all_unreclaimable = true;
        }
        if self.total_scanned > 2 * u64::from(BATCH_PAGES)
            && self.total_scanned > self.control.reclaimed + self.control.reclaimed / 2
        {
            self.control.may_writepage = true;
        }
        self.under_min |= !self.passes(memory, index, Mark::Min, self.end);
        if memory.policy.balance_check == BalanceCheck::AfterShrink {
            let is_ok = self.passes(memory, index, Mark::High, self.end);
            self.all_ok &= is_ok;
            if is_ok && memory.policy.balanced_clears_congested {
                memory.zones[index].congested = false;
            }
        }
    }

    /// Parts D to F.
    fn end_pass(&mut self, memory: &mut Memory) -> Option<Step<()>> {
        if self.all_ok {
            self.stage = Stage::Over;
            return None;
        }
        self.stage = Stage::AfterNap;
        let nap = memory.policy.kswapd_nap;
        let later = if nap.later_for_high_orders { self.control.order.min(DEF_PRIORITY - 2) } else { 0 };
        if self.total_scanned == 0 || self.priority >= DEF_PRIORITY - 2 - later {
            return None;
        }
        if nap.not_under_min && self.under_min {
            memory.vmstat.kswapd_skip_congestion_wait += 1;
            return None;
        }
        Some(memory.nap(NapSite::Kswapd, nap.rule, None))
    }
}
