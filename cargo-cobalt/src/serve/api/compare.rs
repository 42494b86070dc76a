//! `/api/compare`: compares two to eight runs.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use cobalt_core::item::Output;
use cobalt_core::report::comparison::{Comparison, ScoreChange};
use cobalt_core::report::{Evaluations, ItemResult, Report, Status, Summary, Transcript};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::items::{ItemTraffic, evaluator_index};
use super::respond::{Conditional, StrictQuery, cached_json, conditional_response, stream_list};
use crate::serve::error::ApiError;
use crate::serve::store::{LoadedItem, LoadedRun, MatchedItem, RunFileError, Store, item_change};

/// The runs to compare, and a selection of their items.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompareQuery {
    /// The id of run A, which the others are compared with.
    pub a: String,
    /// The id of run B.
    pub b: String,
    /// The id of run C.
    pub c: Option<String>,
    /// The id of run D.
    pub d: Option<String>,
    /// The id of run E.
    pub e: Option<String>,
    /// The id of run F.
    pub f: Option<String>,
    /// The id of run G.
    pub g: Option<String>,
    /// The id of run H.
    pub h: Option<String>,
    /// The maximum number of items to return; all by default. Required for runs in parts.
    pub limit: Option<usize>,
    /// The number of items to skip.
    #[serde(default)]
    pub offset: usize,
    #[serde(default)]
    pub sort: CompareSort,
    #[serde(default)]
    pub only: Changed,
    /// Only items with this text in their key, input, outputs, errors, reasons, tool calls, metadata or transcript, in any of the runs;
    /// case-insensitive.
    pub search: Option<String>,
    /// Consider only score changes of this evaluator.
    pub evaluator: Option<String>,
    /// The key of an item whose position to return as well.
    pub item: Option<String>,
}

/// The sort order of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CompareSort {
    /// Dataset order.
    #[default]
    Index,
    /// The largest change first; of equal ones, regressions first.
    Change,
    /// The largest regressions first.
    Worst,
    /// The largest improvements first.
    Best,
}

/// A filter of items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::enum_variant_names, reason = "the parameter has this name")]
pub enum Changed {
    #[default]
    All,
    /// Items with a change.
    Changed,
    /// Items that regressed in any run.
    Regressed,
    /// Items that improved in any run.
    Improved,
}

/// Runs compared with the first of them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedRuns {
    pub runs: Vec<ComparedRun>,
    /// Each evaluator's means.
    pub score_diffs: BTreeMap<String, ScoreDiffs>,
    /// Each of the other runs compared with the first.
    pub comparisons: Vec<Comparison>,
    /// The number of matching items.
    pub matching: usize,
    /// The position of the requested item among the matching ones, from 0; null if it does not match.
    pub item_at: Option<usize>,
    /// The total number of items in the runs.
    pub total: usize,
    /// How many of them match the search.
    pub found: usize,
    /// How many of the items found regressed or improved in any run.
    pub changed: usize,
    /// How many of the items found regressed in any run.
    pub regressed: usize,
    /// How many of the items found improved in any run.
    pub improved: usize,
    /// The last field, so that items can be streamed.
    pub items: Vec<ComparedItem>,
}

/// A run of a comparison.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedRun {
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// The start, ISO 8601 in UTC.
    pub timestamp: String,
    pub summary: Summary,
    pub passed: bool,
    pub partial: bool,
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_commit: Option<String>,
}

/// An evaluator's means, one for each run.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ScoreDiffs {
    /// Null if a run has no score.
    pub scores: Vec<Option<f64>>,
    /// The differences from the first run; null if either has no score.
    pub diffs: Vec<Option<f64>>,
}

