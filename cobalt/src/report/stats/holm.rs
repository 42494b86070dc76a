//! The correction of p-values for being several.

/// The p-values corrected for being several by Holm's method, in the order given: the i-th smallest of m times
/// `m - i + 1`, at most 1, and never below the corrected value of a smaller one (Holm, "A simple sequentially rejective
/// multiple test procedure", Scandinavian Journal of Statistics 6, 1979).
///
/// The chance that even one true null hypothesis is rejected stays below the level, however the tests depend on each
/// other. A NaN says nothing and counts as 1; other values outside of 0 to 1 are cut to it.
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let p = |index: usize| if p_values[index].is_nan() { 1.0 } else { p_values[index].clamp(0.0, 1.0) };
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p(*a).total_cmp(&p(*b)));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest = 0.0_f64;
    for (rank, index) in order.into_iter().enumerate() {
        largest = largest.max(p(index) * (p_values.len() - rank) as f64).min(1.0);
        adjusted[index] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_smallest_is_multiplied_by_the_count_and_the_largest_by_one() {
        assert_eq!(holm(&[0.25, 0.03125, 0.0625]), [0.25, 0.09375, 0.125]);
    }

    #[test]
    fn a_corrected_value_is_never_below_that_of_a_smaller_one() {
        assert_eq!(holm(&[0.0625, 0.078125]), [0.125, 0.125]);
    }

    #[test]
    fn one_value_stays_as_it_is_and_none_stay_none() {
        assert_eq!(holm(&[0.5]), [0.5]);
        assert_eq!(holm(&[]), [] as [f64; 0]);
    }

    #[test]
    fn a_nan_counts_as_1_and_as_one_of_the_tests() {
        assert_eq!(holm(&[f64::NAN, 0.125, -f64::NAN]), [1.0, 0.375, 1.0]);
    }

    proptest! {
        #[test]
        fn no_value_gets_smaller_and_the_order_stays(p_values in prop::collection::vec(0.0..=1.0_f64, 0..30)) {
            let adjusted = holm(&p_values);
            for (i, p) in p_values.iter().enumerate() {
                prop_assert!((*p..=1.0).contains(&adjusted[i]));
                for (j, other) in p_values.iter().enumerate() {
                    prop_assert!(p > other || adjusted[i] <= adjusted[j]);
                }
            }
        }

        #[test]
        fn the_least_is_bonferronis(p_values in prop::collection::vec(0.0..=1.0_f64, 1..30)) {
            let least = |values: &[f64]| values.iter().copied().fold(1.0, f64::min);
            prop_assert_eq!(least(&holm(&p_values)), (least(&p_values) * p_values.len() as f64).min(1.0));
        }
    }
}
