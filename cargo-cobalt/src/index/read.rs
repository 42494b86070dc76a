//! Reads the indexed fields of a result file.
//!
//! The items, nearly all of a file, are skipped: the summary has their counts. Two kinds of files need their items: files of the
//! original tool have no counts, and our older files count items below a pass mark as passed if thresholds decide.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::Path;

use cobalt_core::report::{CiStatus, DatasetSummary, GitState, RunConfig, RunVerdict, Summary, Timestamp};
use cobalt_core::store::{ReportText, without_mark};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::run::{Run, RunStatus};

/// The content of a file.
#[derive(Debug)]
pub enum Content {
    Run(Box<Run>),
    /// A partial run, which does not measure the agent.
    Partial(Box<Run>),
    /// Not a result file, with the reason.
    Problem(String),
    /// Currently unreadable, with the reason.
    Unreadable(io::Error),
    /// Removed since the folder was listed.
    Gone,
}

/// A result file without its items.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    /// Absent in files of the original.
    schema: Option<u32>,
    id: String,
    name: String,
    timestamp: Timestamp,
    #[serde(default)]
    tags: Vec<String>,
    config: RunConfig,
    summary: Summary,
    ci_status: Option<CiStatus>,
    #[serde(default)]
    passed: bool,
    /// Absent in files of the original, and in older ones of ours.
    verdict: Option<IgnoredAny>,
    #[serde(default)]
    partial: bool,
    dataset: Option<DatasetSummary>,
    git: Option<GitState>,
}

/// The items of a file of the original.
#[derive(Deserialize)]
struct Items {
    #[serde(default)]
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    error: Option<IgnoredAny>,
    #[serde(default)]
    evaluations: HashMap<String, Evaluation>,
    /// If there are any, the item's own fields only repeat them.
    #[serde(default)]
    runs: Vec<Execution>,
}

#[derive(Deserialize)]
struct Execution {
    error: Option<IgnoredAny>,
    #[serde(default)]
    evaluations: HashMap<String, Evaluation>,
}

#[derive(Deserialize)]
struct Evaluation {
    score: Option<f64>,
}

/// Reads a file of the folder.
pub fn read(folder: &Path, file: &str) -> Content {
    match fs::read(folder.join(file)) {
        Ok(bytes) => parse(without_mark(&bytes), file)
            .unwrap_or_else(|error| Content::Problem(format!("not a result file: {error}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Content::Gone,
        Err(error) => Content::Unreadable(error),
    }
}

fn parse(bytes: &[u8], file: &str) -> serde_json::Result<Content> {
    let mut head: Head = serde_json::from_slice(bytes)?;
    let content = if head.partial { Content::Partial } else { Content::Run };
    let errors = match head.schema {
        Some(_) => Errors { items: head.summary.failed_items, evaluations: head.summary.eval_errors },
        None => Errors::among(&serde_json::from_slice::<Items>(bytes)?.items),
    };
    if head.verdict.is_none()
        && let Some(counted) = counted(bytes)
    {
        (head.summary.passed_items, head.summary.low_items) = (counted.passed_items, counted.low_items);
    }
    Ok(content(Box::new(run(head, &errors, file))))
}

/// The library's counts of the items; `None` if it cannot read them.
fn counted(bytes: &[u8]) -> Option<Summary> {
    let report = ReportText::of(bytes).and_then(|text| text.read(|_, _| {}));
    Some(report.ok()?.summary)
}

fn run(head: Head, errors: &Errors, file: &str) -> Run {
    let verdict = RunVerdict::of(&head.config, &head.summary, head.ci_status.as_ref());
    let Head { summary, git, .. } = head;
    let has_passed =
        if head.schema.is_some() { head.passed } else { head.ci_status.is_none_or(|ci| ci.passed) };
    let status = match (errors.items + errors.evaluations, verdict) {
        (1.., _) => RunStatus::Error,
        (0, RunVerdict::NotEvaluated) => RunStatus::NotEvaluated,
        (0, _) if has_passed => RunStatus::Passed,
        (0, _) => RunStatus::Failed,
    };
    let (git_commit, git_dirty) = git.map(|git| (git.commit, git.dirty)).unzip();
    Run {
        id: head.id,
        name: head.name,
        timestamp: head.timestamp.to_string(),
        tags: head.tags,
        scores: summary.scores.into_iter().map(|(name, stats)| (name, stats.avg)).collect::<BTreeMap<_, _>>(),
        cost: summary.estimated_cost,
        total_items: integer(summary.total_items),
        status,
        duration_ms: integer(summary.total_duration_ms),
        avg_latency_ms: summary.avg_latency_ms,
        total_tokens: summary.total_tokens.map(integer),
        judge_cost: summary.judge_cost,
        passed_items: integer(summary.passed_items),
        low_items: integer(summary.low_items),
        failed_items: integer(errors.items),
        eval_errors: integer(errors.evaluations),
        git_commit,
        git_dirty,
        dataset_hash: head.dataset.map(|dataset| dataset.hash),
        file: file.to_owned(),
    }
}

fn integer(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// The error counts of a run.
struct Errors {
    items: usize,
    evaluations: usize,
}

impl Errors {
    fn among(items: &[Item]) -> Self {
        let failed = |item: &&Item| item.error.is_some() || item.runs.iter().any(|run| run.error.is_some());
        Self {
            items: items.iter().filter(failed).count(),
            evaluations: items
                .iter()
                .map(|item| {
                    if item.runs.is_empty() {
                        without_score(&item.evaluations)
                    } else {
                        item.runs.iter().map(|run| without_score(&run.evaluations)).sum()
                    }
                })
                .sum(),
        }
    }
}

/// The number of evaluations without a score: the original writes NaN as null.
fn without_score(evaluations: &HashMap<String, Evaluation>) -> usize {
    evaluations.values().filter(|evaluation| evaluation.score.is_none()).count()
}
