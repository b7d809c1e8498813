//! The allocator's slow path.
//!
//! *Models:* waking kswapd, the attempt at MIN, going without watermarks, direct reclaim, draining per-CPU lists, the retry nap, the OOM
//! killer, failing with a report.
//! *Does not model:* compaction (2.6.35 and later), cpusets, suspending.
//! *Follows:* docs/model/reclaim.md, sections 2.1 to 2.4 and 2.9, 0.5 (G2, G7); Linux 2.6.30, 2.6.31 and 2.6.37,
//! `mm/page_alloc.c`, `__alloc_pages_slowpath`.

use super::direct::DirectReclaim;
use super::frame::FrameId;
use super::gfp::{COSTLY_ORDER, Caller, Gfp, MAX_ORDER, Request};
use super::memory::Memory;
use super::policy::DrainRule;
use super::step::{NapSite, Step};
use super::watermark::{AllocFlags, Mark};
use super::zone::ZoneKind;

/// One request on its way. Steps until it is done; the result is a frame, or `None` if it failed.
#[derive(Clone, Debug)]
pub struct Allocation {
    request: Request,
    caller: Caller,
    /// The zone it prefers: its class.
    class: usize,
    stage: Stage,
    /// What the request may do, as found when kswapd was last woken for it.
    flags: Option<AllocFlags>,
    pages_reclaimed: u64,
    progress: u64,
}

/// Where a request is (section 2.9), for views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllocationState {
    /// On the fast path.
    Fast,
    /// Trying what the slow path allows.
    SlowTry,
    /// Reclaiming, at this priority.
    DirectReclaim(u8),
    /// Trying after reclaim.
    Freelist,
    /// Between two attempts.
    Retry,
    /// Out of memory.
    Oom,
}

#[derive(Clone, Debug)]
enum Stage {
    Fast,
    Restart,
    Rebalance,
    Reclaim(Box<DirectReclaim>),
    AfterReclaim,
    Oom,
}

impl Allocation {
    /// A request on the fast path.
    #[must_use]
    pub fn new(request: Request, caller: Caller) -> Self {
        Self { request, caller, class: 0, stage: Stage::Fast, flags: None, pages_reclaimed: 0, progress: 0 }
    }

    /// The request.
    #[must_use]
    pub fn request(&self) -> Request {
        self.request
    }

    /// Where it is.
    #[must_use]
    pub fn state(&self) -> AllocationState {
        match &self.stage {
            Stage::Fast => AllocationState::Fast,
            Stage::Restart => AllocationState::SlowTry,
            Stage::Rebalance => AllocationState::Retry,
            Stage::Reclaim(direct) => AllocationState::DirectReclaim(direct.priority()),
            Stage::AfterReclaim => AllocationState::Freelist,
            Stage::Oom => AllocationState::Oom,
        }
    }

    /// The task has been chosen by the OOM killer. If it called the killer itself it starts over without watermarks, but for 2.6.31, where
    /// what it may do is looked at only once and it fails; if it was in the middle of reclaim it fails from 2.6.31 on.
    pub fn set_dying(&mut self) {
        self.caller.dying = true;
    }

    fn flags(&self) -> AllocFlags {
        self.flags.unwrap_or_default()
    }

    fn attempt(&self, memory: &mut Memory, mark: Mark, flags: AllocFlags) -> Option<Step<Option<FrameId>>> {
        let frame = memory.take_from_freelist(self.request, self.caller.cpu, mark, flags)?;
        Some(Step::Done(Some(FrameId(frame))))
    }

    /// Takes a step.
    pub fn step(&mut self, memory: &mut Memory) -> Step<Option<FrameId>> {
        loop {
            let outcome = match &mut self.stage {
                Stage::Fast => self.fast(memory),
                Stage::Restart => self.restart(memory),
                Stage::Rebalance => self.rebalance(memory),
                Stage::Reclaim(direct) => match direct.step(memory).or_result() {
                    Ok(progress) => {
                        self.progress = progress;
                        self.stage = Stage::AfterReclaim;
                        None
                    }
                    Err(step) => Some(step),
                },
                Stage::AfterReclaim => self.after_reclaim(memory),
                Stage::Oom => self.oom(memory),
            };
            if let Some(step) = outcome {
                return step;
            }
        }
    }

    fn fast(&mut self, memory: &mut Memory) -> Option<Step<Option<FrameId>>> {
        if usize::from(self.request.order) >= MAX_ORDER {
            return Some(self.fail(memory));
        }
        let Some(class) = memory.preferred_zone(self.request.gfp.highest_zone()) else {
            return Some(self.fail(memory));
        };
        self.class = class;
        self.stage = Stage::Restart;
        self.attempt(memory, Mark::Low, AllocFlags::default())
    }

