//! Which items two runs have in common, by their keys.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use crate::report::{MeasuredItem, Measurements};

/// The items of two runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Matching {
    /// How many items are in both runs.
    pub matched: usize,
    /// The keys of those of them whose content is another.
    pub changed: Vec<String>,
    /// The keys of the items that are in the other run only.
    pub added: Vec<String>,
    /// The keys of the items that are in the base only.
    pub removed: Vec<String>,
}

impl Matching {
    pub(super) fn of(base: &Measurements, other: &Measurements) -> Self {
        let pairs = pairs(base, other);
        let known: HashSet<_> = pairs.iter().map(|(item, _)| &*item.key).collect();
        let others = |run: &Measurements| -> Vec<String> {
            run.items.iter().filter(|item| !known.contains(&*item.key)).map(|item| item.key.clone()).collect()
        };
        let changed = pairs.iter().filter(|(base, other)| base.content != other.content);
        Self {
            matched: pairs.len(),
            changed: changed.map(|(item, _)| item.key.clone()).collect(),
            added: others(other),
            removed: others(base),
        }
    }
}

/// The items of the same key, in the base's order.
pub(super) fn pairs<'a>(
    base: &'a Measurements,
    other: &'a Measurements,
) -> Vec<(&'a MeasuredItem, &'a MeasuredItem)> {
    let by_key: HashMap<&str, &MeasuredItem> = other.items.iter().map(|item| (&*item.key, item)).collect();
    base.items.iter().filter_map(|item| Some((item, *by_key.get(&*item.key)?))).collect()
}
