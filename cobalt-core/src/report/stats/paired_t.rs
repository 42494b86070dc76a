//! Student's paired t test, the CI of a ratio of two means, and Holm's correction for multiple tests.

use super::{Interval, ROUNDING, describe, normal_quantile, student_t_cdf, student_t_quantile, sum};

/// The result of a paired t test.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PairedT {
    /// The mean difference in units of its standard error.
    pub t: f64,
    /// The degrees of freedom: the number of differences less one.
    pub dof: f64,
    /// The two-sided p-value.
    pub p: f64,
    /// The one-sided p-value of a mean above 0.
    pub p_greater: f64,
}

/// The paired t test of `differences`: `t = mean / std_error`, with `n - 1` degrees of freedom (Student, "The probable
/// error of a mean", Biometrika 6, 1908). Cohen's d_z is `t / √n`.
///
/// `None` for fewer than two differences, if they have no spread beyond rounding, and if one is not finite.
#[must_use]
pub fn paired_t(differences: &[f64]) -> Option<PairedT> {
    let figures = describe(differences)?;
    let largest = figures.max.max(-figures.min);
    if figures.stddev_sample? <= ROUNDING * largest {
        return None;
    }
    let (t, dof) = (figures.mean / figures.std_error?, (figures.n - 1) as f64);
    let beyond = student_t_cdf(-t.abs(), dof)?;
    Some(PairedT { t, dof, p: 2.0 * beyond, p_greater: if t >= 0.0 { beyond } else { 1.0 - beyond } })
}

/// The min detectable difference of a two-sided test at the 5% level with 80% power, given the standard error of the difference
/// and its degrees of freedom: `(t(0.975) + t(0.80)) · std_error` (Bloom, "Minimum detectable effects", Evaluation Review 19,
/// 1995).
///
/// In the unit of the standard error. `None` without spread (a standard error that is 0 or not finite), and for fewer than 1
/// degree of freedom.
#[must_use]
pub fn min_detectable_difference(std_error: f64, dof: f64) -> Option<f64> {
    if std_error.is_nan() || std_error <= 0.0 {
        return None;
    }
    let difference = (student_t_quantile(0.975, dof)? + student_t_quantile(0.8, dof)?) * std_error;
    difference.is_finite().then_some(difference)
}

/// The number of pairs with this SD of their differences that is needed to detect a true mean difference with 80% power, for a
/// test with the one-sided error rate `tail` (0.025 for a two-sided test at 5%): the N for which
/// `(t(1 - tail) + t(0.80)) · stddev / √N` is the difference, with N - 1 degrees of freedom. At least 2, and not rounded.
///
/// `None` for a difference that is not above 0, a negative SD, and a tail outside of `0 < tail < 0.5`.
#[must_use]
pub fn pairs_to_detect(stddev: f64, difference: f64, tail: f64) -> Option<f64> {
    if !(difference > 0.0 && stddev >= 0.0 && tail > 0.0 && tail < 0.5) {
        return None;
    }
    let squared = (stddev / difference).powi(2);
    let z = normal_quantile(1.0 - tail)? + normal_quantile(0.8)?;
    let needed = |pairs: f64| {
        let t = |p| student_t_quantile(p, pairs - 1.0).unwrap_or(f64::INFINITY);
        (t(1.0 - tail) + t(0.8)).powi(2) * squared
    };
    // More pairs have more degrees of freedom and so need fewer pairs: there is one fixed point.
    let (mut low, mut high) = ((z * z * squared).max(2.0), needed(2.0).max(2.0));
    if !high.is_finite() {
        return low.is_finite().then_some(low);
    }
    while high - low > 1e-9 * high {
        let middle = 0.5 * (low + high);
        if needed(middle) > middle { low = middle } else { high = middle }
    }
    Some(high)
}

