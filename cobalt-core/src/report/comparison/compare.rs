//! Compares the common metrics of runs, with a correction for multiple tests.

use std::borrow::Cow;

use super::estimate::{Estimate, LogRatio, fewest_clusters, p_two_sided, sample_size};
use super::gate_evidence::Collapse;
use super::item_changes::regressions;
use super::notes::{notes, replay_notes, retry_note};
use super::paired::{ComparedMetric, Paired, PairedSize};
use super::pairs::{Pair, match_items};
use super::{
    AskedComparison, Comparison, Difference, ItemMatching, Quantity, RunIdentity, SampleSize, Test, Verdict,
};
use crate::report::stats::holm;
use crate::report::{Measurements, MetricSettings};

/// Compares each of the other runs with `base`.
///
/// Items are matched by their keys. Items whose content has changed are included, and a note says so. A difference is positive
/// if the other run's value is larger. The p-values of all evaluators compared in one call are corrected together, and so are
/// those of latency, tokens, cost and errors, and those of the metrics that agents recorded.
#[must_use]
pub fn compare(base: &Measurements, others: &[&Measurements]) -> Vec<Comparison> {
    finish_together(others.iter().map(|other| Draft::of(base, other)).collect())
}

/// Compares each run with each later one, and corrects the p-values over all pairs. Returns the places of the two runs with each
/// comparison.
#[must_use]
pub fn compare_all(runs: &[&Measurements]) -> Vec<(usize, usize, Comparison)> {
    let places: Vec<_> =
        (0..runs.len()).flat_map(|base| (base + 1..runs.len()).map(move |other| (base, other))).collect();
    let mut drafts: Vec<_> = places.iter().map(|&(base, other)| Draft::of(runs[base], runs[other])).collect();
    // A collapse is not corrected for the number of pairs.
    for pending in drafts.iter_mut().flat_map(|draft| &mut draft.evaluators) {
        pending.collapse = None;
    }
    places.into_iter().zip(finish_together(drafts)).map(|((base, other), it)| (base, other, it)).collect()
}

/// Corrects the p-values of all comparisons together, and decides.
fn finish_together(mut drafts: Vec<Draft>) -> Vec<Comparison> {
    apply_holm(drafts.iter_mut().flat_map(|draft| &mut draft.evaluators));
    apply_holm(drafts.iter_mut().flat_map(|draft| &mut draft.amounts));
    apply_holm(drafts.iter_mut().flat_map(|draft| &mut draft.metrics));
    drafts.into_iter().map(Draft::finish).collect()
}

/// A comparison whose p-values are not corrected yet.
struct Draft {
    comparison: Comparison,
    evaluators: Vec<PendingDifference>,
    amounts: Vec<PendingDifference>,
    metrics: Vec<PendingDifference>,
}

/// A difference without a verdict.
struct PendingDifference {
    difference: Difference,
    estimate: Estimate,
    /// Only for latency, tokens and cost.
    log_ratio: Option<LogRatio>,
    size: PairedSize,
    /// The numbers of items whose value is larger and smaller in the other run.
    larger: usize,
    smaller: usize,
    /// The number of differences that its p-value is corrected for.
    tested: usize,
    /// The collapse of scores in the other run, if there is one.
    collapse: Option<Collapse>,
}

impl Draft {
    fn of(base: &Measurements, other: &Measurements) -> Self {
        let pairs = match_items(base, other);
        let items = ItemMatching::of(base, other, &pairs);
        // The latency of a recording says nothing of this agent, and a request that was refused took no time.
        let live = live_pairs(&pairs);
        let open = |name: &str, figure: ComparedMetric<'_>| {
            let pairs = if figure.quantity == Quantity::Latency { &live[..] } else { &pairs[..] };
            PendingDifference::of(name, &figure, pairs, base, other)
        };
        let evaluators =
            common_evaluators(base, other).filter_map(|name| open(name, ComparedMetric::score(vec![name])));
        let amounts = usage_metrics(&pairs)
            .into_iter()
            .filter_map(|(name, quantity)| open(name, ComparedMetric::amount(quantity)));
        let metrics = other.metrics.iter().filter_map(|(name, settings)| {
            let pending = open(name, ComparedMetric::custom(name))?;
            Some(pending.with_settings(base.metrics.get(name).unwrap_or(settings), settings))
        });
        let (evaluators, amounts, metrics) = (evaluators.collect(), amounts.collect(), metrics.collect());
        let common: Vec<_> = common_evaluators(base, other).collect();
        let asked = AskedComparison::of(base, other, &pairs);
        let mut notes = notes(base, other, &items, &pairs);
        notes.extend(replay_notes(base, other));
        notes.extend(retry_note(base, other));
        notes.extend(asked.as_ref().map(ToString::to_string));
        let comparison = Comparison {
            base: RunIdentity::of(base),
            other: RunIdentity::of(other),
            notes,
            asked,
            regressed: regressions(&pairs, &common),
            items,
            evaluators: Vec::new(),
            amounts: Vec::new(),
        };
        Self { comparison, evaluators, amounts, metrics }
    }

    fn finish(self) -> Comparison {
        let Self { mut comparison, evaluators, mut amounts, metrics } = self;
        amounts.extend(metrics);
        let is_same_run = comparison.base.id == comparison.other.id;
        let notes = &mut comparison.notes;
        let mut finish = |open: Vec<PendingDifference>| {
            open.into_iter().map(|open| open.finish(is_same_run, notes)).collect::<Vec<_>>()
        };
        let (evaluators, amounts) = (finish(evaluators), finish(amounts));
        comparison.evaluators = evaluators;
        comparison.amounts = amounts;
        comparison
    }
}

