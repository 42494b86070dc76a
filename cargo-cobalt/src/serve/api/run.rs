//! `/api/runs/ID`: a run with all of its items, as in its result file; and `/api/runs/ID/overview`: a run without its items, with
//! summaries of them.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use cobalt_core::report::stats::describe;
use cobalt_core::report::{Report, SourceLocation};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::io::AsyncReadExt as _;
use tokio_util::io::ReaderStream;

use super::items::{ItemState, has_state};
use super::respond::{Conditional, PathParams, cached_json, conditional_response, stream_body};
use crate::runs::{RunOutcome, RunView};
use crate::serve::error::ApiError;
use crate::serve::live::LiveRunState;
use crate::serve::store::{LoadedItem, LoadedRun, RunFileError, RunList, RunText, Store};

/// A run with all of its items.
#[derive(Debug, Serialize, JsonSchema)]
pub struct WholeRun {
    pub run: Report,
}

/// The chunk size in bytes.
const CHUNK_SIZE: usize = 64 << 10;
/// The response around the file.
const JSON_PREFIX: &[u8] = b"{\"run\":";
const JSON_SUFFIX: &[u8] = b"}";

/// Streams the file, which may be large.
pub async fn run(
    State(store): State<Arc<Store>>,
    PathParams(id): PathParams<String>,
    conditional: Conditional,
) -> Result<Response, ApiError> {
    let of = id.clone();
    conditional_response(
        store,
        conditional,
        move |store| store.run_state(&of),
        move |store, tag| {
            Ok(match store.run_text(&id)? {
                RunText::File(file) => {
                    let text = JSON_PREFIX.chain(tokio::fs::File::from_std(file)).chain(JSON_SUFFIX);
                    tag.json(Body::from_stream(ReaderStream::with_capacity(text, CHUNK_SIZE)))
                }
                RunText::InParts(file) => tag.json(stream_body(move |body| {
                    body.write_all(JSON_PREFIX)?;
                    file.write_whole(body)?;
                    body.write_all(JSON_SUFFIX)
                })),
                RunText::Unfinished(run) => {
                    tag.json(serde_json::to_vec(&WholeRun { run: *run }).unwrap_or_default())
                }
            })
        },
    )
    .await
}

/// A run without its items.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// The report, with empty `items`.
    pub run: Report,
    pub state: LiveRunState,
    /// The number of finished items.
    pub finished_items: usize,
    /// The number of items to run.
    pub planned_items: usize,
    /// For each evaluator, the number of items by mean score, in 20 equal bins from 0 to 1; the last includes 1.
    pub histograms: BTreeMap<String, Vec<usize>>,
    /// The agent's tokens per item over all trials; absent if none were reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<ItemStats>,
    /// The agent cost per item over all trials in USD; absent if unknown for all items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<ItemStats>,
    /// The number of items in each state.
    pub states: StateCounts,
    /// Whether the experiment's baseline was saved from this run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_baseline: bool,
    /// The finished runs of the variants that were run together, including this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantRun>,
    /// The previous run of the experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Neighbour>,
    /// The next run of the experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Neighbour>,
    /// Where the experiment is declared; absent if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The URL that opens a file in the editor, with `{path}`, `{line}` and `{column}` to replace: `dashboard.editor` in `cobalt.toml`.
    /// Absent if it is not set, or if other machines can connect to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editor: Option<String>,
}

/// A place in the project's source.
#[derive(Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    /// The file, relative to the folder of the project's workspace.
    pub path: String,
    /// The same as an absolute path; absent if the file is not there, or if other machines can connect to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub absolute_path: Option<String>,
    /// The line, counted from 1.
    pub line: u32,
}

/// Statistics of a metric over the items that have it. Percentiles interpolate linearly.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ItemStats {
    /// The number of items that have it.
    pub count: usize,
    pub total: f64,
    pub avg: f64,
    pub min: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}

/// The number of items that match each state filter.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateCounts {
    pub passed: usize,
    pub failing: usize,
    pub low: usize,
    pub error: usize,
    pub timeout: usize,
    pub eval_error: usize,
    pub diverged: usize,
    pub retried: usize,
}

/// A run of a variant.
#[derive(Debug, Serialize, JsonSchema)]
pub struct VariantRun {
    pub id: String,
    /// The variant's name.
    pub variant: String,
    pub verdict: RunOutcome,
}

/// A whole run of the same experiment.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Neighbour {
    pub id: String,
    /// The start, ISO 8601 in UTC.
    pub timestamp: String,
}

/// The number of bins of a histogram.
const BINS: usize = 20;

