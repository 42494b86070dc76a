//! The sign-flip test of paired differences: how often would random signs do as much?

use super::sum;

/// Up to this many nonzero differences, all flips are counted: two halves of at most 2^18 sums each.
const EXACT_UP_TO: usize = 36;

/// So many random flips are drawn beyond that.
const DRAWS: usize = 20_000;

const SEED: u64 = 0x0005_1972_f11b;

/// Sums closer than this share of all absolute differences are taken as equal: rounding alone tells them apart.
const ROUNDING: f64 = 1e-9;

/// A sign-flip test.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct SignFlip {
    /// The share of the flips whose sum is as far from 0 as the observed one, or farther, on either side.
    pub p: f64,
    /// The share of the flips whose sum is as large as the observed one, or larger.
    pub p_greater: f64,
    /// Whether all flips were counted; else random ones were drawn, with a fixed seed.
    pub exact: bool,
}

/// The sign-flip (permutation) test of `differences`: had nothing changed, each would be as likely with the other sign
/// (Fisher, "The design of experiments", 1935, section 21). Zeros are dropped, as their sign does not matter.
///
/// Up to 36 nonzero differences, all `2^n` flips are counted, by meeting in the middle (Horowitz and Sahni, "Computing
/// partitions with applications to the knapsack problem", Journal of the ACM 21, 1974). Beyond, 20,000 are drawn and
/// `p = (1 + hits) / (1 + draws)` (Davison and Hinkley, "Bootstrap methods and their application", 1997, section 4.2);
/// the seed is fixed, and the order of the differences does not matter.
///
/// Without a difference that is not 0, both are 1. `None` where a difference is not finite, or their sum overflows.
#[must_use]
pub fn sign_flip(differences: &[f64]) -> Option<SignFlip> {
    let observed = sum(differences.iter().copied());
    let mut sizes: Vec<f64> = differences.iter().map(|d| d.abs()).filter(|size| *size != 0.0).collect();
    // The order must not matter to what is drawn, nor to how sums are rounded.
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
    // For each flip there is the opposite one.
    let p = if observed.abs() <= rounding { 1.0 } else { 2.0 * share(observed.abs() - rounding) };
    SignFlip { p: p.min(1.0), p_greater: share(observed - rounding), exact: true }
}

/// All sums of `sizes` with any signs, in ascending order.
fn signed_sums(sizes: &[f64]) -> Vec<f64> {
    sizes.iter().fold(vec![0.0], |sums, size| {
        let mut merged = Vec::with_capacity(2 * sums.len());
        let mut raised = sums.iter().map(|sum| sum + size).peekable();
        for lowered in sums.iter().map(|sum| sum - size) {
            while let Some(sum) = raised.next_if(|sum| *sum <= lowered) {
                merged.push(sum);
            }
            merged.push(lowered);
        }
        merged.extend(raised);
        merged
    })
}

/// How many pairs, one of each ascending list, have a sum of at least `least`.
fn pairs_at_least(left: &[f64], right: &[f64], least: f64) -> u64 {
    let mut from = right.len();
    let mut pairs = 0;
    for sum in left {
        while from > 0 && sum + right[from - 1] >= least {
            from -= 1;
        }
        pairs += (right.len() - from) as u64;
    }
    pairs
}

fn monte_carlo(sizes: &[f64], observed: f64, rounding: f64) -> SignFlip {
    let sums = drawn_sums(sizes);
    let share = |hit: &dyn Fn(f64) -> bool| {
        let hits = sums.iter().filter(|sum| hit(**sum)).count();
        (1 + hits) as f64 / (1 + sums.len()) as f64
    };
    SignFlip {
        p: share(&|sum| sum.abs() >= observed.abs() - rounding),
        p_greater: share(&|sum| sum >= observed - rounding),
        exact: false,
    }
}

/// The sums of `sizes` with random signs, one for each draw. The sums of each eight sizes are looked up.
fn drawn_sums(sizes: &[f64]) -> Vec<f64> {
    let mut random = fastrand::Rng::with_seed(SEED);
    let mut sums = vec![0.0; DRAWS];
    // All draws of the same 64 signs at once, so that their tables stay in the fastest cache.
    for sizes in sizes.chunks(64) {
        let mut tables = [[0.0; 256]; 8];
        for (table, sizes) in tables.iter_mut().zip(sizes.chunks(8)) {
            fill(table, sizes);
        }
        for sum in &mut sums {
            let signs = random.u64(..).to_le_bytes();
            let part = |index: usize| tables[index][usize::from(signs[index])];
            *sum += ((part(0) + part(1)) + (part(2) + part(3))) + ((part(4) + part(5)) + (part(6) + part(7)));
        }
    }
    sums
}

/// The sums of up to eight `sizes`, where a bit that is set is a plus sign.
fn fill(table: &mut [f64; 256], sizes: &[f64]) {
    for (signs, entry) in table.iter_mut().enumerate() {
        let signed = |(bit, size): (usize, &f64)| if signs >> bit & 1 == 1 { *size } else { -size };
        *entry = sizes.iter().enumerate().map(signed).sum();
    }
}
