//! `/api/runs/ID/items` and `/api/runs/ID/items/KEY`: the items of a run, and a single item.

mod column;
mod condition;
mod groups;
mod listing;
mod query;
mod row;
mod score_range;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt_core::report::{ItemResult, Status};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

pub use self::column::evaluator_index;
use self::column::{Column, parse_columns};
pub use self::listing::has_state;
use self::listing::{Entry, ListedRuns, run_ids, score_change};
pub use self::query::{ItemState, ItemsQuery};
use self::row::ComparedRow;
pub use self::row::{ItemRow, ItemTraffic, Items};
use super::respond::{Conditional, PathParams, StrictQuery, cached_json};
use crate::serve::error::ApiError;
use crate::serve::store::{Cell, LoadedItem, LoadedRun, PageTexts, RunFileError, Store};

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
/// The maximum length of a value in a list, in characters.
const VALUE_LEN: usize = 200;

pub async fn items(
    State(store): State<Arc<Store>>,
    PathParams(id): PathParams<String>,
    conditional: Conditional,
    StrictQuery(query): StrictQuery<ItemsQuery>,
) -> Result<Response, ApiError> {
    let of = owned_ids(&id, &query)?;
    cached_json(
        store,
        conditional,
        move |store| store.states(&of),
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
    let of = owned_ids(&id, &query)?;
    cached_json(
        store,
        conditional,
        move |store| store.states(&of),
        move |store| whole_item(store, &id, &key, &query),
    )
    .await
}

fn owned_ids(id: &str, query: &ItemsQuery) -> Result<Vec<String>, ApiError> {
    Ok(run_ids(id, query)?.into_iter().map(str::to_owned).collect())
}

fn items_page(store: &Store, id: &str, query: &ItemsQuery) -> Result<Items, ApiError> {
    store.with_runs(&run_ids(id, query)?, |runs| {
        let runs = ListedRuns::new(store, runs);
        let columns = requested_columns(&runs, query)?;
        let listing = runs.list(store, query)?;
        let limit = query.limit.unwrap_or(DEFAULT_PAGE_SIZE).min(MAX_PAGE_SIZE);
        let from = query.offset.min(listing.entries.len());
        let page = &listing.entries[from..listing.entries.len().min(from.saturating_add(limit))];
        let data = PageData::read(&runs, page, columns)?;
        let rows = page.iter().filter_map(|entry| item_row(&runs, entry, &data).transpose());
        Ok(Items {
            items: rows.collect::<Result<_, _>>()?,
            matching: listing.entries.len(),
            total: listing.total,
            fields: (*store.item_fields(&runs.this)?).clone(),
            groups: listing.groups,
            sort_prefix: listing.sort_prefix,
            counts: listing.counts,
        })
    })
}

fn whole_item(store: &Store, id: &str, key: &str, query: &ItemsQuery) -> Result<WholeItem, ApiError> {
    store.with_runs(&run_ids(id, query)?, |runs| {
        let runs = ListedRuns::new(store, runs);
        let run = &*runs.this;
        let at = run.items.iter().position(|item| *item.key == *key);
        let at = at.ok_or_else(|| ApiError::not_found(format!("run {id} has no item “{key}”")))?;
        let columns = requested_columns(&runs, query)?;
        let listing = runs.list(store, query)?;
        let entries = &listing.entries;
        let position = entries.iter().position(|entry| entry.place == Some(at));
        let key_of = |entry: &Entry<'_>| Some(run.items[entry.place?].key.to_string());
        let (before, after) = match position {
            Some(position) => (&entries[..position], &entries[position + 1..]),
            None => (&entries[..0], &entries[..0]),
        };
        let alone = runs.entry(at);
        let data = PageData::read(&runs, &[alone], columns)?;
        let mut item = run.reader()?.item(at)?;
        item.passed = run.items[at].passed;
        Ok(WholeItem {
            item,
            row: item_row(&runs, &alone, &data)?.ok_or(RunFileError::Changed)?,
            position,
            // Items that this run does not have cannot be opened in it.
            previous: before.iter().rev().find_map(key_of),
            next: after.iter().find_map(key_of),
            matching: entries.len(),
        })
    })
}

/// The requested columns by name.
type Columns = Vec<(String, Column)>;

fn requested_columns(runs: &ListedRuns, query: &ItemsQuery) -> Result<Columns, ApiError> {
    parse_columns(&runs.this, query.columns.as_deref().unwrap_or_default())
}

/// What is read from files for the items of a page.
struct PageData<'a> {
    texts: PageTexts<'a>,
    columns: Columns,
    /// By the item's index, the values of those columns that are in the file, in their order.
    in_file: HashMap<usize, Vec<Cell>>,
}

