//! What the mean of a sample might have been: its bootstrap distribution, and the intervals that come of it.

use super::{Interval, describe, normal_quantile, percentile, student_t_cdf};

/// So many resamples are drawn.
const RESAMPLES: usize = 10_000;

const SEED: u64 = 0x0005_1972_b007;

/// The means of 10,000 resamples of a sample, with a fixed seed.
#[derive(Debug, Clone, PartialEq)]
pub struct BootstrapMean {
    /// In ascending order.
    means: Vec<f64>,
    /// The share of them below the sample's mean, where those that are equal to it count half.
    below: f64,
    /// Of the sample's mean, from its jackknife; absent where all values are equal.
    acceleration: Option<f64>,
}

/// Draws 10,000 resamples of `values`, each as large as the sample, with replacement (Efron, "Bootstrap methods: another
/// look at the jackknife", The Annals of Statistics 7, 1979). The seed is fixed: the same values in the same order give
/// the same figures.
///
/// `None` without values, where one of them is not finite, and where the sum of their cubes overflows.
#[must_use]
pub fn bootstrap_mean(values: &[f64]) -> Option<BootstrapMean> {
    let figures = describe(values)?;
    let n = u32::try_from(values.len()).ok()?;
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut means: Vec<f64> = (0..RESAMPLES).map(|_| resampled_mean(values, n, &mut random)).collect();
    means.sort_unstable_by(f64::total_cmp);
    let rounding = 1e-12 * figures.max.abs().max(figures.min.abs());
    let up_to = |limit: f64| means.partition_point(|mean| *mean <= limit) as f64 / means.len() as f64;
    let below = 0.5 * (up_to(figures.mean - rounding) + up_to(figures.mean + rounding));
    let cubes: f64 = values.iter().map(|v| ((v - figures.mean) / figures.stddev_population).powi(3)).sum();
    let acceleration = cubes / (6.0 * (figures.n as f64).powf(1.5));
    Some(BootstrapMean { means, below, acceleration: acceleration.is_finite().then_some(acceleration) })
}

fn resampled_mean(values: &[f64], n: u32, random: &mut fastrand::Rng) -> f64 {
    let mut total = 0.0;
    for _ in 0..n {
        total += values[random.u32(..n) as usize];
    }
    total / f64::from(n)
}

impl BootstrapMean {
    /// The standard error of the mean: the standard deviation of the resamples' means.
    #[must_use]
    pub fn std_error(&self) -> f64 {
        describe(&self.means).and_then(|figures| figures.stddev_sample).unwrap_or(0.0)
    }

    /// The percentile interval: the middle `confidence` (0.95 for 95 %) of the resamples' means (Efron and Tibshirani,
    /// "An introduction to the bootstrap", 1993, chapter 13). `None` for a confidence outside of `0 < confidence < 1`.
    #[must_use]
    pub fn percentile_interval(&self, confidence: f64) -> Option<Interval> {
        let tail = 0.5 - 0.5 * confidence;
        self.between(tail, 1.0 - tail)
    }

    /// The bias-corrected and accelerated interval, which follows the skew of long tails (Efron, "Better bootstrap
    /// confidence intervals", JASA 82, 1987).
    ///
    /// `None` for a confidence outside of `0 < confidence < 1`, and where all values are equal.
    #[must_use]
    pub fn bca_interval(&self, confidence: f64) -> Option<Interval> {
        let acceleration = self.acceleration?;
        let bias = normal_quantile(self.below)?;
        let end = |p: f64| {
            let z = bias + normal_quantile(p)?;
            student_t_cdf(bias + z / (1.0 - acceleration * z), f64::INFINITY)
        };
        let tail = 0.5 - 0.5 * confidence;
        self.between(end(tail)?, end(1.0 - tail)?)
    }

    fn between(&self, low: f64, high: f64) -> Option<Interval> {
        if !(low > 0.0 && low < high && high < 1.0) {
            return None;
        }
        Some(Interval {
            low: percentile(&self.means, 100.0 * low)?,
            high: percentile(&self.means, 100.0 * high)?,
        })
    }
}
