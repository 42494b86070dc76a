//! `/api/runs/ID/items` and `/api/runs/ID/items/KEY`: the items of a run, and one of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt_core::report::{ItemResult, Status};
use cobalt_core::wording;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::respond::{Asked, Conditional, Named, Order, answer, known_first};
use crate::serve::error::ApiError;
use crate::serve::store::{FileProblem, LoadedItem, LoadedRun, Store};

/// Which items, and in which order.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ItemsQuery {
    /// The most items to answer with: 100 where it is not given, at most 1000.
    pub limit: Option<usize>,
    /// How many of the first are left out.
    pub offset: usize,
    /// What the items are sorted by: `index`, `key`, `status`, `latency`, `tokens`, `cost`, or `score:NAME` for the mean score
    /// of that evaluator; by their index, where it is not given. Items without the figure come last.
    pub sort: Option<String>,
    /// Which way; the smallest or the worst first, where it is not given.
    pub order: Option<Order>,
    /// Only items with this text in their key, input, output or error, whatever its case.
    pub search: Option<String>,
    /// Only items of this state.
    pub state: Option<ItemState>,
    /// Only items that this evaluator has scored, from `minScore` to `maxScore`.
    pub evaluator: Option<String>,
    /// The lowest mean score, of `evaluator` or, where none is named, of all.
    pub min_score: Option<f64>,
    /// The highest mean score, of `evaluator` or, where none is named, of all.
    pub max_score: Option<f64>,
}

/// A state by which items are filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ItemState {
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
pub struct Items {
    pub items: Vec<ItemRow>,
    /// How many items match.
    pub matching: usize,
    /// How many items the run has, so far.
    pub total: usize,
}

/// An item as a list has it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemRow {
    /// The item's identity.
    pub key: String,
    /// The item's place in the data set, from 0.
    pub index: usize,
    /// The item's name in test cases.
    pub name: String,
    /// Whether it is at or above every pass mark in every trial, without an error.
    pub passed: bool,
    /// The worst of its runs'.
    pub status: Status,
    /// How often it was run.
    pub runs: usize,
    /// The evaluators that scored it below their mark in some run.
    pub low: Vec<String>,
    /// The evaluators that gave no score in some run.
    pub eval_errors: Vec<String>,
    /// The beginning of its input.
    pub input: String,
    /// The beginning of what the agent returned in the first run; absent where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The beginning of why there is no output, or of why an evaluator gave no score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The mean over the runs, in milliseconds.
    pub latency_ms: f64,
    /// The agent's over all runs; absent where none were reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The agent's over all runs, in USD; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// Each evaluator's mean score over the runs; one that gave none is absent.
    pub scores: BTreeMap<String, f64>,
}

/// An item whole.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WholeItem {
    /// All of it.
    pub item: ItemResult,
    /// The same as lists have it.
    pub row: ItemRow,
    /// Its place among the items that were asked for, from 0; absent where it is none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<usize>,
    /// How many they are.
    pub matching: usize,
    /// The key of the one before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// The key of the one after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// How many items are answered with where nothing is said, and how many at most.
const PAGE: usize = 100;
const LARGEST_PAGE: usize = 1000;

pub async fn items(
    State(store): State<Arc<Store>>,
    Named(id): Named<String>,
    conditional: Conditional,
    Asked(query): Asked<ItemsQuery>,
) -> Result<Response, ApiError> {
    let of = id.clone();
    answer(store, conditional, move |store| store.run_state(&of), move |store| page(store, &id, &query)).await
}

pub async fn item(
    State(store): State<Arc<Store>>,
    Named((id, key)): Named<(String, String)>,
    conditional: Conditional,
    Asked(query): Asked<ItemsQuery>,
) -> Result<Response, ApiError> {
    let of = id.clone();
    answer(
        store,
        conditional,
        move |store| store.run_state(&of),
        move |store| whole(store, &id, &key, &query),
    )
    .await
}

fn page(store: &Store, id: &str, query: &ItemsQuery) -> Result<Items, ApiError> {
    store.of_run(id, |run| {
        let matching = matching(store, run, query)?;
        let limit = query.limit.unwrap_or(PAGE).min(LARGEST_PAGE);
        let page = matching.iter().skip(query.offset).take(limit);
        Ok(Items {
            items: page.map(|item| row(run, item)).collect(),
            matching: matching.len(),
            total: run.items.len(),
        })
    })
}

fn whole(store: &Store, id: &str, key: &str, query: &ItemsQuery) -> Result<WholeItem, ApiError> {
    store.of_run(id, |run| {
        let found = run.items.iter().find(|item| *item.key == *key);
        let found = found.ok_or_else(|| {
            ApiError::not_found(format!(
                "run `{id}` has no item `{key}`; `/api/runs/{id}/items` names those it has"
            ))
        })?;
        let matching = matching(store, run, query)?;
        let position = matching.iter().position(|item| item.key == found.key);
        let key_at = |place: Option<usize>| Some(matching.get(place?)?.key.to_string());
        let mut item = run.file.reader()?.item(&found.place)?;
        item.passed = found.passed;
        Ok(WholeItem {
            item,
            row: row(run, found),
            position,
            previous: key_at(position.and_then(|place| place.checked_sub(1))),
            next: key_at(position.map(|place| place + 1)),
            matching: matching.len(),
        })
    })
}

