//! Similarity of embeddings, and means that combine several scores.

/// The cosine from which [`embedding_similarity`] is above 0 by default. Embeddings of unrelated texts have a cosine of about this value.
pub const DEFAULT_EXPECTED_MIN: f64 = 0.7;

/// Why two vectors cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// They have different lengths, like embeddings of different models.
    #[error("the embeddings have {0} and {1} dimensions; both texts must be embedded with the same model")]
    DifferentLengths(usize, usize),
    /// They are empty.
    #[error("the embeddings are empty")]
    Empty,
    /// A component is NaN or infinite.
    #[error("an embedding contains a component that is not a finite number")]
    NotFinite,
}

/// The cosine of the angle between two vectors, `a·b / (|a| |b|)`, clamped to 0..=1: opposite directions count as unrelated. A zero vector
/// has no direction; its similarity is 0.
///
/// ```
/// assert_eq!(cobalt::metrics::cosine(&[3.0, 4.0], &[4.0, 3.0]), Ok(0.96));
/// ```
///
/// # Errors
///
/// The vectors have different lengths, are empty, or have components that are not finite.
pub fn cosine(a: &[f32], b: &[f32]) -> Result<f64, VectorError> {
    Ok(direction(a, b)?.clamp(0.0, 1.0))
}

/// The dot product of two vectors, clamped to 0..=1. For vectors of length 1, as most models return, it equals the cosine.
///
/// # Errors
///
/// As for [`cosine`].
pub fn dot(a: &[f32], b: &[f32]) -> Result<f64, VectorError> {
    Ok(inner_product(a, b)?.clamp(0.0, 1.0))
}

/// The cosine rescaled to the range that embeddings use: `(cosine - expected_min) / (1 - expected_min)`, clamped to 0..=1; the cosine
/// itself is not clamped first. Autoevals calls this `EmbeddingSimilarity`. If `expected_min` is 1 or more, only equal directions score,
/// with 1.
///
/// # Errors
///
/// As for [`cosine`].
pub fn embedding_similarity(a: &[f32], b: &[f32], expected_min: f64) -> Result<f64, VectorError> {
    let cosine = direction(a, b)?;
    Ok(if expected_min < 1.0 {
        ((cosine - expected_min) / (1.0 - expected_min)).clamp(0.0, 1.0)
    } else {
        f64::from(u8::from(cosine >= 1.0))
    })
}

/// The cosine from -1 to 1; 0 for a vector without a direction.
fn direction(a: &[f32], b: &[f32]) -> Result<f64, VectorError> {
    let product = inner_product(a, b)?;
    // Squares of `f32` and their sums are far from the limits of `f64`.
    let norms = (inner_product(a, a)? * inner_product(b, b)?).sqrt();
    Ok(if norms == 0.0 { 0.0 } else { product / norms })
}

fn inner_product(a: &[f32], b: &[f32]) -> Result<f64, VectorError> {
    if a.len() != b.len() {
        return Err(VectorError::DifferentLengths(a.len(), b.len()));
    }
    if a.is_empty() {
        return Err(VectorError::Empty);
    }
    let product: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    if product.is_finite() { Ok(product) } else { Err(VectorError::NotFinite) }
}

/// The harmonic mean `n / Σ (1 / value)` of values from 0 to 1; 0 if one of them is 0. `None` for no values.
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

/// F-beta from counts: `(1 + β²) tp / ((1 + β²) tp + β² fn + fp)` (van Rijsbergen 1979), with recall weighted β times as much as
/// precision. 0 if there are no true positives.
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

/// Average precision of a ranking: the mean, over the relevant entries, of the precision at that rank. 0 if none is relevant. `relevant` is
/// in ranking order, best first.
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
    fn length_does_not_matter_to_the_cosine() {
        assert_eq!(cosine(&[3.0, 4.0], &[4.0, 3.0]), Ok(0.96));
        assert_eq!(cosine(&[30.0, 40.0], &[0.4, 0.3]).map(|cosine| (cosine * 1e6).round()), Ok(960_000.0));
        assert_eq!(dot(&[0.5, 0.5], &[0.5, 0.5]), Ok(0.5));
    }

    #[test]
    fn both_are_clamped_to_scores() {
        assert_eq!(cosine(&[1.0, 0.0], &[-1.0, 0.0]), Ok(0.0));
        assert_eq!(dot(&[3.0, 4.0], &[4.0, 3.0]), Ok(1.0));
        assert_eq!(dot(&[1.0, 0.0], &[-3.0, 4.0]), Ok(0.0));
    }

    #[test]
    fn zeros_are_like_nothing() {
        assert_eq!(cosine(&[0.0, 0.0], &[0.0, 0.0]), Ok(0.0));
    }

    #[test]
    fn the_extremes_of_f32_are_compared() {
        assert_eq!(cosine(&[f32::MAX], &[f32::MAX]), Ok(1.0));
        assert_eq!(cosine(&[f32::MIN_POSITIVE], &[f32::MIN_POSITIVE]), Ok(1.0));
    }

    #[test]
    fn what_cannot_be_compared_is_an_error() {
        assert_eq!(cosine(&[1.0, 0.0, 0.0], &[1.0, 0.0]), Err(VectorError::DifferentLengths(3, 2)));
        assert_eq!(dot(&[], &[]), Err(VectorError::Empty));
        assert_eq!(cosine(&[f32::NAN], &[1.0]), Err(VectorError::NotFinite));
        assert_eq!(dot(&[f32::INFINITY], &[1.0]), Err(VectorError::NotFinite));
    }

    #[test]
    fn a_cosine_is_spread_over_the_range_in_use() {
        let diagonal = [1.0, 1.0, 0.0, 0.0];
        assert_eq!(embedding_similarity(&diagonal, &[1.0, 0.0, 1.0, 0.0], 0.7), Ok(0.0));
        assert_eq!(embedding_similarity(&[3.0, 4.0], &[4.0, 3.0], -1.0), Ok(0.98));
        assert_eq!(embedding_similarity(&[1.0, 0.0], &[-1.0, 0.0], -1.0), Ok(0.0));
        assert_eq!(embedding_similarity(&[1.0, 0.0], &[0.0, 1.0], 1.0), Ok(0.0));
        assert_eq!(embedding_similarity(&[1.0, 0.0], &[2.0, 0.0], 1.0), Ok(1.0));
    }

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
