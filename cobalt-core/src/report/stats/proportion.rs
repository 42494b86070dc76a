//! The confidence interval of a pass rate, and pass@k and pass^k over several trials of an item.

use super::{Cluster, Interval, by_cluster, describe, normal_quantile, student_t_quantile, sum};

/// The Wilson score interval of a pass rate of `passes` in `n`, without continuity correction, at the two-sided
/// `confidence` (0.95 for 95%) (Wilson, "Probable inference, the law of succession, and statistical inference", JASA
/// 22, 1927).
///
/// Both ends are from 0 to 1; without passes the lower end is exactly 0, without failures the upper end is exactly 1. `None`
/// for `n` = 0, for more passes than `n`, and for a confidence outside of `0 < confidence < 1`.
pub fn wilson(passes: u64, n: u64, confidence: f64) -> Option<Interval> {
    if n == 0 || passes > n || !(confidence > 0.0 && confidence < 1.0) {
        return None;
    }
    let z = normal_quantile(0.5 + 0.5 * confidence)?;
    Some(wilson_interval(passes as f64, (n - passes) as f64, z))
}

/// The Wilson score interval of a pass rate over clustered observations of 0 and 1, with the effective sample size
/// `n = p (1 - p) / s²`, at most the number of observations; p is the rate and s its standard error as a ratio of sums over
/// clusters (see [`by_cluster`]). Near 0 and 1, the few deviating clusters may be missing from the sample, so s² includes half an
/// observation that passes and half of one that fails. As s is estimated from few clusters, n is multiplied by
/// `(t(N - 1) / t(G - 1))²` for N observations in G clusters (Korn and Graubard, "Confidence intervals for proportions with small
/// expected number of positive counts estimated from survey data", Survey Methodology 24, 1998). A rate of 0 or 1 has no
/// information on the correlation within clusters: each cluster counts once then.
///
/// For clusters of one observation it equals [`wilson`]. `None` for a single cluster of several observations, if a cluster has
/// more passes than observations, and for a confidence outside of `0 < confidence < 1`.
pub fn wilson_clustered(clusters: &[Cluster], confidence: f64) -> Option<Interval> {
    let is_possible = |cluster: &Cluster| cluster.total >= 0.0 && cluster.total <= cluster.count as f64;
    let is_level = confidence > 0.0 && confidence < 1.0;
    if !(is_level && clusters.iter().all(is_possible)) {
        return None;
    }
    let count: usize = clusters.iter().map(|cluster| cluster.count).sum();
    let passes = sum(clusters.iter().map(|cluster| cluster.total));
    if clusters.iter().all(|cluster| cluster.count == 1) {
        return wilson(passes as u64, count as u64, confidence);
    }
    let (n, rate) = (count as f64, passes / count as f64);
    let variance = rate * (1.0 - rate);
    let error = describe(&by_cluster(clusters))?.std_error?;
    let clusters = clusters.len() as f64;
    let added = 0.5 * (1.0 - 2.0 * variance) / (clusters * n);
    let as_if = if variance > 0.0 { variance / (error * error + added) } else { clusters };
    let t = |dof: f64| student_t_quantile(0.5 + 0.5 * confidence, dof);
    let for_few = (t(n - 1.0)? / t(clusters - 1.0)?).powi(2);
    let effective = (as_if.min(n) * for_few).min(n);
    let z = normal_quantile(0.5 + 0.5 * confidence)?;
    Some(wilson_interval(rate * effective, (1.0 - rate) * effective, z))
}

fn wilson_interval(passes: f64, failures: f64, z: f64) -> Interval {
    Interval { low: lower_end(passes, failures, z), high: 1.0 - lower_end(failures, passes, z) }
}

