//! `/api/runs/ID/items` and `/api/runs/ID/items/KEY`: the items of a run, and one of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt::report::{ItemResult, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ApiError;
use super::asked::{Asked, Named, Order};
use super::tagged::{Asking, answer};
use crate::serve::store::Store;

/// Which items, and in which order.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(in crate::serve) struct ItemsQuery {
    /// The most items to answer with: 100 where it is not given, at most 1000.
    pub(in crate::serve) limit: Option<usize>,
    /// How many of the first are left out.
    pub(in crate::serve) offset: usize,
    /// What the items are sorted by: `index`, `key`, `status`, `latency`, `tokens`, `cost`, or `score:NAME` for the mean score
    /// of that evaluator; by their index, where it is not given. Items without the figure come last.
    pub(in crate::serve) sort: Option<String>,
    /// Which way; the smallest or the worst first, where it is not given.
    pub(in crate::serve) order: Option<Order>,
    /// Only items with this text in their key, input, output or error, whatever its case.
    pub(in crate::serve) search: Option<String>,
    /// Only items of this state.
    pub(in crate::serve) state: Option<ItemState>,
    /// Only items that this evaluator has scored, from `minScore` to `maxScore`.
    pub(in crate::serve) evaluator: Option<String>,
    /// The lowest mean score, of `evaluator` or, where none is named, of all.
    pub(in crate::serve) min_score: Option<f64>,
    /// The highest mean score, of `evaluator` or, where none is named, of all.
    pub(in crate::serve) max_score: Option<f64>,
}

/// A state by which items are filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) enum ItemState {
    /// It is at or above every pass mark, without an error.
    Passed,
    /// It is below a pass mark, or in error.
    Failing,
    /// Some score is below its pass mark, whether or not that fails the item.
    Low,
    /// The agent failed in some run.
    Error,
    /// The agent took too long in some run.
    Timeout,
    /// An evaluator gave no score.
    EvalError,
}

/// The items that were asked for.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct Items {
    pub(in crate::serve) items: Vec<ItemRow>,
    /// How many items match.
    pub(in crate::serve) matching: usize,
    /// How many items the run has, so far.
    pub(in crate::serve) total: usize,
}

/// An item as a list has it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct ItemRow {
    /// The item's identity.
    pub(in crate::serve) key: String,
    /// The item's place in the data set, from 0.
    pub(in crate::serve) index: usize,
    /// The item's name in test cases.
    pub(in crate::serve) name: String,
    /// Whether it is at or above every pass mark in every trial, without an error.
    pub(in crate::serve) passed: bool,
    /// The worst of its runs'.
    pub(in crate::serve) status: Status,
    /// How often it was run.
    pub(in crate::serve) runs: usize,
    /// The evaluators that scored it below their mark in some run.
    pub(in crate::serve) low: Vec<String>,
    /// The evaluators that gave no score in some run.
    pub(in crate::serve) eval_errors: Vec<String>,
    /// The beginning of its input.
    pub(in crate::serve) input: String,
    /// The beginning of what the agent returned in the first run; absent where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) output: Option<String>,
    /// The beginning of why there is no output, or of why an evaluator gave no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) error: Option<String>,
    /// The mean over the runs, in milliseconds.
    pub(in crate::serve) latency_ms: f64,
    /// The agent's over all runs; absent where none were reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) tokens: Option<u64>,
    /// The agent's over all runs, in USD; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) cost: Option<f64>,
    /// Each evaluator's mean score over the runs; one that gave none is absent.
    pub(in crate::serve) scores: BTreeMap<String, f64>,
}

/// An item whole.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct WholeItem {
    /// All of it.
    pub(in crate::serve) item: ItemResult,
    /// The same as lists have it.
    pub(in crate::serve) row: ItemRow,
    /// Its place among the items that were asked for, from 0; absent where it is none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) position: Option<usize>,
    /// How many they are.
    pub(in crate::serve) matching: usize,
    /// The key of the one before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) previous: Option<String>,
    /// The key of the one after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) next: Option<String>,
}

pub(super) async fn items(
    State(store): State<Arc<Store>>,
    Named(id): Named<String>,
    asking: Asking,
    Asked(query): Asked<ItemsQuery>,
) -> Result<Response, ApiError> {
    let of = id.clone();
    answer(store, asking, move |store| store.run_state(&of), move |store| store.items(&id, &query)).await
}

pub(super) async fn item(
    State(store): State<Arc<Store>>,
    Named((id, key)): Named<(String, String)>,
    asking: Asking,
    Asked(query): Asked<ItemsQuery>,
) -> Result<Response, ApiError> {
    let of = id.clone();
    answer(store, asking, move |store| store.run_state(&of), move |store| store.item(&id, &key, &query)).await
}
