//! The items that the end of a run names: those below a pass mark, in error or diverged from their recording. Gathered item by item.

use std::collections::{BTreeSet, HashMap};

use super::events::{
    DivergedItem, FailedItem, ItemBelowPassMark, MAX_ERROR_LENGTH, MAX_REPEATED_ITEMS, normalize_error,
};
use super::explain::explain;
use super::workspaces::{KeptWorkspaces, KeptWorkspacesFold};
use crate::report::{Execution, ItemResult, Report, RunConfig};
use crate::wording::truncate;

/// The maximum number of items named below their pass mark, and in error.
const MAX_NAMED_ITEMS: usize = 8;
/// The maximum number of items below their pass mark that are explained when a threshold is missed.
const MAX_EXPLAINED_ITEMS: usize = 3;
/// The maximum number of named items that diverged from their recording.
const MAX_DIVERGED_ITEMS: usize = 3;

/// The first items of each kind, and how many there are.
#[derive(Debug, Default)]
pub struct NotableItems {
    /// The number of items of the run.
    pub(super) items: usize,
    /// The first items below their pass mark and without an error, explained.
    low: Vec<ItemBelowPassMark>,
    pub(super) low_items: usize,
    failed: EqualErrors,
    pub(super) items_in_error: usize,
    diverged: Vec<DivergedItem>,
    kept: KeptWorkspacesFold,
    /// The evaluators that failed in some execution.
    failing_evaluators: BTreeSet<String>,
}

impl NotableItems {
    /// Those of a report with all its items; `name` gives their names in test cases, by index.
    #[must_use]
    pub fn of(report: &Report, name: impl Fn(usize) -> String) -> Self {
        let mut notable = Self::default();
        report.items.iter().for_each(|item| notable.add(item, &report.name, &report.config, &name));
        notable
    }

    /// Adds the next item of a run of an experiment in dataset order.
    pub fn add(
        &mut self,
        item: &ItemResult,
        experiment: &str,
        config: &RunConfig,
        name: impl Fn(usize) -> String,
    ) {
        self.items += 1;
        if let Some(error) = item.first_error() {
            self.items_in_error += 1;
            let error = truncate(&error, MAX_ERROR_LENGTH).into_owned();
            self.failed.add(error, || name(item.index));
        } else if config.scores_below_pass_mark(item).next().is_some() {
            self.low_items += 1;
            if self.low.len() < MAX_NAMED_ITEMS {
                let scores = config.scores_below_pass_mark(item);
                let explains = self.low.len() < MAX_EXPLAINED_ITEMS;
                self.low.push(ItemBelowPassMark {
                    item: name(item.index),
                    scores: scores.map(|(name, score)| (name.to_owned(), score)).collect(),
                    why: explains.then(|| explain_low(item, experiment, config)),
                    workspace: item.first_trial().workspace.as_ref().map(|changes| changes.summary()),
                });
            }
        }
        if self.diverged.len() < MAX_DIVERGED_ITEMS {
            self.diverged.extend(diverged_item(item, &name));
        }
        self.kept.add(item);
        for (evaluator, evaluation) in item.runs.iter().flat_map(|run| run.evaluations.iter()) {
            if evaluation.is_error() && !self.failing_evaluators.contains(evaluator) {
                self.failing_evaluators.insert(evaluator.to_owned());
            }
        }
    }

    /// Whether an evaluator failed in some execution.
    pub(super) fn has_failed(&self, evaluator: &str) -> bool {
        self.failing_evaluators.contains(evaluator)
    }

    /// The first items below their pass mark; with explanations of the first of them if `explains`.
    pub(super) fn low(&self, explains: bool) -> Vec<ItemBelowPassMark> {
        let why = |item: &ItemBelowPassMark| item.why.clone().filter(|_| explains);
        self.low.iter().map(|item| ItemBelowPassMark { why: why(item), ..item.clone() }).collect()
    }

    /// The first items in error; items with the same error are merged.
    pub(super) fn failed(&self) -> Vec<FailedItem> {
        self.failed.first.clone()
    }

