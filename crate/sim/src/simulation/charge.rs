//! Charging every nanosecond of every task to its cause.
//!
//! *Models:* a wait for I/O is split at the moment the device took the request: before it, by what the
//! queue was held for; after it, the waiter's own request in the device. A wait for the journal thread
//! is split by what that thread was charged with meanwhile.
//! *Does not model:* which of several requests that a task waits for mattered most: the last one counts.
//! *Follows:* ARCHITECTURE.md, rule 6.

use super::world::World;
use crate::block::BioCompletion;
use crate::observe::CauseKind;
use crate::task::{TaskId, TaskState, Wait, WaitOn};

impl World {
    /// Charges a task's time up to now. May be called at any moment; `completion` is that of the
    /// request that ends the wait just now, if one does.
    pub(crate) fn charge(&mut self, task: TaskId, completion: Option<&BioCompletion>) {
        let now_ns = self.now_ns;
        let (state, from_ns) = {
            let task = &self.tasks[task.index()];
            (task.state, task.charged_until_ns)
        };
        let elapsed_ns = now_ns - from_ns;
        if elapsed_ns == 0 {
            return;
        }
        let plain = match state {
            TaskState::Running => Some(CauseKind::OnCpu),
            TaskState::Runnable => Some(CauseKind::WaitCpu),
            TaskState::Exited => Some(CauseKind::Ended),
            TaskState::Blocked => None,
        };
        if let Some(kind) = plain {
            self.tasks[task.index()].causes.add(kind, elapsed_ns);
        } else if let Some(wait) = &self.tasks[task.index()].wait {
            self.charge_wait(task, wait.on, from_ns, completion);
        }
        self.tasks[task.index()].charged_until_ns = now_ns;
    }

    /// Charges everybody's time up to now.
    pub(crate) fn charge_all(&mut self) {
        for index in 0..self.tasks.len() {
            self.charge(TaskId(index as u32), None);
        }
        debug_assert!(self.tasks.iter().all(|task| task.causes.sum_ns() == self.now_ns));
    }

    /// A wait that begins now.
    pub(crate) fn begin_wait(&mut self, task: TaskId, on: WaitOn) {
        if on.is_for_journal_thread() && task != self.threads.journal {
            self.charge(self.threads.journal, None);
            self.tasks[task.index()].journal_before = self.tasks[self.threads.journal.index()].causes;
        }
        let number = self.tasks[task.index()].next_wait_number();
        let io_context = self.tasks[task.index()].submitter.io_context;
        self.tasks[task.index()].wait = Some(Wait {
            on,
            held: self.queue.held_totals(self.now_ns),
            served_ns: self.queue.served_ns(io_context, self.now_ns),
            bio: self.bio_waited_for(task, on),
            number,
        });
    }

    fn charge_wait(&mut self, task: TaskId, on: WaitOn, from_ns: u64, completion: Option<&BioCompletion>) {
        let kind = match on {
            on if on.is_io() => return self.charge_io_wait(task, from_ns, completion),
            on if on.is_for_journal_thread() && task != self.threads.journal => {
                self.charge(self.threads.journal, None);
                let after = self.tasks[self.threads.journal.index()].causes;
                let waiter = &mut self.tasks[task.index()];
                waiter.causes.add_via_journal(&waiter.journal_before, &after);
                waiter.journal_before = after;
                return;
            }
            WaitOn::FreeRequest(_) => CauseKind::NoFreeRequest,
            WaitOn::Time => CauseKind::Sleep,
            WaitOn::Work | WaitOn::Doze => CauseKind::Work,
            WaitOn::Congestion(_) => CauseKind::Congestion,
            WaitOn::Killed => CauseKind::OutOfMemory,
            WaitOn::Throttle(_) => CauseKind::Throttled,
            WaitOn::BusyFile(_) => CauseKind::FileBusy,
            WaitOn::Meet(_) => CauseKind::Start,
            _ => CauseKind::Journal,
        };
        self.tasks[task.index()].causes.add(kind, self.now_ns - from_ns);
    }

    fn charge_io_wait(&mut self, task: TaskId, from_ns: u64, completion: Option<&BioCompletion>) {
        let now_ns = self.now_ns;
        let io_context = self.tasks[task.index()].submitter.io_context;
        let held_now = self.queue.held_totals(now_ns);
        let served_now_ns = self.queue.served_ns(io_context, now_ns);
        let waiter = &mut self.tasks[task.index()];
        let Some(wait) = &mut waiter.wait else { return };
        let started = completion.copied().or_else(|| {
            let (tag, generation) = wait.bio?;
            self.ios.is_current(tag, generation).then(|| self.queue.started(tag)).flatten()
        });
        // Before the device took the request: what held it. Afterwards: the device.
        let (waited_ns, held, served_ns) = match started {
            Some(start) if start.started_ns <= from_ns => (0, wait.held, wait.served_ns),
            // The waiter may wait for somebody else's request: then that one's service is not its own.
            Some(start) => (
                start.started_ns - from_ns,
                start.held_at_start,
                start.served_at_start_ns.clamp(wait.served_ns, served_now_ns.max(wait.served_ns)),
            ),
            None => (now_ns - from_ns, held_now, served_now_ns),
        };
        let causes = &mut waiter.causes;
        if waited_ns != 0 {
            causes.add_held(&held.since(&wait.held), served_ns - wait.served_ns, waited_ns);
        }
        causes.add(CauseKind::InDevice, now_ns - from_ns - waited_ns);
        wait.held = held_now;
        wait.served_ns = served_now_ns;
    }
}
