//! Which queue comes when: slices, keys, service trees, workload turns (sections 2.3, 2.6, 2.14).

use super::{Cfq, Decision, Kernel, Priority, QueueId, Tree, Tunables, WORKLOADS, Workload};
use crate::block::IoClass;
use crate::block::elevator::reference::plain::PlainQueue;

impl Cfq {
    pub(super) fn priority_slice(&self, sync: bool, priority: u64) -> u64 {
        let base = self.tunables.slice[usize::from(sync)] as i64;
        (base + base / 5 * (4 - priority as i64)) as u64
    }

    fn nominal_slice(&self, queue: QueueId) -> u64 {
        self.priority_slice(self.queues[queue].sync, self.queues[queue].priority)
    }

    /// 300 ms; the one group has all the weight.
    fn target_latency(&self) -> u64 {
        self.tunables.hz * 3 / 10
    }

    /// Section 2.14: the slice scaled to the number of queues, from for-2.6.33 on.
    pub(super) fn scaled_slice(&mut self, queue: QueueId) -> u64 {
        let slice = self.nominal_slice(queue);
        if self.kernel < Kernel::For33 || !self.tunables.low_latency {
            return slice;
        }
        let real_time = self.queues[queue].class == IoClass::RealTime;
        let queues = self.update_busy_average(real_time);
        scaled(slice, queues, self.target_latency(), &self.tunables)
    }

    fn update_busy_average(&mut self, real_time: bool) -> u64 {
        let priority = if real_time { Priority::RealTime } else { Priority::BestEffort };
        let busy = self.queues_of_priority(priority) as u64;
        let average = &mut self.busy_average[usize::from(real_time)];
        *average = busy_average(*average, busy);
        *average
    }

    /// `cfq_set_prio_slice`.
    pub(super) fn set_slice(&mut self, q: &PlainQueue, queue: QueueId) {
        let slice = self.scaled_slice(queue);
        let queue = &mut self.queues[queue];
        queue.slice_start = q.now;
        queue.slice_end = q.now + slice;
        queue.slice_new = false;
        self.note(q, Decision::Slice(slice));
    }

    pub(super) fn slice_used(&self, q: &PlainQueue, queue: QueueId) -> bool {
        !self.queues[queue].slice_new && q.now >= self.queues[queue].slice_end
    }

    pub(super) fn priority_of(&self, queue: QueueId) -> Priority {
        match self.queues[queue].class {
            IoClass::RealTime => Priority::RealTime,
            IoClass::BestEffort => Priority::BestEffort,
            IoClass::Idle => Priority::Idle,
        }
    }

    pub(super) fn workload_of(&self, queue: QueueId) -> Workload {
        match (self.queues[queue].sync, self.queues[queue].idle_window) {
            (false, _) => Workload::Async,
            (true, false) => Workload::SyncNoidle,
            (true, true) => Workload::Sync,
        }
    }

    pub(super) fn tree_of(&self, queue: QueueId) -> Tree {
        if self.kernel < Kernel::For33 {
            return Tree::One;
        }
        tree(self.priority_of(queue), self.workload_of(queue))
    }

    pub(super) fn in_tree(&self, tree: Tree) -> &[QueueId] {
        let found = self.trees.iter().find(|(name, _)| *name == tree);
        found.map_or(&[], |(_, queues)| queues.as_slice())
    }

    fn tree_mut(&mut self, tree: Tree) -> &mut Vec<QueueId> {
        if !self.trees.iter().any(|(name, _)| *name == tree) {
            self.trees.push((tree, Vec::new()));
            self.trees.sort_by_key(|(name, _)| *name);
        }
        let at = self.trees.iter().position(|(name, _)| *name == tree).unwrap_or_default();
        &mut self.trees[at].1
    }

    pub(super) fn queues_of_priority(&self, priority: Priority) -> usize {
        if priority == Priority::Idle {
            return self.in_tree(Tree::Idle).len();
        }
        WORKLOADS.iter().map(|workload| self.in_tree(tree(priority, *workload)).len()).sum()
    }

