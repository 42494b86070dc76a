//! `/api/runs/ID/items` and `/api/runs/ID/items/KEY`: the items of a run, and a single item.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt_core::report::{ItemResult, Status};
use cobalt_core::wording;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::respond::{Conditional, Order, PathParams, StrictQuery, cached_json, cmp_known_first};
use crate::serve::error::ApiError;
use crate::serve::store::{LoadedItem, LoadedRun, LoadedTraffic, RunFileError, Store};

/// A selection of items, and their order.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ItemsQuery {
    /// The maximum number of items to return: 100 by default, at most 1000.
    pub limit: Option<usize>,
    /// The number of items to skip.
    pub offset: usize,
    /// The sort key: `index` (default), `key`, `status`, `latency`, `tokens`, `cost`, or `score:NAME` for an evaluator's mean score.
    /// Items without a value come last.
    pub sort: Option<String>,
    /// The sort direction; by default the smallest or worst first.
    pub order: Option<Order>,
    /// Only items with this text in their key, input, output or error; case-insensitive.
    pub search: Option<String>,
    /// Only items in this state.
    pub state: Option<ItemState>,
    /// Only items scored by this evaluator, from `minScore` to `maxScore`.
    pub evaluator: Option<String>,
    /// The minimum mean score, of `evaluator` or else of any evaluator.
    pub min_score: Option<f64>,
    /// The maximum mean score, of `evaluator` or else of any evaluator.
    pub max_score: Option<f64>,
}

/// An item state to filter by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ItemState {
    /// At or above every pass mark, without an error.
    Passed,
    /// Below a pass mark, or in error.
    Failing,
    /// A score is below its pass mark, whether or not that fails the item.
    Low,
    /// The agent failed in a trial.
    Error,
    /// The agent timed out in a trial.
    Timeout,
    /// An evaluator gave no score.
    EvalError,
    /// The conversation with a model diverged from the recording in a trial.
    Diverged,
    /// An attempt at a trial failed with a transient error and was retried.
    Retried,
}

/// The requested items.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Items {
    pub items: Vec<ItemRow>,
    /// The number of matching items.
    pub matching: usize,
    /// The number of items in the run so far.
    pub total: usize,
}

/// An item in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemRow {
    /// The item's key.
    pub key: String,
    /// The item's index in the dataset, from 0.
    pub index: usize,
    /// The item's test-case name.
    pub name: String,
    /// Whether it is at or above every pass mark in every trial, without an error.
    pub passed: bool,
    /// The worst status of its trials.
    pub status: Status,
    /// The number of trials.
    pub runs: usize,
    /// The attempts that failed with a transient error and were retried, over all trials.
    pub retried: usize,
    /// The evaluators that scored it below their pass mark in a trial.
    pub low: Vec<String>,
    /// The evaluators that gave no score in a trial.
    pub eval_errors: Vec<String>,
    /// The evaluators that do not apply to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_applicable: Vec<String>,
    /// The start of its input.
    pub input: String,
    /// The start of the output of the first trial; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The start of the agent's or an evaluator's error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The mean over the trials, in milliseconds.
    pub latency_ms: f64,
    /// The agent's tokens over all trials; absent if none were reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The agent cost over all trials in USD; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Each evaluator's mean score over the trials; absent without a score.
    pub scores: BTreeMap<String, f64>,
    /// The model traffic of all trials; absent if none passed through the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<ItemTraffic>,
}

/// What was replayed of an item's model traffic, over all of its trials. If anything was, latency and cost are, to that extent, those
/// of the recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemTraffic {
    /// Requests answered from the recording.
    pub replayed: usize,
    /// Requests sent to a provider.
    pub live: usize,
    /// When the oldest replayed part was recorded, ISO 8601 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded_at: Option<String>,
    /// Whether the conversation of a trial diverged from the recording.
    pub diverged: bool,
}

impl From<&LoadedTraffic> for ItemTraffic {
    fn from(traffic: &LoadedTraffic) -> Self {
        Self {
            replayed: traffic.replayed,
            live: traffic.live,
            recorded_at: traffic.recorded_at.map(|at| at.to_string()),
            diverged: traffic.has_diverged,
        }
    }
}

/// An item with all of its data.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WholeItem {
    /// The complete item.
    pub item: ItemResult,
    /// The item as in lists.
    pub row: ItemRow,
    /// Its position among the matching items, from 0; absent if it does not match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// The number of matching items.
    pub matching: usize,
    /// The key of the previous item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// The key of the next item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The default and the maximum page size.
const DEFAULT_PAGE_SIZE: usize = 100;
const MAX_PAGE_SIZE: usize = 1000;

