//! What anticipatory remembers about each io context, and about new ones in general.
//!
//! *Models:* think times and seek distances as decaying means in fixed point (256 is one sample); how
//! likely a process is to exit while it is waited for, and how unlikely another one is to carry on
//! where it stopped.
//! *Does not model:* an io context that does I/O on several devices shares its history between them in
//! the kernel; here each device's elevator has its own.
//! *Follows:* model/block-layer.md, section 3.3; Linux 2.6.32 `as_update_iohist`, `as_update_thinktime`,
//! `as_update_seekdist`.

/// One whole sample, and a probability of one.
pub(super) const ONE: u64 = 256;

/// Moves an eighth of the way from `value` to `sample`, both in fixed point.
fn decay(value: u64, sample: u64) -> u64 {
    value.saturating_mul(7).saturating_add(sample.saturating_mul(ONE)) / 8
}

/// A decaying mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Decaying {
    samples: u64,
    total: u64,
    mean: u64,
}

impl Decaying {
    fn add(&mut self, sample: u64, rounding: impl Fn(u64) -> u64) {
        self.samples = decay(self.samples, 1);
        self.total = decay(self.total, sample);
        self.mean = self.total.saturating_add(rounding(self.samples)) / self.samples.max(1);
    }

    /// The mean of what has been added, if anything has.
    pub(super) fn mean(&self) -> Option<u64> {
        (self.samples != 0).then_some(self.mean)
    }
}

/// What is known of an io context.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    /// Its last task has ended.
    pub(super) has_exited: bool,
    /// It has submitted a sync request at some time.
    has_submitted: bool,
    /// When its last sync request was finished, in jiffies.
    last_end_jiffies: Option<u64>,
    /// The sector behind its last sync request.
    last_sector: u64,
    /// Jiffies between the end of a sync request and the next one, when it had no other.
    pub(super) think: Decaying,
    /// Sectors between a sync request and the next one.
    pub(super) seek: Decaying,
    /// Its requests in the elevator.
    pub(super) queued: u32,
    /// Its requests on the dispatch list at which the driver has not looked.
    pub(super) released: u32,
}

/// What is expected of an io context about which nothing is known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Newcomers {
    think_total: u64,
    seek_total: u64,
    /// How often a process exits, or lets the wait run out, after its first request; 256 is always.
    pub(super) exit_probability: u64,
    /// How often nobody carries on where an exited process stopped; 256 is always.
    pub(super) exit_alone_probability: u64,
}

impl Newcomers {
    /// Mean think time, in jiffies.
    pub(super) fn think_mean(&self) -> u64 {
        self.think_total / ONE
    }

    /// Mean seek distance, in sectors.
    pub(super) fn seek_mean(&self) -> u64 {
        self.seek_total / ONE
    }

    /// A process that was waited for after its first request has exited or taken too long (or not).
    pub(super) fn note_exit(&mut self, exited: bool) {
        self.exit_probability = decay(self.exit_probability, u64::from(exited));
    }

    /// Nobody carried on for an exited process (or somebody did).
    pub(super) fn note_alone(&mut self, alone: bool) {
        self.exit_alone_probability = decay(self.exit_alone_probability, u64::from(alone));
    }
}

/// All io contexts, by number, and what newcomers are like.
#[derive(Clone, Debug)]
pub(super) struct History {
    contexts: Vec<Context>,
    pub(super) newcomers: Newcomers,
    think_max_jiffies: u64,
}

impl History {
    /// Nothing is known. Think times are cut down to `think_max_jiffies`.
    pub(super) fn new(think_max_jiffies: u64) -> Self {
        Self { contexts: Vec::new(), newcomers: Newcomers::default(), think_max_jiffies }
    }

    /// The io context with this number; a new one if it has not been seen.
    pub(super) fn context(&mut self, number: u32) -> &mut Context {
        let index = number as usize;
        if self.contexts.len() <= index {
            self.contexts.resize_with(index + 1, Context::default);
        }
        &mut self.contexts[index]
    }

    /// A request arrives from `number`. If the context had ended, the number has a new owner.
    pub(super) fn revive(&mut self, number: u32) {
        let context = self.context(number);
        if context.has_exited {
            *context = Context { queued: context.queued, released: context.released, ..Context::default() };
        }
    }

    /// Counts a sync request at `sector` as one of `number`'s; it ends before `end`.
    pub(super) fn note_sync_request(&mut self, number: u32, sector: u64, end: u64, now_jiffies: u64) {
        let think_max = self.think_max_jiffies;
        let mut context = *self.context(number);
        if context.has_submitted || context.last_end_jiffies.is_some() {
            let is_idle = context.queued + context.released == 0;
            let think = context.last_end_jiffies.filter(|_| is_idle);
            let think = think.map_or(0, |end| now_jiffies.saturating_sub(end).min(think_max));
            self.note_think_time(&mut context, think);
            let distance = sector.abs_diff(context.last_sector);
            self.note_seek(&mut context, distance);
        }
        context.last_sector = end;
        context.has_submitted = true;
        *self.context(number) = context;
    }

