//! Runs compared: their items matched by their keys, how each of them changed, and what statistics say of all.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;

use cobalt_core::report::comparison::{self, Comparison, ScoreChange};

use super::Store;
use super::loaded::{LoadedItem, LoadedRun};

/// The runs that are compared, the base first.
type Runs = [Arc<LoadedRun>];

impl Store {
    /// The items of the runs, matched once for all who compare these runs.
    pub fn matches(&self, runs: &Runs, evaluator: Option<&str>) -> Arc<Vec<Matched>> {
        let files = runs.iter().map(|run| run.file.clone()).collect();
        let size = |items: &Vec<Matched>| items.iter().map(Matched::size).sum();
        let found = self.matches.get(&(files, evaluator.map(str::to_owned)), size, || {
            let _pass = self.comparers.pass();
            Ok::<_, Infallible>(matched(runs, evaluator))
        });
        match found {
            Ok(items) => items,
            Err(never) => match never {},
        }
    }

    /// What is to be said of all items together, which takes long to work out.
    pub fn statistics(&self, runs: &Runs) -> Arc<Vec<Comparison>> {
        let files: Vec<_> = runs.iter().map(|run| run.file.clone()).collect();
        let compare = || {
            let _pass = self.loaders.pass();
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

/// About how many bytes of memory a comparison takes.
fn size_of_comparison(comparison: &Comparison) -> usize {
    /// All but the keys of items.
    const FIGURES: usize = 16 << 10;
    let items = &comparison.items;
    let keys = [&items.changed, &items.added, &items.removed].into_iter().flatten();
    FIGURES + keys.map(|key| size_of::<String>() + key.len()).sum::<usize>()
}

/// An item that one of the runs has at least.
#[derive(Clone, Debug)]
pub struct Matched {
    /// Its place among the items of each run.
    pub places: Box<[Option<usize>]>,
    /// Its place in the data set of the last run that has it.
    pub index: usize,
    /// The largest change to the worse, 0 or below, and to the better, 0 or above.
    pub worst: f64,
    pub best: f64,
}

impl Matched {
    /// About how many bytes of memory it takes.
    pub fn size(&self) -> usize {
        /// What the system keeps beside each piece of memory.
        const OVERHEAD: usize = 16;
        size_of::<Self>() + size_of_val(&*self.places) + OVERHEAD
    }

    /// The item's identity.
    pub fn key<'a>(&self, runs: &'a Runs) -> Option<&'a str> {
        let mut places = self.places.iter().zip(runs);
        places.find_map(|(place, run)| Some(&*run.items[(*place)?].key))
    }

    pub fn is_changed(&self) -> bool {
        self.is_worse() || self.is_better()
    }

    pub fn is_worse(&self) -> bool {
        self.worst < 0.0
    }

    pub fn is_better(&self) -> bool {
        self.best > 0.0
    }
}

/// All items; changes count of one evaluator alone where one is named.
fn matched(runs: &Runs, evaluator: Option<&str>) -> Vec<Matched> {
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
pub fn change(
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
