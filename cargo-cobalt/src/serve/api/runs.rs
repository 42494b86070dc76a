//! `/api/runs`: the runs that there are.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ApiError;
use super::asked::{Asked, Order};
use super::facts::RunFacts;
use super::live::LiveRun;
use super::tagged::{Asking, answer};
use crate::index::RunStatus;
use crate::serve::store::Store;

/// Which runs, and in which order.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(in crate::serve) struct RunsQuery {
    /// The most runs to answer with; all, where it is not given.
    pub(in crate::serve) limit: Option<usize>,
    /// How many of the first are left out.
    pub(in crate::serve) offset: usize,
    /// What the runs are sorted by; by their start, where it is not given.
    pub(in crate::serve) sort: RunSort,
    /// Which way; the largest, the latest or the worst first, where it is not given, and names from A.
    pub(in crate::serve) order: Option<Order>,
    /// Only runs with this text in their name, id, tags or commit, whatever its case.
    pub(in crate::serve) search: Option<String>,
    /// Only runs of the experiment of this name.
    pub(in crate::serve) experiment: Option<String>,
    /// Only runs with this tag.
    pub(in crate::serve) tag: Option<String>,
    /// Only runs with one of these tags, separated by commas.
    pub(in crate::serve) tags: Option<String>,
    /// Only runs with this verdict.
    pub(in crate::serve) verdict: Option<RunVerdict>,
    /// Only runs that started then or later: a date, or a time in ISO 8601.
    pub(in crate::serve) since: Option<String>,
    /// Only runs that started then or earlier: a date, which counts in, or a time.
    pub(in crate::serve) until: Option<String>,
    /// With each run, the averages of so many runs of its experiment, the last of which it is itself.
    pub(in crate::serve) recent: usize,
}

/// What runs can be sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) enum RunSort {
    #[default]
    Timestamp,
    Name,
    /// From passed to in error.
    Verdict,
    /// The mean over the evaluators.
    Score,
    Items,
    /// Items and evaluations in error.
    Errors,
    Duration,
    Latency,
    Tokens,
    /// The agent's and the judges'.
    Cost,
}

/// What became of a run, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::serve) enum RunVerdict {
    Passed,
    /// Only some of the items were run, whatever became of them.
    Partial,
    /// A threshold or, in a strict experiment, an item missed.
    Failed,
    /// An item or an evaluator was in error.
    Error,
}

/// The runs that were asked for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct Runs {
    pub(in crate::serve) runs: Vec<RunRow>,
    /// How many runs match.
    pub(in crate::serve) matching: usize,
    /// How many runs there are.
    pub(in crate::serve) known: usize,
    /// The runs that have not ended, the newest first, whatever was asked for.
    pub(in crate::serve) live: Vec<LiveRun>,
    /// The experiments that have runs, that of the newest run first, with how many they have.
    pub(in crate::serve) experiments: Vec<Counted>,
    /// The tags that runs have, sorted, with how many runs have them.
    pub(in crate::serve) tags: Vec<Counted>,
    /// Files among the results that could not be read, and why.
    pub(in crate::serve) skipped: Vec<SkippedFile>,
}

/// A name, and how many runs have it.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct Counted {
    pub(in crate::serve) name: String,
    pub(in crate::serve) runs: usize,
}

/// A file that is left out.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct SkippedFile {
    pub(in crate::serve) file: String,
    pub(in crate::serve) reason: String,
}

/// A run that has ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct RunRow {
    #[serde(flatten)]
    pub(in crate::serve) facts: RunFacts,
    /// The experiment's name.
    pub(in crate::serve) name: String,
    /// Each evaluator's mean, from 0 to 1; one that gave no score is absent.
    pub(in crate::serve) avg_scores: BTreeMap<String, f64>,
    /// What became of it; of a partial run too, of which the verdict does not tell it.
    #[schemars(with = "Outcome")]
    pub(in crate::serve) status: RunStatus,
    /// Items at or above every pass mark, without an error.
    pub(in crate::serve) passed_items: i64,
    /// Items below a pass mark, without an error.
    pub(in crate::serve) low_items: i64,
    /// Items whose agent failed or timed out.
    pub(in crate::serve) failed_items: i64,
    /// Evaluations without a score.
    pub(in crate::serve) eval_errors: i64,
    /// Each evaluator's means in the runs of the experiment up to this one, oldest first; null where a run has none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(in crate::serve) recent_scores: BTreeMap<String, Vec<Option<f64>>>,
}

/// The schema of [`RunStatus`].
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is of use")]
enum Outcome {
    Passed,
    /// The thresholds were not evaluated, as only some of the items were run.
    NotEvaluated,
    Failed,
    Error,
}

pub(super) async fn runs(
    State(store): State<Arc<Store>>,
    asking: Asking,
    Asked(query): Asked<RunsQuery>,
) -> Result<Response, ApiError> {
    answer(store, asking, Store::list_state, move |store| store.runs(&query)).await
}
