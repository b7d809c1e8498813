//! deadline, plainly: section 3.1.

use super::driver::Ticket;
use super::plain::{PlainQueue, PlainRequest, Reference};
use crate::block::Bio;
use crate::block::elevator::DeadlineTunables;

struct PlainDeadline {
    tunables: DeadlineTunables,
    /// The request in which the batch would go on; of one direction at most.
    next: Option<Ticket>,
    batching: u64,
    starved: u64,
}

fn writes(request: &PlainRequest) -> bool {
    request.is_write()
}

fn reads(request: &PlainRequest) -> bool {
    !request.is_write()
}

fn like(write: bool) -> impl Fn(&PlainRequest) -> bool {
    move |request| request.is_write() == write
}

impl PlainDeadline {
    fn new(tunables: DeadlineTunables) -> Self {
        Self { tunables, next: None, batching: 0, starved: 0 }
    }

    fn sector_successor(queue: &PlainQueue, ticket: Ticket) -> Option<Ticket> {
        queue.around(ticket, like(queue.get(ticket).is_write())).1
    }

    fn send(&mut self, queue: &mut PlainQueue, ticket: Ticket) {
        self.next = Self::sector_successor(queue, ticket);
        queue.dispatch_last(ticket);
    }

    /// Two requests of one direction never start at the same sector: the earlier one is sent on.
    fn make_room(&mut self, queue: &mut PlainQueue, ticket: Ticket) {
        let new = *queue.get(ticket);
        let same_start = queue.held(like(new.is_write())).find(|r| r.key == new.key && r.ticket != ticket);
        if let Some(earlier) = same_start {
            self.send(queue, earlier.ticket);
        }
    }

    fn dispatch_one(&mut self, queue: &mut PlainQueue) -> bool {
        if let Some(next) = self.next
            && self.batching < self.tunables.fifo_batch_requests
        {
            self.batching += 1;
            self.send(queue, next);
            return true;
        }
        let oldest = match (queue.oldest(reads), queue.oldest(writes)) {
            (None, None) => return false,
            (Some(read), None) => read,
            (Some(read), Some(write)) => {
                let was_starved = self.starved;
                self.starved += 1;
                if was_starved >= self.tunables.writes_starved { write } else { read }
            }
            (None, Some(write)) => write,
        };
        if oldest.is_write() {
            self.starved = 0;
        }
        self.batching = 1;
        let next = self.next.filter(|next| queue.get(*next).is_write() == oldest.is_write());
        let has_expired = queue.now > oldest.fifo_jiffies;
        match next {
            Some(next) if !has_expired => self.send(queue, next),
            _ => self.send(queue, oldest.ticket),
        }
        true
    }
}

impl Reference for PlainDeadline {
    fn front_merge_candidate(&self, queue: &PlainQueue, bio: &Bio) -> Option<Ticket> {
        let found = queue.starting_at(bio.end(), like(bio.flags.is_write()))?;
        self.tunables.front_merges.then_some(found.ticket)
    }

    fn neighbours(&self, queue: &PlainQueue, ticket: Ticket) -> (Option<Ticket>, Option<Ticket>) {
        queue.around(ticket, like(queue.get(ticket).is_write()))
    }

    fn front_merged(&mut self, queue: &mut PlainQueue, ticket: Ticket, _old_sector: u64) {
        // While another is sent on, the request itself is not part of the order.
        queue.get_mut(ticket).held = false;
        self.make_room(queue, ticket);
        queue.get_mut(ticket).held = true;
    }

    fn requests_merged(&mut self, queue: &mut PlainQueue, survivor: Ticket, absorbed: Ticket) {
        queue.inherit_deadline(survivor, absorbed);
        if self.next == Some(absorbed) {
            self.next = Self::sector_successor(queue, absorbed);
        }
        queue.get_mut(absorbed).held = false;
    }

    fn insert(&mut self, queue: &mut PlainQueue, ticket: Ticket) {
        self.make_room(queue, ticket);
        queue.hold(ticket);
        let now = queue.now;
        let request = queue.get_mut(ticket);
        let expire = if request.is_write() {
            self.tunables.write_expire_jiffies
        } else {
            self.tunables.read_expire_jiffies
        };
        request.fifo_jiffies = now + expire;
    }

    fn dispatch(&mut self, queue: &mut PlainQueue, force: bool) -> usize {
        let mut moved = 0;
        while self.dispatch_one(queue) {
            moved += 1;
            if !force {
                break;
            }
        }
        moved
    }
}

mod tests {
    use super::super::driver::{actions, compare, machine, summary};
    use super::super::fast::Fast;
    use super::super::plain::Plain;
    use super::*;
    use crate::block::elevator::Deadline;
    use crate::engine::Clock;
    use proptest::prelude::*;

    fn tunables() -> impl Strategy<Value = DeadlineTunables> {
        let defaults = DeadlineTunables::for_clock(&Clock::new(1000, false));
        let small = (0_u64..60, 0_u64..200, 0_u64..4, 0_u64..6, any::<bool>()).prop_map(
            |(read, write, starved, batch, front)| DeadlineTunables {
                read_expire_jiffies: read,
                write_expire_jiffies: write,
                writes_starved: starved,
                fifo_batch_requests: batch,
                front_merges: front,
            },
        );
        prop_oneof![Just(defaults), small]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// Section 3.1: the fast deadline and the plain one serve the same requests in the same order.
        #[test]
        fn deadline_agrees_with_its_reference(
            machine in machine(),
            tunables in tunables(),
            actions in actions(300),
        ) {
            let mut fast = Fast::new(Deadline::new(tunables), machine.device);
            let mut plain = Plain::new(PlainDeadline::new(tunables), machine.device);
            compare(machine, &mut fast, &mut plain, &actions)?;
        }
    }

    /// The comparison is about something: merges of each kind come up.
    #[test]
    fn the_comparison_reaches_every_kind_of_merge() {
        let tally = summary(100, |machine, actions| {
            let tunables = DeadlineTunables::for_clock(&Clock::new(1000, false));
            let mut fast = Fast::new(Deadline::new(tunables), machine.device);
            let mut plain = Plain::new(PlainDeadline::new(tunables), machine.device);
            compare(machine, &mut fast, &mut plain, actions)
        });
        assert!(tally.back_merges > 100 && tally.front_merges > 100 && tally.coalesced > 10, "{tally:?}");
    }
}
