//! Evaluates a run: its statistics, its baseline, earlier runs of the same commit, and its thresholds.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::prices::PriceTable;
use cobalt_core::report::comparison::{Comparison, compare, score_drift, stale_baseline_warning};
use cobalt_core::report::{
    BaselineContext, ItemResult, Measurements, Report, RunConfig, RunMetrics, RunSummaries, ShardPlan,
    Threshold, ci_status, evaluate_all, stricter_outcomes,
};
use cobalt_core::store::{StoreError, read_experiment_name, read_measurements};
use cobalt_core::wording::{self, count};

use super::pooling::{Attempts, KeyDigest};
use super::summaries::run_summaries;
use crate::config::Config;
use crate::error::Error;
use crate::experiment::FnSummary;
use crate::log;

/// Adds the summary, the results of `summaries`, the thresholds and the baseline comparison to a report with all its items. A partial
/// run has no thresholds. In CI, the scores of earlier runs of the same commit count in the thresholds and, if there are thresholds, in
/// the baseline comparison, as far as they make a verdict stricter.
pub fn evaluate_run(
    report: &mut Report,
    thresholds: &[Threshold],
    summaries: &[FnSummary],
    references: &References<'_>,
    duration: Duration,
    config: &Config,
) {
    let summaries = run_summaries(summaries, &mut report.items);
    let settings = report.config.clone();
    let mut evaluation = Evaluation::new(report, &settings, thresholds, references.baseline, config);
    report.items.iter().for_each(|item| evaluation.add(item));
    evaluation.finish(report, references, summaries, duration);
}

/// Evaluates a run whose items need not be in memory.
pub struct Evaluation<'a> {
    metrics: RunMetrics<'a>,
    keys: KeyDigest,
    /// What the run is compared by, if it is compared with another one.
    now: Option<Measurements>,
    thresholds: &'a [Threshold],
    config: &'a Config,
}

impl<'a> Evaluation<'a> {
    /// The evaluation of a run with these settings. A partial run has no thresholds.
    pub fn new(
        report: &Report,
        settings: &'a RunConfig,
        thresholds: &'a [Threshold],
        baseline: &Baseline,
        config: &'a Config,
    ) -> Self {
        let thresholds = if report.partial { &[][..] } else { thresholds };
        let is_compared =
            matches!(baseline, Baseline::Found(_)) || thresholds.iter().any(Threshold::compares_runs);
        let now = is_compared.then(|| Measurements::from_report(&report.without_items(), config.prices()));
        let evaluators: Vec<_> = settings.evaluators().collect();
        let metrics = RunMetrics::new(&evaluators, &settings.group_by, thresholds, config.prices());
        Self { metrics, keys: KeyDigest::default(), now, thresholds, config }
    }

    /// Adds the next item in dataset order.
    pub fn add(&mut self, item: &ItemResult) {
        self.metrics.add(item);
        self.keys.add(&item.key);
        if let Some(now) = &mut self.now {
            now.push(item, self.config.prices());
        }
    }

    /// Adds the results to the report, which has everything else by now.
    pub fn finish(
        self,
        report: &mut Report,
        references: &References<'_>,
        summaries: RunSummaries,
        duration: Duration,
    ) {
        let Self { metrics, keys, now, thresholds, config } = self;
        let metrics = metrics.with_summaries(summaries);
        let summary = metrics.summary(duration);
        let now = now.map(|now| now.with_metrics_of(&summary));
        let base = match references.baseline {
            Baseline::Found(run) => Some(&*run.id),
            Baseline::Absent(_) | Baseline::OtherExperiments(_) => None,
        };
        let attempts = match thresholds {
            [] => Attempts::default(),
            _ => Attempts::find(report, &keys, base, config),
        };
        let alone = comparison_context(references, now.as_ref(), config);
        let mut comparison = compare_with_baseline(&alone, config);
        let mut outcomes = evaluate_all(thresholds, &metrics, &alone);
        let mut drift = Vec::new();
        let earlier = format!("{} of this commit", count(attempts.ids.len(), "earlier run"));
        if !attempts.ids.is_empty() {
            let trials = &attempts.trials;
            drift = score_drift(&metrics, trials, &earlier);
            let (metrics, now) =
                (metrics.with_further_trials(trials), now.map(|now| now.with_further_trials(trials)));
            let pooled = comparison_context(references, now.as_ref(), config);
            outcomes = stricter_outcomes(outcomes, evaluate_all(thresholds, &metrics, &pooled), &earlier);
            let pooled = compare_with_baseline(&pooled, config);
            if let (Some(comparison), Some(pooled)) = (&mut comparison, pooled) {
                let worse = comparison.take_worse(pooled);
                comparison.notes.push(pooling_note(&earlier, &attempts.ids, &worse));
                comparison.notes.extend(drift.iter().map(|drift| drift.message.clone()));
            }
        }
        let mut status = ci_status(thresholds, &outcomes);
        if let Some(status) = status.as_mut().filter(|_| !attempts.ids.is_empty()) {
            let differs = if drift.is_empty() { "" } else { ", from which it differs beyond noise" };
            status.summary += &format!(", with {earlier}{differs}");
            status.drift = drift;
        }
        report.pooled = attempts.ids;
        report.summary = summary;
        report.baseline = comparison.map(Box::new);
        report.ci_status = status;
        report.update_verdict();
    }
}

