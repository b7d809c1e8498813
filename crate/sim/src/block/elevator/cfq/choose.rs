//! Which request of a queue is served next.
//!
//! *Follows:* model/block-layer.md, section 2.5; Linux 2.6.35 `cfq_choose_req`, `cfq_find_next_rq`,
//! `cfq_check_fifo`.

use super::Cfq;
use super::policy::MeasuredFrom;
use super::queue::QueueId;
use crate::block::elevator::ElevatorIo;
use crate::block::{BioFlags, RequestId, RequestPool, Sync};

impl Cfq {
    /// The better of two requests with the head at `head`: sync before async, metadata before data,
    /// then the cheaper to reach.
    pub(super) fn better(
        &self,
        requests: &RequestPool,
        first: Option<RequestId>,
        second: Option<RequestId>,
        head: u64,
    ) -> Option<RequestId> {
        let (Some(a), Some(b)) = (first, second) else { return first.or(second) };
        if a == b {
            return first;
        }
        let (ra, rb) = (&requests[a], &requests[b]);
        if ra.sync() != rb.sync() {
            return if ra.sync() == Sync::Sync { first } else { second };
        }
        let (meta_a, meta_b) = (ra.flags.has(BioFlags::META), rb.flags.has(BioFlags::META));
        if meta_a != meta_b {
            return if meta_a { first } else { second };
        }
        match (self.cost(ra.sector, head), self.cost(rb.sector, head)) {
            (Some(cost_a), Some(cost_b)) if cost_a != cost_b => {
                if cost_a < cost_b {
                    first
                } else {
                    second
                }
            }
            (Some(_), Some(_)) => {
                if ra.sector >= rb.sector {
                    first
                } else {
                    second
                }
            }
            (Some(_), None) => first,
            (None, Some(_)) => second,
            // Both lie far behind: the lower one, so that only one long seek back is needed.
            (None, None) => {
                if ra.sector <= rb.sector {
                    first
                } else {
                    second
                }
            }
        }
    }

    /// What reaching `sector` costs; `None` when it lies too far behind the head.
    fn cost(&self, sector: u64, head: u64) -> Option<u64> {
        if sector >= head {
            Some(sector - head)
        } else if sector + self.tunables.back_seek_max_sectors >= head {
            Some((head - sector).saturating_mul(self.tunables.back_seek_penalty))
        } else {
            None
        }
    }

    /// The request to serve after `request`: its successor (or the first) against its predecessor.
    pub(super) fn next_after(
        &self,
        requests: &RequestPool,
        id: QueueId,
        request: RequestId,
    ) -> Option<RequestId> {
        let sorted = &self.queue(id).sorted;
        let sector = requests[request].sector;
        let before = sorted.predecessor(sector, request);
        let after =
            sorted.successor(sector, request).or_else(|| sorted.first().filter(|&first| first != request));
        let head = match self.policy.next_measured_from {
            MeasuredFrom::Head => self.head,
            MeasuredFrom::Dispatched => sector,
        };
        self.better(requests, after, before, head)
    }

    /// The oldest request, if its deadline has passed and this was not asked yet in this turn.
    pub(super) fn expired_in_fifo(&mut self, io: &ElevatorIo<'_>, id: QueueId) -> Option<RequestId> {
        if std::mem::replace(&mut self.queue_mut(id).fifo_checked, true) {
            return None;
        }
        let oldest = self.queue(id).fifo.first()?;
        (io.now_jiffies >= io.requests[oldest].fifo_jiffies).then_some(oldest)
    }
}
