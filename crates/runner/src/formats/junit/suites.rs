//! The content of a JUnit file: a test suite per experiment with its items and thresholds, and one for other errors.

use cobalt_core::prices::JudgeUsage;
use cobalt_core::report::comparison::ThresholdStatus;
use cobalt_core::report::{
    GitState, ItemResult, Report, RunVerdict, SourceLocation, Status, ThresholdOutcome, Violation,
};
use cobalt_core::reporters::{explain, format_score};

use crate::results::{BrokenExperiment, FinishedExperiment, InterruptedRun, Results};

/// A test suite: an experiment, or errors outside of experiments.
#[derive(Debug, Default)]
pub struct Suite {
    pub name: String,
    /// The class of its test cases: the name, made unique among the suites.
    pub class: String,
    /// The file that the experiment is declared in.
    pub file: Option<String>,
    /// The start in UTC, as `2026-02-05T14:30:00`: some readers reject a time zone.
    pub timestamp: Option<String>,
    /// The duration in seconds.
    pub seconds: f64,
    /// Further metadata.
    pub properties: Vec<(String, String)>,
    pub cases: Vec<Case>,
}

/// A test case.
#[derive(Debug)]
pub struct Case {
    /// The name under `cargo test`.
    pub name: String,
    /// The duration in seconds.
    pub seconds: f64,
    pub outcome: Outcome,
    /// Details of a case that passed.
    pub output: Option<String>,
}

/// The outcome of a test case.
#[derive(Debug)]
pub enum Outcome {
    Passed,
    /// Not run or not evaluated, with the reason.
    Skipped(String),
    /// Measured, but not good enough.
    Failed(Problem),
    /// Could not be measured.
    Errored(Problem),
}

/// Why a test case did not pass.
#[derive(Debug)]
pub struct Problem {
    /// The kind of problem, in one word.
    pub kind: &'static str,
    /// The problem in one line.
    pub message: String,
    /// The full text.
    pub text: String,
}

impl Case {
    pub fn new(name: String, outcome: Outcome) -> Self {
        Self { name, seconds: 0.0, outcome, output: None }
    }
}

impl Problem {
    /// A problem whose message is all there is to say.
    pub fn new(kind: &'static str, message: &str) -> Self {
        Self { kind, message: message.to_owned(), text: message.to_owned() }
    }
}

/// The number of test cases of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub tests: usize,
    pub failures: usize,
    pub errors: usize,
    pub skipped: usize,
}

impl Counts {
    pub fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Self {
        let mut counts = Self::default();
        for case in cases {
            counts.tests += 1;
            match case.outcome {
                Outcome::Passed => {}
                Outcome::Skipped(_) => counts.skipped += 1,
                Outcome::Failed(_) => counts.failures += 1,
                Outcome::Errored(_) => counts.errors += 1,
            }
        }
        counts
    }
}

/// The suites of the results of an invocation.
pub fn suites(results: &Results) -> Vec<Suite> {
    let mut suites: Vec<_> = results.experiments.iter().map(finished_suite).collect();
    suites.extend(results.broken.iter().map(broken_suite));
    suites.extend(results.interrupted.iter().map(interrupted_suite));
    let ignored = |(name, variable): &(String, String)| {
        single_case_suite(name, None, Outcome::Skipped(format!("the variable {variable} is not set")))
    };
    suites.extend(results.ignored.iter().map(ignored));
    suites.extend(
        results
            .skipped
            .iter()
            .map(|(name, why)| single_case_suite(name, None, Outcome::Skipped(why.clone()))),
    );
    suites.extend(results.still_failed.iter().map(|(name, why)| still_failed_suite(name, why)));
    suites.extend(errors_suite(&results.errors));
    make_classes_unique(&mut suites);
    suites
}

fn finished_suite(finished: &FinishedExperiment) -> Suite {
    let report = &finished.report;
    Suite {
        name: report.name.clone(),
        file: report.declared_at.as_ref().map(|place| place.file.clone()),
        timestamp: Some(report.timestamp.to_string()[..19].to_owned()),
        seconds: report.summary.total_duration_ms as f64 / 1000.0,
        properties: run_properties(report),
        cases: cases(finished),
        ..Suite::default()
    }
}

