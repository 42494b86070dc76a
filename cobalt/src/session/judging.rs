//! What the items of a run come to: its figures, how it differs from its baseline, and its thresholds.

use std::time::Duration;

use super::baseline::{Baseline, FAILED};
use crate::config::{Config, OnInconclusive};
use crate::report::comparison::{Comparison, compare, too_old};
use crate::report::{Against, Figures, Measurements, Report, Threshold, ci_status, judge_all};

/// Adds to a report with all its items what they come to, by the evaluators of its settings. Some of the items are held
/// against no thresholds.
pub(crate) fn judge(
    report: &mut Report,
    thresholds: &[Threshold],
    baseline: &Baseline,
    duration: Duration,
    config: &Config,
) {
    let thresholds = if report.partial { &[][..] } else { thresholds };
    let runs = match baseline {
        Baseline::Found(run) => Ok((&**run, Measurements::of(report, config.prices()))),
        Baseline::Absent(reason) | Baseline::OfOthers(reason) => Err(&**reason),
    };
    let against = Against {
        runs: runs.as_ref().map(|(baseline, now)| (*baseline, now)).map_err(|reason| *reason),
        inconclusive_passes: config.on_inconclusive() == OnInconclusive::Pass,
    };
    let difference = |(baseline, now)| difference(baseline, now, config.baseline_max_age());
    let comparison = against.runs.ok().and_then(difference);
    let evaluators: Vec<_> = report.config.evaluators().collect();
    let figures = Figures::gather(&report.items, &evaluators, config.prices());
    let outcomes = judge_all(thresholds, &figures, &against);
    report.summary = figures.summary(duration);
    report.baseline = comparison.map(Box::new);
    report.ci_status = ci_status(thresholds, &outcomes);
    report.conclude();
}

/// How a run differs from its baseline, and what speaks against holding it against that.
fn difference(baseline: &Measurements, now: &Measurements, max_age: Duration) -> Option<Comparison> {
    let mut comparison = compare(baseline, &[now]).pop()?;
    comparison.notes.extend(too_old(baseline, now.timestamp, max_age));
    if baseline.failed {
        comparison.notes.push(FAILED.to_owned());
    }
    Some(comparison)
}
