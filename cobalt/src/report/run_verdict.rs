//! The verdict on a run: whether it passed, failed, or was not evaluated.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::model::CiStatus;
use super::run_config::RunConfig;
use super::summary::Summary;

/// The verdict on a run. Ordered from the best to the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ReportVerdict"))]
#[serde(rename_all = "camelCase")]
pub enum RunVerdict {
    /// No item is in error, in a strict experiment every item is at its pass marks, and every threshold passed.
    Passed,
    /// The experiment has thresholds that were not evaluated, as only some of the items were run. Nothing failed so far.
    NotEvaluated,
    /// An item is in error, an item of a strict experiment is below a pass mark, or a threshold did not pass.
    #[default]
    Failed,
}

impl RunVerdict {
    /// The verdict that follows from what a run counted and how it met its thresholds.
    #[must_use]
    pub fn of(config: &RunConfig, summary: &Summary, thresholds: Option<&CiStatus>) -> Self {
        let is_in_error = summary.failed_items > 0 || summary.eval_errors > 0;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn config(strict: bool, thresholds: &[&str]) -> RunConfig {
        let thresholds = thresholds.iter().map(|&name| name.to_owned()).collect();
        RunConfig { strict, thresholds, ..RunConfig::default() }
    }

    /// Ten items, of which so many passed, are below a pass mark, or are in error.
    fn summary(passed_items: usize, low_items: usize, failed_items: usize) -> Summary {
        Summary { total_items: 10, passed_items, low_items, failed_items, ..Summary::default() }
    }

    fn status(passed: bool) -> CiStatus {
        let (violations, inconclusive, thresholds) = (Vec::new(), Vec::new(), Vec::new());
        CiStatus { passed, violations, inconclusive, thresholds, summary: String::new() }
    }

    #[test]
    fn without_evaluated_thresholds_a_gated_run_is_not_evaluated_however_its_items_scored() {
        let gated = config(false, &["score.avg>=0.8"]);
        for passed in [0, 10] {
            let summary = summary(passed, 10 - passed, 0);
            assert_eq!(RunVerdict::of(&gated, &summary, None), RunVerdict::NotEvaluated);
            assert_eq!(RunVerdict::of(&gated, &summary, Some(&status(true))), RunVerdict::Passed);
            assert_eq!(RunVerdict::of(&gated, &summary, Some(&status(false))), RunVerdict::Failed);
        }
        assert_eq!(RunVerdict::of(&gated, &summary(9, 0, 1), None), RunVerdict::Failed);
        let without_score = Summary { eval_errors: 1, ..summary(9, 0, 0) };
        assert_eq!(RunVerdict::of(&gated, &without_score, Some(&status(true))), RunVerdict::Failed);
    }

    #[test]
    fn a_strict_run_needs_every_item_at_its_pass_marks_and_its_thresholds_evaluated() {
        assert_eq!(RunVerdict::of(&config(true, &[]), &summary(10, 0, 0), None), RunVerdict::Passed);
        assert_eq!(RunVerdict::of(&config(true, &[]), &summary(9, 1, 0), None), RunVerdict::Failed);
        let both = config(true, &["score.avg>=0.8"]);
        assert_eq!(RunVerdict::of(&both, &summary(10, 0, 0), None), RunVerdict::NotEvaluated);
        assert_eq!(RunVerdict::of(&both, &summary(9, 1, 0), None), RunVerdict::Failed);
        assert_eq!(RunVerdict::of(&both, &summary(9, 1, 0), Some(&status(true))), RunVerdict::Failed);
    }
}
