//! Suites of test cases: one for each experiment, and one for what went wrong beside them.

use cobalt::Report;
use cobalt::report::{GitState, SourcePlace};

use super::cases::cases;
use super::model::{Case, Outcome, Problem, Suite};
use crate::results::{Broken, CutOff, Finished, Results};

/// The suites of what a call came to.
pub(super) fn suites(results: &Results) -> Vec<Suite> {
    let mut suites: Vec<_> = results.experiments.iter().map(finished).collect();
    suites.extend(results.broken.iter().map(broken));
    suites.extend(results.cut_off.iter().map(cut_off));
    let ignored = |(name, variable): &(String, String)| {
        not_run(name, None, Outcome::Skipped(format!("the variable {variable} is not set")))
    };
    suites.extend(results.ignored.iter().map(ignored));
    suites
        .extend(results.skipped.iter().map(|(name, why)| not_run(name, None, Outcome::Skipped(why.clone()))));
    suites.extend(results.still_failed.iter().map(|(name, why)| still_failed(name, why)));
    suites.extend(errors(&results.errors));
    tell_apart(&mut suites);
    suites
}

fn finished(finished: &Finished) -> Suite {
    let report = &finished.report;
    Suite {
        name: report.name.clone(),
        file: report.declared_at.as_ref().map(|place| place.file.clone()),
        timestamp: Some(report.timestamp.to_string()[..19].to_owned()),
        seconds: report.summary.total_duration_ms as f64 / 1000.0,
        properties: properties(report),
        cases: cases(finished),
        ..Suite::default()
    }
}

fn broken(broken: &Broken) -> Suite {
    let outcome = Outcome::Errored(Problem::new("broken", &broken.error));
    not_run(&broken.name, broken.declared_at.as_ref(), outcome)
}

fn cut_off(run: &CutOff) -> Suite {
    let CutOff { name, declared_at, .. } = run;
    let advice = run.advice(|command| format!("`{command}`"));
    let message = format!("the run was stopped before its end; {advice}");
    not_run(name, declared_at.as_ref(), Outcome::Errored(Problem::new("cut-off", &message)))
}

/// The suite of an experiment of which there are no items: a test case with its name.
fn not_run(name: &str, declared_at: Option<&SourcePlace>, outcome: Outcome) -> Suite {
    Suite {
        name: name.to_owned(),
        file: declared_at.map(|place| place.file.clone()),
        cases: vec![Case::new(name.to_owned(), outcome)],
        ..Suite::default()
    }
}

/// The suite of an experiment that earlier results fail.
fn still_failed(name: &str, why: &str) -> Suite {
    let message = format!("still failed by earlier results: {why}");
    not_run(name, None, Outcome::Failed(Problem::new("still-failed", &message)))
}

/// The suite of what went wrong beside the experiments, if anything did.
fn errors(errors: &[String]) -> Option<Suite> {
    let case = |(index, error): (usize, &String)| {
        Case::new(format!("error {}", index + 1), Outcome::Errored(Problem::new("error", error)))
    };
    let cases: Vec<_> = errors.iter().enumerate().map(case).collect();
    (!cases.is_empty()).then(|| Suite { name: "cargo cobalt".to_owned(), cases, ..Suite::default() })
}

/// Gives the test cases of each suite a class of their own: of those that share class and name, some readers show one only.
fn tell_apart(suites: &mut [Suite]) {
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

/// What is known of a run beside its cases.
fn properties(report: &Report) -> Vec<(String, String)> {
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
    if let Some(GitState { commit, dirty }) = &report.git {
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
    add("tokens", summary.total_tokens.map(|tokens| tokens.to_string()));
    add("cost.usd", summary.estimated_cost.map(|cost| cost.to_string()));
    add("judge_cost.usd", summary.judge_cost.map(|cost| cost.to_string()));
    add("baseline", report.baseline.as_ref().map(|baseline| baseline.base.id.clone()));
    properties
}
