//! Permutation tests: the sign-flip test of paired differences, and the stratified test if one side has more observations.

use super::{ROUNDING, sum};

/// Up to this many nonzero differences, all flips are enumerated: two halves of at most 2^16 sums each.
const EXACT_UP_TO: usize = 32;

/// The number of random flips beyond that.
pub const DRAWS: usize = 20_000;

pub const SEED: u64 = 0x0005_1972_f11b;

/// The result of a sign-flip test.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SignFlip {
    /// The two-sided p-value: the share of flips whose sum is at least as far from 0 as the observed one.
    pub p: f64,
    /// The one-sided p-value: the share of flips whose sum is at least as large as the observed one.
    pub p_greater: f64,
    /// The mid-p-value of `p`: sums as far from 0 as the observed one count half.
    pub mid_p: f64,
    /// The mid-p-value of `p_greater`: sums equal to the observed one count half.
    pub mid_p_greater: f64,
    /// Whether all flips were enumerated; otherwise random ones were drawn with a fixed seed.
    pub exact: bool,
}

/// The sign-flip (permutation) test of `differences`: under the null hypothesis, both signs are equally likely (Fisher, "The
/// design of experiments", 1935, section 21). Zeros are dropped, as their sign does not matter.
///
/// Up to 32 nonzero differences, all `2^n` flips are enumerated, by meeting in the middle (Horowitz and Sahni, "Computing
/// partitions with applications to the knapsack problem", Journal of the ACM 21, 1974). Beyond, 20,000 are drawn and
/// `p = (1 + hits) / (1 + draws)` (Davison and Hinkley, "Bootstrap methods and their application", 1997, section 4.2);
/// the seed is fixed, and the order of the differences does not matter.
///
/// The mid-p-values are closer to the nominal level if few flips are possible, as for ones and zeros (Lancaster, "Significance
/// tests in discrete distributions", JASA 56, 1961).
///
/// Sums that differ only by rounding, by less than 1 in 10^9 of all absolute differences, count as equal. A difference that is
/// only rounding cannot be detected here: the caller must set it to 0.
///
/// Without a nonzero difference, both p-values are 1, and the one-sided mid-p-value is 0.5. `None` if a difference is not finite,
/// or their sum overflows.
#[must_use]
pub fn sign_flip(differences: &[f64]) -> Option<SignFlip> {
    let observed = sum(differences.iter().copied());
    let mut sizes: Vec<f64> = differences.iter().map(|d| d.abs()).filter(|size| *size != 0.0).collect();
    // The order must not affect the draws or the rounding of sums.
    sizes.sort_unstable_by(f64::total_cmp);
    let all = sum(sizes.iter().copied());
    if !all.is_finite() {
        return None;
    }
    let rounding = ROUNDING * all;
    Some(if sizes.len() <= EXACT_UP_TO {
        exact(&sizes, observed, rounding)
    } else {
        monte_carlo(&sizes, observed, rounding)
    })
}

fn exact(sizes: &[f64], observed: f64, rounding: f64) -> SignFlip {
    let (left, right) = sizes.split_at(sizes.len() / 2);
    let (left, right) = (signed_sums(left), signed_sums(right));
    let flips = left.len() as f64 * right.len() as f64;
    let share = |least: f64| pairs_at_least(&left, &right, least) as f64 / flips;
    // With all equal sums, and with half of them.
    let both = |observed: f64| {
        let reached = share(observed - rounding);
        (reached, 0.5 * (reached + share(observed + rounding.next_up())))
    };
    let (beyond, mid_beyond) = both(observed.abs());
    // The opposite of each flip is also a flip.
    let is_even = observed.abs() <= rounding;
    let two_sided = |beyond: f64| if is_even { 1.0 } else { (2.0 * beyond).min(1.0) };
    let (p_greater, mid_p_greater) = if observed >= 0.0 { (beyond, mid_beyond) } else { both(observed) };
    SignFlip { p: two_sided(beyond), p_greater, mid_p: two_sided(mid_beyond), mid_p_greater, exact: true }
}

