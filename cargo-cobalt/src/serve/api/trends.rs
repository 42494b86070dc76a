//! `/api/trends`: how the runs of an experiment went over time.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt_core::names;
use cobalt_core::report::{Category, Metric, Threshold};
use cobalt_core::store::ReportText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::respond::{Asked, Conditional, answer, moment};
use super::runs::RunFacts;
use crate::runs::RunView;
use crate::serve::error::ApiError;
use crate::serve::store::{FileProblem, Store};

/// Which runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrendsQuery {
    /// The experiment's name.
    pub experiment: String,
    /// Only the scores of this evaluator.
    pub evaluator: Option<String>,
    /// Only runs with this tag.
    pub tag: Option<String>,
    /// Only runs that started then or later: a date, or a time in ISO 8601.
    pub since: Option<String>,
    /// The most runs, the newest of all; all, where it is not given.
    pub limit: Option<usize>,
}

/// The whole runs of an experiment, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Trends {
    pub trends: Vec<TrendPoint>,
    /// The thresholds of the newest run that can be drawn as lines.
    pub thresholds: Vec<ThresholdLine>,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrendPoint {
    #[serde(flatten)]
    pub facts: RunFacts,
    /// Each evaluator's mean, from 0 to 1; one that gave no score is absent.
    pub scores: BTreeMap<String, f64>,
    /// Items and evaluations in error.
    pub errors: i64,
}

/// A threshold whose figure the points have, too.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ThresholdLine {
    /// The threshold as it is named in test cases.
    pub name: String,
    pub quantity: TrendQuantity,
    /// The evaluator whose mean it bounds; absent for the other quantities, and where it bounds all scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluator: Option<String>,
    /// In the unit of the points: a score, milliseconds, tokens, USD.
    pub bound: f64,
}

/// What a line is drawn of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrendQuantity {
    /// The mean score.
    Score,
    /// The mean latency.
    Latency,
    /// The agent's tokens in all.
    Tokens,
    /// The agent's cost in all.
    Cost,
}

pub async fn trends(
    State(store): State<Arc<Store>>,
    conditional: Conditional,
    Asked(query): Asked<TrendsQuery>,
) -> Result<Response, ApiError> {
    answer(store, conditional, Store::runs_state, move |store| over_time(store, &query)).await
}

fn over_time(store: &Store, query: &TrendsQuery) -> Result<Trends, ApiError> {
    let known = store.known()?;
    let since = query.since.as_deref().map(|text| moment("since", text)).transpose()?;
    let experiment = names::find(&query.experiment, known.runs.iter().map(|run| &*run.experiment));
    let is_meant = |run: &&RunView| {
        Some(&*run.experiment) == experiment
            && query.tag.as_ref().is_none_or(|tag| run.tags.contains(tag))
            && since.as_ref().is_none_or(|since| run.timestamp >= *since)
    };
    let runs = known.runs.iter().filter(is_meant).take(query.limit.unwrap_or(usize::MAX));
    let mut runs: Vec<_> = runs.collect();
    runs.reverse();
    let evaluator = query.evaluator.as_deref();
    let thresholds = runs.last().map(|run| thresholds(store, &run.id)).transpose()?.unwrap_or_default();
    let lines = thresholds.iter().filter_map(line).filter(|line| is_shown(line, evaluator));
    Ok(Trends {
        thresholds: lines.collect(),
        trends: runs.into_iter().map(|run| point(run, evaluator)).collect(),
    })
}

/// The thresholds of a run, as far as they can be read, which those of old files cannot always.
fn thresholds(store: &Store, id: &str) -> Result<Vec<Threshold>, ApiError> {
    let read = |bytes: &[u8]| ReportText::of(bytes).ok()?.head().config.read_thresholds().ok();
    match store.read(id, read) {
        Ok(thresholds) => Ok(thresholds.unwrap_or_default()),
        Err(FileProblem::Final(error)) => Err(error),
        Err(FileProblem::Changed) => Ok(Vec::new()),
    }
}

fn point(run: &RunView, evaluator: Option<&str>) -> TrendPoint {
    let mut scores = run.scores.clone();
    scores.retain(|name, _| evaluator.is_none_or(|evaluator| name == evaluator));
    TrendPoint { facts: RunFacts::from(run), scores, errors: run.errors() }
}

/// A threshold as a line, where the points of runs have its figure.
fn line(threshold: &Threshold) -> Option<ThresholdLine> {
    let (quantity, evaluator) = match (threshold.category(), threshold.metric()) {
        (Category::Score, Metric::Avg) => (TrendQuantity::Score, None),
        (Category::Evaluator(name), Metric::Avg) => (TrendQuantity::Score, Some(name.clone())),
        (Category::Latency, Metric::Avg) => (TrendQuantity::Latency, None),
        (Category::Tokens, Metric::Total) => (TrendQuantity::Tokens, None),
        (Category::Cost, Metric::Total) => (TrendQuantity::Cost, None),
        _ => return None,
    };
    Some(ThresholdLine { name: threshold.case_name(), quantity, evaluator, bound: threshold.bound() })
}

/// Whether a line belongs to what is shown: where that is one evaluator, a bound of other scores does not.
fn is_shown(line: &ThresholdLine, evaluator: Option<&str>) -> bool {
    line.quantity != TrendQuantity::Score
        || evaluator.is_none_or(|name| line.evaluator.as_deref() == Some(name))
}