    fn queues_in_trees(&self) -> usize {
        self.trees.iter().map(|(_, queues)| queues.len()).sum()
    }

    /// The key of section 2.6. Up to for-2.6.33 a queue that becomes busy counts itself, later not.
    fn key(&mut self, q: &PlainQueue, queue: QueueId, tree: Tree, front: bool) -> i64 {
        let now = q.now as i64;
        if self.queues[queue].class == IoClass::Idle {
            let last = self.in_tree(tree).last().copied().filter(|last| *last != queue);
            let from = last.map_or(now, |last| self.queues[last].key);
            return from + (self.tunables.hz / 5) as i64;
        }
        if front {
            if self.kernel < Kernel::V32Rc5 {
                return 0;
            }
            let first = self.in_tree(tree).first().map_or(now, |first| self.queues[*first].key);
            return first - self.tunables.hz as i64;
        }
        let others =
            if self.kernel >= Kernel::V33 { self.queues_in_trees() } else { self.busy_queues() } as i64 - 1;
        let offset = others * (self.priority_slice(true, 0) as i64 - self.nominal_slice(queue) as i64);
        let residual = std::mem::take(&mut self.queues[queue].residual);
        if self.kernel >= Kernel::V32Rc5 { now + offset - residual } else { now + offset + residual }
    }

    /// `cfq_service_tree_add`.
    pub(super) fn enter_tree(&mut self, q: &PlainQueue, queue: QueueId, front: bool) {
        let tree = self.tree_of(queue);
        let key = self.key(q, queue, tree, front);
        if self.queues[queue].tree == Some(tree) && self.queues[queue].key == key {
            return;
        }
        self.leave_tree(queue);
        self.queues[queue].key = key;
        self.queues[queue].tree = Some(tree);
        let rank = self.rank(queue);
        let before = self.in_tree(tree).iter().position(|other| rank < self.rank(*other));
        let list = self.tree_mut(tree);
        let place = before.unwrap_or(list.len());
        list.insert(place, queue);
    }

    /// Real time before best effort before idle (in the one tree of 2.6.30 to 2.6.32), then the key.
    fn rank(&self, queue: QueueId) -> (IoClass, i64) {
        let class = if self.kernel < Kernel::For33 { self.queues[queue].class } else { IoClass::BestEffort };
        (class, self.queues[queue].key)
    }

    fn leave_tree(&mut self, queue: QueueId) {
        if let Some(tree) = self.queues[queue].tree.take() {
            self.tree_mut(tree).retain(|other| *other != queue);
        }
    }

    /// `cfq_resort_rr_list`.
    pub(super) fn resort(&mut self, q: &PlainQueue, queue: QueueId) {
        if self.queues[queue].busy {
            self.enter_tree(q, queue, false);
        }
    }

    pub(super) fn become_busy(&mut self, q: &PlainQueue, queue: QueueId) {
        self.queues[queue].busy = true;
        self.resort(q, queue);
    }

    pub(super) fn become_idle(&mut self, queue: QueueId) {
        self.queues[queue].busy = false;
        self.leave_tree(queue);
        if self.queues_in_trees() == 0 {
            self.saved = None;
        }
    }

    /// Next sectors and queues of one priority level.
    pub(super) fn sector_tree(&self, q: &PlainQueue, priority: u64) -> Vec<(u64, QueueId)> {
        let members = self.queues.iter().enumerate();
        let members = members
            .filter(|(_, queue)| queue.busy && queue.class != IoClass::Idle && queue.priority == priority);
        let mut list: Vec<(u64, QueueId)> =
            members.filter_map(|(id, queue)| Some((q.requests[&queue.next?].sector, id))).collect();
        list.sort_unstable();
        list
    }