fn broken_suite(broken: &BrokenExperiment) -> Suite {
    let outcome = Outcome::Errored(Problem::new("broken", &broken.error));
    single_case_suite(&broken.name, broken.declared_at.as_ref(), outcome)
}

fn interrupted_suite(run: &InterruptedRun) -> Suite {
    let InterruptedRun { name, declared_at, .. } = run;
    let advice = run.resume_advice(|command| format!("`{command}`"));
    let message = format!("the run was interrupted; {advice}");
    single_case_suite(name, declared_at.as_ref(), Outcome::Errored(Problem::new("cut-off", &message)))
}

/// The suite of an experiment without item results: one test case with its name.
fn single_case_suite(name: &str, declared_at: Option<&SourceLocation>, outcome: Outcome) -> Suite {
    Suite {
        name: name.to_owned(),
        file: declared_at.map(|place| place.file.clone()),
        cases: vec![Case::new(name.to_owned(), outcome)],
        ..Suite::default()
    }
}

/// The suite of an experiment that still fails because of earlier results.
fn still_failed_suite(name: &str, why: &str) -> Suite {
    let message = format!("still failing because of earlier results: {why}");
    single_case_suite(name, None, Outcome::Failed(Problem::new("still-failed", &message)))
}

/// The suite of errors outside of experiments, if there are any.
fn errors_suite(errors: &[String]) -> Option<Suite> {
    let case = |(index, error): (usize, &String)| {
        Case::new(format!("error {}", index + 1), Outcome::Errored(Problem::new("error", error)))
    };
    let cases: Vec<_> = errors.iter().enumerate().map(case).collect();
    (!cases.is_empty()).then(|| Suite { name: "cargo cobalt".to_owned(), cases, ..Suite::default() })
}

/// Gives each suite a unique class: some readers show only one of several test cases with the same class and name.
fn make_classes_unique(suites: &mut [Suite]) {
    for index in 0..suites.len() {
        let (before, rest) = suites.split_at_mut(index);
        let Some(suite) = rest.first_mut() else { continue };
        let same = before.iter().filter(|other| other.name == suite.name).count();
        suite.class = match same {
            0 => suite.name.clone(),
            _ => format!("{} ({})", suite.name, same + 1),
        };
    }
}

