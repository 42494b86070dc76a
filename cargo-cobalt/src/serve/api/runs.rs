//! `/api/runs`: the list of runs.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::respond::{Conditional, Order, StrictQuery, cached_json, cmp_known_first, parse_time};
use crate::index::RunStatus;
use crate::runs::{RunMetrics, RunOutcome, RunView, VariantView};
use crate::serve::error::ApiError;
use crate::serve::live::LiveRun;
use crate::serve::store::{BaselineSources, RunList, Store, contains_ignore_case};

/// A selection of runs, and their order.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RunsQuery {
    /// The maximum number of runs to return; all by default.
    pub limit: Option<usize>,
    /// The number of runs to skip.
    pub offset: usize,
    /// The sort key; by default the start time.
    pub sort: RunSort,
    /// The sort direction; by default the largest, latest or worst first, and names from A.
    pub order: Option<Order>,
    /// Only runs with this text in the name of their experiment, their own name, id, tags, commit or branch; case-insensitive.
    pub search: Option<String>,
    /// Only runs of the experiment with this name, with those of its variants, or of `<experiment>::<variant>`.
    pub experiment: Option<String>,
    /// Only runs with this tag.
    pub tag: Option<String>,
    /// Only runs with one of these tags, separated by commas.
    pub tags: Option<String>,
    /// Only runs with this verdict.
    pub verdict: Option<RunOutcome>,
    /// Only runs started at or after this date or ISO 8601 time.
    pub since: Option<String>,
    /// Only runs started at or before this time, or on or before this date.
    pub until: Option<String>,
    /// With each run, include the mean scores of this many runs of its experiment, up to and including itself.
    pub recent: usize,
}

/// The sort keys of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunSort {
    #[default]
    Timestamp,
    Name,
    /// From passed to error.
    Verdict,
    /// The mean over the evaluators.
    Score,
    Items,
    /// Failed items and evaluations.
    Errors,
    Duration,
    Latency,
    Tokens,
    /// The total cost: agent, judges and simulated users.
    Cost,
}

/// The requested runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Runs {
    pub runs: Vec<RunRow>,
    /// The number of matching runs.
    pub matching: usize,
    /// The number of all runs.
    pub known: usize,
    /// The unfinished runs, newest first, regardless of the query.
    pub live: Vec<LiveRun>,
    /// The experiments with their numbers of runs, ordered by their newest run.
    pub experiments: Vec<CountedName>,
    /// The tags with their numbers of runs, sorted.
    pub tags: Vec<CountedName>,
    /// Result files that could not be read, with the reason.
    pub skipped: Vec<SkippedFile>,
}

/// A name with its number of runs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct CountedName {
    pub name: String,
    pub runs: usize,
}

/// A skipped file.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SkippedFile {
    pub file: String,
    pub reason: String,
}

/// A finished run.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    #[serde(flatten)]
    pub facts: RunFacts,
    /// The run's name: the experiment's, or `<experiment>::<variant>`.
    pub name: String,
    /// Each evaluator's mean, from 0 to 1; absent without a score.
    pub avg_scores: BTreeMap<String, f64>,
    /// The outcome; for a partial run too, where the verdict does not show it.
    #[schemars(with = "RunStatusSchema")]
    pub status: RunStatus,
    /// Items at or above every pass mark, without an error.
    pub passed_items: i64,
    /// Items below a pass mark, without an error.
    pub low_items: i64,
    /// Items whose agent failed or timed out.
    pub failed_items: i64,
    /// Evaluations without a score.
    pub eval_errors: i64,
    /// Whether its experiment's baseline was saved from this run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_baseline: bool,
    /// Each evaluator's means in the runs of the experiment up to this one, oldest first; null if a run has none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub recent_scores: BTreeMap<String, Vec<Option<f64>>>,
}

/// The schema of [`RunStatus`].
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its schema is used")]
enum RunStatusSchema {
    Passed,
    /// The thresholds were not evaluated, as only some items were run.
    NotEvaluated,
    Failed,
    Error,
}

