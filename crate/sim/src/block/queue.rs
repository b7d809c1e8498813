//! The request queue of one device: the face that the rest of the machine sees.
//!
//! *Models:* merging, plugging and unplugging, the request pool, the driver loop, barriers and
//! flushes, with an elevator above and a device below.
//! *Does not model:* requeues, errors, discards, per-task plugs (2.6.39), CPU cost of the driver.
//! *Follows:* model/block-layer.md, sections 1.1 to 1.8; Linux 2.6.35 `__make_request`,
//! `elv_insert`, `blk_peek_request`, `scsi_request_fn`.

use super::allocation::Allocation;
use super::bio::{Bio, BioFlags, BioTag, Submitter, Sync};
use super::dispatch_list::DispatchList;
use super::elevator::{AnyElevator, DeviceFacts, Effects, Elevator, ElevatorIo, MayQueue, TimerRequest};
use super::held::HeldAccount;
use super::policy::{BlockPolicy, NeverPlugged};
use super::request::{Place, RequestId, RequestPool};
use super::sequence::Sequencer;
use crate::device::{AnyDevice, Device};
use crate::engine::Clock;
use crate::observe::{HeldTotals, Recorder, TraceKind};

/// Requests that may gather behind a plug: this many start the queue (`unplug_thresh`).
const UNPLUG_THRESHOLD: u32 = 4;
/// The longest time a plug stays, in milliseconds (`unplug_delay`).
const UNPLUG_DELAY_MS: u64 = 3;
/// More requests in flight than this show, in 2.6.32, that a device queues commands.
const SEEN_DEEP: u32 = 4;

/// What became of a submitted bio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submission {
    /// Merged or made into a request.
    Accepted,
    /// No request is free in this direction: sleep until [`BlockOut::wake`] says so, then resume.
    MustWait(Sync),
}

/// A bio that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BioCompletion {
    /// The submitter's name for it.
    pub tag: BioTag,
    /// When the device took the request it was part of, in nanoseconds.
    pub started_ns: u64,
    /// The queue's running totals at that moment.
    pub held_at_start: HeldTotals,
    /// How long the request's own submitter had been served by then, in nanoseconds.
    pub served_at_start_ns: u64,
}

/// What a call into a queue causes elsewhere; the caller empties it.
#[derive(Clone, Debug, Default)]
pub struct BlockOut {
    /// Bios that are done, in order.
    pub completed: Vec<BioCompletion>,
    /// Waiters for a free request to wake, one each time: by direction (index [`Sync::index`]).
    pub wake: [u32; 2],
    /// A request of this direction was freed, and fewer than the threshold are left: whoever sleeps for congestion of the
    /// kind to end wakes up.
    pub uncongested: [bool; 2],
    /// kblockd has work: call [`BlockQueue::run_work`] when it gets a CPU.
    pub kick_kblockd: bool,
}

/// The queue's tunables outside the elevator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLimits {
    /// Requests per direction, 4 or more (`nr_requests`).
    pub nr_requests: u32,
    /// The longest request, in sectors (`max_sectors_kb` * 2).
    pub max_sectors: u32,
    /// The most scattered pages in a request (`max_segments`).
    pub max_segments: u32,
}

impl Default for QueueLimits {
    fn default() -> Self {
        Self { nr_requests: 128, max_sectors: 1024, max_segments: 128 }
    }
}

/// How much passed through a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounters {
    /// Bios submitted.
    pub bios: u64,
    /// Requests the device has finished, by direction.
    pub completed: [u64; 2],
    /// Sectors the device has finished, reads and writes.
    pub sectors: [u64; 2],
    /// Bios merged into an existing request.
    pub merges: u64,
    /// Times a submitter slept for a request.
    pub sleeps: u64,
    /// Bios of requests that the device has finished.
    pub completed_bios: u64,
    /// From the submission of each of these bios to that completion, added up, in nanoseconds (blktrace Q to C).
    pub bio_ns: u64,
    /// From the start of the request of each of these bios to that completion, added up, in nanoseconds (blktrace D
    /// to C, which `btt` averages over bios).
    pub bio_device_ns: u64,
    /// From the start of each request to its completion, added up over requests, in nanoseconds.
    pub device_ns: u64,
}