/// The confidence interval of the ratio of two means of paired values, second over first, at the two-sided `confidence` (0.95
/// for 95%): all ratios ρ for which the t test of second - ρ · first is not significant (Fieller, "Some problems in interval
/// estimation", Journal of the Royal Statistical Society B 16, 1954).
///
/// `None` for fewer than two pairs or lists of unequal length, if a number is not finite, for a confidence outside of
/// `0 < confidence < 1`, and if the first mean may be 0 at this confidence: the interval is unbounded then.
#[must_use]
pub fn ratio_of_means(first: &[f64], second: &[f64], confidence: f64) -> Option<Interval> {
    if first.len() != second.len() || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let (base, other) = (describe(first)?, describe(second)?);
    let t = student_t_quantile(0.5 + 0.5 * confidence, (first.len() as f64) - 1.0)?;
    let products = first.iter().zip(second).map(|(a, b)| (a - base.mean) * (b - other.mean));
    let n = first.len() as f64;
    // The variances of the means and their covariance, times the square of t.
    let squared = |error: f64| (t * error).powi(2);
    let (of_base, of_other) = (squared(base.std_error?), squared(other.std_error?));
    let common = t * t * sum(products) / (n - 1.0) / n;
    // The roots of (base² - of_base) ρ² - 2 (base · other - common) ρ + other² - of_other.
    let (square, half) = (base.mean * base.mean - of_base, base.mean * other.mean - common);
    let rest = other.mean * other.mean - of_other;
    let root = (half * half - square * rest).max(0.0).sqrt();
    let interval = Interval { low: (half - root) / square, high: (half + root) / square };
    (square > 0.0 && interval.low.is_finite() && interval.high.is_finite()).then_some(interval)
}

