//! The estimate of a mean difference: its standard error, interval and p-value, of logarithms of amounts, and of what a gate
//! allows.

use super::model::TypicalRatio;
use super::paired::{Exchangeable, Figure, Paired};
use super::pairs::Pair;
use super::{Quantity, SampleSize, Test};
use crate::report::Measurements;
use crate::report::stats::{
    Interval, RunWeights, ShareSpread, SignFlip, Stratum, by_cluster, describe, matched_shares, mcnemar,
    pairs_to_show, sign_flip, smallest_detectable, stratified_permutation, student_t_cdf, sum,
};

/// How many clusters it takes for flips of signs to find a difference that shows on one side by chance with a probability
/// below `tail`. All of g clusters point that way by chance in 1 of 2ᵍ cases, which count half.
pub fn fewest_clusters(tail: f64) -> usize {
    // No number of figures that are corrected for together has as many digits.
    (1..64).find(|clusters| 0.5_f64.powi(*clusters + 1) < tail).unwrap_or(64) as usize
}

/// The chance of a single two-sided test at 5 % to find a difference on one side where there is none.
const TAIL: f64 = 0.025;

/// A standard error below this share of the figures is rounding.
const ROUNDING: f64 = 1e-12;

/// The mean difference of a figure.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// The mean in the base.
    pub(super) base: f64,
    /// The mean in the other run.
    pub(super) other: f64,
    /// The mean difference.
    pub(super) difference: f64,
    /// How many independent clusters the items make.
    pub(super) clusters: usize,
    /// The 95 % interval; absent for one cluster.
    pub(super) ci95: Option<Interval>,
    /// The middle of the interval, before it is cut to what the figure can be.
    middle: f64,
    /// Absent for one cluster.
    pub(super) std_error: Option<f64>,
    /// The same of the differences that are tested, where these are others.
    tested_error: Option<f64>,
    /// Where every observation is 0 or 1.
    shares: Option<Shares>,
    /// Whether a difference of more than 1 cannot be.
    is_at_most_1: bool,
}

/// How much shares of runs that are right differ from item to item.
#[derive(Clone, Copy, Debug)]
struct Shares {
    /// It decides how many items show a true difference.
    spread: ShareSpread,
    /// The mean squared difference that the interval is of.
    observed: f64,
    /// How much is added to the squares for the interval.
    added: f64,
}

impl Estimate {
    /// `None` without items.
    pub fn of(paired: &Paired, quantity: Quantity) -> Option<Self> {
        let (base, other) = paired.means()?;
        let clusters = paired.clusters();
        // Of figures that rounding alone tells apart it is exactly 0, as that of each item is.
        let difference = if paired.is_unchanged() { 0.0 } else { other - base };
        let mut estimate = Self {
            base,
            other,
            difference,
            clusters: clusters.len(),
            ci95: None,
            middle: difference,
            std_error: None,
            tested_error: None,
            shares: None,
            is_at_most_1: matches!(quantity, Quantity::Score | Quantity::Errors),
        };
        if clusters.len() < 2 {
            return Some(estimate);
        }
        let values = by_cluster(&clusters);
        let tested = paired.clusters_as_often().map(|clusters| by_cluster(&clusters));
        if let Some(weights) = paired.weights_of_a_run() {
            let matched = matched_shares(&values, weights.mean(), 0.95)?;
            (estimate.middle, estimate.std_error) = (matched.middle, Some(matched.std_error));
            estimate.ci95 = Some(matched.interval);
            let usual = if quantity.more_is_better() { base } else { 1.0 - base };
            let spread = match tested {
                Some(tested) => {
                    let weight = weights.first.max(weights.second);
                    ShareSpread::of(&tested, usual, RunWeights { first: weight, second: weight })
                }
                None => ShareSpread::of(&values, usual, weights),
            };
            let observed = sum(values.iter().map(|d| d * d)) / values.len() as f64;
            estimate.shares = spread.map(|spread| Shares { spread, observed, added: weights.mean() });
            return Some(estimate);
        }
        let figures = describe(&values)?;
        estimate.tested_error = tested.and_then(|tested| describe(&tested)?.std_error);
        let largest = figures.min.abs().max(figures.max.abs());
        estimate.std_error =
            figures.std_error.map(|error| if error <= ROUNDING * largest { 0.0 } else { error });
        estimate.ci95 = match quantity {
            Quantity::Score | Quantity::Errors => {
                figures.ci95.map(|ci| Interval { low: ci.low.max(-1.0), high: ci.high.min(1.0) })
            }
            Quantity::Latency | Quantity::Tokens | Quantity::Cost => figures.ci95,
        };
        Some(estimate)
    }

