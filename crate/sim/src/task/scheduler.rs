//! CPUs and the run queue: who runs next, and who takes a CPU from whom.
//!
//! *Models:* the fair scheduler's order by virtual run time, the credit of sleepers, wake-up
//! preemption, slices; all tasks of equal weight.
//! *Does not model:* one run queue per CPU and load balancing (all CPUs share one), nice levels, real
//! time classes, buddies, groups.
//! *Follows:* Linux 2.6.35 `kernel/sched_fair.c`: `place_entity`, `check_preempt_wakeup`,
//! `check_preempt_tick`, `sched_slice`.

use super::TaskId;

/// Target latency for one CPU: everybody runs once in this time.
const LATENCY_NS: u64 = 6_000_000;
/// Nobody's slice is shorter, for one CPU.
const MIN_GRANULARITY_NS: u64 = 2_000_000;
/// A woken task takes a CPU only from one that is further ahead than this, for one CPU.
const WAKEUP_GRANULARITY_NS: u64 = 1_000_000;
/// Where virtual run time starts: a sleeper's credit must not go below zero.
const FIRST_VRUNTIME_NS: u64 = 1_000_000_000;

/// Where a woken task has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Into the run queue; an idle CPU, if there is one, will find it.
    Queued,
    /// Into the run queue, and the task on this CPU must make way.
    Preempts(usize),
}

#[derive(Clone, Copy, Debug, Default)]
struct Cpu {
    current: Option<TaskId>,
    /// Since when the current task's virtual run time has not been advanced.
    since_ns: u64,
    /// Since when it has had this CPU without a break.
    switched_in_ns: u64,
}

/// The CPUs and the shared run queue.
#[derive(Clone, Debug)]
pub struct Scheduler {
    cpus: Vec<Cpu>,
    /// Runnable tasks in the order in which they will run.
    queue: Vec<TaskId>,
    vruntime_ns: Vec<u64>,
    min_vruntime_ns: u64,
    latency_ns: u64,
    min_granularity_ns: u64,
    wakeup_granularity_ns: u64,
}

impl Scheduler {
    /// A scheduler for `cpus` CPUs (1 or more) and `tasks` tasks, none of them runnable.
    #[must_use]
    pub fn new(cpus: usize, tasks: usize) -> Self {
        let cpus = cpus.max(1);
        let factor = 1 + u64::from(cpus.ilog2());
        Self {
            cpus: vec![Cpu::default(); cpus],
            queue: Vec::new(),
            vruntime_ns: vec![FIRST_VRUNTIME_NS; tasks],
            min_vruntime_ns: FIRST_VRUNTIME_NS,
            latency_ns: LATENCY_NS * factor,
            min_granularity_ns: MIN_GRANULARITY_NS * factor,
            wakeup_granularity_ns: WAKEUP_GRANULARITY_NS * factor,
        }
    }

    /// How many CPUs there are.
    #[must_use]
    pub fn cpus(&self) -> usize {
        self.cpus.len()
    }

    /// The task on a CPU.
    #[must_use]
    #[inline]
    pub fn current(&self, cpu: usize) -> Option<TaskId> {
        self.cpus[cpu].current
    }

    /// The CPU a task has.
    #[must_use]
    #[inline]
    pub fn cpu_of(&self, task: TaskId) -> Option<usize> {
        self.cpus.iter().position(|cpu| cpu.current == Some(task))
    }

    /// Tasks that want a CPU and have none.
    #[must_use]
    pub fn waiting(&self) -> &[TaskId] {
        &self.queue
    }

    /// A task has woken up: a sleeper is placed at most half a latency behind the others.
    pub fn wake(&mut self, now_ns: u64, task: TaskId) -> Placement {
        self.update(now_ns);
        let floor = self.min_vruntime_ns - self.latency_ns / 2;
        let own = &mut self.vruntime_ns[task.index()];
        *own = (*own).max(floor);
        let woken = *own;
        self.insert(task);
        let mut victim = None;
        for (index, cpu) in self.cpus.iter().enumerate() {
            let Some(current) = cpu.current else { return Placement::Queued };
            let ahead = self.vruntime_ns[current.index()];
            if victim.is_none_or(|(_, most)| ahead > most) {
                victim = Some((index, ahead));
            }
        }
        match victim {
            Some((cpu, ahead)) if ahead > woken + self.wakeup_granularity_ns => Placement::Preempts(cpu),
            _ => Placement::Queued,
        }
    }

    /// Takes the task off a CPU; if it `stays_runnable` it queues again.
    pub fn take_off(&mut self, now_ns: u64, cpu: usize, stays_runnable: bool) {
        self.update(now_ns);
        if let Some(task) = self.cpus[cpu].current.take()
            && stays_runnable
        {
            self.insert(task);
        }
    }

