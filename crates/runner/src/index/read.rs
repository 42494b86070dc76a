//! Reads the indexed fields of a result file.
//!
//! The items, nearly all of a file, are skipped: the summary has their counts. Two kinds of files need their items: files of the
//! original tool have no counts, and our older files count items below a pass mark as passed if thresholds decide.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::Path;

use cobalt_core::report::{
    CiStatus, DatasetSummary, GitState, Rescored, RunConfig, RunVariant, RunVerdict, SCHEMA_OF_PARTS, Shard,
    Summary, Timestamp,
};
use cobalt_core::store::{ReportReader, file_slug, strip_bom};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::run::{IndexedRun, RunStatus};

/// The content of a file.
#[derive(Debug)]
pub enum FileContent {
    Run(Box<IndexedRun>),
    /// A partial run, which does not measure the agent.
    Partial(Box<IndexedRun>),
    /// Not a result file, with the reason.
    Invalid(String),
    /// Currently unreadable, with the reason.
    Unreadable(io::Error),
    /// Removed since the folder was listed.
    Removed,
}

/// A result file without its items.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ResultHead {
    /// Absent in files of the original.
    schema: Option<u32>,
    rescored: Option<Box<Rescored>>,
    id: String,
    name: String,
    run_name: Option<String>,
    timestamp: Timestamp,
    #[serde(default)]
    tags: Vec<String>,
    variant: Option<RunVariant>,
    config: RunConfig,
    summary: Summary,
    ci_status: Option<CiStatus>,
    #[serde(default)]
    passed: bool,
    /// Absent in files of the original, and in older ones of ours.
    verdict: Option<IgnoredAny>,
    #[serde(default)]
    partial: bool,
    shard: Option<Shard>,
    shard_group: Option<String>,
    dataset: Option<DatasetSummary>,
    git: Option<GitState>,
    #[serde(default)]
    redacted: bool,
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
    #[serde(default)]
    not_applicable: bool,
}

