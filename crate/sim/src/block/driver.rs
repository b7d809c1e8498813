//! The driver's side of a queue: takes requests while the device accepts them, and finishes them.
//!
//! *Follows:* model/block-layer.md, sections 1.7 and 1.8; Linux 2.6.35 `blk_peek_request`,
//! `scsi_request_fn`, `blk_finish_request`.

use super::bio::BioFlags;
use super::elevator::{Cfq, Elevator, Serving};
use super::queue::{BlockOut, BlockQueue};
use super::request::{Place, RequestId};
use super::sequence::{FLUSH_TAG, Sequencer, Turn};
use crate::device::{Command, Device, Operation};
use crate::observe::{HeldReason, QueueState, Recorder, SliceOwner, TraceKind};

/// What the driver would start next.
enum Next {
    Request(RequestId),
    Flush,
}

impl BlockQueue {
    /// Starts requests while the queue is not plugged and the device has room. The elevator is asked
    /// even when the device is full: one request may be looked at and wait.
    pub(super) fn start_requests(&mut self, now_ns: u64, recorder: &mut Recorder, out: &mut BlockOut) {
        while !self.is_plugged() {
            let Some(next) = self.peek(now_ns, recorder, out) else { break };
            if self.in_device >= self.device.depth() {
                break;
            }
            match next {
                Next::Request(request) => self.start_request(now_ns, request, recorder),
                Next::Flush => self.start_flush(now_ns),
            }
        }
    }

    fn peek(&mut self, now_ns: u64, recorder: &mut Recorder, out: &mut BlockOut) -> Option<Next> {
        loop {
            let idle = self.in_flight == [0; 2];
            match self.sequencer.turn(&self.requests, idle) {
                Turn::Free => {}
                Turn::Wait => return None,
                Turn::LastCommandRunning => {
                    if self.dispatch_list.is_empty() {
                        self.with_elevator(now_ns, recorder, out, |elevator, io| {
                            elevator.dispatch(io, false)
                        });
                    }
                    return None;
                }
                Turn::Flush => return Some(Next::Flush),
                Turn::Data(request) => return Some(Next::Request(request)),
                Turn::Done(request) => {
                    self.finish_request(now_ns, request, recorder, out);
                    continue;
                }
            }
            let Some(first) = self.dispatch_list.first() else {
                if self.with_elevator(now_ns, recorder, out, |elevator, io| elevator.dispatch(io, false)) == 0
                {
                    return None;
                }
                continue;
            };
            if Sequencer::is_special(self.requests[first].flags) {
                self.dispatch_list.pop();
                self.sequencer.begin(first);
                continue;
            }
            self.look_at(now_ns, first, recorder, out);
            return Some(Next::Request(first));
        }
    }

    /// The first time the driver sees a request it tells the elevator.
    fn look_at(&mut self, now_ns: u64, request: RequestId, recorder: &mut Recorder, out: &mut BlockOut) {
        if !self.requests[request].activated {
            self.requests[request].activated = true;
            self.with_elevator(now_ns, recorder, out, |elevator, io| elevator.activated(io, request));
        }
        self.dispatch_list.set_boundary(self.requests[request].end());
    }

    fn start_request(&mut self, now_ns: u64, id: RequestId, recorder: &mut Recorder) {
        if self.dispatch_list.first() == Some(id) {
            self.dispatch_list.pop();
        }
        self.account(now_ns, recorder);
        let held = self.held.totals(now_ns);
        let served = self.held.served_ns(self.requests[id].submitter.io_context, now_ns);
        let request = &mut self.requests[id];
        request.place = Place::Device;
        request.started_ns = now_ns;
        request.held_at_start = held;
        request.served_at_start_ns = served;
        let operation = if request.is_write() { Operation::Write } else { Operation::Read };
        let fua = request.flags.has_any(BioFlags::FUA.with(BioFlags::BARRIER));
        let command = Command {
            tag: id.0,
            operation,
            sector: request.sector,
            sectors: request.sectors,
            force_unit_access: fua && self.device.supports_fua(),
        };
        let facts = (&*request).into();
        self.in_flight[request.sync().index()] += 1;
        self.in_device += 1;
        self.note_depth();
        self.sequencer.started(id);
        recorder.record(TraceKind::Start(facts, self.in_device));
        self.device.start(now_ns, command);
    }

