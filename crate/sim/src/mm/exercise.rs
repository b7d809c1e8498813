//! One process streams through a mapping larger than memory, on a machine of two CPUs: the load of table TJ, without anything else.
//!
//! *Models:* faults on CPU 0, kswapd on CPU 1, the costs of a fault, of a look at a page and of freeing one, contention of two
//! reclaimers, ticks, page tables.
//! *Does not model:* files, processes, the scheduler: see `simulation/` for a whole machine.
//! *Follows:* docs/model/reclaim.md, sections 0.5 and 5.4.

use super::NewPage;
use super::frame::Owner;
use super::gfp::{Caller, Gfp, Request};
use super::kswapd::Kswapd;
use super::memory::{Memory, OwnerInfo};
use super::policy::MemoryPolicy;
use super::slow_path::Allocation;
use super::step::{Nap, NapSite, Step, Work};
use super::zone::MemoryLayout;
use crate::engine::{Clock, RandomStream};

/// Faults in a step.
const FAULTS_A_STEP: u64 = 8;
/// Pages that one page of page tables maps.
const PAGES_A_TABLE: u64 = 512;
/// A fault that takes longer than this is stuck: nobody comes to its help here.
const STUCK_NS: u64 = 60_000_000_000;
/// Even a step without a page takes some time, in nanoseconds.
const LEAST_STEP_NS: u64 = 100;

/// What things cost (section 0.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamCosts {
    /// A fault that finds memory, in nanoseconds.
    pub fault_ns: u64,
    /// A look at one page.
    pub look_ns: u64,
    /// Freeing it.
    pub free_ns: u64,
    /// A batch while the other CPU reclaims as well, in percent of its usual cost.
    pub contended_percent: u64,
    /// Everything varies by so many thousandths either way.
    pub jitter_per_mille: u64,
}

impl Default for StreamCosts {
    fn default() -> Self {
        Self { fault_ns: 3_000, look_ns: 400, free_ns: 800, contended_percent: 200, jitter_per_mille: 300 }
    }
}

/// The load.
#[derive(Clone, Debug)]
pub struct StreamExercise {
    /// The machine's memory.
    pub layout: MemoryLayout,
    /// The kernel's rules.
    pub policy: MemoryPolicy,
    /// Pages of the mapping, each touched once, in order.
    pub pages: u64,
    /// Ticks a second.
    pub hz: u32,
    /// Costs.
    pub costs: StreamCosts,
    /// Seed of the jitter.
    pub seed: u64,
}

/// What it did.
#[derive(Clone, Debug)]
pub struct StreamRun {
    /// The memory afterwards, with its counters.
    pub memory: Memory,
    /// Time from the first fault to the last, in nanoseconds.
    pub elapsed_ns: u64,
    /// Of it, faults that found memory, and page tables.
    pub fault_ns: u64,
    /// Of it, direct reclaim on the CPU.
    pub direct_ns: u64,
    /// Of it, the allocator's retry naps.
    pub retry_naps_ns: u64,
    /// Of it, direct reclaim's naps.
    pub reclaim_naps_ns: u64,
    /// The longest fault.
    pub longest_fault_ns: u64,
    /// Steps of both CPUs.
    pub steps: u64,
}

/// Runs the load to its end.
///
/// # Errors
/// Everything that is wrong with the layout; or the machine ran out of memory, or gets no further.
pub fn stream_exercise(exercise: &StreamExercise) -> Result<StreamRun, Vec<String>> {
    let memory = Memory::new(&exercise.layout, exercise.policy.clone(), 2, exercise.hz)?;
    let mut stream = Stream::new(exercise, memory);
    while stream.done < exercise.pages {
        if stream.task_ns <= stream.kswapd_ns {
            stream.step_task()?;
        } else {
            stream.step_kswapd();
        }
        stream.steps += 1;
    }
    Ok(StreamRun {
        elapsed_ns: stream.task_ns,
        fault_ns: stream.fault_ns,
        direct_ns: stream.direct_ns,
        retry_naps_ns: stream.memory.naps().at(NapSite::Retry).slept_ns,
        reclaim_naps_ns: stream.memory.naps().at(NapSite::Reclaim).slept_ns,
        longest_fault_ns: stream.longest_fault_ns,
        steps: stream.steps,
        memory: stream.memory,
    })
}

