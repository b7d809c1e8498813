//! kswapd: reclaims in the background until every zone passes HIGH.
//!
//! *Models:* the main loop with its plain or two-stage sleep, and what it counts.
//! *Does not model:* freezing, the classzone of 2.6.38 and later.
//! *Follows:* docs/model/reclaim.md, sections 3.1 and 3.2; Linux 2.6.31 and 2.6.36, `mm/vmscan.c`, `kswapd`.

use super::balance::Balance;
use super::memory::Memory;
use super::step::Step;
use super::watermark::{AllocFlags, Mark};

/// kswapd as a machine that never ends. One step is at most one batch.
#[derive(Clone, Debug)]
pub struct Kswapd {
    cpu: usize,
    order: u8,
    stage: Stage,
    remaining_jiffies: u64,
}

#[derive(Clone, Debug)]
enum Stage {
    /// About to look for something to do.
    Top,
    /// In the short sleep.
    ShortSleep,
    /// In the long sleep.
    LongSleep,
    /// Balancing.
    Balance(Box<Balance>),
}

/// What kswapd is doing, for views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KswapdState {
    /// Sleeping for good, or about to.
    Asleep,
    /// In its first, short sleep.
    Dozing,
    /// Balancing at this priority.
    Balancing(u8),
}

impl Kswapd {
    /// kswapd, asleep, on a CPU.
    #[must_use]
    pub fn new(cpu: usize) -> Self {
        Self { cpu, order: 0, stage: Stage::LongSleep, remaining_jiffies: 0 }
    }

    /// What it is doing.
    #[must_use]
    pub fn state(&self) -> KswapdState {
        match &self.stage {
            Stage::Top | Stage::LongSleep => KswapdState::Asleep,
            Stage::ShortSleep => KswapdState::Dozing,
            Stage::Balance(balance) => KswapdState::Balancing(balance.priority()),
        }
    }

    /// Moves to another CPU, whose lists it uses from now on.
    pub fn set_cpu(&mut self, cpu: usize) {
        self.cpu = cpu;
        if let Stage::Balance(balance) = &mut self.stage {
            balance.set_cpu(cpu);
        }
    }

    /// Reports the end of a sleep: how many ticks of it were left, 0 if it was over.
    pub fn woken(&mut self, remaining_jiffies: u64) {
        self.remaining_jiffies = remaining_jiffies;
    }

    /// Takes a step. After [`Step::Sleep`], [`Self::woken`] comes first.
    pub fn step(&mut self, memory: &mut Memory) -> Step<()> {
        loop {
            match &mut self.stage {
                Stage::Top => {
                    let wanted = std::mem::take(&mut memory.kswapd.max_order);
                    if self.order < wanted {
                        self.order = wanted;
                        self.begin(memory);
                    } else if let Some(sleep) = self.try_to_sleep(memory) {
                        return sleep;
                    }
                }
                Stage::ShortSleep => {
                    let remaining = self.remaining_jiffies;
                    if let Some(sleep) = self.after_short_sleep(memory, remaining) {
                        return sleep;
                    }
                }
                Stage::LongSleep => self.wake_up(memory),
                Stage::Balance(balance) => match balance.step(memory).or_result() {
                    Ok(()) => self.stage = Stage::Top,
                    Err(step) => return step,
                },
            }
        }
    }

    fn try_to_sleep(&mut self, memory: &mut Memory) -> Option<Step<()>> {
        memory.kswapd.is_waiting = true;
        if !memory.policy.kswapd_two_stage_sleep {
            self.stage = Stage::LongSleep;
            return Some(Step::Sleep(None));
        }
        if !memory.is_sleep_premature(self.order, 0) {
            self.stage = Stage::ShortSleep;
            return Some(Step::Sleep(Some((memory.hz / 10).max(1))));
        }
        self.after_short_sleep(memory, 0)
    }

    /// The second stage: sleeps for good, or counts why not.
    fn after_short_sleep(&mut self, memory: &mut Memory, remaining: u64) -> Option<Step<()>> {
        if !memory.is_sleep_premature(self.order, remaining) {
            memory.kswapd.is_waiting = true;
            self.stage = Stage::LongSleep;
            return Some(Step::Sleep(None));
        }
        if remaining != 0 {
            memory.vmstat.kswapd_low_wmark_hit_quickly += 1;
        } else {
            memory.vmstat.kswapd_high_wmark_hit_quickly += 1;
        }
        self.wake_up(memory);
        None
    }

    fn wake_up(&mut self, memory: &mut Memory) {
        memory.kswapd.is_waiting = false;
        self.order = memory.kswapd.max_order;
        self.begin(memory);
    }

    fn begin(&mut self, memory: &mut Memory) {
        self.stage = Stage::Balance(Box::new(Balance::new(memory, self.order, self.cpu)));
    }
}

impl Memory {
    /// Whether kswapd must not sleep yet (section 3.2).
    fn is_sleep_premature(&self, order: u8, remaining: u64) -> bool {
        remaining != 0
            || self.zones.iter().any(|zone| {
                zone.is_populated()
                    && !zone.all_unreclaimable
                    && !zone.passes(Mark::High, order, 0, AllocFlags::default())
            })
    }
}
