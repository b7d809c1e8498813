//! anticipatory, plainly: section 3.3, one flat state and one long look at it.

use super::driver::Ticket;
use super::plain::{PlainQueue, PlainRequest, Reference};
use crate::block::elevator::{AnticipatoryTunables, MayQueue, Serving};
use crate::block::{Bio, Submitter, Sync};
use crate::engine::Clock;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Status {
    Off,
    WaitsForEnd,
    WaitsForNext,
    Finished,
}

/// Fixed point: 256 is 1.
#[derive(Clone, Copy, Default)]
struct Process {
    exited: bool,
    has_started: bool,
    last_end: Option<i64>,
    last_position: i64,
    think_samples: i64,
    think_total: i64,
    think_mean: i64,
    seek_samples: i64,
    seek_total: i64,
    seek_mean: i64,
}

struct PlainAnticipatory {
    read_expire: i64,
    write_expire: i64,
    read_batch: i64,
    write_batch: i64,
    antic_expire: i64,
    hz: i64,

    serves_reads: bool,
    changed_batch: bool,
    new_batch: bool,
    batch_expires: i64,
    write_count: i64,
    writes_left: i64,
    write_batch_idled: bool,

    status: Status,
    expected: Option<u32>,
    expected_finished: bool,
    antic_start: i64,

    next_read: Option<Ticket>,
    next_write: Option<Ticket>,
    read_position: i64,
    write_position: i64,
    reads_checked: i64,
    writes_checked: i64,

    processes: BTreeMap<u32, Process>,
    exit_prob: i64,
    exit_no_coop: i64,
    new_think_total: i64,
    new_seek_total: i64,
}

fn of_kind(reads: bool) -> impl Fn(&PlainRequest) -> bool {
    move |request| request.is_sync() == reads
}

fn eighth(old: i64, new: i64) -> i64 {
    (7 * old + 256 * new) / 8
}

impl PlainAnticipatory {
    fn new(tunables: AnticipatoryTunables, clock: &Clock, now: u64) -> Self {
        let hz = clock.hz() as i64;
        Self {
            read_expire: tunables.read_expire_jiffies as i64,
            write_expire: tunables.write_expire_jiffies as i64,
            read_batch: tunables.read_batch_expire_jiffies as i64,
            write_batch: tunables.write_batch_expire_jiffies as i64,
            antic_expire: tunables.antic_expire_jiffies as i64,
            hz,
            serves_reads: false,
            changed_batch: false,
            new_batch: false,
            batch_expires: now as i64 + hz / 2,
            write_count: (hz / 8 / 10).max(2),
            writes_left: 0,
            write_batch_idled: false,
            status: Status::Off,
            expected: None,
            expected_finished: false,
            antic_start: 0,
            next_read: None,
            next_write: None,
            read_position: 0,
            write_position: 0,
            reads_checked: 0,
            writes_checked: 0,
            processes: BTreeMap::new(),
            exit_prob: 0,
            exit_no_coop: 0,
            new_think_total: 0,
            new_seek_total: 0,
        }
    }

    fn waits(&self) -> bool {
        self.status == Status::WaitsForEnd || self.status == Status::WaitsForNext
    }

    fn next(&mut self, reads: bool) -> &mut Option<Ticket> {
        if reads { &mut self.next_read } else { &mut self.next_write }
    }

    fn position(&self, reads: bool) -> i64 {
        if reads { self.read_position } else { self.write_position }
    }

    /// The better of two requests of a kind, seen from where the last one ended.
    fn better(&self, queue: &PlainQueue, one: Option<Ticket>, other: Option<Ticket>) -> Option<Ticket> {
        let (Some(a), Some(b)) = (one, other) else { return one.or(other) };
        let head = self.position(queue.get(a).is_sync());
        let (at_a, at_b) = (queue.get(a).sector as i64, queue.get(b).sector as i64);
        let way = |sector: i64| match sector - head {
            forward if forward >= 0 => Some(forward),
            backward if backward >= -1024 * 1024 => Some(-2 * backward),
            _ => None,
        };
        let a_is_better = match (way(at_a), way(at_b)) {
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => at_a <= at_b,
            (Some(to_a), Some(to_b)) if to_a == to_b => at_a >= at_b,
            (Some(to_a), Some(to_b)) => to_a < to_b,
        };
        if a_is_better { one } else { other }
    }

