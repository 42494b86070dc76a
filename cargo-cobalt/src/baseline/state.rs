//! A baseline as `cargo cobalt baseline show` tells of it: what it holds, and what has changed since.

use std::time::Duration;

use cobalt::report::comparison::{caveats, too_old};
use cobalt::report::{DatasetSummary, GitState, Measurements, Timestamp};
use serde::Serialize;

/// A baseline, without its items.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Shown {
    pub(super) name: String,
    /// The path of its file, as seen from the current folder.
    pub(super) file: String,
    /// The run's.
    pub(super) id: String,
    pub(super) timestamp: Timestamp,
    pub(super) git: Option<GitState>,
    pub(super) dataset: Option<DatasetSummary>,
    pub(super) items: usize,
    pub(super) runs: usize,
    pub(super) evaluators: Vec<Mean>,
    /// The id of the experiment's newest whole run.
    pub(super) newest_run: Option<String>,
    pub(super) state: State,
    /// Why it is stale, each in a sentence.
    pub(super) notes: Vec<String>,
}

/// What an evaluator found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mean {
    pub(super) name: String,
    /// The mean over the items, of each item's mean over its runs; absent where there is no score.
    pub(super) mean: Option<f64>,
}

/// How a baseline stands to the newest run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    /// It is the newest run's.
    Newest,
    /// The newest run can well be held against it.
    Current,
    /// Something has changed since.
    Stale,
    /// There is no run to hold against it.
    NoRun,
}

impl State {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Newest => "the newest run",
            Self::Current => "current",
            Self::Stale => "stale",
            Self::NoRun => "no run yet",
        }
    }
}

impl Shown {
    /// `newest` is the experiment's newest whole run, and `max_age` how old a baseline may be.
    pub(super) fn of(
        baseline: Measurements,
        file: String,
        newest: Option<&Measurements>,
        max_age: Duration,
    ) -> Self {
        let is_newest = newest.is_some_and(|newest| newest.id == baseline.id);
        // There is nothing newer to be set.
        let notes = if is_newest { Vec::new() } else { notes(&baseline, newest, max_age) };
        let state = match newest {
            _ if is_newest => State::Newest,
            _ if !notes.is_empty() => State::Stale,
            None => State::NoRun,
            Some(_) => State::Current,
        };
        Self {
            file,
            items: baseline.items.len(),
            evaluators: means(&baseline),
            newest_run: newest.map(|newest| newest.id.clone()),
            state,
            notes,
            name: baseline.name,
            id: baseline.id,
            timestamp: baseline.timestamp,
            git: baseline.git,
            dataset: baseline.dataset,
            runs: baseline.runs,
        }
    }
}

fn notes(baseline: &Measurements, newest: Option<&Measurements>, max_age: Duration) -> Vec<String> {
    let changes = newest.into_iter().flat_map(|newest| caveats(baseline, newest));
    changes.chain(too_old(baseline, Timestamp::now(), max_age)).collect()
}

fn means(baseline: &Measurements) -> Vec<Mean> {
    let mean_of =
        |scores: &[f64]| (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
    let mean = |name: &String| {
        let of_items = baseline.items.iter().filter_map(|item| mean_of(item.scores.get(name)?));
        Mean { name: name.clone(), mean: mean_of(&of_items.collect::<Vec<_>>()) }
    };
    baseline.evaluators.iter().map(|evaluator| mean(&evaluator.name)).collect()
}
