//! The items of a run, filtered and sorted, and one of them whole.

use cobalt::report::Status;
use cobalt::suggest;

use super::Store;
use super::loaded::{FileProblem, LoadedItem, LoadedRun};
use super::order::known_first;
use crate::serve::api::{ApiError, Items, ItemsQuery, Order, WholeItem};

/// How many items are answered with where nothing is said, and how many at most.
const PAGE: usize = 100;
const LARGEST_PAGE: usize = 1000;

impl Store {
    pub(in crate::serve) fn items(&self, id: &str, query: &ItemsQuery) -> Result<Items, ApiError> {
        self.of_run(id, |run| {
            let matching = self.matching(run, query)?;
            let limit = query.limit.unwrap_or(PAGE).min(LARGEST_PAGE);
            let page = matching.iter().skip(query.offset).take(limit);
            Ok(Items {
                items: page.map(|item| run.row(item)).collect(),
                matching: matching.len(),
                total: run.items.len(),
            })
        })
    }

    pub(in crate::serve) fn item(
        &self,
        id: &str,
        key: &str,
        query: &ItemsQuery,
    ) -> Result<WholeItem, ApiError> {
        self.of_run(id, |run| {
            let found = run.items.iter().find(|item| *item.key == *key);
            let found = found.ok_or_else(|| {
                ApiError::not_found(format!(
                    "run `{id}` has no item `{key}`; `/api/runs/{id}/items` names those it has"
                ))
            })?;
            let matching = self.matching(run, query)?;
            let position = matching.iter().position(|item| item.key == found.key);
            let key_at = |place: Option<usize>| Some(matching.get(place?)?.key.to_string());
            let mut item = run.file.reader()?.item(&found.place)?;
            item.passed = found.passed;
            Ok(WholeItem {
                item,
                row: run.row(found),
                position,
                previous: key_at(position.and_then(|place| place.checked_sub(1))),
                next: key_at(position.map(|place| place + 1)),
                matching: matching.len(),
            })
        })
    }

    /// The items that a query lets through, in its order.
    fn matching<'a>(
        &self,
        run: &'a LoadedRun,
        query: &ItemsQuery,
    ) -> Result<Vec<&'a LoadedItem>, FileProblem> {
        let scores = ScoreRange::of(run, query)?;
        let sort = ItemSort::of(run, query.sort.as_deref().unwrap_or("index"))?;
        let mut items: Vec<_> = match query.search.as_deref().filter(|text| !text.is_empty()) {
            None => run.items.iter().collect(),
            Some(text) => self.found(run, text)?.iter().map(|place| &run.items[*place]).collect(),
        };
        items.retain(|item| {
            query.state.is_none_or(|state| run.is_in(item, state))
                && scores.as_ref().is_none_or(|it| it.has(item))
        });
        sort.apply(&mut items, query.order);
        Ok(items)
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
pub(super) fn evaluator_of(run: &LoadedRun, name: &str) -> Result<usize, ApiError> {
    run.evaluator(name).ok_or_else(|| {
        let names = run.head.config.evaluators.iter().map(String::as_str);
        let id = &run.head.id;
        ApiError::bad_request(format!(
            "run `{id}` has no evaluator `{name}`; {}",
            suggest::instead(name, names)
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