/// Fields of a finished run, common to all lists.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunFacts {
    id: String,
    /// The name that a user gave to this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_name: Option<String>,
    /// The start, ISO 8601 in UTC.
    timestamp: String,
    tags: Vec<String>,
    verdict: RunOutcome,
    total_items: i64,
    duration_ms: i64,
    /// In milliseconds.
    avg_latency_ms: f64,
    /// The agent's tokens; absent if none were reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<i64>,
    /// The agent cost in USD; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    /// The judge cost in USD.
    #[serde(skip_serializing_if = "Option::is_none")]
    judge_cost: Option<f64>,
    /// The cost of simulated users in USD; absent without them, or if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_cost: Option<f64>,
    /// The mean of each metric that the agent recorded, and the value of each metric of the whole run.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    metrics: BTreeMap<String, f64>,
    /// The commit that was checked out.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_commit: Option<String>,
    /// Whether there were uncommitted changes to tracked files.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_dirty: Option<bool>,
    /// The branch that was checked out or, in a job of a pull request, that it comes from.
    #[serde(skip_serializing_if = "Option::is_none")]
    git_branch: Option<String>,
    /// A hash of the dataset.
    #[serde(skip_serializing_if = "Option::is_none")]
    dataset_hash: Option<String>,
    /// Items whose latency and agent cost are those of a recording.
    replayed_items: i64,
    /// The variant, if the experiment has variants.
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<VariantView>,
    /// The ID of the run whose stored outputs were scored again.
    #[serde(skip_serializing_if = "Option::is_none")]
    rescored_from: Option<String>,
}

impl From<&RunView> for RunFacts {
    fn from(run: &RunView) -> Self {
        let RunMetrics {
            avg_latency_ms,
            total_tokens,
            cost,
            judge_cost,
            user_cost,
            git_dirty,
            replayed_items,
            ..
        } = run.metrics;
        Self {
            id: run.id.clone(),
            run_name: run.run_name.clone(),
            timestamp: run.timestamp.clone(),
            tags: run.tags.clone(),
            verdict: run.verdict(),
            total_items: to_i64(run.items.total),
            duration_ms: run.duration_ms,
            avg_latency_ms,
            total_tokens,
            cost,
            judge_cost,
            user_cost,
            metrics: run.metrics.custom.clone(),
            git_commit: run.metrics.git_commit.clone(),
            git_dirty,
            git_branch: run.metrics.git_branch.clone(),
            dataset_hash: run.metrics.dataset_hash.clone(),
            replayed_items,
            variant: run.variant.clone(),
            rescored_from: run.rescored_from.clone(),
        }
    }
}

pub async fn runs(
    State(store): State<Arc<Store>>,
    conditional: Conditional,
    StrictQuery(query): StrictQuery<RunsQuery>,
) -> Result<Response, ApiError> {
    cached_json(store, conditional, Store::list_state, move |store| list_runs(store, &query)).await
}

/// The length of a date, as in 2026-02-05.
const DATE_LEN: usize = 10;

fn list_runs(store: &Store, query: &RunsQuery) -> Result<Runs, ApiError> {
    let known = store.known()?;
    let wanted = RunsFilter::parse(query)?;
    let mut all: Vec<_> = known.runs.iter().chain(&known.partial).collect();
    all.sort_by(|one, two| two.timestamp.cmp(&one.timestamp));
    let mut found: Vec<_> = all.iter().copied().filter(|run| wanted.matches(run)).collect();
    sort_runs(&mut found, query);
    let page = found.iter().skip(query.offset).take(query.limit.unwrap_or(usize::MAX));
    let skipped = known.skipped.iter();
    let baselines = store.baselines();
    Ok(Runs {
        runs: page.map(|run| run_row(run, &baselines, recent_scores(&known, run, query.recent))).collect(),
        matching: found.len(),
        known: all.len(),
        live: store.live().runs(),
        experiments: count_experiments(&all),
        tags: count_tags(&all),
        skipped: skipped.map(|it| SkippedFile { file: it.file.clone(), reason: it.reason.clone() }).collect(),
    })
}

/// The experiments, ordered by their newest run.
fn count_experiments(runs: &[&RunView]) -> Vec<CountedName> {
    let (mut experiments, mut places) = (Vec::<CountedName>::new(), HashMap::new());
    for run in runs {
        let place = *places.entry(&run.experiment).or_insert(experiments.len());
        match experiments.get_mut(place) {
            Some(experiment) => experiment.runs += 1,
            None => experiments.push(CountedName { name: run.experiment.clone(), runs: 1 }),
        }
    }
    experiments
}

fn count_tags(runs: &[&RunView]) -> Vec<CountedName> {
    let mut tags: BTreeMap<&str, usize> = BTreeMap::new();
    runs.iter().flat_map(|run| &run.tags).for_each(|tag| *tags.entry(tag).or_default() += 1);
    tags.into_iter().map(|(name, runs)| CountedName { name: name.to_owned(), runs }).collect()
}

/// The parsed query.
struct RunsFilter<'a> {
    query: &'a RunsQuery,
    /// In lower case.
    search: Option<String>,
    since: Option<String>,
    until: Option<Until<'a>>,
}

/// The upper bound of the start time.
enum Until<'a> {
    /// Including this whole day.
    Date(&'a str),
    Time(String),
}