/// What a run is compared with.
#[derive(Debug)]
pub struct References<'a> {
    pub(crate) baseline: &'a Baseline,
    /// The other variants of the experiment that thresholds name, as far as they were run together.
    pub(crate) variants: &'a OtherVariants,
}

/// Other variants of an experiment, by name.
pub type OtherVariants = BTreeMap<String, Arc<Measurements>>;

/// The runs to compare a run with.
fn comparison_context<'a>(
    references: &'a References<'_>,
    now: Option<&'a Measurements>,
    config: &Config,
) -> BaselineContext<'a> {
    BaselineContext {
        baseline: match references.baseline {
            Baseline::Found(run) => Ok(&**run),
            Baseline::Absent(reason) | Baseline::OtherExperiments(reason) => Err(&**reason),
        },
        variants: references.variants,
        now,
        inconclusive: config.inconclusive_policy(),
    }
}

/// How a run differs from its baseline, if it has one, with notes on caveats.
fn compare_with_baseline(runs: &BaselineContext<'_>, config: &Config) -> Option<Comparison> {
    let (baseline, now) = runs.baseline.ok().zip(runs.now)?;
    let mut comparison = compare(baseline, &[now]).pop()?;
    comparison.notes.extend(stale_baseline_warning(baseline, now.timestamp, config.baseline_max_age()));
    if baseline.failed {
        comparison.notes.push(FAILED_BASELINE_NOTE.to_owned());
    }
    Some(comparison)
}

/// How earlier runs count in the comparison with the baseline; `worse` are the evaluators that are worse only with them.
fn pooling_note(earlier: &str, ids: &[String], worse: &[String]) -> String {
    let ids = ids.join(", ");
    match worse {
        [] => format!("{earlier} would not make a score worse, if counted as additional trials: {ids}"),
        worse => {
            let worse = wording::join_quoted(worse.iter().map(String::as_str));
            format!("{worse}: with the trials of {earlier}, as it is worse with them: {ids}")
        }
    }
}

/// What to do if there is no baseline.
const HOW_TO_SET: &str = "set one with `cargo cobalt baseline set`";

/// The caveat for a baseline from a failed run.
pub const FAILED_BASELINE_NOTE: &str = "the baseline is a failed run, so an equally bad run is not a regression; set a passing run with \
                          `cargo cobalt baseline set`";

/// The baseline to compare a run with.
#[derive(Debug)]
pub enum Baseline {
    Found(Box<Measurements>),
    /// None, with a reason that says what to do.
    Absent(String),
    /// The given runs belong to other experiments.
    OtherExperiments(String),
}

impl Baseline {
    /// For a partial run, which is not compared.
    pub fn for_partial_run() -> Self {
        Self::Absent("only some of the items are run".to_owned())
    }

    /// The warning to print before anything runs. `is_needed`: whether the run has baseline thresholds.
    pub fn warning(&self, is_needed: bool) -> Option<String> {
        match self {
            Self::Found(run) if run.failed => Some(format!("{FAILED_BASELINE_NOTE} (run {})", run.id)),
            Self::OtherExperiments(reason) if is_needed => {
                Some(format!("its baseline thresholds are not evaluated: {reason}"))
            }
            _ => None,
        }
    }

    /// Finds the baseline of the experiment. An existing file that cannot be read is an error.
    pub fn resolve(experiment: &str, config: &Config) -> Result<Self, Error> {
        let found = match config.baseline_files() {
            Some(files) => match find_in_files(files, experiment)? {
                Ok(path) => Self::read(&path, experiment, config.prices())?,
                Err(without) => without,
            },
            None => Self::load_saved(experiment, config)?,
        };
        match &found {
            Self::Found(run) => log::debug!(experiment = experiment, run = run.id, "chose the baseline"),
            Self::Absent(reason) | Self::OtherExperiments(reason) => {
                log::debug!(experiment = experiment, reason = reason, "has no baseline");
            }
        }
        Ok(found)
    }

