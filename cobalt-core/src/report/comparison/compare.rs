//! Compares runs: every figure that they have in common, corrected for being several.

use super::estimate::{Estimate, LogRatio, fewest_clusters, p_two_sided, settled_by};
use super::items::regressed;
use super::notes::notes;
use super::paired::{Figure, Paired};
use super::pairs::{Pair, pairs};
use super::{Comparison, Difference, Matching, Quantity, RunIdentity, SampleSize, Test, Verdict};
use crate::report::Measurements;
use crate::report::stats::holm;

/// Compares each of the other runs with `base`.
///
/// Items are matched by their keys; those whose content has changed are counted in, and a note says so. A difference is
/// positive where the figure of the other run is the larger one. The evaluators of all runs that are compared in one
/// call are corrected for together, and so are the amounts.
#[must_use]
pub fn compare(base: &Measurements, others: &[&Measurements]) -> Vec<Comparison> {
    let mut drafts: Vec<_> = others.iter().map(|other| Draft::of(base, other)).collect();
    correct(drafts.iter_mut().flat_map(|draft| &mut draft.evaluators));
    correct(drafts.iter_mut().flat_map(|draft| &mut draft.amounts));
    drafts.into_iter().map(Draft::finish).collect()
}

/// A comparison whose p-values are not corrected yet.
struct Draft {
    comparison: Comparison,
    evaluators: Vec<Open>,
    amounts: Vec<Open>,
}

/// A difference without a verdict.
struct Open {
    difference: Difference,
    estimate: Estimate,
    /// Of an amount that has one.
    log_ratio: Option<LogRatio>,
    paired: Paired,
    /// How many differences its p-value is corrected for.
    tested: usize,
}

impl Draft {
    fn of(base: &Measurements, other: &Measurements) -> Self {
        let pairs = pairs(base, other);
        let items = Matching::of(base, other, &pairs);
        let open = |name: &str, figure: Figure<'_>| {
            let log_ratio = LogRatio::of(figure.quantity, &pairs, base, other);
            Open::of(name, figure.quantity, Paired::of(&figure, &pairs, base, other), log_ratio)
        };
        let evaluators =
            common_evaluators(base, other).filter_map(|name| open(name, Figure::score(vec![name])));
        let amounts =
            amounts(&pairs).into_iter().filter_map(|(name, quantity)| open(name, Figure::amount(quantity)));
        let (evaluators, amounts) = (evaluators.collect(), amounts.collect());
        let common: Vec<_> = common_evaluators(base, other).collect();
        let comparison = Comparison {
            base: RunIdentity::of(base),
            other: RunIdentity::of(other),
            notes: notes(base, other, &items, &pairs),
            regressed: regressed(&pairs, &common),
            items,
            evaluators: Vec::new(),
            amounts: Vec::new(),
        };
        Self { comparison, evaluators, amounts }
    }

    fn finish(self) -> Comparison {
        let Self { mut comparison, evaluators, amounts } = self;
        let is_same_run = comparison.base.id == comparison.other.id;
        let finish = |open: Vec<Open>| open.into_iter().map(|open| open.finish(is_same_run)).collect();
        comparison.evaluators = finish(evaluators);
        comparison.amounts = finish(amounts);
        comparison
    }
}

impl RunIdentity {
    fn of(run: &Measurements) -> Self {
        Self {
            id: run.id.clone(),
            name: run.name.clone(),
            timestamp: run.timestamp,
            git: run.git.clone(),
            items: run.items.len(),
            runs: run.runs,
        }
    }
}

/// The evaluators of both runs, in the other run's order.
fn common_evaluators<'a>(base: &'a Measurements, other: &'a Measurements) -> impl Iterator<Item = &'a str> {
    let names = other.evaluators.iter().map(|evaluator| &*evaluator.name);
    names.filter(|name| base.evaluators.iter().any(|known| known.name == *name))
}

