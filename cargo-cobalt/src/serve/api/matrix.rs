//! `/api/matrix`: the items of several runs side by side, with the start of each output.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt_core::report::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::compare::{check_evaluator, retain_matching};
use super::ranking::{group_ids, parse_ids, unknown_group};
use super::respond::{Conditional, Order, StrictQuery, cached_json, cmp_known_first};
use crate::serve::error::ApiError;
use crate::serve::store::{ItemTexts, LoadedItem, LoadedRun, MatchedItem, PageTexts, RunFileError, Store};

/// The runs, and a selection of their items.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MatrixQuery {
    /// The ids of two to eight runs, separated by commas.
    pub runs: Option<String>,
    /// Instead of `runs`, the id of a group of variants.
    pub group: Option<String>,
    /// The maximum number of items to return: 100 by default, at most 1000.
    pub limit: Option<usize>,
    /// The number of items to skip.
    #[serde(default)]
    pub offset: usize,
    #[serde(default)]
    pub only: MatrixFilter,
    /// Only items with this text in their key, input, outputs, errors, reasons, tool calls, metadata or transcript, in any of the runs;
    /// case-insensitive.
    pub search: Option<String>,
    /// The sort key: `index` (default), `key`, `spread` (the highest minus the lowest score of the runs), or the id of a run for its
    /// score. Items without a value come last.
    pub sort: Option<String>,
    /// The sort direction; by default the smallest score first, but the largest spread.
    pub order: Option<Order>,
    /// The evaluator whose scores are sorted; by default the mean over all.
    pub evaluator: Option<String>,
}

/// A filter of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum MatrixFilter {
    #[default]
    All,
    /// Items that pass in some runs and not in others, or that an evaluator scores below its pass mark in some runs only.
    Disagreeing,
    /// Items that are below a pass mark or in error in a run.
    Failed,
}

/// The items of several runs side by side.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Matrix {
    /// The runs in order; those of a group in the order of their variants.
    pub runs: Vec<MatrixRun>,
    pub items: Vec<MatrixItem>,
    /// The number of matching items.
    pub matching: usize,
    /// The total number of items in the runs.
    pub total: usize,
    /// How many of them match the search.
    pub found: usize,
    /// How many of the items found the runs disagree on.
    pub disagreeing: usize,
    /// How many of the items found failed in a run.
    pub failed: usize,
}

/// A run of a matrix.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MatrixRun {
    pub id: String,
    /// The run's name: the experiment's, or `<experiment>::<variant>`.
    pub name: String,
    /// The variant's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The evaluators in order.
    pub evaluators: Vec<String>,
}

/// An item in several runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MatrixItem {
    /// Its index in the last run that has it, from 0.
    pub index: usize,
    /// The item's key, by which it is matched across runs.
    pub key: String,
    /// The start of its input in the last run that has it.
    pub input: String,
    /// Whether the item's content differs between the runs.
    pub content_changed: bool,
    /// The item in each run; null if a run does not have it.
    pub cells: Vec<Option<MatrixCell>>,
}

/// An item in a run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MatrixCell {
    /// Whether it is at or above every pass mark in every trial, without an error.
    pub passed: bool,
    /// The worst status of its trials.
    pub status: Status,
    /// Each evaluator's mean score over the trials; absent without a score.
    pub scores: BTreeMap<String, f64>,
    /// The evaluators that scored it below their pass mark in a trial.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub low: Vec<String>,
    /// The evaluators that do not apply to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_applicable: Vec<String>,
    /// The start of the output of the first trial; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The start of the agent's or an evaluator's error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// The default and the maximum page size.
const DEFAULT_PAGE_SIZE: usize = 100;
const MAX_PAGE_SIZE: usize = 1000;

type Runs = [Arc<LoadedRun>];

pub async fn matrix(
    State(store): State<Arc<Store>>,
    conditional: Conditional,
    StrictQuery(query): StrictQuery<MatrixQuery>,
) -> Result<Response, ApiError> {
    let selected = Selected::parse(&query)?;
    let of = selected.clone();
    let state = move |store: &Store| store.states(&of.ids(store)?);
    cached_json(store, conditional, state, move |store| load_matrix(store, &selected, &query)).await
}

/// The selected runs.
#[derive(Clone, Debug)]
enum Selected {
    Runs(Vec<String>),
    Group(String),
}

impl Selected {
    fn parse(query: &MatrixQuery) -> Result<Self, ApiError> {
        match (&query.runs, &query.group) {
            (Some(runs), None) => Ok(Self::Runs(parse_ids(runs)?)),
            (None, Some(group)) => Ok(Self::Group(group.clone())),
            _ => Err(ApiError::bad_request("expected either `runs` or `group`")),
        }
    }

