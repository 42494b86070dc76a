//! What a webhook is told: what a run came to, without what went into the agents and what came out of them.

use std::collections::BTreeMap;

use cobalt::Report;
use cobalt::report::comparison::{Difference, Finding};
use cobalt::report::{GitState, ItemResult, RunVerdict, Timestamp};
use serde::Serialize;

use super::ci::Ci;
use crate::compare::regressions;
use crate::results::{Finished, Results};

/// The version of the body's shape: fields are added to it, never renamed.
const SCHEMA: u32 = 1;
/// What the body tells of.
pub(super) const EVENT: &str = "run.finished";
/// The most items named of those with low scores, and of those in error.
const MOST_NAMED: usize = 8;

/// The body of a request.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Body<'a> {
    schema: u32,
    event: &'static str,
    /// Differs with every body; the same where one is sent again.
    pub(super) delivery: String,
    pub(super) timestamp: Timestamp,
    /// The verdicts in a sentence, for a person.
    text: String,
    passed: bool,
    verdict: RunVerdict,
    experiments: Vec<Experiment<'a>>,
    broken: Vec<&'a str>,
    cut_off: Vec<Stopped<'a>>,
    ignored: Vec<&'a str>,
    skipped: Vec<&'a str>,
    still_failed: Vec<&'a str>,
    /// How much went wrong beside: their texts may hold anything.
    errors: usize,
    git: Option<&'a GitState>,
    ci: Option<&'a Ci>,
}

/// What an experiment came to.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Experiment<'a> {
    report: Report,
    regressed: bool,
    regressions: Vec<&'a Difference>,
    /// Whether the items are known, of which the following tell.
    items_known: bool,
    low_items: usize,
    low: Vec<Low>,
    items_in_error: usize,
    failed: Vec<String>,
}

/// An item with scores below their pass marks.
#[derive(Debug, Serialize)]
struct Low {
    item: String,
    scores: BTreeMap<String, f64>,
}

/// A run that was stopped before its end.
#[derive(Debug, Serialize)]
struct Stopped<'a> {
    name: &'a str,
    id: &'a str,
}

impl<'a> Body<'a> {
    pub(super) fn of(results: &'a Results, ci: Option<&'a Ci>) -> Self {
        let names = |list: &'a [(String, String)]| list.iter().map(|(name, _)| &**name).collect();
        let reports = || results.experiments.iter().map(|finished| &finished.report);
        Self {
            schema: SCHEMA,
            event: EVENT,
            delivery: format!("{:032x}", fastrand::u128(..)),
            timestamp: Timestamp::now(),
            text: text(results),
            passed: results.verdict() == RunVerdict::Passed,
            verdict: results.verdict(),
            experiments: results.experiments.iter().map(Experiment::of).collect(),
            broken: results.broken.iter().map(|broken| &*broken.name).collect(),
            cut_off: results.cut_off.iter().map(|run| Stopped { name: &run.name, id: &run.id }).collect(),
            ignored: names(&results.ignored),
            skipped: names(&results.skipped),
            still_failed: names(&results.still_failed),
            errors: results.errors.len(),
            git: reports().find_map(|report| report.git.as_ref()),
            ci,
        }
    }
}

impl<'a> Experiment<'a> {
    fn of(finished: &'a Finished) -> Self {
        let report = &finished.report;
        let names = report.case_names();
        let items = || report.items.iter().zip(&names);
        let failed: Vec<_> =
            items().filter(|(item, _)| item.is_in_error()).map(|(_, name)| name.clone()).collect();
        let mut low: Vec<_> = items().filter_map(|(item, name)| low(report, item, name)).collect();
        let lowest = |low: &Low| low.scores.values().copied().fold(f64::INFINITY, f64::min);
        low.sort_by(|one, other| lowest(one).total_cmp(&lowest(other)));
        Self {
            report: report.without_items(),
            regressed: is_worse(report),
            regressions: worse(report).collect(),
            items_known: finished.without_items.is_none(),
            low_items: low.len(),
            low: low.into_iter().take(MOST_NAMED).collect(),
            items_in_error: failed.len(),
            failed: failed.into_iter().take(MOST_NAMED).collect(),
        }
    }
}

/// The evaluators, and the errors, of which the run has worse ones than its baseline, beyond noise.
fn worse(report: &Report) -> impl Iterator<Item = &Difference> {
    report.baseline.as_deref().into_iter().flat_map(regressions)
}

/// Whether the run is worse than its baseline, beyond noise, or misses a threshold against it.
pub(super) fn is_worse(report: &Report) -> bool {
    let missed = |threshold: &cobalt::report::ThresholdOutcome| {
        threshold.against_baseline && threshold.finding == Finding::Missed
    };
    worse(report).next().is_some() || report.thresholds().iter().any(missed)
}

fn low(report: &Report, item: &ItemResult, name: &str) -> Option<Low> {
    let scores = report.config.low_scores(item).map(|(name, score)| (name.to_owned(), score));
    let scores: BTreeMap<_, _> = scores.collect();
    (!scores.is_empty()).then(|| Low { item: name.to_owned(), scores })
}

/// Which experiments failed, and which passed.
fn text(results: &Results) -> String {
    let of = |wanted: RunVerdict| {
        results.with_verdict(move |verdict| verdict == wanted).map(|finished| &*finished.report.name)
    };
    let broken = results.broken.iter().map(|broken| &*broken.name);
    let still_failed: Vec<_> = results.still_failed.iter().map(|(name, _)| &**name).collect();
    let failed = of(RunVerdict::Failed).filter(|name| !still_failed.contains(name)).chain(broken);
    let mut parts = vec![
        ("FAILED", failed.collect::<Vec<_>>()),
        ("still FAILED by earlier results", still_failed.clone()),
        ("stopped", results.cut_off.iter().map(|run| &*run.name).collect()),
        ("passed", of(RunVerdict::Passed).collect()),
        ("not evaluated", of(RunVerdict::NotEvaluated).collect()),
        ("nothing to run", results.skipped.iter().map(|(name, _)| &**name).collect()),
        ("ignored", results.ignored.iter().map(|(name, _)| &**name).collect()),
    ];
    parts.retain(|(_, names)| !names.is_empty());
    let mut parts: Vec<_> =
        parts.into_iter().map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
    if !results.errors.is_empty() {
        parts.push(format!("errors beside: {}", results.errors.len()));
    }
    parts.join("; ")
}
