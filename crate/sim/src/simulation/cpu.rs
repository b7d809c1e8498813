//! Tasks on CPUs: running a step, running ahead of the event queue, blocking, waking, switching.

use super::operation::Outcome;
use super::world::{Event, World};
use crate::block::BioCompletion;
use crate::observe::{TaskTrace, TraceKind};
use crate::task::{Placement, TaskId, TaskState, WaitOn};

/// A task that takes so many steps in no time is made to compute for a moment.
const FREE_STEPS_MAX: u32 = 10_000;
/// How long, in nanoseconds.
const FREE_STEPS_COST_NS: u64 = 1_000;

impl World {
    /// Lets one CPU that can go on at this moment take a step; false if none can.
    pub(crate) fn run_ready_cpu(&mut self) -> bool {
        let (mut ready, mut ready_cpus) = (None, 0);
        for cpu in 0..self.cpus.len() {
            if self.cpus[cpu].reschedule {
                self.make_way(cpu);
            }
            if self.scheduler.current(cpu).is_none() {
                self.pick_next(cpu);
            }
            if self.scheduler.current(cpu).is_some() && self.cpus[cpu].step_end_ns.is_none() {
                ready.get_or_insert(cpu);
                ready_cpus += 1;
            }
        }
        let Some(cpu) = ready else { return false };
        self.arm_slice_event(cpu);
        self.run_on(cpu, ready_cpus == 1);
        true
    }

    /// Runs the task on `cpu`: uses up its CPU time, else takes its next step.
    #[inline]
    fn run_on(&mut self, cpu: usize, is_alone: bool) {
        let Some(task) = self.scheduler.current(cpu) else { return };
        let left_ns = std::mem::take(&mut self.tasks[task.index()].cpu_left_ns);
        if left_ns != 0 {
            let end_ns = self.now_ns + left_ns;
            if is_alone && end_ns < self.horizon_ns() {
                // Run to block: nothing can happen before, so time simply moves on.
                self.set_now(end_ns);
            } else {
                self.begin_timed_step(cpu, end_ns);
            }
            return;
        }
        self.counters.events += 1;
        self.step(task, cpu);
    }

    /// The moment before which nothing but the running task can change anything.
    #[inline]
    fn horizon_ns(&self) -> u64 {
        let limit = self.limits.time_ns.min(self.pause_ns);
        self.next_event_ns().map_or(limit, |next| next.min(limit))
    }

    #[inline]
    fn begin_timed_step(&mut self, cpu: usize, end_ns: u64) {
        let state = &mut self.cpus[cpu];
        state.step_generation = state.step_generation.wrapping_add(1);
        state.step_end_ns = Some(end_ns);
        let event = Event::Cpu { cpu: cpu as u32, generation: state.step_generation };
        self.schedule(end_ns, event);
    }

    pub(crate) fn step_done(&mut self, cpu: usize, generation: u32) {
        let state = &mut self.cpus[cpu];
        if state.step_generation == generation {
            state.step_end_ns = None;
        }
    }

    #[inline]
    fn step(&mut self, task: TaskId, cpu: usize) {
        let index = task.index();
        self.guard_free_steps(index);
        // A step never looks at its own stack, and the frames stay where they are.
        let mut stack = std::mem::take(&mut self.stacks[index]);
        let outcome = stack.last_mut().map(|frame| frame.step(self, task));
        self.stacks[index] = stack;
        let Some(outcome) = outcome else {
            self.exit(task, cpu);
            return;
        };
        match outcome {
            Outcome::Continue => {}
            Outcome::Done => {
                self.stacks[index].pop();
            }
            Outcome::Cpu(ns) => {
                let per_mille = self.host.jitter_per_mille;
                let task = &mut self.tasks[index];
                task.cpu_left_ns += if per_mille == 0 { ns } else { task.dice.jitter(ns, per_mille) };
            }
            Outcome::Exactly(ns) => self.tasks[index].cpu_left_ns += ns,
            Outcome::Call => self.stacks[index].extend(self.called.take()),
            Outcome::Wait(on) => self.block(task, cpu, on),
        }
    }

    #[inline]
    fn guard_free_steps(&mut self, index: usize) {
        let now_ns = self.now_ns;
        let task = &mut self.tasks[index];
        if task.free_since_ns != now_ns {
            task.free_since_ns = now_ns;
            task.free_steps = 0;
        }
        task.free_steps += 1;
        if task.free_steps >= FREE_STEPS_MAX {
            task.free_steps = 0;
            task.cpu_left_ns += FREE_STEPS_COST_NS;
        }
    }

    /// Gives an idle CPU to the first task that wants it.
    #[inline]
    fn pick_next(&mut self, cpu: usize) {
        let Some(task) = self.scheduler.pick(self.now_ns, cpu) else { return };
        self.charge(task, None);
        let state = &mut self.cpus[cpu];
        state.switch_generation = state.switch_generation.wrapping_add(1);
        state.slice_event = false;
        state.step_end_ns = None;
        self.counters.context_switches += 1;
        let switch_ns = self.host.switch_ns;
        let running = &mut self.tasks[task.index()];
        running.state = TaskState::Running;
        running.cpu_left_ns += switch_ns;
        self.record(Some(task), TraceKind::Task(task.0, TaskTrace::Running));
    }

