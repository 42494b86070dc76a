//! The items of a run as lists have them, filtered and sorted.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use cobalt::Report;
use cobalt::llm::prices::PriceTable;
use cobalt::report::{ItemResult, MeasuredItem, Measurements, RunConfig, Status};
use cobalt::wording::cut;
use serde_json::Value;

use super::Store;
use crate::serve::api::{ApiError, ItemRow, ItemState, Items, ItemsQuery, Order, WholeItem};

/// How many items are answered with where nothing is said, and how many at most.
const PAGE: usize = 100;
const LARGEST_PAGE: usize = 1000;
/// How many characters of a text a list has.
const PREVIEW: usize = 200;

impl Store {
    pub(in crate::serve) fn items(&self, id: &str, query: &ItemsQuery) -> Result<Items, ApiError> {
        let report = self.report(id)?;
        let rows = rows(&report, self.settings.prices());
        let total = rows.len();
        let matching = matching(rows, &report.items, query)?;
        let limit = query.limit.unwrap_or(PAGE).min(LARGEST_PAGE);
        Ok(Items {
            matching: matching.len(),
            items: matching.into_iter().skip(query.offset).take(limit).collect(),
            total,
        })
    }

    pub(in crate::serve) fn item(
        &self,
        id: &str,
        key: &str,
        query: &ItemsQuery,
    ) -> Result<WholeItem, ApiError> {
        let report = self.report(id)?;
        let rows = rows(&report, self.settings.prices());
        let found = rows.iter().position(|row| row.key == key);
        let place = found.ok_or_else(|| ApiError::not_found(format!("run `{id}` has no item `{key}`")))?;
        let row = rows[place].clone();
        let matching = matching(rows, &report.items, query)?;
        let position = matching.iter().position(|row| row.key == key);
        let key_at = |place: Option<usize>| Some(matching.get(place?)?.key.clone());
        Ok(WholeItem {
            item: report.items[place].clone(),
            row,
            position,
            previous: key_at(position.and_then(|place| place.checked_sub(1))),
            next: key_at(position.map(|place| place + 1)),
            matching: matching.len(),
        })
    }
}

/// All items of a run.
pub(super) fn rows(report: &Report, prices: &PriceTable) -> Vec<ItemRow> {
    let measured = Measurements::of(report, prices).items;
    let parts = report.items.iter().zip(measured).zip(report.case_names());
    parts.map(|((item, measured), name)| row(item, measured, name, &report.config)).collect()
}

fn row(item: &ItemResult, measured: MeasuredItem, name: String, config: &RunConfig) -> ItemRow {
    let output = item.first().output.as_ref().map(|output| preview(&output.text()));
    let without_score = |name: &&String| {
        item.runs.iter().any(|run| run.evaluations.get(name).is_some_and(|it| it.score.is_none()))
    };
    let mean = |scores: &[f64]| scores.iter().sum::<f64>() / scores.len() as f64;
    ItemRow {
        key: measured.key,
        index: item.index,
        name,
        passed: item.passed,
        status: item.status(),
        runs: item.runs.len(),
        low: config.low_scores(item).map(|(name, _)| name.to_owned()).collect(),
        eval_errors: config.evaluators.iter().filter(without_score).cloned().collect(),
        input: preview(&input(item)),
        output,
        error: item.why_in_error().map(|error| preview(&error)),
        latency_ms: measured.latency_ms,
        tokens: measured.tokens,
        cost: measured.cost,
        scores: measured
            .scores
            .iter()
            .map(|(name, scores)| (name.clone(), mean(scores)))
            .collect::<BTreeMap<_, _>>(),
    }
}

/// The item's input, or all of the item where it has no field of that name.
fn input(item: &ItemResult) -> String {
    match item.input.get("input") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => Value::Object((*item.input).clone()).to_string(),
    }
}

fn preview(text: &str) -> String {
    cut(text, PREVIEW).to_string()
}

/// The items that a query lets through, in its order.
fn matching(rows: Vec<ItemRow>, items: &[ItemResult], query: &ItemsQuery) -> Result<Vec<ItemRow>, ApiError> {
    let search = query.search.as_deref().map(str::to_lowercase);
    let has_text = |item: &ItemResult, row: &ItemRow| {
        search.as_deref().is_none_or(|search| {
            let whole = serde_json::to_string(item).unwrap_or_default().to_lowercase();
            row.key.to_lowercase().contains(search) || whole.contains(search)
        })
    };
    let rows = rows.into_iter().zip(items).filter(|(row, item)| {
        query.state.is_none_or(|state| is_in(row, state)) && has_score(row, query) && has_text(item, row)
    });
    let mut rows: Vec<_> = rows.map(|(row, _)| row).collect();
    let figure = figure(query.sort.as_deref().unwrap_or("index"))?;
    if query.sort.as_deref() == Some("key") {
        rows.sort_by(|one, two| one.key.cmp(&two.key));
    } else {
        rows.sort_by(|one, two| known_first(figure(one), figure(two), query.order));
    }
    Ok(rows)
}

pub(super) fn is_in(row: &ItemRow, state: ItemState) -> bool {
    match state {
        ItemState::Passed => row.passed,
        ItemState::Failing => !row.passed,
        ItemState::Low => !row.low.is_empty(),
        ItemState::Error => row.status == Status::Error,
        ItemState::Timeout => row.status == Status::Timeout,
        ItemState::EvalError => !row.eval_errors.is_empty(),
    }
}

fn has_score(row: &ItemRow, query: &ItemsQuery) -> bool {
    if query.evaluator.is_none() && query.min_score.is_none() && query.max_score.is_none() {
        return true;
    }
    let is_meant = |name: &&String| query.evaluator.as_ref().is_none_or(|evaluator| evaluator == *name);
    let (low, high) = (query.min_score.unwrap_or(0.0), query.max_score.unwrap_or(1.0));
    let mut scores = row.scores.iter().filter(|(name, _)| is_meant(name));
    scores.any(|(_, score)| (low..=high).contains(score))
}

/// What the name of an order means.
fn figure(sort: &str) -> Result<Box<dyn Fn(&ItemRow) -> Option<f64> + '_>, ApiError> {
    Ok(match sort {
        "index" | "key" => Box::new(|row| Some(row.index as f64)),
        "status" => Box::new(|row| {
            Some(match (row.status, row.passed) {
                (Status::Error, _) => 0.0,
                (Status::Timeout, _) => 1.0,
                (Status::Ok, false) => 2.0,
                (Status::Ok, true) if !row.low.is_empty() => 3.0,
                (Status::Ok, true) => 4.0,
            })
        }),
        "latency" => Box::new(|row| Some(row.latency_ms)),
        "tokens" => Box::new(|row| row.tokens.map(|tokens| tokens as f64)),
        "cost" => Box::new(|row| row.cost),
        other => match other.strip_prefix("score:") {
            Some(evaluator) => Box::new(move |row| row.scores.get(evaluator).copied()),
            None => {
                return Err(ApiError::bad_request(format!(
                    "`{other}` is nothing that items are sorted by: `index`, `key`, `status`, `latency`, `tokens`, `cost`, \
                     `score:NAME`"
                )));
            }
        },
    })
}

/// Those without a figure come last, whichever way the others go.
fn known_first(one: Option<f64>, two: Option<f64>, order: Option<Order>) -> Ordering {
    match (one, two) {
        (Some(one), Some(two)) if order == Some(Order::Desc) => two.total_cmp(&one),
        (Some(one), Some(two)) => one.total_cmp(&two),
        (one, two) => two.is_some().cmp(&one.is_some()),
    }
}