    /// The same with the sides swapped. How many items show a difference still depends on the share of the original base.
    pub fn reversed(self) -> Self {
        Self {
            base: self.other,
            other: self.base,
            // Not -0 of 0.
            difference: 0.0 - self.difference,
            ci95: self.ci95.map(|Interval { low, high }| Interval { low: 0.0 - high, high: 0.0 - low }),
            middle: 0.0 - self.middle,
            ..self
        }
    }

    /// The smallest difference that would show in 80 % of cases at the 5 % level; `None` where none that can be would.
    pub fn smallest_detectable(&self) -> Option<f64> {
        let least = match self.shares {
            Some(shares) => shares.spread.smallest_detectable(self.clusters as f64),
            None => smallest_detectable(self.tested_error.or(self.std_error)?, self.degrees_of_freedom()),
        };
        let is_shown = |least: &f64| self.clusters >= fewest_clusters(TAIL) && *least <= 1.0;
        least.filter(|least| !self.is_at_most_1 || is_shown(least))
    }

    /// How many times as many items would show a difference of this size, larger than 0, in 80 % of cases, to a test that finds
    /// one by chance with a probability of `tail` on that side.
    pub fn times_to_show(&self, difference: f64, tail: f64) -> Option<f64> {
        let clusters = self.clusters as f64;
        let needed = match self.shares {
            Some(shares) => shares.spread.pairs_to_show(difference.min(1.0), tail)?,
            None => {
                let deviation = self.tested_error.or(self.std_error)? * clusters.sqrt();
                pairs_to_show(deviation, difference, tail)?
            }
        };
        Some(needed / clusters)
    }

    /// How many times as many items would bring so many standard errors within `margin`. Of scores of 0 and 1, the pairs that
    /// are added for the standard error become no more.
    pub fn times_to_narrow(&self, errors: f64, margin: f64) -> Option<f64> {
        if margin <= 0.0 {
            return None;
        }
        let as_now = (errors * self.std_error? / margin).powi(2);
        let Some(shares) = self.shares else { return Some(as_now) };
        // N that solves `errors² (spread (N - 2) + added) / N² = margin²`.
        let (wide, narrow) = (errors * errors, margin * margin);
        let Shares { observed: spread, added, .. } = shares;
        let root =
            (wide * wide * spread * spread + 4.0 * narrow * wide * (added - 2.0 * spread)).max(0.0).sqrt();
        Some((((wide * spread + root) / (2.0 * narrow) - 2.0) / self.clusters as f64).max(0.0))
    }

    /// The chance of a difference as large as this, or larger, if it were `most` in truth.
    pub fn p_above(&self, most: f64) -> Option<f64> {
        let beyond = self.middle - most;
        match self.std_error? {
            0.0 => {
                let is_beyond = beyond > ROUNDING * self.base.abs().max(self.other.abs());
                Some(if is_beyond { 0.0 } else { 1.0 })
            }
            error => student_t_cdf(-beyond / error, self.degrees_of_freedom()),
        }
    }

    /// Student's t test of the mean difference, of which the interval is the other side: the chance is below 5 % exactly where
    /// the interval does not hold 0. `None` without a spread.
    pub fn p_by_t(&self) -> Option<f64> {
        let error = self.std_error.filter(|error| *error > 0.0)?;
        Some(2.0 * student_t_cdf(-(self.difference / error).abs(), self.degrees_of_freedom())?)
    }

    fn degrees_of_freedom(&self) -> f64 {
        self.clusters as f64 - 1.0
    }
}

/// The chance of a difference as far from 0 as this, or farther, if nothing had changed: of latency, tokens and cost by the t
/// test that belongs to their interval. As a mean of five runs is spread less than a single run, the runs are exchanged where
/// one side has more of them.
pub fn p_two_sided(paired: &Paired, quantity: Quantity, estimate: &Estimate) -> Option<(f64, Test)> {
    let is_amount = matches!(quantity, Quantity::Latency | Quantity::Tokens | Quantity::Cost);
    if let Some(p) = estimate.p_by_t().filter(|_| is_amount && !paired.is_unequal()) {
        return Some((p, Test::PairedT));
    }
    if let Some((only_base, only_other)) = paired.discordant() {
        return Some((mcnemar(only_base, only_other).mid_p, Test::Mcnemar));
    }
    p_by_exchanges(paired)
}

/// The same by flips of signs and exchanges of runs. It is 1 where the runs that can be tested point the other way.
pub fn p_by_exchanges(paired: &Paired) -> Option<(f64, Test)> {
    let Exchangeable { differences, strata } = paired.exchangeable();
    let tested = sum(differences.iter().copied().chain(strata.iter().map(Stratum::difference)));
    let found = sum(paired.differences());
    let (permuted, test) = permuted(&differences, &strata)?;
    Some((if tested * found < 0.0 { 1.0 } else { permuted.mid_p }, test))
}

