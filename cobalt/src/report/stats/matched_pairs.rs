//! Two systems that are each right or wrong on the same items: McNemar's test and the interval of the difference.

use super::distribution::gamma_ratio;
use super::{Interval, normal_quantile, student_t_cdf};

/// Beyond so many pairs that differ, the normal distribution stands in for the binomial: its relative error is below
/// `z⁴ / (12 n)`.
const EXACT_UP_TO: u64 = 10_000_000_000;

/// McNemar's exact test, two-sided: the chance that, had nothing changed, the pairs in which only one of the two is right
/// would be split as unevenly between them, or more so (McNemar, "Note on the sampling error of the difference between
/// correlated proportions", Psychometrika 12, 1947). It is the sign test, and the sign-flip test of these pairs.
///
/// Without such a pair it is 1. Takes `O(√n)` steps.
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
    if tosses > EXACT_UP_TO as f64 {
        let z = (more as f64 - fewer as f64 - 1.0) / tosses.sqrt();
        return student_t_cdf(-z, f64::INFINITY).unwrap_or(0.0);
    }
    // From the middle outward: each chance follows from the one before.
    let middle = (fewer + more) / 2;
    let mut chance = middle_chance(fewer + more);
    let mut heads = middle;
    while heads > fewer && chance > 0.0 {
        chance *= heads as f64 / (tosses - heads as f64 + 1.0);
        heads -= 1;
    }
    let mut total = 0.0;
    while chance > total * f64::EPSILON / 4.0 {
        total += chance;
        chance *= heads as f64 / (tosses - heads as f64 + 1.0);
        heads = heads.saturating_sub(1);
    }
    total
}

/// The chance of `tosses / 2` heads, rounded down: `C(2m, m) / 4^m = Γ(m + 1/2) / (√π Γ(m + 1))`.
fn middle_chance(tosses: u64) -> f64 {
    let m = (tosses / 2) as f64;
    let even = if m == 0.0 { 1.0 } else { gamma_ratio(m) / (m * std::f64::consts::PI.sqrt()) };
    if tosses % 2 == 0 { even } else { even * (2.0 * m + 1.0) / (2.0 * m + 2.0) }
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
