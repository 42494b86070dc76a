//! A run without its items, cut to a byte budget.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use cobalt_core::report::{
    CiStatus, DatasetSummary, FieldGroups, Report, Rescored, RunConfig, RunVariant, ScoreStats, Summary,
};
use serde::Serialize;

use super::truncate::{self, LONGEST_SENTENCE, keep_fitting, size};

/// The longest name, in bytes.
pub const LONGEST_NAME: usize = 300;
/// The largest settings of a variant, and the largest list of a re-scored run, in bytes.
const LONGEST_SETTINGS: usize = 1_000;

/// The report without its items in about `room` bytes, and what was left out. `evaluator` is the requested one.
pub fn overview(report: &Report, evaluator: Option<&str>, room: usize) -> (Report, Vec<String>) {
    let (mut head, mut left_out) = (report.without_items(), Vec::new());
    // Only for comparing evaluators, and a copy of the thresholds.
    head.config.evaluator_hashes.clear();
    head.config.written_thresholds.clear();
    shorten_all(&mut head);
    if size(&head) <= room {
        return (head, left_out);
    }
    if head.baseline.take().is_some() {
        left_out.push("baseline: all of the comparison".to_owned());
    }
    let part = room / 8;
    if let Some(status) = &mut head.ci_status {
        thresholds(status, part, &mut left_out);
    }
    scores(&mut head.summary.scores, evaluator, 3 * part, &mut left_out);
    let Summary { metrics, run_metrics, tables, summary_errors, .. } = &mut head.summary;
    keep_fitting_by_name(run_metrics, part / 2, "summary.runMetrics", &mut left_out);
    keep_fitting_by_name(metrics, part / 2, "summary.metrics", &mut left_out);
    keep_fitting_by_name(summary_errors, part / 2, "summary.summaryErrors", &mut left_out);
    keep_fitting_by_name(tables, part / 2, "summary.tables", &mut left_out);
    let fields = head.summary.groups.len();
    for FieldGroups { field, groups, .. } in &mut head.summary.groups {
        keep_fitting(groups, part / 2 / fields, &format!("summary.groups of {field}"), &mut left_out);
    }
    keep_fitting_by_name(&mut head.summary.not_applicable, part / 4, "summary.notApplicable", &mut left_out);
    config(&mut head.config, part, &mut left_out);
    let mut rescored_notes =
        head.rescored.as_mut().map(|rescored| std::mem::take(&mut rescored.notes)).unwrap_or_default();
    for (list, what) in [
        (&mut head.tags, "tags"),
        (&mut head.config.group_by, "config.groupBy"),
        (&mut head.shards, "shards"),
        (&mut head.pooled, "pooled"),
        (&mut rescored_notes, "rescored.notes"),
        (&mut head.summary.judge_models, "summary.judgeModels"),
        (&mut head.summary.unpriced_models, "summary.unpricedModels"),
    ] {
        keep_fitting(list, part / 4, what, &mut left_out);
    }
    if let Some(rescored) = &mut head.rescored {
        rescored.notes = rescored_notes;
    }
    (head, left_out)
}

