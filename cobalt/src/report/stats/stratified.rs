//! The permutation test of strata that were observed more often on one side than on the other.

use super::sign_flip::{DRAWS, SEED, SignFlip, beyond, drawn_sums};
use super::{ROUNDING, sum};

/// So many single observations are drawn at most, of many strata in fewer draws.
const MOST_DRAWN: usize = 20_000_000;
const FEWEST_DRAWS: usize = 2_000;

/// What was observed of one thing on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Stratum {
    /// On the first side; not empty.
    pub first: Vec<f64>,
    /// On the second side; not empty.
    pub second: Vec<f64>,
}

impl Stratum {
    /// The mean of the second side less that of the first.
    #[must_use]
    pub fn difference(&self) -> f64 {
        let mean = |side: &[f64]| sum(side.iter().copied()) / side.len() as f64;
        mean(&self.second) - mean(&self.first)
    }
}

/// The test of the sum of `differences` and of the differences of the means in `strata`: had nothing changed, each
/// difference would be as likely with the other sign, and in a stratum each observation as likely on either side.
/// Observations change sides within their stratum (Good, "Permutation, parametric and bootstrap tests of hypotheses",
/// 3rd edition, 2005, section 3.6); a difference is one of two means of as many.
///
/// Flips of signs would not do for strata: a mean of five observations is spread less than a single one, so that their
/// difference is skewed where the observations are. Random flips and changes are drawn, with a fixed seed, 20,000 or, of many
/// observations, at least 2,000; `p = (1 + hits) / (1 + draws)`, and the tolerance for rounding is as in
/// [`sign_flip`](super::sign_flip).
///
/// `None` where a number is not finite, where their sum overflows, and where a stratum is empty on one side.
#[must_use]
pub fn stratified_permutation(differences: &[f64], strata: &[Stratum]) -> Option<SignFlip> {
    let strata_differences = strata.iter().map(Stratum::difference);
    let observed = sum(differences.iter().copied().chain(strata_differences));
    let observations = strata.iter().flat_map(|stratum| stratum.first.iter().chain(&stratum.second));
    let all = sum(differences.iter().chain(observations).map(|number| number.abs()));
    if !(observed.is_finite() && all.is_finite()) {
        return None;
    }
    let mut sizes: Vec<f64> = differences.iter().map(|d| d.abs()).filter(|size| *size != 0.0).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    let picks: usize = strata.iter().map(|stratum| stratum.first.len().min(stratum.second.len())).sum();
    let draws = (MOST_DRAWN / picks.max(1)).clamp(FEWEST_DRAWS, DRAWS);
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut sums = drawn_sums(&sizes, draws, &mut random);
    for stratum in strata {
        add(stratum, &mut sums, &mut random);
    }
    Some(beyond(&sums, observed, ROUNDING * all))
}

/// Adds the stratum's difference to each sum, with the observations on random sides.
fn add(stratum: &Stratum, sums: &mut [f64], random: &mut fastrand::Rng) {
    let Stratum { first, second } = stratum;
    let mut pool: Vec<f64> = first.iter().chain(second).copied().collect();
    let total = sum(pool.iter().copied());
    // Those on the side with fewer are picked.
    let fewer = first.len().min(second.len());
    let (few, many) = (fewer as f64, (pool.len() - fewer) as f64);
    let sign = if first.len() > second.len() { 1.0 } else { -1.0 };
    for sum in sums {
        let mut picked = 0.0;
        for place in 0..fewer {
            let drawn = random.usize(place..pool.len());
            pool.swap(place, drawn);
            picked += pool[place];
        }
        *sum += sign * (picked / few - (total - picked) / many);
    }
}

#[cfg(test)]
mod tests {
    use super::super::sign_flip;
    use super::*;

    fn stratum(first: &[f64], second: &[f64]) -> Stratum {
        Stratum { first: first.to_vec(), second: second.to_vec() }
    }

    #[test]
    fn strata_of_one_observation_on_each_side_are_flips_of_signs() {
        let differences = [0.3, -0.1, 0.4, 0.25, -0.2, 0.5];
        let strata: Vec<_> = differences.iter().map(|d| stratum(&[0.3], &[0.3 + d])).collect();
        let (permuted, flipped) =
            (stratified_permutation(&[], &strata).unwrap(), sign_flip(&differences).unwrap());
        // Four standard deviations of a share of 20,000 draws.
        assert!((permuted.p - flipped.p).abs() < 0.012, "{permuted:?} {flipped:?}");
        assert!((permuted.p_greater - flipped.p_greater).abs() < 0.01, "{permuted:?} {flipped:?}");
    }

    #[test]
    fn each_observation_is_as_often_on_either_side() {
        // In one of five cases the 1 is on the first side, alone, and in four on the second.
        for (first, second, p_greater) in [
            (&[0.0][..], &[1.0, 0.0, 0.0, 0.0][..], 0.8),
            (&[1.0], &[0.0, 0.0, 0.0, 0.0], 1.0),
            (&[0.0, 0.0, 0.0, 0.0], &[1.0], 0.2),
            (&[0.0, 1.0], &[1.0, 1.0, 1.0], 0.4),
        ] {
            let found = stratified_permutation(&[], &[stratum(first, second)]).unwrap();
            assert!((found.p_greater - p_greater).abs() < 0.012, "{first:?} {second:?}: {found:?}");
        }
    }

    #[test]
    fn differences_and_strata_count_together() {
        let ups = [0.2; 4];
        let strata = vec![stratum(&[0.0], &[1.0, 1.0, 1.0]); 3];
        let found = stratified_permutation(&ups, &strata).unwrap();
        let expected = 1.0 / 16.0 / 64.0;
        assert!((found.p_greater - expected).abs() < 0.001 && !found.exact, "{found:?}");
    }

    #[test]
    fn a_side_without_observations_and_a_number_that_is_not_finite_leave_no_test() {
        for odd in [stratum(&[], &[1.0]), stratum(&[1.0], &[]), stratum(&[f64::NAN], &[1.0, 1.0])] {
            assert_eq!(stratified_permutation(&[0.1], &[odd]), None);
        }
        assert_eq!(stratified_permutation(&[f64::INFINITY], &[]), None);
        assert_eq!(stratified_permutation(&[], &[]).unwrap().p, 1.0);
    }
}
