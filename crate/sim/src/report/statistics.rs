//! Statistics over seeds: a figure is a mean with its spread, a difference between kernels is paired by seed.
//!
//! *Models:* mean, extremes, sample standard deviation, Student's t interval of paired differences at 95 %.
//! *Does not model:* anything that needs a logarithm or an exponential; the quantiles are a table.

use crate::short_sort;
use serde::{Deserialize, Serialize};

/// A sample in numbers; all 0 for an empty one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// How many values.
    pub count: usize,
    /// Mean.
    pub mean: f64,
    /// Smallest.
    pub min: f64,
    /// Largest.
    pub max: f64,
    /// Sample standard deviation (divisor: count - 1); 0 for a single value.
    pub stddev: f64,
}

impl Statistics {
    /// The statistics of `values`.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let Some(&first) = values.first() else { return Self::default() };
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let stddev = if count > 1 { (squares / (count - 1) as f64).sqrt() } else { 0.0 };
        Self {
            count,
            mean,
            min: values.iter().copied().fold(first, f64::min),
            max: values.iter().copied().fold(first, f64::max),
            stddev,
        }
    }
}

/// The difference between two kernels on the same seeds, with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// Mean of (this - baseline) over seeds.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

impl Difference {
    /// The paired difference `values` - `baseline`; `None` with fewer than two pairs, of which no interval can be made.
    #[must_use]
    pub fn paired(values: &[f64], baseline: &[f64]) -> Option<Self> {
        if values.len() != baseline.len() || values.len() < 2 {
            return None;
        }
        let differences: Vec<f64> = values.iter().zip(baseline).map(|(value, base)| value - base).collect();
        let statistics = Statistics::of(&differences);
        let half = student_t_95(statistics.count - 1) * statistics.stddev / (statistics.count as f64).sqrt();
        Some(Self { mean: statistics.mean, low: statistics.mean - half, high: statistics.mean + half })
    }

    /// Whether the interval leaves out zero: only then is there a difference to speak of.
    #[must_use]
    pub fn is_real(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// The two-sided 95 % quantile of Student's t with so many degrees of freedom. Between the table's rows the lower
/// number of degrees is used, which makes intervals wider, never narrower.
#[must_use]
pub fn student_t_95(degrees: usize) -> f64 {
    const UP_TO_30: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048,
        2.045, 2.042,
    ];
    const BEYOND: [(usize, f64); 4] = [(1000, 1.962), (120, 1.980), (60, 2.000), (40, 2.021)];
    match degrees {
        0 => f64::INFINITY,
        1..=30 => UP_TO_30[degrees - 1],
        _ => BEYOND.iter().find(|(from, _)| degrees >= *from).map_or(UP_TO_30[29], |row| row.1),
    }
}

/// The gain against a baseline in per cent of it: positive is better. `None` if the baseline is 0.
#[must_use]
pub fn gain_percent(value: f64, baseline: f64, better: super::Better) -> Option<f64> {
    if baseline == 0.0 {
        return None;
    }
    let change = (value - baseline) / baseline * 100.0;
    Some(match better {
        super::Better::Higher | super::Better::None => change,
        super::Better::Lower => -change,
    })
}

/// The median; `None` of nothing. Of an even number, the mean of the middle two.
#[must_use]
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    short_sort::sort_by(&mut sorted, f64::total_cmp);
    let middle = sorted.len() / 2;
    let upper = *sorted.get(middle)?;
    Some(if sorted.len() % 2 == 1 { upper } else { (sorted[middle - 1] + upper) / 2.0 })
}

#[cfg(test)]
mod tests {
    use super::super::Better;
    use super::*;
    use proptest::prelude::*;

    /// A sample worked out by hand.
    #[test]
    fn a_small_sample() {
        let statistics = Statistics::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert_eq!((statistics.mean, statistics.min, statistics.max), (5.0, 2.0, 9.0));
        assert!((statistics.stddev * statistics.stddev - 32.0 / 7.0).abs() < 1e-12);
        assert_eq!(Statistics::of(&[3.0]).stddev, 0.0);
    }

    /// Differences 1, 2, 3: mean 2, standard error 1/sqrt(3), t(2) = 4.303.
    #[test]
    fn an_interval_by_hand() {
        let difference = Difference::paired(&[11.0, 22.0, 33.0], &[10.0, 20.0, 30.0]).expect("three pairs");
        assert!((difference.mean - 2.0).abs() < 1e-12);
        assert!((difference.high - difference.mean - 4.303 / 3.0_f64.sqrt()).abs() < 1e-9);
        assert!(!difference.is_real());
        assert!(Difference::paired(&[1.0], &[2.0]).is_none());
    }

    /// Pairing removes what the seeds have in common: a constant step is real, however much the seeds scatter.
    #[test]
    fn pairs_cancel_the_seeds() {
        let baseline = [100.0, 500.0, 20.0, 900.0];
        let faster = baseline.map(|value| value + 1.0);
        assert!(Difference::paired(&faster, &baseline).is_some_and(|difference| difference.is_real()));
        assert!(!Difference::paired(&baseline, &baseline).is_some_and(|difference| difference.is_real()));
    }

    /// The table of t falls, and never below the normal distribution's 1.96.
    #[test]
    fn t_falls_to_the_normal_quantile() {
        let rows: Vec<f64> = (0..3000).map(student_t_95).collect();
        assert!(rows.windows(2).all(|pair| pair[0] >= pair[1]));
        assert!(rows.iter().all(|&t| t > 1.959));
    }

    /// Of times, less is a gain.
    #[test]
    fn gains_follow_the_direction() {
        assert_eq!(gain_percent(150.0, 100.0, Better::Higher), Some(50.0));
        assert_eq!(gain_percent(60.0, 100.0, Better::Lower), Some(40.0));
        assert_eq!(gain_percent(60.0, 0.0, Better::Lower), None);
    }

    proptest! {
        /// The mean lies between the extremes, and half of the values on either side of the median.
        #[test]
        fn order_holds(values in prop::collection::vec(-1e6f64..1e6, 1..50)) {
            let statistics = Statistics::of(&values);
            prop_assert!(statistics.min <= statistics.mean + 1e-6 && statistics.mean <= statistics.max + 1e-6);
            let median = median(&values).expect("not empty");
            let below = values.iter().filter(|&&value| value < median).count();
            let above = values.iter().filter(|&&value| value > median).count();
            prop_assert!(below <= values.len() / 2 && above <= values.len() / 2);
        }
    }
}
