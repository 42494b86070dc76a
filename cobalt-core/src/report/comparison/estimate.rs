//! Estimates a mean difference, its standard error, interval and p-value; also for logarithms, and relative to a gate's bound.

use super::model::TypicalRatio;
use super::paired::{ComparedMetric, Exchangeable, Paired, PairedSize};
use super::pairs::Pair;
use super::{Quantity, SampleSize, Test};
use crate::report::Measurements;
use crate::report::stats::{
    Interval, ShareSpread, SignFlip, Stratum, TrialWeights, by_cluster, describe, matched_shares, mcnemar,
    min_detectable_difference, pairs_to_detect, sign_flip, stratified_permutation, student_t_cdf, sum,
};

/// The number of clusters that the sign-flip test needs to reach a one-sided p-value below `tail`. All of g clusters have the
/// same sign by chance with probability 2⁻ᵍ, which counts half.
pub fn fewest_clusters(tail: f64) -> usize {
    // No realistic number of corrected tests needs more.
    (1..64).find(|clusters| 0.5_f64.powi(*clusters + 1) < tail).unwrap_or(64) as usize
}

/// The one-sided error rate of a single two-sided test at 5%.
const TAIL: f64 = 0.025;

/// A standard error below this share of the values is rounding.
const ROUNDING: f64 = 1e-12;

/// The mean difference of a metric.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The mean of the base run.
    pub(super) base: f64,
    /// The mean of the other run.
    pub(super) other: f64,
    /// The mean difference.
    pub(super) difference: f64,
    /// The number of independent clusters.
    pub(super) clusters: usize,
    /// The 95% CI; absent for one cluster.
    pub(super) ci95: Option<Interval>,
    /// The center of the interval before clamping.
    middle: f64,
    /// Absent for one cluster.
    pub(super) std_error: Option<f64>,
    /// The standard error of the tested differences, if they are different ones.
    tested_error: Option<f64>,
    /// Present if every observation is 0 or 1.
    shares: Option<ShareVariance>,
    /// Whether differences cannot exceed 1.
    is_at_most_1: bool,
}

/// The spread of the items' shares of correct trials.
#[derive(Clone, Copy, Debug)]
struct ShareVariance {
    /// Determines the sample size for a true difference.
    spread: ShareSpread,
    /// The mean squared difference of the interval.
    observed: f64,
    /// What the interval adds to the squares.
    added: f64,
}

impl Estimate {
    /// `None` without items.
    pub fn of(paired: &Paired, quantity: Quantity) -> Option<Self> {
        let (base, other) = paired.means()?;
        let clusters = paired.clusters();
        // Exactly 0 if the values differ only by rounding.
        let difference = if paired.is_unchanged() { 0.0 } else { other - base };
        let mut estimate = Self {
            base,
            other,
            difference,
            clusters: clusters.len(),
            ci95: None,
            middle: difference,
            std_error: None,
            tested_error: None,
            shares: None,
            is_at_most_1: matches!(quantity, Quantity::Score | Quantity::Errors),
        };
        if clusters.len() < 2 {
            return Some(estimate);
        }
        let values = by_cluster(&clusters);
        let tested = paired.clusters_of_equal_trials().map(|clusters| by_cluster(&clusters));
        if let Some(weights) = paired.trial_weights() {
            let matched = matched_shares(&values, weights.mean(), 0.95)?;
            (estimate.middle, estimate.std_error) = (matched.middle, Some(matched.std_error));
            estimate.ci95 = Some(matched.interval);
            let usual = if quantity.more_is_better() { base } else { 1.0 - base };
            let spread = match tested {
                Some(tested) => {
                    let weight = weights.first.max(weights.second);
                    ShareSpread::of(&tested, usual, TrialWeights { first: weight, second: weight })
                }
                None => ShareSpread::of(&values, usual, weights),
            };
            let observed = sum(values.iter().map(|d| d * d)) / values.len() as f64;
            estimate.shares = spread.map(|spread| ShareVariance { spread, observed, added: weights.mean() });
            return Some(estimate);
        }
        let figures = describe(&values)?;
        estimate.tested_error = tested.and_then(|tested| describe(&tested)?.std_error);
        let largest = figures.min.abs().max(figures.max.abs());
        estimate.std_error =
            figures.std_error.map(|error| if error <= ROUNDING * largest { 0.0 } else { error });
        estimate.ci95 = match quantity {
            Quantity::Score | Quantity::Errors => {
                figures.ci95.map(|ci| Interval { low: ci.low.max(-1.0), high: ci.high.min(1.0) })
            }
            Quantity::Latency | Quantity::Tokens | Quantity::Cost | Quantity::Metric => figures.ci95,
        };
        Some(estimate)
    }

