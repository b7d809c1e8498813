//! Whether to keep the disk waiting for the process just served, and when to stop.
//!
//! *Models:* the wait, first for the end of the process's request, then for its next one; the reasons
//! for not waiting; requests of others that are close enough to be as good.
//! *Does not model:* nothing is left out.
//! *Follows:* model/block-layer.md, section 3.3; Linux 2.6.32 `as_can_anticipate`,
//! `as_can_break_anticipation`, `as_close_req`, `as_antic_timeout`. By the source, the requests of the
//! process that end the wait are those in the elevator and those on the dispatch list; one that the
//! driver has seen does not.

use super::history::{History, ONE};
use crate::block::elevator::{Effects, TimerRequest};
use crate::block::{RequestId, RequestPool, Sync};

/// Sectors in front of the head that count as close: 4 MiB. Half as many behind it.
const CLOSE_SECTORS: u64 = 8192;

/// How far the wait has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not waiting.
    Off,
    /// The expected process's own request is still on its way.
    ForItsEnd,
    /// It is finished, and the timer runs.
    ForTheNext,
    /// A request worth serving has come, or the time is over: the next dispatch does not wait.
    Finished,
}

/// What a wait is weighed against: the request that would be served instead, or that just came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    io_context: u32,
    kind: Sync,
    sector: u64,
    end: u64,
}

impl Candidate {
    pub(super) fn new(requests: &RequestPool, id: RequestId) -> Self {
        let request = &requests[id];
        Self {
            io_context: request.submitter.io_context,
            kind: request.sync(),
            sector: request.sector,
            end: request.end(),
        }
    }
}

/// When, and with which settings, a wait is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judgement {
    pub(super) now_jiffies: u64,
    pub(super) antic_expire_jiffies: u64,
    /// Where the last request of the present batch's kind ended.
    pub(super) head: u64,
}

/// The wait for one process.
#[derive(Clone, Debug)]
pub(super) struct Anticipation {
    phase: Phase,
    /// The io context of the last request dispatched, if that was a sync one.
    expected: Option<u32>,
    /// A request of the expected context has been finished since it was last dispatched for.
    has_ended: bool,
    /// When that was.
    since_jiffies: u64,
    /// After so many jiffies of waiting any sync request is close.
    close_jiffies_max: u64,
}

impl Anticipation {
    /// Nobody is expected. Closeness grows for `close_jiffies_max` jiffies.
    pub(super) fn new(close_jiffies_max: u64) -> Self {
        Self { phase: Phase::Off, expected: None, has_ended: false, since_jiffies: 0, close_jiffies_max }
    }

