//! `/api/experiments`: the experiments of the project, each with its latest run.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt_core::report::comparison::Verdict;
use schemars::JsonSchema;
use serde::Serialize;

use super::respond::{Conditional, cached_json};
use super::runs::{RunRow, run_row};
use crate::runs::{RunOutcome, RunView};
use crate::serve::error::ApiError;
use crate::serve::store::{RunHead, RunHeads, ScoreDifference, Store};

/// The maximum number of recent runs.
const RECENT_RUNS: usize = 20;

/// The experiments, by their newest run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Experiments {
    pub experiments: Vec<ExperimentRow>,
}

/// An experiment.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExperimentRow {
    /// The name of its runs: the experiment's, or `<experiment>::<variant>`.
    pub name: String,
    /// The number of its finished runs.
    pub runs: usize,
    /// Its newest run, whole if there is one.
    pub latest: RunRow,
    /// Up to 20 of its newest whole runs, oldest first.
    pub recent: Vec<RecentRun>,
    /// How the newest whole run differs from the saved baseline; null without a baseline, if it was saved from this run, or if a file
    /// cannot be read.
    pub change: Option<BaselineChange>,
    /// The agent cost of the latest run in USD; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_cost: Option<f64>,
    /// The judge cost of the latest run in USD; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge_cost: Option<f64>,
    /// The cost of simulated users in the latest run in USD; absent without them, or if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_cost: Option<f64>,
    /// The sum of these costs, as far as they are known; absent if none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_cost: Option<f64>,
}

/// A run in short.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RecentRun {
    pub id: String,
    /// The start, ISO 8601 in UTC.
    pub timestamp: String,
    pub verdict: RunOutcome,
    /// The mean of the evaluators' means; absent without a score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The lower bound of its 95% CI: the mean of the evaluators' bounds, which does not assume that evaluators are independent.
    /// Absent if an evaluator has no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// The upper bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// A run compared with the saved baseline of its experiment.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BaselineChange {
    /// The id of the compared run.
    pub of: String,
    /// The id of the run that was saved as the baseline.
    pub baseline_run: String,
    /// The change of each evaluator's mean that both have.
    pub scores: BTreeMap<String, BaselineScoreChange>,
}

/// The change of an evaluator's mean.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BaselineScoreChange {
    /// The run minus the baseline.
    pub change: f64,
    /// Its 95% CI; absent if there are too few items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    pub verdict: Verdict,
}

pub async fn experiments(
    State(store): State<Arc<Store>>,
    conditional: Conditional,
) -> Result<Response, ApiError> {
    let state = |store: &Store| Ok(store.local_files_state()? + &store.baselines().state());
    cached_json(store, conditional, state, list_experiments).await
}

fn list_experiments(store: &Store) -> Result<Experiments, ApiError> {
    let known = store.known()?;
    let mut all: Vec<_> = known.runs.iter().chain(&known.partial).collect();
    all.sort_by(|one, two| two.timestamp.cmp(&one.timestamp));
    let (mut order, mut runs_of) = (Vec::new(), HashMap::<&str, Vec<&RunView>>::new());
    for run in all {
        let runs = runs_of.entry(&run.experiment).or_default();
        if runs.is_empty() {
            order.push(&*run.experiment);
        }
        runs.push(run);
    }
    let recent = order.iter().flat_map(|name| recent_runs(&runs_of[name]));
    let heads = store.run_heads(recent.map(|run| &*run.id));
    let experiments = order.into_iter().map(|name| experiment_row(store, &heads, name, &runs_of[name]));
    Ok(Experiments { experiments: experiments.collect() })
}

/// The newest whole runs, newest first.
fn recent_runs<'a>(runs: &[&'a RunView]) -> impl Iterator<Item = &'a RunView> {
    runs.iter().copied().filter(|run| !run.is_partial).take(RECENT_RUNS)
}

/// `runs` are not empty, newest first.
fn experiment_row(store: &Store, heads: &RunHeads, name: &str, runs: &[&RunView]) -> ExperimentRow {
    let whole = recent_runs(runs).next();
    let latest = whole.unwrap_or(runs[0]);
    let mut recent: Vec<_> =
        recent_runs(runs).map(|run| recent_run(run, heads.get(&run.id).map(Arc::as_ref))).collect();
    recent.reverse();
    ExperimentRow {
        name: name.to_owned(),
        runs: runs.len(),
        latest: run_row(latest, &store.baselines(), BTreeMap::new()),
        recent,
        change: whole.and_then(|run| baseline_change(store, run, heads.get(&run.id).map(Arc::as_ref))),
        agent_cost: latest.metrics.cost,
        judge_cost: latest.metrics.judge_cost,
        user_cost: latest.metrics.user_cost,
        total_cost: latest.total_cost(),
    }
}

fn recent_run(run: &RunView, head: Option<&RunHead>) -> RecentRun {
    let interval = head.and_then(|head| head.score_interval);
    RecentRun {
        id: run.id.clone(),
        timestamp: run.timestamp.clone(),
        verdict: run.verdict(),
        score: run.mean_score(),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
    }
}

fn baseline_change(store: &Store, run: &RunView, head: Option<&RunHead>) -> Option<BaselineChange> {
    let baselines = store.baselines();
    let baseline = baselines.run_of(&run.experiment).filter(|baseline| *baseline != run.id)?;
    // The comparison in the file may be with an earlier baseline.
    let stored = head.and_then(|head| head.baseline.as_ref()).filter(|stored| stored.run == baseline);
    let differences = match stored {
        Some(stored) => Arc::clone(&stored.scores),
        None => store.differences_from_baseline(run).ok()??,
    };
    let change = |it: &ScoreDifference| {
        let ScoreDifference { name, change, interval, verdict } = it;
        let (low, high) = (interval.map(|it| it.low), interval.map(|it| it.high));
        (name.clone(), BaselineScoreChange { change: *change, low, high, verdict: *verdict })
    };
    Some(BaselineChange {
        of: run.id.clone(),
        baseline_run: baseline.to_owned(),
        scores: differences.iter().map(change).collect(),
    })
}
