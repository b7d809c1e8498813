//! The one way out of an elevator: onto the dispatch list, out of the index of back merges, into the
//! trace.
//!
//! *Follows:* model/block-layer.md, sections 1.4 and 1.7; Linux 2.6.35 `elv_dispatch_sort` and
//! `elv_dispatch_add_tail`.

use super::ElevatorIo;
use crate::block::RequestId;
use crate::observe::{RequestFacts, TraceKind};

impl ElevatorIo<'_> {
    /// Moves a request to the dispatch list, sorted as a one-way elevator (noop, anticipatory, CFQ).
    pub fn dispatch_sorted(&mut self, id: RequestId) {
        self.requests.hash_remove(id);
        self.dispatch_list.insert_sorted(self.requests, id);
        self.record_dispatch(id);
    }

    /// Moves a request to the end of the dispatch list (deadline).
    pub fn dispatch_last(&mut self, id: RequestId) {
        self.requests.hash_remove(id);
        self.dispatch_list.push_back(self.requests, id);
        self.record_dispatch(id);
    }

    fn record_dispatch(&mut self, id: RequestId) {
        self.recorder.record(TraceKind::Dispatch(RequestFacts::from(&self.requests[id])));
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference::bench::{READ, bio};
    use super::super::{DeviceFacts, Effects};
    use super::*;
    use crate::block::{DispatchList, Place, RequestPool};
    use crate::observe::Recorder;

    /// Section 1.4: requests on the dispatch list are not merge candidates; section 1.7: sorted or last.
    #[test]
    fn a_released_request_is_listed_recorded_and_no_longer_found() {
        let mut requests = RequestPool::new();
        let [high, low] = [900, 100].map(|sector| requests.allocate(&bio(0, READ, sector), 0, 0));
        for (sorted, order) in [(false, [high, low]), (true, [low, high])] {
            let (mut dispatch_list, mut effects) = (DispatchList::default(), Effects::default());
            let mut recorder = Recorder::new(10);
            requests.hash_insert(high);
            requests.hash_insert(low);
            let mut io = ElevatorIo {
                now_ns: 0,
                now_jiffies: 0,
                requests: &mut requests,
                dispatch_list: &mut dispatch_list,
                effects: &mut effects,
                recorder: &mut recorder,
                device: DeviceFacts { non_rotational: false, queues_commands: false },
            };
            for id in [high, low] {
                if sorted {
                    io.dispatch_sorted(id)
                } else {
                    io.dispatch_last(id)
                }
                assert_eq!(io.requests.hash_find(io.requests[id].end()), None);
                assert_eq!(io.requests[id].place, Place::DispatchList);
            }
            assert_eq!([dispatch_list.pop(), dispatch_list.pop()], order.map(Some));
            let sectors: Vec<u64> = recorder
                .events()
                .iter()
                .filter_map(|event| match event.kind {
                    TraceKind::Dispatch(facts) => Some(facts.sector),
                    _ => None,
                })
                .collect();
            assert_eq!(sectors, [900, 100]);
        }
    }
}
