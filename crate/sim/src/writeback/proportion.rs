//! Who did how much of something lately: floating proportions.
//!
//! *Models:* events counted for all and for one, the one's halved at every period of the whole.
//! *Does not model:* changing the length of the period, per-CPU batches.
//! *Follows:* docs/model/reclaim.md, section 6.1; Linux 2.6.31, `lib/proportions.c`, from memory.

/// A share of a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    numerator: u64,
    denominator: u64,
}

impl Share {
    /// `numerator` of `denominator`; at most the whole, and nothing of nothing.
    #[must_use]
    pub fn new(numerator: u64, denominator: u64) -> Self {
        Self { numerator: numerator.min(denominator), denominator: denominator.max(1) }
    }

    /// So much of `amount`, which is less than 2^40, rounded down.
    #[must_use]
    pub fn of(self, amount: u64) -> u64 {
        (u128::from(amount) * u128::from(self.numerator) / u128::from(self.denominator)) as u64
    }
}

/// What all have done.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Half a period, in events, is 2 to this.
    half_shift: u32,
    events: u64,
}

/// What one has done, what is long ago counting less.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    events: u64,
    period: u64,
}

impl Whole {
    /// Nothing yet; a half period is the power of two above `limit_pages`, so that the shares follow about as much as may be
    /// dirty (`calc_period_shift`).
    #[must_use]
    pub fn new(limit_pages: u64) -> Self {
        Self { half_shift: (limit_pages.max(2) - 1).ilog2() + 1, events: 0 }
    }

    /// One of them does `events`.
    pub fn add(&mut self, part: &mut Part, events: u64) {
        part.age(self.events >> self.half_shift);
        part.events += events;
        self.events += events;
    }

    /// The part's share.
    #[must_use]
    pub fn share(&self, part: &Part) -> Share {
        let mut part = *part;
        part.age(self.events >> self.half_shift);
        let half = 1 << self.half_shift;
        Share::new(part.events, half + (self.events & (half - 1)))
    }
}

impl Part {
    fn age(&mut self, period: u64) {
        let passed = period - self.period;
        self.events = if passed < 64 { self.events >> passed } else { 0 };
        self.period = period;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever does everything ends up with nearly all; it begins with nothing.
    #[test]
    fn a_share_grows_to_the_whole() {
        let (mut whole, mut part) = (Whole::new(1000), Part::default());
        assert_eq!(whole.share(&part).of(1000), 0);
        let mut before = 0;
        for _ in 0..8 {
            (0..1024).for_each(|_| whole.add(&mut part, 1));
            let now = whole.share(&part).of(1000);
            assert!(now >= before);
            before = now;
        }
        assert!(before > 990, "{before}");
    }

    /// Two that do one and three of four get a quarter and three quarters; who stops is forgotten.
    #[test]
    fn shares_follow_what_is_done() {
        let mut whole = Whole::new(1 << 10);
        let (mut little, mut much) = (Part::default(), Part::default());
        for _ in 0..20_000 {
            whole.add(&mut little, 1);
            whole.add(&mut much, 3);
        }
        let share = |part: &Part, whole: &Whole| whole.share(part).of(1000);
        assert!((230..270).contains(&share(&little, &whole)));
        assert!((730..770).contains(&share(&much, &whole)));
        whole.add(&mut much, 1 << 20);
        assert_eq!(share(&little, &whole), 0);
    }

    /// The half period is a power of two above the limit.
    #[test]
    fn the_period_follows_the_limit() {
        for (limit, shift) in [(0, 1), (2, 1), (1000, 10), (1024, 10), (1025, 11), (209_715, 18)] {
            assert_eq!(Whole::new(limit).half_shift, shift, "{limit}");
        }
    }
}
