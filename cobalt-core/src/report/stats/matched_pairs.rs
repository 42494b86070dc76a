//! McNemar's test for two systems on the same items, and the CI of the difference, also for clustered items.

use std::f64::consts::PI;

use super::student_t::gamma_ratio;
use super::{Interval, normal_cdf, normal_quantile, student_t_quantile, sum};

/// With more differing pairs, the normal distribution approximates the binomial, with a relative error of about `z⁴ / (12 n)`.
const EXACT_UP_TO: f64 = 1e10;

/// The one-sided error rate of a two-sided test at 5%.
const TAIL: f64 = 0.025;

/// The normal quantile at 80%.
const Z_OF_POWER: f64 = 0.841_621_233_572_914_2;

/// The result of McNemar's test. Probabilities too small for a double are 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Mcnemar {
    /// The two-sided p-value. 1 without a pair.
    pub p: f64,
    /// The one-sided p-value of more pairs for the second.
    pub p_greater: f64,
    /// The mid-p-value of `p`: splits as uneven as the observed one count half.
    pub mid_p: f64,
    /// The mid-p-value of `p_greater`: the observed split counts half.
    pub mid_p_greater: f64,
}

/// McNemar's test of the numbers of pairs in which only the first or only the second is right: under the null hypothesis, both
/// are equally likely (McNemar, "Note on the sampling error of the difference between correlated proportions", Psychometrika 12,
/// 1947). It equals the sign test, and the sign-flip test of these pairs.
///
/// The exact p-values are conservative, especially for few pairs; the mid-p-values are closer to the nominal level and have
/// more power (Fagerland, Lydersen and Laake, "The McNemar test for binary matched-pairs data", BMC Medical Research Methodology
/// 13, 2013). Takes `O(√n)` steps, at most some millions.
#[must_use]
pub fn mcnemar(only_first: u64, only_second: u64) -> Mcnemar {
    let (fewer, more) = (only_first.min(only_second), only_first.max(only_second));
    let TailProbability { up_to, at } = tail(fewer, more);
    let (p_greater, mid_p_greater) = if only_first <= only_second {
        (up_to, up_to - 0.5 * at)
    } else {
        // The complement of the splits with fewer for the second.
        (1.0 - up_to + at, 1.0 - up_to + 0.5 * at)
    };
    Mcnemar {
        p: (2.0 * up_to).min(1.0),
        p_greater: p_greater.min(1.0),
        mid_p: (2.0 * up_to - at).min(1.0),
        mid_p_greater: mid_p_greater.min(1.0),
    }
}

/// Probabilities of fair coin tosses.
struct TailProbability {
    /// At most this many heads.
    up_to: f64,
    /// Exactly this many heads.
    at: f64,
}

/// The probabilities of at most and of exactly `fewer` heads in `fewer + more` tosses, for `fewer <= more`.
fn tail(fewer: u64, more: u64) -> TailProbability {
    let tosses = fewer as f64 + more as f64;
    if tosses > EXACT_UP_TO {
        let z = |apart: f64| normal_cdf(-apart / tosses.sqrt()).unwrap_or(0.0);
        let apart = (more - fewer) as f64;
        return TailProbability { up_to: z(apart - 1.0), at: z(apart - 1.0) - z(apart + 1.0) };
    }
    // Each probability follows from that of one more head, from the middle outward.
    let mut heads = (fewer + more) / 2;
    let mut chance = middle_chance(fewer + more);
    let mut found = TailProbability { up_to: 0.0, at: 0.0 };
    // Subnormal numbers would stop shrinking because of rounding.
    while chance > (found.up_to * f64::EPSILON / 4.0).max(f64::MIN_POSITIVE) {
        if heads == fewer {
            found.at = chance;
        }
        if heads <= fewer {
            found.up_to += chance;
        }
        chance *= heads as f64 / (tosses - heads as f64 + 1.0);
        heads = heads.saturating_sub(1);
    }
    found
}

/// The probability of `tosses / 2` heads, rounded down: for `2m` tosses, `C(2m, m) / 4^m = Γ(m + 1/2) / (√π Γ(m + 1))`.
fn middle_chance(tosses: u64) -> f64 {
    let m = (tosses / 2) as f64;
    let even = if m == 0.0 { 1.0 } else { gamma_ratio(m) / (PI.sqrt() * m) };
    if tosses.is_multiple_of(2) { even } else { even * (m + 0.5) / (m + 1.0) }
}

