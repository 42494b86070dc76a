//! Evaluates thresholds, and derives the verdict of a run.

mod groups;
mod measure;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod trace_tests;

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::comparison::{GateResult, evaluate_against_all};
use super::measurements::Measurements;
use super::metrics::{RunMetrics, format_value};
use super::outcome::{CiStatus, ThresholdOutcome, ThresholdStatus, Violation};
use super::threshold::{Category, Metric, Threshold};
use crate::wording::count;
pub use groups::{WorstOf, group_metric};
use measure::{measure, measured_part};

impl ThresholdOutcome {
    /// The outcome of a threshold. An inconclusive one does not pass here.
    pub(super) fn new(
        threshold: &Threshold,
        finding: ThresholdStatus,
        actual: Option<f64>,
        message: String,
    ) -> Self {
        Self {
            name: threshold.case_name(),
            finding,
            passed: finding == ThresholdStatus::Met,
            against_baseline: threshold.is_against_baseline(),
            has_details: threshold.compares_runs() || threshold.by().is_some(),
            actual,
            figure: actual.map(|actual| format_value(threshold, actual)),
            message,
        }
    }
}

/// Evaluates a threshold. If there is nothing to measure, it is missed, and the message says why.
///
/// A threshold against a baseline is inconclusive here and does not pass: see
/// [`evaluate_against`](super::comparison::evaluate_against).
#[must_use]
pub fn evaluate(threshold: &Threshold, figures: &RunMetrics<'_>) -> ThresholdOutcome {
    if let Some(outcome) = replayed_latency(threshold, figures) {
        return outcome;
    }
    match measure_with_details(threshold, figures) {
        Ok(_) if threshold.compares_runs() => {
            let message = match threshold.against() {
                Some(variant) => format!("`{threshold}` needs a run of variant `{variant}`"),
                None => format!("`{threshold}` needs a baseline"),
            };
            ThresholdOutcome::new(threshold, ThresholdStatus::Inconclusive, None, message)
        }
        Ok((actual, details)) => {
            let passed = threshold.is_met_by(actual);
            let relation = if passed { "meets" } else { "misses" };
            let (name, value) = (metric_name(threshold), format_value(threshold, actual));
            let (scope, rest) = measured_part(threshold, figures).map_or_else(Default::default, |part| {
                (format!(", {}", part.scope), format!("; not measured: {}", part.rest))
            });
            let details = details.map(|details| format!(" ({details})")).unwrap_or_default();
            let message = format!("{name} is {value}{scope}{details}, which {relation} `{threshold}`{rest}");
            let finding = if passed { ThresholdStatus::Met } else { ThresholdStatus::Missed };
            let outcome = ThresholdOutcome::new(threshold, finding, Some(actual), message);
            ThresholdOutcome { figure: Some(value + &scope), ..outcome }
        }
        Err(reason) => nothing_to_measure(threshold, &reason),
    }
}

/// The value and, for the worst group, which one it is.
fn measure_with_details(
    threshold: &Threshold,
    figures: &RunMetrics<'_>,
) -> Result<(f64, Option<String>), String> {
    let worst = match threshold.metric() {
        Metric::MinAvg => WorstOf::Avg,
        Metric::MinPassRate(mark) => WorstOf::PassRate(mark),
        Metric::MaxAvg => WorstOf::MaxAvg,
        _ => return measure(threshold, figures).map(|value| (value, None)),
    };
    let field = threshold.by().unwrap_or_default();
    let (value, details) = group_metric(threshold.category(), field, worst, figures)?;
    Ok((value, Some(details)))
}

/// The outcome of a threshold if the run has nothing to measure for it.
pub fn missing_measurement(threshold: &Threshold, figures: &RunMetrics<'_>) -> Option<ThresholdOutcome> {
    measure(threshold, figures).err().map(|reason| nothing_to_measure(threshold, &reason))
}

