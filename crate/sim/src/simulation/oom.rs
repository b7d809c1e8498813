//! The OOM killer, and the end of runs in which nobody gets memory any more.
//!
//! *Models:* the victim's choice up to 2.6.35 and from 2.6.36 on, one victim at a time, its death at the end of what it does in the
//! kernel, its access to the last pages.
//! *Does not model:* children, users and `oom_adj` (all processes are equals), the report in the log.
//! *Follows:* docs/model/reclaim.md, section 10.5; Linux 2.6.31, `mm/oom_kill.c`, `badness`; 2.6.36, `oom_badness` (from memory).

use super::BlockedTask;
use super::memory::MachineMemory;
use super::operation::Frame;
use super::resident::Backing;
use super::world::World;
use crate::mm::OomBadness;
use crate::observe::{Cause, CauseKind};
use crate::task::{TaskId, TaskKind, TaskState, WaitOn};

/// When nobody has given or got a page for so long, in nanoseconds, and nothing else is going on, nobody ever will.
const HOPELESS_NS: u64 = 60_000_000_000;

/// The last time a page was given back or handed out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LastPage {
    pages: u64,
    since_ns: u64,
}

impl MachineMemory {
    /// Pages that a process has mapped: in all, and those of them that are in memory or on swap.
    fn mapped_by(&self, mappings: &[(u32, u32)]) -> (u64, u64) {
        let held = |number: u32| {
            self.mappings.get(number as usize).map_or(0, |mapping| {
                // What reclaim has unmapped is noted in the page tables by its slot.
                let is_region = matches!(mapping.backing, Backing::Region(_));
                let unmapped = if is_region { mapping.cached.present() } else { 0 };
                u64::from(mapping.table.present())
                    + u64::from(mapping.swapped.present())
                    + u64::from(unmapped)
            })
        };
        let mapped = mappings.iter().map(|&(_, pages)| u64::from(pages)).sum();
        (mapped, mappings.iter().map(|&(number, _)| held(number)).sum())
    }
}

impl World {
    /// How bad a process is: who scores most is killed.
    pub(super) fn badness(&self, task: TaskId) -> u64 {
        let (Some(memory), Some(process)) =
            (&self.memory, self.processes.get(task.index() - self.first_process()))
        else {
            return 0;
        };
        let (mapped, held) = memory.mapped_by(&process.mappings());
        match memory.memory.policy().oom_badness {
            OomBadness::Mapped => {
                const SECOND_NS: u64 = 1_000_000_000;
                let root = |value: u64| value.isqrt().max(1);
                let on_cpu = Cause { kind: CauseKind::OnCpu, via_journal: false };
                let cpu_s = self.tasks[task.index()].causes.get(on_cpu) / SECOND_NS;
                mapped / root(cpu_s >> 3) / root(root((self.now_ns / SECOND_NS) >> 10))
            }
            OomBadness::Held => {
                let swap = memory.memory.swap().map_or(0, |swap| u64::from(swap.total_slots()));
                let present = memory.memory.zones().iter().map(|zone| u64::from(zone.present));
                held * 1000 / (present.sum::<u64>() + swap).max(1)
            }
        }
    }

    /// `me` finds no memory: a process is killed for it, unless one is dying already.
    pub(crate) fn out_of_memory_for(&mut self, me: TaskId) {
        let first = self.first_process();
        let last = first + self.processes.len();
        let lives = |&index: &usize| self.tasks[index].state != TaskState::Exited;
        let alive: Vec<TaskId> = (first..last).filter(lives).map(|index| TaskId(index as u32)).collect();
        if alive.iter().any(|task| self.processes[task.index() - first].killed) {
            return;
        }
        let (mut victim, mut worst) = (None, 0);
        for task in alive {
            let points = self.badness(task);
            if points > worst {
                (victim, worst) = (Some(task), points);
            }
        }
        let Some(victim) = victim else {
            if let Some(memory) = &mut self.memory {
                memory.out_of_memory = Some(me);
            }
            return;
        };
        if let Some(process) = self.process_mut(victim) {
            process.killed = true;
            process.totals.killed = true;
        }
        let sleeps = self.tasks[victim.index()].wait.as_ref();
        if sleeps.is_some_and(|wait| matches!(wait.on, WaitOn::Time | WaitOn::Meet(_))) {
            self.wake(victim, None);
        }
    }