/// All sums of `sizes` with any signs, in ascending order: for each size, merges the sums so far lowered and raised by it. The next
/// one is unpredictable, so the loop avoids branches on it.
fn signed_sums(sizes: &[f64]) -> Vec<f64> {
    sizes.iter().fold(vec![0.0], |sums, size| {
        let mut merged = Vec::with_capacity(2 * sums.len());
        // The raised sums are larger: the lowered ones run out first.
        let (mut lowered, mut raised) = (0, 0);
        while lowered < sums.len() {
            let (low, high) = (sums[lowered] - size, sums[raised] + size);
            let rises = high <= low;
            merged.push(if rises { high } else { low });
            raised += usize::from(rises);
            lowered += usize::from(!rises);
        }
        merged.extend(sums[raised..].iter().map(|sum| sum + size));
        merged
    })
}

/// The number of pairs, one of each ascending list, with a sum of at least `least`.
fn pairs_at_least(left: &[f64], right: &[f64], least: f64) -> u64 {
    // With `left[at]`, those of `right` from `from` on reach it.
    let (mut at, mut from) = (0, right.len());
    let mut pairs = 0_u64;
    while at < left.len() && from > 0 {
        let reaches = left[at] + right[from - 1] >= least;
        from -= usize::from(reaches);
        at += usize::from(!reaches);
        pairs += if reaches { 0 } else { (right.len() - from) as u64 };
    }
    // All of `right` reach it with the rest of `left`.
    pairs + (left.len() - at) as u64 * right.len() as u64
}

fn monte_carlo(sizes: &[f64], observed: f64, rounding: f64) -> SignFlip {
    let sums = drawn_sums(sizes, DRAWS, &mut fastrand::Rng::with_seed(SEED));
    tail_shares(&sums, observed, rounding)
}

/// The shares of the drawn sums that reach the observed one, which counts as a draw as well.
pub fn tail_shares(sums: &[f64], observed: f64, rounding: f64) -> SignFlip {
    let shares = |of: fn(f64) -> f64| {
        let observed = of(observed);
        let count = |least: f64| sums.iter().filter(|sum| of(**sum) >= least).count();
        let (reached, exceeded) = (1 + count(observed - rounding), count(observed + rounding.next_up()));
        let all = (1 + sums.len()) as f64;
        (reached as f64 / all, 0.5 * (reached + exceeded) as f64 / all)
    };
    let (p, mid_p) = shares(f64::abs);
    let (p_greater, mid_p_greater) = shares(|sum| sum);
    SignFlip { p, p_greater, mid_p, mid_p_greater, exact: false }
}

/// The sums of `sizes` with random signs, one per draw. The sums of eight sizes at a time are looked up in a table.
pub fn drawn_sums(sizes: &[f64], draws: usize, random: &mut fastrand::Rng) -> Vec<f64> {
    let mut sums = vec![0.0; draws];
    // All draws of the same 64 signs at once: their tables stay in the L1 cache.
    for sizes in sizes.chunks(64) {
        let mut tables = [[0.0; 256]; 8];
        for (table, sizes) in tables.iter_mut().zip(sizes.chunks(8)) {
            fill_sums(table, sizes);
        }
        for sum in &mut sums {
            let signs = random.u64(..).to_le_bytes();
            let part = |index: usize| tables[index][usize::from(signs[index])];
            *sum += ((part(0) + part(1)) + (part(2) + part(3))) + ((part(4) + part(5)) + (part(6) + part(7)));
        }
    }
    sums
}

/// The sums of up to eight `sizes`; a set bit is a plus sign.
fn fill_sums(table: &mut [f64; 256], sizes: &[f64]) {
    for (signs, entry) in table.iter_mut().enumerate() {
        let signed = |(bit, size): (usize, &f64)| if signs >> bit & 1 == 1 { *size } else { -size };
        *entry = sizes.iter().enumerate().map(signed).sum();
    }
}

/// The maximum number of drawn observations; many strata get fewer draws.
const MAX_DRAWN: usize = 20_000_000;
const MIN_DRAWS: usize = 2_000;

/// The observations of one item on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Stratum {
    /// On the first side; not empty.
    pub first: Vec<f64>,
    /// On the second side; not empty.
    pub second: Vec<f64>,
}

impl Stratum {
    /// The mean of the second side minus that of the first.
    #[must_use]
    pub fn difference(&self) -> f64 {
        let mean = |side: &[f64]| sum(side.iter().copied()) / side.len() as f64;
        mean(&self.second) - mean(&self.first)
    }
}