/// The p-values corrected for multiple tests by Holm's method, in the given order: the i-th smallest of m times `m - i + 1`, at
/// most 1, and never below the corrected value of a smaller one (Holm, "A simple sequentially rejective multiple test procedure",
/// Scandinavian Journal of Statistics 6, 1979).
///
/// It controls the family-wise error rate for any dependence between the tests. A NaN counts as 1; other values are clamped to
/// 0 to 1.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let p = |index: usize| if p_values[index].is_nan() { 1.0 } else { p_values[index].clamp(0.0, 1.0) };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p(*a).total_cmp(&p(*b)));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, index) in order.into_iter().enumerate() {
        largest = largest.max(p(index) * (p_values.len() - rank) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn as_many_pairs_show_a_difference_as_make_it_the_smallest_detectable() {
        for (stddev, difference) in [(0.3, 0.06), (0.1, 0.09), (2.0, 0.01)] {
            let pairs = pairs_to_detect(stddev, difference, 0.025).unwrap();
            let least = min_detectable_difference(stddev / pairs.sqrt(), pairs - 1.0).unwrap();
            assert!((least / difference - 1.0).abs() < 1e-6, "{stddev} {difference}: {pairs}, {least}");
        }
        // (3.0902 + 0.8416)² × 25 by the normal distribution; a few more by Student's.
        let strict = pairs_to_detect(0.3, 0.06, 0.001).unwrap();
        assert!((386.5..393.0).contains(&strict), "{strict}");
        assert_eq!(pairs_to_detect(0.0, 0.1, 0.025), Some(2.0), "without a spread");
        for (stddev, difference, tail) in
            [(0.1, 0.0, 0.025), (-0.1, 0.1, 0.025), (0.1, 0.1, 0.0), (0.1, f64::NAN, 0.025)]
        {
            assert_eq!(pairs_to_detect(stddev, difference, tail), None, "{stddev} {difference} {tail}");
        }
    }

    #[test]
    fn one_difference_and_equal_ones_are_not_testable() {
        assert_eq!(paired_t(&[0.2]), None);
        assert_eq!(paired_t(&[0.25; 9]), None);
        assert_eq!(paired_t(&[0.0; 9]), None);
        // Both are 0.1 apart from rounding.
        assert_eq!(paired_t(&[0.6 - 0.5, 0.7 - 0.6]), None);
    }

    #[test]
    fn a_difference_that_is_not_finite_leaves_no_test() {
        assert_eq!(paired_t(&[0.1, f64::NAN, 0.3]), None);
        assert_eq!(paired_t(&[0.1, f64::INFINITY, 0.3]), None);
    }

    #[test]
    fn with_many_items_2_8_standard_errors_are_detectable() {
        let detectable = min_detectable_difference(0.01, 1e9).unwrap();
        // 1.959964 + 0.841621, the quantiles of the normal distribution.
        assert!((detectable - 0.028_015_85).abs() < 1e-8, "{detectable}");
        assert!(min_detectable_difference(0.01, 1.0).unwrap() > 0.14);
    }

    #[test]
    fn without_a_spread_or_a_second_item_nothing_is_detectable() {
        for (std_error, dof) in [(0.0, 9.0), (-0.1, 9.0), (f64::NAN, 9.0), (f64::INFINITY, 9.0), (0.1, 0.0)] {
            assert_eq!(min_detectable_difference(std_error, dof), None, "{std_error} {dof}");
        }
    }

    proptest! {
        #[test]
        fn the_sides_swap_with_the_sign(differences in prop::collection::vec(-1.0..1.0_f64, 2..40)) {
            let mirrored: Vec<f64> = differences.iter().map(|d| -d).collect();
            let (test, mirror) = (paired_t(&differences).unwrap(), paired_t(&mirrored).unwrap());
            prop_assert!((test.p - mirror.p).abs() < 1e-12);
            prop_assert!((test.p_greater + mirror.p_greater - 1.0).abs() < 1e-12);
        }

        #[test]
        fn the_test_and_the_interval_agree(differences in prop::collection::vec(-1.0..1.0_f64, 2..40)) {
            let interval = describe(&differences).unwrap().ci95.unwrap();
            let p = paired_t(&differences).unwrap().p;
            prop_assume!((p - 0.05).abs() > 1e-9);
            prop_assert_eq!(p < 0.05, interval.low > 0.0 || interval.high < 0.0);
        }
    }

    #[test]
    fn equal_values_have_an_interval_of_no_width() {
        let interval = ratio_of_means(&[2.0, 2.0, 2.0], &[3.0, 3.0, 3.0], 0.95).unwrap();
        assert_eq!((interval.low, interval.high), (1.5, 1.5));
    }

    #[test]
    fn a_first_mean_that_may_be_0_leaves_no_interval() {
        assert_eq!(ratio_of_means(&[1.0, -1.0, 0.5], &[1.0, 2.0, 3.0], 0.95), None);
        assert_eq!(ratio_of_means(&[0.0, 0.0], &[0.0, 0.0], 0.95), None);
        assert_eq!(ratio_of_means(&[1.0], &[1.0], 0.95), None);
        assert_eq!(ratio_of_means(&[1.0, 2.0], &[1.0], 0.95), None);
        assert_eq!(ratio_of_means(&[1.0, f64::NAN], &[1.0, 1.0], 0.95), None);
    }

    proptest! {
        #[test]
        fn at_its_ends_the_t_test_is_at_the_level(pairs in prop::collection::vec((1.0..3.0_f64, 0.5..4.0_f64), 3..40)) {
            let (first, second): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let Some(interval) = ratio_of_means(&first, &second, 0.95) else { return Ok(()) };
            for ratio in [interval.low, interval.high] {
                let differences: Vec<_> = first.iter().zip(&second).map(|(a, b)| b - ratio * a).collect();
                let p = paired_t(&differences).unwrap().p;
                prop_assert!((p - 0.05).abs() < 1e-6, "{ratio}: {p}");
            }
        }
    }

    #[test]
    fn the_smallest_is_multiplied_by_the_count_and_the_largest_by_one() {
        assert_eq!(holm(&[0.25, 0.03125, 0.0625]), [0.25, 0.09375, 0.125]);
    }

    #[test]
    fn a_corrected_value_is_never_below_that_of_a_smaller_one() {
        assert_eq!(holm(&[0.0625, 0.078125]), [0.125, 0.125]);
    }

    #[test]
    fn one_value_stays_as_it_is_and_none_stay_none() {
        assert_eq!(holm(&[0.5]), [0.5]);
        assert_eq!(holm(&[]), [] as [f64; 0]);
    }

    #[test]
    fn a_nan_counts_as_1_and_as_one_of_the_tests() {
        assert_eq!(holm(&[f64::NAN, 0.125, -f64::NAN]), [1.0, 0.375, 1.0]);
    }

    proptest! {
        #[test]
        fn no_value_gets_smaller_and_the_order_stays(p_values in prop::collection::vec(0.0..=1.0_f64, 0..30)) {
            let adjusted = holm(&p_values);
            for (i, p) in p_values.iter().enumerate() {
                prop_assert!((*p..=1.0).contains(&adjusted[i]));
                for (j, other) in p_values.iter().enumerate() {
                    prop_assert!(p > other || adjusted[i] <= adjusted[j]);
                }
            }
        }

        #[test]
        fn the_least_is_bonferronis(p_values in prop::collection::vec(0.0..=1.0_f64, 1..30)) {
            let least = |values: &[f64]| values.iter().copied().fold(1.0, f64::min);
            prop_assert_eq!(least(&holm(&p_values)), (least(&p_values) * p_values.len() as f64).min(1.0));
        }
    }
}