    /// `cfq_choose_cfqg` and `choose_service_tree` (from for-2.6.33 on).
    pub(super) fn choose_workload(&mut self, q: &PlainQueue) {
        let now = q.now as i64;
        if self.kernel >= Kernel::V33 {
            match self.saved {
                Some((left, workload, priority)) => {
                    self.workload_expires = now + left as i64;
                    self.serving = workload;
                    self.serving_priority = priority;
                }
                None => self.workload_expires = now - 1,
            }
        }
        let previous = self.serving_priority;
        let by_rank = [Priority::RealTime, Priority::BestEffort];
        let Some(priority) = by_rank.into_iter().find(|rank| self.queues_of_priority(*rank) > 0) else {
            self.serving_priority = Priority::Idle;
            self.workload_expires = now + 1;
            return;
        };
        self.serving_priority = priority;
        let changed = priority != previous;
        let change_matters = self.kernel == Kernel::For33 || self.kernel >= Kernel::V38;
        let waiting = self.in_tree(tree(priority, self.serving)).len();
        if !(changed && change_matters) && waiting > 0 && now <= self.workload_expires {
            return;
        }
        self.serving = self.best_workload(priority, changed && self.kernel == Kernel::For33);
        let turn = self.turn_length(priority);
        self.workload_expires = now + turn as i64;
        self.noidle_tree_requires_idle = false;
        self.queues_requiring_idle.clear();
        self.note(q, Decision::Turn(self.serving, turn));
    }

    /// `cfq_choose_wl`: the earlier of equal keys wins in the order async, noidle, sync.
    fn best_workload(&self, priority: Priority, after_change: bool) -> Workload {
        if after_change {
            let by_rank = [Workload::SyncNoidle, Workload::Sync];
            let waiting = by_rank.into_iter().find(|rank| !self.in_tree(tree(priority, *rank)).is_empty());
            return waiting.unwrap_or(Workload::Async);
        }
        let first = |workload: &Workload| self.in_tree(tree(priority, *workload)).first().copied();
        let waiting = WORKLOADS.iter().filter_map(|workload| Some((*workload, first(workload)?)));
        let best = waiting.min_by_key(|(_, queue)| self.queues[*queue].key);
        best.map_or(Workload::SyncNoidle, |(workload, _)| workload)
    }

    /// Section 2.14: the workload slice W.
    fn turn_length(&self, priority: Priority) -> u64 {
        let target = self.target_latency();
        let count = self.in_tree(tree(priority, self.serving)).len() as u64;
        let average = self.busy_average[usize::from(priority == Priority::RealTime)];
        let mut turn = target * count / average.max(self.queues_of_priority(priority) as u64);
        if self.serving == Workload::Async {
            if self.kernel >= Kernel::V33 {
                let async_queues = self.in_tree(tree(Priority::RealTime, Workload::Async)).len()
                    + self.in_tree(tree(Priority::BestEffort, Workload::Async)).len();
                turn = turn.min(target * async_queues as u64 / self.busy_queues() as u64);
            }
            turn = turn * self.tunables.slice[0] / self.tunables.slice[1];
        } else {
            turn = turn.max(2 * self.tunables.slice_idle);
        }
        turn.max(2)
    }
}

pub(super) fn tree(priority: Priority, workload: Workload) -> Tree {
    if priority == Priority::Idle { Tree::Idle } else { Tree::Of(priority, workload) }
}

/// Section 2.14: gives more weight to the larger of the two.
pub(super) fn busy_average(old: u64, busy: u64) -> u64 {
    (3 * old.max(busy) + old.min(busy) + 2) / 4
}

/// Section 2.14: a slice shortened so that all queues fit into the target latency.
pub(super) fn scaled(slice: u64, queues: u64, target: u64, tunables: &Tunables) -> u64 {
    let expected = tunables.slice[1] * queues;
    if expected <= target {
        return slice;
    }
    let low = slice.min(2 * tunables.slice_idle * slice / tunables.slice[1]);
    (slice * target / expected).max(low)
}
