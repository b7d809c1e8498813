//! noop, plainly: section 3.2.

use super::driver::Ticket;
use super::plain::{PlainQueue, Reference};
use crate::block::Bio;

struct PlainNoop;

impl Reference for PlainNoop {
    fn front_merge_candidate(&self, _queue: &PlainQueue, _bio: &Bio) -> Option<Ticket> {
        None
    }

    fn neighbours(&self, queue: &PlainQueue, ticket: Ticket) -> (Option<Ticket>, Option<Ticket>) {
        let order = queue.get(ticket).order;
        let before = queue.held(|r| r.order < order).max_by_key(|r| r.order);
        let after = queue.held(|r| r.order > order).min_by_key(|r| r.order);
        (before.map(|r| r.ticket), after.map(|r| r.ticket))
    }

    fn requests_merged(&mut self, queue: &mut PlainQueue, _survivor: Ticket, absorbed: Ticket) {
        queue.get_mut(absorbed).held = false;
    }

    fn insert(&mut self, queue: &mut PlainQueue, ticket: Ticket) {
        queue.hold(ticket);
    }

    fn dispatch(&mut self, queue: &mut PlainQueue, force: bool) -> usize {
        let mut moved = 0;
        while let Some(oldest) = queue.oldest(|_| true) {
            queue.dispatch_sorted(oldest.ticket);
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
    use crate::block::elevator::Noop;
    use proptest::prelude::*;

    proptest! {
        /// Section 3.2: the fast noop and the plain one serve the same requests in the same order.
        #[test]
        fn noop_agrees_with_its_reference(machine in machine(), actions in actions(300)) {
            let mut fast = Fast::new(Noop::new(), machine.device);
            let mut plain = Plain::new(PlainNoop, machine.device);
            compare(machine, &mut fast, &mut plain, &actions)?;
        }
    }

    /// The comparison is about something: merges of each kind come up.
    #[test]
    fn the_comparison_reaches_every_kind_of_merge() {
        let tally = summary(100, |machine, actions| {
            let mut fast = Fast::new(Noop::new(), machine.device);
            compare(machine, &mut fast, &mut Plain::new(PlainNoop, machine.device), actions)
        });
        assert!(tally.back_merges > 100 && tally.front_merges > 10 && tally.coalesced > 10, "{tally:?}");
    }
}
