//! `/api/trends`: the runs of an experiment over time.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt_core::experiment_name;
use cobalt_core::report::{Category, Metric, Threshold};
use cobalt_core::store::ReportReader;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::respond::{Conditional, StrictQuery, cached_json, parse_time};
use super::runs::RunFacts;
use crate::runs::RunView;
use crate::serve::error::ApiError;
use crate::serve::store::{RunFileError, Store};

/// A selection of runs.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TrendsQuery {
    /// The experiment's name.
    pub experiment: String,
    /// Only the scores of this evaluator.
    pub evaluator: Option<String>,
    /// Only runs with this tag.
    pub tag: Option<String>,
    /// Only runs started at or after this date or ISO 8601 time.
    pub since: Option<String>,
    /// The maximum number of runs, the newest ones; all by default.
    pub limit: Option<usize>,
}

/// The whole runs of an experiment, oldest first.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Trends {
    pub trends: Vec<TrendPoint>,
    /// The thresholds of the newest run that correspond to a metric of the points; none if its file is only in a remote store.
    pub thresholds: Vec<ThresholdLine>,
}

/// A run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrendPoint {
    #[serde(flatten)]
    pub facts: RunFacts,
    /// Each evaluator's mean, from 0 to 1; absent without a score.
    pub scores: BTreeMap<String, f64>,
    /// The number of failed items and evaluations.
    pub errors: i64,
}

/// A threshold on a metric that the points have.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ThresholdLine {
    /// The threshold's test-case name.
    pub name: String,
    pub quantity: TrendQuantity,
    /// The evaluator whose mean it bounds; absent for other metrics, and if it bounds all scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluator: Option<String>,
    /// In the unit of the points: a score, milliseconds, tokens, USD.
    pub bound: f64,
}

/// A metric of a trend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TrendQuantity {
    /// The mean score.
    Score,
    /// The mean latency.
    Latency,
    /// The agent's total tokens.
    Tokens,
    /// The total agent cost.
    Cost,
}

pub async fn trends(
    State(store): State<Arc<Store>>,
    conditional: Conditional,
    StrictQuery(query): StrictQuery<TrendsQuery>,
) -> Result<Response, ApiError> {
    cached_json(store, conditional, Store::local_files_state, move |store| load_trends(store, &query)).await
}

fn load_trends(store: &Store, query: &TrendsQuery) -> Result<Trends, ApiError> {
    let known = store.known()?;
    let since = query.since.as_deref().map(|text| parse_time("since", text)).transpose()?;
    let experiment =
        experiment_name::find_declared(&query.experiment, known.runs.iter().map(|run| &*run.experiment));
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
    let lines = thresholds.iter().filter_map(threshold_line).filter(|line| is_relevant(line, evaluator));
    Ok(Trends {
        thresholds: lines.collect(),
        trends: runs.into_iter().map(|run| trend_point(run, evaluator)).collect(),
    })
}

/// The thresholds of a run, if readable; those of old files may not be, and a run of a remote store may not be fetched.
fn thresholds(store: &Store, id: &str) -> Result<Vec<Threshold>, ApiError> {
    let read = |bytes: &[u8]| ReportReader::of(bytes).ok()?.head().config.parse_thresholds().ok();
    match store.read_local(id, read) {
        Ok(thresholds) => Ok(thresholds.flatten().unwrap_or_default()),
        Err(RunFileError::Permanent(error)) => Err(error),
        Err(RunFileError::Changed) => Ok(Vec::new()),
    }
}

fn trend_point(run: &RunView, evaluator: Option<&str>) -> TrendPoint {
    let mut scores = run.scores.clone();
    scores.retain(|name, _| evaluator.is_none_or(|evaluator| name == evaluator));
    TrendPoint { facts: RunFacts::from(run), scores, errors: run.errors() }
}

/// A threshold as a line, if the points have its metric.
fn threshold_line(threshold: &Threshold) -> Option<ThresholdLine> {
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

/// Whether a line is relevant: with a selected evaluator, bounds of other scores are not.
fn is_relevant(line: &ThresholdLine, evaluator: Option<&str>) -> bool {
    line.quantity != TrendQuantity::Score
        || evaluator.is_none_or(|name| line.evaluator.as_deref() == Some(name))
}
