//! How far one list holds the elements of another.

use super::assignment::largest_sum;

/// How far a list holds what is expected: the elements of both are paired so that the sum of their likeness is largest,
/// each in one pair at most. The sum is divided by the length of the longer list, or, where elements beyond the expected ones
/// are allowed, by the number of expected ones. Clamped to 0..=1; two empty lists are alike, a single empty one is like nothing.
///
/// ```
/// use cobalt::metrics::{levenshtein, list_contains};
/// let score = list_contains(&["fig", "plum", "pear"], &["plum", "fig"], false, |a, b| levenshtein(a, b));
/// assert_eq!(score, 2.0 / 3.0);
/// ```
pub fn list_contains<T>(
    output: &[T],
    expected: &[T],
    allow_extra: bool,
    likeness: impl Fn(&T, &T) -> f64,
) -> f64 {
    match (output.len(), expected.len()) {
        (0, 0) => 1.0,
        (0, _) | (_, 0) => 0.0,
        (given, wanted) => {
            let likenesses: Vec<Vec<f64>> =
                output.iter().map(|a| expected.iter().map(|b| likeness(a, b)).collect()).collect();
            let most = if allow_extra { wanted } else { given.max(wanted) };
            (largest_sum(&likenesses) / most as f64).clamp(0.0, 1.0)
        }
    }
}