/// The chance of a difference as large as this, or larger, if nothing had changed.
pub fn p_greater(paired: &Paired) -> Option<f64> {
    if let Some((only_base, only_other)) = paired.discordant() {
        return Some(mcnemar(only_base, only_other).mid_p_greater);
    }
    let Exchangeable { differences, strata } = paired.exchangeable();
    Some(permuted(&differences, &strata)?.0.mid_p_greater)
}

fn permuted(differences: &[f64], strata: &[Stratum]) -> Option<(SignFlip, Test)> {
    if !strata.is_empty() {
        return Some((stratified_permutation(differences, strata)?, Test::Permutation));
    }
    let flips = sign_flip(differences)?;
    Some((flips, if flips.exact { Test::SignFlipExact } else { Test::SignFlipMonteCarlo }))
}

/// The mean difference of the logarithms of an amount.
#[derive(Clone, Debug)]
pub struct LogRatio {
    logs: Estimate,
    /// The mean of the amount in the base, which a difference is a share of.
    base: f64,
    p_value: f64,
    test: Test,
}

impl LogRatio {
    /// `None` where an amount is 0, and where all items differ by the same factor, or by none.
    pub fn of(
        quantity: Quantity,
        pairs: &[Pair<'_>],
        base: &Measurements,
        other: &Measurements,
    ) -> Option<Self> {
        if !matches!(quantity, Quantity::Latency | Quantity::Tokens | Quantity::Cost) {
            return None;
        }
        let (mean, _) = Paired::of(&Figure::amount(quantity), pairs, base, other).means()?;
        let paired = Paired::logs(quantity, pairs, base, other)?;
        let logs = Estimate::of(&paired, quantity)?;
        let by_t = logs.p_by_t()?;
        // A mean of five runs is spread less than a single run. Had nothing changed, each run would be as likely on either side.
        let (p_value, test) =
            if paired.is_unequal() { p_by_exchanges(&paired)? } else { (by_t, Test::LogRatioT) };
        Some(Self { logs, base: mean, p_value, test })
    }

    pub fn p_value(&self) -> (f64, Test) {
        (self.p_value, self.test)
    }

    /// The ratio of the geometric means.
    pub fn ratio(&self) -> Option<TypicalRatio> {
        let Interval { low, high } = self.logs.ci95?;
        let (ratio, ci95) = (self.logs.difference.exp(), Interval { low: low.exp(), high: high.exp() });
        (ratio.is_finite() && ci95.high.is_finite()).then_some(TypicalRatio { ratio, ci95 })
    }

    /// The smallest difference of the mean that would show in 80 % of cases at the 5 % level, were it the same factor for
    /// all items.
    pub fn smallest_detectable(&self) -> Option<f64> {
        let least = self.base * self.logs.smallest_detectable()?.exp_m1();
        least.is_finite().then_some(least)
    }

    /// How many times as many items would show a difference of the mean of this size, larger than 0, in 80 % of cases, were it
    /// the same factor for all items; see [`Estimate::times_to_show`].
    pub fn times_to_show(&self, difference: f64, tail: f64) -> Option<f64> {
        self.logs.times_to_show((difference / self.base).ln_1p(), tail)
    }

    /// The same for the ratio that was found.
    pub fn times_to_show_ratio(&self, tail: f64) -> Option<f64> {
        self.logs.times_to_show(self.logs.difference.abs(), tail)
    }
}

/// So many `times` as many items, or runs of these items that do as much; at least so many items that they make
/// `fewest_clusters`, where no number of runs would do.
///
/// The standard error falls with the root of the number of items. More runs lessen only the part of its square that
/// comes from how much the runs of an item differ.
///
/// `None` for one cluster, whose spread is not known, and where no number of items would do.
pub fn settled_by(
    paired: &Paired,
    estimate: &Estimate,
    times: f64,
    fewest_clusters: usize,
) -> Option<SampleSize> {
    let std_error = estimate.std_error.filter(|_| times.is_finite())?;
    let now = paired.len();
    let items = (now as f64 * times).ceil() as u64;
    let fewest = (fewest_clusters * now).div_ceil(estimate.clusters).max(now + 1);
    let are_enough = times > 1.0 && estimate.clusters >= fewest_clusters;
    let runs = if are_enough { runs(paired, std_error, std_error / times.sqrt()) } else { None };
    Some(SampleSize { items: items.max(fewest as u64), runs })
}

/// How many runs of each item bring the standard error down to `wanted`, if any number does.
fn runs(paired: &Paired, std_error: f64, wanted: f64) -> Option<u64> {
    let spread = paired.run_spread()?;
    let of_items = (std_error * std_error - spread.of_all_runs).max(0.0);
    let room = wanted * wanted - of_items;
    (room > 0.0).then(|| (spread.of_one_run / room).ceil() as u64)
}