impl<'a> RunsFilter<'a> {
    fn parse(query: &'a RunsQuery) -> Result<Self, ApiError> {
        let until = query.until.as_deref().map(|text| {
            let time = parse_time("until", text)?;
            // Only a date has this length and is a prefix of its time.
            let is_date = text.len() == DATE_LEN && time.starts_with(text);
            Ok::<_, ApiError>(if is_date { Until::Date(text) } else { Until::Time(time) })
        });
        Ok(Self {
            query,
            search: query.search.as_ref().map(|text| text.to_lowercase()),
            since: query.since.as_deref().map(|text| parse_time("since", text)).transpose()?,
            until: until.transpose()?,
        })
    }

    fn matches(&self, run: &RunView) -> bool {
        let RunsQuery { experiment, tag, tags, verdict, .. } = self.query;
        let has_one = |tags: &String| {
            let mut tags = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).peekable();
            tags.peek().is_none() || tags.any(|tag| run.tags.iter().any(|has| has == tag))
        };
        let has_text = |text: &String| {
            let texts = run
                .tags
                .iter()
                .chain([&run.experiment, &run.id])
                .chain(&run.run_name)
                .chain(&run.metrics.git_commit)
                .chain(&run.metrics.git_branch);
            texts.into_iter().any(|it| contains_ignore_case(it, text))
        };
        let is_before = |until: &Until<'_>| match until {
            Until::Date(date) => run.timestamp.get(..DATE_LEN).is_some_and(|day| day <= *date),
            Until::Time(time) => run.timestamp <= *time,
        };
        experiment.as_ref().is_none_or(|typed| run.is_of(typed))
            && tag.as_ref().is_none_or(|tag| run.tags.contains(tag))
            && tags.as_ref().is_none_or(has_one)
            && verdict.is_none_or(|verdict| verdict == run.verdict())
            && self.since.as_ref().is_none_or(|since| run.timestamp >= *since)
            && self.until.as_ref().is_none_or(is_before)
            && self.search.as_ref().is_none_or(has_text)
    }
}

/// Sorts runs stably; they are in newest-first order.
fn sort_runs(runs: &mut [&RunView], query: &RunsQuery) {
    let is_descending = match query.order {
        Some(order) => order == Order::Desc,
        None => query.sort != RunSort::Name,
    };
    let turned = |order: Ordering| if is_descending { order.reverse() } else { order };
    runs.sort_by(|one, two| match query.sort {
        RunSort::Timestamp => turned(one.timestamp.cmp(&two.timestamp)),
        RunSort::Name => turned(one.experiment.cmp(&two.experiment)),
        RunSort::Verdict => turned(one.verdict().cmp(&two.verdict())),
        sort => cmp_known_first(sort_value(one, sort), sort_value(two, sort), is_descending),
    });
}

fn sort_value(run: &RunView, sort: RunSort) -> Option<f64> {
    let integer = |number: i64| Some(number as f64);
    match sort {
        RunSort::Timestamp | RunSort::Name | RunSort::Verdict => None,
        RunSort::Score => run.mean_score(),
        RunSort::Items => Some(run.items.total as f64),
        RunSort::Errors => integer(run.errors()),
        RunSort::Duration => integer(run.duration_ms),
        RunSort::Latency => Some(run.metrics.avg_latency_ms),
        RunSort::Tokens => run.metrics.total_tokens.and_then(integer),
        RunSort::Cost => run.total_cost(),
    }
}

/// Each evaluator's means in the last `recent` runs of an experiment up to this one.
fn recent_scores(known: &RunList, run: &RunView, recent: usize) -> BTreeMap<String, Vec<Option<f64>>> {
    if recent == 0 {
        return BTreeMap::new();
    }
    let mut runs: Vec<_> = known.runs_up_to(run).take(recent).collect();
    runs.reverse();
    let names = run.scores.keys();
    names.map(|name| (name.clone(), runs.iter().map(|run| run.scores.get(name).copied()).collect())).collect()
}

pub fn run_row(
    run: &RunView,
    baselines: &BaselineSources,
    recent_scores: BTreeMap<String, Vec<Option<f64>>>,
) -> RunRow {
    RunRow {
        facts: RunFacts::from(run),
        name: run.experiment.clone(),
        avg_scores: run.scores.clone(),
        status: run.status,
        passed_items: to_i64(run.items.passed),
        low_items: to_i64(run.items.below_pass_mark),
        failed_items: run.metrics.failed_items,
        eval_errors: run.metrics.eval_errors,
        is_baseline: baselines.is_source(&run.id),
        recent_scores,
    }
}

fn to_i64(number: usize) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