/// The test of the sum of `differences` and of the differences of the means in `strata`: under the null hypothesis, both signs of
/// a difference are equally likely, and so are both sides for each observation in a stratum. Observations are permuted within
/// their stratum (Good, "Permutation, parametric and bootstrap tests of hypotheses", 3rd edition, 2005, section 3.6); a difference
/// is between two means of equally many observations.
///
/// Sign flips are not valid for strata: a mean of five observations has less spread than a single one, so their difference is
/// skewed if the observations are. Random flips and permutations are drawn with a fixed seed: 20,000, or at least 2,000 for many
/// observations; `p = (1 + hits) / (1 + draws)`, and the tolerance for rounding is that of [`sign_flip`](super::sign_flip).
///
/// `None` if a number is not finite, if their sum overflows, and if a stratum is empty on one side.
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
    let draws = (MAX_DRAWN / picks.max(1)).clamp(MIN_DRAWS, DRAWS);
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut sums = drawn_sums(&sizes, draws, &mut random);
    for stratum in strata {
        add_permuted(stratum, &mut sums, &mut random);
    }
    Some(tail_shares(&sums, observed, ROUNDING * all))
}

/// Adds the stratum's difference to each sum, with randomly permuted observations.
fn add_permuted(stratum: &Stratum, sums: &mut [f64], random: &mut fastrand::Rng) {
    let Stratum { first, second } = stratum;
    let mut pool: Vec<f64> = first.iter().chain(second).copied().collect();
    let total = sum(pool.iter().copied());
    // Picks the observations of the smaller side.
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
    use proptest::prelude::*;

    use super::*;
    use crate::report::stats::normal_cdf;

    /// Enumerates all flips.
    fn counted(differences: &[f64]) -> SignFlip {
        let observed: f64 = differences.iter().sum();
        let flips = 1_u32 << differences.len();
        let (mut as_far, mut as_large, mut equal) = (0, 0, 0);
        for signs in 0..flips {
            let flipped: f64 =
                (0..).zip(differences).map(|(i, d)| if signs >> i & 1 == 1 { -d } else { *d }).sum();
            as_far += u32::from(flipped.abs() >= observed.abs() - 1e-12);
            as_large += u32::from(flipped >= observed - 1e-12);
            equal += u32::from((flipped - observed).abs() <= 1e-12);
        }
        let share = |count: f64| count / f64::from(flips);
        let mid_p = if observed.abs() <= 1e-12 { 1.0 } else { share(f64::from(as_far - equal)) };
        SignFlip {
            p: share(f64::from(as_far)),
            p_greater: share(f64::from(as_large)),
            mid_p,
            mid_p_greater: share(f64::from(as_large) - 0.5 * f64::from(equal)),
            exact: true,
        }
    }

    /// `n` differences from 0 to 1, shifted to the positive side by `shift`.
    fn noisy(n: usize, shift: f64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(3);
        (0..n).map(|_| random.f64() - random.f64() + shift).collect()
    }

    #[test]
    fn without_a_difference_nothing_is_found() {
        let nothing = SignFlip { p: 1.0, p_greater: 1.0, mid_p: 1.0, mid_p_greater: 0.5, exact: true };
        assert_eq!(sign_flip(&[]), Some(nothing));
        assert_eq!(sign_flip(&[0.0, -0.0, 0.0]), Some(nothing));
    }

    #[test]
    fn differences_of_one_sign_are_one_of_all_flips() {
        let twenty = sign_flip(&[0.3; 20]).unwrap();
        assert_eq!((twenty.p, twenty.p_greater), (2.0 / 1_048_576.0, 1.0 / 1_048_576.0));
        assert_eq!((twenty.mid_p, twenty.mid_p_greater), (1.0 / 1_048_576.0, 0.5 / 1_048_576.0));
        let mirrored = sign_flip(&[-0.3; 20]).unwrap();
        assert_eq!((mirrored.p, mirrored.p_greater), (2.0 / 1_048_576.0, 1.0));
        assert_eq!((mirrored.mid_p, mirrored.mid_p_greater), (1.0 / 1_048_576.0, 1.0 - 0.5 / 1_048_576.0));
    }

    #[test]
    fn zeros_change_nothing() {
        let mut with_zeros = noisy(30, 0.1);
        let without = sign_flip(&with_zeros).unwrap();
        with_zeros.extend([0.0; 100]);
        assert_eq!(sign_flip(&with_zeros), Some(without));
        assert!(without.exact);
    }

    #[test]
    fn sums_that_only_rounding_tells_apart_count_as_equal() {
        // 0.3 - 0.1 - 0.2 is not 0 as a double.
        assert_eq!(sign_flip(&[0.3, -0.1, -0.2]).unwrap().p, 1.0);
        assert_eq!(sign_flip(&[0.1, 0.2, 0.3, -0.6]).unwrap().p, 1.0);
    }

    #[test]
    fn a_difference_that_is_not_finite_leaves_no_test() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(sign_flip(&[0.1, odd]), None, "{odd}");
        }
        assert_eq!(sign_flip(&[f64::MAX, f64::MAX]), None);
    }

    #[test]
    fn one_more_than_can_be_counted_is_drawn_and_gives_about_the_same() {
        for shift in [-0.3, -0.05, 0.0, 0.1, 0.2] {
            let mut differences = noisy(EXACT_UP_TO, shift);
            let counted = sign_flip(&differences).unwrap();
            differences.push(1e-6);
            let drawn = sign_flip(&differences).unwrap();
            assert!(counted.exact && !drawn.exact);
            // Four standard deviations of a share of 20,000 draws.
            assert!((counted.p - drawn.p).abs() < 0.015, "{shift}: {counted:?} {drawn:?}");
            assert!((counted.p_greater - drawn.p_greater).abs() < 0.015, "{shift}: {counted:?} {drawn:?}");
        }
    }

    #[test]
    fn a_drawn_chance_is_never_0() {
        let drawn = sign_flip(&[1.0; 200]).unwrap();
        assert_eq!((drawn.p, drawn.p_greater), (1.0 / 20_001.0, 1.0 / 20_001.0));
        assert_eq!(sign_flip(&[-1.0; 200]).unwrap().p_greater, 1.0);
    }

    #[test]
    fn many_differences_follow_the_normal_distribution() {
        // Sizes that fill the tables, and sizes that do not.
        for n in [63, 64, 65, 71, 1_000] {
            let differences: Vec<f64> = (0..n).map(|i| if i % 8 < 5 { 1.0 } else { -1.0 }).collect();
            let z = sum(differences.iter().copied()) / (n as f64).sqrt();
            let expected = normal_cdf(-z + 1.0 / (n as f64).sqrt()).unwrap();
            let drawn = sign_flip(&differences).unwrap().p_greater;
            assert!((drawn - expected).abs() < 0.01, "{n}: {drawn}, expected {expected}");
        }
    }

    #[test]
    fn the_order_does_not_matter_and_the_figures_repeat() {
        let differences = noisy(120, 0.03);
        let reversed: Vec<f64> = differences.iter().rev().copied().collect();
        let first = sign_flip(&differences).unwrap();
        assert_eq!(sign_flip(&differences).unwrap(), first);
        assert_eq!(sign_flip(&reversed).unwrap(), first);
    }

    proptest! {
        #[test]
        fn all_flips_are_counted(differences in prop::collection::vec(-1.0..1.0_f64, 0..11)) {
            prop_assert_eq!(sign_flip(&differences), Some(counted(&differences)));
        }

        #[test]
        fn ties_of_tenths_are_counted(tenths in prop::collection::vec(-10..=10_i8, 0..11)) {
            let differences: Vec<f64> = tenths.iter().map(|tenth| f64::from(*tenth) / 10.0).collect();
            prop_assert_eq!(sign_flip(&differences), Some(counted(&differences)));
        }

        #[test]
        fn chances_are_of_0_to_1_and_the_one_sided_is_the_smaller(differences in prop::collection::vec(-1.0..1.0_f64, 1..80)) {
            let test = sign_flip(&differences).unwrap();
            prop_assert!(test.p > 0.0 && test.p <= 1.0 && test.p_greater > 0.0 && test.p_greater <= 1.0);
            prop_assert!(differences.iter().sum::<f64>() < 0.0 || test.p_greater <= test.p);
        }
    }

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
        // In one of five permutations, the 1 is alone on the first side; in four, it is on the second.
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
