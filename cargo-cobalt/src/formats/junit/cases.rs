//! Test cases of an experiment: its items and its thresholds.

use cobalt::Report;
use cobalt::report::comparison::Finding;
use cobalt::report::{ItemResult, RunVerdict, SourcePlace, Status, ThresholdOutcome, Violation};
use cobalt::reporters::{explain, figure};

use super::model::{Case, Outcome, Problem};
use crate::results::Finished;

/// A test case for each item, in their order, then one for each threshold.
pub(super) fn cases(finished: &Finished) -> Vec<Case> {
    let report = &finished.report;
    let names = report.case_names();
    let items = report.items.iter().zip(&names).map(|(item, name)| item_case(report, item, name));
    let missing = finished.without_items.as_ref().map(|why| without_items(report, why));
    let mut cases: Vec<_> = items.chain(missing).chain(threshold_cases(report)).collect();
    cases.extend(unexplained(report, &cases));
    cases
}

/// What stands for a run that did not pass though none of its cases says so.
fn unexplained(report: &Report, cases: &[Case]) -> Option<Case> {
    let is_told = cases.iter().any(|case| matches!(case.outcome, Outcome::Failed(_) | Outcome::Errored(_)));
    let is_unexplained = report.verdict == RunVerdict::Failed && !is_told;
    let outcome =
        || Outcome::Failed(Problem::new("failed", "the run did not pass; its file does not say why"));
    is_unexplained.then(|| Case::new(report.name.clone(), outcome()))
}

fn item_case(report: &Report, item: &ItemResult, name: &str) -> Case {
    let told = explain(item, &report.name, &report.config);
    let problem = |kind, message| Problem { kind, message, text: placed(report, &told) };
    let (outcome, output) = match report.config.fails(item) {
        false => (Outcome::Passed, Some(told)),
        true if item.is_in_error() => {
            let (kind, message) = error(item);
            (Outcome::Errored(problem(kind, message)), None)
        }
        true => (Outcome::Failed(problem("low-score", low(report, item))), None),
    };
    let milliseconds: f64 = item.runs.iter().map(|run| run.latency_ms).sum();
    Case { seconds: milliseconds / 1000.0, output, ..Case::new(format!("{}::{name}", report.name), outcome) }
}

/// What kind of error an item has, and the first of them.
fn error(item: &ItemResult) -> (&'static str, String) {
    let kind = match item.status() {
        Status::Ok => "evaluation-error",
        Status::Timeout => "timeout",
        Status::Error => "agent-error",
    };
    let first = || {
        let mut evaluations = item.runs.iter().flat_map(|run| run.evaluations.iter());
        let (name, evaluation) = evaluations.find(|(_, evaluation)| evaluation.score.is_none())?;
        let error = evaluation.error.as_deref().unwrap_or("no reason is known");
        Some(format!("{name} gave no score: {error}"))
    };
    (kind, item.error().map(str::to_owned).or_else(first).unwrap_or_default())
}

/// Which scores are too low, in a line.
fn low(report: &Report, item: &ItemResult) -> String {
    let low = report.config.low_scores(item).map(|(name, score)| {
        let mark = report.config.evaluators().find(|(known, _)| *known == name).map(|(_, mark)| mark);
        format!("{name} {}, below the pass mark of {}", figure(score), mark.map_or_else(String::new, figure))
    });
    low.collect::<Vec<_>>().join("; ")
}

/// A text with the place that it is about, where some readers look for it.
fn placed(report: &Report, text: &str) -> String {
    match &report.declared_at {
        Some(SourcePlace { file, line }) => format!("{text}\n  declared at {file}:{line}"),
        None => text.to_owned(),
    }
}

/// What stands for the items where they are not known.
fn without_items(report: &Report, why: &str) -> Case {
    let message = format!("the results of the items are not known: {why}");
    Case::new(format!("{}::items", report.name), Outcome::Errored(Problem::new("no-results", &message)))
}

fn threshold_cases(report: &Report) -> Vec<Case> {
    let thresholds = report.thresholds();
    match &report.ci_status {
        // The original keeps only those that were missed.
        Some(status) if thresholds.is_empty() => {
            status.violations.iter().map(|violation| violation_case(report, violation)).collect()
        }
        None => report.config.thresholds.iter().map(|name| not_evaluated(report, name)).collect(),
        _ => thresholds.iter().map(|threshold| threshold_case(report, threshold)).collect(),
    }
}

/// A threshold of a run of some of the items.
fn not_evaluated(report: &Report, threshold: &str) -> Case {
    let why = "not evaluated: only some of the items were run".to_owned();
    Case::new(threshold_name(report, threshold), Outcome::Skipped(why))
}

fn threshold_case(report: &Report, threshold: &ThresholdOutcome) -> Case {
    let message = || threshold.message.clone();
    let problem = |kind| Problem { kind, message: message(), text: placed(report, &threshold.message) };
    let outcome = match (threshold.passed, threshold.finding) {
        (true, Finding::Inconclusive) => Outcome::Skipped(format!("inconclusive: {}", threshold.message)),
        (true, _) => Outcome::Passed,
        (false, Finding::Inconclusive) => Outcome::Failed(problem("inconclusive")),
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
