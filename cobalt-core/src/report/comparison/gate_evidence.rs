//! How far a run exceeds the bound of a threshold against a baseline.

use std::fmt;

use super::estimate::{Estimate, fewest_clusters, p_greater, sample_size};
use super::paired::{Paired, PairedSize};
use super::{Quantity, SampleSize};
use crate::report::stats::Interval;
use crate::report::{Metric, Threshold};
use crate::wording::count;

/// The significance level for missing a gate.
pub const LEVEL: f64 = 0.01;

/// The score drop of every item that counts as a collapse. Noise in graded scores rarely moves one item this far, let alone all.
pub const COLLAPSE: f64 = 0.5;

/// The probability up to which so many drops of an unchanged agent count as a collapse: that of three of three items.
const COLLAPSE_LEVEL: f64 = 1.0 / 64.0;

/// The number of clusters from which the tests find every such drop.
const MOST_COLLAPSE_CLUSTERS: usize = 100;

/// The distance to the bound in standard errors at which the interval excludes it with 80% power: the normal quantiles at 97.5%
/// and 80%.
const MEET_ERRORS: f64 = 1.959_964 + 0.841_621;

/// The evidence for evaluating a gate. The excess of a drop or a rise is `actual - bound`, that of a ratio `other - bound * base`,
/// in the unit of the metric.
#[derive(Clone, Debug)]
pub struct GateEvidence {
    /// The drop, the rise or the ratio.
    pub(super) actual: f64,
    /// Its 95% CI; absent for one cluster.
    pub(super) interval: Option<Interval>,
    /// The larger p-value of two null hypotheses, "unchanged" and "changed by at most the bound", or one of them that is already
    /// too large to miss a gate. Absent for one cluster.
    pub(super) p_value: Option<f64>,
    /// Whether every item has the same value in both runs, and the values are not all 0 or 1: such values may well change with
    /// the next item.
    pub(super) is_unchanged: bool,
    /// The collapse of scores, if there is one.
    pub(super) collapse: Option<Collapse>,
    /// The distance beyond the bound in the unit of the metric, and that of an unchanged agent to the bound.
    beyond: f64,
    allowed: f64,
    /// Of the items' excess over the bound, or over 0.
    size: PairedSize,
    estimate: Estimate,
}

impl GateEvidence {
    /// `None` for a ratio to a baseline mean of 0, and without items.
    pub fn of(threshold: &Threshold, quantity: Quantity, paired: Paired) -> Option<Self> {
        let bound = threshold.bound();
        match threshold.metric() {
            // In a gate, more is worse: a drop is a rise from this run to the baseline.
            Metric::Drop => {
                let estimate = Estimate::of(&paired, quantity)?.reversed();
                Some(Self::of_difference(bound, quantity, &paired.reversed(), estimate))
            }
            Metric::Ratio => Self::of_ratio(bound, quantity, &paired),
            _ => {
                let estimate = Estimate::of(&paired, quantity)?;
                Some(Self::of_difference(bound, quantity, &paired, estimate))
            }
        }
    }

    fn of_difference(bound: f64, quantity: Quantity, paired: &Paired, estimate: Estimate) -> Self {
        Self {
            actual: estimate.difference,
            interval: estimate.ci95,
            p_value: max_p_value(estimate.p_above(bound), || p_greater(paired)),
            is_unchanged: is_unchanged(paired),
            collapse: if quantity == Quantity::Score { Collapse::of(paired, bound) } else { None },
            beyond: estimate.difference - bound,
            allowed: bound,
            size: paired.size(),
            estimate,
        }
    }

    fn of_ratio(bound: f64, quantity: Quantity, paired: &Paired) -> Option<Self> {
        let (base, other) = paired.means()?;
        if base <= 0.0 {
            return None;
        }
        let allowed = paired.clone().scale_base(bound);
        let estimate = Estimate::of(&allowed, quantity)?;
        // An unchanged agent misses a bound below 1.
        let p_unchanged = || p_greater(&paired.clone().scale_base(bound.min(1.0)));
        Some(Self {
            actual: other / base,
            interval: paired.ratio_interval(),
            p_value: max_p_value(estimate.p_above(0.0), p_unchanged),
            is_unchanged: is_unchanged(paired),
            // Any item may be slower by chance, by any factor.
            collapse: None,
            beyond: estimate.difference,
            allowed: (bound - 1.0).abs() * base,
            size: allowed.size(),
            estimate,
        })
    }

    /// The number of compared items.
    pub fn items(&self) -> usize {
        self.size.items
    }