pub async fn items(
    State(store): State<Arc<Store>>,
    PathParams(id): PathParams<String>,
    conditional: Conditional,
    StrictQuery(query): StrictQuery<ItemsQuery>,
) -> Result<Response, ApiError> {
    let of = id.clone();
    cached_json(
        store,
        conditional,
        move |store| store.run_state(&of),
        move |store| items_page(store, &id, &query),
    )
    .await
}

pub async fn item(
    State(store): State<Arc<Store>>,
    PathParams((id, key)): PathParams<(String, String)>,
    conditional: Conditional,
    StrictQuery(query): StrictQuery<ItemsQuery>,
) -> Result<Response, ApiError> {
    let of = id.clone();
    cached_json(
        store,
        conditional,
        move |store| store.run_state(&of),
        move |store| whole_item(store, &id, &key, &query),
    )
    .await
}

fn items_page(store: &Store, id: &str, query: &ItemsQuery) -> Result<Items, ApiError> {
    store.with_run(id, |run| {
        let matching = matching_items(store, run, query)?;
        let limit = query.limit.unwrap_or(DEFAULT_PAGE_SIZE).min(MAX_PAGE_SIZE);
        let page = matching.iter().skip(query.offset).take(limit);
        Ok(Items {
            items: page.map(|item| item_row(run, item)).collect(),
            matching: matching.len(),
            total: run.items.len(),
        })
    })
}

fn whole_item(store: &Store, id: &str, key: &str, query: &ItemsQuery) -> Result<WholeItem, ApiError> {
    store.with_run(id, |run| {
        let found = run.items.iter().find(|item| *item.key == *key);
        let found = found.ok_or_else(|| {
            ApiError::not_found(format!(
                "run `{id}` has no item `{key}`; `/api/runs/{id}/items` lists its items"
            ))
        })?;
        let matching = matching_items(store, run, query)?;
        let position = matching.iter().position(|item| item.key == found.key);
        let key_at = |place: Option<usize>| Some(matching.get(place?)?.key.to_string());
        let mut item = run.file.reader()?.item(&found.place)?;
        item.passed = found.passed;
        Ok(WholeItem {
            item,
            row: item_row(run, found),
            position,
            previous: key_at(position.and_then(|place| place.checked_sub(1))),
            next: key_at(position.map(|place| place + 1)),
            matching: matching.len(),
        })
    })
}

/// The items that match a query, in its order.
fn matching_items<'a>(
    store: &Store,
    run: &'a LoadedRun,
    query: &ItemsQuery,
) -> Result<Vec<&'a LoadedItem>, RunFileError> {
    let scores = ScoreRange::parse(run, query)?;
    let sort = ItemSort::parse(run, query.sort.as_deref().unwrap_or("index"))?;
    let mut items: Vec<_> = match query.search.as_deref().filter(|text| !text.is_empty()) {
        None => run.items.iter().collect(),
        Some(text) => store.search(run, text)?.iter().map(|place| &run.items[*place]).collect(),
    };
    items.retain(|item| {
        query.state.is_none_or(|state| has_state(run, item, state))
            && scores.as_ref().is_none_or(|it| it.contains(item))
    });
    sort.apply(&mut items, query.order);
    Ok(items)
}

fn item_row(run: &LoadedRun, item: &LoadedItem) -> ItemRow {
    let config = &run.head.config;
    let names = || (0..).zip(&config.evaluators);
    let missing = names().filter(|(at, _)| item.scores.is_missing(*at));
    let scores = names().filter_map(|(at, name)| Some((name.clone(), item.scores.mean(at)?)));
    ItemRow {
        key: item.key.to_string(),
        index: item.index,
        name: item.name().to_owned(),
        passed: item.passed,
        status: item.status,
        runs: item.runs,
        retried: item.retried,
        low: run.below_pass_mark(item).map(str::to_owned).collect(),
        eval_errors: missing.map(|(_, name)| name.clone()).collect(),
        not_applicable: run.not_applicable(item).map(str::to_owned).collect(),
        input: item.input.to_string(),
        output: item.output.as_ref().map(ToString::to_string),
        error: item.error.as_ref().map(ToString::to_string),
        latency_ms: item.latency_ms,
        tokens: item.tokens,
        cost: item.cost,
        scores: scores.collect(),
        traffic: item.traffic.as_deref().map(ItemTraffic::from),
    }
}
pub fn has_state(run: &LoadedRun, item: &LoadedItem, state: ItemState) -> bool {
    match state {
        ItemState::Passed => item.passed,
        ItemState::Failing => !item.passed,
        ItemState::Low => run.below_pass_mark(item).next().is_some(),
        ItemState::Error => item.status == Status::Error,
        ItemState::Timeout => item.status == Status::Timeout,
        ItemState::EvalError => (0..run.head.config.evaluators.len()).any(|at| item.scores.is_missing(at)),
        ItemState::Diverged => item.traffic.as_ref().is_some_and(|traffic| traffic.has_diverged),
        ItemState::Retried => item.retried > 0,
    }
}

