//! The requests of one kind: in order of arrival, in sector order, and which comes next.
//!
//! *Models:* the choice between the neighbours of the request just dispatched; short seeks backward,
//! which count double; expiry, looked at once per expiry time only.
//! *Does not model:* nothing is left out.
//! *Follows:* model/block-layer.md, section 3.3; Linux 2.6.32 `as_choose_req`, `as_find_next_rq`,
//! `as_fifo_expired`.

use crate::block::elevator::SortedRequests;
use crate::block::{Fifo, RequestId, RequestPool};
use std::cmp::Reverse;

/// The farthest seek backward that may compete with one forward, in sectors: 512 MiB.
const BACK_SEEK_MAX_SECTORS: u64 = 1 << 20;
/// How much worse a sector behind the head is than one in front of it.
const BACK_SEEK_PENALTY: u64 = 2;

/// The requests of one kind that wait in the elevator.
#[derive(Clone, Debug, Default)]
pub(super) struct Waiting {
    pub(super) sorted: SortedRequests,
    pub(super) fifo: Fifo,
    /// The best request to serve next. There may be none while requests wait: then a request that was
    /// in the way of a front merge has just been sent on.
    pub(super) next: Option<RequestId>,
    /// Where the last request of this kind ended.
    pub(super) head: u64,
    /// When expired requests were last looked for.
    checked_jiffies: u64,
}

impl Waiting {
    /// The better of two requests: the shorter way from the head, where backward counts double and
    /// far backward comes last. Of two equally good ones the one with the higher sector, else `first`.
    pub(super) fn better(
        &self,
        requests: &RequestPool,
        first: Option<RequestId>,
        second: Option<RequestId>,
    ) -> Option<RequestId> {
        let (Some(one), Some(other)) = (first, second) else { return first.or(second) };
        Some(if self.rank(requests, one) <= self.rank(requests, other) { one } else { other })
    }

    fn rank(&self, requests: &RequestPool, id: RequestId) -> (bool, u64, Reverse<u64>) {
        let sector = requests[id].sector;
        let behind = self.head.saturating_sub(sector);
        if behind == 0 {
            (false, sector - self.head, Reverse(sector))
        } else if behind <= BACK_SEEK_MAX_SECTORS {
            (false, behind * BACK_SEEK_PENALTY, Reverse(sector))
        } else {
            (true, sector, Reverse(sector))
        }
    }

    /// What to serve after `request`, which is still in its place: a neighbour in sector order, the
    /// first sector counting as the neighbour of the last one.
    pub(super) fn after(&self, requests: &RequestPool, request: RequestId) -> Option<RequestId> {
        let sector = requests[request].sector;
        let wrapped = || self.sorted.first().filter(|first| *first != request);
        let forward = self.sorted.successor(sector, request).or_else(wrapped);
        self.better(requests, forward, self.sorted.predecessor(sector, request))
    }

    /// Forgets a request, and names another one as the next if this one was.
    pub(super) fn forget(&mut self, requests: &mut RequestPool, request: RequestId) {
        if self.next == Some(request) {
            self.next = self.after(requests, request);
        }
        self.sorted.remove(requests[request].sector, request);
        requests.fifo_remove(&mut self.fifo, request);
    }

    /// Whether the oldest request has waited for too long; answers yes at most once per
    /// `expire_jiffies`, or else a long queue of expired requests would make the disk seek all the time.
    pub(super) fn has_expired(
        &mut self,
        requests: &RequestPool,
        expire_jiffies: u64,
        now_jiffies: u64,
    ) -> bool {
        if now_jiffies.saturating_sub(self.checked_jiffies) < expire_jiffies {
            return false;
        }
        self.checked_jiffies = now_jiffies;
        self.fifo.first().is_some_and(|oldest| now_jiffies > requests[oldest].fifo_jiffies)
    }

    /// The oldest request is served now: no need to look for expired ones for a while.
    pub(super) fn note_checked(&mut self, now_jiffies: u64) {
        self.checked_jiffies = now_jiffies;
    }
}