struct Stream {
    memory: Memory,
    clock: Clock,
    costs: StreamCosts,
    task_dice: RandomStream,
    kswapd_dice: RandomStream,
    mapping: u32,
    pages: u64,
    /// Pages touched.
    done: u64,
    /// The page table for the next page is there.
    has_table: bool,
    kswapd: Kswapd,
    /// A request on its slow way, and when its fault began.
    slow: Option<(Allocation, u64)>,
    /// When each takes its next step; kswapd's is infinite while it sleeps for good.
    task_ns: u64,
    kswapd_ns: u64,
    /// Until when its short sleep lasts.
    kswapd_sleep_end_ns: Option<u64>,
    /// In the middle of a batch.
    task_reclaims: bool,
    kswapd_reclaims: bool,
    fault_ns: u64,
    direct_ns: u64,
    longest_fault_ns: u64,
    steps: u64,
}

const TASK: Caller = Caller {
    cpu: 0,
    memalloc: false,
    dying: false,
    real_time: false,
    in_interrupt: false,
    kswapd: false,
    writing_to: 0,
};
const TABLE: Request = Request::page(Gfp::KERNEL.with(Gfp::REPEAT).with(Gfp::ZERO));
const PAGE: Request = Request::page(Gfp::HIGHUSER_MOVABLE.with(Gfp::COLD));

impl Stream {
    fn new(exercise: &StreamExercise, mut memory: Memory) -> Self {
        let mapping = memory.add_owner(OwnerInfo { has_writepage: true, ..OwnerInfo::default() });
        Self {
            memory,
            clock: Clock::new(exercise.hz, false),
            costs: exercise.costs,
            task_dice: RandomStream::new(exercise.seed, "stream"),
            kswapd_dice: RandomStream::new(exercise.seed, "kswapd"),
            mapping,
            pages: exercise.pages,
            done: 0,
            has_table: false,
            kswapd: Kswapd::new(1),
            slow: None,
            task_ns: 0,
            kswapd_ns: u64::MAX,
            kswapd_sleep_end_ns: None,
            task_reclaims: false,
            kswapd_reclaims: false,
            fault_ns: 0,
            direct_ns: 0,
            longest_fault_ns: 0,
            steps: 0,
        }
    }

    fn step_task(&mut self) -> Result<(), Vec<String>> {
        self.task_reclaims = false;
        if let Some((mut allocation, began_ns)) = self.slow.take() {
            if self.step_slow(&mut allocation, began_ns)? {
                self.slow = Some((allocation, began_ns));
            }
            return Ok(());
        }
        let from = self.done;
        let end = (from + FAULTS_A_STEP).min(self.pages);
        while self.done < end && self.slow.is_none() {
            let request = self.next_request();
            if request == TABLE {
                match self.memory.allocate_at_once(TABLE, &TASK) {
                    Some(_) => self.has_table = true,
                    None => self.slow = Some((Allocation::new(TABLE, TASK), 0)),
                }
                continue;
            }
            let table_end = (self.done / PAGES_A_TABLE + 1) * PAGES_A_TABLE;
            let wanted = end.min(table_end) - self.done;
            let got = self.memory.add_run(PAGE, &TASK, &self.page(), wanted as u32, |_| ());
            self.count_faults(u64::from(got));
            if u64::from(got) < wanted {
                self.slow = Some((Allocation::new(PAGE, TASK), 0));
            }
        }
        let faults = self.done - from;
        self.follow_up(self.task_ns);
        if faults != 0 {
            let cost = self.task_dice.jitter(faults * self.costs.fault_ns, self.costs.jitter_per_mille);
            self.fault_ns += cost;
            self.task_ns += cost;
            self.longest_fault_ns = self.longest_fault_ns.max(cost / faults);
        }
        // The slow way begins where the faults before it end.
        if let Some((_, began_ns)) = &mut self.slow {
            *began_ns = self.task_ns;
        }
        Ok(())
    }

    fn next_request(&self) -> Request {
        if self.done.is_multiple_of(PAGES_A_TABLE) && !self.has_table { TABLE } else { PAGE }
    }

    /// The next page of the mapping.
    fn page(&self) -> NewPage {
        let owner = Owner { mapping: self.mapping, index: self.done as u32 };
        NewPage { owner, anon: false, mapped: true, dirty: false, active: false }
    }

    fn count_faults(&mut self, faults: u64) {
        if faults != 0 {
            self.has_table = false;
            self.done += faults;
            self.memory.vmstat.pgfault += faults;
            self.memory.vmstat.pgmajfault += faults;
        }
    }

