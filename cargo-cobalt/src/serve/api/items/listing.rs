//! The items that a query selects, in its order.

use std::sync::Arc;

use cobalt_core::report::Status;

use super::column::{COLUMN_NAMES, Column, LoadedColumn, evaluator_index};
use super::condition::items_that_meet;
use super::groups::group_items;
use super::query::{ItemState, ItemsQuery, OnlyChanged};
use super::row::{ChangeCounts, ItemGroup};
use super::score_range::ScoreRange;
use crate::serve::api::respond::Order;
use crate::serve::error::ApiError;
use crate::serve::store::{LoadedItem, LoadedRun, MatchedItem, PageTexts, RunFileError, SortKey, Store};

/// The maximum number of runs to compare with.
const MAX_COMPARED: usize = 7;
/// The indexes of the reference and of this run among the compared ones.
const REFERENCE: usize = 0;
const THIS: usize = 1;

/// The ids of the runs of a query: this one, then those to compare it with.
pub fn run_ids<'a>(id: &'a str, query: &'a ItemsQuery) -> Result<Vec<&'a str>, ApiError> {
    let compared = query.compare.iter().flat_map(|ids| ids.split(','));
    let compared: Vec<_> = compared.map(str::trim).filter(|id| !id.is_empty()).collect();
    if compared.len() > MAX_COMPARED {
        return Err(ApiError::bad_request(format!(
            "`compare` names {} runs, but the maximum is {MAX_COMPARED}",
            compared.len()
        )));
    }
    if compared.is_empty() && query.only.is_some() {
        return Err(ApiError::bad_request("`only` needs `compare` with the id of another run"));
    }
    Ok([id].into_iter().chain(compared).collect())
}

/// The run whose items are listed, and those that it is compared with.
#[derive(Debug)]
pub struct ListedRuns {
    pub this: Arc<LoadedRun>,
    comparison: Option<RunComparison>,
}

#[derive(Debug)]
struct RunComparison {
    /// The reference, this run, and the others.
    runs: Vec<Arc<LoadedRun>>,
    matches: Arc<Vec<MatchedItem>>,
}

/// A listed item.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its index among the items of this run; absent if only others have it.
    pub place: Option<usize>,
    /// The item in the compared runs.
    matched: Option<&'a MatchedItem>,
}

/// The selected items.
#[derive(Debug)]
pub struct Listing<'a> {
    pub entries: Vec<Entry<'a>>,
    /// The number of items before any filter.
    pub total: usize,
    pub groups: Option<Vec<ItemGroup>>,
    /// How many characters of texts they are sorted by, if not by whole values.
    pub sort_prefix: Option<usize>,
    pub counts: Option<ChangeCounts>,
}

impl ListedRuns {
    /// From the runs of a query.
    pub fn new(store: &Store, runs: &[Arc<LoadedRun>]) -> Self {
        let this = Arc::clone(&runs[0]);
        let comparison = runs.get(1).map(|reference| {
            let others = runs[2..].iter().cloned();
            let runs: Vec<_> = [Arc::clone(reference), Arc::clone(&this)].into_iter().chain(others).collect();
            RunComparison { matches: store.matches(&runs, None), runs }
        });
        Self { this, comparison }
    }

