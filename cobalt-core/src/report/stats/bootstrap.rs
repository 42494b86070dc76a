//! The bootstrap distribution of a sample's mean, and its confidence intervals.

use super::{Interval, ROUNDING, describe, normal_cdf, normal_quantile, percentile, sum};

/// The number of resamples.
const RESAMPLES: usize = 10_000;

const SEED: u64 = 0x0005_1972_b007;

/// The largest sample whose resamples are enumerated: 7 values have 823,543.
const MAX_ENUMERATED: usize = 7;

/// The means of a sample's resamples: of all resamples, or of 10,000 drawn with a fixed seed.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapMean {
    /// In ascending order.
    means: Vec<f64>,
    /// The share of means below the sample's mean; equal ones count half.
    below: f64,
    /// The acceleration of the mean, from its jackknife; absent if all values are equal.
    acceleration: Option<f64>,
    /// Whether all resamples were enumerated.
    is_exact: bool,
}

/// Draws 10,000 resamples of `values`, each as large as the sample, with replacement (Efron, "Bootstrap methods: another
/// look at the jackknife", The Annals of Statistics 7, 1979). The seed is fixed: the same values in the same order give
/// the same results. For up to 7 values, all resamples are enumerated instead, and the results are exact.
///
/// `None` if [`describe()`] returns `None`: without values, and if one is not finite; and if their sum overflows.
#[must_use]
pub fn bootstrap_mean(values: &[f64]) -> Option<BootstrapMean> {
    let figures = describe(values)?;
    if !figures.sum.is_finite() {
        return None;
    }
    let is_exact = values.len() <= MAX_ENUMERATED;
    let mut means = if is_exact {
        all_means(values)
    } else {
        let mut random = fastrand::Rng::with_seed(SEED);
        (0..RESAMPLES).map(|_| resampled_mean(values, &mut random)).collect::<Vec<_>>()
    };
    means.sort_unstable_by(f64::total_cmp);
    let rounding = ROUNDING * figures.max.abs().max(figures.min.abs());
    let up_to = |limit: f64| means.partition_point(|mean| *mean <= limit) as f64 / means.len() as f64;
    let below = 0.5 * (up_to(figures.mean - rounding) + up_to(figures.mean + rounding));
    // For a mean, the jackknife's acceleration follows from the skewness of the values.
    let cubes = sum(values.iter().map(|value| ((value - figures.mean) / figures.stddev_population).powi(3)));
    let acceleration = cubes / (6.0 * (figures.n as f64).powf(1.5));
    let acceleration = acceleration.is_finite().then_some(acceleration);
    Some(BootstrapMean { means, below, acceleration, is_exact })
}

/// The means of all resamples.
fn all_means(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let of_sample = |mut sample: usize| {
        let drawn = std::iter::repeat_with(|| {
            let value = values[sample % n];
            sample /= n;
            value
        });
        drawn.take(n).sum::<f64>() / n as f64
    };
    (0..n.pow(n as u32)).map(of_sample).collect()
}

/// The mean of one random resample.
fn resampled_mean(values: &[f64], random: &mut fastrand::Rng) -> f64 {
    // The index is the upper half of a product with 32 random bits. Two independent sums at a time take half as long.
    let drawn = |bits: u32| values[((u128::from(bits) * values.len() as u128) >> 32) as usize];
    let (mut total, mut other) = (0.0, 0.0);
    for _ in 0..values.len() / 2 {
        let bits = random.u64(..);
        total += drawn(bits as u32);
        other += drawn((bits >> 32) as u32);
    }
    if values.len() % 2 == 1 {
        total += drawn(random.u32(..));
    }
    (total + other) / values.len() as f64
}

impl BootstrapMean {
    /// The standard error of the mean: the standard deviation of the resamples' means.
    #[must_use]
    pub fn std_error(&self) -> f64 {
        let of = |figures: super::DescriptiveStats| {
            if self.is_exact { Some(figures.stddev_population) } else { figures.stddev_sample }
        };
        describe(&self.means).and_then(of).unwrap_or(0.0)
    }

    /// The percentile interval: the middle `confidence` (0.95 for 95%) of the resamples' means (Efron and Tibshirani,
    /// "An introduction to the bootstrap", 1993, chapter 13). `None` for a confidence outside of `0 < confidence < 1`.
    #[must_use]
    pub fn percentile_interval(&self, confidence: f64) -> Option<Interval> {
        let tail = 0.5 - 0.5 * confidence;
        self.between(tail, 1.0 - tail)
    }

    /// The bias-corrected and accelerated interval, which follows the skew of long tails (Efron, "Better bootstrap
    /// confidence intervals", JASA 82, 1987).
    ///
    /// `None` for a confidence outside of `0 < confidence < 1` or too close to 1, and if all values are equal.
    #[must_use]
    pub fn bca_interval(&self, confidence: f64) -> Option<Interval> {
        let acceleration = self.acceleration?;
        let bias = normal_quantile(self.below)?;
        let end = |p: f64| {
            let z = bias + normal_quantile(p)?;
            normal_cdf(bias + z / (1.0 - acceleration * z))
        };
        let tail = 0.5 - 0.5 * confidence;
        self.between(end(tail)?, end(1.0 - tail)?)
    }

