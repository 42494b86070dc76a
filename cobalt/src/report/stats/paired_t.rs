//! Student's t test of paired differences, and the smallest difference that it would show.

use super::{ROUNDING, describe, student_t_cdf, student_t_quantile};

/// A paired t test.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct PairedT {
    /// The mean difference in units of its standard error.
    pub t: f64,
    /// The degrees of freedom: one less than there are differences.
    pub dof: f64,
    /// The chance of a mean as far from 0, or farther, on either side, if the true mean is 0.
    pub p: f64,
    /// The chance of a mean as large as this one, or larger, if the true mean is 0.
    pub p_greater: f64,
}

/// The paired t test of `differences`: `t = mean / std_error`, with `n - 1` degrees of freedom (Student, "The probable
/// error of a mean", Biometrika 6, 1908). Cohen's d_z is `t / √n`.
///
/// `None` for fewer than two differences, where they have no spread but that of rounding, and where one is not finite.
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

/// The smallest true difference that a two-sided test at the 5 % level shows in 80 % of cases, given the standard error
/// of the difference and its degrees of freedom: `(t(0.975) + t(0.80)) · std_error` (Bloom, "Minimum detectable effects",
/// Evaluation Review 19, 1995).
///
/// In the unit of the standard error. `None` where there is no spread to tell it from (a standard error that is 0 or not
/// finite), and for fewer than 1 degree of freedom.
#[must_use]
pub fn smallest_detectable(std_error: f64, dof: f64) -> Option<f64> {
    if std_error.is_nan() || std_error <= 0.0 {
        return None;
    }
    let difference = (student_t_quantile(0.975, dof)? + student_t_quantile(0.8, dof)?) * std_error;
    difference.is_finite().then_some(difference)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_difference_and_equal_ones_are_not_testable() {
        assert_eq!(paired_t(&[0.2]), None);
        assert_eq!(paired_t(&[0.25; 9]), None);
        assert_eq!(paired_t(&[0.0; 9]), None);
        // Both are 0.1, but for rounding.
        assert_eq!(paired_t(&[0.6 - 0.5, 0.7 - 0.6]), None);
    }

    #[test]
    fn a_difference_that_is_not_finite_leaves_no_test() {
        assert_eq!(paired_t(&[0.1, f64::NAN, 0.3]), None);
        assert_eq!(paired_t(&[0.1, f64::INFINITY, 0.3]), None);
    }

    #[test]
    fn with_many_items_2_8_standard_errors_are_detectable() {
        let detectable = smallest_detectable(0.01, 1e9).unwrap();
        // 1.959964 + 0.841621, the quantiles of the normal distribution.
        assert!((detectable - 0.028_015_85).abs() < 1e-8, "{detectable}");
        assert!(smallest_detectable(0.01, 1.0).unwrap() > 0.14);
    }

    #[test]
    fn without_a_spread_or_a_second_item_nothing_is_detectable() {
        for (std_error, dof) in [(0.0, 9.0), (-0.1, 9.0), (f64::NAN, 9.0), (f64::INFINITY, 9.0), (0.1, 0.0)] {
            assert_eq!(smallest_detectable(std_error, dof), None, "{std_error} {dof}");
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
}