/// An item in several runs.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedItem {
    /// Its index in the last run that has it, from 0.
    pub index: usize,
    /// The item's key, by which it is matched across runs.
    pub key: String,
    /// The item in the last run that has it.
    pub input: cobalt_core::item::Item,
    /// The output of each run; null if a run does not have the item.
    pub outputs: Vec<Option<ComparedOutput>>,
    /// For each of the other runs, the largest score change vs. the first run, negative for regressions; a newly failed item counts
    /// as -1. Null if either run does not have the item.
    pub changes: Vec<Option<f64>>,
    /// For each of the other runs, the scores that differ from the first run, largest change first.
    pub score_changes: Vec<Vec<ScoreChange>>,
    /// Whether the item's content differs between the runs.
    pub content_changed: bool,
}

/// The output of an item in a run: its first trial, with the mean latency of all trials.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedOutput {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// In milliseconds.
    pub latency_ms: f64,
    pub evaluations: Evaluations,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    pub status: Status,
    pub passed: bool,
    /// The number of trials.
    pub runs: usize,
    /// The number of trials in which the agent or an evaluator failed.
    pub failed_runs: usize,
    /// Each evaluator's mean score over the trials.
    pub scores: BTreeMap<String, f64>,
    /// The model traffic of all trials; absent if none passed through the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub traffic: Option<ItemTraffic>,
    /// The conversation of the first trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transcript: Option<Box<Transcript>>,
}

/// Larger lists of items are streamed.
const STREAM_THRESHOLD: usize = 1000;
/// How many items of a streamed list are read at once.
const STREAMED_AT_ONCE: usize = 250;

pub async fn compare(
    State(store): State<Arc<Store>>,
    conditional: Conditional,
    StrictQuery(query): StrictQuery<CompareQuery>,
) -> Result<Response, ApiError> {
    let of: Vec<_> = run_ids(&query).map(str::to_owned).collect();
    let state = move |store: &Store| store.states(&of);
    if query.limit.is_some_and(|limit| limit <= STREAM_THRESHOLD) {
        return cached_json(store, conditional, state, move |store| compare_all(store, &query)).await;
    }
    conditional_response(store, conditional, state, move |store, tag| {
        let comparing = start_comparison(store, &query)?;
        let head = serde_json::to_vec(&comparing.head).unwrap_or_default();
        Ok(tag.json(stream_list(head, move |pieces| {
            // The file has changed in the meantime, or the client has disconnected.
            comparing.items.chunks(STREAMED_AT_ONCE).try_for_each(|items| {
                let items = comparing.read(items)?;
                items.iter().try_for_each(|item| pieces.push(item)).map_err(|_| RunFileError::Changed)
            })
        })))
    })
    .await
}

/// Compares runs, without reading the items yet.
fn start_comparison(store: &Store, query: &CompareQuery) -> Result<PendingComparison, ApiError> {
    store.with_runs(&run_ids(query).collect::<Vec<_>>(), |runs| compare_runs(store, runs, query))
}

/// The same with the items.
fn compare_all(store: &Store, query: &CompareQuery) -> Result<ComparedRuns, ApiError> {
    store.with_runs(&run_ids(query).collect::<Vec<_>>(), |runs| {
        let comparing = compare_runs(store, runs, query)?;
        let items = comparing.read(&comparing.items)?;
        Ok(ComparedRuns { items, ..comparing.head })
    })
}

/// Refuses to return all items of runs in parts, of which there may be millions.
fn check_limit(runs: &Runs, query: &CompareQuery) -> Result<(), ApiError> {
    let in_parts = runs.iter().find(|run| run.parts().is_some());
    match in_parts.filter(|_| query.limit.is_none()) {
        None => Ok(()),
        Some(run) => Err(ApiError::bad_request(format!(
            "run {} is large, so `limit` is required: pass the number of items to return, such as `limit=100`",
            run.head.id
        ))),
    }
}

/// Refuses an evaluator that none of the runs has.
pub fn check_evaluator(runs: &Runs, evaluator: Option<&str>) -> Result<(), ApiError> {
    if let Some(name) = evaluator.filter(|name| runs.iter().all(|run| run.evaluator_index(name).is_none())) {
        evaluator_index(&runs[runs.len() - 1], name)?;
    }
    Ok(())
}

