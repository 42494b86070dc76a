//! Ways to make one score of several, and of counts.

/// The harmonic mean `n / Σ (1 / value)` of values from 0 to 1; 0 where one of them is 0. `None` of no values.
///
/// ```
/// assert_eq!(cobalt::metrics::harmonic_mean(&[0.5, 0.5]), Some(0.5));
/// ```
#[must_use]
pub fn harmonic_mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    if values.contains(&0.0) {
        return Some(0.0);
    }
    Some(values.len() as f64 / values.iter().map(|value| value.recip()).sum::<f64>())
}

/// F-beta of counts: `(1 + β²) tp / ((1 + β²) tp + β² fn + fp)` (van Rijsbergen 1979), which weighs recall β times as much as
/// precision. 0 where nothing is right, and where there is nothing at all.
///
/// ```
/// assert_eq!(cobalt::metrics::f_beta(1, 1, 1, 1.0), 0.5);
/// ```
#[must_use]
pub fn f_beta(true_positives: usize, false_positives: usize, false_negatives: usize, beta: f64) -> f64 {
    if true_positives == 0 {
        return 0.0;
    }
    let weight = beta * beta;
    let right = (1.0 + weight) * true_positives as f64;
    right / (right + weight * false_negatives as f64 + false_positives as f64)
}

/// Average precision of a ranking: the mean, over the relevant entries, of the share of relevant ones up to there. 0 where
/// none is relevant. `relevant` is in the order of the ranking, the best first.
///
/// ```
/// assert_eq!(cobalt::metrics::average_precision(&[true, false, true]), (1.0 + 2.0 / 3.0) / 2.0);
/// ```
#[must_use]
pub fn average_precision(relevant: &[bool]) -> f64 {
    let places = relevant.iter().enumerate().filter(|(_, relevant)| **relevant);
    let precisions: Vec<f64> =
        places.enumerate().map(|(before, (place, _))| (before + 1) as f64 / (place + 1) as f64).collect();
    if precisions.is_empty() { 0.0 } else { precisions.iter().sum::<f64>() / precisions.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_right_is_zero() {
        assert_eq!(f_beta(0, 0, 0, 1.0), 0.0);
        assert_eq!(average_precision(&[]), 0.0);
        assert_eq!(harmonic_mean(&[1.0, 0.0]), Some(0.0));
        assert_eq!(harmonic_mean(&[]), None);
    }

    #[test]
    fn beta_weighs_what_was_missed() {
        assert!(f_beta(2, 1, 3, 2.0) < f_beta(2, 3, 1, 2.0));
        assert!(f_beta(2, 1, 3, 0.5) > f_beta(2, 3, 1, 0.5));
    }
}
