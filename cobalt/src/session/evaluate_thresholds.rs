//! Evaluates a run: its statistics, its baseline, earlier runs of the same commit, and its thresholds.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cobalt_core::prices::PriceTable;
use cobalt_core::report::comparison::{Comparison, compare, stale_baseline_warning};
use cobalt_core::report::{
    BaselineContext, ItemResult, Measurements, Report, RunConfig, RunMetrics, RunSummaries, SCHEMA,
    ShardPlan, Threshold, ci_status, evaluate_all,
};
use cobalt_core::store::{
    ResultFileName, StoreError, read_experiment_name, read_measurements, read_report, result_files,
};
use cobalt_core::wording::{self, count};

use super::summaries::run_summaries;
use crate::config::{Config, OnInconclusive};
use crate::error::Error;
use crate::experiment::FnSummary;

/// Adds the summary, the results of `summaries`, the thresholds and the baseline comparison to a report with all its items. A partial
/// run has no thresholds. In CI,
/// the scores of earlier runs of the same commit count in the thresholds and, if there are thresholds, in the baseline comparison.
pub fn evaluate_run(
    report: &mut Report,
    thresholds: &[Threshold],
    summaries: &[FnSummary],
    references: &References<'_>,
    duration: Duration,
    config: &Config,
) {
    let thresholds = if report.partial { &[][..] } else { thresholds };
    let base = match references.baseline {
        Baseline::Found(run) => Some(&*run.id),
        Baseline::Absent(_) | Baseline::OtherExperiments(_) => None,
    };
    let pooled = if thresholds.is_empty() { None } else { pool_attempts(report, base, config) };
    let summaries = run_summaries(summaries, &mut report.items);
    let settings = report.config.clone();
    let mut evaluation = Evaluation::new(report, &settings, thresholds, references.baseline, config);
    report.items.iter().for_each(|item| evaluation.add(item));
    evaluation.finish(report, references, summaries, pooled, duration);
}

