//! What the items of a run come to: its figures, how it differs from its baseline, and its thresholds.

use std::time::Duration;

use super::attempts::pooled;
use super::baseline::{Baseline, FAILED};
use crate::config::{Config, OnInconclusive};
use crate::report::comparison::{Comparison, compare, too_old};
use crate::report::{Against, Figures, Measurements, Report, Threshold, ci_status, judge_all};
use crate::wording::count;

/// Adds to a report with all its items what they come to, by the evaluators of its settings. A run of some of the items has
/// no thresholds. In CI, earlier runs of the same commit count in the thresholds and in the comparison with the baseline.
pub(crate) fn judge(
    report: &mut Report,
    thresholds: &[Threshold],
    baseline: &Baseline,
    duration: Duration,
    config: &Config,
) {
    let thresholds = if report.partial { &[][..] } else { thresholds };
    let base = match baseline {
        Baseline::Found(run) => Some(&*run.id),
        Baseline::Absent(_) | Baseline::OfOthers(_) => None,
    };
    let pooled = pooled(report, base, config).filter(|_| !thresholds.is_empty());
    let evaluators: Vec<_> = report.config.evaluators().collect();
    let gather = |report| Figures::gather(report, &evaluators, config.prices());
    let figures = gather(&report.items);
    let summary = figures.summary(duration);
    let figures = match &pooled {
        Some(pooled) => figures.pooled(gather(&pooled.items)),
        None => figures,
    };
    let judged = pooled.as_ref().unwrap_or(report);
    let runs = match baseline {
        Baseline::Found(run) => Ok((&**run, Measurements::of(judged, config.prices()))),
        Baseline::Absent(reason) | Baseline::OfOthers(reason) => Err(&**reason),
    };
    let against = Against {
        runs: runs.as_ref().map(|(baseline, now)| (*baseline, now)).map_err(|reason| *reason),
        inconclusive_passes: config.on_inconclusive() == OnInconclusive::Pass,
    };
    let difference = |(baseline, now)| difference(baseline, now, config.baseline_max_age());
    let mut comparison = against.runs.ok().and_then(difference);
    let outcomes = judge_all(thresholds, &figures, &against);
    let mut status = ci_status(thresholds, &outcomes);
    if let Some(pooled) = pooled {
        let number = pooled.pooled.len();
        let counted = format!("{} of this commit", count(number, "earlier run"));
        if let Some(status) = &mut status {
            status.summary += &format!(", with {counted}");
        }
        if let Some(comparison) = &mut comparison {
            comparison.notes.push(format!(
                "{counted} {} as further runs of the items: {}",
                if number == 1 { "counts" } else { "count" },
                pooled.pooled.join(", ")
            ));
        }
        report.pooled = pooled.pooled;
    }
    report.summary = summary;
    report.baseline = comparison.map(Box::new);
    report.ci_status = status;
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