/// The mean difference of matched shares, estimated with half a pseudo-pair of each kind.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MatchedShares {
    /// The center of the interval, closer to 0 than the observed difference.
    pub middle: f64,
    /// The standard error of the difference, never 0.
    pub std_error: f64,
    /// The interval of the difference, second minus first, within -1 to 1.
    pub interval: Interval,
}

/// The confidence interval of the mean of `differences`, each between two shares of correct trials of an item (second minus
/// first), at the two-sided `confidence` (0.95 for 95%).
///
/// With one trial on each side, each difference is -1, 0 or 1, and the interval is Wald's after adding half a pair to each of
/// the four kinds (Agresti and Min, "Simple improved confidence intervals for comparing matched proportions", Statistics in
/// Medicine 24, 2005), with Student's t quantile instead of the normal one. With several trials, the two added differing halves
/// have the weight of one trial: `weight` is the mean over the items of `(1/R₁ + 1/R₂) / 2` for R₁ and R₂ trials, 1 for one trial
/// on each side. With N = n + 2 and M = Σd / N, the variance is (Σd² + weight) / N - M².
///
/// `None` for fewer than two differences, if one is not finite, for a negative or infinite weight, and for a confidence outside
/// of `0 < confidence < 1`.
#[must_use]
pub fn matched_shares(differences: &[f64], weight: f64, confidence: f64) -> Option<MatchedShares> {
    let is_possible = confidence > 0.0 && confidence < 1.0 && weight >= 0.0 && weight.is_finite();
    if differences.len() < 2 || !is_possible {
        return None;
    }
    let n = differences.len() as f64 + 2.0;
    let middle = sum(differences.iter().copied()) / n;
    let variance = (sum(differences.iter().map(|d| d * d)) + weight) / n - middle * middle;
    let std_error = (variance / n).sqrt();
    let half = student_t_quantile(0.5 + 0.5 * confidence, n - 3.0)? * std_error;
    if !half.is_finite() {
        return None;
    }
    let interval = Interval { low: (middle - half).max(-1.0), high: (middle + half).min(1.0) };
    Some(MatchedShares { middle, std_error, interval })
}

/// The weight of one trial: the mean of 1/R over the items, for R trials.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialWeights {
    /// On the first side.
    pub first: f64,
    /// On the second side.
    pub second: f64,
}

impl TrialWeights {
    /// The mean weight of both sides, the `weight` of [`matched_shares`].
    #[must_use]
    pub fn mean(self) -> f64 {
        0.5 * (self.first + self.second)
    }
}

/// The spread of the items' shares of correct trials, which determines the power to detect a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ShareSpread {
    /// The mean squared difference of a pair under the null hypothesis, with half a pseudo-pair of each kind as in
    /// [`matched_shares`].
    pub of_unchanged: f64,
    /// The share of correct trials in the first run.
    pub share: f64,
    /// The weights of a trial.
    pub weights: TrialWeights,
}

impl ShareSpread {
    /// The spread of `differences`. `None` without differences, and if a number is not finite or out of range.
    #[must_use]
    pub fn of(differences: &[f64], share: f64, weights: TrialWeights) -> Option<Self> {
        let TrialWeights { first, second } = weights;
        let are_weights = [first, second].into_iter().all(|weight| weight > 0.0 && weight <= 1.0);
        let (squares, n) = (sum(differences.iter().map(|d| d * d)), differences.len() as f64);
        let of_unchanged = (squares + weights.mean()) / (n + 2.0);
        let is_possible = !differences.is_empty() && are_weights && (0.0..=1.0).contains(&share);
        (is_possible && squares.is_finite()).then_some(Self { of_unchanged, share, weights })
    }

    /// The min detectable difference of a two-sided test at the 5% level with 80% power and `n` pairs: the δ for which
    /// [`pairs_to_detect`](Self::pairs_to_detect) is n.
    ///
    /// `None` for fewer than two pairs, and if even the largest difference, 1, is not detectable.
    #[must_use]
    pub fn min_detectable_difference(&self, n: f64) -> Option<f64> {
        // Larger differences are detectable as well.
        let is_shown =
            |difference: f64| self.pairs_to_detect(difference, TAIL).is_some_and(|pairs| n >= pairs);
        let (mut low, mut high) = (0.0, 1.0);
        if n.is_nan() || n < 2.0 || !is_shown(high) {
            return None;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if is_shown(middle) { high = middle } else { low = middle }
        }
        Some(high)
    }

