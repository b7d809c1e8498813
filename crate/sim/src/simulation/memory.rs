//! The machine's memory within the simulation: who asks, who reclaims, who naps, and what becomes of the pages.
//!
//! *Models:* the costs of faults and of reclaim on a CPU, two reclaimers in each other's way, naps that end at a tick or when the
//! block layer says so, mappings that lose the pages reclaim takes.
//! *Does not model:* memory for bios, requests and slabs.
//! *Follows:* docs/model/reclaim.md, sections 0.5, 2.9 and 5.1.

use super::BlockedTask;
use super::oom::LastPage;
use super::operation::Outcome;
use super::reclaim_meter::ReclaimMeter;
use super::resident::Mapping;
use super::world::{Event, World};
use crate::mm::{Caller, FrameId, Kswapd, Memory, Nap, NapQueue, Owner, PageWrite, Request, Work};
use crate::observe::{BUCKETS, Series};
use crate::task::{TaskId, WaitOn};
use std::collections::VecDeque;

/// Even a step without a page takes some time, in nanoseconds.
const LEAST_STEP_NS: u64 = 100;
/// After so many steps in a row without a page a reclaimer goes round in circles: its steps are taken together, more and more of them,
const FREE_STEPS: u32 = 256;
/// up to 2 to this power, which take most of a millisecond.
const FREE_STEPS_SHIFT_MAX: u32 = 13;
/// Buckets of series as wide as this at first; they double as the run goes on.
const FINEST_BUCKET_NS: u64 = 1_000_000;

/// Memory, kswapd, and what the tasks have to do with them.
#[derive(Clone, Debug)]
pub(crate) struct MachineMemory {
    pub(crate) memory: Memory,
    pub(crate) kswapd: Kswapd,
    /// By number of the owner.
    pub(crate) mappings: Vec<Mapping>,
    /// The number of each file's mapping; above all numbers if it has none.
    pub(super) by_file: Vec<u32>,
    /// Frames that a task has taken for pages it is about to add.
    pub(crate) held: Vec<Vec<FrameId>>,
    /// Writes that a task has begun as a reclaimer and has yet to submit.
    pub(super) to_write: Vec<VecDeque<PageWrite>>,
    /// Whose page was last written to each swap slot.
    pub(super) slot_owners: Vec<Owner>,
    /// Numbers of regions that are gone.
    pub(super) free_regions: Vec<u32>,
    /// Frames to be freed as soon as nobody has them in hand.
    pub(super) orphans: Vec<FrameId>,
    /// Until when each CPU is in the middle of a batch of reclaim, in nanoseconds.
    reclaims_until_ns: Vec<u64>,
    /// Steps of reclaim without a page that each task has taken in a row.
    free_steps: Vec<u32>,
    /// What each task's last slow allocation came to; taken by whoever asked.
    granted: Vec<Option<Option<FrameId>>>,
    /// Pages that the kernel held when the run began.
    pub(super) kernel_pages_at_start: u64,
    /// CPU time of tasks on the allocator's slow path, in nanoseconds.
    pub(crate) direct_reclaim_ns: u64,
    /// Free pages over time, by zone.
    pub(crate) free: Vec<Series>,
    /// What else is seen of reclaim over time.
    pub(crate) meter: ReclaimMeter,
    /// When a page was last handed out or given back, as far as those who want one have noticed.
    pub(super) last_page: LastPage,
    /// Tasks that want memory and can never get any, with what each waits for.
    pub(super) hopeless: Vec<BlockedTask>,
    /// A task has called the OOM killer, and there was nobody to kill.
    pub(crate) out_of_memory: Option<TaskId>,
}

impl MachineMemory {
    pub(super) fn new(memory: Memory, cpus: usize, tasks: usize) -> Self {
        let series = || Series::new(FINEST_BUCKET_NS, BUCKETS);
        Self {
            kswapd: Kswapd::new(0),
            mappings: Vec::new(),
            by_file: Vec::new(),
            held: vec![Vec::new(); tasks],
            to_write: vec![VecDeque::new(); tasks],
            slot_owners: Vec::new(),
            free_regions: Vec::new(),
            orphans: Vec::new(),
            reclaims_until_ns: vec![0; cpus],
            free_steps: vec![0; tasks],
            granted: vec![None; tasks],
            kernel_pages_at_start: memory.kernel_pages(),
            direct_reclaim_ns: 0,
            free: memory.zones().iter().map(|_| series()).collect(),
            meter: ReclaimMeter::default(),
            last_page: LastPage::default(),
            hopeless: Vec::new(),
            out_of_memory: None,
            memory,
        }
    }

