//! Requests inside a queue: which is next, deadlines, merging (sections 1.4, 2.5).

use super::{Cfq, Kernel, QueueId, is_meta};
use crate::block::elevator::reference::driver::Ticket;
use crate::block::elevator::reference::plain::PlainQueue;

/// How far a request is from the head; the smaller the better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Near(u64),
    Wrapped,
}

impl Cfq {
    /// The requests of a queue by sector: by the first sector each had when it last took its place.
    pub(super) fn sorted(&self, q: &PlainQueue, queue: QueueId) -> Vec<Ticket> {
        let mut sorted = self.queues[queue].fifo.clone();
        sorted.sort_by_key(|ticket| q.requests[ticket].key);
        sorted
    }

    /// The requests before and behind one, by sector.
    pub(super) fn around(
        &self,
        q: &PlainQueue,
        queue: QueueId,
        ticket: Ticket,
    ) -> (Option<Ticket>, Option<Ticket>) {
        let sorted = self.sorted(q, queue);
        let Some(at) = sorted.iter().position(|other| *other == ticket) else { return (None, None) };
        let before = at.checked_sub(1).map(|at| sorted[at]);
        (before, sorted.get(at + 1).copied())
    }

    /// `cfq_choose_req`: the better of two requests with the head at `head`.
    pub(super) fn better(
        &self,
        q: &PlainQueue,
        first: Option<Ticket>,
        second: Option<Ticket>,
        head: u64,
    ) -> Option<Ticket> {
        let (Some(a), Some(b)) = (first, second) else { return first.or(second) };
        if a == b {
            return Some(a);
        }
        let (ra, rb) = (&q.requests[&a], &q.requests[&b]);
        if ra.is_sync() != rb.is_sync() {
            return Some(if ra.is_sync() { a } else { b });
        }
        if is_meta(q, a) != is_meta(q, b) {
            return Some(if is_meta(q, a) { a } else { b });
        }
        let (wa, wb) = (self.way(ra.sector, head), self.way(rb.sector, head));
        let first_wins = match (wa, wb) {
            (Way::Wrapped, Way::Wrapped) => ra.sector <= rb.sector,
            _ if wa == wb => ra.sector >= rb.sector,
            _ => wa < wb,
        };
        Some(if first_wins { a } else { b })
    }

    fn way(&self, sector: u64, head: u64) -> Way {
        if sector >= head {
            Way::Near(sector - head)
        } else if sector + self.tunables.back_seek_max_kib * 2 >= head {
            Way::Near((head - sector) * self.tunables.back_seek_penalty)
        } else {
            Way::Wrapped
        }
    }

    /// `cfq_find_next_rq`: what to serve after `ticket`, which is still held.
    fn after(&self, q: &PlainQueue, queue: QueueId, ticket: Ticket) -> Option<Ticket> {
        let (before, behind) = self.around(q, queue, ticket);
        let first = self.sorted(q, queue).into_iter().next().filter(|first| *first != ticket);
        let head = if self.kernel >= Kernel::For33 { q.requests[&ticket].sector } else { self.last_position };
        self.better(q, behind.or(first), before, head)
    }

    /// `cfq_add_rq_rb`: a request that is in the fifo, new or with a new first sector, takes its place
    /// among the others; one that starts at the same sector gives way.
    pub(super) fn put_in_place(&mut self, q: &mut PlainQueue, ticket: Ticket) {
        let queue = q.requests[&ticket].queue;
        let sector = q.requests[&ticket].sector;
        q.get_mut(ticket).key = sector;
        let same = |other: &Ticket| *other != ticket && q.requests[other].key == sector;
        if let Some(alias) = self.queues[queue].fifo.iter().copied().find(same) {
            self.dispatch_alias(q, queue, alias, ticket);
        }
        if !self.queues[queue].busy {
            self.become_busy(q, queue);
        }
        let old = self.queues[queue].next;
        let next = self.better(q, old, Some(ticket), self.last_position);
        self.queues[queue].next = next;
    }

    /// The newcomer is not among the others yet while the alias is dispatched.
    fn dispatch_alias(&mut self, q: &mut PlainQueue, queue: QueueId, alias: Ticket, newcomer: Ticket) {
        let fifo = &mut self.queues[queue].fifo;
        let place = fifo.iter().filter(|other| **other != alias).position(|other| *other == newcomer);
        fifo.retain(|other| *other != newcomer);
        self.move_to_dispatch_list(q, queue, alias);
        self.queues[queue].fifo.insert(place.unwrap_or_default(), newcomer);
    }

    /// `cfq_dispatch_insert`.
    pub(super) fn move_to_dispatch_list(&mut self, q: &mut PlainQueue, queue: QueueId, ticket: Ticket) {
        if self.kernel >= Kernel::V32Rc1 || self.queues[queue].next == Some(ticket) {
            self.queues[queue].next = self.after(q, queue, ticket);
        }
        self.remove(q, queue, ticket);
        self.queues[queue].dispatched += 1;
        q.dispatch_sorted(ticket);
    }

    /// `cfq_remove_request`.
    fn remove(&mut self, q: &mut PlainQueue, queue: QueueId, ticket: Ticket) {
        if self.queues[queue].next == Some(ticket) {
            self.queues[queue].next = self.after(q, queue, ticket);
        }
        self.queues[queue].fifo.retain(|other| *other != ticket);
        q.get_mut(ticket).held = false;
        if self.kernel < Kernel::V33 && self.queues[queue].busy && self.is_empty_queue(queue) {
            self.become_idle(queue);
        }
    }

    /// `cfq_merged_requests`: the survivor inherits the earlier deadline and place (rc5 on).
    pub(super) fn merge_requests(&mut self, q: &mut PlainQueue, survivor: Ticket, absorbed: Ticket) {
        let queue = q.requests[&absorbed].queue;
        let earlier = self.owners[&absorbed].1;
        if let Some(owner) = self.owners.get_mut(&survivor) {
            owner.1 = owner.1.min(earlier);
        }
        let deadline = q.requests[&absorbed].fifo_jiffies;
        if self.kernel >= Kernel::V32Rc5 && deadline < q.requests[&survivor].fifo_jiffies {
            let fifo = &mut self.queues[queue].fifo;
            fifo.retain(|other| *other != survivor);
            let place = fifo.iter().position(|other| *other == absorbed).map_or(0, |at| at + 1);
            fifo.insert(place, survivor);
            q.get_mut(survivor).fifo_jiffies = deadline;
        }
        if self.kernel >= Kernel::For33 && self.queues[queue].next == Some(absorbed) {
            self.queues[queue].next = Some(survivor);
        }
        self.remove(q, queue, absorbed);
    }

    /// `cfq_check_fifo`: the oldest request if its deadline has passed, asked once in an activation.
    pub(super) fn expired_request(&mut self, q: &PlainQueue, queue: QueueId) -> Option<Ticket> {
        if std::mem::replace(&mut self.queues[queue].fifo_checked, true) {
            return None;
        }
        let oldest = *self.queues[queue].fifo.first()?;
        let deadline = if self.kernel >= Kernel::V32Rc5 {
            q.requests[&oldest].fifo_jiffies
        } else {
            self.owners[&oldest].1 + self.tunables.fifo_expire[usize::from(self.queues[queue].sync)]
        };
        (q.now >= deadline).then_some(oldest)
    }
}
