//! `/api/runs/ID/items` and `/api/runs/ID/items/KEY`: the items of a run, and a single item.

mod query;
mod row;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt_core::report::{ItemResult, Status};
use cobalt_core::wording;
use schemars::JsonSchema;
use serde::Serialize;

pub use self::query::{ItemState, ItemsQuery};
pub use self::row::{ItemRow, ItemTraffic, Items};
use super::respond::{Conditional, Order, PathParams, StrictQuery, cached_json, cmp_known_first};
use crate::serve::error::ApiError;
use crate::serve::store::{LoadedItem, LoadedRun, RunFileError, Store};

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
            fields: Vec::new(),
            groups: None,
            counts: None,
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
        values: BTreeMap::new(),
        compared: Vec::new(),
        changes: BTreeMap::new(),
        is_missing: false,
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
