//! Two systems that are each right or wrong on the same items: McNemar's test and the interval of the difference.

use std::f64::consts::PI;

use super::student_t::gamma_ratio;
use super::{Interval, normal_cdf, normal_quantile};

/// Beyond so many pairs that differ, the normal distribution stands in for the binomial. It is off by a share of about
/// `z⁴ / (12 n)`.
const EXACT_UP_TO: f64 = 1e10;

/// McNemar's exact test, two-sided: the chance that, had nothing changed, the pairs in which only one of the two is right
/// would be split as unevenly between them, or more so (McNemar, "Note on the sampling error of the difference between
/// correlated proportions", Psychometrika 12, 1947). It is the sign test, and the sign-flip test of these pairs.
///
/// Without such a pair it is 1; chances too small for a double are 0. Takes `O(√n)` steps, at most some millions.
#[must_use]
pub fn mcnemar(only_first: u64, only_second: u64) -> f64 {
    let (fewer, more) = (only_first.min(only_second), only_first.max(only_second));
    (2.0 * tail(fewer, more)).min(1.0)
}

/// McNemar's exact test, one-sided: the chance that, had nothing changed, as many of the pairs in which only one of the
/// two is right, or more, would fall to the second.
#[must_use]
pub fn mcnemar_greater(only_first: u64, only_second: u64) -> f64 {
    if only_first <= only_second {
        return tail(only_first, only_second);
    }
    // All but those in which at most one fewer falls to the second.
    only_second.checked_sub(1).map_or(1.0, |fewer| 1.0 - tail(fewer, only_first.saturating_add(1)))
}

/// The chance of at most `fewer` heads in `fewer + more` tosses of a fair coin, where `fewer <= more`.
fn tail(fewer: u64, more: u64) -> f64 {
    let tosses = fewer as f64 + more as f64;
    if tosses > EXACT_UP_TO {
        let z = ((more - fewer) as f64 - 1.0) / tosses.sqrt();
        return normal_cdf(-z).unwrap_or(0.0);
    }
    // Each chance follows from the one of a head more, from the middle outward.
    let mut heads = (fewer + more) / 2;
    let mut chance = middle_chance(fewer + more);
    let mut total = 0.0;
    // What is no longer a normal number would not get smaller for rounding.
    while chance > (total * f64::EPSILON / 4.0).max(f64::MIN_POSITIVE) {
        if heads <= fewer {
            total += chance;
        }
        chance *= heads as f64 / (tosses - heads as f64 + 1.0);
        heads = heads.saturating_sub(1);
    }
    total
}

/// The chance of `tosses / 2` heads, rounded down: of `2m` tosses it is `C(2m, m) / 4^m = Γ(m + 1/2) / (√π Γ(m + 1))`.
fn middle_chance(tosses: u64) -> f64 {
    let m = (tosses / 2) as f64;
    let even = if m == 0.0 { 1.0 } else { gamma_ratio(m) / (PI.sqrt() * m) };
    if tosses.is_multiple_of(2) { even } else { even * (m + 0.5) / (m + 1.0) }
}

/// The difference of two matched proportions, as estimated with half a pair more of each kind.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MatchedProportions {
    /// The standard error of the difference. It is never 0.
    pub std_error: f64,
    /// The interval of the difference, second minus first, within -1 to 1. Its middle is nearer to 0 than the observed
    /// difference.
    pub interval: Interval,
}