/// The outcome of a threshold for the latency or the time to the first token if items were replayed and no other has a latency: there is nothing to measure, which is
/// nobody's fault, so it passes.
fn replayed_latency(threshold: &Threshold, figures: &RunMetrics<'_>) -> Option<ThresholdOutcome> {
    let is_replayed = match threshold.category() {
        Category::Latency => figures.has_replays && figures.live_latency.is_empty(),
        Category::TimeToFirstToken => {
            let times = &figures.traces.first_tokens;
            times.replayed > 0 && times.live.is_empty()
        }
        _ => false,
    };
    if !is_replayed {
        return None;
    }
    let what = match threshold.category() {
        Category::Latency => "the latency",
        _ => "the time to the first token",
    };
    let message = format!(
        "`{threshold}` has nothing to measure: {} replayed, so {what} is that of the recording; to measure it, run with \
         `COBALT_RECORD=off`",
        match (figures.latency.len(), figures.replayed_items) {
            (1, 1) => "the item was".to_owned(),
            (items, replayed) if items == replayed => format!("all {} were", count(items, "item")),
            _ => "no item ran live; some were".to_owned(),
        }
    );
    let outcome = ThresholdOutcome::new(threshold, ThresholdStatus::Inconclusive, None, message);
    Some(ThresholdOutcome { passed: true, ..outcome })
}

fn nothing_to_measure(threshold: &Threshold, reason: &str) -> ThresholdOutcome {
    let message = format!("`{threshold}` has nothing to measure: {reason}");
    ThresholdOutcome::new(threshold, ThresholdStatus::Missed, None, message)
}

/// Of each threshold the stricter of two outcomes: that of the run alone, and that with earlier runs of the same commit as further trials,
/// which `earlier` counts in words. Earlier runs never excuse a run that misses a threshold alone.
#[must_use]
pub fn stricter_outcomes(
    alone: Vec<ThresholdOutcome>,
    pooled: Vec<ThresholdOutcome>,
    earlier: &str,
) -> Vec<ThresholdOutcome> {
    let severity = |outcome: &ThresholdOutcome| {
        let finding = match outcome.finding {
            ThresholdStatus::Met => 0,
            ThresholdStatus::Inconclusive => 1,
            ThresholdStatus::Missed => 2,
        };
        (finding, !outcome.passed)
    };
    let figure = |outcome: &ThresholdOutcome| match (&outcome.figure, outcome.finding) {
        (Some(figure), _) => figure.clone(),
        (None, ThresholdStatus::Inconclusive) => "inconclusive".to_owned(),
        (None, _) => "unknown".to_owned(),
    };
    let stricter = |(alone, pooled): (ThresholdOutcome, ThresholdOutcome)| {
        let (mut outcome, note) = match severity(&alone).cmp(&severity(&pooled)) {
            Ordering::Equal => return alone,
            Ordering::Less => (pooled, format!(" with {earlier}; {} in this run alone", figure(&alone))),
            Ordering::Greater => {
                let note = format!("; {} with {earlier}, which do not excuse this run", figure(&pooled));
                (alone, note)
            }
        };
        outcome.message += &note;
        outcome.has_details = true;
        outcome
    };
    alone.into_iter().zip(pooled).map(stricter).collect()
}

/// The thresholds' outcomes in the form of a result file; `None` without thresholds.
pub fn ci_status(thresholds: &[Threshold], outcomes: &[ThresholdOutcome]) -> Option<CiStatus> {
    if thresholds.is_empty() {
        return None;
    }
    let those = |select: fn(&ThresholdOutcome) -> bool| -> Vec<_> {
        let judged = thresholds.iter().zip(outcomes).filter(|(_, outcome)| select(outcome));
        judged.map(|(threshold, outcome)| violation(threshold, outcome)).collect()
    };
    let violations = those(|outcome| !outcome.passed);
    let inconclusive = those(|outcome| outcome.finding == ThresholdStatus::Inconclusive);
    let missed = outcomes.iter().filter(|outcome| outcome.finding == ThresholdStatus::Missed).count();
    let all = count(thresholds.len(), "threshold");
    let summary = match (missed, inconclusive.len()) {
        (0, 0) => format!("{all} met"),
        (0, open) => format!("{open} of {all} inconclusive"),
        (missed, 0) => format!("{missed} of {all} missed"),
        (missed, open) => format!("{missed} of {all} missed, {open} inconclusive"),
    };
    let (passed, thresholds) = (violations.is_empty(), outcomes.to_vec());
    Some(CiStatus { passed, violations, inconclusive, thresholds, summary, drift: Vec::new() })
}

fn violation(threshold: &Threshold, outcome: &ThresholdOutcome) -> Violation {
    Violation {
        category: threshold.category().name().into_owned(),
        metric: threshold.metric_text(),
        expected: threshold.bound(),
        actual: outcome.actual,
        message: outcome.message.clone(),
    }
}

