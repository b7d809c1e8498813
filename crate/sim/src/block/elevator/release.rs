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