    /// The baseline set by `cargo cobalt baseline set`.
    fn load_saved(experiment: &str, config: &Config) -> Result<Self, Error> {
        let path = config.layout().baseline(experiment);
        if !path.exists() {
            return Ok(Self::Absent(format!("`{experiment}` has no baseline yet; {HOW_TO_SET}")));
        }
        Self::read(&path, experiment, config.prices()).map_err(|error| match error {
            Error::Store(StoreError::Storage { action, path, source }) => {
                let reason = format!("{source}; update it with `cargo cobalt baseline set`");
                StoreError::Storage { action, path, source: io::Error::new(source.kind(), reason) }.into()
            }
            error => error,
        })
    }

    /// The plan that balances the shards of the experiment: that of the command, or else the latencies of the saved baseline, which is
    /// the same on all machines that have checked out the same commit.
    pub fn shard_plan(experiment: &str, config: &Config) -> Result<Option<ShardPlan>, Error> {
        if let Some(plan) = config.shard_plan(experiment) {
            return Ok(Some(plan.clone()));
        }
        Ok(match Self::load_saved(experiment, config)? {
            Self::Found(run) => Some(ShardPlan::of(format!("baseline {}", run.id), &run)),
            Self::Absent(_) | Self::OtherExperiments(_) => None,
        })
    }

    fn read(path: &Path, experiment: &str, prices: &PriceTable) -> Result<Self, Error> {
        let run = read_measurements(path, prices)?;
        let shown = path.display();
        if run.name != experiment {
            return Ok(Self::OtherExperiments(format!(
                "`{shown}` is the baseline of `{}`; {HOW_TO_SET}",
                run.name
            )));
        }
        if run.partial {
            return Ok(Self::Absent(format!(
                "run `{}` in `{shown}` is partial and cannot be a baseline; {HOW_TO_SET}",
                run.id
            )));
        }
        Ok(Self::Found(Box::new(run)))
    }
}

/// Finds the file of the experiment among the given ones; otherwise the baseline that says why there is none.
fn find_in_files(named: &[PathBuf], experiment: &str) -> Result<Result<PathBuf, Baseline>, Error> {
    let mut others = Vec::new();
    for path in named {
        for file in json_files(path)? {
            let name = read_experiment_name(&file)?;
            if name == experiment {
                return Ok(Ok(file));
            }
            others.push(name);
        }
    }
    if others.is_empty() {
        let reason = format!("no baseline found for the given runs or paths; {HOW_TO_SET}");
        return Ok(Err(Baseline::Absent(reason)));
    }
    let others = wording::join_quoted(others.iter().map(String::as_str));
    let reason = format!("the given baselines are for {others}, not for `{experiment}`");
    Ok(Err(Baseline::OtherExperiments(reason)))
}

