//! How far a run exceeds the bound of a threshold against a baseline.

use super::estimate::{Estimate, fewest_clusters, p_greater, sample_size};
use super::paired::{Paired, PairedSize};
use super::{Quantity, SampleSize};
use crate::report::stats::Interval;
use crate::report::{Metric, Threshold};

/// The significance level for missing a gate.
pub const LEVEL: f64 = 0.01;

/// The score drop of every item that counts as a collapse. Noise in graded scores rarely moves one item this far, let alone all.
pub const COLLAPSE: f64 = 0.5;

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
    /// Whether every item's score is lower than in the baseline by more than the bound and by at least [`COLLAPSE`].
    pub(super) has_collapsed: bool,
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
            has_collapsed: quantity == Quantity::Score
                && paired.differences().all(|drop| drop > bound && drop >= COLLAPSE),
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
            has_collapsed: false,
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
    fn more_gates_take_more_clusters_as_each_is_corrected_for_the_others() {
        let fewest = |gates: u32| fewest_clusters(LEVEL / f64::from(gates));
        assert_eq!([1, 2, 3, 4, 5, 6, 10, 12].map(fewest), [6, 7, 8, 8, 8, 9, 9, 10]);
    }
}