    /// Whether requests are held back.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.phase, Phase::ForItsEnd | Phase::ForTheNext)
    }

    /// The io context that is waited for.
    pub(super) fn waits_for(&self) -> Option<u32> {
        self.expected.filter(|_| self.is_waiting())
    }

    /// A request has been dispatched: its context is expected next if it was sync, and nobody if not.
    pub(super) fn expect(&mut self, io_context: Option<u32>) {
        self.phase = Phase::Off;
        self.expected = io_context;
        self.has_ended = false;
    }

    /// Whether to wait for the expected process rather than serve `candidate`.
    pub(super) fn should_wait(
        &mut self,
        history: &mut History,
        candidate: Option<Candidate>,
        judgement: Judgement,
    ) -> bool {
        self.expected.is_some()
            && self.phase != Phase::Finished
            && !self.should_stop(history, candidate, judgement)
    }

    /// Begins to wait; the time runs from the end of the expected process's request.
    pub(super) fn begin(&mut self, effects: &mut Effects, judgement: Judgement) {
        if self.phase == Phase::Off {
            self.phase = Phase::ForItsEnd;
            if self.has_ended {
                self.start_timer(effects, judgement.now_jiffies, judgement.antic_expire_jiffies);
            }
        }
    }

    /// A request has been finished.
    pub(super) fn note_end(
        &mut self,
        effects: &mut Effects,
        io_context: u32,
        now_jiffies: u64,
        antic_expire_jiffies: u64,
    ) {
        if self.expected == Some(io_context) {
            self.since_jiffies = now_jiffies;
            self.has_ended = true;
            if self.phase == Phase::ForItsEnd {
                self.start_timer(effects, now_jiffies, antic_expire_jiffies);
            }
        }
    }

    /// Ends the wait, if there is one; kblockd will run the queue.
    pub(super) fn stop(&mut self, effects: &mut Effects) {
        if self.phase == Phase::ForTheNext {
            effects.timer = Some(TimerRequest::Cancel);
        }
        if self.is_waiting() {
            self.phase = Phase::Finished;
            effects.kick_kblockd = true;
        }
    }

    /// The expected request has not come in time.
    pub(super) fn time_out(&mut self, effects: &mut Effects, history: &mut History) {
        let Some(io_context) = self.waits_for() else { return };
        self.phase = Phase::Finished;
        effects.kick_kblockd = true;
        let context = *history.context(io_context);
        if context.think.mean().is_none() {
            history.newcomers.note_exit(true);
        }
        if context.has_exited {
            history.newcomers.note_alone(true);
        }
    }

    /// Whether there is a reason not to wait (any longer): a good candidate, or little hope.
    pub(super) fn should_stop(
        &mut self,
        history: &mut History,
        candidate: Option<Candidate>,
        judgement: Judgement,
    ) -> bool {
        let Some(expected) = self.expected else { return true };
        if candidate.is_some_and(|candidate| candidate.io_context == expected) {
            return true;
        }
        let waited_jiffies = judgement.now_jiffies.saturating_sub(self.since_jiffies);
        if self.has_ended && waited_jiffies >= judgement.antic_expire_jiffies {
            return true;
        }
        let context = history.context(expected);
        if context.queued > 0 || context.released > 0 {
            return true;
        }
        let others = candidate.filter(|candidate| candidate.kind == Sync::Sync);
        if let Some(close) = others.filter(|other| self.is_close(history, expected, *other, judgement)) {
            Self::take_instead(history, expected, close, judgement.now_jiffies);
            return true;
        }
        Self::is_hopeless(history, expected, judgement.antic_expire_jiffies)
    }

    /// Another process's request that is close counts as if the expected process had made it.
    fn take_instead(history: &mut History, expected: u32, close: Candidate, now_jiffies: u64) {
        let context = *history.context(expected);
        if context.has_exited {
            if context.think.mean().is_none() {
                history.newcomers.note_exit(true);
            }
            history.newcomers.note_alone(false);
        }
        history.note_sync_request(expected, close.sector, close.end, now_jiffies);
    }

    /// The expected process has exited and nobody usually follows, or it thinks for too long.
    fn is_hopeless(history: &mut History, expected: u32, antic_expire_jiffies: u64) -> bool {
        let context = *history.context(expected);
        let newcomers = &mut history.newcomers;
        if context.has_exited {
            if context.think.mean().is_none() {
                newcomers.note_exit(true);
            }
            if newcomers.exit_alone_probability > ONE / 2 {
                return true;
            }
        }
        match context.think.mean() {
            Some(mean) => mean > antic_expire_jiffies,
            None => {
                let goes_for_good = newcomers.exit_probability * newcomers.exit_alone_probability;
                newcomers.think_mean() > antic_expire_jiffies || goes_for_good > ONE / 2 * ONE
            }
        }
    }

    /// Whether serving `other` moves the head little: less the shorter the wait has been so far, or
    /// less than the expected process's own requests usually do.
    fn is_close(&self, history: &mut History, expected: u32, other: Candidate, judgement: Judgement) -> bool {
        let is_timed = self.phase != Phase::Off && self.has_ended;
        let waited_jiffies =
            if is_timed { judgement.now_jiffies.saturating_sub(self.since_jiffies) } else { 0 };
        if waited_jiffies > 0
            && (waited_jiffies > self.close_jiffies_max || waited_jiffies > judgement.antic_expire_jiffies)
        {
            return true;
        }
        let reach = CLOSE_SECTORS << waited_jiffies.min(40);
        let head = judgement.head;
        if head <= other.sector.saturating_add(reach / 2) && other.sector <= head.saturating_add(reach) {
            return true;
        }
        let usual = history.context(expected).seek.mean().unwrap_or(history.newcomers.seek_mean());
        usual > other.sector.abs_diff(head)
    }

    fn start_timer(&mut self, effects: &mut Effects, now_jiffies: u64, antic_expire_jiffies: u64) {
        let target = self.since_jiffies.saturating_add(antic_expire_jiffies);
        // A timer set for the present tick or an earlier one fires on the next.
        let jiffies = target.saturating_sub(now_jiffies).max(1);
        effects.timer = Some(TimerRequest::Arm { jiffies });
        self.phase = Phase::ForTheNext;
    }
}
