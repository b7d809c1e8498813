//! Shrinking one zone at one priority.
//!
//! *Models:* the rounds over the four lists, 32 pages of each in turn, and when they end; topping up the inactive anonymous list;
//! throttling while too much is being written.
//! *Does not model:* memory cgroups; a limit for writing that follows the memory there is (the caller sets it, once); a fatal signal
//! that ends the wait.
//! *Follows:* docs/model/reclaim.md, sections 4.2 (R4.3, R4.4); Linux 2.6.31 and 2.6.36, `mm/vmscan.c`, `shrink_zone`.

use super::control::Control;
use super::lru::Lru;
use super::memory::Memory;
use super::policy::{NapRule, ZoneExit};
use super::scan::{BATCH_PAGES, DEF_PRIORITY};
use super::shrink_inactive::InactiveShrink;
use super::step::{NapSite, Step};

/// The machine that shrinks a zone. One step is at most one batch.
#[derive(Clone, Debug)]
pub(crate) struct ZoneShrink {
    zone: usize,
    priority: u8,
    left: [u32; 4],
    /// The list whose turn it is.
    list: usize,
    inactive: Option<InactiveShrink>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Rounds,
    Top,
    Throttle,
}

impl ZoneShrink {
    /// Works out how much to scan (R4.2).
    pub(crate) fn new(memory: &mut Memory, control: &Control, zone: usize, priority: u8) -> Self {
        let left = memory.scan_amounts(zone, priority, control.may_swap);
        memory.zones[zone].prev_priority = priority;
        Self { zone, priority, left, list: 0, inactive: None, stage: Stage::Rounds }
    }

    pub(crate) fn step(&mut self, memory: &mut Memory, control: &mut Control) -> Step<()> {
        if let Some(inactive) = &mut self.inactive {
            match inactive.step(memory, control).or_result::<()>() {
                Ok(()) => self.inactive = None,
                Err(step) => return step,
            }
        }
        loop {
            match self.stage {
                Stage::Rounds => {
                    if let Some(step) = self.next_list(memory, control) {
                        return step;
                    }
                }
                Stage::Top => {
                    self.stage = Stage::Throttle;
                    if memory.may_age_anon(memory.policy.zone_anon_aging)
                        && memory.is_inactive_low(self.zone, false)
                    {
                        memory.shrink_active(self.zone, Lru::ActiveAnon, BATCH_PAGES, control.caller.cpu);
                        return Step::Work;
                    }
                }
                Stage::Throttle => {
                    if memory.writeback_pages > memory.writeout_limit_pages && !self.is_throttled_once() {
                        if !(control.may_io && control.may_enter_fs) {
                            self.list = usize::MAX;
                        }
                        let rule = NapRule::Always(memory.policy.writeout_nap);
                        return memory.nap(NapSite::Writeout, rule, None);
                    }
                    return Step::Done(());
                }
            }
        }
    }

    /// Callers that may not start I/O or enter the file system are throttled once only (R4.4).
    fn is_throttled_once(&self) -> bool {
        self.list == usize::MAX
    }

    /// The next list's batch; `None` if there was nothing to do for it.
    fn next_list(&mut self, memory: &mut Memory, control: &mut Control) -> Option<Step<()>> {
        if self.list == 0 && !self.has_budget() {
            self.stage = Stage::Top;
            return None;
        }
        let list = self.list;
        if list == Lru::EVICTABLE.len() {
            self.list = 0;
            if self.is_enough(memory, control) {
                self.stage = Stage::Top;
            }
            return None;
        }
        self.list += 1;
        let pages = self.left[list].min(BATCH_PAGES);
        if pages == 0 {
            return None;
        }
        self.left[list] -= pages;
        let mut lru = Lru::EVICTABLE[list];
        if lru.is_active() {
            if memory.is_inactive_low(self.zone, lru.is_file()) {
                memory.shrink_active(self.zone, lru, pages, control.caller.cpu);
                return Some(Step::Work);
            }
            if !memory.policy.spare_turn_scans_inactive {
                return None;
            }
            lru = Lru::inactive(lru.is_file());
        }
        let pages = if memory.policy.scans_whole_batches { BATCH_PAGES } else { pages };
        let mut inactive = InactiveShrink::new(self.zone, lru, pages, self.priority);
        match inactive.step(memory, control).or_result::<()>() {
            Ok(()) => Some(Step::Work),
            Err(step) => {
                self.inactive = Some(inactive);
                Some(step)
            }
        }
    }

    /// The active anonymous list's budget alone does not keep the rounds going.
    fn has_budget(&self) -> bool {
        let [inactive_anon, _, inactive_file, active_file] = self.left;
        inactive_anon | inactive_file | active_file != 0
    }

    fn is_enough(&self, memory: &Memory, control: &Control) -> bool {
        if self.priority >= DEF_PRIORITY {
            return false;
        }
        match memory.policy.zone_exit {
            ZoneExit::MoreThanBatch => control.reclaimed > u64::from(BATCH_PAGES) && !control.caller.kswapd,
            ZoneExit::AtTarget => control.reclaimed >= control.target,
        }
    }
}
