//! What several runs of one item say about `k` of them: pass@k and pass^k.

/// The chance that at least one of `k` runs passes, when `c` of `n` runs did: the unbiased estimate
/// `1 - C(n-c, k) / C(n, k)` (Chen et al., "Evaluating large language models trained on code", arXiv 2107.03374, 2021).
///
/// `None` unless `1 <= k <= n` and `c <= n`.
pub fn pass_at_k(n: u64, c: u64, k: u64) -> Option<f64> {
    share_without(n, c, k).map(|none| 1.0 - none)
}

/// The chance that all of `k` runs pass, when `c` of `n` runs did: the unbiased estimate `C(c, k) / C(n, k)` (Yao et
/// al., "τ-bench: a benchmark for tool-agent-user interaction in real-world domains", arXiv 2406.12045, 2024).
///
/// `None` unless `1 <= k <= n` and `c <= n`.
pub fn pass_hat_k(n: u64, c: u64, k: u64) -> Option<f64> {
    // All of them pass where none of the failures is among them.
    share_without(n, n.checked_sub(c)?, k)
}

/// The share of the subsets of `k` out of `n` that hold none of `marked` ones: `C(n - marked, k) / C(n, k)`.
///
/// As a product of ratios in 0 to 1, so that no binomial coefficient overflows. The two products are equal, because `k`
/// and `marked` can change places; the shorter one is taken.
fn share_without(n: u64, marked: u64, k: u64) -> Option<f64> {
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
