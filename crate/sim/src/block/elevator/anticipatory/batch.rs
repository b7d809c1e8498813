//! Batches: sync requests for a while, then async ones, then sync ones again.
//!
//! *Models:* the turn between the two kinds, begun when the device is empty; a batch of writes that
//! grows and shrinks so that it takes its time.
//! *Does not model:* nothing is left out.
//! *Follows:* model/block-layer.md, section 3.3; Linux 2.6.32 `as_dispatch_request`,
//! `as_batch_expired`, `update_write_batch`.

use super::tunables::AnticipatoryTunables;
use crate::block::Sync;

/// Whose turn it is, and for how long.
#[derive(Clone, Debug)]
pub(super) struct Batch {
    /// The kind that is served.
    pub(super) kind: Sync,
    /// The other kind's last requests are still in the device.
    pub(super) is_changing: bool,
    /// A batch of reads has been begun and none of them is finished.
    pub(super) awaits_first_end: bool,
    /// The batch may end after this jiffy.
    expires_jiffies: u64,
    /// How many writes make a batch.
    write_limit: u64,
    /// How many more writes this batch may have.
    writes_left: u64,
    /// The batch of writes has not been pressed for time: its length says nothing.
    has_been_idle: bool,
}

impl Batch {
    /// Before the first request. The kernel starts in a batch of no writes.
    pub(super) fn new(defaults: &AnticipatoryTunables, now_jiffies: u64) -> Self {
        Self {
            kind: Sync::Async,
            is_changing: false,
            awaits_first_end: false,
            expires_jiffies: now_jiffies + defaults.batch_jiffies(Sync::Sync),
            write_limit: (defaults.batch_jiffies(Sync::Async) / 10).max(2),
            writes_left: 0,
            has_been_idle: false,
        }
    }

    /// Notes that only writes, or nothing, is there to be served.
    pub(super) fn note_demand(&mut self, reads: bool, writes: bool) {
        if self.kind == Sync::Async && !reads && (self.writes_left == 0 || !writes) {
            self.has_been_idle = true;
        }
    }

    /// Whether the other kind, if it waits, should have its turn.
    pub(super) fn has_expired(&self, now_jiffies: u64) -> bool {
        if self.is_changing || self.awaits_first_end {
            return false;
        }
        let is_used_up = self.kind == Sync::Async && self.writes_left == 0;
        is_used_up || now_jiffies > self.expires_jiffies
    }

    /// Begins a batch; it takes effect when the device has finished what is in it.
    pub(super) fn begin(&mut self, kind: Sync) {
        self.is_changing |= self.kind != kind;
        if kind == Sync::Async {
            if self.kind == Sync::Sync {
                self.awaits_first_end = false;
            }
            self.writes_left = self.write_limit;
            self.has_been_idle = false;
        }
        self.kind = kind;
    }

    /// The device was empty when the batch began: it takes effect at once. Reads are timed from the
    /// end of the first one.
    pub(super) fn take_effect_at_once(&mut self, tunables: &AnticipatoryTunables, now_jiffies: u64) {
        self.is_changing = false;
        match self.kind {
            Sync::Async => self.extend(tunables, now_jiffies),
            Sync::Sync => self.awaits_first_end = true,
        }
    }

    /// The device has just become empty and the batch takes effect.
    pub(super) fn take_effect(&mut self, tunables: &AnticipatoryTunables, now_jiffies: u64) {
        self.is_changing = false;
        self.extend(tunables, now_jiffies);
        self.awaits_first_end |= self.kind == Sync::Sync;
    }

    /// Gives the batch its full time from now on.
    pub(super) fn extend(&mut self, tunables: &AnticipatoryTunables, now_jiffies: u64) {
        self.expires_jiffies = now_jiffies + tunables.batch_jiffies(self.kind);
    }

    /// A write has been dispatched.
    pub(super) fn count_write(&mut self) {
        self.writes_left = self.writes_left.saturating_sub(1);
    }

    /// A request of `kind` has been finished. The first of a batch of reads ends the batch of writes
    /// before it, which is measured, and starts the reads' time.
    pub(super) fn note_end(&mut self, kind: Sync, tunables: &AnticipatoryTunables, now_jiffies: u64) {
        if self.awaits_first_end && self.kind == kind {
            self.measure_writes(tunables.batch_jiffies(Sync::Async), now_jiffies);
            self.expires_jiffies = now_jiffies + tunables.batch_jiffies(Sync::Sync);
            self.awaits_first_end = false;
        }
    }

