//! The outcomes of a run's thresholds, and its verdict.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::config::RunConfig;
use super::summary::Summary;

/// The verdict of a run. Ordered from best to worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ReportVerdict"))]
#[serde(rename_all = "camelCase")]
pub enum RunVerdict {
    /// Nothing is in error, every threshold passed and, in a strict experiment, every item is at its pass marks.
    Passed,
    /// Nothing failed, but the thresholds were not evaluated because only some of the items were run.
    NotEvaluated,
    /// An item or a summary function is in error, an item of a strict experiment is below a pass mark, or a threshold did not pass.
    #[default]
    Failed,
}

impl RunVerdict {
    /// The verdict for a run's counts and thresholds.
    #[must_use]
    pub fn evaluate(config: &RunConfig, summary: &Summary, thresholds: Option<&CiStatus>) -> Self {
        let is_in_error =
            summary.failed_items > 0 || summary.eval_errors > 0 || !summary.summary_errors.is_empty();
        let is_low = config.strict && summary.passed_items < summary.total_items;
        match thresholds {
            _ if is_in_error || is_low => Self::Failed,
            Some(status) if !status.passed => Self::Failed,
            None if !config.thresholds.is_empty() => Self::NotEvaluated,
            _ => Self::Passed,
        }
    }
}

impl fmt::Display for RunVerdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Passed => "passed",
            Self::NotEvaluated => "not evaluated",
            Self::Failed => "failed",
        })
    }
}

/// The results of a run's thresholds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CiStatus {
    /// Whether all thresholds passed.
    pub passed: bool,
    /// The thresholds that did not pass.
    pub violations: Vec<Violation>,
    /// The inconclusive thresholds, because of noise or a missing baseline, whether they pass or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inconclusive: Vec<Violation>,
    /// The outcome of every threshold, in the order of [`RunConfig::thresholds`]; empty in files of the original tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub thresholds: Vec<ThresholdOutcome>,
    /// A summary in one sentence.
    pub summary: String,
    /// The evaluators whose scores differ from those of earlier runs of the same commit, beyond noise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drift: Vec<ScoreDrift>,
}

/// A difference between a run's scores and those of earlier runs of the same commit, beyond noise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScoreDrift {
    /// The evaluator.
    pub evaluator: String,
    /// The mean over the items in this run.
    pub actual: f64,
    /// The mean over the same items in the earlier runs.
    pub earlier: f64,
    /// The two-sided p-value, corrected for the number of evaluators.
    pub p_value: f64,
    /// The difference in a sentence.
    pub message: String,
}

/// A threshold that was missed or is inconclusive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Violation {
    /// `score`, `latency`, `time_to_first_token`, `tokens`, `cost`, `judge_cost`, `user_cost`, `model_calls`, `tool_calls`, or an
    /// evaluator's name. That of a model or a metric has its name: `tokens.gpt-4o`, `metrics.retrieved`.
    pub category: String,
    /// The metric, such as `avg` or `pass_rate(0.6)`; `drop`, `rise` and `ratio` compare with a baseline, `drop_from(large)` with a variant,
    /// and `by("category").min_avg` is that of the worst group.
    pub metric: String,
    /// The bound.
    pub expected: f64,
    /// The actual value; absent if there was nothing to measure.
    pub actual: Option<f64>,
    /// The result in a sentence.
    pub message: String,
}

/// The outcome of one threshold.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ThresholdOutcome {
    /// The threshold's name, as in its test case.
    pub name: String,
    /// The result; inconclusive only for a threshold against a baseline or another variant.
    pub finding: ThresholdStatus,
    /// Whether it counts as passed. An inconclusive threshold does, unless the configuration has `on-inconclusive = "fail"` or, without
    /// that setting, the mean score dropped by 0.5 or more.
    pub passed: bool,
    /// Whether it compares the run with its baseline.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub against_baseline: bool,
    /// Whether the message says more than the value and the bound: the confidence of a comparison, or the worst group. Absent in files of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_details: bool,
    /// The actual value; absent if there was nothing to measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actual: Option<f64>,
    /// The actual value for people, with its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// The actual value and the bound in a sentence.
    pub message: String,
}

/// The result of a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdStatus {
    /// The threshold is met, beyond noise.
    Met,
    /// The threshold is missed, beyond noise.
    Missed,
    /// The noise is too large to tell.
    Inconclusive,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(strict: bool, thresholds: &[&str]) -> RunConfig {
        let thresholds = thresholds.iter().map(|&name| name.to_owned()).collect();
        RunConfig { strict, thresholds, ..RunConfig::default() }
    }

    /// Ten items, with the numbers of passed items, items below a pass mark, and items in error.
    fn summary(passed_items: usize, low_items: usize, failed_items: usize) -> Summary {
        Summary { total_items: 10, passed_items, low_items, failed_items, ..Summary::default() }
    }

    fn status(passed: bool) -> CiStatus {
        let (violations, inconclusive, thresholds) = (Vec::new(), Vec::new(), Vec::new());
        CiStatus { passed, violations, inconclusive, thresholds, summary: String::new(), drift: Vec::new() }
    }

    #[test]
    fn without_evaluated_thresholds_a_gated_run_is_not_evaluated_however_its_items_scored() {
        let gated = config(false, &["score.avg>=0.8"]);
        for passed in [0, 10] {
            let summary = summary(passed, 10 - passed, 0);
            assert_eq!(RunVerdict::evaluate(&gated, &summary, None), RunVerdict::NotEvaluated);
            assert_eq!(RunVerdict::evaluate(&gated, &summary, Some(&status(true))), RunVerdict::Passed);
            assert_eq!(RunVerdict::evaluate(&gated, &summary, Some(&status(false))), RunVerdict::Failed);
        }
        assert_eq!(RunVerdict::evaluate(&gated, &summary(9, 0, 1), None), RunVerdict::Failed);
        let without_score = Summary { eval_errors: 1, ..summary(9, 0, 0) };
        assert_eq!(RunVerdict::evaluate(&gated, &without_score, Some(&status(true))), RunVerdict::Failed);
        let summary_errors = [("f1".to_owned(), "no labels".to_owned())].into();
        let without_summary = Summary { summary_errors, ..summary(10, 0, 0) };
        for thresholds in [None, Some(&status(true))] {
            assert_eq!(RunVerdict::evaluate(&gated, &without_summary, thresholds), RunVerdict::Failed);
        }
    }

    #[test]
    fn a_strict_run_needs_every_item_at_its_pass_marks_and_its_thresholds_evaluated() {
        assert_eq!(RunVerdict::evaluate(&config(true, &[]), &summary(10, 0, 0), None), RunVerdict::Passed);
        assert_eq!(RunVerdict::evaluate(&config(true, &[]), &summary(9, 1, 0), None), RunVerdict::Failed);
        let both = config(true, &["score.avg>=0.8"]);
        assert_eq!(RunVerdict::evaluate(&both, &summary(10, 0, 0), None), RunVerdict::NotEvaluated);
        assert_eq!(RunVerdict::evaluate(&both, &summary(9, 1, 0), None), RunVerdict::Failed);
        assert_eq!(RunVerdict::evaluate(&both, &summary(9, 1, 0), Some(&status(true))), RunVerdict::Failed);
    }
}