    /// The sample size that distinguishes the agent from one at the bound or, if that is farther away and not possible yet, an
    /// unchanged agent from one at the bound. `gates` is the number of gates corrected together.
    pub fn sample_size(&self, gates: usize) -> Option<SampleSize> {
        let Self { beyond, allowed, ref size, ref estimate, .. } = *self;
        let is_known = estimate.smallest_detectable().is_some_and(|least| least <= allowed);
        let target = if is_known { beyond.abs() } else { beyond.abs().max(allowed) };
        if beyond > 0.0 {
            let tail = LEVEL / gates.max(1) as f64;
            sample_size(
                size,
                estimate,
                estimate.sample_factor_to_detect(target, tail)?,
                fewest_clusters(tail),
            )
        } else {
            sample_size(size, estimate, estimate.sample_factor_to_narrow(MEET_ERRORS, target)?, 2)
        }
    }
}

/// Scores that dropped too far in too many items to be noise, even with few items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collapse {
    /// All of these items dropped by more than the bound and by at least [`COLLAPSE`].
    All { items: usize },
    /// So many of all items or clusters dropped by more than the bound and by more than [`COLLAPSE`], and none rose as far, as happens
    /// to an unchanged agent with probability at most [`COLLAPSE_LEVEL`].
    Most { dropped: usize, of: usize, unit: &'static str },
}

impl Collapse {
    /// The collapse in these drops, if there is one.
    pub fn of(drops: &Paired, bound: f64) -> Option<Self> {
        if drops.differences().all(|drop| drop > bound && drop >= COLLAPSE) {
            return Some(Self::All { items: drops.len() });
        }
        let clusters = drops.clusters();
        // Means of different numbers of trials do not have the same distribution.
        if drops.is_unequal() || clusters.len() > MOST_COLLAPSE_CLUSTERS {
            return None;
        }
        let means = || clusters.iter().map(|cluster| cluster.total / cluster.count as f64);
        let dropped = means().filter(|drop| *drop > bound && *drop > COLLAPSE).count();
        if means().any(|drop| drop < -COLLAPSE) || p_of_drops(dropped, clusters.len()) > COLLAPSE_LEVEL {
            return None;
        }
        let unit = if clusters.len() == drops.len() { "item" } else { "cluster" };
        Some(Self::Most { dropped, of: clusters.len(), unit })
    }
}

impl fmt::Display for Collapse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All { items } => {
                write!(f, "every item dropped by at least {COLLAPSE} ({})", count(*items, "item"))
            }
            Self::Most { dropped, of, unit } => {
                write!(
                    f,
                    "{dropped} of {} dropped by more than {COLLAPSE}, and none rose as far",
                    count(*of, unit)
                )
            }
        }
    }
}

/// The largest probability that at least `dropped` of `clusters` of an unchanged agent drop by more than half of the scale: each does with
/// probability at most 1/4. Of three values from 0 to 1, two are at most 0.5 apart, so that two independent values of one distribution are
/// farther apart with probability at most 1/2 (Motzkin and Straus, "Maxima for graphs and a new proof of a theorem of Turán", 1965), and
/// the second one is the lower one in half of these cases.
fn p_of_drops(dropped: usize, clusters: usize) -> f64 {
    let mut p = 0.25_f64.powi(i32::try_from(clusters).unwrap_or(i32::MAX));
    let mut tail = 0.0;
    for number in (dropped..=clusters).rev() {
        tail += p;
        p *= 3.0 * number as f64 / (clusters - number + 1) as f64;
    }
    tail
}

fn is_unchanged(paired: &Paired) -> bool {
    paired.is_unchanged() && paired.trial_weights().is_none()
}

/// The larger of two p-values. The second one is expensive and is calculated only if the first one is significant: a larger
/// p-value does not affect Holm's correction of smaller ones.
fn max_p_value(first: Option<f64>, second: impl FnOnce() -> Option<f64>) -> Option<f64> {
    let first = first?;
    if first >= LEVEL { Some(first) } else { Some(first.max(second()?)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_clusters_collapse_if_nearly_all_drop() {
        let fewest =
            |clusters| (0..=clusters).find(|dropped| p_of_drops(*dropped, clusters) <= COLLAPSE_LEVEL);
        let expected = [None, None, Some(3), Some(4), Some(4), Some(5), Some(5), Some(6), Some(6), Some(7)];
        assert_eq!((1..=10).map(fewest).collect::<Vec<_>>(), expected);
        assert_eq!(p_of_drops(4, 5), COLLAPSE_LEVEL);
        assert!((p_of_drops(0, 40) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn more_gates_take_more_clusters_as_each_is_corrected_for_the_others() {
        let fewest = |gates: u32| fewest_clusters(LEVEL / f64::from(gates));
        assert_eq!([1, 2, 3, 4, 5, 6, 10, 12].map(fewest), [6, 7, 8, 8, 8, 9, 9, 10]);
    }
}