    /// The number of pairs needed to detect a true difference δ with 80% power, for a test with the one-sided error rate `tail`
    /// (0.025 for a two-sided test at 5%) (Connor, "Sample size for testing differences in proportions for the paired-sample
    /// design", Biometrics 43, 1987): `[z(1 - tail) √L + z(0.8) √P]² / δ²`.
    ///
    /// P is the variance of a difference if the second run is right less often by δ: such a run differs in more pairs than an
    /// unchanged one, `of_unchanged + w₂ g` with `g = δ (2 share - 1) - δ²`, where the first part of g is at least 0. L is the variance
    /// that the test assumes: `of_unchanged + w₁ g + c δ²`, or P, as in the interval, if that is larger. With equally many trials on
    /// both sides, whose differences are flipped, c is 1; with one trial each it is Connor's formula. Otherwise trials are permuted,
    /// and c is one over (the number of all trials less one).
    ///
    /// `None` for a difference outside of `0 < difference <= 1`, and a tail outside of `0 < tail < 0.5`.
    #[must_use]
    pub fn pairs_to_detect(&self, difference: f64, tail: f64) -> Option<f64> {
        if !(difference > 0.0 && difference <= 1.0 && tail > 0.0 && tail < 0.5) {
            return None;
        }
        let z_of_level = normal_quantile(1.0 - tail)?;
        let Self { of_unchanged, share, weights: TrialWeights { first, second } } = *self;
        let square = difference * difference;
        let change = difference * (2.0 * share - 1.0).max(0.0) - square;
        let of_test = if first == second { 1.0 } else { 1.0 / (1.0 / first + 1.0 / second - 1.0) };
        let variance = (of_unchanged + second * change).max(0.0);
        let held_against = (of_unchanged + first * change + of_test * square).max(variance);
        Some(((z_of_level * held_against.sqrt() + Z_OF_POWER * variance.sqrt()) / difference).powi(2))
    }
}

/// Correlated observations.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cluster {
    /// The sum of the observations.
    pub total: f64,
    /// The number of observations.
    pub count: usize,
}