/// Cuts long names and sentences.
fn shorten_all(head: &mut Report) {
    let Report {
        id,
        name,
        run_name,
        note,
        tags,
        shards,
        pooled,
        declared_at,
        dataset,
        git,
        sources,
        prices_as_of,
        ..
    } = head;
    note.iter_mut().for_each(|note| shorten(note, LONGEST_SENTENCE));
    let names = [id, name]
        .into_iter()
        .chain(run_name)
        .chain(tags)
        .chain(shards)
        .chain(pooled)
        .chain(sources)
        .chain(prices_as_of);
    let names = names.chain(declared_at.as_mut().map(|place| &mut place.file));
    let of_dataset = dataset.iter_mut().flat_map(|DatasetSummary { source, hash, fetched, .. }| {
        [source, hash].into_iter().chain(fetched.as_mut().and_then(|fetch| fetch.version.as_mut()))
    });
    let names = names.chain(of_dataset);
    names.chain(git.as_mut().map(|git| &mut git.commit)).for_each(|name| shorten(name, LONGEST_NAME));
    let (config, summary) = (&mut head.config, &mut head.summary);
    let names = config.evaluators.iter_mut().chain(&mut config.thresholds);
    let names = names.chain(&mut summary.judge_models).chain(&mut summary.unpriced_models);
    names.for_each(|name| shorten(name, LONGEST_NAME));
    for FieldGroups { field, groups, .. } in &mut summary.groups {
        shorten(field, LONGEST_NAME);
        for group in groups {
            shorten(&mut group.value, LONGEST_NAME);
            // The run's file has them.
            group.scores.values_mut().for_each(|score| score.pass_rate_ci95 = None);
        }
    }
    let shortened = |(mut name, mut stats): (String, ScoreStats)| {
        shorten(&mut name, LONGEST_NAME);
        // One number per trial.
        keep_fitting(&mut stats.pass_at_k, LONGEST_NAME, "passAtK", &mut Vec::new());
        keep_fitting(&mut stats.pass_hat_k, LONGEST_NAME, "passHatK", &mut Vec::new());
        (name, stats)
    };
    summary.scores = std::mem::take(&mut summary.scores).into_iter().map(shortened).collect();
    for (mut name, mut error) in std::mem::take(&mut summary.summary_errors) {
        shorten(&mut name, LONGEST_NAME);
        shorten(&mut error, LONGEST_SENTENCE);
        summary.summary_errors.insert(name, error);
    }
    head.ci_status.iter_mut().for_each(shorten_status);
    if let Some(variant) = &mut head.variant {
        let RunVariant { experiment, name, group, settings, .. } = &mut **variant;
        [experiment, name, group].into_iter().for_each(|name| shorten(name, LONGEST_NAME));
        *settings = truncate::value(std::mem::take(settings), LONGEST_SETTINGS);
    }
    if let Some(rescored) = &mut head.rescored {
        let Rescored { run, evaluators, notes, .. } = &mut **rescored;
        shorten(run, LONGEST_NAME);
        evaluators.iter_mut().for_each(|name| shorten(name, LONGEST_NAME));
        keep_fitting(evaluators, LONGEST_SETTINGS, "rescored.evaluators", &mut Vec::new());
        notes.iter_mut().for_each(|note| shorten(note, LONGEST_SENTENCE));
        keep_fitting(notes, LONGEST_SETTINGS, "rescored.notes", &mut Vec::new());
    }
}

fn shorten(text: &mut String, room: usize) {
    *text = truncate::text(text, room);
}

fn shorten_status(status: &mut CiStatus) {
    shorten(&mut status.summary, LONGEST_SENTENCE);
    for violation in status.violations.iter_mut().chain(&mut status.inconclusive) {
        shorten(&mut violation.category, LONGEST_NAME);
        shorten(&mut violation.metric, LONGEST_NAME);
        shorten(&mut violation.message, LONGEST_SENTENCE);
    }
    for outcome in &mut status.thresholds {
        shorten(&mut outcome.name, LONGEST_NAME);
        outcome.figure.iter_mut().for_each(|figure| shorten(figure, LONGEST_NAME));
        shorten(&mut outcome.message, LONGEST_SENTENCE);
    }
    for drift in &mut status.drift {
        shorten(&mut drift.evaluator, LONGEST_NAME);
        shorten(&mut drift.message, LONGEST_SENTENCE);
    }
}

/// Missed thresholds come first.
fn thresholds(status: &mut CiStatus, room: usize, left_out: &mut Vec<String>) {
    status.thresholds.sort_by_key(|outcome| outcome.passed);
    keep_fitting(&mut status.violations, room, "ciStatus.violations", left_out);
    keep_fitting(&mut status.inconclusive, room / 2, "ciStatus.inconclusive", left_out);
    keep_fitting(&mut status.thresholds, room, "ciStatus.thresholds", left_out);
    keep_fitting(&mut status.drift, room / 2, "ciStatus.drift", left_out);
}

/// The requested evaluator comes first, then those with the lowest means.
fn scores(
    scores: &mut BTreeMap<String, ScoreStats>,
    evaluator: Option<&str>,
    room: usize,
    left_out: &mut Vec<String>,
) {
    let mut ranked: Vec<_> = std::mem::take(scores).into_iter().collect();
    ranked.sort_by(|(one, first), (two, second)| {
        let is_other = |name: &str| Some(name) != evaluator;
        is_other(one).cmp(&is_other(two)).then(first.avg.partial_cmp(&second.avg).unwrap_or(Ordering::Equal))
    });
    keep_fitting(&mut ranked, room, "summary.scores", left_out);
    scores.extend(ranked);
}

/// Like [`keep_fitting`], for named values.
fn keep_fitting_by_name<T: Serialize>(
    named: &mut BTreeMap<String, T>,
    room: usize,
    what: &str,
    left_out: &mut Vec<String>,
) {
    let mut all: Vec<_> = std::mem::take(named).into_iter().collect();
    keep_fitting(&mut all, room, what, left_out);
    named.extend(all);
}

fn config(config: &mut RunConfig, room: usize, left_out: &mut Vec<String>) {
    keep_fitting(&mut config.evaluators, room, "config.evaluators", left_out);
    config.pass_marks.truncate(config.evaluators.len());
    keep_fitting(&mut config.thresholds, room / 2, "config.thresholds", left_out);
}