fn compare_runs(store: &Store, runs: &Runs, query: &CompareQuery) -> Result<PendingComparison, RunFileError> {
    let evaluator = query.evaluator.as_deref();
    check_evaluator(runs, evaluator)?;
    check_limit(runs, query)?;
    let comparisons = store.comparisons(runs);
    let matches = store.matches(runs, evaluator);
    // Limits the number of such lists in memory.
    let _pass = store.comparers.acquire();
    let mut items: Vec<&MatchedItem> = matches.iter().collect();
    let total = items.len();
    if let Some(text) = query.search.as_deref().filter(|text| !text.is_empty()) {
        retain_matching(store, runs, &mut items, text)?;
    }
    let found = items.len();
    let count = |is: fn(&MatchedItem) -> bool| items.iter().filter(|item| is(item)).count();
    let (changed, regressed, improved) =
        (count(MatchedItem::is_changed), count(MatchedItem::is_regressed), count(MatchedItem::is_improved));
    items.retain(|item| match query.only {
        Changed::All => true,
        Changed::Changed => item.is_changed(),
        Changed::Regressed => item.is_regressed(),
        Changed::Improved => item.is_improved(),
    });
    items.sort_by(|one, two| cmp_items(one, two, query.sort));
    let matching = items.len();
    let item_at =
        query.item.as_deref().and_then(|key| items.iter().position(|item| item.key(runs) == Some(key)));
    let page = items.into_iter().skip(query.offset).take(query.limit.unwrap_or(usize::MAX));
    let page = page.cloned().collect();
    let head = ComparedRuns {
        runs: runs.iter().map(|run| compared_run(&run.head)).collect(),
        score_diffs: score_diffs(runs),
        comparisons: comparisons.to_vec(),
        matching,
        item_at,
        total,
        found,
        changed,
        regressed,
        improved,
        items: Vec::new(),
    };
    Ok(PendingComparison { head, runs: runs.to_vec(), items: page, evaluator: query.evaluator.clone() })
}

/// Keeps the items that contain a text in any of the runs.
pub fn retain_matching(
    store: &Store,
    runs: &Runs,
    items: &mut Vec<&MatchedItem>,
    text: &str,
) -> Result<(), RunFileError> {
    let found = runs.iter().map(|run| store.search(run, text)).collect::<Result<Vec<_>, _>>()?;
    items.retain(|item| {
        item.places.iter().zip(&found).any(|(place, found)| place.is_some_and(|place| found.contains(place)))
    });
    Ok(())
}

type Runs = [Arc<LoadedRun>];

/// The ids of the requested runs, run A first.
fn run_ids(query: &CompareQuery) -> impl Iterator<Item = &str> {
    let CompareQuery { a, b, c, d, e, f, g, h, .. } = query;
    [a, b].into_iter().chain([c, d, e, f, g, h].into_iter().flatten()).map(String::as_str)
}

/// Equal items stay in dataset order.
fn cmp_items(one: &MatchedItem, two: &MatchedItem, sort: CompareSort) -> Ordering {
    let (worst, best) = (|item: &MatchedItem| item.worst, |item: &MatchedItem| item.best);
    let size = |item: &MatchedItem| item.best.max(-item.worst);
    let order = match sort {
        CompareSort::Index => Ordering::Equal,
        CompareSort::Change => size(two).total_cmp(&size(one)).then(worst(one).total_cmp(&worst(two))),
        CompareSort::Worst => worst(one).total_cmp(&worst(two)),
        CompareSort::Best => best(two).total_cmp(&best(one)),
    };
    order.then(one.index.cmp(&two.index))
}

fn compared_run(report: &Report) -> ComparedRun {
    ComparedRun {
        id: report.id.clone(),
        name: report.name.clone(),
        timestamp: report.timestamp.to_string(),
        summary: report.summary.clone(),
        passed: report.passed,
        partial: report.partial,
        tags: report.tags.clone(),
        git_commit: report.git.as_ref().map(|git| git.commit.clone()),
    }
}

