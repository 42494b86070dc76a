//! `/api/trends`: how the runs of an experiment went over time.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ApiError;
use super::asked::Asked;
use super::facts::RunFacts;
use super::tagged::{Asking, answer};
use crate::serve::store::Store;

/// Which runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::serve) struct TrendsQuery {
    /// The experiment's name.
    pub(in crate::serve) experiment: String,
    /// Only the scores of this evaluator.
    pub(in crate::serve) evaluator: Option<String>,
    /// Only runs with this tag.
    pub(in crate::serve) tag: Option<String>,
    /// Only runs that started then or later: a date, or a time in ISO 8601.
    pub(in crate::serve) since: Option<String>,
    /// The most runs, the newest of all; all, where it is not given.
    pub(in crate::serve) limit: Option<usize>,
}

/// The whole runs of an experiment, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct Trends {
    pub(in crate::serve) trends: Vec<TrendPoint>,
    /// The thresholds of the newest run that can be drawn as lines.
    pub(in crate::serve) thresholds: Vec<ThresholdLine>,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::serve) struct TrendPoint {
    #[serde(flatten)]
    pub(in crate::serve) facts: RunFacts,
    /// Each evaluator's mean, from 0 to 1; one that gave no score is absent.
    pub(in crate::serve) scores: BTreeMap<String, f64>,
    /// Items and evaluations in error.
    pub(in crate::serve) errors: i64,
}

/// A threshold whose figure the points have, too.
#[derive(Debug, Serialize, JsonSchema)]
pub(in crate::serve) struct ThresholdLine {
    /// The threshold as it is named in test cases.
    pub(in crate::serve) name: String,
    pub(in crate::serve) quantity: TrendQuantity,
    /// The evaluator whose mean it bounds; absent for the other quantities, and where it bounds all scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::serve) evaluator: Option<String>,
    /// In the unit of the points: a score, milliseconds, tokens, USD.
    pub(in crate::serve) bound: f64,
}

/// What a line is drawn of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(in crate::serve) enum TrendQuantity {
    /// The mean score.
    Score,
    /// The mean latency.
    Latency,
    /// The agent's tokens in all.
    Tokens,
    /// The agent's cost in all.
    Cost,
}

pub(super) async fn trends(
    State(store): State<Arc<Store>>,
    asking: Asking,
    Asked(query): Asked<TrendsQuery>,
) -> Result<Response, ApiError> {
    answer(store, asking, Store::runs_state, move |store| store.trends(&query)).await
}