    fn ids(&self, store: &Store) -> Result<Vec<String>, ApiError> {
        match self {
            Self::Runs(ids) => Ok(ids.clone()),
            Self::Group(group) => {
                let ids = group_ids(store, group)?;
                if ids.is_empty() { Err(unknown_group(group)) } else { Ok(ids) }
            }
        }
    }
}

fn load_matrix(store: &Store, selected: &Selected, query: &MatrixQuery) -> Result<Matrix, ApiError> {
    let ids = selected.ids(store)?;
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    store.with_runs(&ids, |runs| {
        let mut runs = runs.to_vec();
        if matches!(selected, Selected::Group(_)) {
            runs.sort_by_key(|run| run.head.variant.as_ref().map(|variant| variant.position));
        }
        let sort = MatrixSort::parse(&runs, query)?;
        select_items(store, &runs, query, &sort)
    })
}

fn select_items(
    store: &Store,
    runs: &Runs,
    query: &MatrixQuery,
    sort: &MatrixSort,
) -> Result<Matrix, RunFileError> {
    let matches = store.matches(runs, None);
    // Limits the number of such lists in memory.
    let _pass = store.comparers.acquire();
    let mut items: Vec<&MatchedItem> = matches.iter().collect();
    let total = items.len();
    if let Some(text) = query.search.as_deref().filter(|text| !text.is_empty()) {
        retain_matching(store, runs, &mut items, text)?;
    }
    items.sort_by_key(|item| item.index);
    let found = items.len();
    let disagreeing = items.iter().filter(|item| do_runs_disagree(runs, item)).count();
    let failed = items.iter().filter(|item| has_failed(runs, item)).count();
    items.retain(|item| match query.only {
        MatrixFilter::All => true,
        MatrixFilter::Disagreeing => do_runs_disagree(runs, item),
        MatrixFilter::Failed => has_failed(runs, item),
    });
    sort.apply(runs, &mut items, query.order);
    let limit = query.limit.unwrap_or(DEFAULT_PAGE_SIZE).min(MAX_PAGE_SIZE);
    let from = query.offset.min(items.len());
    let page = &items[from..items.len().min(from.saturating_add(limit))];
    let texts = PageTexts::read(
        runs.iter().enumerate().map(|(at, run)| (&**run, page.iter().filter_map(move |item| item.place(at)))),
    )?;
    Ok(Matrix {
        runs: runs.iter().map(|run| matrix_run(run)).collect(),
        items: page.iter().map(|item| matrix_item(runs, item, &texts)).collect::<Result<_, _>>()?,
        matching: items.len(),
        total,
        found,
        disagreeing,
        failed,
    })
}

