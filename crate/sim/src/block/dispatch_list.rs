//! The dispatch list: what the elevator has released and the driver has not yet taken.
//!
//! *Follows:* model/block-layer.md, section 1.7; Linux 2.6.35 `elv_dispatch_sort`.

use super::request::{Place, RequestId, RequestPool};
use std::collections::VecDeque;

/// Requests on their way to the driver, in the order in which it will take them.
#[derive(Clone, Debug, Default)]
pub struct DispatchList {
    list: VecDeque<RequestId>,
    /// Where the last request that the driver looked at (or that was appended) ended: sorted
    /// insertion is one-way from here.
    boundary: u64,
}

impl DispatchList {
    /// Inserts by sector, as a one-way elevator that starts at the last dispatched end: requests
    /// behind that point come after those in front of it. Never passes a request of the other
    /// direction, one the driver has looked at, or a barrier.
    pub fn insert_sorted(&mut self, requests: &mut RequestPool, id: RequestId) {
        requests[id].place = Place::DispatchList;
        let (sector, is_write) = (requests[id].sector, requests[id].is_write());
        let mut at = self.list.len();
        while at > 0 {
            let other = &requests[self.list[at - 1]];
            if other.is_write() != is_write
                || other.activated
                || other.flags.has_any(super::bio::BioFlags::BARRIER)
            {
                break;
            }
            let stays_before = if sector >= self.boundary {
                other.sector >= self.boundary && sector >= other.sector
            } else {
                other.sector >= self.boundary || sector >= other.sector
            };
            if stays_before {
                break;
            }
            at -= 1;
        }
        self.list.insert(at, id);
    }

    /// Appends.
    pub fn push_back(&mut self, requests: &mut RequestPool, id: RequestId) {
        requests[id].place = Place::DispatchList;
        self.boundary = requests[id].end();
        self.list.push_back(id);
    }

    /// Puts in front of everything.
    pub fn push_front(&mut self, requests: &mut RequestPool, id: RequestId) {
        requests[id].place = Place::DispatchList;
        self.list.push_front(id);
    }

    /// The request the driver would take next.
    #[must_use]
    pub fn first(&self) -> Option<RequestId> {
        self.list.front().copied()
    }

    /// Removes the first request.
    pub fn pop(&mut self) -> Option<RequestId> {
        self.list.pop_front()
    }

    /// Says that the driver has looked at a request that ends at `end`.
    pub fn set_boundary(&mut self, end: u64) {
        self.boundary = end;
    }

    /// Requests in the list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}
