//! Matches the items of a stored run with those of the current dataset.

use std::collections::HashMap;
use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::redact::redacted_item;
use cobalt_core::report::{DatasetSummary, Report};
use cobalt_core::wording::count;

use crate::dataset::Dataset;

/// The items that evaluators see.
pub struct MatchedItems {
    /// The items by their indexes in the stored run. Those that are not part of a partial run are empty.
    pub dataset: Dataset,
    pub keys: Vec<String>,
    pub summary: DatasetSummary,
    /// Stored items that are not in the dataset any more.
    gone: usize,
    /// Stored items whose input has changed.
    changed: usize,
    /// Items that have changed except for their input.
    updated: usize,
    /// Items that are only in the dataset now.
    new: usize,
}

impl MatchedItems {
    pub fn new(report: &Report, current: &Dataset) -> Self {
        let stored_keys = stored_keys(report);
        let current_keys = current.keys();
        let places: HashMap<&str, usize> =
            (0..).zip(&current_keys).map(|(place, key)| (&**key, place)).collect();
        let last = report.items.iter().map(|item| item.index + 1).max().unwrap_or_default();
        let size = report.dataset.as_ref().map_or(last, |dataset| dataset.items.max(last));
        let (mut items, mut keys) = (vec![Arc::default(); size], vec![String::new(); size]);
        let (mut gone, mut changed, mut updated, mut matched) = (0, 0, 0, 0);
        let mut is_same_dataset = size == current.len();
        for (item, key) in report.items.iter().zip(stored_keys) {
            let place = places.get(&*key).copied();
            let now = place.map(|place| current.shared(place));
            matched += usize::from(place.is_some());
            let shown = match now {
                Some(now) => {
                    let redacted = redacted_item(now);
                    let is_equal = *redacted == *item.input;
                    let is_match = is_equal || has_same_input(&redacted, &item.input);
                    updated += usize::from(is_match && !is_equal);
                    changed += usize::from(!is_match);
                    is_match.then(|| Arc::clone(now))
                }
                None => {
                    gone += 1;
                    None
                }
            };
            is_same_dataset &= shown.is_some() && place == Some(item.index);
            items[item.index] = shown.unwrap_or_else(|| Arc::clone(&item.input));
            keys[item.index] = key;
        }
        let new = if report.partial { 0 } else { current_keys.len() - matched };
        if is_same_dataset {
            let (dataset, summary) = (current.clone(), current.summary());
            return Self { dataset, keys: current_keys, summary, gone, changed, updated, new };
        }
        let dataset = Dataset::from_shared(current.source(), items);
        let summary = report.dataset.clone().unwrap_or_else(|| dataset.summary());
        Self { dataset, keys, summary, gone, changed, updated, new }
    }

    /// How the items differ from those of the dataset and of the stored run.
    pub fn notes(&self) -> Vec<String> {
        let note = |number: usize, one: &str, several: &str| {
            let are = if number == 1 { one } else { several };
            (number > 0).then(|| format!("{} {are}", count(number, "item")))
        };
        let notes = [
            note(
                self.updated,
                "has changed except for `input`: evaluators saw it as it is in the dataset now",
                "have changed except for `input`: evaluators saw them as they are in the dataset now",
            ),
            note(
                self.changed,
                "has another `input` in the dataset now: evaluators saw it as stored",
                "have another `input` in the dataset now: evaluators saw them as stored",
            ),
            note(
                self.gone,
                "is not in the dataset any more: evaluators saw it as stored",
                "are not in the dataset any more: evaluators saw them as stored",
            ),
            note(
                self.new,
                "is only in the dataset now: it has no output, so it is not part of this run",
                "are only in the dataset now: they have no output, so they are not part of this run",
            ),
        ];
        notes.into_iter().flatten().collect()
    }
}

/// Whether both ask the agent the same: without a field `input`, only equal items do.
fn has_same_input(one: &Item, other: &Item) -> bool {
    one.get("input").is_some() && one.get("input") == other.get("input")
}

/// The keys of the stored items. Files of the original tool have none.
fn stored_keys(report: &Report) -> Vec<String> {
    if report.items.iter().any(|item| item.key.is_empty()) {
        let items = report.items.iter().map(|item| Arc::clone(&item.input)).collect();
        return Dataset::from_shared("", items).keys();
    }
    report.items.iter().map(|item| item.key.clone()).collect()
}
