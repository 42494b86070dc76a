//! Comparison of runs: items matched by key, the change of each item, and statistics.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use cobalt_core::report::comparison::{self, Comparison, ScoreChange};

use super::Store;
use super::loaded_item::LoadedItem;
use super::loaded_run::LoadedRun;

/// The compared runs, run A first.
type Runs = [Arc<LoadedRun>];

impl Store {
    /// The matched items of the runs, cached.
    pub fn matches(&self, runs: &Runs, evaluator: Option<&str>) -> Arc<Vec<MatchedItem>> {
        let files = runs.iter().map(|run| run.file.clone()).collect();
        let size = |items: &Vec<MatchedItem>| items.iter().map(MatchedItem::size).sum();
        let found = self.matches.get(&(files, evaluator.map(str::to_owned)), size, || {
            let _pass = self.comparers.acquire();
            Ok::<_, Infallible>(match_items(runs, evaluator))
        });
        match found {
            Ok(items) => items,
            Err(never) => match never {},
        }
    }

    /// The statistical comparisons, cached because they are slow.
    pub fn comparisons(&self, runs: &Runs) -> Arc<Vec<Comparison>> {
        let files: Vec<_> = runs.iter().map(|run| run.file.clone()).collect();
        let compare = || {
            let _pass = self.loaders.acquire();
            let measured: Vec<_> = runs.iter().map(|run| run.measurements()).collect();
            let (base, others) = measured.split_first().expect("at least two runs are compared");
            Ok::<_, Infallible>(comparison::compare(base, &others.iter().collect::<Vec<_>>()))
        };
        match self.comparisons.get(
            &files,
            |comparisons| comparisons.iter().map(size_of_comparison).sum(),
            compare,
        ) {
            Ok(comparisons) => comparisons,
            Err(never) => match never {},
        }
    }
}

/// The approximate memory use of a comparison in bytes.
pub fn size_of_comparison(comparison: &Comparison) -> usize {
    /// Everything except the keys of items.
    const FIGURES: usize = 16 << 10;
    let items = &comparison.items;
    let keys = [&items.changed, &items.added, &items.removed].into_iter().flatten();
    FIGURES + keys.map(|key| size_of::<String>() + key.len()).sum::<usize>()
}

/// An item that at least one of the runs has.
#[derive(Clone, Debug)]
pub struct MatchedItem {
    /// Its index among the items of each run.
    pub places: Box<[Option<usize>]>,
    /// Its index in the dataset of the last run that has it.
    pub index: usize,
    /// The largest regression (0 or below) and the largest improvement (0 or above).
    pub worst: f64,
    pub best: f64,
}

impl MatchedItem {
    /// The approximate memory use in bytes.
    pub fn size(&self) -> usize {
        /// The overhead of an allocation.
        const OVERHEAD: usize = 16;
        size_of::<Self>() + size_of_val(&*self.places) + OVERHEAD
    }

    /// Its index among the items of a run.
    pub fn place(&self, run: usize) -> Option<usize> {
        self.places.get(run).copied().flatten()
    }

    /// The item's key.
    pub fn key<'a>(&self, runs: &'a Runs) -> Option<&'a str> {
        let mut places = self.places.iter().zip(runs);
        places.find_map(|(place, run)| Some(&*run.items[(*place)?].key))
    }

    pub fn is_changed(&self) -> bool {
        self.is_regressed() || self.is_improved()
    }

    pub fn is_regressed(&self) -> bool {
        self.worst < 0.0
    }

    pub fn is_improved(&self) -> bool {
        self.best > 0.0
    }
}

/// All items, with changes limited to one evaluator if given.
fn match_items(runs: &Runs, evaluator: Option<&str>) -> Vec<MatchedItem> {
    let mut by_key: HashMap<&str, usize> = HashMap::new();
    let mut items: Vec<MatchedItem> = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        for (place, item) in run.items.iter().enumerate() {
            let known = *by_key.entry(&item.key).or_insert_with(|| {
                items.push(MatchedItem {
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
            let change = item_change(runs, &item.places, other, evaluator).map_or(0.0, |(change, _)| change);
            item.worst = item.worst.min(change);
            item.best = item.best.max(change);
        }
    }
    items
}

/// The change of an item from the first run to another: its rank value, and all scores that differ. `None` if either run does not
/// have the item.
pub fn item_change(
    runs: &Runs,
    places: &[Option<usize>],
    other: usize,
    evaluator: Option<&str>,
) -> Option<(f64, Vec<ScoreChange>)> {
    let item = |run: usize| Some((&*runs[run], &runs[run].items[places[run]?]));
    Some(compute_change(item(0)?, item(other)?, evaluator))
}

fn compute_change(
    (base, before): (&LoadedRun, &LoadedItem),
    (other, after): (&LoadedRun, &LoadedItem),
    evaluator: Option<&str>,
) -> (f64, Vec<ScoreChange>) {
    let names = other.head.config.evaluators.iter().enumerate();
    let names = names.filter(|(_, name)| evaluator.is_none_or(|evaluator| evaluator == *name));
    let scores = names.map(|(at, name)| {
        let score = base.evaluator_index(name).and_then(|at| before.scores.mean(at));
        ScoreChange::new(name, score, after.scores.mean(at))
    });
    // A newly failed item is not a change of one evaluator's scores.
    let is_in_error = [before, after].map(|item| evaluator.is_none() && !item.failed().is_empty());
    ScoreChange::ranked_changes(scores, is_in_error)
}
