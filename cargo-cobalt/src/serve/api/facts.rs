//! What every list of runs tells of a run.

use schemars::JsonSchema;
use serde::Serialize;

use super::runs::RunVerdict;
use crate::index::Run;

/// What is told of a run that has ended, wherever it is listed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct RunFacts {
    id: String,
    /// The start, ISO 8601 in UTC.
    timestamp: String,
    tags: Vec<String>,
    verdict: RunVerdict,
    total_items: i64,
    duration_ms: i64,
    /// In milliseconds.
    avg_latency_ms: f64,
    /// The agent's; absent where none were reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<i64>,
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
    /// A hash of the data set.
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset_hash: Option<String>,
}

impl RunFacts {
    pub(in crate::serve) fn of(run: &Run, verdict: RunVerdict) -> Self {
        Self {
            id: run.id.clone(),
            timestamp: run.timestamp.clone(),
            tags: run.tags.clone(),
            verdict,
            total_items: run.total_items,
            duration_ms: run.duration_ms,
            avg_latency_ms: run.avg_latency_ms,
            total_tokens: run.total_tokens,
            cost: run.cost,
            judge_cost: run.judge_cost,
            git_commit: run.git_commit.clone(),
            git_dirty: run.git_dirty,
            dataset_hash: run.dataset_hash.clone(),
        }
    }
}