    /// A forced dispatch ends everything; what follows counts as reads, so that no batch of writes is
    /// measured by it.
    pub(super) fn reset(&mut self) {
        self.kind = Sync::Sync;
        self.is_changing = false;
        self.awaits_first_end = false;
    }

    /// Adapts the number of writes in a batch to the time that the last one took.
    fn measure_writes(&mut self, target_jiffies: u64, now_jiffies: u64) {
        let took = (now_jiffies + target_jiffies).saturating_sub(self.expires_jiffies);
        if took > target_jiffies && !self.has_been_idle {
            let is_far_over = took > target_jiffies.saturating_mul(3);
            self.write_limit =
                if is_far_over { self.write_limit / 2 } else { self.write_limit.saturating_sub(1) };
        } else if took < target_jiffies && self.writes_left == 0 {
            let is_far_under = target_jiffies > took.saturating_mul(3);
            self.write_limit =
                if is_far_under { self.write_limit.saturating_mul(2) } else { self.write_limit + 1 };
        }
        self.write_limit = self.write_limit.max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Clock;

    fn tunables() -> AnticipatoryTunables {
        AnticipatoryTunables::for_clock(&Clock::new(1000, false))
    }

    /// A batch of writes that begins at jiffy 1000 and whose successor's first read ends so much later.
    fn after_writes_that_took(jiffies: u64, used_up: bool, idle: bool) -> u64 {
        let mut batch = Batch::new(&tunables(), 0);
        batch.kind = Sync::Sync;
        batch.begin(Sync::Async);
        batch.take_effect_at_once(&tunables(), 1000);
        if used_up {
            batch.writes_left = 0;
        }
        batch.has_been_idle = idle;
        batch.begin(Sync::Sync);
        batch.take_effect_at_once(&tunables(), 1000 + jiffies);
        batch.note_end(Sync::Sync, &tunables(), 1000 + jiffies);
        batch.write_limit
    }

    /// Section 3.3: the number of writes in a batch of 125 ms starts at 12 and is halved above three
    /// times the target, reduced by one above it, doubled below a third, increased by one below it.
    #[test]
    fn the_batch_of_writes_adapts() {
        let table = [(376, 6), (375, 11), (126, 11), (125, 12), (124, 13), (42, 13), (41, 24), (0, 24)];
        for (took, limit) in table {
            assert_eq!(after_writes_that_took(took, true, false), limit, "{took} ms");
        }
    }

    /// Section 3.3: a batch that was not used up is not enlarged, one that was not pressed for time is
    /// not reduced, and none gets smaller than one.
    #[test]
    fn a_batch_without_demand_is_not_measured() {
        assert_eq!(after_writes_that_took(10, false, false), 12);
        assert_eq!(after_writes_that_took(1000, true, true), 12);
        let mut batch = Batch::new(&tunables(), 0);
        for _ in 0..10 {
            batch.measure_writes(125, 10_000);
        }
        assert_eq!(batch.write_limit, 1);
    }

    /// Linux 2.6.32 `as_dispatch_request`: a batch of writes is not pressed for time once no read waits
    /// and it is used up, or nothing waits at all.
    #[test]
    fn demand_is_reads_or_writes_still_to_come() {
        for (writes_left, reads, writes, is_idle) in [
            (5, true, false, false),
            (5, false, true, false),
            (5, false, false, true),
            (0, false, true, true),
            (0, true, true, false),
        ] {
            let mut batch = Batch::new(&tunables(), 0);
            batch.writes_left = writes_left;
            batch.note_demand(reads, writes);
            assert_eq!(batch.has_been_idle, is_idle, "{writes_left} {reads} {writes}");
        }
    }

    /// Section 3.3: while the device still works for the other kind, or the first read is out, no
    /// batch expires.
    #[test]
    fn a_batch_expires_after_its_time_or_its_writes() {
        let mut batch = Batch::new(&tunables(), 0);
        batch.begin(Sync::Sync);
        assert!(!batch.has_expired(100_000));
        batch.take_effect(&tunables(), 1000);
        assert!(!batch.has_expired(100_000));
        batch.note_end(Sync::Async, &tunables(), 1000);
        assert!(batch.awaits_first_end);
        batch.note_end(Sync::Sync, &tunables(), 1000);
        assert!(!batch.has_expired(1500));
        assert!(batch.has_expired(1501));

        batch.begin(Sync::Async);
        batch.take_effect(&tunables(), 2000);
        assert!(!batch.has_expired(2125));
        assert!(batch.has_expired(2126));
        for _ in 0..batch.write_limit {
            assert!(!batch.has_expired(2000));
            batch.count_write();
        }
        assert!(batch.has_expired(2000));
    }
}
