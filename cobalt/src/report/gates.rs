//! All thresholds of a run: each by the run's own figures, but for those against a baseline, which are judged together.

use super::comparison::{Finding, Judged, judge_against};
use super::figures::Figures;
use super::measurements::Measurements;
use super::threshold::Threshold;
use super::verdict::{ThresholdOutcome, judge, unmeasurable};

/// What thresholds against a baseline are judged by.
pub(crate) struct Against<'a> {
    /// The numbers of the baseline and of the run at hand, or why there is no baseline.
    pub(crate) runs: Result<(&'a Measurements, &'a Measurements), &'a str>,
    /// Whether a threshold passes of which noise may hide whether it is met.
    pub(crate) inconclusive_passes: bool,
}

/// Judges the thresholds, in their order.
pub(crate) fn judge_all(
    thresholds: &[Threshold],
    figures: &Figures<'_>,
    against: &Against<'_>,
) -> Vec<ThresholdOutcome> {
    let alone = |threshold: &Threshold| {
        (!threshold.is_against_baseline())
            .then(|| judge(threshold, figures))
            // Whatever the baseline is, there is nothing to hold against it.
            .or_else(|| unmeasurable(threshold, figures))
    };
    let mut outcomes: Vec<_> = thresholds.iter().map(alone).collect();
    let open: Vec<_> = thresholds.iter().zip(&outcomes).filter(|(_, known)| known.is_none()).collect();
    let open: Vec<_> = open.into_iter().map(|(threshold, _)| threshold).collect();
    let mut judged = match against.runs {
        Ok((baseline, now)) => judge_against(baseline, now, &open),
        Err(reason) => open.iter().map(|threshold| without_baseline(threshold, reason)).collect(),
    }
    .into_iter();
    for (threshold, outcome) in thresholds.iter().zip(&mut outcomes) {
        if outcome.is_none() {
            *outcome = judged.next().map(|judged| against.outcome(threshold, judged));
        }
    }
    outcomes.into_iter().flatten().collect()
}

impl Against<'_> {
    fn outcome(&self, threshold: &Threshold, judged: Judged) -> ThresholdOutcome {
        let Judged { finding, actual, mut message } = judged;
        let is_inconclusive = finding == Finding::Inconclusive;
        if is_inconclusive && !self.inconclusive_passes {
            message += " (fails, as `on-inconclusive` is `fail`)";
        }
        let outcome = ThresholdOutcome::new(threshold, finding, actual, message);
        ThresholdOutcome { passed: outcome.passed || is_inconclusive && self.inconclusive_passes, ..outcome }
    }
}

fn without_baseline(threshold: &Threshold, reason: &str) -> Judged {
    let message = format!("`{threshold}` has nothing to be held against: {reason}");
    Judged { finding: Finding::Inconclusive, actual: None, message }
}
