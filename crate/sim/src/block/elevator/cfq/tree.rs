//! Service trees: queues in the order in which they are due.
//!
//! *Follows:* model/block-layer.md, sections 2.6 and 2.14.

use super::policy::ServiceTrees;
use super::queue::{CfqQueue, QueueId, TreeId};
use crate::block::IoClass;
use crate::observe::WorkloadType;

/// One tree's entries, first due first; equal keys in order of insertion.
#[derive(Clone, Debug, Default)]
struct Tree {
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Class rank: used only where all classes share one tree.
    rank: u8,
    key: i64,
    queue: QueueId,
}

/// All service trees.
#[derive(Clone, Debug)]
pub(super) struct Trees {
    shape: ServiceTrees,
    trees: [Tree; 7],
}

/// The tree of the idle class.
const IDLE_TREE: TreeId = TreeId(6);

impl Trees {
    pub(super) fn new(shape: ServiceTrees) -> Self {
        Self { shape, trees: Default::default() }
    }

    /// The tree for a class and type of work.
    pub(super) fn tree(&self, class: IoClass, workload: WorkloadType) -> TreeId {
        match (self.shape, class) {
            (ServiceTrees::One, _) => TreeId(0),
            (_, IoClass::Idle) => IDLE_TREE,
            (_, IoClass::BestEffort) => TreeId(workload as u8),
            (_, IoClass::RealTime) => TreeId(3 + workload as u8),
        }
    }

    /// The tree a queue belongs to.
    pub(super) fn tree_for(&self, queue: &CfqQueue) -> TreeId {
        self.tree(queue.class, queue.workload())
    }

    pub(super) fn count(&self, tree: TreeId) -> u32 {
        self.trees[tree.0 as usize].entries.len() as u32
    }

    /// Queues of a class in all its trees.
    pub(super) fn count_class(&self, class: IoClass) -> u32 {
        if class == IoClass::Idle {
            return self.count(IDLE_TREE);
        }
        WORKLOADS.iter().map(|&workload| self.count(self.tree(class, workload))).sum()
    }

    /// Async queues of the two upper classes.
    pub(super) fn count_async(&self) -> u32 {
        self.count(self.tree(IoClass::RealTime, WorkloadType::Async))
            + self.count(self.tree(IoClass::BestEffort, WorkloadType::Async))
    }

    /// The queue that is due first.
    pub(super) fn first(&self, tree: TreeId) -> Option<QueueId> {
        self.trees[tree.0 as usize].entries.first().map(|entry| entry.queue)
    }

    /// The last queue of a tree.
    pub(super) fn last(&self, tree: TreeId) -> Option<QueueId> {
        self.trees[tree.0 as usize].entries.last().map(|entry| entry.queue)
    }

    /// Any queue: the first of the first tree that has one, best effort before real time.
    pub(super) fn any(&self) -> Option<QueueId> {
        (0..self.trees.len()).find_map(|tree| self.first(TreeId(tree as u8)))
    }

    /// Puts a queue behind those with the same key.
    pub(super) fn insert(&mut self, tree: TreeId, queue: QueueId, class: IoClass, key: i64) {
        let rank = if self.shape == ServiceTrees::One { class as u8 } else { 0 };
        let entries = &mut self.trees[tree.0 as usize].entries;
        let at = entries.partition_point(|entry| (entry.rank, entry.key) <= (rank, key));
        entries.insert(at, Entry { rank, key, queue });
    }

    pub(super) fn remove(&mut self, tree: TreeId, queue: QueueId) {
        self.trees[tree.0 as usize].entries.retain(|entry| entry.queue != queue);
    }

    /// Every queue in any tree.
    pub(super) fn iter(&self) -> impl Iterator<Item = QueueId> + '_ {
        self.trees.iter().flat_map(|tree| tree.entries.iter().map(|entry| entry.queue))
    }
}

/// The workload types in the order in which ties are decided.
pub(super) const WORKLOADS: [WorkloadType; 3] =
    [WorkloadType::Async, WorkloadType::SyncNoidle, WorkloadType::Sync];