/// The item in each run that has it.
fn places<'a>(
    runs: &'a Runs,
    item: &'a MatchedItem,
) -> impl Iterator<Item = Option<(&'a LoadedRun, &'a LoadedItem)>> {
    let of = |(place, run): (&Option<usize>, &'a Arc<LoadedRun>)| place.map(|at| (&**run, &run.items[at]));
    item.places.iter().zip(runs).map(of)
}

fn do_runs_disagree(runs: &Runs, item: &MatchedItem) -> bool {
    let outcome = |(run, item): (&'_ LoadedRun, &'_ LoadedItem)| {
        let low: Vec<_> = run.below_pass_mark(item).map(str::to_owned).collect();
        (item.passed, low)
    };
    let mut outcomes = places(runs, item).flatten().map(outcome);
    let first = outcomes.next();
    outcomes.any(|other| Some(other) != first)
}

fn has_failed(runs: &Runs, item: &MatchedItem) -> bool {
    places(runs, item).flatten().any(|(_, item)| !item.passed)
}

/// The order of the items.
#[derive(Debug)]
enum MatrixSort {
    Index,
    Key,
    /// By the highest minus the lowest score.
    Spread(Option<String>),
    /// By the score in the run at this place; of one evaluator if named.
    Score(usize, Option<String>),
}

impl MatrixSort {
    fn parse(runs: &Runs, query: &MatrixQuery) -> Result<Self, ApiError> {
        let evaluator = query.evaluator.clone();
        check_evaluator(runs, evaluator.as_deref())?;
        match query.sort.as_deref() {
            None | Some("index") => Ok(Self::Index),
            Some("key") => Ok(Self::Key),
            Some("spread") => Ok(Self::Spread(evaluator)),
            Some(other) => match runs.iter().position(|run| run.head.id == other) {
                Some(place) => Ok(Self::Score(place, evaluator)),
                None => Err(ApiError::bad_request(format!(
                    "cannot sort items by `{other}`; use `index`, `key`, `spread` or the id of one of the runs"
                ))),
            },
        }
    }

    fn apply(&self, runs: &Runs, items: &mut Vec<&MatchedItem>, order: Option<Order>) {
        let by_value = |items: &mut Vec<&MatchedItem>, is_descending, value: &dyn Fn(&MatchedItem) -> _| {
            let mut valued: Vec<_> = items.iter().map(|item| (value(item), *item)).collect();
            valued.sort_by(|one, two| cmp_known_first(one.0, two.0, is_descending));
            *items = valued.into_iter().map(|(_, item)| item).collect();
        };
        match self {
            Self::Index if order == Some(Order::Desc) => items.reverse(),
            Self::Index => {}
            Self::Key if order == Some(Order::Desc) => items.sort_by_key(|item| Reverse(item.key(runs))),
            Self::Key => items.sort_by_key(|item| item.key(runs)),
            Self::Spread(evaluator) => {
                let is_descending = order != Some(Order::Asc);
                by_value(items, is_descending, &|item| spread(runs, item, evaluator.as_deref()));
            }
            Self::Score(run, evaluator) => {
                let is_descending = order == Some(Order::Desc);
                let score = |item: &MatchedItem| {
                    let (run, item) = places(runs, item).nth(*run)??;
                    mean_score(run, item, evaluator.as_deref())
                };
                by_value(items, is_descending, &score);
            }
        }
    }
}

/// The score of an item in a run: that of the evaluator, or the mean over all.
fn mean_score(run: &LoadedRun, item: &LoadedItem, evaluator: Option<&str>) -> Option<f64> {
    if let Some(name) = evaluator {
        return item.scores.mean(run.evaluator_index(name)?);
    }
    let scores = (0..run.head.config.evaluators.len()).filter_map(|at| item.scores.mean(at));
    let (sum, count) = scores.fold((0.0, 0_u32), |(sum, count), score| (sum + score, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

/// The highest minus the lowest score of the runs. `None` with fewer than two scores.
fn spread(runs: &Runs, item: &MatchedItem, evaluator: Option<&str>) -> Option<f64> {
    let scores = places(runs, item).flatten().filter_map(|(run, item)| mean_score(run, item, evaluator));
    let scores: Vec<f64> = scores.collect();
    let highest = scores.iter().copied().reduce(f64::max)?;
    let lowest = scores.iter().copied().reduce(f64::min)?;
    (scores.len() > 1).then_some(highest - lowest)
}

fn matrix_run(run: &LoadedRun) -> MatrixRun {
    MatrixRun {
        id: run.head.id.clone(),
        name: run.head.name.clone(),
        variant: run.head.variant.as_ref().map(|variant| variant.name.clone()),
        evaluators: run.head.config.evaluators.clone(),
    }
}

fn matrix_item(runs: &Runs, item: &MatchedItem, texts: &PageTexts<'_>) -> Result<MatrixItem, RunFileError> {
    let in_runs: Vec<_> =
        item.places.iter().zip(runs).map(|(place, run)| Some((&**run, (*place)?))).collect();
    let known: Vec<_> = in_runs.iter().flatten().map(|(run, place)| (*run, *place)).collect();
    let newest = known.last().copied();
    let input = newest.map(|(run, place)| texts.of(run, place)).transpose()?;
    let cell = |found: Option<(&LoadedRun, usize)>| {
        found.map(|(run, place)| Ok(matrix_cell(run, &run.items[place], texts.of(run, place)?))).transpose()
    };
    let contents: Vec<_> = known.iter().map(|(run, place)| run.items[*place].content).collect();
    Ok(MatrixItem {
        index: item.index,
        key: newest.map_or_else(String::new, |(run, place)| run.items[place].key.to_string()),
        input: input.map_or_else(String::new, |texts| texts.input.to_string()),
        content_changed: contents.windows(2).any(|two| two[0] != two[1]),
        cells: in_runs.into_iter().map(cell).collect::<Result<_, RunFileError>>()?,
    })
}

fn matrix_cell(run: &LoadedRun, item: &LoadedItem, texts: &ItemTexts) -> MatrixCell {
    let names = run.head.config.evaluators.iter().enumerate();
    MatrixCell {
        passed: item.passed,
        status: item.status,
        scores: names.filter_map(|(at, name)| Some((name.clone(), item.scores.mean(at)?))).collect(),
        low: run.below_pass_mark(item).map(str::to_owned).collect(),
        not_applicable: run.not_applicable(item).map(str::to_owned).collect(),
        output: texts.output.as_ref().map(ToString::to_string),
        error: texts.error.as_ref().map(ToString::to_string),
    }
}