    fn start_flush(&mut self, now_ns: u64) {
        self.in_device += 1;
        self.sequencer.flush_started();
        let command = Command {
            tag: FLUSH_TAG,
            operation: Operation::Flush,
            sector: 0,
            sectors: 0,
            force_unit_access: false,
        };
        self.device.start(now_ns, command);
    }

    /// The device says that it has finished the command `tag`.
    pub(super) fn finish_command(
        &mut self,
        now_ns: u64,
        tag: u32,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) {
        self.account(now_ns, recorder);
        self.in_device -= 1;
        if tag == FLUSH_TAG {
            self.sequencer.flush_finished();
            return;
        }
        let id = RequestId(tag);
        let request = &self.requests[id];
        recorder.record(TraceKind::Complete(request.into(), self.in_device));
        let d = request.sync().index();
        self.in_flight[d] -= 1;
        self.counters.completed[d] += 1;
        let device_ns = now_ns - request.started_ns;
        self.counters.device_ns += device_ns;
        self.counters.bio_device_ns += device_ns * u64::from(request.bios);
        self.counters.completed_bios += u64::from(request.bios);
        self.counters.bio_ns += now_ns * u64::from(request.bios) - request.queued_sum_ns;
        self.counters.sectors[usize::from(request.is_write())] += u64::from(request.sectors);
        if self.sequencer.data_finished(id) {
            // Its bios complete when the rest of its sequence has (see `peek`).
            return;
        }
        self.finish_request(now_ns, id, recorder, out);
    }

    /// Completes the bios, then tells the elevator, then gives the request back to the pool.
    fn finish_request(&mut self, now_ns: u64, id: RequestId, recorder: &mut Recorder, out: &mut BlockOut) {
        let completion = self.completion(id, super::BioTag(0));
        self.requests.take_bios(id, |tag| out.completed.push(super::BioCompletion { tag, ..completion }));
        if !Sequencer::is_special(self.requests[id].flags) {
            self.with_elevator(now_ns, recorder, out, |elevator, io| elevator.completed(io, id));
        }
        self.free_request(now_ns, id, recorder, out);
    }

    /// Frees a request whose bios are gone, and wakes who waits for one.
    pub(super) fn free_request(
        &mut self,
        now_ns: u64,
        id: RequestId,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) {
        let sync = self.requests[id].sync();
        if !Sequencer::is_special(self.requests[id].flags) {
            self.with_elevator(now_ns, recorder, out, |elevator, io| elevator.released(io, id));
        }
        self.requests.release(id);
        out.uncongested[sync.index()] |= self.allocation.is_below_congestion(sync);
        if self.allocation.free(sync) {
            out.wake[sync.index()] += 1;
        }
    }

    /// Brings the account of why the queue is held up to `now_ns`.
    pub(super) fn account(&mut self, now_ns: u64, recorder: &mut Recorder) {
        let busy = self.in_device > 0;
        let reason = if let Some(reason) = self.sequencer.held_reason() {
            reason
        } else if busy {
            HeldReason::Busy
        } else if self.is_plugged() {
            HeldReason::Plugged
        } else if self.elevator.is_idling() {
            HeldReason::Idling
        } else {
            HeldReason::Ready
        };
        let slice = self.elevator.serving();
        let serving = if busy { slice } else { Serving::Nobody };
        self.held.set(now_ns, reason, serving);
        recorder.queue_state(
            now_ns,
            QueueState {
                reason,
                slice: match slice {
                    Serving::Nobody => SliceOwner::Nobody,
                    Serving::Context(io_context) => SliceOwner::Context(io_context),
                    Serving::Async => SliceOwner::Async,
                },
                in_device: self.in_device,
                waiting: self.allocation.allocated() - self.in_flight[0] - self.in_flight[1],
                busy_average: self.elevator.as_cfq().map_or(0, Cfq::busy_average),
            },
        );
    }
}