    fn note_think_time(&mut self, context: &mut Context, jiffies: u64) {
        if context.think.mean().is_none() {
            self.newcomers.think_total = decay(self.newcomers.think_total, jiffies);
            self.newcomers.note_exit(false);
        }
        context.think.add(jiffies, |_| ONE / 2);
    }

    fn note_seek(&mut self, context: &mut Context, sectors: u64) {
        if context.seek.mean().is_none() {
            self.newcomers.seek_total = decay(self.newcomers.seek_total, sectors);
        }
        // One far seek in a sequential life counts for little, less so in the first three.
        let allowance = if context.seek.samples <= 60 { 2 << 20 } else { 128 << 10 };
        let most = context.seek.mean.saturating_mul(4).saturating_add(allowance);
        context.seek.add(sectors.min(most), |samples| samples / 2);
    }

    /// A request of `number` is finished, or has become part of another.
    pub(super) fn note_end(&mut self, number: u32, is_sync: bool, now_jiffies: u64) {
        if is_sync {
            self.context(number).last_end_jiffies = Some(now_jiffies);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sections 3.3 and 10.6: three gaps of 4 jiffies give samples 32, 60, 84, totals 128, 240, 338
    /// and, by integer rounding, a mean of 5.
    #[test]
    fn think_time_keeps_the_rounding_of_the_kernel() {
        let mut history = History::new(19);
        history.note_sync_request(0, 0, 8, 100);
        let mut seen = Vec::new();
        for start in [104, 112, 120] {
            history.note_end(0, true, start - 4);
            history.note_sync_request(0, 8, 16, start);
            let think = history.context(0).think;
            seen.push((think.samples, think.total, think.mean));
        }
        assert_eq!(seen, [(32, 128, 8), (60, 240, 6), (84, 338, 5)]);
    }

    /// Section 3.3: think times above HZ/50 count as HZ/50 - 1; none is recorded while the context has
    /// another request under way, and async requests have none.
    #[test]
    fn think_time_is_bounded_and_wants_an_idle_context() {
        let mut history = History::new(19);
        history.note_sync_request(0, 0, 8, 100);
        history.note_end(0, true, 100);
        history.note_sync_request(0, 8, 16, 5000);
        assert_eq!(history.context(0).think.total, 19 * ONE / 8);

        history.context(1).queued = 1;
        history.note_end(1, true, 100);
        history.note_sync_request(1, 8, 16, 110);
        assert_eq!(history.context(1).think.mean(), Some((ONE / 2) / 32));

        history.note_end(2, false, 100);
        history.note_sync_request(2, 8, 16, 110);
        assert_eq!(history.context(2).think.mean(), None);
    }

    /// Section 3.3: newcomers' means follow the first think time and the first seek of each context.
    #[test]
    fn newcomers_are_judged_by_first_samples_only() {
        let mut history = History::new(19);
        history.newcomers.note_exit(true);
        assert_eq!(history.newcomers.exit_probability, 32);
        for (number, end) in [(0, 8), (0, 16), (0, 24)] {
            history.note_sync_request(number, end + 792, end + 800, 100);
            history.note_end(number, true, 100);
        }
        // The first request of a context has no distance; the second lies 792 - 800 + 8 sectors away.
        assert_eq!(history.newcomers.seek_mean(), 0);
        assert_eq!(history.newcomers.exit_probability, 28);
        history.note_sync_request(1, 0, 8, 100);
        history.note_end(1, true, 100);
        history.note_sync_request(1, 808, 816, 108);
        assert_eq!(history.newcomers.seek_mean(), 100);
        assert_eq!(history.newcomers.think_mean(), 1);
        assert_eq!(history.newcomers.exit_probability, 24);
    }

    /// Linux 2.6.32 `as_update_seekdist`: a first far seek counts up to 4 means and 2^21 sectors,
    /// later ones up to 4 means and 2^17.
    #[test]
    fn a_far_seek_is_cut_down() {
        let mut history = History::new(19);
        history.note_sync_request(0, 0, 0, 100);
        history.note_sync_request(0, 1 << 40, 0, 100);
        assert_eq!(history.context(0).seek.mean(), Some(1 << 21));
        let mut history = History::new(19);
        for _ in 0..4 {
            history.note_sync_request(0, 0, 0, 100);
        }
        history.note_sync_request(0, 1 << 40, 0, 100);
        assert_eq!(history.context(0).seek.total, (128 << 10) * ONE / 8);
    }

    /// A number whose owner has ended starts a new life, but its requests under way remain its own.
    #[test]
    fn an_ended_context_is_not_remembered() {
        let mut history = History::new(19);
        history.context(3).queued = 2;
        history.note_end(3, true, 100);
        history.context(3).has_exited = true;
        history.revive(3);
        let context = *history.context(3);
        assert_eq!((context.queued, context.has_exited, context.last_end_jiffies), (2, false, None));
    }
}