    /// Wakes kswapd and tries what the slow path allows.
    fn restart(&mut self, memory: &mut Memory) -> Option<Step<Option<FrameId>>> {
        if self.flags.is_none() || memory.policy.restart_wakes_kswapd {
            memory.wake_kswapd(self.request);
            self.flags = Some(AllocFlags::of(self.request.gfp, &self.caller, memory.policy()));
        }
        let marked = AllocFlags { no_watermarks: false, ..self.flags() };
        if let Some(step) = self.attempt(memory, Mark::Min, marked) {
            return Some(step);
        }
        self.stage = Stage::Rebalance;
        None
    }

    fn rebalance(&mut self, memory: &mut Memory) -> Option<Step<Option<FrameId>>> {
        if !memory.policy.keeps_allocation_flags {
            self.flags = Some(AllocFlags::of(self.request.gfp, &self.caller, memory.policy()));
        }
        let flags = self.flags();
        if flags.no_watermarks {
            if let Some(step) = self.attempt(memory, Mark::Min, flags) {
                return Some(step);
            }
            // Nobody can free pages for those who free pages.
            if self.request.gfp.has(Gfp::NOFAIL) {
                return Some(memory.nap(NapSite::Retry, memory.policy.retry_nap, Some(self.class)));
            }
            return Some(self.fail(memory));
        }
        let gives_up = self.caller.dying && !self.request.gfp.has(Gfp::NOFAIL);
        if !self.request.gfp.has(Gfp::WAIT) || self.caller.memalloc || gives_up {
            return Some(self.fail(memory));
        }
        let direct = DirectReclaim::new(memory, self.request, self.class, &self.caller);
        self.stage = Stage::Reclaim(Box::new(direct));
        None
    }

    fn after_reclaim(&mut self, memory: &mut Memory) -> Option<Step<Option<FrameId>>> {
        let (gfp, order) = (self.request.gfp, self.request.order);
        if memory.policy.drain == DrainRule::HighOrder && order != 0 {
            memory.drain_all_pages();
        }
        let flags = self.flags();
        if self.progress != 0 {
            if let Some(step) = self.attempt(memory, Mark::Min, flags) {
                return Some(step);
            }
            if memory.policy.drain == DrainRule::AfterFailedAttempt {
                memory.drain_all_pages();
                if let Some(step) = self.attempt(memory, Mark::Min, flags) {
                    return Some(step);
                }
            }
        } else if gfp.has(Gfp::FS) && !gfp.has(Gfp::NORETRY) {
            self.stage = Stage::Oom;
            return None;
        }
        self.pages_reclaimed += self.progress;
        self.stage = Stage::Rebalance;
        if !self.retries() {
            return Some(self.fail(memory));
        }
        Some(memory.nap(NapSite::Retry, memory.policy.retry_nap, Some(self.class)))
    }

    /// Section 2.1, step 8.
    fn retries(&self) -> bool {
        let (gfp, order) = (self.request.gfp, self.request.order);
        !gfp.has(Gfp::NORETRY)
            && (order <= COSTLY_ORDER
                || gfp.has(Gfp::NOFAIL)
                || (gfp.has(Gfp::REPEAT) && self.pages_reclaimed < 1 << order))
    }

    /// Nothing could be reclaimed: looks for what a kill elsewhere has freed, else kills.
    fn oom(&mut self, memory: &mut Memory) -> Option<Step<Option<FrameId>>> {
        if let Some(step) = self.attempt(memory, Mark::High, AllocFlags::default()) {
            return Some(step);
        }
        if !self.request.gfp.has(Gfp::NOFAIL) {
            let below_normal = self.request.gfp.highest_zone() < ZoneKind::Normal;
            if self.request.order > COSTLY_ORDER || (memory.policy.no_oom_below_normal && below_normal) {
                return Some(self.fail(memory));
            }
        }
        memory.vmstat.oom_kills += 1;
        self.stage = Stage::Restart;
        Some(Step::Oom)
    }

    fn fail(&self, memory: &mut Memory) -> Step<Option<FrameId>> {
        memory.count_failure(self.request);
        Step::Done(None)
    }
}

impl Memory {
    /// Counts a failed request, and whether the log shows it: 10 reports in 5 seconds at most, and none for requests that asked for
    /// none (section 10.2).
    pub(crate) fn count_failure(&mut self, request: Request) {
        const INTERVAL_NS: u64 = 5_000_000_000;
        const BURST: u32 = 10;
        let order = usize::from(request.order).min(MAX_ORDER - 1);
        self.vmstat.failures[order] += 1;
        if request.gfp.has(Gfp::NOWARN) {
            return;
        }
        let log = &mut self.log;
        if log.reports == 0 || self.now_ns - log.began_ns > INTERVAL_NS {
            *log = LogLimit { began_ns: self.now_ns, reports: 0 };
        }
        log.reports += 1;
        self.vmstat.failures_logged += u64::from(log.reports <= BURST);
    }

    /// Says what time it is, for the log's limit. Goes forward only.
    pub fn set_now(&mut self, now_ns: u64) {
        self.now_ns = self.now_ns.max(now_ns);
    }
}

/// The log's current interval.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LogLimit {
    began_ns: u64,
    reports: u32,
}
