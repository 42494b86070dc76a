//! What the items of a run come to: its figures, how it differs from its baseline, and its thresholds.

use std::time::Duration;

use super::attempts::pooled;
use super::baseline::{Baseline, FAILED};
use crate::config::{Config, OnInconclusive};
use crate::report::comparison::{Comparison, compare, too_old};
use crate::report::{Against, Figures, Measurements, Report, Threshold, ci_status, judge_all};
use crate::wording::count;

/// Adds to a report with all its items what they come to, by the evaluators of its settings. A run of some of the items has
/// no thresholds. In CI, the scores of earlier runs of the same commit count in the thresholds and, if there are any, in the
/// comparison with the baseline.
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
    let pooled = if thresholds.is_empty() { None } else { pooled(report, base, config) };
    let evaluators: Vec<_> = report.config.evaluators().collect();
    let gather = |report| Figures::gather(report, &evaluators, config.prices());
    let figures = gather(&report.items);
    let summary = figures.summary(duration);
    let figures = match &pooled {
        Some(pooled) => figures.pooled(gather(&pooled.items)),
        None => figures,
    };
    let measure = |report| Measurements::of(report, config.prices());
    let measured = || match &pooled {
        Some(pooled) => measure(report).pooled(&measure(pooled)),
        None => measure(report),
    };
    let runs = match baseline {
        Baseline::Found(run) => Ok((&**run, measured())),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::attempts::tests::run;
    use super::*;
    use crate::store::write_report;

    /// A run in which one of two items fails, judged in CI against a baseline. Neither the baseline nor an earlier attempt has a
    /// failure.
    fn judged(thresholds: &[Threshold]) -> Report {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::load(folder.path(), |name| (name == "COBALT_CI").then(|| "1".into())).unwrap();
        let baseline = Measurements::of(&run("ba5e", 5, |_| {}), config.prices());
        write_report(config.layout(), &run("aaa", 10, |_| {})).unwrap();
        let mut report = run("bbb", 20, |run| {
            run["items"][0]["latencyMs"] = json!(5);
            run["items"][1]["evaluations"]["e"] = json!({ "error": "no answer" });
        });
        judge(&mut report, thresholds, &Baseline::Found(Box::new(baseline)), Duration::ZERO, &config);
        report
    }

    #[test]
    fn of_earlier_runs_only_the_scores_count_against_the_baseline() {
        let report = judged(&["vs_baseline.e.drop <= 0.1".parse().unwrap()]);
        assert_eq!(report.pooled, ["aaa"]);
        let found = report.baseline.unwrap();
        assert_eq!(found.evaluators[0].items, 2, "the item that failed now was scored before");
        let amounts: Vec<_> = found.amounts.iter().map(|it| (&*it.name, it.base, it.other)).collect();
        assert_eq!(amounts, [("latency", 1.0, 3.0), ("errors", 0.0, 0.5)]);
        assert_eq!((found.regressed.len(), found.regressed[0].failed), (1, true));
    }

    #[test]
    fn an_evaluator_without_a_score_in_this_run_has_none_of_earlier_ones() {
        let all = run("aaa", 10, |_| {});
        let none = run("bbb", 20, |run| {
            run["items"].as_array_mut().unwrap().iter_mut().for_each(|item| {
                item["evaluations"]["e"] = json!({ "error": "no answer" });
            });
        });
        let prices = crate::prices::PriceTable::default();
        let [all, none] = [all, none].map(|report| Measurements::of(&report, &prices));
        assert_eq!(none.clone().pooled(&all), none);
    }

    #[test]
    fn without_thresholds_no_earlier_run_counts() {
        let report = judged(&[]);
        assert_eq!((report.pooled.len(), report.baseline.unwrap().evaluators[0].items), (0, 1));
    }
}