/// The file itself or, for a directory, its JSON files.
fn json_files(path: &Path) -> Result<Vec<PathBuf>, Error> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let unread = |source| StoreError::Storage { action: "list", path: path.to_owned(), source };
    let entries: Vec<_> = path.read_dir().and_then(Iterator::collect).map_err(unread)?;
    let mut files: Vec<_> = entries.iter().map(std::fs::DirEntry::path).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use cobalt_core::report::comparison::ThresholdStatus;
    use cobalt_core::report::{FurtherTrials, ItemScores, RunVerdict};
    use cobalt_core::store::write_report;
    use serde_json::json;

    use super::super::pooling::tests::run;
    use super::*;

    /// A run in which one of two items fails, evaluated in CI against a baseline. Neither the baseline nor an earlier attempt has a
    /// failure.
    fn evaluated(thresholds: &[Threshold]) -> Report {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::load(folder.path(), |name| (name == "COBALT_CI").then(|| "1".into())).unwrap();
        let baseline = Measurements::from_report(&run("ba5e", 5, |_| {}), config.prices());
        write_report(config.layout(), &run("aaa", 10, |_| {})).unwrap();
        let mut report = run("bbb", 20, |run| {
            run["items"][0]["latencyMs"] = json!(5);
            run["items"][1]["evaluations"]["e"] = json!({ "error": "no answer" });
        });
        let references =
            References { baseline: &Baseline::Found(Box::new(baseline)), variants: &OtherVariants::new() };
        evaluate_run(&mut report, thresholds, &[], &references, Duration::ZERO, &config);
        report
    }

    #[test]
    fn earlier_runs_change_no_amounts() {
        let report = evaluated(&["vs_baseline.e.drop <= 0.1".parse().unwrap()]);
        assert_eq!(report.pooled, ["aaa"]);
        let found = report.baseline.unwrap();
        assert_eq!(found.evaluators[0].items, 1, "the item that failed now does not count");
        let amounts: Vec<_> = found.amounts.iter().map(|it| (&*it.name, it.base, it.other)).collect();
        assert_eq!(amounts, [("latency", 1.0, 3.0), ("errors", 0.0, 0.5)]);
        assert_eq!((found.regressed.len(), found.regressed[0].failed), (1, true));
    }

    /// A run of 20 items with these scores after seven runs with those, and what it says.
    fn after_seven(earlier: f64, now: f64, threshold: &str) -> Report {
        let of_score = |id: &str, minute: u32, score: f64| {
            run(id, minute, |run| {
                run["dataset"]["items"] = json!(20);
                let item = |index: usize| {
                    json!({ "index": index, "key": index.to_string(), "input": {}, "passed": true,
                        "output": { "output": id }, "latencyMs": 1, "evaluations": { "e": { "score": score } } })
                };
                run["items"] = (0..20).map(item).collect();
            })
        };
        let folder = tempfile::tempdir().unwrap();
        let config = Config::load(folder.path(), |name| (name == "COBALT_CI").then(|| "1".into())).unwrap();
        for minute in 10..17 {
            write_report(config.layout(), &of_score(&format!("aa{minute}"), minute, earlier)).unwrap();
        }
        let baseline = Measurements::from_report(&of_score("ba5e", 5, 1.0), config.prices());
        let references =
            References { baseline: &Baseline::Found(Box::new(baseline)), variants: &OtherVariants::new() };
        let mut report = of_score("bbb", 20, now);
        evaluate_run(&mut report, &[threshold.parse().unwrap()], &[], &references, Duration::ZERO, &config);
        report
    }

    #[test]
    fn good_earlier_runs_hide_no_collapse() {
        for threshold in
            ["e.avg >= 0.1", "e.pass_rate >= 0.5", "score.avg >= 0.8", "vs_baseline.e.drop <= 0.2"]
        {
            let report = after_seven(1.0, 0.0, threshold);
            let outcome = &report.thresholds()[0];
            assert_eq!((outcome.finding, outcome.passed), (ThresholdStatus::Missed, false), "{threshold}");
            assert!((report.verdict == RunVerdict::Failed) && report.pooled.len() == 7, "{threshold}");
            let [drift] = report.drift() else { panic!("{threshold}") };
            assert_eq!((&*drift.evaluator, drift.actual, drift.earlier), ("e", 0.0, 1.0));
            let summary = report.ci_status.as_ref().unwrap().summary.as_str();
            assert_eq!(
                summary,
                "1 of 1 threshold missed, with 7 earlier runs of this commit, from which it differs beyond noise"
            );
            assert_eq!(report.baseline.as_ref().unwrap().evaluators[0].other, 0.0, "this run alone");
        }
        let report = after_seven(1.0, 0.0, "e.avg >= 0.1");
        let message = &report.thresholds()[0].message;
        assert!(
            message.contains("; 0.875 with 7 earlier runs of this commit, which do not excuse"),
            "{message}"
        );
    }

    #[test]
    fn lucky_run_is_missed_with_bad_earlier_ones() {
        let report = after_seven(0.2, 1.0, "e.avg >= 0.8");
        let outcome = &report.thresholds()[0];
        assert_eq!(outcome.finding, ThresholdStatus::Missed);
        let message = &outcome.message;
        assert!(message.ends_with(" with 7 earlier runs of this commit; 1 in this run alone"), "{message}");
        let row = &report.baseline.as_ref().unwrap().evaluators[0];
        assert!((row.other - 0.3).abs() < 1e-9, "worse with the earlier runs: {row:?}");
    }

    #[test]
    fn equal_earlier_runs_change_nothing() {
        let report = after_seven(1.0, 1.0, "e.avg >= 0.8");
        assert_eq!((report.drift().len(), report.pooled.len()), (0, 7));
        assert_eq!(report.ci_status.unwrap().summary, "1 threshold met, with 7 earlier runs of this commit");
    }

    #[test]
    fn an_evaluator_without_a_score_in_this_run_has_none_of_earlier_ones() {
        let none = run("bbb", 20, |run| {
            run["items"].as_array_mut().unwrap().iter_mut().for_each(|item| {
                item["evaluations"]["e"] = json!({ "error": "no answer" });
            });
        });
        let all = run("aaa", 10, |_| {});
        let scores = all.items.iter().map(|item| ItemScores::of(item, &all.config.evaluators)).collect();
        let further = [FurtherTrials { trials: 1, scores }];
        let prices = cobalt_core::prices::PriceTable::default();
        let measured = Measurements::from_report(&none, &prices);
        assert_eq!(measured.clone().with_further_trials(&further), measured);
        let evaluators: Vec<_> = none.config.evaluators().collect();
        let metrics = RunMetrics::gather(&none.items, &evaluators, &prices).with_further_trials(&further);
        assert!(metrics.summary(Duration::ZERO).scores.is_empty());
    }

    #[test]
    fn without_thresholds_no_earlier_run_counts() {
        let report = evaluated(&[]);
        assert_eq!((report.pooled.len(), report.baseline.unwrap().evaluators[0].items), (0, 1));
    }
}