    /// What to serve after a request, which is still held.
    fn after(&self, queue: &PlainQueue, ticket: Ticket) -> Option<Ticket> {
        let reads = queue.get(ticket).is_sync();
        let (before, behind) = queue.around(ticket, of_kind(reads));
        let lowest = queue.held(of_kind(reads)).min_by_key(|request| request.key);
        let wrapped = lowest.map(|request| request.ticket).filter(|lowest| *lowest != ticket);
        self.better(queue, behind.or(wrapped), before)
    }

    fn stop_waiting(&mut self, queue: &mut PlainQueue) {
        if self.waits() {
            if self.status == Status::WaitsForNext {
                queue.cancel_timer();
            }
            self.status = Status::Finished;
            queue.effects.kick_kblockd = true;
        }
    }

    fn start_timer(&mut self, queue: &mut PlainQueue) {
        self.status = Status::WaitsForNext;
        queue.arm((self.antic_start + self.antic_expire - queue.now as i64) as u64);
    }

    fn send(&mut self, queue: &mut PlainQueue, ticket: Ticket) {
        self.stop_waiting(queue);
        self.status = Status::Off;
        self.expected_finished = false;
        let request = *queue.get(ticket);
        if request.is_sync() {
            self.expected = Some(request.submitter.io_context);
            self.read_position = request.end() as i64;
        } else {
            self.expected = None;
            self.write_position = request.end() as i64;
            self.writes_left = (self.writes_left - 1).max(0);
        }
        *self.next(request.is_sync()) = self.after(queue, ticket);
        queue.dispatch_sorted(ticket);
    }

    /// Two requests of one kind never start at the same sector: the earlier one is sent on.
    fn make_room(&mut self, queue: &mut PlainQueue, ticket: Ticket) {
        let new = *queue.get(ticket);
        let same_start = queue.held(of_kind(new.is_sync())).find(|r| r.key == new.key && r.ticket != ticket);
        if let Some(earlier) = same_start {
            self.send(queue, earlier.ticket);
        }
    }

    fn queued(queue: &PlainQueue, io_context: u32) -> usize {
        queue.held(|request| request.submitter.io_context == io_context).count()
    }

    /// On the dispatch list, and the driver has not looked at it.
    fn released(queue: &PlainQueue, io_context: u32) -> usize {
        let ours = |ticket: &&Ticket| queue.get(**ticket).submitter.io_context == io_context;
        queue.dispatch_list.iter().filter(ours).filter(|ticket| !queue.is_activated(**ticket)).count()
    }

    fn learn(&mut self, queue: &PlainQueue, io_context: u32, request: &PlainRequest) {
        let is_idle = Self::queued(queue, io_context) + Self::released(queue, io_context) == 0;
        let process = self.processes.entry(io_context).or_default();
        if process.has_started || process.last_end.is_some() {
            let mut think = 0;
            if let (Some(end), true) = (process.last_end, is_idle) {
                think = (queue.now as i64 - end).min(self.hz / 50 - 1);
            }
            if process.think_samples == 0 {
                self.new_think_total = eighth(self.new_think_total, think);
                self.exit_prob = eighth(self.exit_prob, 0);
            }
            process.think_samples = eighth(process.think_samples, 1);
            process.think_total = eighth(process.think_total, think);
            process.think_mean = (process.think_total + 128) / process.think_samples;

            let mut distance = (request.sector as i64 - process.last_position).abs();
            if process.seek_samples == 0 {
                self.new_seek_total = eighth(self.new_seek_total, distance);
            }
            let slack = if process.seek_samples <= 60 { 2 * 1024 * 1024 } else { 2 * 1024 * 64 };
            distance = distance.min(4 * process.seek_mean + slack);
            process.seek_samples = eighth(process.seek_samples, 1);
            process.seek_total = eighth(process.seek_total, distance);
            process.seek_mean = (process.seek_total + process.seek_samples / 2) / process.seek_samples;
        }
        process.last_position = request.end() as i64;
        process.has_started = true;
    }

    fn is_close(&self, queue: &PlainQueue, process: Process, request: &PlainRequest) -> bool {
        let mut delay = 0;
        if self.status != Status::Off && self.expected_finished {
            delay = queue.now as i64 - self.antic_start;
        }
        if delay > 0 && (delay > 20 * self.hz / 1000 || delay > self.antic_expire) {
            return true;
        }
        let reach: i64 = 8192 << delay;
        let head = self.position(self.serves_reads);
        let at = request.sector as i64;
        let usual = match process.seek_samples {
            0 => self.new_seek_total / 256,
            _ => process.seek_mean,
        };
        (at >= head - reach / 2 && at <= head + reach) || (at - head).abs() < usual
    }