    /// The first items whose conversation diverged from the recording.
    pub(super) fn diverged(&self) -> Vec<DivergedItem> {
        self.diverged.clone()
    }

    /// The workspaces that were kept.
    pub(super) fn kept_workspaces(&self) -> Option<KeptWorkspaces> {
        self.kept.kept()
    }
}

/// Explains an item by its first trial below a pass mark: the others are often the same.
fn explain_low(item: &ItemResult, experiment: &str, config: &RunConfig) -> String {
    let run = |run: &Execution| ItemResult { runs: vec![run.clone()], ..item.clone() };
    let mut runs = item.runs.iter().map(run);
    let low = runs.find(|item| config.scores_below_pass_mark(item).next().is_some());
    low.map_or_else(String::new, |item| explain(&item, experiment, config))
}

/// The item and where its first trial that diverged from the recording did so.
fn diverged_item(item: &ItemResult, name: impl Fn(usize) -> String) -> Option<DivergedItem> {
    let diverged = |run: &Execution| run.traffic.as_ref()?.diverged.clone();
    let (trial, difference) = (1..).zip(&item.runs).find_map(|(trial, run)| Some((trial, diverged(run)?)))?;
    let trial = if item.runs.len() > 1 { format!("trial {trial}: ") } else { String::new() };
    let difference = truncate(&(trial + &difference), MAX_ERROR_LENGTH).into_owned();
    Some(DivergedItem { item: name(item.index), difference })
}

/// The first errors in the order of their first items; items with equal errors are merged.
#[derive(Debug, Default)]
struct EqualErrors {
    first: Vec<FailedItem>,
    /// The place of each of these errors.
    places: HashMap<String, usize>,
}

impl EqualErrors {
    fn add(&mut self, error: String, name: impl FnOnce() -> String) {
        let normalized = normalize_error(&error);
        if let Some(place) = self.places.get(&normalized) {
            let first = &mut self.first[*place];
            first.more += 1;
            if first.also.len() < MAX_REPEATED_ITEMS {
                first.also.push(name());
            }
        } else if self.first.len() < MAX_NAMED_ITEMS {
            self.places.insert(normalized, self.first.len());
            self.first.push(FailedItem { item: name(), error, more: 0, also: Vec::new() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merged(items: impl IntoIterator<Item = (String, String)>) -> Vec<FailedItem> {
        let mut errors = EqualErrors::default();
        items.into_iter().for_each(|(name, error)| errors.add(error, || name));
        errors.first
    }

    fn error(name: &str, error: &str) -> (String, String) {
        (name.to_owned(), error.to_owned())
    }

    #[test]
    fn equal_errors_are_one_with_a_count_whatever_place_they_name() {
        let items = (0..60).map(|index| error(&format!("e{index}"), &format!("`messages[{index}]` is odd")));
        let folded = merged(items.chain([error("other", "`messages[a]` is odd"), error("last", "odd [")]));
        assert_eq!(folded.len(), 3);
        assert_eq!((&*folded[0].item, folded[0].more, folded[0].also.len()), ("e0", 59, MAX_REPEATED_ITEMS));
        assert_eq!(folded[0].error, "`messages[0]` is odd");
        assert_eq!((&*folded[1].item, &*folded[2].item), ("other", "last"));
    }

    #[test]
    fn errors_that_differ_in_more_than_a_place_stay_apart() {
        assert_eq!(merged([error("a", "waited 2 s"), error("b", "waited 3 s")]).len(), 2);
    }

    #[test]
    fn of_many_errors_the_first_are_kept_and_still_counted() {
        let items = (0..1000).map(|n| error(&n.to_string(), &format!("request {} failed", n % 500)));
        let first = merged(items);
        assert_eq!(
            first.iter().map(|it| (&*it.item, it.more)).collect::<Vec<_>>(),
            [("0", 1), ("1", 1), ("2", 1), ("3", 1), ("4", 1), ("5", 1), ("6", 1), ("7", 1)]
        );
    }
}