/// The request queue of one device with its elevator and the device itself.
#[derive(Clone, Debug)]
pub struct BlockQueue {
    pub(super) policy: BlockPolicy,
    pub(super) clock: Clock,
    pub(super) limits: QueueLimits,
    pub(super) requests: RequestPool,
    pub(super) dispatch_list: DispatchList,
    pub(super) elevator: AnyElevator,
    pub(super) allocation: Allocation,
    pub(super) sequencer: Sequencer,
    pub(super) device: AnyDevice,
    pub(super) last_merge: Option<(RequestId, u32)>,
    pub(super) in_flight: [u32; 2],
    /// Commands in the device, flushes included.
    pub(super) in_device: u32,
    pub(super) held: HeldAccount,
    pub(super) counters: QueueCounters,
    /// When the plug's timer fires; `None` while not plugged.
    plug_timer_ns: Option<u64>,
    elevator_timer_ns: Option<u64>,
    work: KblockdWork,
    seen_deep: bool,
    finished: Vec<u32>,
    /// Tasks that sleep for a request, and since when: a task sleeps for one bio at a time.
    sleepers: Vec<(u32, u64)>,
}

/// What kblockd has to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct KblockdWork {
    /// Remove the plug (its timer has fired).
    unplug: bool,
    /// Run the queue (the elevator asked for it).
    run: bool,
}

impl BlockQueue {
    /// A queue over `device`, scheduled by `elevator`.
    #[must_use]
    pub fn new(
        policy: BlockPolicy,
        limits: QueueLimits,
        elevator: AnyElevator,
        device: AnyDevice,
        clock: Clock,
    ) -> Self {
        Self {
            policy,
            clock,
            limits,
            requests: RequestPool::new(),
            dispatch_list: DispatchList::default(),
            elevator,
            allocation: Allocation::new(limits.nr_requests, clock.hz()),
            sequencer: Sequencer::new(&device, policy.barrier),
            device,
            last_merge: None,
            in_flight: [0; 2],
            in_device: 0,
            held: HeldAccount::default(),
            counters: QueueCounters::default(),
            plug_timer_ns: None,
            elevator_timer_ns: None,
            work: KblockdWork::default(),
            seen_deep: false,
            finished: Vec::new(),
            sleepers: Vec::new(),
        }
    }

    /// Submits a bio in the context of its submitter. With `resumed`, the submitter has slept for a
    /// request since the first attempt.
    pub fn submit(
        &mut self,
        now_ns: u64,
        bio: &Bio,
        resumed: bool,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) -> Submission {
        let bio = self.sequencer.strip_flags(*bio);
        if resumed {
            self.allocation.start_batch(bio.submitter.io_context, self.clock.jiffies(now_ns));
        } else {
            self.counters.bios += 1;
            recorder.record(TraceKind::Queue((&bio).into()));
            if !Sequencer::is_special(bio.flags)
                && !self.is_empty()
                && self.try_merge(now_ns, &bio, recorder, out)
            {
                self.counters.merges += 1;
                self.unplug_after_submission(now_ns, &bio, recorder, out);
                self.account(now_ns, recorder);
                return Submission::Accepted;
            }
        }
        let task = bio.submitter.task;
        let queued_ns = if resumed { self.waiting_since(task) } else { None }.unwrap_or(now_ns);
        let Some(request) = self.get_request(now_ns, &bio, recorder, out) else {
            self.sleepers.push((task, queued_ns));
            self.counters.sleeps += 1;
            recorder.record(TraceKind::SleepForRequest);
            self.remove_plug_and_run(now_ns, false, recorder, out);
            self.allocation.wait(bio.flags.sync());
            self.account(now_ns, recorder);
            return Submission::MustWait(bio.flags.sync());
        };
        self.requests[request].queued_sum_ns = queued_ns;
        if self.should_plug() && self.is_empty() {
            self.plug(now_ns, recorder);
        }
        self.add_request(now_ns, request, recorder, out);
        self.unplug_after_submission(now_ns, &bio, recorder, out);
        self.account(now_ns, recorder);
        Submission::Accepted
    }