    /// Is there a reason to go on with this request, or without one?
    fn can_break(&mut self, queue: &PlainQueue, ticket: Option<Ticket>) -> bool {
        let Some(expected) = self.expected else { return true };
        let request = ticket.map(|ticket| *queue.get(ticket));
        let process = self.processes.get(&expected).copied().unwrap_or_default();
        let is_fresh = process.think_samples == 0;
        if request.is_some_and(|request| request.submitter.io_context == expected) {
            return true;
        }
        if self.expected_finished && queue.now as i64 - self.antic_start >= self.antic_expire {
            return true;
        }
        if Self::queued(queue, expected) > 0 || Self::released(queue, expected) > 0 {
            return true;
        }
        if let Some(request) = request
            && request.is_sync()
            && self.is_close(queue, process, &request)
        {
            if process.exited {
                if is_fresh {
                    self.exit_prob = eighth(self.exit_prob, 1);
                }
                self.exit_no_coop = eighth(self.exit_no_coop, 0);
            }
            self.learn(queue, expected, &request);
            return true;
        }
        if process.exited {
            if is_fresh {
                self.exit_prob = eighth(self.exit_prob, 1);
            }
            if self.exit_no_coop > 128 {
                return true;
            }
        }
        if is_fresh {
            self.new_think_total / 256 > self.antic_expire || self.exit_prob * self.exit_no_coop > 128 * 256
        } else {
            process.think_mean > self.antic_expire
        }
    }

    fn oldest_has_expired(&mut self, queue: &PlainQueue, reads: bool) -> bool {
        let now = queue.now as i64;
        let (checked, expire) = if reads {
            (&mut self.reads_checked, self.read_expire)
        } else {
            (&mut self.writes_checked, self.write_expire)
        };
        if now - *checked < expire {
            return false;
        }
        *checked = now;
        queue.oldest(of_kind(reads)).is_some_and(|oldest| now > oldest.fifo_jiffies as i64)
    }

    fn batch_has_expired(&self, now: i64) -> bool {
        let time_is_over = now > self.batch_expires || (!self.serves_reads && self.writes_left == 0);
        time_is_over && !self.changed_batch && !self.new_batch
    }

    fn dispatch_one(&mut self, queue: &mut PlainQueue) -> bool {
        let now = queue.now as i64;
        let oldest_read = queue.oldest(of_kind(true)).map(|request| request.ticket);
        let oldest_write = queue.oldest(of_kind(false)).map(|request| request.ticket);
        let (reads, writes) = (oldest_read.is_some(), oldest_write.is_some());
        if !self.serves_reads && !reads && (self.writes_left == 0 || !writes) {
            self.write_batch_idled = true;
        }
        if (!reads && !writes) || self.waits() || self.changed_batch {
            return false;
        }
        let mut chosen = None;
        if !(reads && writes && self.batch_has_expired(now)) {
            chosen = *self.next(self.serves_reads);
            let mut expired = false;
            if self.serves_reads && self.antic_expire > 0 {
                expired = self.oldest_has_expired(queue, true);
                let may_wait = self.expected.is_some() && self.status != Status::Finished;
                if !expired && may_wait && !self.can_break(queue, chosen) {
                    if self.expected_finished {
                        self.start_timer(queue);
                    } else {
                        self.status = Status::WaitsForEnd;
                    }
                    return false;
                }
            }
            if chosen.is_some() && !expired {
                if reads && !writes {
                    self.batch_expires = now + self.read_batch;
                }
                expired = self.oldest_has_expired(queue, self.serves_reads);
            }
            if expired {
                chosen = if self.serves_reads { oldest_read } else { oldest_write };
            }
        }
        if chosen.is_none() {
            if reads && !(writes && self.serves_reads) {
                self.changed_batch |= !self.serves_reads;
                self.serves_reads = true;
                self.reads_checked = now;
                chosen = oldest_read;
            } else {
                if self.serves_reads {
                    self.changed_batch = true;
                    self.new_batch = false;
                }
                self.serves_reads = false;
                self.writes_left = self.write_count;
                self.write_batch_idled = false;
                self.writes_checked = now;
                chosen = oldest_write;
            }
        }
        if self.changed_batch {
            if queue.requests.values().any(|request| !request.held) {
                return false;
            }
            self.changed_batch = false;
            if self.serves_reads {
                self.new_batch = true;
            } else {
                self.batch_expires = now + self.write_batch;
            }
        }
        self.send(queue, chosen.expect("something waits"));
        true
    }