    /// The estimate with the sides swapped. The sample size still depends on the share of the original base.
    pub fn reversed(self) -> Self {
        Self {
            base: self.other,
            other: self.base,
            // Avoids -0.
            difference: 0.0 - self.difference,
            ci95: self.ci95.map(|Interval { low, high }| Interval { low: 0.0 - high, high: 0.0 - low }),
            middle: 0.0 - self.middle,
            ..self
        }
    }

    /// The min detectable difference (80% power, 5% level); `None` if no possible difference is detectable.
    pub fn smallest_detectable(&self) -> Option<f64> {
        let least = match self.shares {
            Some(shares) => shares.spread.min_detectable_difference(self.clusters as f64),
            None => {
                min_detectable_difference(self.tested_error.or(self.std_error)?, self.degrees_of_freedom())
            }
        };
        let is_shown = |least: &f64| self.clusters >= fewest_clusters(TAIL) && *least <= 1.0;
        least.filter(|least| !self.is_at_most_1 || is_shown(least))
    }

    /// The factor by which the number of items must grow to detect a difference of this size (greater than 0) with 80% power and a
    /// one-sided error rate of `tail`.
    pub fn sample_factor_to_detect(&self, difference: f64, tail: f64) -> Option<f64> {
        let clusters = self.clusters as f64;
        let needed = match self.shares {
            Some(shares) => shares.spread.pairs_to_detect(difference.min(1.0), tail)?,
            None => {
                let deviation = self.tested_error.or(self.std_error)? * clusters.sqrt();
                pairs_to_detect(deviation, difference, tail)?
            }
        };
        Some(needed / clusters)
    }

    /// The factor by which the number of items must grow to bring `errors` standard errors within `margin`. For scores of 0 and 1,
    /// the number of added pseudo-pairs stays constant.
    pub fn sample_factor_to_narrow(&self, errors: f64, margin: f64) -> Option<f64> {
        if margin <= 0.0 {
            return None;
        }
        let as_now = (errors * self.std_error? / margin).powi(2);
        let Some(shares) = self.shares else { return Some(as_now) };
        // N that solves `errors² (spread (N - 2) + added) / N² = margin²`.
        let (wide, narrow) = (errors * errors, margin * margin);
        let ShareVariance { observed: spread, added, .. } = shares;
        let root =
            (wide * wide * spread * spread + 4.0 * narrow * wide * (added - 2.0 * spread)).max(0.0).sqrt();
        Some((((wide * spread + root) / (2.0 * narrow) - 2.0) / self.clusters as f64).max(0.0))
    }

    /// The probability of a difference at least this large if the true difference is `most`.
    pub fn p_above(&self, most: f64) -> Option<f64> {
        let beyond = self.middle - most;
        match self.std_error? {
            0.0 => {
                let is_beyond = beyond > ROUNDING * self.base.abs().max(self.other.abs());
                Some(if is_beyond { 0.0 } else { 1.0 })
            }
            error => student_t_cdf(-beyond / error, self.degrees_of_freedom()),
        }
    }

    /// Student's t test of the mean difference, consistent with the interval: p is below 5% exactly if the interval excludes 0.
    /// `None` without spread.
    pub fn t_test_p(&self) -> Option<f64> {
        let error = self.std_error.filter(|error| *error > 0.0)?;
        Some(2.0 * student_t_cdf(-(self.difference / error).abs(), self.degrees_of_freedom())?)
    }

    fn degrees_of_freedom(&self) -> f64 {
        self.clusters as f64 - 1.0
    }
}

/// The two-sided p-value. For latency, tokens, cost and metrics it is that of the t test consistent with their interval. If one side has
/// more trials, trials are permuted, as a mean of five trials has less spread than a single trial.
pub fn p_two_sided(paired: &Paired, quantity: Quantity, estimate: &Estimate) -> Option<(f64, Test)> {
    let is_amount = !matches!(quantity, Quantity::Score | Quantity::Errors);
    if let Some(p) = estimate.t_test_p().filter(|_| is_amount && !paired.is_unequal()) {
        return Some((p, Test::PairedT));
    }
    if let Some((only_base, only_other)) = paired.discordant() {
        return Some((mcnemar(only_base, only_other).mid_p, Test::Mcnemar));
    }
    p_by_permutation(paired)
}

/// The two-sided p-value by flipping signs and permuting trials. It is 1 if the testable trials have the opposite sign.
pub fn p_by_permutation(paired: &Paired) -> Option<(f64, Test)> {
    let Exchangeable { differences, strata } = paired.exchangeable();
    let tested = sum(differences.iter().copied().chain(strata.iter().map(Stratum::difference)));
    let found = sum(paired.differences());
    let (permuted, test) = permutation_test(&differences, &strata)?;
    Some((if tested * found < 0.0 { 1.0 } else { permuted.mid_p }, test))
}