/// Reads a file of the folder.
pub fn read(folder: &Path, file: &str) -> FileContent {
    match fs::read(folder.join(file)) {
        Ok(bytes) => parse(strip_bom(&bytes), file)
            .unwrap_or_else(|error| FileContent::Invalid(format!("not a result file: {error}"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => FileContent::Removed,
        Err(error) => FileContent::Unreadable(error),
    }
}

/// The row of a result file's content, under the file's usual name.
pub fn parse_run(bytes: &[u8]) -> serde_json::Result<IndexedRun> {
    let (FileContent::Run(run) | FileContent::Partial(run)) = parse(bytes, "")? else {
        return Err(serde::de::Error::custom("not a result file"));
    };
    let start = run.timestamp.get(..19).unwrap_or(&run.timestamp).replace(':', "-");
    let file = format!("{start}_{}_{}.json", file_slug(&run.name), run.id);
    Ok(IndexedRun { file, ..*run })
}

fn parse(bytes: &[u8], file: &str) -> serde_json::Result<FileContent> {
    let mut head: ResultHead = serde_json::from_slice(bytes)?;
    if let Some(schema) = head.schema.filter(|schema| *schema > SCHEMA_OF_PARTS) {
        return Ok(FileContent::Invalid(format!(
            "it was written by a newer version of Cobalt (schema {schema}, this one reads up to {SCHEMA_OF_PARTS}); update Cobalt"
        )));
    }
    let content = if head.partial { FileContent::Partial } else { FileContent::Run };
    let errors = match head.schema {
        Some(_) => ErrorCounts { items: head.summary.failed_items, evaluations: head.summary.eval_errors },
        None => ErrorCounts::count(&serde_json::from_slice::<Items>(bytes)?.items),
    };
    if head.verdict.is_none()
        && let Some(counted) = count_items(bytes)
    {
        (head.summary.passed_items, head.summary.low_items) = (counted.passed_items, counted.low_items);
    }
    Ok(content(Box::new(indexed_run(head, &errors, file))))
}

/// The library's counts of the items; `None` if it cannot read them.
fn count_items(bytes: &[u8]) -> Option<Summary> {
    let report = ReportReader::of(bytes).and_then(|text| text.read(|_, _| {}));
    Some(report.ok()?.summary)
}

fn indexed_run(head: ResultHead, errors: &ErrorCounts, file: &str) -> IndexedRun {
    let verdict = RunVerdict::evaluate(&head.config, &head.summary, head.ci_status.as_ref());
    let ResultHead { summary, git, .. } = head;
    let has_passed =
        if head.schema.is_some() { head.passed } else { head.ci_status.is_none_or(|ci| ci.passed) };
    let status = match (errors.items + errors.evaluations + summary.summary_errors.len(), verdict) {
        (1.., _) => RunStatus::Error,
        (0, RunVerdict::NotEvaluated) => RunStatus::NotEvaluated,
        (0, _) if has_passed => RunStatus::Passed,
        (0, _) => RunStatus::Failed,
    };
    let (experiment, variant, variant_group) = match head.variant {
        Some(variant) => (variant.experiment, Some(variant.name), Some(variant.group)),
        None => (head.name.clone(), None, None),
    };
    let git_branch = git.as_ref().and_then(|git| git.branch.clone());
    let (git_commit, git_dirty) = git.map(|git| (git.commit, git.dirty)).unzip();
    let (dataset_hash, dataset_items) =
        head.dataset.map(|dataset| (dataset.hash, to_i64(dataset.items))).unzip();
    let mut metrics: BTreeMap<_, _> =
        summary.metrics.into_iter().map(|(name, stats)| (name, stats.avg)).collect();
    for (name, metric) in summary.run_metrics {
        // Both are kept if they have the same name.
        let name = if metrics.contains_key(&name) { format!("{name} (run)") } else { name };
        metrics.insert(name, metric.value);
    }
    IndexedRun {
        id: head.id,
        name: head.name,
        experiment,
        variant,
        variant_group,
        run_name: head.run_name,
        rescored_from: head.rescored.map(|rescored| rescored.run),
        timestamp: head.timestamp.to_string(),
        tags: head.tags,
        scores: summary.scores.into_iter().map(|(name, stats)| (name, stats.avg)).collect::<BTreeMap<_, _>>(),
        metrics,
        cost: summary.estimated_cost,
        total_items: to_i64(summary.total_items),
        status,
        duration_ms: to_i64(summary.total_duration_ms),
        avg_latency_ms: summary.avg_latency_ms,
        total_tokens: summary.total_tokens.map(to_i64),
        judge_cost: summary.judge_cost,
        user_cost: summary.simulated_users.and_then(|usage| usage.known_cost()),
        passed_items: to_i64(summary.passed_items),
        low_items: to_i64(summary.low_items),
        failed_items: to_i64(errors.items),
        eval_errors: to_i64(errors.evaluations),
        git_commit,
        git_dirty,
        git_branch,
        dataset_hash,
        dataset_items,
        partial: head.partial,
        shard: head.shard.map(|shard| shard.to_string()),
        shard_group: head.shard_group,
        redacted: head.redacted,
        replayed_items: summary.traffic.map_or(0, |traffic| to_i64(traffic.replayed_items)),
        file: file.to_owned(),
    }
}

fn to_i64(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// The error counts of a run.
struct ErrorCounts {
    items: usize,
    evaluations: usize,
}

impl ErrorCounts {
    fn count(items: &[Item]) -> Self {
        let failed = |item: &&Item| item.error.is_some() || item.runs.iter().any(|run| run.error.is_some());
        Self {
            items: items.iter().filter(failed).count(),
            evaluations: items
                .iter()
                .map(|item| {
                    if item.runs.is_empty() {
                        count_without_score(&item.evaluations)
                    } else {
                        item.runs.iter().map(|run| count_without_score(&run.evaluations)).sum()
                    }
                })
                .sum(),
        }
    }
}

/// The number of evaluations without a score: the original writes NaN as null.
fn count_without_score(evaluations: &HashMap<String, Evaluation>) -> usize {
    evaluations.values().filter(|it| it.score.is_none() && !it.not_applicable).count()
}
