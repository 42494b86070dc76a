//! `/api/runs`: the runs that there are.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt_core::names::is_name_of;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::respond::{Asked, Conditional, Order, answer, known_first, moment};
use crate::index::RunStatus;
use crate::runs::{RunFigures, RunOutcome, RunView};
use crate::serve::error::ApiError;
use crate::serve::live::LiveRun;
use crate::serve::store::{Known, Store, has_text};

/// Which runs, and in which order.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RunsQuery {
    /// The most runs to answer with; all, where it is not given.
    pub limit: Option<usize>,
    /// How many of the first are left out.
    pub offset: usize,
    /// What the runs are sorted by; by their start, where it is not given.
    pub sort: RunSort,
    /// Which way; the largest, the latest or the worst first, where it is not given, and names from A.
    pub order: Option<Order>,
    /// Only runs with this text in their name, id, tags or commit, whatever its case.
    pub search: Option<String>,
    /// Only runs of the experiment of this name.
    pub experiment: Option<String>,
    /// Only runs with this tag.
    pub tag: Option<String>,
    /// Only runs with one of these tags, separated by commas.
    pub tags: Option<String>,
    /// Only runs with this verdict.
    pub verdict: Option<RunOutcome>,
    /// Only runs that started then or later: a date, or a time in ISO 8601.
    pub since: Option<String>,
    /// Only runs that started then or earlier: a date, which counts in, or a time.
    pub until: Option<String>,
    /// With each run, the averages of so many runs of its experiment, the last of which it is itself.
    pub recent: usize,
}

/// What runs can be sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunSort {
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

/// The runs that were asked for.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Runs {
    pub runs: Vec<RunRow>,
    /// How many runs match.
    pub matching: usize,
    /// How many runs there are.
    pub known: usize,
    /// The runs that have not ended, the newest first, whatever was asked for.
    pub live: Vec<LiveRun>,
    /// The experiments that have runs, that of the newest run first, with how many they have.
    pub experiments: Vec<Counted>,
    /// The tags that runs have, sorted, with how many runs have them.
    pub tags: Vec<Counted>,
    /// Files among the results that could not be read, and why.
    pub skipped: Vec<SkippedFile>,
}

/// A name, and how many runs have it.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Counted {
    pub name: String,
    pub runs: usize,
}

/// A file that is left out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SkippedFile {
    pub file: String,
    pub reason: String,
}

/// A run that has ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    #[serde(flatten)]
    pub facts: RunFacts,
    /// The experiment's name.
    pub name: String,
    /// Each evaluator's mean, from 0 to 1; one that gave no score is absent.
    pub avg_scores: BTreeMap<String, f64>,
    /// What became of it; of a partial run too, of which the verdict does not tell it.
    #[schemars(with = "Outcome")]
    pub status: RunStatus,
    /// Items at or above every pass mark, without an error.
    pub passed_items: i64,
    /// Items below a pass mark, without an error.
    pub low_items: i64,
    /// Items whose agent failed or timed out.
    pub failed_items: i64,
    /// Evaluations without a score.
    pub eval_errors: i64,
    /// Each evaluator's means in the runs of the experiment up to this one, oldest first; null where a run has none.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub recent_scores: BTreeMap<String, Vec<Option<f64>>>,
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

/// What is told of a run that has ended, wherever it is listed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunFacts {
    id: String,
    /// The start, ISO 8601 in UTC.
    timestamp: String,
    tags: Vec<String>,
    verdict: RunOutcome,
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

impl From<&RunView> for RunFacts {
    fn from(run: &RunView) -> Self {
        let RunFigures { avg_latency_ms, total_tokens, cost, judge_cost, git_dirty, .. } = run.figures;
        Self {
            id: run.id.clone(),
            timestamp: run.timestamp.clone(),
            tags: run.tags.clone(),
            verdict: run.verdict(),
            total_items: integer(run.items.total),
            duration_ms: run.duration_ms,
            avg_latency_ms,
            total_tokens,
            cost,
            judge_cost,
            git_commit: run.figures.git_commit.clone(),
            git_dirty,
            dataset_hash: run.figures.dataset_hash.clone(),
        }
    }
}

pub async fn runs(
    State(store): State<Arc<Store>>,
    conditional: Conditional,
    Asked(query): Asked<RunsQuery>,
) -> Result<Response, ApiError> {
    answer(store, conditional, Store::list_state, move |store| list(store, &query)).await
}

/// How long a date is, as in 2026-02-05.
const DATE: usize = 10;

fn list(store: &Store, query: &RunsQuery) -> Result<Runs, ApiError> {
    let known = store.known()?;
    let wanted = Wanted::of(query)?;
    let mut all: Vec<_> = known.runs.iter().chain(&known.partial).collect();
    all.sort_by(|one, two| two.timestamp.cmp(&one.timestamp));
    let mut found: Vec<_> = all.iter().copied().filter(|run| wanted.has(run)).collect();
    sort(&mut found, query);
    let page = found.iter().skip(query.offset).take(query.limit.unwrap_or(usize::MAX));
    let skipped = known.skipped.iter();
    Ok(Runs {
        runs: page.map(|run| row(run, recent_scores(&known, run, query.recent))).collect(),
        matching: found.len(),
        known: all.len(),
        live: store.live().runs(),
        experiments: experiments(&all),
        tags: tags(&all),
        skipped: skipped.map(|it| SkippedFile { file: it.file.clone(), reason: it.reason.clone() }).collect(),
    })
}