    fn resize_write_batch(&mut self, now: i64) {
        let took = (now - self.batch_expires + self.write_batch).max(0);
        if took > 3 * self.write_batch && !self.write_batch_idled {
            self.write_count /= 2;
        } else if took > self.write_batch && !self.write_batch_idled {
            self.write_count -= 1;
        } else if 3 * took < self.write_batch && self.writes_left == 0 {
            self.write_count *= 2;
        } else if took < self.write_batch && self.writes_left == 0 {
            self.write_count += 1;
        }
        self.write_count = self.write_count.max(1);
    }

    fn finished(&mut self, queue: &PlainQueue, request: &PlainRequest) {
        if request.is_sync() {
            let process = self.processes.entry(request.submitter.io_context).or_default();
            process.last_end = Some(queue.now as i64);
        }
    }
}

impl Reference for PlainAnticipatory {
    fn may_queue(&mut self, _queue: &mut PlainQueue, submitter: Submitter, _sync: Sync) -> MayQueue {
        if self.waits() && self.expected == Some(submitter.io_context) {
            MayQueue::Must
        } else {
            MayQueue::May
        }
    }

    fn front_merge_candidate(&self, queue: &PlainQueue, bio: &Bio) -> Option<Ticket> {
        // The kernel looks among the wrong kind, so that only sync writes are found.
        let is_sync_write = |request: &PlainRequest| request.is_sync() && request.is_write();
        let found = queue.starting_at(bio.end(), is_sync_write)?;
        bio.flags.is_write().then_some(found.ticket)
    }

    fn neighbours(&self, queue: &PlainQueue, ticket: Ticket) -> (Option<Ticket>, Option<Ticket>) {
        queue.around(ticket, of_kind(queue.get(ticket).is_sync()))
    }

    fn front_merged(&mut self, queue: &mut PlainQueue, ticket: Ticket, _old_sector: u64) {
        // While another is sent on, the request itself is not part of the order.
        queue.get_mut(ticket).held = false;
        self.make_room(queue, ticket);
        queue.get_mut(ticket).held = true;
    }

    fn requests_merged(&mut self, queue: &mut PlainQueue, survivor: Ticket, absorbed: Ticket) {
        queue.inherit_deadline(survivor, absorbed);
        let gone = *queue.get(absorbed);
        if *self.next(gone.is_sync()) == Some(absorbed) {
            *self.next(gone.is_sync()) = self.after(queue, absorbed);
        }
        queue.get_mut(absorbed).held = false;
        self.finished(queue, &gone);
    }

    fn insert(&mut self, queue: &mut PlainQueue, ticket: Ticket) {
        let request = *queue.get(ticket);
        let process = self.processes.entry(request.submitter.io_context).or_default();
        if process.exited {
            *process = Process::default();
        }
        if request.is_sync() {
            self.learn(queue, request.submitter.io_context, &request);
        }
        self.make_room(queue, ticket);
        queue.hold(ticket);
        let expire = if request.is_sync() { self.read_expire } else { self.write_expire };
        queue.get_mut(ticket).fifo_jiffies = queue.now + expire as u64;
        let next = *self.next(request.is_sync());
        *self.next(request.is_sync()) = self.better(queue, Some(ticket), next);
        if self.waits() && self.can_break(queue, Some(ticket)) {
            self.stop_waiting(queue);
        }
    }

    fn dispatch(&mut self, queue: &mut PlainQueue, force: bool) -> usize {
        if !force {
            return usize::from(self.dispatch_one(queue));
        }
        let held = queue.held(|_| true).count();
        self.serves_reads = true;
        self.changed_batch = false;
        self.new_batch = false;
        for reads in [true, false] {
            while let Some(oldest) = queue.oldest(of_kind(reads)) {
                let ticket = self.next(reads).unwrap_or(oldest.ticket);
                self.send(queue, ticket);
            }
        }
        self.reads_checked = queue.now as i64;
        self.writes_checked = queue.now as i64;
        held
    }