/// The metadata of a run.
fn run_properties(report: &Report) -> Vec<(String, String)> {
    let summary = &report.summary;
    let mut properties = vec![("run".to_owned(), report.id.clone())];
    let mut add = |name: &str, value: Option<String>| {
        properties.extend(value.map(|value| (name.to_owned(), value)));
    };
    add("tags", (!report.tags.is_empty()).then(|| report.tags.join(", ")));
    add("partial", report.partial.then(|| "true".to_owned()));
    add("verdict", Some(report.verdict.to_string()));
    add("items.at_pass_marks", Some(summary.passed_items.to_string()));
    add("items.below_pass_mark", Some(summary.low_items.to_string()));
    if summary.retried_items > 0 {
        add("items.retried", Some(summary.retried_items.to_string()));
        add("items.passed_after_retry", Some(summary.passed_after_retry.to_string()));
        add("attempts.retried", Some(summary.retried_executions.to_string()));
    }
    if let Some(GitState { commit, dirty, .. }) = &report.git {
        add("commit", Some(commit.clone()));
        add("dirty", Some(dirty.to_string()));
    }
    if let Some(dataset) = &report.dataset {
        add("dataset", Some(dataset.source.clone()));
        add("dataset.hash", Some(dataset.hash.clone()));
        add("dataset.fetched", dataset.fetched.as_ref().map(|fetch| fetch.at.to_string()));
    }
    add("runs", (report.config.runs > 1).then(|| report.config.runs.to_string()));
    for (name, stats) in &summary.scores {
        add(&format!("score.{name}.avg"), Some(stats.avg.to_string()));
        add(&format!("score.{name}.pass_rate"), stats.pass_rate.map(|rate| rate.to_string()));
    }
    for (name, stats) in &summary.metrics {
        add(&format!("metric.{name}.avg"), Some(stats.avg.to_string()));
        add(&format!("metric.{name}.total"), Some(stats.total.to_string()));
    }
    for (name, metric) in &summary.run_metrics {
        add(&format!("run_metric.{name}"), Some(metric.value.to_string()));
    }
    add("tokens", summary.total_tokens.map(|tokens| tokens.to_string()));
    add("cost.usd", summary.estimated_cost.map(|cost| cost.to_string()));
    add("judge_cost.usd", summary.judge_cost.map(|cost| cost.to_string()));
    let users = summary.simulated_users.as_deref();
    add("user_cost.usd", users.and_then(JudgeUsage::known_cost).map(|cost| cost.to_string()));
    if let Some(traffic) = &summary.traffic {
        add("items.replayed", Some(traffic.replayed_items.to_string()));
        add("items.live", Some(traffic.live_items.to_string()));
        add("items.diverged", Some(traffic.diverged_items.to_string()));
        add("recorded", traffic.recorded_at.map(|at| at.to_string()));
        add("requests.replayed", Some(traffic.replayed.to_string()));
        add("requests.live", Some(traffic.live.to_string()));
        add("requests.unattributed", Some(traffic.unattributed.to_string()));
        add("live_cost.usd", (traffic.live_cost > 0.0).then(|| traffic.live_cost.to_string()));
    }
    add("baseline", report.baseline.as_ref().map(|baseline| baseline.base.id.clone()));
    properties
}

/// A test case for each item in order, then one for each failed summary function and each threshold.
pub fn cases(finished: &FinishedExperiment) -> Vec<Case> {
    let report = &finished.report;
    let items = finished.items.shown().iter().map(|named| item_case(report, &named.item, &named.case));
    let missing = finished.without_items.as_ref().map(|why| missing_items_case(report, why));
    let summaries =
        report.summary.summary_errors.iter().map(|(name, error)| summary_case(report, name, error));
    let left_out = finished.left_out_note().map(|note| left_out_case(report, note));
    let mut cases: Vec<_> =
        items.chain(missing).chain(left_out).chain(summaries).chain(threshold_cases(report)).collect();
    cases.extend(unexplained_failure(report, &cases));
    cases
}

/// A case for a failed run none of whose cases failed.
fn unexplained_failure(report: &Report, cases: &[Case]) -> Option<Case> {
    let is_told = cases.iter().any(|case| matches!(case.outcome, Outcome::Failed(_) | Outcome::Errored(_)));
    let is_unexplained = report.verdict == RunVerdict::Failed && !is_told;
    let outcome = || Outcome::Failed(Problem::new("failed", "the run failed; its file does not say why"));
    is_unexplained.then(|| Case::new(report.name.clone(), outcome()))
}

fn item_case(report: &Report, item: &ItemResult, name: &str) -> Case {
    let told = explain(item, &report.name, &report.config);
    let problem = |kind, message| Problem { kind, message, text: with_location(report, &told) };
    let (outcome, output) = match report.config.fails(item) {
        false => (Outcome::Passed, Some(told)),
        true if item.is_in_error() => {
            let (kind, message) = item_error(item);
            (Outcome::Errored(problem(kind, message)), None)
        }
        true => (Outcome::Failed(problem("low-score", low_scores_message(report, item))), None),
    };
    let milliseconds: f64 = item.runs.iter().map(|run| run.latency_ms).sum();
    Case { seconds: milliseconds / 1000.0, output, ..Case::new(format!("{}::{name}", report.name), outcome) }
}