/// The experiments, that of the newest run first.
fn experiments(runs: &[&RunView]) -> Vec<Counted> {
    let (mut experiments, mut places) = (Vec::<Counted>::new(), HashMap::new());
    for run in runs {
        let place = *places.entry(&run.experiment).or_insert(experiments.len());
        match experiments.get_mut(place) {
            Some(experiment) => experiment.runs += 1,
            None => experiments.push(Counted { name: run.experiment.clone(), runs: 1 }),
        }
    }
    experiments
}

fn tags(runs: &[&RunView]) -> Vec<Counted> {
    let mut tags: BTreeMap<&str, usize> = BTreeMap::new();
    runs.iter().flat_map(|run| &run.tags).for_each(|tag| *tags.entry(tag).or_default() += 1);
    tags.into_iter().map(|(name, runs)| Counted { name: name.to_owned(), runs }).collect()
}

/// Which runs are asked for.
struct Wanted<'a> {
    query: &'a RunsQuery,
    /// In small letters.
    search: Option<String>,
    since: Option<String>,
    until: Option<Until<'a>>,
}

/// The end of a time.
enum Until<'a> {
    /// With all of this day.
    Date(&'a str),
    Time(String),
}

impl<'a> Wanted<'a> {
    fn of(query: &'a RunsQuery) -> Result<Self, ApiError> {
        let until = query.until.as_deref().map(|text| {
            let time = moment("until", text)?;
            // Only a date is as short, and begins with a year.
            let is_date = text.len() == DATE && time.starts_with(text);
            Ok::<_, ApiError>(if is_date { Until::Date(text) } else { Until::Time(time) })
        });
        Ok(Self {
            query,
            search: query.search.as_ref().map(|text| text.to_lowercase()),
            since: query.since.as_deref().map(|text| moment("since", text)).transpose()?,
            until: until.transpose()?,
        })
    }

    fn has(&self, run: &RunView) -> bool {
        let RunsQuery { experiment, tag, tags, verdict, .. } = self.query;
        let has_one = |tags: &String| {
            let mut tags = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).peekable();
            tags.peek().is_none() || tags.any(|tag| run.tags.iter().any(|has| has == tag))
        };
        let has_text = |text: &String| {
            let texts = run.tags.iter().chain([&run.experiment, &run.id]).chain(&run.figures.git_commit);
            texts.into_iter().any(|it| has_text(it, text))
        };
        let is_before = |until: &Until<'_>| match until {
            Until::Date(date) => run.timestamp.get(..DATE).is_some_and(|day| day <= *date),
            Until::Time(time) => run.timestamp <= *time,
        };
        experiment.as_ref().is_none_or(|typed| is_name_of(typed, &run.experiment))
            && tag.as_ref().is_none_or(|tag| run.tags.contains(tag))
            && tags.as_ref().is_none_or(has_one)
            && verdict.is_none_or(|verdict| verdict == run.verdict())
            && self.since.as_ref().is_none_or(|since| run.timestamp >= *since)
            && self.until.as_ref().is_none_or(is_before)
            && self.search.as_ref().is_none_or(has_text)
    }
}

/// Sorts runs, of which the newest is the first: that remains among equals.
fn sort(runs: &mut [&RunView], query: &RunsQuery) {
    let is_descending = match query.order {
        Some(order) => order == Order::Desc,
        None => query.sort != RunSort::Name,
    };
    let turned = |order: Ordering| if is_descending { order.reverse() } else { order };
    runs.sort_by(|one, two| match query.sort {
        RunSort::Timestamp => turned(one.timestamp.cmp(&two.timestamp)),
        RunSort::Name => turned(one.experiment.cmp(&two.experiment)),
        RunSort::Verdict => turned(one.verdict().cmp(&two.verdict())),
        sort => known_first(figure(one, sort), figure(two, sort), is_descending),
    });
}

fn figure(run: &RunView, sort: RunSort) -> Option<f64> {
    let integer = |number: i64| Some(number as f64);
    match sort {
        RunSort::Timestamp | RunSort::Name | RunSort::Verdict => None,
        RunSort::Score => run.mean_score(),
        RunSort::Items => Some(run.items.total as f64),
        RunSort::Errors => integer(run.errors()),
        RunSort::Duration => integer(run.duration_ms),
        RunSort::Latency => Some(run.figures.avg_latency_ms),
        RunSort::Tokens => run.figures.total_tokens.and_then(integer),
        RunSort::Cost => run.total_cost(),
    }
}

/// Each evaluator's means in so many runs of an experiment up to this one.
fn recent_scores(known: &Known, run: &RunView, recent: usize) -> BTreeMap<String, Vec<Option<f64>>> {
    if recent == 0 {
        return BTreeMap::new();
    }
    let mut runs: Vec<_> = known.up_to(run).take(recent).collect();
    runs.reverse();
    let names = run.scores.keys();
    names.map(|name| (name.clone(), runs.iter().map(|run| run.scores.get(name).copied()).collect())).collect()
}

fn row(run: &RunView, recent_scores: BTreeMap<String, Vec<Option<f64>>>) -> RunRow {
    RunRow {
        facts: RunFacts::from(run),
        name: run.experiment.clone(),
        avg_scores: run.scores.clone(),
        status: run.status,
        passed_items: integer(run.items.passed),
        low_items: integer(run.items.below_pass_mark),
        failed_items: run.figures.failed_items,
        eval_errors: run.figures.eval_errors,
        recent_scores,
    }
}

fn integer(number: usize) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}