/// The smaller root of `(n + z²) p² - (2 k + z²) p + k² / n = 0`, as the product of the roots divided by the larger one: the
/// textbook formula suffers from cancellation for few passes.
fn lower_end(k: f64, failures: f64, z: f64) -> f64 {
    let (n, z2) = (k + failures, z * z);
    let larger = 2.0 * k + z2 + z * (z2 + 4.0 * k * failures / n).sqrt();
    (2.0 * k * k / (n * larger)).min(1.0)
}

/// pass@k, the probability that at least one of `k` trials passes if `c` of `n` trials did: the unbiased estimate
/// `1 - C(n-c, k) / C(n, k)` (Chen et al., "Evaluating large language models trained on code", arXiv 2107.03374, 2021).
///
/// `None` unless `1 <= k <= n` and `c <= n`.
pub fn pass_at_k(n: u64, c: u64, k: u64) -> Option<f64> {
    share_of_subsets_without(n, c, k).map(|none| 1.0 - none)
}

/// pass^k, the probability that all of `k` trials pass if `c` of `n` trials did: the unbiased estimate `C(c, k) / C(n, k)` (Yao
/// et al., "τ-bench: a benchmark for tool-agent-user interaction in real-world domains", arXiv 2406.12045, 2024).
///
/// `None` unless `1 <= k <= n` and `c <= n`.
pub fn pass_hat_k(n: u64, c: u64, k: u64) -> Option<f64> {
    // All of them pass if none of the failures is among them.
    share_of_subsets_without(n, n.checked_sub(c)?, k)
}