    /// When the bio for which the task slept was first submitted.
    fn waiting_since(&mut self, task: u32) -> Option<u64> {
        let position = self.sleepers.iter().position(|sleeper| sleeper.0 == task)?;
        Some(self.sleepers.swap_remove(position).1)
    }

    fn get_request(
        &mut self,
        now_ns: u64,
        bio: &Bio,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) -> Option<RequestId> {
        let sync = bio.flags.sync();
        let may = self
            .with_elevator(now_ns, recorder, out, |elevator, io| elevator.may_queue(io, bio.submitter, sync));
        let now_jiffies = self.clock.jiffies(now_ns);
        let must = may == MayQueue::Must;
        if !self.allocation.allocate(sync, bio.submitter.io_context, now_jiffies, must) {
            return None;
        }
        let request = self.requests.allocate(bio, now_ns, now_jiffies);
        recorder.record(TraceKind::GetRequest(bio.into()));
        if !Sequencer::is_special(bio.flags) {
            self.with_elevator(now_ns, recorder, out, |elevator, io| elevator.prepare(io, request));
        }
        Some(request)
    }

    /// Section 1.3: into the elevator, or around it for barriers and flushes.
    fn add_request(&mut self, now_ns: u64, request: RequestId, recorder: &mut Recorder, out: &mut BlockOut) {
        recorder.record(TraceKind::Insert((&self.requests[request]).into()));
        let flags = self.requests[request].flags;
        if flags.has(BioFlags::BARRIER) {
            // Everything queued goes before the barrier, whatever the elevator had in mind.
            self.with_elevator(now_ns, recorder, out, |elevator, io| elevator.dispatch(io, true));
            self.dispatch_list.push_back(&mut self.requests, request);
            self.run_queue(now_ns, recorder, out);
        } else if Sequencer::is_special(flags) {
            self.dispatch_list.push_front(&mut self.requests, request);
        } else {
            self.requests.hash_insert(request);
            if self.current_last_merge().is_none() {
                self.set_last_merge(request);
            }
            self.with_elevator(now_ns, recorder, out, |elevator, io| elevator.insert(io, request));
        }
        let waiting = self.allocation.allocated() - self.in_flight[0] - self.in_flight[1];
        if self.plug_timer_ns.is_some() && waiting >= UNPLUG_THRESHOLD {
            self.remove_plug_and_run(now_ns, false, recorder, out);
        }
    }

    /// Somebody is going to wait for I/O, or asks for it to start: removes the plug, if any, and
    /// runs the queue.
    pub fn unplug(&mut self, now_ns: u64, recorder: &mut Recorder, out: &mut BlockOut) {
        if self.plug_timer_ns.is_some() {
            self.remove_plug_and_run(now_ns, false, recorder, out);
            self.account(now_ns, recorder);
        }
    }

    /// kblockd's turn: does the work it was kicked for.
    pub fn run_work(&mut self, now_ns: u64, recorder: &mut Recorder, out: &mut BlockOut) {
        let work = std::mem::take(&mut self.work);
        if work.unplug && self.plug_timer_ns.is_some() {
            self.remove_plug_and_run(now_ns, true, recorder, out);
        }
        if work.run {
            self.run_queue(now_ns, recorder, out);
        }
        self.account(now_ns, recorder);
    }

    /// When the queue next has to be looked after: a timer, or the device. Changes with every call.
    #[must_use]
    #[inline]
    pub fn next_event_ns(&self) -> Option<u64> {
        let plug = if self.work.unplug { None } else { self.plug_timer_ns };
        [plug, self.elevator_timer_ns, self.device.next_event_ns()].into_iter().flatten().min()
    }