/// One value per cluster, which can be treated as independent: they have the mean of all observations, and the standard error of
/// their mean is that of this mean as a ratio of two sums over clusters (Cochran, "Sampling techniques", 3rd edition, 1977,
/// chapter 6). If all clusters have the same size, it is the cluster's own mean; the mean of a smaller cluster is shrunk towards
/// the overall mean.
///
/// Empty without observations.
#[must_use]
pub fn by_cluster(clusters: &[Cluster]) -> Vec<f64> {
    let count: usize = clusters.iter().map(|cluster| cluster.count).sum();
    if count == 0 {
        return Vec::new();
    }
    let mean = sum(clusters.iter().map(|cluster| cluster.total)) / count as f64;
    let usual = count as f64 / clusters.len() as f64;
    clusters.iter().map(|cluster| mean + (cluster.total - mean * cluster.count as f64) / usual).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::report::stats::sign_flip;

    fn relative_error(actual: f64, expected: f64) -> f64 {
        (actual / expected - 1.0).abs()
    }

    #[test]
    fn without_pairs_that_differ_nothing_is_found() {
        let nothing = Mcnemar { p: 1.0, p_greater: 1.0, mid_p: 1.0, mid_p_greater: 0.5 };
        assert_eq!(mcnemar(0, 0), nothing);
    }

    #[test]
    fn an_even_split_is_1_on_both_sides_together() {
        for half in [1, 7, 1_000_000, 1 << 60] {
            let even = mcnemar(half, half);
            assert!(even.p == 1.0 && (even.mid_p - 1.0).abs() < 1e-9, "{half}: {even:?}");
        }
    }

    #[test]
    fn the_chances_match_exact_sums_of_binomials() {
        for (fewer, more, expected) in [
            (0, 1, 1.0),
            (2, 9, 0.065_429_687_5),
            (40, 75, 0.001_412_957_498_607_687),
            (480, 560, 0.014_259_079_095_386_026),
            (100, 400, 1.6596294752173933e-43),
            (10_000, 10_300, 0.035_852_359_736_158_82),
            (10_000, 13_000, 2.8082700316866484e-87),
            (500_000, 501_000, 0.318_036_540_840_322_55),
            (4_000_000, 4_020_000, 1.642_459_136_520_869e-12),
        ] {
            let (p, swapped) = (mcnemar(fewer, more).p, mcnemar(more, fewer).p);
            assert!(relative_error(p, expected) < 1e-11, "{fewer} {more}: {p}, expected {expected}");
            assert_eq!(p, swapped);
        }
    }

    #[test]
    fn an_observed_split_counts_half_in_mid_p_values() {
        // Of 2048 splits of eleven pairs, 1, 11 and 55 have 0, 1 and 2 on one side.
        let found = mcnemar(9, 2);
        assert!(relative_error(found.mid_p, (2.0 * 12.0 + 55.0) / 2048.0) < 1e-14);
        assert!(relative_error(found.mid_p_greater, 1.0 - (12.0 + 27.5) / 2048.0) < 1e-14);
        assert!(relative_error(mcnemar(2, 9).mid_p_greater, (12.0 + 27.5) / 2048.0) < 1e-14);
    }

    #[test]
    fn counts_of_any_size_neither_overflow_nor_take_long() {
        assert_eq!(mcnemar(0, u64::MAX).p, 0.0);
        assert_eq!(mcnemar(0, 10_000_000).p, 0.0);
        assert_eq!(mcnemar(u64::MAX, u64::MAX).p, 1.0);
        assert_eq!(mcnemar(u64::MAX, 0).p_greater, 1.0);
    }

    #[test]
    fn the_normal_distribution_takes_over_smoothly() {
        for z in [0.5_f64, 2.0, 5.0] {
            let (half, apart) = (EXACT_UP_TO as u64 / 2, (z * EXACT_UP_TO.sqrt() / 2.0) as u64);
            let summed = mcnemar(half - apart, half + apart);
            let normal = mcnemar(half - apart, half + apart + 1);
            // One more pair changes z by one over the square root of the total.
            assert!(relative_error(summed.p, normal.p) < 1e-4, "{z}: {summed:?} {normal:?}");
            assert!(relative_error(summed.mid_p, normal.mid_p) < 1e-4, "{z}: {summed:?} {normal:?}");
        }
    }

    /// The given numbers of differences of -1, 1 and 0.
    fn pairs(only_first: usize, only_second: usize, same: usize) -> Vec<f64> {
        [vec![-1.0; only_first], vec![1.0; only_second], vec![0.0; same]].concat()
    }

    #[test]
    fn the_interval_matches_a_survey_taken_twice() {
        // 150 of 1,600 changed their approval to disapproval, and 86 the other way (Agresti, "Categorical data analysis").
        let survey = matched_shares(&pairs(150, 86, 1_364), 1.0, 0.95).unwrap();
        assert!((survey.middle + 64.0 / 1_602.0).abs() < 1e-15);
        assert!((survey.std_error - 0.009_557_764_046_565_36).abs() < 1e-15);
        // With the normal quantile, it is -0.058683 to -0.021217. Student's quantile (1,599 degrees of freedom) is 0.08% larger.
        assert!((survey.interval.low + 0.058_697_6).abs() < 1e-6, "{survey:?}");
        assert!((survey.interval.high + 0.021_202_6).abs() < 1e-6, "{survey:?}");
    }

    #[test]
    fn pairs_that_do_not_differ_leave_room_for_a_difference_and_less_with_more_runs() {
        let few = |weight| matched_shares(&[0.0; 5], weight, 0.95).unwrap().interval;
        assert!(few(1.0).low < -0.2 && few(1.0).high > 0.2 && few(1.0).low == -few(1.0).high);
        assert!((few(1.0).high / few(0.25).high - 2.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_pairs_and_impossible_numbers_have_no_interval() {
        assert_eq!(matched_shares(&[], 1.0, 0.95), None);
        assert_eq!(matched_shares(&[1.0], 1.0, 0.95), None);
        assert_eq!(matched_shares(&[1.0, f64::NAN], 1.0, 0.95), None);
        for weight in [-1.0, f64::NAN, f64::INFINITY] {
            assert_eq!(matched_shares(&[0.0, 1.0], weight, 0.95), None, "{weight}");
        }
        for confidence in [0.0, 1.0, -1.0, 95.0, f64::NAN] {
            assert_eq!(matched_shares(&[0.0, 1.0], 1.0, confidence), None, "{confidence}");
        }
    }

    fn weights(first: f64, second: f64) -> TrialWeights {
        TrialWeights { first, second }
    }

    #[test]
    fn what_is_detectable_and_how_many_pairs_show_it_agree() {
        for (n, of_unchanged, share, weights) in [
            (50.0, 0.18, 0.9, weights(1.0, 1.0)),
            (200.0, 0.04, 0.98, weights(1.0, 0.2)),
            (1_000.0, 0.5, 0.5, weights(0.2, 1.0)),
            (10.0, 0.05, 1.0, weights(0.2, 0.2)),
        ] {
            let spread = ShareSpread { of_unchanged, share, weights };
            let least = spread.min_detectable_difference(n).unwrap();
            let pairs = spread.pairs_to_detect(least, TAIL).unwrap();
            assert!((pairs / n - 1.0).abs() < 1e-9, "{n} {spread:?}: {least} by {pairs}");
        }
        // 25% of the pairs differ in one direction and 10% in the other: (1.96 * √0.35 + 0.8416 * √0.3275)² / 0.0225.
        let (half, all) = (0.5, 0.35);
        let known = ShareSpread { of_unchanged: all, share: half, weights: weights(1.0, 1.0) };
        assert_eq!(known.pairs_to_detect(0.15, TAIL).unwrap().ceil(), 120.0);
    }

    #[test]
    fn half_a_pair_of_each_kind_is_added_and_what_cannot_show_is_absent() {
        let known = ShareSpread::of(&pairs(3, 1, 6), 0.9, weights(1.0, 0.2)).unwrap();
        let expected = ShareSpread { of_unchanged: 4.6 / 12.0, share: 0.9, weights: weights(1.0, 0.2) };
        assert_eq!(known, expected);
        assert_eq!(known.pairs_to_detect(0.0, TAIL), None);
        assert_eq!(known.pairs_to_detect(1.1, TAIL), None);
        assert_eq!(known.pairs_to_detect(0.5, 0.5), None);
        assert_eq!(known.min_detectable_difference(1.0), None);
        let few = ShareSpread::of(&pairs(1, 0, 1), 1.0, weights(1.0, 1.0)).unwrap();
        assert_eq!(few.min_detectable_difference(2.0), None, "even a difference of 1 is not detectable");
        for (share, weight) in [(f64::NAN, 1.0), (0.5, -1.0), (-0.1, 1.0), (0.5, f64::INFINITY), (0.5, 1.1)] {
            assert_eq!(ShareSpread::of(&[0.0, 1.0], share, weights(1.0, weight)), None, "{share} {weight}");
        }
        assert_eq!(ShareSpread::of(&[], 0.5, weights(1.0, 1.0)), None);
    }

    proptest! {
        #[test]
        fn it_is_the_sign_flip_test_of_ones(first in 0..16_u64, second in 0..16_u64) {
            let differences = pairs(first as usize, second as usize, 0);
            let (flips, found) = (sign_flip(&differences).unwrap(), mcnemar(first, second));
            prop_assert!(relative_error(found.p, flips.p) < 1e-12);
            prop_assert!(relative_error(found.p_greater, flips.p_greater) < 1e-12);
            prop_assert!(relative_error(found.mid_p, flips.mid_p) < 1e-12);
            prop_assert!(relative_error(found.mid_p_greater, flips.mid_p_greater) < 1e-12);
        }

        #[test]
        fn the_sides_add_up(first in 0..5_000_u64, second in 0..5_000_u64) {
            let (found, mirrored) = (mcnemar(first, second), mcnemar(second, first));
            prop_assert!((found.mid_p_greater + mirrored.mid_p_greater - 1.0).abs() < 1e-11);
            prop_assert!(found.mid_p <= found.p && found.mid_p_greater <= found.p_greater);
        }

        #[test]
        fn the_interval_lies_between_the_difference_and_0(first in 0..1_000, second in 0..1_000, same in 0..1_000) {
            let (first, second, same) = (first as usize, second as usize, same as usize);
            prop_assume!(first + second + same > 1);
            let difference = (second as f64 - first as f64) / (first + second + same) as f64;
            let found = matched_shares(&pairs(first, second, same), 1.0, 0.95).unwrap();
            prop_assert!(found.std_error > 0.0 && found.middle.abs() <= difference.abs());
            prop_assert!(-1.0 <= found.interval.low && found.interval.low <= difference);
            prop_assert!(difference <= found.interval.high && found.interval.high <= 1.0);
        }
    }

    fn cluster(values: &[f64]) -> Cluster {
        Cluster { total: values.iter().sum(), count: values.len() }
    }

    #[test]
    fn clusters_of_one_size_stand_for_their_means() {
        assert_eq!(by_cluster(&[cluster(&[1.0, 2.0]), cluster(&[4.0, 4.0])]), [1.5, 4.0]);
        assert_eq!(by_cluster(&[cluster(&[0.25]), cluster(&[0.75])]), [0.25, 0.75]);
    }

    #[test]
    fn smaller_clusters_are_drawn_towards_the_mean_which_stays() {
        let values = by_cluster(&[cluster(&[0.0, 0.0, 0.0]), cluster(&[1.0])]);
        // The mean of four is 0.25: 0.25 - 3 * 0.25 / 2, and 0.25 + 0.75 / 2.
        assert_eq!(values, [-0.125, 0.625]);
    }

    #[test]
    fn without_observations_there_are_no_values() {
        assert!(by_cluster(&[]).is_empty() && by_cluster(&[cluster(&[])]).is_empty());
    }
}