    /// A nap's length so far is told, now that it is over.
    pub(crate) fn napped(&mut self, nap: &Nap, slept_ns: u64) {
        self.memory.napped(nap, slept_ns);
    }

    /// What the task's slow allocation came to.
    pub(crate) fn take_granted(&mut self, me: TaskId) -> Option<Option<FrameId>> {
        self.granted.get_mut(me.index()).and_then(Option::take)
    }

    /// Pages that were found and have not been put anywhere yet.
    pub(super) fn pages_in_hand(&self) -> u64 {
        let held: usize = self.held.iter().map(Vec::len).sum();
        (held + self.granted.iter().filter(|granted| matches!(granted, Some(Some(_)))).count()) as u64
    }

    pub(crate) fn grant(&mut self, me: TaskId, frame: Option<FrameId>) {
        if let Some(slot) = self.granted.get_mut(me.index()) {
            *slot = Some(frame);
        }
    }
}

impl World {
    /// How a task asks for memory.
    pub(crate) fn caller(&self, me: TaskId) -> Caller {
        Caller::on_cpu(self.scheduler.cpu_of(me).unwrap_or(0))
    }

    /// What a step of reclaim or of the allocator costs, as the outcome of the task's step.
    pub(crate) fn reclaim_cost_ns(&mut self, me: TaskId, work: &Work) -> u64 {
        let plain = u64::from(work.looked_at) * self.host.scan_page_ns
            + u64::from(work.freed) * self.host.free_page_ns;
        if let Some(memory) = &mut self.memory {
            let free_steps = &mut memory.free_steps[me.index()];
            *free_steps = if plain == 0 { *free_steps + 1 } else { 0 };
            if plain == 0 {
                *free_steps = (*free_steps).min(2 * FREE_STEPS);
                let circles = free_steps.saturating_sub(FREE_STEPS) / 16;
                return LEAST_STEP_NS << circles.min(FREE_STEPS_SHIFT_MAX);
            }
        }
        let cpu = self.scheduler.cpu_of(me).unwrap_or(0);
        let now_ns = self.now_ns;
        let contended_percent = self.host.contended_percent;
        let Some(memory) = &mut self.memory else { return plain };
        let mut others = memory.reclaims_until_ns.iter().enumerate();
        let is_contended = others.any(|(other, &until_ns)| other != cpu && until_ns > now_ns);
        let cost_ns = if is_contended { plain * contended_percent / 100 } else { plain };
        if work.batches != 0 {
            memory.reclaims_until_ns[cpu] = now_ns + cost_ns;
        }
        cost_ns
    }

    /// Carries out what memory management has asked the rest of the machine for, on behalf of `me`.
    pub(crate) fn follow_up_memory(&mut self, me: TaskId) {
        self.watch_reclaim();
        let now_ns = self.now_ns;
        let Some(memory) = &mut self.memory else { return };
        for (series, zone) in memory.free.iter_mut().zip(memory.memory.zones()) {
            series.set(now_ns, zone.free.max(0).unsigned_abs());
        }
        if memory.memory.out.is_empty() {
            self.free_orphans();
            return;
        }
        let mut out = std::mem::take(&mut memory.memory.out);
        // A page is unmapped before it is written or taken, so this order is safe.
        for unmapped in &out.unmapped {
            if let Some(mapping) = memory.mappings.get_mut(unmapped.owner.mapping as usize) {
                mapping.table.clear(unmapped.owner.index);
                mapping.cache(unmapped.owner.index, unmapped.frame);
            }
        }
        for write in &out.writes {
            self.page_out(me, write);
        }
        if !out.writes.is_empty() {
            self.note_dirty_pages();
        }
        for removed in &out.removed {
            self.page_removed(removed);
        }
        let (wakes_kswapd, wakes_flushers_pages) = (out.wake_kswapd, out.wake_flushers_pages);
        out.clear();
        if let Some(memory) = &mut self.memory {
            // Keep the allocations.
            memory.memory.out = out;
        }
        self.free_orphans();
        if wakes_flushers_pages != 0 {
            self.wake_flushers(wakes_flushers_pages);
        }
        if wakes_kswapd && let Some(kswapd) = self.threads.kswapd {
            let sleeps = self.tasks[kswapd.index()].wait.as_ref();
            if sleeps.is_some_and(|wait| matches!(wait.on, WaitOn::Work | WaitOn::Doze)) {
                self.wake(kswapd, None);
            }
        }
    }