/// The kind of an item's error, and its first error.
fn item_error(item: &ItemResult) -> (&'static str, String) {
    let kind = match item.status() {
        Status::Ok => "evaluation-error",
        Status::Timeout => "timeout",
        Status::Error => "agent-error",
    };
    let first = || {
        let mut evaluations = item.runs.iter().flat_map(|run| run.evaluations.iter());
        let (name, evaluation) = evaluations.find(|(_, evaluation)| evaluation.is_error())?;
        let error = evaluation.error.as_deref().unwrap_or("no reason given");
        Some(format!("{name} gave no score: {error}"))
    };
    (kind, item.error().map(str::to_owned).or_else(first).unwrap_or_default())
}

/// The scores below their pass marks, in one line.
fn low_scores_message(report: &Report, item: &ItemResult) -> String {
    let low = report.config.scores_below_pass_mark(item).map(|(name, score)| {
        let mark = report.config.evaluators().find(|(known, _)| *known == name).map(|(_, mark)| mark);
        format!(
            "{name} {}, below the pass mark of {}",
            format_score(score),
            mark.map_or_else(String::new, format_score)
        )
    });
    low.collect::<Vec<_>>().join("; ")
}

/// Appends the location of the experiment, where some readers look for it.
fn with_location(report: &Report, text: &str) -> String {
    match &report.declared_at {
        Some(SourceLocation { file, line }) => format!("{text}\n  declared at {file}:{line}"),
        None => text.to_owned(),
    }
}

/// A case in place of the items, if their results are unavailable.
fn missing_items_case(report: &Report, why: &str) -> Case {
    let message = format!("item results are unavailable: {why}");
    Case::new(format!("{}::items", report.name), Outcome::Errored(Problem::new("no-results", &message)))
}

/// A case for the items of a large run that have no case.
fn left_out_case(report: &Report, note: String) -> Case {
    Case::new(format!("{}::other-items", report.name), Outcome::Skipped(note))
}

/// The case of a summary function that failed, named as under `cargo test`.
fn summary_case(report: &Report, name: &str, error: &str) -> Case {
    let name = name.replace(char::is_whitespace, "-");
    let problem =
        Problem { kind: "summary-error", message: error.to_owned(), text: with_location(report, error) };
    Case::new(format!("{}::summaries::{name}", report.name), Outcome::Errored(problem))
}

fn threshold_cases(report: &Report) -> Vec<Case> {
    let thresholds = report.thresholds();
    match &report.ci_status {
        // The original stores only missed thresholds.
        Some(status) if thresholds.is_empty() => {
            status.violations.iter().map(|violation| violation_case(report, violation)).collect()
        }
        None => report.config.thresholds.iter().map(|name| not_evaluated_case(report, name)).collect(),
        _ => thresholds.iter().map(|threshold| threshold_case(report, threshold)).collect(),
    }
}

/// A threshold of a partial run.
fn not_evaluated_case(report: &Report, threshold: &str) -> Case {
    let why = "not evaluated: only some of the items were run".to_owned();
    Case::new(threshold_name(report, threshold), Outcome::Skipped(why))
}

fn threshold_case(report: &Report, threshold: &ThresholdOutcome) -> Case {
    let message = || threshold.message.clone();
    let problem =
        |kind| Problem { kind, message: message(), text: with_location(report, &threshold.message) };
    let outcome = match (threshold.passed, threshold.finding) {
        (true, ThresholdStatus::Inconclusive) => {
            Outcome::Skipped(format!("inconclusive: {}", threshold.message))
        }
        (true, _) => Outcome::Passed,
        (false, ThresholdStatus::Inconclusive) => Outcome::Failed(problem("inconclusive")),
        (false, _) => Outcome::Failed(problem("threshold")),
    };
    let output = matches!(outcome, Outcome::Passed).then(message);
    Case { output, ..Case::new(threshold_name(report, &threshold.name), outcome) }
}

fn violation_case(report: &Report, violation: &Violation) -> Case {
    let Violation { category, metric, message, .. } = violation;
    let name = threshold_name(report, &format!("{category}.{metric}"));
    Case::new(name, Outcome::Failed(Problem::new("threshold", message)))
}

fn threshold_name(report: &Report, threshold: &str) -> String {
    format!("{}::thresholds::{threshold}", report.name)
}