/// The items that a query lets through, in its order.
fn matching<'a>(
    store: &Store,
    run: &'a LoadedRun,
    query: &ItemsQuery,
) -> Result<Vec<&'a LoadedItem>, FileProblem> {
    let scores = ScoreRange::of(run, query)?;
    let sort = ItemSort::of(run, query.sort.as_deref().unwrap_or("index"))?;
    let mut items: Vec<_> = match query.search.as_deref().filter(|text| !text.is_empty()) {
        None => run.items.iter().collect(),
        Some(text) => store.found(run, text)?.iter().map(|place| &run.items[*place]).collect(),
    };
    items.retain(|item| {
        query.state.is_none_or(|state| is_in(run, item, state))
            && scores.as_ref().is_none_or(|it| it.has(item))
    });
    sort.apply(&mut items, query.order);
    Ok(items)
}

fn row(run: &LoadedRun, item: &LoadedItem) -> ItemRow {
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
        low: run.low(item).map(str::to_owned).collect(),
        eval_errors: missing.map(|(_, name)| name.clone()).collect(),
        input: item.input.to_string(),
        output: item.output.as_ref().map(ToString::to_string),
        error: item.error.as_ref().map(ToString::to_string),
        latency_ms: item.latency_ms,
        tokens: item.tokens,
        cost: item.cost,
        scores: scores.collect(),
    }
}
pub fn is_in(run: &LoadedRun, item: &LoadedItem, state: ItemState) -> bool {
    match state {
        ItemState::Passed => item.passed,
        ItemState::Failing => !item.passed,
        ItemState::Low => run.low(item).next().is_some(),
        ItemState::Error => item.status == Status::Error,
        ItemState::Timeout => item.status == Status::Timeout,
        ItemState::EvalError => (0..run.head.config.evaluators.len()).any(|at| item.scores.is_missing(at)),
    }
}

/// Which scores are asked for.
struct ScoreRange {
    evaluators: std::ops::Range<usize>,
    low: f64,
    high: f64,
}

impl ScoreRange {
    /// `None` where any will do.
    fn of(run: &LoadedRun, query: &ItemsQuery) -> Result<Option<Self>, ApiError> {
        let ItemsQuery { evaluator, min_score, max_score, .. } = query;
        if evaluator.is_none() && min_score.is_none() && max_score.is_none() {
            return Ok(None);
        }
        let (low, high) = (min_score.unwrap_or(0.0), max_score.unwrap_or(1.0));
        if low > high || low.is_nan() || high.is_nan() {
            return Err(ApiError::bad_request(format!(
                "no score is from {low} to {high}: give `minScore` and `maxScore` from 0 to 1, the smaller one first"
            )));
        }
        let evaluators = match evaluator {
            Some(name) => evaluator_of(run, name).map(|at| at..at + 1)?,
            None => 0..run.head.config.evaluators.len(),
        };
        Ok(Some(Self { evaluators, low, high }))
    }

    fn has(&self, item: &LoadedItem) -> bool {
        let mut scores = self.evaluators.clone().filter_map(|at| item.scores.mean(at));
        scores.any(|score| (self.low..=self.high).contains(&score))
    }
}

/// The place of an evaluator that was asked for.
pub fn evaluator_of(run: &LoadedRun, name: &str) -> Result<usize, ApiError> {
    run.evaluator(name).ok_or_else(|| {
        let names = run.head.config.evaluators.iter().map(String::as_str);
        let id = &run.head.id;
        ApiError::bad_request(format!(
            "run `{id}` has no evaluator `{name}`; {}",
            wording::instead(name, names)
        ))
    })
}

/// What items are sorted by.
enum ItemSort {
    Index,
    Key,
    Status,
    Latency,
    Tokens,
    Cost,
    /// The mean of the evaluator at this place.
    Score(usize),
}

impl ItemSort {
    fn of(run: &LoadedRun, name: &str) -> Result<Self, ApiError> {
        Ok(match name {
            "index" => Self::Index,
            "key" => Self::Key,
            "status" => Self::Status,
            "latency" => Self::Latency,
            "tokens" => Self::Tokens,
            "cost" => Self::Cost,
            other => match other.strip_prefix("score:") {
                Some(evaluator) => Self::Score(evaluator_of(run, evaluator)?),
                None => {
                    return Err(ApiError::bad_request(format!(
                        "`{other}` is nothing that items are sorted by: `index`, `key`, `status`, `latency`, `tokens`, \
                         `cost`, `score:NAME`"
                    )));
                }
            },
        })
    }

    /// Sorts items, which are in the data set's order: that remains among equals.
    fn apply(&self, items: &mut Vec<&LoadedItem>, order: Option<Order>) {
        let is_descending = order == Some(Order::Desc);
        match self {
            Self::Index if is_descending => items.reverse(),
            Self::Index => {}
            Self::Key if is_descending => items.sort_by(|one, two| two.key.cmp(&one.key)),
            Self::Key => items.sort_by(|one, two| one.key.cmp(&two.key)),
            _ => {
                let figures = items.iter().map(|item| (self.figure(item), *item));
                let mut sorted: Vec<_> = figures.collect();
                sorted.sort_by(|one, two| known_first(one.0, two.0, is_descending));
                *items = sorted.into_iter().map(|(_, item)| item).collect();
            }
        }
    }

    fn figure(&self, item: &LoadedItem) -> Option<f64> {
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
