//! The items of several runs, matched by their keys, and how each of them changed.

use std::collections::HashMap;

use cobalt::report::comparison::ScoreChange;

use super::Runs;
use crate::serve::store::loaded::{LoadedItem, LoadedRun};

/// An item that one of the runs has at least.
#[derive(Clone, Debug)]
pub(in crate::serve::store) struct Matched {
    /// Its place among the items of each run.
    pub(super) places: Box<[Option<usize>]>,
    /// Its place in the data set of the last run that has it.
    pub(super) index: usize,
    /// The largest change to the worse, 0 or below, and to the better, 0 or above.
    pub(super) worst: f64,
    pub(super) best: f64,
}

impl Matched {
    /// About how many bytes of memory it takes.
    pub(super) fn size(&self) -> usize {
        /// What the system keeps beside each piece of memory.
        const OVERHEAD: usize = 16;
        size_of::<Self>() + size_of_val(&*self.places) + OVERHEAD
    }

    /// The item's identity.
    pub(super) fn key<'a>(&self, runs: &'a Runs) -> Option<&'a str> {
        let mut places = self.places.iter().zip(runs);
        places.find_map(|(place, run)| Some(&*run.items[(*place)?].key))
    }

    pub(super) fn is_changed(&self) -> bool {
        self.is_worse() || self.is_better()
    }

    pub(super) fn is_worse(&self) -> bool {
        self.worst < 0.0
    }

    pub(super) fn is_better(&self) -> bool {
        self.best > 0.0
    }
}

/// All items; changes count of one evaluator alone where one is named.
pub(super) fn matched(runs: &Runs, evaluator: Option<&str>) -> Vec<Matched> {
    let mut by_key: HashMap<&str, usize> = HashMap::new();
    let mut items: Vec<Matched> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        for (place, item) in run.items.iter().enumerate() {
            let known = *by_key.entry(&item.key).or_insert_with(|| {
                items.push(Matched {
                    places: vec![None; runs.len()].into(),
                    index: 0,
                    worst: 0.0,
                    best: 0.0,
                });
                items.len() - 1
            });
            items[known].places[at] = Some(place);
            items[known].index = item.index;
        }
    }
    for item in &mut items {
        for other in 1..runs.len() {
            let change = change(runs, &item.places, other, evaluator).map_or(0.0, |(change, _)| change);
            item.worst = item.worst.min(change);
            item.best = item.best.max(change);
        }
    }
    items
}

/// How an item changed from the first run to another: what makes it rank, and all scores that differ. `None` where one of the
/// two has no such item.
pub(super) fn change(
    runs: &Runs,
    places: &[Option<usize>],
    other: usize,
    evaluator: Option<&str>,
) -> Option<(f64, Vec<ScoreChange>)> {
    let item = |run: usize| Some((&*runs[run], &runs[run].items[places[run]?]));
    Some(change_of(item(0)?, item(other)?, evaluator))
}

fn change_of(
    (base, before): (&LoadedRun, &LoadedItem),
    (other, after): (&LoadedRun, &LoadedItem),
    evaluator: Option<&str>,
) -> (f64, Vec<ScoreChange>) {
    let names = other.head.config.evaluators.iter().enumerate();
    let names = names.filter(|(_, name)| evaluator.is_none_or(|evaluator| evaluator == *name));
    let scores = names.map(|(at, name)| {
        let score = base.evaluator(name).and_then(|at| before.scores.mean(at));
        ScoreChange::of(name, score, after.scores.mean(at))
    });
    // That an item came to fail is no change of one evaluator's scores.
    let is_in_error = [before, after].map(|item| evaluator.is_none() && !item.failed.is_empty());
    ScoreChange::largest(scores, is_in_error)
}