    /// Gives a free CPU to the first task of the run queue.
    pub fn pick(&mut self, now_ns: u64, cpu: usize) -> Option<TaskId> {
        debug_assert!(self.cpus[cpu].current.is_none());
        if self.queue.is_empty() {
            return None;
        }
        let task = self.queue.remove(0);
        self.cpus[cpu] = Cpu { current: Some(task), since_ns: now_ns, switched_in_ns: now_ns };
        self.update(now_ns);
        Some(task)
    }

    /// When the task on `cpu` has used up its slice, if somebody else wants the CPU.
    #[must_use]
    #[inline]
    pub fn slice_end_ns(&self, cpu: usize) -> Option<u64> {
        if self.queue.is_empty() || self.cpus[cpu].current.is_none() {
            return None;
        }
        let running = self.cpus.iter().filter(|cpu| cpu.current.is_some()).count();
        let sharing = ((running + self.queue.len()) as u64).div_ceil(self.cpus.len() as u64).max(1);
        let slice = (self.latency_ns / sharing).max(self.min_granularity_ns);
        Some(self.cpus[cpu].switched_in_ns + slice)
    }

    /// Whether the first of the run queue has run less than the task on `cpu`.
    pub fn is_somebody_behind(&mut self, now_ns: u64, cpu: usize) -> bool {
        self.update(now_ns);
        match (self.cpus[cpu].current, self.queue.first()) {
            (Some(current), Some(first)) => {
                self.vruntime_ns[first.index()] < self.vruntime_ns[current.index()]
            }
            _ => false,
        }
    }

    /// Keeps the queue sorted; a task goes behind others of equal virtual run time.
    #[inline]
    fn insert(&mut self, task: TaskId) {
        let own = self.vruntime_ns[task.index()];
        let at = self.queue.partition_point(|other| self.vruntime_ns[other.index()] <= own);
        self.queue.insert(at, task);
    }

    /// Advances the virtual run time of running tasks, and the minimum that never goes back.
    #[inline]
    fn update(&mut self, now_ns: u64) {
        let mut least = self.queue.first().map(|task| self.vruntime_ns[task.index()]);
        for cpu in &mut self.cpus {
            let Some(task) = cpu.current else { continue };
            let own = &mut self.vruntime_ns[task.index()];
            *own += now_ns - cpu.since_ns;
            cpu.since_ns = now_ns;
            least = Some(least.map_or(*own, |least| least.min(*own)));
        }
        if let Some(least) = least {
            self.min_vruntime_ns = self.min_vruntime_ns.max(least);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READER: TaskId = TaskId(0);
    const WORKER: TaskId = TaskId(1);
    const OTHER: TaskId = TaskId(2);

    /// Two tasks are woken by an interrupt and run: the worker for 2 us, a reader for 70.
    fn round(scheduler: &mut Scheduler, at_ns: u64, reader: TaskId) -> Vec<TaskId> {
        scheduler.wake(at_ns, reader);
        scheduler.wake(at_ns, WORKER);
        let order = scheduler.waiting().to_vec();
        let mut now_ns = at_ns;
        while let Some(task) = scheduler.pick(now_ns, 0) {
            now_ns += if task == WORKER { 2_000 } else { 70_000 };
            scheduler.take_off(now_ns, 0, false);
        }
        order
    }

    /// Section 0.4, trace of two readers: woken by the same interrupt, the worker runs before a
    /// reader that has just been running, but after one that has slept through another's slice.
    #[test]
    fn who_runs_first_after_an_interrupt() {
        let mut scheduler = Scheduler::new(1, 3);
        let mut now_ns = 0;
        for _ in 0..200 {
            round(&mut scheduler, now_ns, READER);
            now_ns += 760_000;
        }
        assert_eq!(round(&mut scheduler, now_ns, READER), [WORKER, READER], "steady state");
        for _ in 0..130 {
            now_ns += 760_000;
            round(&mut scheduler, now_ns, OTHER);
        }
        now_ns += 760_000;
        assert_eq!(round(&mut scheduler, now_ns, READER), [READER, WORKER], "after a long sleep");
    }

    /// A sleeper takes the CPU from a task that has been computing, but two that share fairly do not
    /// take it from each other.
    #[test]
    fn wake_up_preemption_needs_a_lead() {
        let mut scheduler = Scheduler::new(1, 3);
        scheduler.wake(0, READER);
        scheduler.pick(0, 0);
        assert_eq!(scheduler.wake(500_000, WORKER), Placement::Queued);
        assert_eq!(scheduler.wake(20_000_000, OTHER), Placement::Preempts(0));
    }

    /// With somebody waiting, a slice is the latency shared by the runnable tasks.
    #[test]
    fn slices_share_the_latency() {
        let mut scheduler = Scheduler::new(1, 3);
        scheduler.wake(0, READER);
        scheduler.pick(0, 0);
        assert_eq!(scheduler.slice_end_ns(0), None);
        scheduler.wake(0, WORKER);
        assert_eq!(scheduler.slice_end_ns(0), Some(3_000_000));
        scheduler.wake(0, OTHER);
        assert_eq!(scheduler.slice_end_ns(0), Some(2_000_000));
        assert!(scheduler.is_somebody_behind(3_000_000, 0));
    }
}
