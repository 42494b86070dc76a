//! By what factor an amount typically differs: the comparison of its logarithms.
//!
//! Latencies, tokens and costs have a long tail, and differ by factors: a few slow items hide in the mean what all others
//! show. The mean of the logarithms, that of the geometric mean, tells a change of a tenth with far fewer items.

use super::Quantity;
use super::estimate::{Estimate, p_by_exchanges};
use super::matching::Pair;
use super::model::{Test, TypicalRatio};
use super::paired::Paired;
use crate::report::Measurements;
use crate::report::stats::Interval;

/// The mean difference of the logarithms of an amount.
#[derive(Clone, Debug)]
pub(super) struct LogRatio {
    logs: Estimate,
    /// The mean of the amount in the base, which a difference is a share of.
    base: f64,
    p_value: f64,
    test: Test,
}

impl LogRatio {
    /// `None` where an amount is 0, and where all items differ by the same factor, or by none.
    pub(super) fn of(
        quantity: Quantity,
        pairs: &[Pair<'_>],
        base: &Measurements,
        other: &Measurements,
    ) -> Option<Self> {
        if !matches!(quantity, Quantity::Latency | Quantity::Tokens | Quantity::Cost) {
            return None;
        }
        let (mean, _) = Paired::of(&super::paired::Figure::amount(quantity), pairs, base, other).means()?;
        let paired = Paired::logs(quantity, pairs, base, other)?;
        let logs = Estimate::of(&paired, quantity)?;
        let by_t = logs.p_by_t()?;
        // A mean of five runs is spread less than a single run. Had nothing changed, each run would be as likely on either side.
        let (p_value, test) =
            if paired.is_unequal() { p_by_exchanges(&paired)? } else { (by_t, Test::LogRatioT) };
        Some(Self { logs, base: mean, p_value, test })
    }

    pub(super) fn p_value(&self) -> (f64, Test) {
        (self.p_value, self.test)
    }

    /// The ratio of the geometric means.
    pub(super) fn ratio(&self) -> Option<TypicalRatio> {
        let Interval { low, high } = self.logs.ci95?;
        let (ratio, ci95) = (self.logs.difference.exp(), Interval { low: low.exp(), high: high.exp() });
        (ratio.is_finite() && ci95.high.is_finite()).then_some(TypicalRatio { ratio, ci95 })
    }

    /// The smallest difference of the mean that would show in 80 % of cases at the 5 % level, were it the same factor for
    /// all items.
    pub(super) fn smallest_detectable(&self) -> Option<f64> {
        let least = self.base * self.logs.smallest_detectable()?.exp_m1();
        least.is_finite().then_some(least)
    }

    /// How many times as many items would show a difference of the mean of this size, larger than 0, in 80 % of cases, were it
    /// the same factor for all items; see [`Estimate::times_to_show`].
    pub(super) fn times_to_show(&self, difference: f64, tail: f64) -> Option<f64> {
        self.logs.times_to_show((difference / self.base).ln_1p(), tail)
    }

    /// The same for the ratio that was found.
    pub(super) fn times_to_show_ratio(&self, tail: f64) -> Option<f64> {
        self.logs.times_to_show(self.logs.difference.abs(), tail)
    }
}