/// A filter by score.
struct ScoreRange {
    evaluators: std::ops::Range<usize>,
    low: f64,
    high: f64,
}

impl ScoreRange {
    /// `None` without a filter.
    fn parse(run: &LoadedRun, query: &ItemsQuery) -> Result<Option<Self>, ApiError> {
        let ItemsQuery { evaluator, min_score, max_score, .. } = query;
        if evaluator.is_none() && min_score.is_none() && max_score.is_none() {
            return Ok(None);
        }
        let (low, high) = (min_score.unwrap_or(0.0), max_score.unwrap_or(1.0));
        if low > high || low.is_nan() || high.is_nan() {
            return Err(ApiError::bad_request(format!(
                "invalid score range {low} to {high}: `minScore` and `maxScore` go from 0 to 1, with the smaller one in `minScore`"
            )));
        }
        let evaluators = match evaluator {
            Some(name) => evaluator_index(run, name).map(|at| at..at + 1)?,
            None => 0..run.head.config.evaluators.len(),
        };
        Ok(Some(Self { evaluators, low, high }))
    }

    fn contains(&self, item: &LoadedItem) -> bool {
        let mut scores = self.evaluators.clone().filter_map(|at| item.scores.mean(at));
        scores.any(|score| (self.low..=self.high).contains(&score))
    }
}

/// The index of the requested evaluator.
pub fn evaluator_index(run: &LoadedRun, name: &str) -> Result<usize, ApiError> {
    run.evaluator_index(name).ok_or_else(|| {
        let names = run.head.config.evaluators.iter().map(String::as_str);
        let id = &run.head.id;
        ApiError::bad_request(format!(
            "run `{id}` has no evaluator `{name}`; {}",
            wording::suggest_or_list(name, names)
        ))
    })
}

/// The sort key of items.
enum ItemSort {
    Index,
    Key,
    Status,
    Latency,
    Tokens,
    Cost,
    /// The mean score of the evaluator at this index.
    Score(usize),
}

impl ItemSort {
    fn parse(run: &LoadedRun, name: &str) -> Result<Self, ApiError> {
        Ok(match name {
            "index" => Self::Index,
            "key" => Self::Key,
            "status" => Self::Status,
            "latency" => Self::Latency,
            "tokens" => Self::Tokens,
            "cost" => Self::Cost,
            other => match other.strip_prefix("score:") {
                Some(evaluator) => Self::Score(evaluator_index(run, evaluator)?),
                None => {
                    return Err(ApiError::bad_request(format!(
                        "cannot sort items by `{other}`; use `index`, `key`, `status`, `latency`, `tokens`, `cost` or \
                         `score:NAME`"
                    )));
                }
            },
        })
    }

    /// Sorts items stably; they are in dataset order.
    fn apply(&self, items: &mut Vec<&LoadedItem>, order: Option<Order>) {
        let is_descending = order == Some(Order::Desc);
        match self {
            Self::Index if is_descending => items.reverse(),
            Self::Index => {}
            Self::Key if is_descending => items.sort_by(|one, two| two.key.cmp(&one.key)),
            Self::Key => items.sort_by(|one, two| one.key.cmp(&two.key)),
            _ => {
                let figures = items.iter().map(|item| (self.sort_value(item), *item));
                let mut sorted: Vec<_> = figures.collect();
                sorted.sort_by(|one, two| cmp_known_first(one.0, two.0, is_descending));
                *items = sorted.into_iter().map(|(_, item)| item).collect();
            }
        }
    }

    fn sort_value(&self, item: &LoadedItem) -> Option<f64> {
        match self {
            Self::Index | Self::Key => None,
            Self::Status => Some(match (item.status, item.passed) {
                (Status::Error, _) => 0.0,
                (Status::Timeout, _) => 1.0,
                (Status::Ok, false) => 2.0,
                (Status::Ok, true) => 3.0,
            }),
            Self::Latency => Some(item.latency_ms),
            Self::Tokens => item.tokens.map(|tokens| tokens as f64),
            Self::Cost => item.cost,
            Self::Score(evaluator) => item.scores.mean(*evaluator),
        }
    }
}
