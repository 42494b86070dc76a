//! A run in the list of them.

use std::collections::BTreeMap;

use cobalt::reporters::rounded;
use schemars::JsonSchema;
use serde::Serialize;

use super::NAME;
use crate::index::RunStatus;
use crate::markdown::{cell, code};
use crate::mcp::past::PastRun;
use crate::mcp::shown::{cut, keep};
use crate::mcp::tools::Status;
use crate::runs::short;

/// The most bytes of a run's scores and of its tags.
const SCORES: usize = 2_000;
const TAGS: usize = 500;
/// How many scores are told of.
const MOST_TOLD: usize = 5;

/// A run as the list has it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunRow {
    id: String,
    experiment: String,
    /// The start, ISO 8601 in UTC.
    timestamp: String,
    /// Runs of some of the items are `partial`, whatever came of them.
    verdict: Status,
    /// Each evaluator's mean.
    scores: BTreeMap<String, f64>,
    /// How many evaluators had no room, those of the highest means.
    #[serde(skip_serializing_if = "Option::is_none")]
    scores_left_out: Option<usize>,
    total_items: i64,
    /// Items at or above every pass mark in every trial, without an error.
    passed_items: i64,
    /// All others: those below a pass mark, and those in error.
    failed_items: i64,
    /// Items below a pass mark in some trial, without an error.
    items_below_pass_mark: i64,
    /// Items whose agent failed or took too long, or of which an evaluator gave no score.
    items_in_error: i64,
    /// Evaluations without a score.
    eval_errors: i64,
    /// The mean time that the agent took, in milliseconds.
    avg_latency_ms: f64,
    /// The agent's, in USD; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    /// The judges', in USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge_cost: Option<f64>,
    /// The commit that was checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_commit: Option<String>,
    /// Whether tracked files differed from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_dirty: Option<bool>,
    tags: Vec<String>,
}

impl RunRow {
    pub(super) fn of(past: &PastRun<'_>) -> Self {
        let run = past.run;
        let mut scores: Vec<_> =
            run.scores.iter().map(|(name, score)| (cut::text(name, NAME), *score)).collect();
        scores.sort_by(|(_, one), (_, two)| one.total_cmp(two));
        keep(&mut scores, SCORES, "scores", &mut Vec::new());
        let missing = run.scores.len() - scores.len();
        let mut tags: Vec<_> = run.tags.iter().map(|tag| cut::text(tag, NAME)).collect();
        keep(&mut tags, TAGS, "tags", &mut Vec::new());
        let failed_items = run.total_items.saturating_sub(run.passed_items);
        Self {
            id: run.id.clone(),
            experiment: cut::text(&run.name, NAME),
            timestamp: run.timestamp.clone(),
            verdict: verdict(past),
            scores: scores.into_iter().collect(),
            scores_left_out: (missing > 0).then_some(missing),
            total_items: run.total_items,
            passed_items: run.passed_items,
            failed_items,
            items_below_pass_mark: run.low_items,
            items_in_error: failed_items.saturating_sub(run.low_items),
            eval_errors: run.eval_errors,
            avg_latency_ms: run.avg_latency_ms,
            cost: run.cost,
            judge_cost: run.judge_cost,
            git_commit: run.git_commit.as_ref().map(|commit| cut::text(commit, NAME)),
            git_dirty: run.git_dirty,
            tags,
        }
    }

    /// A row of a table in Markdown.
    pub(super) fn line(&self) -> String {
        let short_code = |text: &str| cell(&code(&cut::text(text, NAME / 5)));
        let verdict = match self.verdict {
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::Error | Status::Low => "in error",
            Status::Partial => "partial",
        };
        let scores = self
            .scores
            .iter()
            .take(MOST_TOLD)
            .map(|(name, score)| format!("{} {}", short_code(name), rounded(*score, 1.0)));
        let commit = self.git_commit.as_deref().map_or(String::new(), |commit| short_code(short(commit)));
        format!(
            "| {} | {} | {} | {verdict} | {} | {commit} |",
            short_code(&self.id),
            short_code(&self.experiment),
            self.timestamp.get(..16).unwrap_or_default().replace('T', " "),
            scores.collect::<Vec<_>>().join(", "),
        )
    }
}

/// What became of a run.
pub(super) fn verdict(run: &PastRun<'_>) -> Status {
    match run.run.status {
        _ if run.is_partial => Status::Partial,
        RunStatus::NotEvaluated => Status::Partial,
        RunStatus::Passed => Status::Passed,
        RunStatus::Failed => Status::Failed,
        RunStatus::Error => Status::Error,
    }
}
