//! The items common to two runs.

use std::collections::{HashMap, HashSet};

use super::ItemMatching;
use crate::report::{MeasuredItem, Measurements};

/// An item in both runs.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    pub base: &'a MeasuredItem,
    pub other: &'a MeasuredItem,
    /// The number of its cluster, from 0.
    pub cluster: usize,
}

impl Pair<'_> {
    /// Whether the item's content has changed, so the runs answered different questions.
    pub fn is_changed(&self) -> bool {
        self.base.content != self.other.content
    }

    /// Whether the item's latency is that of a recording in one of the runs, so there is nothing to compare.
    pub fn has_replayed_latency(&self) -> bool {
        self.base.replayed || self.other.replayed
    }
}

/// Matches items by key, in the order of the base run. An item without a cluster is its own cluster.
pub fn match_items<'a>(base: &'a Measurements, other: &'a Measurements) -> Vec<Pair<'a>> {
    let by_key: HashMap<&str, &MeasuredItem> = other.items.iter().map(|item| (&*item.key, item)).collect();
    let mut named: HashMap<&str, usize> = HashMap::new();
    let mut clusters = 0;
    let pair = |base: &'a MeasuredItem| {
        let other = *by_key.get(&*base.key)?;
        let mut new = || {
            clusters += 1;
            clusters - 1
        };
        let cluster = match &other.cluster {
            Some(name) => *named.entry(name).or_insert_with(new),
            None => new(),
        };
        Some(Pair { base, other, cluster })
    };
    base.items.iter().filter_map(pair).collect()
}

impl ItemMatching {
    pub(super) fn of(base: &Measurements, other: &Measurements, pairs: &[Pair<'_>]) -> Self {
        let known: HashSet<_> = pairs.iter().map(|pair| &*pair.base.key).collect();
        let unknown = |run: &Measurements| -> Vec<String> {
            run.items.iter().filter(|item| !known.contains(&*item.key)).map(|item| item.key.clone()).collect()
        };
        let changed = pairs.iter().filter(|pair| pair.is_changed());
        Self {
            matched: pairs.len(),
            changed: changed.map(|pair| pair.base.key.clone()).collect(),
            added: unknown(other),
            removed: unknown(base),
        }
    }
}