fn score_diffs(runs: &Runs) -> BTreeMap<String, ScoreDiffs> {
    let names: BTreeSet<_> = runs.iter().flat_map(|run| run.head.summary.scores.keys()).collect();
    let diffs = |name: &String| {
        let scores: Vec<_> =
            runs.iter().map(|run| run.head.summary.scores.get(name).map(|stats| stats.avg)).collect();
        let diffs = scores.iter().map(|score| Some((*score)? - scores[0]?)).collect();
        (name.clone(), ScoreDiffs { scores, diffs })
    };
    names.into_iter().map(diffs).collect()
}

/// A comparison whose items are selected, but not read yet.
#[derive(Debug)]
pub struct PendingComparison {
    /// Everything except the items.
    pub head: ComparedRuns,
    pub runs: Vec<Arc<LoadedRun>>,
    /// The requested items in order.
    pub items: Vec<MatchedItem>,
    pub evaluator: Option<String>,
}

impl PendingComparison {
    /// Reads items, which are some of its own, and returns them in their order. Each run is read in the order of its file: the items of
    /// one part, which are decompressed together, are rarely next to each other if the largest change comes first.
    fn read(&self, matched: &[MatchedItem]) -> Result<Vec<ComparedItem>, RunFileError> {
        let items = matched.iter().map(|matched| self.without_outputs(matched));
        let mut items = items.collect::<Result<Vec<_>, _>>()?;
        for (at, run) in self.runs.iter().enumerate() {
            let places = items.iter_mut().zip(matched);
            let places = places.filter_map(|(item, matched)| Some((matched.place(at)?, item)));
            let mut places: Vec<_> = places.collect();
            places.sort_unstable_by_key(|(place, _)| *place);
            let mut reader = run.reader()?;
            for (place, item) in places {
                let whole = reader.item(place)?;
                item.outputs[at] = Some(compared_output(run, &run.items[place], &whole));
                // That of the last run remains.
                item.input = Arc::unwrap_or_clone(whole.input);
            }
        }
        Ok(items)
    }

    /// What is known of an item without reading it.
    fn without_outputs(&self, matched: &MatchedItem) -> Result<ComparedItem, RunFileError> {
        let of_runs = || {
            let places = matched.places.iter().zip(&self.runs);
            places.filter_map(|(place, run)| Some(&run.items[(*place)?]))
        };
        // A matched item is in at least one run.
        let newest = of_runs().next_back().ok_or(RunFileError::Changed)?;
        let changes = (1..self.runs.len())
            .map(|other| item_change(&self.runs, &matched.places, other, self.evaluator.as_deref()));
        let (changes, score_changes) = changes.map(Option::unzip).unzip::<_, _, Vec<_>, Vec<_>>();
        let contents: Vec<_> = of_runs().map(|item| item.content).collect();
        Ok(ComparedItem {
            index: newest.index,
            key: newest.key.to_string(),
            input: cobalt_core::item::Item::new(),
            outputs: self.runs.iter().map(|_| None).collect(),
            changes,
            score_changes: score_changes.into_iter().map(Option::unwrap_or_default).collect(),
            content_changed: contents.windows(2).any(|two| two[0] != two[1]),
        })
    }
}

fn compared_output(run: &LoadedRun, light: &LoadedItem, whole: &ItemResult) -> ComparedOutput {
    let first = whole.first_trial();
    let evaluators = run.head.config.evaluators.iter().enumerate();
    ComparedOutput {
        output: first.output.clone(),
        latency_ms: light.latency_ms,
        evaluations: first.evaluations.clone(),
        error: whole.error().map(str::to_owned),
        status: light.status,
        passed: light.passed,
        runs: light.trials(),
        failed_runs: light.failed().len(),
        scores: evaluators.filter_map(|(at, name)| Some((name.clone(), light.scores.mean(at)?))).collect(),
        traffic: light.traffic().map(ItemTraffic::from),
        transcript: first.transcript.clone(),
    }
}