    fn entries(&self) -> Vec<Entry<'_>> {
        let Some(RunComparison { matches, .. }) = &self.comparison else {
            return (0..self.this.items.len())
                .map(|place| Entry { place: Some(place), matched: None })
                .collect();
        };
        let entries = matches.iter();
        let entries = entries.map(|matched| Entry { place: matched.place(THIS), matched: Some(matched) });
        let mut entries: Vec<_> = entries.collect();
        entries.sort_by_key(|entry| {
            let index = entry.matched.map_or(0, |matched| matched.index);
            entry.place.map_or((true, index), |place| (false, place))
        });
        entries
    }

    /// The item at an index of this run.
    pub fn entry(&self, place: usize) -> Entry<'_> {
        let matches = self.comparison.iter().flat_map(|comparison| &*comparison.matches);
        let matched = matches.into_iter().find(|matched| matched.place(THIS) == Some(place));
        Entry { place: Some(place), matched }
    }

    /// The runs that this one is compared with, in their order, each with the item's index in it.
    pub fn compared<'a>(&'a self, entry: &Entry<'a>) -> impl Iterator<Item = (&'a LoadedRun, Option<usize>)> {
        let found = self.comparison.as_ref().zip(entry.matched);
        found.into_iter().flat_map(|(RunComparison { runs, .. }, matched)| {
            let others = (0..runs.len()).filter(|at| *at != THIS);
            others.map(|at| (&*runs[at], matched.place(at)))
        })
    }

    /// The item in this run, or else in the first one that has it, by its index in that run.
    pub fn item<'a>(&'a self, entry: &Entry<'a>) -> Option<(&'a LoadedRun, usize)> {
        let here = entry.place.map(|place| (&*self.this, place));
        here.or_else(|| self.compared(entry).find_map(|(run, place)| Some((run, place?))))
    }

    /// Reads the texts of listed items in all runs.
    pub fn read_texts(&self, entries: &[Entry<'_>]) -> Result<PageTexts<'_>, RunFileError> {
        let Some(RunComparison { runs, .. }) = &self.comparison else {
            return PageTexts::read(
                [(&*self.this, entries.iter().filter_map(|entry| entry.place))].into_iter(),
            );
        };
        PageTexts::read(runs.iter().enumerate().map(|(at, run)| {
            (&**run, entries.iter().filter_map(move |entry| entry.matched.and_then(|it| it.place(at))))
        }))
    }

    /// The items that a query selects, in its order.
    pub fn list(&self, store: &Store, query: &ItemsQuery) -> Result<Listing<'_>, RunFileError> {
        let run = &*self.this;
        let scores = ScoreRange::parse(run, query)?;
        let sort = ItemSort::parse(store, self, query.sort.as_deref().unwrap_or("index"))?;
        let group = query.group.as_deref().filter(|name| !name.is_empty());
        let group = group.map(|name| Column::expect(run, name)?.load(store, run)).transpose()?;
        let mut entries = self.entries();
        let total = entries.len();
        if let Some(text) = query.search.as_deref().filter(|text| !text.is_empty()) {
            self.retain_matching(store, &mut entries, text)?;
        }
        for condition in &query.conditions {
            let found = items_that_meet(store, run, condition)?;
            entries.retain(|entry| entry.place.is_some_and(|place| found.contains(place)));
        }
        if query.state.is_some() || scores.is_some() {
            entries.retain(|entry| {
                entry.place.is_some_and(|place| {
                    let item = &run.items[place];
                    query.state.is_none_or(|state| has_state(run, item, state))
                        && scores.as_ref().is_none_or(|it| it.contains(item))
                })
            });
        }
        let counts = self.comparison.is_some().then(|| count_changes(&entries));
        if let Some(only) = query.only {
            entries.retain(|entry| entry.matched.is_some_and(|matched| has_changed(matched, only)));
        }
        sort.apply(self, &mut entries, query.order == Some(Order::Desc));
        let groups = group.map(|column| group_items(run, &mut entries, &column));
        Ok(Listing { entries, total, groups, sort_prefix: sort.prefix(), counts })
    }

    /// Keeps the items that contain a text in any of the runs.
    fn retain_matching(
        &self,
        store: &Store,
        entries: &mut Vec<Entry<'_>>,
        text: &str,
    ) -> Result<(), RunFileError> {
        let Some(RunComparison { runs, .. }) = &self.comparison else {
            let found = store.search(&self.this, text)?;
            entries.retain(|entry| entry.place.is_some_and(|place| found.contains(place)));
            return Ok(());
        };
        let found = runs.iter().map(|run| store.search(run, text)).collect::<Result<Vec<_>, _>>()?;
        entries.retain(|entry| {
            let place = |at| entry.matched.and_then(|matched| matched.place(at));
            found.iter().enumerate().any(|(at, found)| place(at).is_some_and(|place| found.contains(place)))
        });
        Ok(())
    }
}

impl Entry<'_> {
    /// Whether the item is in the reference and in any other run.
    fn is_compared(&self) -> bool {
        self.matched.is_some_and(|matched| {
            matched.place(REFERENCE).is_some() && matched.places.iter().flatten().count() > 1
        })
    }
}

fn has_changed(matched: &MatchedItem, only: OnlyChanged) -> bool {
    match only {
        OnlyChanged::Regressed => matched.is_regressed(),
        OnlyChanged::Improved => matched.is_improved(),
        OnlyChanged::Changed => matched.is_changed(),
    }
}