pub async fn overview(
    State(store): State<Arc<Store>>,
    PathParams(id): PathParams<String>,
    conditional: Conditional,
) -> Result<Response, ApiError> {
    let of = id.clone();
    let state =
        move |store: &Store| Ok(store.run_state(&of)? + &store.runs_state()? + &store.baselines().state());
    cached_json(store, conditional, state, move |store| load_overview(store, &id)).await
}

fn load_overview(store: &Store, id: &str) -> Result<Overview, ApiError> {
    let known = store.known()?;
    store.with_run(id, |run| {
        let (previous, next) = neighbours(&known.runs, &run.head);
        let items = || run.items.iter();
        let (state, planned_items) = match run.file.is_journal() {
            // The run has finished in the meantime, and has another file.
            true => {
                let live = store.live().runs().into_iter().find(|live| live.id == id);
                let live = live.ok_or(RunFileError::Changed)?;
                (live.state, live.total_items)
            }
            false => (LiveRunState::Finished, run.items.len()),
        };
        Ok(Overview {
            state,
            finished_items: run.items.len(),
            planned_items,
            histograms: histograms(run),
            tokens: metric_stats(items().filter_map(|item| item.tokens().map(|tokens| tokens as f64))),
            cost: metric_stats(items().filter_map(LoadedItem::cost)),
            states: count_states(run),
            is_baseline: store.baselines().is_source(id),
            variants: variants(&known, &run.head),
            previous,
            next,
            source: run.head.declared_at.as_ref().map(|place| source(store, place)),
            editor: store
                .is_local()
                .then(|| store.settings().dashboard().editor_url().map(str::to_owned))
                .flatten(),
            run: run.head.clone(),
        })
    })
}

fn source(store: &Store, place: &SourceLocation) -> Source {
    let file = || store.project_file(Path::new(&place.file), None);
    let absolute = store.is_local().then(file).flatten();
    Source {
        path: place.file.clone(),
        absolute_path: absolute.and_then(|path| path.to_str().map(str::to_owned)),
        line: place.line,
    }
}

/// Uses the same scores as the item filter, so each bin has as many items as its filter matches.
fn histograms(run: &LoadedRun) -> BTreeMap<String, Vec<usize>> {
    let histogram = |(at, name): (usize, &String)| {
        let mut parts = vec![0; BINS];
        let scores = run.items.iter().filter_map(|item| item.scores.mean(at));
        scores.for_each(|score| parts[((score * BINS as f64) as usize).min(BINS - 1)] += 1);
        parts.iter().any(|count| *count > 0).then(|| (name.clone(), parts))
    };
    (0..).zip(&run.head.config.evaluators).filter_map(histogram).collect()
}

fn metric_stats(amounts: impl Iterator<Item = f64>) -> Option<ItemStats> {
    let amounts: Vec<_> = amounts.collect();
    let d = describe(&amounts)?;
    Some(ItemStats {
        count: amounts.len(),
        total: amounts.iter().sum(),
        avg: d.mean,
        min: d.min,
        p50: d.p50,
        p95: d.p95,
        p99: d.p99,
        max: d.max,
    })
}

fn count_states(run: &LoadedRun) -> StateCounts {
    let count = |state| run.items.iter().filter(|item| has_state(run, item, state)).count();
    StateCounts {
        passed: count(ItemState::Passed),
        failing: count(ItemState::Failing),
        low: count(ItemState::Low),
        error: count(ItemState::Error),
        timeout: count(ItemState::Timeout),
        eval_error: count(ItemState::EvalError),
        diverged: count(ItemState::Diverged),
        retried: count(ItemState::Retried),
    }
}

/// The finished runs of a run's group.
fn variants(known: &RunList, report: &Report) -> Vec<VariantRun> {
    let runs = report.variant.as_ref().map_or_else(Vec::new, |variant| known.runs_of_group(&variant.group));
    let of = |run: &RunView| {
        let variant = run.variant.as_ref()?.name.clone();
        Some(VariantRun { id: run.id.clone(), variant, verdict: run.verdict() })
    };
    runs.into_iter().filter_map(of).collect()
}

/// The previous and next runs of the same experiment; `known` is in newest-first order.
fn neighbours(known: &[RunView], report: &Report) -> (Option<Neighbour>, Option<Neighbour>) {
    let place = (report.timestamp.to_string(), &report.id);
    let others = || known.iter().filter(|run| run.experiment == report.name && run.id != report.id);
    let place_of = |run: &RunView| (run.timestamp.clone(), run.id.clone());
    let is_before = |run: &&RunView| (&run.timestamp, &run.id) < (&place.0, place.1);
    let before = others().filter(is_before).max_by_key(|run| place_of(run));
    let after = others().filter(|run| !is_before(run)).min_by_key(|run| place_of(run));
    let neighbour = |run: &RunView| Neighbour { id: run.id.clone(), timestamp: run.timestamp.clone() };
    (before.map(neighbour), after.map(neighbour))
}