/// The one-sided p-value of an increase.
pub fn p_greater(paired: &Paired) -> Option<f64> {
    if let Some((only_base, only_other)) = paired.discordant() {
        return Some(mcnemar(only_base, only_other).mid_p_greater);
    }
    let Exchangeable { differences, strata } = paired.exchangeable();
    Some(permutation_test(&differences, &strata)?.0.mid_p_greater)
}

fn permutation_test(differences: &[f64], strata: &[Stratum]) -> Option<(SignFlip, Test)> {
    if !strata.is_empty() {
        return Some((stratified_permutation(differences, strata)?, Test::Permutation));
    }
    let flips = sign_flip(differences)?;
    Some((flips, if flips.exact { Test::SignFlipExact } else { Test::SignFlipMonteCarlo }))
}

/// The mean difference of logarithms of latency, tokens or cost.
#[derive(Clone, Debug)]
pub struct LogRatio {
    logs: Estimate,
    /// The mean of the base run, to convert ratios to differences.
    base: f64,
    p_value: f64,
    test: Test,
}

impl LogRatio {
    /// `None` if a value is 0, or if all items differ by the same factor.
    pub fn of(
        quantity: Quantity,
        pairs: &[Pair<'_>],
        base: &Measurements,
        other: &Measurements,
    ) -> Option<Self> {
        if !matches!(quantity, Quantity::Latency | Quantity::Tokens | Quantity::Cost) {
            return None;
        }
        let (mean, _) = Paired::of(&ComparedMetric::amount(quantity), pairs, base, other).means()?;
        let paired = Paired::logs(quantity, pairs, base, other)?;
        let logs = Estimate::of(&paired, quantity)?;
        let by_t = logs.t_test_p()?;
        // A mean of five trials has less spread than a single trial. Under the null hypothesis, trials are exchangeable.
        let (p_value, test) =
            if paired.is_unequal() { p_by_permutation(&paired)? } else { (by_t, Test::LogRatioT) };
        Some(Self { logs, base: mean, p_value, test })
    }

    pub fn p_value(&self) -> (f64, Test) {
        (self.p_value, self.test)
    }

    /// The ratio of the geometric means.
    pub fn ratio(&self) -> Option<TypicalRatio> {
        let Interval { low, high } = self.logs.ci95?;
        let (ratio, ci95) = (self.logs.difference.exp(), Interval { low: low.exp(), high: high.exp() });
        (ratio.is_finite() && ci95.high.is_finite()).then_some(TypicalRatio { ratio, ci95 })
    }

    /// The min detectable difference of the mean (80% power, 5% level), assuming the same factor for all items.
    pub fn smallest_detectable(&self) -> Option<f64> {
        let least = self.base * self.logs.smallest_detectable()?.exp_m1();
        least.is_finite().then_some(least)
    }

    /// The factor by which the number of items must grow to detect a difference of the mean of this size, assuming the same factor
    /// for all items; see [`Estimate::sample_factor_to_detect`].
    pub fn sample_factor_to_detect(&self, difference: f64, tail: f64) -> Option<f64> {
        self.logs.sample_factor_to_detect((difference / self.base).ln_1p(), tail)
    }

    /// The same for the observed ratio.
    pub fn sample_factor_to_detect_ratio(&self, tail: f64) -> Option<f64> {
        self.logs.sample_factor_to_detect(self.logs.difference.abs(), tail)
    }
}

/// The sample size for `times` as many items, or for an equivalent number of trials; at least as many items as give
/// `fewest_clusters`, in which case no number of trials is enough.
///
/// The standard error falls with the square root of the number of items. More trials reduce only the within-item part of its square.
///
/// `None` for one cluster, whose spread is unknown, and if no number of items is enough.
pub fn sample_size(
    paired: &PairedSize,
    estimate: &Estimate,
    times: f64,
    fewest_clusters: usize,
) -> Option<SampleSize> {
    let std_error = estimate.std_error.filter(|_| times.is_finite())?;
    let now = paired.items;
    let items = (now as f64 * times).ceil() as u64;
    let fewest = (fewest_clusters * now).div_ceil(estimate.clusters).max(now + 1);
    let are_enough = times > 1.0 && estimate.clusters >= fewest_clusters;
    let runs = if are_enough { trials_needed(paired, std_error, std_error / times.sqrt()) } else { None };
    Some(SampleSize { items: items.max(fewest as u64), runs })
}

/// The number of trials per item that reduces the standard error to `wanted`, if possible.
fn trials_needed(paired: &PairedSize, std_error: f64, wanted: f64) -> Option<u64> {
    let spread = paired.trial_variance?;
    let of_items = (std_error * std_error - spread.of_all_runs).max(0.0);
    let room = wanted * wanted - of_items;
    (room > 0.0).then(|| (spread.of_one_run / room).ceil() as u64)
}