/// Evaluates a run whose items need not be in memory.
pub struct Evaluation<'a> {
    figures: RunMetrics<'a>,
    /// What the run is compared by, if it is compared with another one.
    now: Option<Measurements>,
    settings: &'a RunConfig,
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
        let figures = RunMetrics::new(&evaluators, &settings.group_by, thresholds, config.prices());
        Self { figures, now, settings, thresholds, config }
    }

    /// Adds the next item in dataset order.
    pub fn add(&mut self, item: &ItemResult) {
        self.figures.add(item);
        if let Some(now) = &mut self.now {
            now.push(item, self.config.prices());
        }
    }

    /// Adds the results to the report. `pooled`: the items with those of earlier runs of the same commit as additional trials.
    pub fn finish(
        self,
        report: &mut Report,
        references: &References<'_>,
        summaries: RunSummaries,
        pooled: Option<Report>,
        duration: Duration,
    ) {
        let Self { figures, now, settings, thresholds, config } = self;
        let References { baseline, variants } = references;
        let figures = figures.with_summaries(summaries);
        let summary = figures.summary(duration);
        let now = now.map(|now| now.with_metrics_of(&summary));
        let (figures, now) = match &pooled {
            Some(pooled) => {
                let evaluators: Vec<_> = settings.evaluators().collect();
                let mut all = RunMetrics::new(&evaluators, &settings.group_by, thresholds, config.prices());
                pooled.items.iter().for_each(|item| all.add(item));
                let measured = |now: Measurements| {
                    now.with_pooled_scores(&Measurements::from_report(pooled, config.prices()))
                };
                (figures.with_pooled_scores(all), now.map(measured))
            }
            None => (figures, now),
        };
        let against = BaselineContext {
            baseline: match baseline {
                Baseline::Found(run) => Ok(&**run),
                Baseline::Absent(reason) | Baseline::OtherExperiments(reason) => Err(&**reason),
            },
            variants,
            now: now.as_ref(),
            inconclusive_passes: config.on_inconclusive() == OnInconclusive::Pass,
        };
        let difference = |(baseline, now)| compare_with_baseline(baseline, now, config.baseline_max_age());
        let mut comparison = against.baseline.ok().zip(against.now).and_then(difference);
        let outcomes = evaluate_all(thresholds, &figures, &against);
        let mut status = ci_status(thresholds, &outcomes);
        if let Some(pooled) = pooled {
            let number = pooled.pooled.len();
            let counted = format!("{} of this commit", count(number, "earlier run"));
            if let Some(status) = &mut status {
                status.summary += &format!(", with {counted}");
            }
            if let Some(comparison) = &mut comparison {
                comparison.notes.push(format!(
                    "{counted} {} as additional trials: {}",
                    if number == 1 { "counts" } else { "count" },
                    pooled.pooled.join(", ")
                ));
            }
            report.pooled = pooled.pooled;
        }
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

/// How a run differs from its baseline, with notes on caveats.
fn compare_with_baseline(
    baseline: &Measurements,
    now: &Measurements,
    max_age: Duration,
) -> Option<Comparison> {
    let mut comparison = compare(baseline, &[now]).pop()?;
    comparison.notes.extend(stale_baseline_warning(baseline, now.timestamp, max_age));
    if baseline.failed {
        comparison.notes.push(FAILED_BASELINE_NOTE.to_owned());
    }
    Some(comparison)
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
        let path = match config.baseline_files() {
            Some(files) => match find_in_files(files, experiment)? {
                Ok(path) => path,
                Err(without) => return Ok(without),
            },
            None => return Self::load_saved(experiment, config),
        };
        Self::read(&path, experiment, config.prices())
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

/// Pools a report with the results of earlier attempts: each item has their executions as additional trials.
///
/// `None` if pooling is not active or no run matches. A run matches if it started recently, has the same commit without uncommitted
/// changes, the same items and evaluators and no errors (results lost to a broken connection say nothing about the agent), and is not
/// the baseline itself.
pub fn pool_attempts(report: &Report, baseline: Option<&str>, config: &Config) -> Option<Report> {
    let mut attempts = find_attempts(report, config.pool_reruns_window()?, config);
    attempts.retain(|attempt| Some(&*attempt.id) != baseline);
    if attempts.is_empty() {
        return None;
    }
    let mut pooled = Report { items: report.items.clone(), ..report.without_items() };
    let places: HashMap<_, _> = (0..).zip(&report.items).map(|(place, item)| (&*item.key, place)).collect();
    for attempt in attempts {
        pooled.config.runs += attempt.config.runs;
        pooled.pooled.push(attempt.id);
        for item in attempt.items {
            let place: usize = places[&*item.key];
            pooled.items[place].runs.extend(item.runs);
        }
    }
    Some(pooled)
}

/// The matching attempts, oldest first.
fn find_attempts(report: &Report, within: Duration, config: &Config) -> Vec<Report> {
    let is_clean = report.git.as_ref().is_some_and(|git| !git.dirty);
    let keys: HashSet<_> = report.items.iter().map(|item| &*item.key).collect();
    if report.partial || report.rescored.is_some() || !is_clean || keys.len() < report.items.len() {
        return Vec::new();
    }
    // An unreadable directory counts as empty.
    let files = result_files(config.layout(), &report.name).unwrap_or_default();
    let paths = files.into_iter().map(|(_, path)| path);
    let mut found: Vec<_> = paths
        .filter(|path| is_recent(path, report, within))
        .filter_map(|path| read_report(&path).ok())
        .filter(|attempt| is_poolable(attempt, report))
        .filter(|attempt| attempt.items.iter().all(|item| keys.contains(&*item.key)))
        .collect();
    found.sort_by(|a, b| (a.timestamp, &a.id).cmp(&(b.timestamp, &b.id)));
    found.dedup_by(|a, b| a.id == b.id);
    found
}

/// Whether the file name is that of another run that started recently before.
fn is_recent(path: &Path, report: &Report, within: Duration) -> bool {
    let name = path.file_name().and_then(|name| ResultFileName::parse(name.to_str()?));
    let Some((name, begun)) = name.and_then(|name| Some((name, name.time()?))) else { return false };
    let age = report.timestamp.time().duration_since(begun.time());
    name.id != report.id && age.is_ok_and(|age| age <= within)
}

fn is_poolable(attempt: &Report, report: &Report) -> bool {
    let evaluators = |RunConfig { evaluators, pass_marks, evaluator_hashes, .. }: &RunConfig| {
        (evaluators.clone(), pass_marks.clone(), evaluator_hashes.clone())
    };
    let settings = |report: &Report| report.variant.as_ref().map(|variant| variant.settings.clone());
    let hash = |report: &Report| report.dataset.as_ref().map(|dataset| dataset.hash.clone());
    let is_same_source = match (&attempt.sources, &report.sources) {
        (Some(then), Some(now)) => then == now,
        _ => true,
    };
    attempt.schema == SCHEMA
        && attempt.name == report.name
        && settings(attempt) == settings(report)
        && !attempt.partial
        // The same outputs are no further trial.
        && attempt.rescored.is_none()
        && attempt.git == report.git
        && is_same_source
        && hash(attempt) == hash(report)
        && evaluators(&attempt.config) == evaluators(&report.config)
        && attempt.items.len() == report.items.len()
        && attempt.items.iter().all(|item| item.runs.len() == attempt.config.runs && !item.is_in_error())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use cobalt_core::store::write_report;

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
    fn of_earlier_runs_only_the_scores_count_against_the_baseline() {
        let report = evaluated(&["vs_baseline.e.drop <= 0.1".parse().unwrap()]);
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
        let prices = cobalt_core::prices::PriceTable::default();
        let [all, none] = [all, none].map(|report| Measurements::from_report(&report, &prices));
        assert_eq!(none.clone().with_pooled_scores(&all), none);
    }

    #[test]
    fn without_thresholds_no_earlier_run_counts() {
        let report = evaluated(&[]);
        assert_eq!((report.pooled.len(), report.baseline.unwrap().evaluators[0].items), (0, 1));
    }

    /// A run of two items, this many minutes after the first.
    pub fn run(id: &str, minute: u32, change: impl FnOnce(&mut Value)) -> Report {
        let item = |index: usize| {
            json!({ "index": index, "key": index.to_string(), "input": {}, "passed": true, "output": { "output": id },
                "latencyMs": 1, "evaluations": { "e": { "score": 1 } } })
        };
        let mut report = json!({
            "schema": 1, "id": id, "name": "help desk", "timestamp": format!("2026-02-05T14:{minute:02}:00.000Z"),
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["e"], "passMarks": [0.5],
                "evaluatorHashes": ["0"] },
            "summary": {}, "passed": true, "dataset": { "source": "d", "items": 2, "hash": "0" }, "sources": "1",
            "git": { "commit": "0".repeat(40), "dirty": false }, "items": [item(0), item(1)],
        });
        change(&mut report);
        serde_json::from_value(report).unwrap()
    }

    /// The IDs of the runs that are pooled with the last one, and the resulting number of trials per item.
    fn found(
        attempts: &[Report],
        settings: &str,
        ci: bool,
        now: &Report,
    ) -> Option<(Vec<String>, Vec<usize>)> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("cobalt.toml"), settings).unwrap();
        let variable = |name: &str| (ci && name == "COBALT_CI").then(|| "1".into());
        let config = Config::load(folder.path(), variable).unwrap();
        attempts.iter().for_each(|attempt| drop(write_report(config.layout(), attempt).unwrap()));
        let pooled = pool_attempts(now, Some("ba5e"), &config)?;
        assert_eq!(pooled.config.runs, pooled.items[0].runs.len());
        Some((pooled.pooled, pooled.items.iter().map(|item| item.runs.len()).collect()))
    }

    #[test]
    fn earlier_runs_of_the_commit_count_in_ci_as_further_runs_of_the_items() {
        let attempts =
            [run("bbb", 20, |_| {}), run("aaa", 10, |_| {}), run("ba5e", 5, |_| {}), run("ccc", 40, |_| {})];
        let now = run("ddd", 30, |run| run["items"].as_array_mut().unwrap().reverse());
        let expected = Some((vec!["aaa".to_owned(), "bbb".to_owned()], vec![3, 3]));
        assert_eq!(found(&attempts, "", true, &now), expected, "earlier attempts, but not the baseline");
        assert_eq!(found(&attempts, "", false, &now), None, "only in CI");
        let only = Some((vec!["bbb".to_owned()], vec![2, 2]));
        assert_eq!(found(&attempts, "[ci]\npool-reruns = \"15m\"", true, &now), only);
        assert_eq!(found(&attempts, "[ci]\npool-reruns = \"off\"", true, &now), None);
        assert_eq!(found(&[run("ddd", 10, |_| {})], "", true, &now), None, "the same run, resumed");
    }

    #[test]
    fn a_run_that_differs_or_has_an_error_does_not_count() {
        type Change = fn(&mut Value);
        let changes: [(&str, Change); 10] = [
            ("another commit", |it| it["git"]["commit"] = json!("1".repeat(40))),
            ("with changes", |it| it["git"]["dirty"] = json!(true)),
            ("no commit", |it| drop(it.as_object_mut().unwrap().remove("git"))),
            ("other sources", |it| it["sources"] = json!("2")),
            ("other data", |it| it["dataset"]["hash"] = json!("1")),
            ("other settings of an evaluator", |it| it["config"]["evaluatorHashes"] = json!(["1"])),
            ("another pass mark", |it| it["config"]["passMarks"] = json!([0.6])),
            ("of some items", |it| it["partial"] = json!(true)),
            ("another item", |it| it["items"][1]["key"] = json!("7")),
            ("an error", |it| it["items"][1]["evaluations"]["e"] = json!({ "error": "no answer" })),
        ];
        let now = run("ddd", 30, |_| {});
        assert!(found(&[run("aaa", 10, |_| {})], "", true, &now).is_some());
        for (what, change) in changes {
            assert_eq!(found(&[run("aaa", 10, change)], "", true, &now), None, "{what}");
        }
        let now = run("ddd", 30, |run| run["git"]["dirty"] = json!(true));
        assert_eq!(found(&[run("aaa", 10, |run| run["git"]["dirty"] = json!(true))], "", true, &now), None);
    }
}
