//! The event queue: a binary heap ordered by (time, order of insertion).

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

/// Pending events, earliest first; events of equal time come out in the order they went in, which
/// is what makes a run repeatable. Push and pop cost O(log n).
#[derive(Clone, Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    pushed: u64,
}

#[derive(Clone, Debug)]
struct Entry<E> {
    time_ns: u64,
    sequence: u64,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.sequence == other.sequence
    }
}
impl<E> Eq for Entry<E> {}
impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.time_ns, self.sequence).cmp(&(other.time_ns, other.sequence))
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), pushed: 0 }
    }
}

impl<E> EventQueue<E> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an event at `time_ns`.
    pub fn push(&mut self, time_ns: u64, event: E) {
        self.heap.push(Reverse(Entry { time_ns, sequence: self.pushed, event }));
        self.pushed += 1;
    }

    /// Removes and returns the earliest event with its time.
    pub fn pop(&mut self) -> Option<(u64, E)> {
        self.heap.pop().map(|Reverse(entry)| (entry.time_ns, entry.event))
    }

    /// The time of the earliest event, without removing it. O(1).
    #[must_use]
    pub fn next_time_ns(&self) -> Option<u64> {
        self.heap.peek().map(|Reverse(entry)| entry.time_ns)
    }

    /// Events pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether no event is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The queue is a stable sort by time.
        #[test]
        fn pops_in_stable_time_order(times in prop::collection::vec(0u64..50, 0..200)) {
            let mut queue = EventQueue::new();
            for (index, &time) in times.iter().enumerate() {
                queue.push(time, index);
            }
            let mut expected: Vec<(u64, usize)> = times.iter().copied().zip(0..).collect();
            expected.sort_by_key(|&(time, _)| time);
            let popped: Vec<_> = std::iter::from_fn(|| queue.pop()).collect();
            prop_assert_eq!(popped, expected);
        }
    }
}