fn count_changes(entries: &[Entry<'_>]) -> ChangeCounts {
    let mut counts = ChangeCounts::default();
    for entry in entries {
        let Some(matched) = entry.matched else { continue };
        counts.regressed += usize::from(matched.is_regressed());
        counts.improved += usize::from(matched.is_improved());
        counts.changed += usize::from(matched.is_changed());
        counts.only_here += usize::from(entry.place.is_some() && matched.place(REFERENCE).is_none());
        counts.only_there += usize::from(entry.place.is_none());
    }
    counts
}

pub fn has_state(run: &LoadedRun, item: &LoadedItem, state: ItemState) -> bool {
    match state {
        ItemState::Passed => item.passed,
        ItemState::Failing => !item.passed,
        ItemState::Low => item.failed().is_empty() && !item.passed,
        ItemState::Error => item.status == Status::Error,
        ItemState::Timeout => item.status == Status::Timeout,
        ItemState::EvalError => (0..run.head.config.evaluators.len()).any(|at| item.scores.is_missing(at)),
        ItemState::Diverged => item.traffic().is_some_and(|traffic| traffic.has_diverged),
        ItemState::Retried => item.retried() > 0,
    }
}

/// The sort key of items.
enum ItemSort {
    Index,
    Key,
    /// From errors to passed items.
    Severity,
    Column(LoadedColumn),
    /// The largest change of the item in any run.
    Change,
    /// The change of an evaluator's score.
    ScoreChange(String),
}

impl ItemSort {
    fn parse(store: &Store, runs: &ListedRuns, name: &str) -> Result<Self, RunFileError> {
        let run = &*runs.this;
        let unknown = || {
            ApiError::bad_request(format!(
                "cannot sort items by `{name}`; use `index`, `score:NAME`, `reason:NAME`, with `compare` also `change` or \
                 `change:NAME`, or a column: {COLUMN_NAMES}"
            ))
        };
        let column = match name.split_once(':') {
            None => match name {
                "index" => return Ok(Self::Index),
                "key" => return Ok(Self::Key),
                "status" => return Ok(Self::Severity),
                "change" if runs.comparison.is_some() => return Ok(Self::Change),
                other => Column::parse(run, other)?,
            },
            Some(("score" | "reason", _)) => Column::parse(run, &name.replacen(':', ".", 1))?,
            Some(("change", evaluator)) if runs.comparison.is_some() => {
                evaluator_index(run, evaluator)?;
                return Ok(Self::ScoreChange(evaluator.to_owned()));
            }
            // The path of a field may contain a colon.
            Some(_) => Column::parse(run, name)?,
        };
        Ok(Self::Column(column.ok_or_else(unknown)?.load(store, run)?))
    }

    /// How many characters of texts it compares, if some are longer.
    fn prefix(&self) -> Option<usize> {
        match self {
            Self::Column(column) => column.cut_length(),
            _ => None,
        }
    }

    /// Sorts items stably; they are in dataset order.
    fn apply(&self, runs: &ListedRuns, entries: &mut Vec<Entry<'_>>, is_descending: bool) {
        match self {
            Self::Index if is_descending => entries.reverse(),
            Self::Index => {}
            Self::Key => entries.sort_by(|one, two| {
                let key = |entry| runs.item(entry).map(|(run, place)| &*run.items[place].key);
                let order = key(one).cmp(&key(two));
                if is_descending { order.reverse() } else { order }
            }),
            _ => {
                let keys = entries.iter().map(|entry| (self.key(runs, entry, is_descending), *entry));
                let mut sorted: Vec<_> = keys.collect();
                sorted.sort_by(|one, two| SortKey::cmp_known_first(&one.0, &two.0, is_descending));
                *entries = sorted.into_iter().map(|(_, entry)| entry).collect();
            }
        }
    }

    fn key(&self, runs: &ListedRuns, entry: &Entry<'_>, is_descending: bool) -> Option<SortKey> {
        let item = || Some(&runs.this.items[entry.place?]);
        match self {
            Self::Index | Self::Key => None,
            Self::Severity => item().map(|item| {
                SortKey::Number(match (item.status, item.passed) {
                    (Status::Error, _) => 0.0,
                    (Status::Timeout, _) => 1.0,
                    (Status::Ok, false) => 2.0,
                    (Status::Ok, true) => 3.0,
                })
            }),
            Self::Column(column) => SortKey::of(&column.cell(&runs.this, entry.place?)),
            Self::Change => {
                let matched = entry.matched.filter(|_| entry.is_compared())?;
                Some(SortKey::Number(if is_descending { matched.best } else { matched.worst }))
            }
            Self::ScoreChange(evaluator) => {
                let (reference, there) = runs.compared(entry).next()?;
                let there = &reference.items[there?];
                score_change((&runs.this, item()?), (reference, there), evaluator).map(SortKey::Number)
            }
        }
    }
}

/// The mean score of an evaluator in a run minus that in another; `None` if either has none.
pub fn score_change(
    (run, item): (&LoadedRun, &LoadedItem),
    (other, there): (&LoadedRun, &LoadedItem),
    evaluator: &str,
) -> Option<f64> {
    let score = item.scores.mean(run.evaluator_index(evaluator)?)?;
    Some(score - there.scores.mean(other.evaluator_index(evaluator)?)?)
}
