//! The interval of a ratio of two means.

use super::{Interval, describe, student_t_quantile, sum};

/// The interval of the ratio of two means, second over first, of which each pair of values was observed together, at the
/// two-sided `confidence` (0.95 for 95 %): all ratios ρ for which the t test of second - ρ · first finds no difference from
/// 0 (Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16, 1954).
///
/// `None` for fewer than two pairs or lists of unequal length, where a number is not finite, for a confidence outside of
/// `0 < confidence < 1`, and where the first mean may be 0 at this confidence: the interval has no ends then.
#[must_use]
pub fn ratio_of_means(first: &[f64], second: &[f64], confidence: f64) -> Option<Interval> {
    if first.len() != second.len() || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let (base, other) = (describe(first)?, describe(second)?);
    let t = student_t_quantile(0.5 + 0.5 * confidence, (first.len() as f64) - 1.0)?;
    let products = first.iter().zip(second).map(|(a, b)| (a - base.mean) * (b - other.mean));
    let n = first.len() as f64;
    // The variances of the means, and what they have in common, by the square of t.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::paired_t;
    use super::*;

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
}