fn metric_name(threshold: &Threshold) -> String {
    format!("{}.{}", threshold.category(), threshold.metric_text())
}

/// The input for evaluating thresholds against a baseline.
#[derive(Debug)]
pub struct BaselineContext<'a> {
    /// The measurements of the baseline, or why there is none.
    pub baseline: Result<&'a Measurements, &'a str>,
    /// The variants that thresholds may compare the run with, by name.
    pub variants: &'a BTreeMap<String, Arc<Measurements>>,
    /// The measurements of this run; needed if there is a baseline or a variant.
    pub now: Option<&'a Measurements>,
    /// Which inconclusive thresholds pass.
    pub inconclusive: InconclusivePolicy,
}

/// Which inconclusive thresholds pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InconclusivePolicy {
    /// All, except if the mean score dropped by more than is allowed and by at least 0.5.
    PassUnlessLargeDrop,
    /// All.
    Pass,
    /// None.
    Fail,
}

/// Evaluates the thresholds, in order.
pub fn evaluate_all(
    thresholds: &[Threshold],
    figures: &RunMetrics<'_>,
    against: &BaselineContext<'_>,
) -> Vec<ThresholdOutcome> {
    let alone = |threshold: &Threshold| {
        if let Some(outcome) = replayed_latency(threshold, figures) {
            return Some(outcome);
        }
        (!threshold.compares_runs())
            .then(|| evaluate(threshold, figures))
            // There is nothing to compare with any other run.
            .or_else(|| missing_measurement(threshold, figures))
    };
    let mut outcomes: Vec<_> = thresholds.iter().map(alone).collect();
    let open: Vec<_> = (0..thresholds.len()).filter(|place| outcomes[*place].is_none()).collect();
    let mut references = BTreeMap::<Option<&str>, Vec<usize>>::new();
    for place in open {
        references.entry(thresholds[place].against()).or_default().push(place);
    }
    let (mut places, mut compared) = (Vec::new(), Vec::new());
    for (reference, of_reference) in references {
        match against.reference(reference) {
            Ok(run) => {
                compared.push((run, of_reference.iter().map(|place| &thresholds[*place]).collect()));
                places.push(of_reference);
            }
            Err(reason) => {
                for place in of_reference {
                    let judged = without_reference(&thresholds[place], &reason);
                    outcomes[place] = Some(against.outcome(&thresholds[place], judged));
                }
            }
        }
    }
    if let Some(now) = against.now {
        let judged = evaluate_against_all(now, &compared).into_iter().flatten();
        for (place, judged) in places.into_iter().flatten().zip(judged) {
            outcomes[place] = Some(against.outcome(&thresholds[place], judged));
        }
    }
    outcomes.into_iter().flatten().collect()
}

impl BaselineContext<'_> {
    /// The run of a variant or, without one, the baseline; otherwise the reason why there is none.
    fn reference(&self, variant: Option<&str>) -> Result<&Measurements, String> {
        match variant {
            Some(name) => self.variants.get(name).map(|run| &**run).ok_or_else(|| {
                format!("variant `{name}` was not run in the same group, or not with all items; run it too")
            }),
            None => self.baseline.map_err(str::to_owned),
        }
    }

    fn outcome(&self, threshold: &Threshold, judged: GateResult) -> ThresholdOutcome {
        let GateResult { finding, actual, mut message, is_large_drop } = judged;
        let mut passed = finding == ThresholdStatus::Met;
        if finding == ThresholdStatus::Inconclusive {
            let fails = match self.inconclusive {
                InconclusivePolicy::Fail => " (fails: `on-inconclusive` is `fail`)",
                InconclusivePolicy::PassUnlessLargeDrop if is_large_drop => {
                    " (fails: a drop by 0.5 or more is too large to ignore; `on-inconclusive = \"pass\"` ignores it)"
                }
                InconclusivePolicy::PassUnlessLargeDrop | InconclusivePolicy::Pass => "",
            };
            message += fails;
            passed = fails.is_empty();
        }
        ThresholdOutcome { passed, ..ThresholdOutcome::new(threshold, finding, actual, message) }
    }
}

fn without_reference(threshold: &Threshold, reason: &str) -> GateResult {
    let message = format!("`{threshold}` has nothing to compare with: {reason}");
    GateResult { finding: ThresholdStatus::Inconclusive, actual: None, message, is_large_drop: false }
}