/// The amounts that may be compared: latency unless a run has none, as in files that do not tell it; errors if there are any.
fn amounts(pairs: &[Pair<'_>]) -> Vec<(&'static str, Quantity)> {
    let is_timed = pairs.iter().any(|pair| pair.base.latency_ms > 0.0)
        && pairs.iter().any(|pair| pair.other.latency_ms > 0.0);
    let has_errors = pairs.iter().any(|pair| !(pair.base.failed.is_empty() && pair.other.failed.is_empty()));
    let mut amounts = vec![("tokens", Quantity::Tokens), ("cost", Quantity::Cost)];
    if is_timed {
        amounts.insert(0, ("latency", Quantity::Latency));
    }
    if has_errors {
        amounts.push(("errors", Quantity::Errors));
    }
    amounts
}

impl Open {
    /// `None` where no item has the figure in both runs.
    fn of(name: &str, quantity: Quantity, paired: Paired, log_ratio: Option<LogRatio>) -> Option<Self> {
        let estimate = Estimate::of(&paired, quantity)?;
        let (p_value, test) = match &log_ratio {
            Some(log_ratio) => Some(log_ratio.p_value()),
            None => p_two_sided(&paired, quantity, &estimate),
        }
        .unzip();
        let smallest_detectable = match &log_ratio {
            Some(log_ratio) => log_ratio.smallest_detectable(),
            None => estimate.smallest_detectable(),
        };
        let count = |is: fn(f64) -> bool| paired.differences().filter(|difference| is(*difference)).count();
        let (larger, smaller, equal) = (count(|d| d > 0.0), count(|d| d < 0.0), count(|d| d == 0.0));
        let (better, worse) = if quantity.more_is_better() { (larger, smaller) } else { (smaller, larger) };
        let difference = Difference {
            name: name.to_owned(),
            quantity,
            base: estimate.base,
            other: estimate.other,
            difference: estimate.difference,
            ci95: estimate.ci95,
            ratio: log_ratio.as_ref().and_then(LogRatio::ratio),
            p_value,
            p_adjusted: None,
            test,
            smallest_detectable,
            verdict: Verdict::Inconclusive,
            settled_by: None,
            items: paired.len(),
            clusters: estimate.clusters,
            better,
            worse,
            equal,
            unmeasured: paired.unmeasured,
        };
        Some(Self { difference, estimate, log_ratio, paired, tested: 1 })
    }

    fn finish(self, is_same_run: bool) -> Difference {
        let Self { difference, estimate, log_ratio, paired, tested } = self;
        let (verdict, settled_by) = if is_same_run {
            (Verdict::WithinNoise, None)
        } else {
            decide(&difference, &estimate, log_ratio.as_ref(), &paired, tested)
        };
        Difference { verdict, settled_by, ..difference }
    }
}

/// Corrects the p-values for being several.
fn correct<'a>(family: impl Iterator<Item = &'a mut Open>) {
    let mut tested: Vec<_> = family.filter(|open| open.difference.p_value.is_some()).collect();
    let p_values: Vec<_> = tested.iter().filter_map(|open| open.difference.p_value).collect();
    for (open, adjusted) in tested.iter_mut().zip(holm(&p_values)) {
        open.difference.p_adjusted = Some(adjusted);
        open.tested = p_values.len();
    }
}

/// The level of the tests.
const LEVEL: f64 = 0.05;

/// A difference of scores, or of the share of errors, that matters.
const MARGIN: f64 = 0.05;

/// A difference of latency, tokens or cost that matters, as a share of the base's mean.
const RELATIVE_MARGIN: f64 = 0.1;

/// The standard errors by which a margin has to be larger than a difference of 0 for an interval that lies within it in
/// 80 % of cases: the quantiles of the normal distribution at 97.5 and 90 %, as both of its ends have to.
const TO_RULE_OUT: f64 = 1.959_964 + 1.281_552;

/// The verdict on a difference whose p-value is corrected for so many that are `tested` together, and, where it is open, what
/// would settle it.
pub fn decide(
    difference: &Difference,
    estimate: &Estimate,
    log_ratio: Option<&LogRatio>,
    paired: &Paired,
    tested: usize,
) -> (Verdict, Option<SampleSize>) {
    let margin = margin(difference);
    if difference.p_adjusted.is_some_and(|p| p < LEVEL) && is_clear(difference) {
        let is_larger = difference.difference > 0.0;
        let is_better = is_larger == difference.quantity.more_is_better();
        return (if is_better { Verdict::Better } else { Verdict::Worse }, None);
    }
    let is_within = difference.ci95.is_some_and(|ci| ci.low >= -margin && ci.high <= margin);
    if is_within {
        return (Verdict::WithinNoise, None);
    }
    // As where the interval does not reach 0, but one of several figures has to be farther from it.
    let is_hinted_at = is_clear(difference);
    let tail = 0.5 * LEVEL / tested.max(1) as f64;
    let times_to_show = |size| match log_ratio {
        Some(log_ratio) if is_hinted_at => log_ratio.times_to_show_ratio(tail),
        Some(log_ratio) => log_ratio.times_to_show(size, tail),
        None => estimate.times_to_show(size, tail),
    };
    let size = difference.difference.abs();
    let times = if is_hinted_at {
        times_to_show(size)
    } else {
        let to_rule_out = estimate.times_to_narrow(TO_RULE_OUT, margin);
        times_to_show(size.max(margin)).zip(to_rule_out).map(|(show, rule_out)| show.max(rule_out))
    };
    let fewest = match difference.test {
        Some(Test::LogRatioT | Test::PairedT) => 2,
        _ => fewest_clusters(tail),
    };
    (Verdict::Inconclusive, times.and_then(|times| settled_by(paired, estimate, times, fewest)))
}

/// Whether the interval lies on the difference's side of 0, or, of a ratio, of 1. The interval of scores is of another kind than
/// their test, and may hold 0 where the test finds a difference; the typical item may be faster where a few slow ones make the
/// mean larger: nothing is called better or worse then, nor where one cluster leaves the interval unknown.
fn is_clear(Difference { ci95, ratio, difference, .. }: &Difference) -> bool {
    let (interval, same) = match ratio {
        Some(ratio) => (Some(ratio.ci95), 1.0),
        None => (*ci95, 0.0),
    };
    interval.is_some_and(|ci| (*difference > 0.0 && ci.low > same) || (*difference < 0.0 && ci.high < same))
}

/// The smallest difference that matters.
fn margin(difference: &Difference) -> f64 {
    match difference.quantity {
        Quantity::Score | Quantity::Errors => MARGIN,
        Quantity::Latency | Quantity::Tokens | Quantity::Cost => RELATIVE_MARGIN * difference.base.abs(),
    }
}