impl RunIdentity {
    /// The identity of a run.
    pub(crate) fn of(run: &Measurements) -> Self {
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

/// The pairs whose latency can be compared.
fn live_pairs<'p, 'a>(pairs: &'p [Pair<'a>]) -> Cow<'p, [Pair<'a>]> {
    match pairs.iter().any(Pair::has_replayed_latency) {
        true => pairs.iter().filter(|pair| !pair.has_replayed_latency()).copied().collect(),
        false => Cow::Borrowed(pairs),
    }
}

/// The evaluators of both runs, in the order of the other run.
fn common_evaluators<'a>(base: &'a Measurements, other: &'a Measurements) -> impl Iterator<Item = &'a str> {
    let names = other.evaluators.iter().map(|evaluator| &*evaluator.name);
    names.filter(|name| base.evaluators.iter().any(|known| known.name == *name))
}

/// The other metrics to compare: latency unless a file does not have it; errors if there are any.
fn usage_metrics(pairs: &[Pair<'_>]) -> Vec<(&'static str, Quantity)> {
    let is_timed = pairs.iter().any(|pair| pair.base.latency_ms() > 0.0)
        && pairs.iter().any(|pair| pair.other.latency_ms() > 0.0);
    let has_errors =
        pairs.iter().any(|pair| !(pair.base.failed().is_empty() && pair.other.failed().is_empty()));
    let mut amounts = vec![("tokens", Quantity::Tokens), ("cost", Quantity::Cost)];
    if is_timed {
        amounts.insert(0, ("latency", Quantity::Latency));
    }
    if has_errors {
        amounts.push(("errors", Quantity::Errors));
    }
    amounts
}

impl PendingDifference {
    /// `None` if no item has the metric in both runs.
    fn of(
        name: &str,
        metric: &ComparedMetric<'_>,
        pairs: &[Pair<'_>],
        base: &Measurements,
        other: &Measurements,
    ) -> Option<Self> {
        let quantity = metric.quantity;
        let log_ratio = LogRatio::of(quantity, pairs, base, other);
        let paired = Paired::of(metric, pairs, base, other);
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
        let (better, worse) = better_and_worse(Some(quantity.more_is_better()), larger, smaller);
        let difference = Difference {
            name: name.to_owned(),
            quantity,
            unit: None,
            direction: None,
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
        let size = paired.size();
        // One item or cluster cannot show that a run is worse, only that a gate is missed.
        let can_collapse = quantity == Quantity::Score && estimate.clusters > 1;
        let collapse = if can_collapse { Collapse::of(&paired.reversed(), 0.0) } else { None };
        Some(Self { difference, estimate, log_ratio, size, larger, smaller, tested: 1, collapse })
    }

    /// Sets the unit and direction of a metric; those of the other run count if they differ.
    fn with_settings(mut self, base: &MetricSettings, other: &MetricSettings) -> Self {
        let difference = &mut self.difference;
        difference.unit = other.unit.clone().or_else(|| base.unit.clone());
        difference.direction = other.better.or(base.better);
        (difference.better, difference.worse) =
            better_and_worse(difference.more_is_better(), self.larger, self.smaller);
        self
    }

    /// The difference with its verdict; a note says if that is due to a collapse.
    fn finish(self, is_same_run: bool, notes: &mut Vec<String>) -> Difference {
        let Self { difference, estimate, log_ratio, size, tested, collapse, .. } = self;
        let (verdict, settled_by) = if is_same_run {
            (Verdict::WithinNoise, None)
        } else {
            decide(&difference, &estimate, log_ratio.as_ref(), &size, tested)
        };
        // A gate on this score is missed, too.
        if let (Verdict::Inconclusive, Some(collapse)) = (verdict, collapse) {
            notes.push(format!("`{}` is worse: {collapse}", difference.name));
            return Difference { verdict: Verdict::Worse, settled_by: None, ..difference };
        }
        Difference { verdict, settled_by, ..difference }
    }
}

/// The numbers of items that are better and worse, from those that are larger and smaller.
fn better_and_worse(more_is_better: Option<bool>, larger: usize, smaller: usize) -> (usize, usize) {
    match more_is_better {
        Some(true) => (larger, smaller),
        Some(false) => (smaller, larger),
        None => (0, 0),
    }
}

/// Corrects the p-values for multiple tests.
fn apply_holm<'a>(family: impl Iterator<Item = &'a mut PendingDifference>) {
    let mut tested: Vec<_> = family.filter(|open| open.difference.p_value.is_some()).collect();
    let p_values: Vec<_> = tested.iter().filter_map(|open| open.difference.p_value).collect();
    for (open, adjusted) in tested.iter_mut().zip(holm(&p_values)) {
        open.difference.p_adjusted = Some(adjusted);
        open.tested = p_values.len();
    }
}

/// The significance level of the tests.
const LEVEL: f64 = 0.05;

/// The smallest relevant difference of scores or of the error rate.
const MARGIN: f64 = 0.05;

/// The smallest relevant difference of latency, tokens, cost or a metric, relative to the base mean.
const RELATIVE_MARGIN: f64 = 0.1;

/// The margin in standard errors that includes the interval of a zero difference with 80% power: the normal quantiles at 97.5%
/// and 90%, as both ends must be within the margin.
const RULE_OUT_ERRORS: f64 = 1.959_964 + 1.281_552;

/// The verdict on a difference whose p-value is corrected for `tested` tests and, if it is inconclusive, the sample size needed.
pub fn decide(
    difference: &Difference,
    estimate: &Estimate,
    log_ratio: Option<&LogRatio>,
    size: &PairedSize,
    tested: usize,
) -> (Verdict, Option<SampleSize>) {
    let margin = margin(difference);
    if difference.p_adjusted.is_some_and(|p| p < LEVEL) && interval_excludes_zero(difference) {
        let is_larger = difference.difference > 0.0;
        let verdict = match difference.more_is_better() {
            Some(more) if is_larger == more => Verdict::Better,
            Some(_) => Verdict::Worse,
            None => Verdict::Changed,
        };
        return (verdict, None);
    }
    let is_within = difference.ci95.is_some_and(|ci| ci.low >= -margin && ci.high <= margin);
    if is_within {
        return (Verdict::WithinNoise, None);
    }
    // For example, the interval excludes 0, but the corrected test needs a larger distance.
    let is_hinted_at = interval_excludes_zero(difference);
    let tail = 0.5 * LEVEL / tested.max(1) as f64;
    let times_to_show = |distance| match log_ratio {
        Some(log_ratio) if is_hinted_at => log_ratio.sample_factor_to_detect_ratio(tail),
        Some(log_ratio) => log_ratio.sample_factor_to_detect(distance, tail),
        None => estimate.sample_factor_to_detect(distance, tail),
    };
    let distance = difference.difference.abs();
    let times = if is_hinted_at {
        times_to_show(distance)
    } else {
        let to_rule_out = estimate.sample_factor_to_narrow(RULE_OUT_ERRORS, margin);
        times_to_show(distance.max(margin)).zip(to_rule_out).map(|(show, rule_out)| show.max(rule_out))
    };
    let fewest = match difference.test {
        Some(Test::LogRatioT | Test::PairedT) => 2,
        _ => fewest_clusters(tail),
    };
    (Verdict::Inconclusive, times.and_then(|times| sample_size(size, estimate, times, fewest)))
}

/// Whether the interval excludes 0 (for a ratio, 1) on the difference's side. The interval of scores uses another method than
/// their test and may include 0 although the test finds a difference. The typical item may be faster although a few slow ones
/// increase the mean. In these cases, and for a single cluster without an interval, nothing is called better or worse.
fn interval_excludes_zero(Difference { ci95, ratio, difference, .. }: &Difference) -> bool {
    let (interval, same) = match ratio {
        Some(ratio) => (Some(ratio.ci95), 1.0),
        None => (*ci95, 0.0),
    };
    interval.is_some_and(|ci| (*difference > 0.0 && ci.low > same) || (*difference < 0.0 && ci.high < same))
}

/// The smallest relevant difference.
fn margin(difference: &Difference) -> f64 {
    match difference.quantity {
        Quantity::Score | Quantity::Errors => MARGIN,
        Quantity::Latency | Quantity::Tokens | Quantity::Cost | Quantity::Metric => {
            RELATIVE_MARGIN * difference.base.abs()
        }
    }
}
