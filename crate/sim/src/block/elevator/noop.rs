//! noop: first in, first out, and a last sort on the dispatch list.
//!
//! *Models:* the arrival order; the sorted insertion into the dispatch list; coalescing with the
//! neighbour in order of arrival.
//! *Does not model:* nothing is left out. noop has no tunables, no front merges of its own, and never
//! waits.
//! *Follows:* model/block-layer.md, section 3.2; Linux 2.6.32 and 2.6.35 `block/noop-iosched.c`.

use super::{Elevator, ElevatorIo};
use crate::block::{Bio, Fifo, RequestId, RequestPool};

/// The noop I/O scheduler.
#[derive(Clone, Debug, Default)]
pub struct Noop {
    fifo: Fifo,
    held: usize,
}

impl Noop {
    /// An empty noop.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn dispatch_oldest(&mut self, io: &mut ElevatorIo<'_>) -> usize {
        let Some(oldest) = self.fifo.first() else { return 0 };
        self.forget(io, oldest);
        io.dispatch_sorted(oldest);
        1
    }

    fn forget(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        io.requests.fifo_remove(&mut self.fifo, request);
        self.held -= 1;
    }
}

impl Elevator for Noop {
    fn is_empty(&self) -> bool {
        self.fifo.is_empty()
    }

    fn allows_merge(&self, _requests: &RequestPool, _request: RequestId, _bio: &Bio) -> bool {
        true
    }

    fn front_merge_candidate(&self, _requests: &RequestPool, _bio: &Bio) -> Option<RequestId> {
        None
    }

    /// Neighbours in order of arrival: noop knows no other order.
    fn neighbours(
        &self,
        requests: &RequestPool,
        request: RequestId,
    ) -> (Option<RequestId>, Option<RequestId>) {
        requests.fifo_neighbours(request)
    }

    fn front_merged(&mut self, _io: &mut ElevatorIo<'_>, _request: RequestId, _old_sector: u64) {}

    fn requests_merged(&mut self, io: &mut ElevatorIo<'_>, _survivor: RequestId, absorbed: RequestId) {
        self.forget(io, absorbed);
    }

    fn insert(&mut self, io: &mut ElevatorIo<'_>, request: RequestId) {
        io.requests.fifo_push(&mut self.fifo, request);
        self.held += 1;
    }

    fn dispatch(&mut self, io: &mut ElevatorIo<'_>, force: bool) -> usize {
        let mut moved = self.dispatch_oldest(io);
        while force && !self.fifo.is_empty() {
            moved += self.dispatch_oldest(io);
        }
        moved
    }

    fn held(&self) -> usize {
        self.held
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::bench::{Bench, READ, WRITE, bio};
    use super::super::reference::driver::Subject;
    use super::*;

    /// Section 3.2: requests go to the dispatch list in order of arrival; what meets there is sorted.
    #[test]
    fn first_in_first_out_sorted_on_the_dispatch_list() {
        let mut bench = Bench::new(Noop::new(), 0);
        let [far, near, middle] = [900, 100, 500].map(|sector| bench.submit(0, READ, sector));
        assert_eq!(bench.serve(), Some(far));
        assert_eq!(bench.queue.dispatch(0, true).0, 2);
        // The head is at 908: both lie behind it, so the sweep meets the lower one first.
        assert_eq!(bench.queue.dispatch_list(), [near, middle]);
        assert!(bench.elevator().is_empty());
    }

    /// Section 3.2: noop offers no front merges and knows neighbours in order of arrival only.
    #[test]
    fn no_front_merges() {
        let mut bench = Bench::new(Noop::new(), 0);
        let [first, second] = [108, 508].map(|sector| bench.submit(0, WRITE, sector));
        assert_eq!(bench.queue.front_merge_candidate(&bio(0, WRITE, 100)), None);
        assert_eq!(bench.queue.neighbours(first), (None, Some(second)));
        assert_eq!(bench.queue.neighbours(second), (Some(first), None));
        assert_eq!(bench.elevator().held(), 2);
    }
}