    /// A nap that begins now: it ends at a tick at the latest.
    pub(crate) fn begin_nap(&mut self, me: TaskId, queue: NapQueue, jiffies: u64) -> Outcome {
        self.wait_at_most(me, WaitOn::Congestion(queue), jiffies)
    }

    /// A wait that ends at the latest at the `jiffies`-th tick.
    pub(crate) fn wait_at_most(&mut self, me: TaskId, on: WaitOn, jiffies: u64) -> Outcome {
        let wake_ns = self.clock.timer_ns(self.now_ns, jiffies);
        let number = self.tasks[me.index()].upcoming_wait_number();
        self.schedule(wake_ns, Event::Wake { task: me, number });
        Outcome::Wait(on)
    }

    /// Requests of these directions were freed on a queue that is not full: whoever sleeps for congestion of the kind wakes up
    /// (section 5.1, R5.4), whether or not anything was congested.
    pub(crate) fn wake_congested(&mut self, freed: [bool; 2]) {
        if self.blocked.is_empty() {
            return;
        }
        self.wake_all(None, |on| match on {
            WaitOn::Congestion(queue) | WaitOn::Throttle(Some(queue)) => match queue {
                NapQueue::Async => freed[0],
                NapQueue::Sync => freed[1],
                NapQueue::AsyncThenSync => false,
            },
            _ => false,
        });
        if freed[0] {
            self.go_on_to_sync();
        }
    }

    /// Whoever sleeps on both queues, and has slept on the asynchronous one until now, sleeps on the other for what is left of
    /// its time (section 2.6, patch 3).
    fn go_on_to_sync(&mut self) {
        for &task in &self.blocked {
            if let Some(wait) = &mut self.tasks[task.index()].wait
                && wait.on == WaitOn::Congestion(NapQueue::AsyncThenSync)
            {
                wait.on = WaitOn::Congestion(NapQueue::Sync);
            }
        }
    }

    /// The memory's counters and state; `None` where memory is not simulated.
    #[must_use]
    pub fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref().map(|memory| &memory.memory)
    }

    /// Free pages over time, by the zone's name, for zones that have pages; nothing where memory is not simulated.
    pub fn free_pages_over_time(&self) -> impl Iterator<Item = (&'static str, &Series)> {
        let memory = self.memory.iter();
        memory.flat_map(|memory| {
            let zones = memory.memory.zones().iter().zip(&memory.free);
            zones.filter(|(zone, _)| zone.is_populated()).map(|(zone, series)| (zone.kind.name(), series))
        })
    }

    /// What of the simulated memory, and of the page cache, takes memory on the host, in bytes: nearly all that a machine with much
    /// memory takes. Cost: the files.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        let memory = self.memory.as_ref().map_or(0, |memory| {
            let tables = memory
                .mappings
                .iter()
                .flat_map(|mapping| [&mapping.table, &mapping.cached, &mapping.swapped]);
            let tables = tables.map(crate::mm::PageTable::bytes).sum::<usize>();
            memory.memory.bytes() + tables + std::mem::size_of_val(&memory.slot_owners[..])
        });
        memory + self.files.page_bytes()
    }

    /// Pages of kernel memory that page tables take.
    #[must_use]
    pub fn page_table_pages(&self) -> u64 {
        let tables = self.memory.iter().flat_map(|memory| &memory.mappings);
        tables.map(|mapping| u64::from(mapping.table.table_pages())).sum()
    }

    /// CPU time that tasks have spent on the allocator's slow path, in nanoseconds.
    #[must_use]
    pub fn direct_reclaim_ns(&self) -> u64 {
        self.memory.as_ref().map_or(0, |memory| memory.direct_reclaim_ns)
    }

    /// Tries to allocate at once, without ever waiting.
    pub(crate) fn allocate_at_once(&mut self, me: TaskId, request: Request) -> Option<FrameId> {
        let caller = self.caller(me);
        self.memory.as_mut()?.memory.allocate_at_once(request, &caller)
    }
}