    fn completed(&mut self, queue: &mut PlainQueue, ticket: Ticket) {
        let now = queue.now as i64;
        let request = *queue.get(ticket);
        let is_last = queue.requests.values().filter(|other| !other.held).count() == 1;
        if self.changed_batch && is_last {
            self.changed_batch = false;
            self.batch_expires = now + if self.serves_reads { self.read_batch } else { self.write_batch };
            self.new_batch |= self.serves_reads;
            queue.effects.kick_kblockd = true;
        }
        if self.new_batch && self.serves_reads == request.is_sync() {
            self.resize_write_batch(now);
            self.batch_expires = now + self.read_batch;
            self.new_batch = false;
        }
        if self.expected == Some(request.submitter.io_context) {
            self.antic_start = now;
            self.expected_finished = true;
            if self.status == Status::WaitsForEnd {
                self.start_timer(queue);
            }
        }
        self.finished(queue, &request);
    }

    fn timer(&mut self, queue: &mut PlainQueue) {
        if !self.waits() {
            return;
        }
        self.status = Status::Finished;
        queue.effects.kick_kblockd = true;
        let expected = self.expected.and_then(|number| self.processes.get(&number));
        let process = expected.copied().unwrap_or_default();
        if process.think_samples == 0 {
            self.exit_prob = eighth(self.exit_prob, 1);
        }
        if process.exited {
            self.exit_no_coop = eighth(self.exit_no_coop, 1);
        }
    }

    fn context_exited(&mut self, _queue: &mut PlainQueue, io_context: u32) {
        self.processes.entry(io_context).or_default().exited = true;
    }

    fn serving(&self) -> Serving {
        match self.expected {
            Some(expected) if self.waits() => Serving::Context(expected),
            _ => Serving::Nobody,
        }
    }

    fn is_idling(&self) -> bool {
        self.waits()
    }
}

mod tests {
    use super::super::driver::{Action, Machine, Tally, actions, compare, light_actions, machine, summary};
    use super::super::fast::Fast;
    use super::super::plain::Plain;
    use super::*;
    use crate::block::elevator::Anticipatory;
    use proptest::prelude::*;

    fn settings() -> impl Strategy<Value = (AnticipatoryTunables, Clock)> {
        let small = (0_u64..40, 0_u64..80, 0_u64..60, 0_u64..40, 0_u64..12).prop_map(
            |(read, write, read_batch, write_batch, antic)| AnticipatoryTunables {
                read_expire_jiffies: read,
                write_expire_jiffies: write,
                read_batch_expire_jiffies: read_batch,
                write_batch_expire_jiffies: write_batch,
                antic_expire_jiffies: antic,
            },
        );
        let clock = prop_oneof![Just(1000), Just(250), Just(100)].prop_map(|hz| Clock::new(hz, false));
        (clock, prop::option::of(small)).prop_map(|(clock, small)| {
            (small.unwrap_or_else(|| AnticipatoryTunables::for_clock(&clock)), clock)
        })
    }

    fn run(
        machine: Machine,
        (tunables, clock): (AnticipatoryTunables, Clock),
        actions: &[Action],
    ) -> Result<Tally, TestCaseError> {
        let start = machine.start_jiffies;
        let mut fast = Fast::new(Anticipatory::new(tunables, &clock, start), machine.device);
        let mut plain = Plain::new(PlainAnticipatory::new(tunables, &clock, start), machine.device);
        compare(machine, &mut fast, &mut plain, actions)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        /// Section 3.3: the fast anticipatory and the plain one serve the same requests in the same
        /// order, wait for the same processes and set the same timers.
        #[test]
        fn anticipatory_agrees_with_its_reference(
            machine in machine(),
            settings in settings(),
            actions in prop_oneof![actions(300).boxed(), light_actions(400).boxed()],
        ) {
            run(machine, settings, &actions)?;
        }
    }

    /// The comparison is about something: waits, rewarded and in vain, and merges come up.
    #[test]
    fn the_comparison_reaches_what_it_compares() {
        let clock = Clock::new(1000, false);
        let tunables = AnticipatoryTunables::for_clock(&clock);
        let tally = summary(200, |machine, actions| run(machine, (tunables, clock), actions));
        assert!(tally.back_merges > 100 && tally.front_merges > 100 && tally.coalesced > 10, "{tally:?}");
        assert!(tally.idled > 100 && tally.timers_fired > 20 && tally.must_queue > 20, "{tally:?}");
    }
}