    /// Takes the CPU from its task, which stays runnable.
    fn make_way(&mut self, cpu: usize) {
        self.cpus[cpu].reschedule = false;
        let Some(task) = self.scheduler.current(cpu) else { return };
        self.charge(task, None);
        let left_ns = self.cut_step(cpu);
        let running = &mut self.tasks[task.index()];
        running.cpu_left_ns += left_ns;
        running.state = TaskState::Runnable;
        self.scheduler.take_off(self.now_ns, cpu, true);
        self.record(Some(task), TraceKind::Task(task.0, TaskTrace::Runnable));
    }

    /// Cuts the step in progress short; returns what is left of it, in nanoseconds.
    fn cut_step(&mut self, cpu: usize) -> u64 {
        let now_ns = self.now_ns;
        let state = &mut self.cpus[cpu];
        state.step_generation = state.step_generation.wrapping_add(1);
        state.step_end_ns.take().map_or(0, |end| end - now_ns)
    }

    /// An interrupt keeps the task on the first CPU from going on.
    pub(crate) fn delay_interrupted_task(&mut self) {
        let interrupt_ns = self.host.interrupt_ns;
        if self.cpus[0].step_end_ns.is_some() && interrupt_ns != 0 {
            let end_ns = self.now_ns + self.cut_step(0) + interrupt_ns;
            self.begin_timed_step(0, end_ns);
        }
    }

    /// Makes sure that the slice of the task on `cpu` ends while others want the CPU.
    fn arm_slice_event(&mut self, cpu: usize) {
        if self.cpus[cpu].slice_event {
            return;
        }
        let Some(end_ns) = self.scheduler.slice_end_ns(cpu) else { return };
        self.cpus[cpu].slice_event = true;
        let event = Event::Slice { cpu: cpu as u32, generation: self.cpus[cpu].switch_generation };
        // The kernel looks at its ticks.
        let tick_ns = self.clock.timer_ns(end_ns.max(self.now_ns), 1);
        self.schedule(tick_ns, event);
    }

    pub(crate) fn slice_over(&mut self, cpu: usize, generation: u32) {
        if self.cpus[cpu].switch_generation != generation {
            return;
        }
        self.cpus[cpu].slice_event = false;
        if self.scheduler.is_somebody_behind(self.now_ns, cpu) {
            self.cpus[cpu].reschedule = true;
        } else {
            self.arm_slice_event(cpu);
        }
    }

    fn block(&mut self, task: TaskId, cpu: usize, on: WaitOn) {
        self.charge(task, None);
        self.scheduler.take_off(self.now_ns, cpu, false);
        self.cpus[cpu].reschedule = false;
        self.begin_wait(task, on);
        self.tasks[task.index()].state = TaskState::Blocked;
        self.blocked.push(task);
        if let WaitOn::FreeRequest(sync) = on {
            self.request_waiters[sync.index()].push_back(task);
        }
        self.record(Some(task), TraceKind::Task(task.0, TaskTrace::Blocked(on.kind())));
    }

    /// A thread has nothing to do from the beginning.
    pub(crate) fn begin_asleep(&mut self, thread: TaskId) {
        self.begin_wait(thread, WaitOn::Work);
        self.tasks[thread.index()].state = TaskState::Blocked;
        self.blocked.push(thread);
    }

    fn exit(&mut self, task: TaskId, cpu: usize) {
        self.unmap_regions(task);
        self.unmap_files(task);
        self.charge(task, None);
        self.scheduler.take_off(self.now_ns, cpu, false);
        self.cpus[cpu].reschedule = false;
        self.tasks[task.index()].state = TaskState::Exited;
        self.processes_left -= 1;
        self.record(Some(task), TraceKind::Task(task.0, TaskTrace::Exited));
        let io_context = self.tasks[task.index()].submitter.io_context;
        if let Some(users) = self.io_context_users.get_mut(io_context as usize) {
            *users -= 1;
            if *users == 0 {
                self.with_queue(Some(task), |queue, now_ns, recorder, out| {
                    queue.context_exited(now_ns, io_context, recorder, out);
                });
            }
        }
    }

    /// Ends a task's wait. `completion` is the request's that ended it, if one did.
    pub(crate) fn wake(&mut self, task: TaskId, completion: Option<&BioCompletion>) {
        let index = task.index();
        if self.tasks[index].state != TaskState::Blocked {
            return;
        }
        self.charge(task, completion);
        if let Some(at) = self.blocked.iter().position(|&other| other == task) {
            self.blocked.remove(at);
        }
        let woken = &mut self.tasks[index];
        woken.wait = None;
        woken.state = TaskState::Runnable;
        if let Placement::Preempts(cpu) = self.scheduler.wake(self.now_ns, task) {
            self.cpus[cpu].reschedule = true;
        }
        self.record(Some(task), TraceKind::Task(task.0, TaskTrace::Runnable));
    }

    /// Wakes every task whose wait `ends`, in the order in which they blocked.
    pub(crate) fn wake_all(&mut self, completion: Option<&BioCompletion>, ends: impl Fn(WaitOn) -> bool) {
        let mut at = 0;
        while let Some(&task) = self.blocked.get(at) {
            if self.tasks[task.index()].wait.as_ref().is_some_and(|wait| ends(wait.on)) {
                self.wake(task, completion);
            } else {
                at += 1;
            }
        }
    }

    /// Wakes a kernel thread that has nothing to do; does nothing to one at work.
    pub(crate) fn wake_thread(&mut self, thread: TaskId) {
        if self.tasks[thread.index()].wait.as_ref().is_some_and(|wait| wait.on == WaitOn::Work) {
            self.wake(thread, None);
        }
    }
}
