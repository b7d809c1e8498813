//! Small parts that several models are made of: a resource that serves one at a time, the list of
//! completions, and the time a transfer takes.

use crate::engine::EventQueue;

/// Nanoseconds in a second.
const SECOND_NS: u64 = 1_000_000_000;

/// The time `bytes` take at `bytes_per_s`, rounded up to whole nanoseconds.
pub(super) fn transfer_ns(bytes: u64, bytes_per_s: u64) -> u64 {
    let rate = bytes_per_s.max(1);
    match bytes.checked_mul(SECOND_NS) {
        Some(scaled) => scaled.div_ceil(rate),
        None => u64::try_from((u128::from(bytes) * u128::from(SECOND_NS)).div_ceil(u128::from(rate)))
            .unwrap_or(u64::MAX),
    }
}

/// Something that serves one user at a time, in the order in which they are handed to it: a link, a
/// controller's processor, a spindle.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Serial {
    free_ns: u64,
}

impl Serial {
    /// Occupies it for `duration_ns`, from `ready_ns` or from when it is free; returns the end.
    pub(super) fn occupy(&mut self, ready_ns: u64, duration_ns: u64) -> u64 {
        self.free_ns = self.free_ns.max(ready_ns).saturating_add(duration_ns);
        self.free_ns
    }
}

/// A backlog that drains at a steady rate: the write-behind of a cache, kept as the moment at which it
/// will be empty. What is in it at time t is (that moment - t) times the rate, so that neither filling
/// nor draining needs an event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backlog {
    empty_ns: u64,
}

impl Backlog {
    /// Adds work of `duration_ns` at `now_ns`.
    pub(super) fn add(&mut self, now_ns: u64, duration_ns: u64) {
        self.empty_ns = self.empty_ns.max(now_ns).saturating_add(duration_ns);
    }

    /// The moment at which at most `duration_ns` of work is left.
    pub(super) fn below_ns(&self, duration_ns: u64) -> u64 {
        self.empty_ns.saturating_sub(duration_ns)
    }

    /// The moment at which nothing is left.
    pub(super) fn empty_ns(&self) -> u64 {
        self.empty_ns
    }
}

/// Commands whose end is known, in order of (end, order in which the end became known).
#[derive(Clone, Debug, Default)]
pub(super) struct Completions {
    queue: EventQueue<u32>,
}

impl Completions {
    /// `tag` will be done at `end_ns`.
    pub(super) fn push(&mut self, end_ns: u64, tag: u32) {
        self.queue.push(end_ns, tag);
    }

    /// The end of the first.
    #[inline]
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.queue.next_time_ns()
    }

    /// Moves those that are done at `now_ns` to `done`.
    #[inline]
    pub(super) fn drain(&mut self, now_ns: u64, done: &mut Vec<u32>) {
        while let Some((_, tag)) = self.pop(now_ns) {
            done.push(tag);
        }
    }

    /// Takes the first, if it is done at `now_ns`.
    #[inline]
    pub(super) fn pop(&mut self, now_ns: u64) -> Option<(u64, u32)> {
        if self.next_ns()? <= now_ns { self.queue.pop() } else { None }
    }
}

/// The earlier of two moments, either of which may not exist.
pub(super) fn earlier(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 128 KiB at 400 MB/s take 327.68 us (section 0.4); the largest values do not overflow.
    #[test]
    fn transfers_take_bytes_over_rate() {
        assert_eq!(transfer_ns(131_072, 400_000_000), 327_680);
        assert_eq!(transfer_ns(1, 3), 333_333_334);
        assert_eq!(transfer_ns(1 << 41, 1_000_000), 2_199_023_255_552_000);
        assert_eq!(transfer_ns(u64::MAX, 1), u64::MAX);
    }

    /// A backlog drains by itself, and starts anew when it had run dry.
    #[test]
    fn a_backlog_drains() {
        let mut backlog = Backlog::default();
        backlog.add(100, 50);
        backlog.add(110, 50);
        assert_eq!((backlog.empty_ns(), backlog.below_ns(30)), (200, 170));
        backlog.add(1000, 5);
        assert_eq!(backlog.empty_ns(), 1005);
    }
}
