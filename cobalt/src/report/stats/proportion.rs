//! The confidence interval of a pass rate.

use super::{Interval, normal_quantile};

/// The Wilson score interval of a pass rate of `passes` in `n`, without continuity correction, at the two-sided
/// `confidence` (0.95 for 95 %) (Wilson, "Probable inference, the law of succession, and statistical inference", JASA
/// 22, 1927).
///
/// Both ends are in 0 to 1; no pass gives a lower end of exactly 0, and no failure an upper end of exactly 1. `None`
/// for `n` = 0, for more passes than `n`, and for a confidence outside of `0 < confidence < 1`.
pub fn wilson(passes: u64, n: u64, confidence: f64) -> Option<Interval> {
    if n == 0 || passes > n || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let z = normal_quantile(0.5 + 0.5 * confidence)?;
    Some(Interval { low: lower_end(passes, n, z), high: 1.0 - lower_end(n - passes, n, z) })
}

/// The smaller root of `(n + z²) p² - (2 k + z²) p + k² / n = 0`, as product of the roots over the larger one: the
/// textbook difference cancels for few passes.
fn lower_end(passes: u64, n: u64, z: f64) -> f64 {
    let (k, failures, n, z2) = (passes as f64, (n - passes) as f64, n as f64, z * z);
    let larger = 2.0 * k + z2 + z * (z2 + 4.0 * k * failures / n).sqrt();
    (2.0 * k * k / (n * larger)).min(1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_interval_of_nothing_is_undefined() {
        assert_eq!(wilson(0, 0, 0.95), None);
        assert_eq!(wilson(3, 2, 0.95), None);
        for confidence in [0.0, 1.0, -1.0, 95.0, f64::NAN] {
            assert_eq!(wilson(1, 2, confidence), None, "{confidence}");
        }
    }

    #[test]
    fn no_pass_starts_at_0_and_no_failure_ends_at_1() {
        assert_eq!(wilson(0, 20, 0.95).unwrap().low, 0.0);
        assert_eq!(wilson(20, 20, 0.95).unwrap().high, 1.0);
    }

    #[test]
    fn a_rare_pass_keeps_its_digits() {
        // 1 in 10^12 at 95 %: (2 + z² - z sqrt(z² + 4 - 4e-12)) / (2 (1e12 + z²)), worked out with 40 digits.
        let low = wilson(1, 1_000_000_000_000, 0.95).unwrap().low;
        assert!((low / 1.765_245_549_351_75e-13 - 1.0).abs() < 1e-9, "{low}");
    }

    proptest! {
        #[test]
        fn the_interval_holds_the_rate(passes in 0..1_000_000_u64, failures in 0..1_000_000_u64, confidence in 0.01..0.999_f64) {
            prop_assume!(passes + failures > 0);
            let n = passes + failures;
            let interval = wilson(passes, n, confidence).unwrap();
            let rate = passes as f64 / n as f64;
            prop_assert!(0.0 <= interval.low && interval.high <= 1.0);
            prop_assert!(interval.low <= rate + 1e-15 && rate <= interval.high + 1e-15);
        }
    }
}