    /// Called now and then by whoever finds no memory: whether there can ever be any.
    pub(crate) fn look_for_hope(&mut self, me: TaskId) {
        let now_ns = self.now_ns;
        let Some(memory) = &mut self.memory else { return };
        let zones = memory.memory.zones().iter();
        let pages = memory.memory.vmstat.pgfree + zones.map(|zone| zone.events.pgalloc).sum::<u64>();
        if memory.last_page.pages != pages {
            memory.last_page = LastPage { pages, since_ns: now_ns };
        }
        let is_long = now_ns - memory.last_page.since_ns > HOPELESS_NS;
        if is_long && self.ios.in_use() == 0 && self.used_pages() == 0 && self.everybody_wants_memory(me) {
            let hopeless = self.who_wants_memory(me);
            if let Some(memory) = &mut self.memory {
                memory.hopeless = hopeless;
            }
        }
    }

    fn live_processes(&self) -> impl Iterator<Item = TaskId> {
        let tasks = self.tasks.iter().enumerate();
        tasks
            .filter(|(_, task)| task.kind == TaskKind::Process && task.state != TaskState::Exited)
            .map(|(index, _)| TaskId(index as u32))
    }

    fn wants_memory(&self, me: TaskId, task: TaskId) -> bool {
        // `me` is just taking a step, and its frame is not on its stack meanwhile.
        let stack = &self.stacks[task.index()];
        task == me || stack.iter().any(|frame| matches!(frame, Frame::Allocate(_)))
    }

    fn everybody_wants_memory(&self, me: TaskId) -> bool {
        self.live_processes().all(|task| {
            let meets = self.tasks[task.index()].wait.as_ref();
            self.wants_memory(me, task) || meets.is_some_and(|wait| matches!(wait.on, WaitOn::Meet(_)))
        })
    }

    fn who_wants_memory(&self, me: TaskId) -> Vec<BlockedTask> {
        let tasks = self.live_processes().map(|task| {
            let wait = self.tasks[task.index()].wait.as_ref();
            BlockedTask {
                task: self.tasks[task.index()].name.clone(),
                waits_for: match wait {
                    Some(wait) if !self.wants_memory(me, task) => self.explain(wait.on),
                    _ => self.memory_in_words(),
                },
            }
        });
        tasks.collect()
    }

    /// Processes that want memory and can never get any.
    pub(crate) fn take_hopeless(&mut self) -> Option<Vec<BlockedTask>> {
        let hopeless = &mut self.memory.as_mut()?.hopeless;
        (!hopeless.is_empty()).then(|| std::mem::take(hopeless))
    }

    /// Who has called the OOM killer in vain, and how memory stands.
    pub(crate) fn out_of_memory(&self) -> Option<BlockedTask> {
        let asker = self.memory.as_ref()?.out_of_memory?;
        let task = self.tasks[asker.index()].name.clone();
        Some(BlockedTask { task, waits_for: self.memory_in_words() })
    }

    fn memory_in_words(&self) -> String {
        let zones = self.memory().into_iter().flat_map(|memory| memory.zones());
        let zones = zones.filter(|zone| zone.is_populated()).map(|zone| {
            let [min, _, _] = zone.marks;
            let given_up = if zone.all_unreclaimable { ", given up" } else { "" };
            format!(
                "{}: {} of {} pages free (min {min}){given_up}",
                zone.kind.name(),
                zone.free,
                zone.present
            )
        });
        let zones: Vec<String> = zones.collect();
        let swap = self.memory().and_then(|memory| memory.swap());
        let swap = swap.map_or_else(String::new, |swap| {
            format!("; {} of {} swap slots taken", swap.used_slots(), swap.total_slots())
        });
        format!("a page; {}; page tables {} pages{swap}", zones.join(", "), self.page_table_pages())
    }
}
