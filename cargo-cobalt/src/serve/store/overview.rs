//! A run without its items, and what is to be told of all of them.

use std::collections::BTreeMap;

use cobalt::Report;
use cobalt::report::stats::describe;

use super::Store;
use super::loaded::{FileProblem, LoadedRun};
use crate::index::Run;
use crate::serve::api::{Amounts, ApiError, ItemState, Neighbour, Overview, RunState, StateCounts};

/// How many equal parts a histogram has.
const PARTS: usize = 20;

impl Store {
    pub(in crate::serve) fn overview(&self, id: &str) -> Result<Overview, ApiError> {
        let known = self.known()?;
        self.of_run(id, |run| {
            let (previous, next) = neighbours(&known.runs, &run.head);
            let items = || run.items.iter();
            let (state, planned_items) = match run.file.is_journal() {
                // It has ended meanwhile, and has another file.
                true => {
                    let live = self
                        .live
                        .runs()
                        .into_iter()
                        .find(|live| live.id == id)
                        .ok_or(FileProblem::Changed)?;
                    (live.state, live.total_items)
                }
                false => (RunState::Finished, run.items.len()),
            };
            Ok(Overview {
                state,
                finished_items: run.items.len(),
                planned_items,
                histograms: histograms(run),
                tokens: amounts(items().filter_map(|item| item.tokens.map(|tokens| tokens as f64))),
                cost: amounts(items().filter_map(|item| item.cost)),
                states: states(run),
                previous,
                next,
                run: run.head.clone(),
            })
        })
    }
}

/// Of the same scores that items are filtered by, so that a part has as many items as its filter lets through.
fn histograms(run: &LoadedRun) -> BTreeMap<String, Vec<usize>> {
    let histogram = |(at, name): (usize, &String)| {
        let mut parts = vec![0; PARTS];
        let scores = run.items.iter().filter_map(|item| item.scores.mean(at));
        scores.for_each(|score| parts[((score * PARTS as f64) as usize).min(PARTS - 1)] += 1);
        parts.iter().any(|count| *count > 0).then(|| (name.clone(), parts))
    };
    (0..).zip(&run.head.config.evaluators).filter_map(histogram).collect()
}

fn amounts(amounts: impl Iterator<Item = f64>) -> Option<Amounts> {
    let amounts: Vec<_> = amounts.collect();
    let d = describe(&amounts)?;
    Some(Amounts {
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

fn states(run: &LoadedRun) -> StateCounts {
    let count = |state| run.items.iter().filter(|item| run.is_in(item, state)).count();
    StateCounts {
        passed: count(ItemState::Passed),
        failing: count(ItemState::Failing),
        low: count(ItemState::Low),
        error: count(ItemState::Error),
        timeout: count(ItemState::Timeout),
        eval_error: count(ItemState::EvalError),
    }
}

/// The runs of the experiment before and after one, of all that are known, the newest first.
fn neighbours(known: &[Run], report: &Report) -> (Option<Neighbour>, Option<Neighbour>) {
    let place = (report.timestamp.to_string(), &report.id);
    let others = || known.iter().filter(|run| run.name == report.name && run.id != report.id);
    let place_of = |run: &Run| (run.timestamp.clone(), run.id.clone());
    let is_before = |run: &&Run| (&run.timestamp, &run.id) < (&place.0, place.1);
    let before = others().filter(is_before).max_by_key(|run| place_of(run));
    let after = others().filter(|run| !is_before(run)).min_by_key(|run| place_of(run));
    let neighbour = |run: &Run| Neighbour { id: run.id.clone(), timestamp: run.timestamp.clone() };
    (before.map(neighbour), after.map(neighbour))
}