/// The interval of the difference of the shares of `n` pairs in which the second and in which the first is right, at
/// the two-sided `confidence` (0.95 for 95 %), given in how many pairs only one of the two is: Wald's, after half a pair
/// is added to each of the four kinds (Agresti and Min, "Simple improved confidence intervals for comparing matched
/// proportions", Statistics in Medicine 24, 2005).
///
/// `None` without pairs, where more differ than there are, and for a confidence outside of `0 < confidence < 1`.
#[must_use]
pub fn matched_proportions(
    only_first: u64,
    only_second: u64,
    n: u64,
    confidence: f64,
) -> Option<MatchedProportions> {
    if n == 0 || only_first.checked_add(only_second)? > n || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let (first, second, n) = (only_first as f64, only_second as f64, n as f64 + 2.0);
    let difference = (second - first) / n;
    let std_error = ((first + second + 1.0) / n - difference * difference).sqrt() / n.sqrt();
    let half = normal_quantile(0.5 + 0.5 * confidence)? * std_error;
    let interval = Interval { low: (difference - half).max(-1.0), high: (difference + half).min(1.0) };
    Some(MatchedProportions { std_error, interval })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sign_flip;
    use super::*;

    fn relative_error(actual: f64, expected: f64) -> f64 {
        (actual / expected - 1.0).abs()
    }

    #[test]
    fn without_pairs_that_differ_nothing_is_found() {
        assert_eq!((mcnemar(0, 0), mcnemar_greater(0, 0)), (1.0, 1.0));
    }

    #[test]
    fn an_even_split_is_1_on_both_sides_together() {
        for half in [1, 7, 1_000_000, 1 << 60] {
            assert_eq!(mcnemar(half, half), 1.0, "{half}");
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
            let (p, swapped) = (mcnemar(fewer, more), mcnemar(more, fewer));
            assert!(relative_error(p, expected) < 1e-11, "{fewer} {more}: {p}, expected {expected}");
            assert_eq!(p, swapped);
        }
    }

    #[test]
    fn counts_of_any_size_neither_overflow_nor_take_long() {
        assert_eq!(mcnemar(0, u64::MAX), 0.0);
        assert_eq!(mcnemar(0, 10_000_000), 0.0);
        assert_eq!(mcnemar(u64::MAX, u64::MAX), 1.0);
        assert_eq!(mcnemar_greater(u64::MAX, 0), 1.0);
    }

    #[test]
    fn the_normal_distribution_takes_over_smoothly() {
        for z in [0.5_f64, 2.0, 5.0] {
            let (half, apart) = (EXACT_UP_TO as u64 / 2, (z * EXACT_UP_TO.sqrt() / 2.0) as u64);
            let summed = mcnemar(half - apart, half + apart);
            let normal = mcnemar(half - apart, half + apart + 1);
            // One pair more moves z by one in the root of all.
            assert!(relative_error(summed, normal) < 1e-4, "{z}: {summed} {normal}");
        }
    }

    #[test]
    fn the_interval_matches_a_survey_taken_twice() {
        // 150 of 1,600 changed their approval to disapproval, and 86 the other way (Agresti, "Categorical data analysis").
        let survey = matched_proportions(150, 86, 1_600, 0.95).unwrap();
        assert!((survey.std_error - 0.009_557_764_046_565_36).abs() < 1e-15);
        assert!((survey.interval.low + 0.058_682_935_725_972_4).abs() < 1e-14);
        assert!((survey.interval.high + 0.021_217_189_117_972_9).abs() < 1e-14);
    }

    #[test]
    fn pairs_that_do_not_differ_leave_room_for_a_difference() {
        let few = matched_proportions(0, 0, 5, 0.95).unwrap().interval;
        assert!(few.low < -0.2 && few.high > 0.2 && few.low == -few.high);
    }

    #[test]
    fn impossible_counts_and_confidences_have_no_interval() {
        for (first, second, n) in [(0, 0, 0), (2, 2, 3), (u64::MAX, 1, u64::MAX)] {
            assert_eq!(matched_proportions(first, second, n, 0.95), None, "{first} {second} {n}");
        }
        for confidence in [0.0, 1.0, -1.0, 95.0, f64::NAN] {
            assert_eq!(matched_proportions(1, 1, 3, confidence), None, "{confidence}");
        }
    }

    proptest! {
        #[test]
        fn it_is_the_sign_flip_test_of_ones(first in 0..16_u64, second in 0..16_u64) {
            let ones = |sign: f64, count: u64| std::iter::repeat_n(sign, count as usize);
            let differences: Vec<f64> = ones(-1.0, first).chain(ones(1.0, second)).collect();
            let flips = sign_flip(&differences).unwrap();
            prop_assert!(relative_error(mcnemar(first, second), flips.p) < 1e-12);
            prop_assert!(relative_error(mcnemar_greater(first, second), flips.p_greater) < 1e-12);
        }

        #[test]
        fn the_sides_add_up(first in 0..5_000_u64, second in 1..5_000_u64) {
            // As many or more for the second, and as many or more for the first than are left then.
            let both = mcnemar_greater(first, second) + mcnemar_greater(second - 1, first + 1);
            prop_assert!((both - 1.0).abs() < 1e-11, "{both}");
        }

        #[test]
        fn the_interval_holds_the_difference(first in 0..1_000_u64, second in 0..1_000_u64, same in 0..1_000_u64) {
            prop_assume!(first + second + same > 0);
            let n = first + second + same;
            let difference = (second as f64 - first as f64) / n as f64;
            let MatchedProportions { std_error, interval } = matched_proportions(first, second, n, 0.95).unwrap();
            prop_assert!(std_error > 0.0);
            prop_assert!(-1.0 <= interval.low && interval.low <= difference);
            prop_assert!(difference <= interval.high && interval.high <= 1.0);
        }
    }
}
