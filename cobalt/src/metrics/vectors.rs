//! How alike two embeddings are.

/// The least cosine that [`scaled`] gives a score above 0 for, unless another is asked for. Embeddings of texts that have
/// nothing to do with each other lie around it.
pub const DEFAULT_EXPECTED_MIN: f64 = 0.7;

/// Why two vectors cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorError {
    /// One has more numbers than the other, as those of different models have.
    #[error("the embeddings have {0} and {1} numbers; two texts have to be embedded by the same model")]
    DifferentLengths(usize, usize),
    /// They have no numbers at all.
    #[error("the embeddings are empty")]
    Empty,
    /// A component is NaN or infinite.
    #[error("an embedding holds a component that is no finite number")]
    NotFinite,
}

/// The cosine of the angle between two vectors, `a·b / (|a| |b|)`, clamped to 0..=1: opposite directions count as
/// unrelated ones. A vector of zeros has no direction, and is like nothing: 0.
///
/// ```
/// assert_eq!(cobalt::metrics::cosine(&[3.0, 4.0], &[4.0, 3.0]), Ok(0.96));
/// ```
///
/// # Errors
///
/// Vectors of different lengths, empty ones, and components that are no finite numbers.
pub fn cosine(a: &[f32], b: &[f32]) -> Result<f64, VectorError> {
    let product = inner_product(a, b)?;
    // Squares of `f32` and their sums are far from the limits of `f64`.
    let norms = (inner_product(a, a)? * inner_product(b, b)?).sqrt();
    Ok(if norms == 0.0 { 0.0 } else { (product / norms).clamp(0.0, 1.0) })
}

/// The dot product of two vectors, clamped to 0..=1. For vectors of length 1, as most models give, it is the cosine.
///
/// # Errors
///
/// As for [`cosine`].
pub fn dot(a: &[f32], b: &[f32]) -> Result<f64, VectorError> {
    Ok(inner_product(a, b)?.clamp(0.0, 1.0))
}

/// A cosine spread over the range that embeddings use: `(cosine - expected_min) / (1 - expected_min)`, clamped to
/// 0..=1. Autoevals calls this `EmbeddingSimilarity`.
///
/// From `expected_min` 1 on, only equal directions score, with 1.
#[must_use]
pub fn scaled(cosine: f64, expected_min: f64) -> f64 {
    if expected_min >= 1.0 {
        return if cosine >= 1.0 { 1.0 } else { 0.0 };
    }
    ((cosine - expected_min) / (1.0 - expected_min)).clamp(0.0, 1.0)
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
        assert_eq!(scaled(0.7, 0.7), 0.0);
        assert_eq!(scaled(0.5, 0.7), 0.0);
        assert_eq!(scaled(0.75, 0.5), 0.5);
        assert_eq!(scaled(1.0, 1.0), 1.0);
        assert_eq!(scaled(0.99, 1.0), 0.0);
    }
}
