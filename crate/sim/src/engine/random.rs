//! Named random streams: one per consumer, so that switching a rule on does not move another
//! component's dice, and comparisons between kernels stay paired.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A stream of random numbers that depends on the scenario's seed and on its own name only.
#[derive(Clone, Debug)]
pub struct RandomStream {
    generator: Pcg64Mcg,
}

impl RandomStream {
    /// The stream called `name` of the scenario seeded with `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a over the name: tiny, and fixed for ever (standard hashers promise no such thing).
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self { generator: Pcg64Mcg::seed_from_u64(seed ^ hash) }
    }

    /// A number from 0 to `bound` - 1; 0 when `bound` is 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 { 0 } else { self.generator.random_range(0..bound) }
    }

    /// `base` changed by up to `per_mille` thousandths either way, evenly.
    #[inline]
    pub fn jitter(&mut self, base: u64, per_mille: u64) -> u64 {
        let spread = base / 1000 * per_mille + base % 1000 * per_mille / 1000;
        (base - spread.min(base)).saturating_add(self.below(2 * spread + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two consumers' streams are independent: drawing from one does not change the other.
    #[test]
    fn streams_are_named() {
        let mut reader = RandomStream::new(7, "reader");
        let mut again = RandomStream::new(7, "reader");
        let mut writer = RandomStream::new(7, "writer");
        let draws: Vec<u64> = (0..8).map(|_| reader.below(1000)).collect();
        let others: Vec<u64> = (0..8).map(|_| writer.below(1000)).collect();
        assert_eq!(draws, (0..8).map(|_| again.below(1000)).collect::<Vec<_>>());
        assert_ne!(draws, others);
    }

    /// Jitter stays within its bounds.
    #[test]
    fn jitter_is_bounded() {
        let mut stream = RandomStream::new(1, "jitter");
        assert!((0..1000).map(|_| stream.jitter(1000, 20)).all(|value| (980..=1020).contains(&value)));
    }
}