    fn between(&self, low: f64, high: f64) -> Option<Interval> {
        if !(low > 0.0 && low < high && high < 1.0) {
            return None;
        }
        // With all resamples: the smallest mean that at least this share does not exceed.
        let exact =
            |p: f64| self.means.get(((p * self.means.len() as f64).ceil() as usize).saturating_sub(1));
        let end = |p: f64| if self.is_exact { exact(p).copied() } else { percentile(&self.means, 100.0 * p) };
        Some(Interval { low: end(low)?, high: end(high)? })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Latencies with a long tail, in milliseconds.
    fn latencies(n: usize) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(5);
        (0..n).map(|_| 100.0 - 50.0 * (1.0 - random.f64()).ln().powi(3)).collect()
    }

    #[test]
    fn no_values_and_values_that_are_not_finite_are_not_resampled() {
        assert_eq!(bootstrap_mean(&[]), None);
        assert_eq!(bootstrap_mean(&[0.1, f64::NAN]), None);
        assert_eq!(bootstrap_mean(&[0.1, f64::INFINITY]), None);
    }

    #[test]
    fn equal_values_have_an_interval_of_no_width_and_none_that_is_corrected() {
        for values in [vec![0.5], vec![0.25; 6]] {
            let equal = bootstrap_mean(&values).unwrap();
            assert_eq!(equal.std_error(), 0.0);
            assert_eq!(equal.percentile_interval(0.95), Some(Interval { low: values[0], high: values[0] }));
            assert_eq!(equal.bca_interval(0.95), None);
        }
    }

    #[test]
    fn of_few_values_all_resamples_count() {
        // By hand, for two values: means of 0, 0.5, 0.5 and 1.
        let two = bootstrap_mean(&[0.0, 1.0]).unwrap();
        assert_eq!(two.means, [0.0, 0.5, 0.5, 1.0]);
        assert_eq!(two.std_error(), 0.125_f64.sqrt());
        assert_eq!(two.percentile_interval(0.5), Some(Interval { low: 0.0, high: 0.5 }));
        assert_eq!(two.percentile_interval(0.49), Some(Interval { low: 0.5, high: 0.5 }));
        let seven = bootstrap_mean(&latencies(7)).unwrap();
        assert_eq!(seven.means.len(), 823_543);
        let exact = describe(&latencies(7)).unwrap().stddev_population / 7.0_f64.sqrt();
        assert!((seven.std_error() / exact - 1.0).abs() < 1e-9);
    }

    #[test]
    fn the_standard_error_is_that_of_all_resamples() {
        let values = latencies(101);
        let exact = describe(&values).unwrap().stddev_population / 101.0_f64.sqrt();
        let drawn = bootstrap_mean(&values).unwrap().std_error();
        assert!((drawn / exact - 1.0).abs() < 0.03, "{drawn}, expected {exact}");
    }

    #[test]
    fn a_long_tail_moves_the_corrected_interval_towards_it() {
        let values = latencies(60);
        let resampled = bootstrap_mean(&values).unwrap();
        let (plain, corrected) =
            (resampled.percentile_interval(0.95).unwrap(), resampled.bca_interval(0.95).unwrap());
        assert!(corrected.low > plain.low && corrected.high > plain.high, "{plain:?} {corrected:?}");
        let mirrored: Vec<f64> = values.iter().map(|value| -value).collect();
        let mirrored = bootstrap_mean(&mirrored).unwrap().bca_interval(0.95).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 0.02 * (corrected.high - corrected.low);
        assert!(close(mirrored.low, -corrected.high) && close(mirrored.high, -corrected.low), "{mirrored:?}");
    }

    #[test]
    fn each_value_is_drawn_as_often_as_any_other() {
        let n = 8;
        for marked in 0..n {
            let values: Vec<f64> = (0..n).map(|index| f64::from(u8::from(index == marked))).collect();
            let means = bootstrap_mean(&values).unwrap().means;
            let mean = sum(means.iter().copied()) / means.len() as f64;
            // Four standard errors.
            assert!((mean * n as f64 - 1.0).abs() < 0.04, "{marked}: {mean}");
        }
    }

    #[test]
    fn an_interval_needs_a_confidence_between_0_and_1() {
        let resampled = bootstrap_mean(&latencies(20)).unwrap();
        for confidence in [0.0, 1.0, -0.5, 95.0, f64::NAN] {
            assert_eq!(resampled.percentile_interval(confidence), None, "{confidence}");
            assert_eq!(resampled.bca_interval(confidence), None, "{confidence}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn intervals_widen_with_the_confidence_and_stay_within_the_values(values in prop::collection::vec(-1e3..1e3_f64, 2..20)) {
            let figures = describe(&values).unwrap();
            let resampled = bootstrap_mean(&values).unwrap();
            for interval in [BootstrapMean::percentile_interval, BootstrapMean::bca_interval] {
                let (narrow, wide) = (interval(&resampled, 0.8).unwrap(), interval(&resampled, 0.95).unwrap());
                prop_assert!(wide.low <= narrow.low && narrow.low <= narrow.high && narrow.high <= wide.high);
                prop_assert!(figures.min - 1e-9 <= wide.low && wide.high <= figures.max + 1e-9);
            }
        }
    }
}