    fn use_frame(&mut self, frame: super::FrameId, request: Request) {
        if request == TABLE {
            self.has_table = true;
        } else {
            self.memory.add_page(frame, &self.page(), TASK.cpu);
            self.count_faults(1);
        }
    }

    /// One step of a request on its slow way; true if it is still on it.
    fn step_slow(&mut self, allocation: &mut Allocation, began_ns: u64) -> Result<bool, Vec<String>> {
        if self.task_ns - began_ns > STUCK_NS {
            return Err(vec!["no progress: a fault has waited for a minute".to_owned()]);
        }
        let step = allocation.step(&mut self.memory);
        let work = self.memory.take_work();
        let contended = self.kswapd_reclaims;
        let mut cost = cost_of(&self.costs, &work, contended, &mut self.task_dice);
        self.task_reclaims = work.batches != 0;
        self.follow_up(self.task_ns);
        self.direct_ns += cost;
        match step {
            Step::Work | Step::Yield => {
                if cost == 0 {
                    cost = LEAST_STEP_NS;
                    self.direct_ns += cost;
                }
                self.task_ns += cost;
                Ok(true)
            }
            Step::Nap(nap) => {
                self.task_ns += cost;
                self.nap_task(&nap);
                Ok(true)
            }
            Step::Done(Some(frame)) => {
                self.task_ns += cost;
                let request = allocation.request();
                self.use_frame(frame, request);
                let fault = self.task_dice.jitter(self.costs.fault_ns, self.costs.jitter_per_mille);
                if request == PAGE {
                    self.fault_ns += fault;
                    self.task_ns += fault;
                }
                self.longest_fault_ns = self.longest_fault_ns.max(self.task_ns - began_ns);
                Ok(false)
            }
            Step::Done(None) => Err(vec!["a page of the stream could not be had".to_owned()]),
            Step::Oom => Err(vec!["out of memory: the page tables fill it".to_owned()]),
            Step::WaitWritten(_) | Step::Sleep(_) => Err(vec!["nothing is written here".to_owned()]),
        }
    }

    fn nap_task(&mut self, nap: &Nap) {
        let end_ns = self.clock.timer_ns(self.task_ns, nap.jiffies);
        self.memory.napped(nap, end_ns - self.task_ns);
        self.task_ns = end_ns;
    }

    fn step_kswapd(&mut self) {
        self.kswapd_reclaims = false;
        if let Some(end_ns) = self.kswapd_sleep_end_ns.take() {
            let remaining = (end_ns - self.kswapd_ns.min(end_ns)).div_ceil(self.clock.tick_ns());
            self.kswapd.woken(remaining);
        }
        let step = self.kswapd.step(&mut self.memory);
        let work = self.memory.take_work();
        let cost = cost_of(&self.costs, &work, self.task_reclaims, &mut self.kswapd_dice);
        self.kswapd_reclaims = work.batches != 0;
        self.memory.out.clear();
        let now_ns = self.kswapd_ns + cost;
        self.kswapd_ns = match step {
            Step::Nap(nap) => {
                let end_ns = self.clock.timer_ns(now_ns, nap.jiffies);
                self.memory.napped(&nap, end_ns - now_ns);
                end_ns
            }
            Step::Sleep(Some(jiffies)) => {
                let end_ns = self.clock.timer_ns(now_ns, jiffies);
                self.kswapd_sleep_end_ns = Some(end_ns);
                end_ns
            }
            Step::Sleep(None) => u64::MAX,
            _ if cost == 0 => now_ns + LEAST_STEP_NS,
            _ => now_ns,
        };
    }

    /// Carries out what a step of the task asked for at `now_ns`.
    fn follow_up(&mut self, now_ns: u64) {
        if self.memory.out.wake_kswapd {
            self.kswapd_ns = self.kswapd_ns.min(now_ns);
        }
        self.memory.out.clear();
    }
}

fn cost_of(costs: &StreamCosts, work: &Work, contended: bool, dice: &mut RandomStream) -> u64 {
    let plain = u64::from(work.looked_at) * costs.look_ns + u64::from(work.freed) * costs.free_ns;
    if plain == 0 {
        return 0;
    }
    let percent = if contended { costs.contended_percent } else { 100 };
    dice.jitter(plain * percent / 100, costs.jitter_per_mille)
}