    /// Handles everything due at `now_ns`.
    pub fn advance(&mut self, now_ns: u64, recorder: &mut Recorder, out: &mut BlockOut) {
        self.advance_device(now_ns, recorder, out);
        if !self.work.unplug && self.plug_timer_ns.is_some_and(|due| due <= now_ns) {
            self.work.unplug = true;
            out.kick_kblockd = true;
        }
        if self.elevator_timer_ns.is_some_and(|due| due <= now_ns) {
            self.elevator_timer_ns = None;
            self.with_elevator(now_ns, recorder, out, |elevator, io| elevator.timer(io));
        }
        self.account(now_ns, recorder);
    }

    fn advance_device(&mut self, now_ns: u64, recorder: &mut Recorder, out: &mut BlockOut) {
        if self.device.next_event_ns().is_none_or(|due| due > now_ns) {
            return;
        }
        let mut finished = std::mem::take(&mut self.finished);
        self.device.advance(now_ns, &mut finished);
        for tag in finished.drain(..) {
            self.finish_command(now_ns, tag, recorder, out);
            // The driver runs the queue again after each completion (section 1.3).
            self.run_queue(now_ns, recorder, out);
        }
        self.finished = finished;
    }

    /// A process is going to wait for another one's I/O and hands it its turn (section 2.20).
    pub fn yield_to(
        &mut self,
        now_ns: u64,
        from: Submitter,
        to: Submitter,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) {
        self.with_elevator(now_ns, recorder, out, |elevator, io| elevator.yield_to(io, from, to));
        self.account(now_ns, recorder);
    }

    /// The last task of an io context has exited.
    pub fn context_exited(
        &mut self,
        now_ns: u64,
        io_context: u32,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) {
        self.with_elevator(now_ns, recorder, out, |elevator, io| elevator.context_exited(io, io_context));
        self.account(now_ns, recorder);
    }

    /// Whether a direction is congested (section 1.2).
    #[must_use]
    pub fn is_congested(&self, sync: Sync) -> bool {
        self.allocation.is_congested(sync)
    }

    /// The running totals of why the queue was held, up to `now_ns`.
    #[must_use]
    pub fn held_totals(&self, now_ns: u64) -> HeldTotals {
        self.held.totals(now_ns)
    }

    /// How long `io_context`'s own slices have been served up to `now_ns`, in nanoseconds, while
    /// the device was busy. While nobody's slice is served (an elevator without slices), the time
    /// counts as everybody's own.
    #[must_use]
    pub fn served_ns(&self, io_context: u32, now_ns: u64) -> u64 {
        self.held.served_ns(io_context, now_ns)
    }

    /// When the device took the request that holds the bio `tag`, if it has: start time, totals and
    /// service at that moment, as in [`BioCompletion`]. O(requests in the device).
    #[must_use]
    pub fn started(&self, tag: BioTag) -> Option<BioCompletion> {
        let request = self.requests.in_device().find(|&id| self.requests.bios(id).any(|(t, _)| t == tag))?;
        Some(self.completion(request, tag))
    }

    /// How much has passed through.
    #[must_use]
    pub fn counters(&self) -> QueueCounters {
        self.counters
    }

    /// Requests in the device.
    #[must_use]
    pub fn in_device(&self) -> u32 {
        self.in_device
    }

    /// Requests allocated: waiting, or in the device.
    #[must_use]
    pub fn allocated(&self) -> u32 {
        self.allocation.allocated()
    }

    /// Whether the queue is plugged.
    #[must_use]
    pub fn is_plugged(&self) -> bool {
        self.plug_timer_ns.is_some()
    }

