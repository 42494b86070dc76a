//! `/api/runs/ID/overview`: a run without its items, with what is to be told of all of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt::Report;
use schemars::JsonSchema;
use serde::Serialize;

use super::ApiError;
use super::asked::Named;
use super::live::RunState;
use super::tagged::{Asking, answer};
use crate::serve::store::Store;

/// A run without its items.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct Overview {
    /// The report; its `items` are empty.
    pub(in crate::serve) run: Report,
    pub(in crate::serve) state: RunState,
    /// How many items are finished, and can be asked for.
    pub(in crate::serve) finished_items: usize,
    /// How many items there are to run.
    pub(in crate::serve) planned_items: usize,
    /// Of each evaluator, how many items have their mean score in each of 20 equal parts of 0 to 1, 1 among the last.
    pub(in crate::serve) histograms: BTreeMap<String, Vec<usize>>,
    /// The agent's tokens for an item over all of its runs; absent where none were reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) tokens: Option<Amounts>,
    /// The agent's cost of an item over all of its runs, in USD; absent where it is known of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) cost: Option<Amounts>,
    /// How many items there are of each state.
    pub(in crate::serve) states: StateCounts,
    /// The run of the experiment before this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) previous: Option<Neighbour>,
    /// The one after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) next: Option<Neighbour>,
}

/// How amounts are spread over the items that have them. Percentiles interpolate linearly.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct Amounts {
    /// How many items have one.
    pub(in crate::serve) count: usize,
    pub(in crate::serve) total: f64,
    pub(in crate::serve) avg: f64,
    pub(in crate::serve) min: f64,
    pub(in crate::serve) p50: f64,
    pub(in crate::serve) p95: f64,
    pub(in crate::serve) p99: f64,
    pub(in crate::serve) max: f64,
}

/// How many items each filter by state lets through.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct StateCounts {
    pub(in crate::serve) passed: usize,
    pub(in crate::serve) failing: usize,
    pub(in crate::serve) low: usize,
    pub(in crate::serve) error: usize,
    pub(in crate::serve) timeout: usize,
    pub(in crate::serve) eval_error: usize,
}

/// A whole run of the same experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct Neighbour {
    pub(in crate::serve) id: String,
    /// The start, ISO 8601 in UTC.
    pub(in crate::serve) timestamp: String,
}

pub(super) async fn overview(
    State(store): State<Arc<Store>>,
    Named(id): Named<String>,
    asking: Asking,
) -> Result<Response, ApiError> {
    let of = id.clone();
    let state = move |store: &Store| Ok(store.run_state(&of)? + &store.runs_state()?);
    answer(store, asking, state, move |store| store.overview(&id)).await
}