impl<'a> PageData<'a> {
    fn read(runs: &'a ListedRuns, page: &[Entry<'_>], columns: Columns) -> Result<Self, RunFileError> {
        let file_column = |(_, column): &(String, Column)| match column {
            Column::File(column) => Some(column.clone()),
            _ => None,
        };
        let file_columns: Vec<_> = columns.iter().filter_map(file_column).collect();
        let places = page.iter().filter_map(|entry| entry.place).collect();
        let in_file = runs.this.values_at(places, &file_columns)?;
        Ok(Self { texts: runs.read_texts(page)?, columns, in_file })
    }

    /// The values of the requested columns.
    fn values(&self, item: &LoadedItem, place: usize) -> BTreeMap<String, Value> {
        let mut in_file = self.in_file.get(&place).into_iter().flatten();
        let value = |(name, column): &(String, Column)| {
            let cell = match column {
                Column::File(_) => Cow::Borrowed(in_file.next()?),
                other => Cow::Owned(other.computed(item)),
            };
            Some((name.clone(), cell.preview(VALUE_LEN)?))
        };
        self.columns.iter().filter_map(value).collect()
    }
}

/// `None` if no run has the item, which cannot be.
fn item_row(
    runs: &ListedRuns,
    entry: &Entry<'_>,
    data: &PageData<'_>,
) -> Result<Option<ItemRow>, RunFileError> {
    let Some(place) = entry.place else { return missing_row(runs, entry, &data.texts) };
    let (run, item) = (&*runs.this, &runs.this.items[place]);
    let missing = (0..).zip(&run.head.config.evaluators).filter(|(at, _)| item.scores.is_missing(*at));
    let reference = runs.compared(entry).next().and_then(|(run, place)| Some((run, &run.items[place?])));
    let change = |name: &String| Some((name.clone(), score_change((run, item), reference?, name)?));
    let texts = data.texts.of(run, place)?;
    Ok(Some(ItemRow {
        key: item.key.to_string(),
        index: item.index,
        name: item.name().into_owned(),
        passed: item.passed,
        status: item.status,
        runs: item.trials(),
        retried: item.retried(),
        low: run.below_pass_mark(item).map(str::to_owned).collect(),
        eval_errors: missing.map(|(_, name)| name.clone()).collect(),
        not_applicable: run.not_applicable(item).map(str::to_owned).collect(),
        input: texts.input.to_string(),
        output: texts.output.as_ref().map(ToString::to_string),
        error: texts.error.as_ref().map(ToString::to_string),
        latency_ms: item.latency_ms,
        tokens: item.tokens(),
        cost: item.cost(),
        scores: mean_scores(run, item),
        traffic: item.traffic().map(ItemTraffic::from),
        values: data.values(item, place),
        compared: compared_rows(runs, entry, Some(item), &data.texts)?,
        changes: run.head.config.evaluators.iter().filter_map(change).collect(),
        is_missing: false,
    }))
}

/// The row of an item that only other runs have.
fn missing_row(
    runs: &ListedRuns,
    entry: &Entry<'_>,
    texts: &PageTexts<'_>,
) -> Result<Option<ItemRow>, RunFileError> {
    let Some((run, place)) = runs.item(entry) else { return Ok(None) };
    let item = &run.items[place];
    Ok(Some(ItemRow {
        key: item.key.to_string(),
        index: item.index,
        name: item.name().into_owned(),
        passed: false,
        status: Status::Ok,
        runs: 0,
        retried: 0,
        low: Vec::new(),
        eval_errors: Vec::new(),
        not_applicable: Vec::new(),
        input: texts.of(run, place)?.input.to_string(),
        output: None,
        error: None,
        latency_ms: 0.0,
        tokens: None,
        cost: None,
        scores: BTreeMap::new(),
        traffic: None,
        values: BTreeMap::new(),
        compared: compared_rows(runs, entry, None, texts)?,
        changes: BTreeMap::new(),
        is_missing: true,
    }))
}

fn compared_rows(
    runs: &ListedRuns,
    entry: &Entry<'_>,
    this: Option<&LoadedItem>,
    texts: &PageTexts<'_>,
) -> Result<Vec<Option<ComparedRow>>, RunFileError> {
    let row = |run: &LoadedRun, place: usize| {
        let (item, texts) = (&run.items[place], texts.of(run, place)?);
        Ok(ComparedRow {
            id: run.head.id.clone(),
            scores: mean_scores(run, item),
            passed: item.passed,
            status: item.status,
            low: run.below_pass_mark(item).map(str::to_owned).collect(),
            output: texts.output.as_ref().map(ToString::to_string),
            error: texts.error.as_ref().map(ToString::to_string),
            latency_ms: item.latency_ms,
            tokens: item.tokens(),
            cost: item.cost(),
            changed: this.is_some_and(|this| this.content != item.content),
        })
    };
    runs.compared(entry).map(|(run, place)| place.map(|place| row(run, place)).transpose()).collect()
}

/// Each evaluator's mean score.
fn mean_scores(run: &LoadedRun, item: &LoadedItem) -> BTreeMap<String, f64> {
    let evaluators = (0..).zip(&run.head.config.evaluators);
    evaluators.filter_map(|(at, name)| Some((name.clone(), item.scores.mean(at)?))).collect()
}