/// The share of subsets of `k` out of `n` without any of the `marked` ones: `C(n - marked, k) / C(n, k)`.
///
/// Calculated as a product of ratios from 0 to 1, as binomial coefficients could overflow. `k` and `marked` can be swapped: the
/// shorter product is used.
fn share_of_subsets_without(n: u64, marked: u64, k: u64) -> Option<f64> {
    if k == 0 || k > n || marked > n {
        return None;
    }
    if k > n - marked {
        return Some(0.0);
    }
    let (factors, other) = (marked.min(k), marked.max(k));
    let mut share = 1.0;
    for taken in 0..factors {
        share *= (n - other - taken) as f64 / (n - taken) as f64;
        if share == 0.0 {
            break;
        }
    }
    Some(share)
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
        // 1 in 10^12 at 95%: (2 + z² - z sqrt(z² + 4 - 4e-12)) / (2 (1e12 + z²)), calculated with 40 digits.
        let low = wilson(1, 1_000_000_000_000, 0.95).unwrap().low;
        assert!((low / 1.765_245_549_351_75e-13 - 1.0).abs() < 1e-9, "{low}");
    }

    fn clusters(passes: &[(u32, usize)]) -> Vec<Cluster> {
        passes.iter().map(|&(total, count)| Cluster { total: f64::from(total), count }).collect()
    }

    #[test]
    fn clusters_of_one_observation_are_independent() {
        let ones = clusters(&[(1, 1), (0, 1), (1, 1), (1, 1)]);
        assert_eq!(wilson_clustered(&ones, 0.95), wilson(3, 4, 0.95));
    }

    #[test]
    fn clusters_whose_observations_agree_count_once() {
        // All items of six of ten clusters pass: s² is 0.24 / 9, plus 0.52 / 2 / 500; t with 49 and 9 degrees of freedom.
        let whole = clusters(&[vec![(5, 5); 6], vec![(0, 5); 4]].concat());
        let found = wilson_clustered(&whole, 0.95).unwrap();
        let as_if = 0.24 / (0.24 / 9.0 + 0.26 / 500.0);
        let n = as_if * (2.009_575_234_489_2_f64 / 2.262_157_162_798_2).powi(2);
        let (z2, p) = (3.841_458_820_694_124_f64, 0.6);
        let half = (z2 * (p * (1.0 - p) / n + z2 / (4.0 * n * n))).sqrt() / (1.0 + z2 / n);
        let middle = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
        assert!((found.low - (middle - half)).abs() < 1e-9, "{found:?} {middle} {half}");
        assert!((found.high - (middle + half)).abs() < 1e-9, "{found:?} {middle} {half}");
    }

    #[test]
    fn clusters_that_vary_less_than_by_chance_count_no_more_than_their_observations() {
        let even = clusters(&[(1, 2); 40]);
        let (found, independent) = (wilson_clustered(&even, 0.95).unwrap(), wilson(40, 80, 0.95).unwrap());
        assert!(found.low <= independent.low && found.high >= independent.high);
        assert!(found.low > independent.low - 0.01, "{found:?} {independent:?}");
    }

    #[test]
    fn without_a_failure_each_cluster_counts_once() {
        let (found, once) =
            (wilson_clustered(&clusters(&[(5, 5); 20]), 0.95).unwrap(), wilson(20, 20, 0.95).unwrap());
        assert!(found.high == 1.0 && found.low < once.low && found.low > once.low - 0.02, "{found:?}");
    }

    #[test]
    fn one_cluster_of_several_and_impossible_counts_have_no_interval() {
        assert_eq!(wilson_clustered(&clusters(&[(3, 5)]), 0.95), None);
        assert_eq!(wilson_clustered(&clusters(&[(3, 2), (1, 1)]), 0.95), None);
        assert_eq!(wilson_clustered(&[], 0.95), None);
        assert_eq!(wilson_clustered(&clusters(&[(1, 2), (1, 2)]), 95.0), None);
    }

    proptest! {
        #[test]
        fn the_interval_of_clusters_holds_the_rate(passes in prop::collection::vec((0..6_u32, 0..6_usize), 2..30)) {
            let some = clusters(&passes.iter().map(|&(passes, more)| (passes, passes as usize + more + 1)).collect::<Vec<_>>());
            let (n, k): (usize, f64) = (some.iter().map(|one| one.count).sum(), some.iter().map(|one| one.total).sum());
            let interval = wilson_clustered(&some, 0.95).unwrap();
            let rate = k / n as f64;
            prop_assert!(0.0 <= interval.low && interval.low <= rate + 1e-12);
            prop_assert!(rate <= interval.high + 1e-12 && interval.high <= 1.0);
        }

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

    #[test]
    fn more_runs_asked_for_than_made_are_undefined() {
        assert_eq!(pass_at_k(3, 2, 4), None);
        assert_eq!(pass_hat_k(3, 2, 4), None);
    }

    #[test]
    fn no_runs_and_impossible_counts_are_undefined() {
        for (n, c, k) in [(0, 0, 0), (0, 0, 1), (5, 2, 0), (5, 6, 1), (0, 1, 1)] {
            assert_eq!(pass_at_k(n, c, k), None, "{n} {c} {k}");
            assert_eq!(pass_hat_k(n, c, k), None, "{n} {c} {k}");
        }
    }

    #[test]
    fn one_run_of_many_gives_the_pass_rate() {
        assert_eq!(pass_at_k(8, 2, 1), Some(0.25));
        assert_eq!(pass_hat_k(8, 2, 1), Some(0.25));
    }

    #[test]
    fn counts_whose_binomials_overflow_are_fine() {
        let at = pass_at_k(u64::MAX, 2, u64::MAX / 2).unwrap();
        assert!((at - 0.75).abs() < 1e-12, "{at}");
        assert_eq!(pass_hat_k(1 << 40, 1 << 39, 1 << 38), Some(0.0));
    }

    proptest! {
        #[test]
        fn all_of_k_is_never_likelier_than_one_of_k(n in 1..300_u64, c in 0..300_u64, k in 1..300_u64) {
            prop_assume!(c <= n && k <= n);
            let (at, hat) = (pass_at_k(n, c, k).unwrap(), pass_hat_k(n, c, k).unwrap());
            let rate = c as f64 / n as f64;
            prop_assert!((0.0..=1.0).contains(&at) && (0.0..=1.0).contains(&hat));
            prop_assert!(hat <= rate + 1e-12 && rate <= at + 1e-12);
        }
    }
}
