//! `/api/compare`: two or three runs held against each other.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt::Output;
use cobalt::report::comparison::{Comparison, ScoreChange};
use cobalt::report::{Evaluations, Status, Summary};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ApiError;
use super::asked::Asked;
use super::streamed::streamed;
use super::tagged::{Asking, answer, respond};
use crate::serve::store::{FileProblem, Store};

/// Which runs, and which of their items.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::serve) struct CompareQuery {
    /// The id of the run that the others are held against.
    pub(in crate::serve) a: String,
    /// The id of another run.
    pub(in crate::serve) b: String,
    /// The id of a third run.
    pub(in crate::serve) c: Option<String>,
    /// The most items to answer with; all, where it is not given.
    pub(in crate::serve) limit: Option<usize>,
    /// How many of the first are left out.
    #[serde(default)]
    pub(in crate::serve) offset: usize,
    #[serde(default)]
    pub(in crate::serve) sort: CompareSort,
    #[serde(default)]
    pub(in crate::serve) only: Changed,
    /// Only items with this text in their key, input, outputs or errors, whatever its case.
    pub(in crate::serve) search: Option<String>,
    /// Count changes of this evaluator's scores alone.
    pub(in crate::serve) evaluator: Option<String>,
    /// The key of an item whose place is wanted, too.
    pub(in crate::serve) item: Option<String>,
}

/// What items are sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) enum CompareSort {
    /// Their place in the data set.
    #[default]
    Index,
    /// The largest change first, and of equal ones those that became worse.
    Change,
    /// Those that became most worse first.
    Worst,
    /// Those that became most better first.
    Best,
}

/// Which items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::enum_variant_names, reason = "it is what the parameter is called")]
pub(in crate::serve) enum Changed {
    #[default]
    All,
    /// Those with a change.
    Changed,
    /// Those that became worse in some run.
    Regressed,
    /// Those that became better in some run.
    Improved,
}

/// Runs held against the first of them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct Compared {
    pub(in crate::serve) runs: Vec<ComparedRun>,
    /// Each evaluator's means.
    pub(in crate::serve) score_diffs: BTreeMap<String, ScoreDiffs>,
    /// Each of the other runs against the first.
    pub(in crate::serve) comparisons: Vec<Comparison>,
    /// How many items match what was asked for.
    pub(in crate::serve) matching: usize,
    /// The place of the item that was asked for among those that match, from 0; null where it is none of them.
    pub(in crate::serve) item_at: Option<usize>,
    /// How many items the runs have in all.
    pub(in crate::serve) total: usize,
    /// How many of them have the text that is searched for.
    pub(in crate::serve) found: usize,
    /// How many of those that were found became worse or better in some run.
    pub(in crate::serve) changed: usize,
    /// How many of those that were found became worse in some run.
    pub(in crate::serve) regressed: usize,
    /// How many of those that were found became better in some run.
    pub(in crate::serve) improved: usize,
    /// The last of the fields: many items are sent as they are read.
    pub(in crate::serve) items: Vec<ComparedItem>,
}

/// A run as comparisons name it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct ComparedRun {
    pub(in crate::serve) id: String,
    /// The experiment's name.
    pub(in crate::serve) name: String,
    /// The start, ISO 8601 in UTC.
    pub(in crate::serve) timestamp: String,
    pub(in crate::serve) summary: Summary,
    pub(in crate::serve) passed: bool,
    pub(in crate::serve) partial: bool,
    pub(in crate::serve) tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) git_commit: Option<String>,
}

/// An evaluator's means, one for each run.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct ScoreDiffs {
    /// Null where a run has no score of it.
    pub(in crate::serve) scores: Vec<Option<f64>>,
    /// How they differ from the first run's; null where one of the two has none.
    pub(in crate::serve) diffs: Vec<Option<f64>>,
}

/// An item in several runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct ComparedItem {
    /// Its place in the last of the runs that has it, from 0.
    pub(in crate::serve) index: usize,
    /// The item's identity, by which it is found in each run.
    pub(in crate::serve) key: String,
    /// The item, as the last of the runs has it.
    pub(in crate::serve) input: cobalt::Item,
    /// What each run made of it; null where it has no such item.
    pub(in crate::serve) outputs: Vec<Option<ComparedOutput>>,
    /// For each of the other runs, the largest change of a score against the first one, below 0 where it is worse; an item that
    /// came to fail counts as -1. Null where one of the two has no such item.
    pub(in crate::serve) changes: Vec<Option<f64>>,
    /// For each of the other runs, the scores that differ from the first one's, the largest change first.
    pub(in crate::serve) score_changes: Vec<Vec<ScoreChange>>,
    /// Whether the item itself is another in one of the runs.
    pub(in crate::serve) content_changed: bool,
}

/// What a run made of an item: the first of its executions, with the mean time of all.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct ComparedOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) output: Option<Output>,
    /// In milliseconds.
    pub(in crate::serve) latency_ms: f64,
    pub(in crate::serve) evaluations: Evaluations,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) error: Option<String>,
    pub(in crate::serve) status: Status,
    pub(in crate::serve) passed: bool,
    /// How often it was run.
    pub(in crate::serve) runs: usize,
    /// In how many of those runs the agent or an evaluator failed.
    pub(in crate::serve) failed_runs: usize,
    /// Each evaluator's mean score over the runs.
    pub(in crate::serve) scores: BTreeMap<String, f64>,
}

/// More items than these are sent as they are read.
const MANY: usize = 1000;

pub(super) async fn compare(
    State(store): State<Arc<Store>>,
    asking: Asking,
    Asked(query): Asked<CompareQuery>,
) -> Result<Response, ApiError> {
    let of = [Some(query.a.clone()), Some(query.b.clone()), query.c.clone()];
    let state =
        move |store: &Store| of.iter().flatten().map(|id| store.run_state(id)).collect::<Result<String, _>>();
    if query.limit.is_some_and(|limit| limit <= MANY) {
        return answer(store, asking, state, move |store| store.compare_whole(&query)).await;
    }
    respond(store, asking, state, move |store, tag| {
        let comparing = store.compare(&query)?;
        let head = serde_json::to_vec(&comparing.head).unwrap_or_default();
        Ok(tag.json(streamed(head, move |pieces| {
            // The file has changed meanwhile, or nobody reads on.
            comparing.each(|item| pieces.push(&item).map_err(|_| FileProblem::Changed))
        })))
    })
    .await
}