    /// The elevator.
    #[must_use]
    pub fn elevator(&self) -> &AnyElevator {
        &self.elevator
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> &AnyDevice {
        &self.device
    }

    /// Section 1.3, "elevator empty": nothing waits here or there.
    #[inline]
    fn is_empty(&self) -> bool {
        self.dispatch_list.is_empty() && !self.sequencer.holds_request() && self.elevator.is_empty()
    }

    fn should_plug(&self) -> bool {
        if !self.device.is_non_rotational() {
            return true;
        }
        match self.policy.never_plugged {
            NeverPlugged::NonRotationalTagged => self.device.depth() <= 1,
            NeverPlugged::NonRotationalSeenDeep => !self.seen_deep,
        }
    }

    fn plug(&mut self, now_ns: u64, recorder: &mut Recorder) {
        if self.plug_timer_ns.is_none() {
            let delay = self.clock.jiffies_from_ms(UNPLUG_DELAY_MS, 1);
            self.plug_timer_ns = Some(self.clock.timer_ns(now_ns, delay));
            recorder.record(TraceKind::Plug);
        }
    }

    fn unplug_after_submission(
        &mut self,
        now_ns: u64,
        bio: &Bio,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) {
        if bio.flags.has(BioFlags::UNPLUG) || !self.should_plug() {
            self.remove_plug_and_run(now_ns, false, recorder, out);
        }
    }

    /// `__generic_unplug_device`: a queue of a rotational device is run only if it was plugged.
    fn remove_plug_and_run(
        &mut self,
        now_ns: u64,
        by_timer: bool,
        recorder: &mut Recorder,
        out: &mut BlockOut,
    ) {
        if self.plug_timer_ns.take().is_some() {
            self.work.unplug = false;
            let waiting = self.allocation.allocated() - self.in_flight[0] - self.in_flight[1];
            recorder.record(if by_timer {
                TraceKind::UnplugTimer(waiting)
            } else {
                TraceKind::Unplug(waiting)
            });
        } else if !self.device.is_non_rotational() {
            return;
        }
        self.start_requests(now_ns, recorder, out);
    }

    /// `__blk_run_queue`: removes the plug without ceremony and runs the driver loop.
    pub(super) fn run_queue(&mut self, now_ns: u64, recorder: &mut Recorder, out: &mut BlockOut) {
        self.plug_timer_ns = None;
        self.work.unplug = false;
        if !self.is_empty() {
            self.start_requests(now_ns, recorder, out);
        }
    }

    pub(super) fn note_depth(&mut self) {
        self.seen_deep |= self.in_flight[0] + self.in_flight[1] > SEEN_DEEP;
    }

    /// Calls an elevator hook and does what it asks for.
    pub(super) fn with_elevator<R>(
        &mut self,
        now_ns: u64,
        recorder: &mut Recorder,
        out: &mut BlockOut,
        hook: impl FnOnce(&mut AnyElevator, &mut ElevatorIo<'_>) -> R,
    ) -> R {
        let mut effects = Effects::default();
        let result = hook(
            &mut self.elevator,
            &mut ElevatorIo {
                now_ns,
                now_jiffies: self.clock.jiffies(now_ns),
                requests: &mut self.requests,
                dispatch_list: &mut self.dispatch_list,
                effects: &mut effects,
                recorder,
                device: DeviceFacts {
                    non_rotational: self.device.is_non_rotational(),
                    queues_commands: self.device.depth() > 1,
                },
            },
        );
        match effects.timer {
            Some(TimerRequest::Arm { jiffies }) => {
                self.elevator_timer_ns = Some(self.clock.timer_ns(now_ns, jiffies));
            }
            Some(TimerRequest::Cancel) => self.elevator_timer_ns = None,
            None => {}
        }
        if effects.kick_kblockd {
            self.work.run = true;
            out.kick_kblockd = true;
        }
        if effects.run_queue {
            self.run_queue(now_ns, recorder, out);
            self.elevator.queue_was_run();
        }
        result
    }

    #[inline]
    pub(super) fn current_last_merge(&self) -> Option<RequestId> {
        let (id, generation) = self.last_merge?;
        let request = &self.requests[id];
        (request.place == Place::Elevator && request.generation == generation).then_some(id)
    }

    pub(super) fn set_last_merge(&mut self, id: RequestId) {
        self.last_merge = Some((id, self.requests[id].generation));
    }

    pub(super) fn completion(&self, request: RequestId, tag: BioTag) -> BioCompletion {
        let request = &self.requests[request];
        BioCompletion {
            tag,
            started_ns: request.started_ns,
            held_at_start: request.held_at_start,
            served_at_start_ns: request.served_at_start_ns,
        }
    }
}
