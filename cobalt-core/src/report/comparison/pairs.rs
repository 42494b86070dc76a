//! The items common to two runs.

use std::collections::HashMap;

use super::ItemMatching;
use crate::report::{MeasuredItemRef, MeasuredItems, Measurements};

/// An item in both runs.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    pub base: MeasuredItemRef<'a>,
    pub other: MeasuredItemRef<'a>,
    /// The number of its cluster, from 0.
    pub cluster: usize,
}

impl Pair<'_> {
    /// Whether the item's content has changed, so the runs answered different questions.
    pub fn is_changed(&self) -> bool {
        self.base.content() != self.other.content()
    }

    /// Whether the item's latency is that of a recording in one of the runs, so there is nothing to compare.
    pub fn has_replayed_latency(&self) -> bool {
        self.base.is_replayed() || self.other.is_replayed()
    }
}

/// Matches items by key, in the order of the base run. An item without a cluster is its own cluster.
pub fn match_items<'a>(base: &'a Measurements, other: &'a Measurements) -> Vec<Pair<'a>> {
    let by_key: HashMap<&str, MeasuredItemRef<'_>> =
        other.items.iter().map(|item| (item.key(), item)).collect();
    let mut named: HashMap<&str, usize> = HashMap::new();
    let mut clusters = 0;
    let pair = |base: MeasuredItemRef<'a>| {
        let other = *by_key.get(base.key())?;
        let mut new = || {
            clusters += 1;
            clusters - 1
        };
        let cluster = match other.cluster() {
            Some(name) => *named.entry(name).or_insert_with(new),
            None => new(),
        };
        Some(Pair { base, other, cluster })
    };
    base.items.iter().filter_map(pair).collect()
}

/// The maximum number of keys in each list.
const MAX_LISTED: usize = 1000;

impl ItemMatching {
    pub(super) fn of(base: &Measurements, other: &Measurements, pairs: &[Pair<'_>]) -> Self {
        let changed = pairs.iter().filter(|pair| pair.is_changed()).map(|pair| pair.base);
        let (changed, changed_unlisted) = first_keys(changed);
        let unmatched = |items: &MeasuredItems, side: fn(&Pair<'_>) -> usize| {
            let mut is_matched = vec![false; items.len()];
            pairs.iter().for_each(|pair| is_matched[side(pair)] = true);
            first_keys(items.iter().filter(|item| !is_matched[item.position()]))
        };
        let (added, added_unlisted) = unmatched(&other.items, |pair| pair.other.position());
        let (removed, removed_unlisted) = unmatched(&base.items, |pair| pair.base.position());
        Self {
            matched: pairs.len(),
            changed,
            changed_unlisted,
            added,
            added_unlisted,
            removed,
            removed_unlisted,
        }
    }

    /// The number of common items whose content has changed.
    #[must_use]
    pub fn changed_count(&self) -> usize {
        self.changed.len() + self.changed_unlisted
    }

    /// The number of items only in the other run.
    #[must_use]
    pub fn added_count(&self) -> usize {
        self.added.len() + self.added_unlisted
    }

    /// The number of items only in the base run.
    #[must_use]
    pub fn removed_count(&self) -> usize {
        self.removed.len() + self.removed_unlisted
    }
}

/// The keys of the first items, and the number of others.
fn first_keys<'a>(mut items: impl Iterator<Item = MeasuredItemRef<'a>>) -> (Vec<String>, usize) {
    let first = items.by_ref().take(MAX_LISTED).map(|item| item.key().to_owned()).collect();
    (first, items.count())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::comparison::compare;

    fn run(id: &str, keys: impl Iterator<Item = usize>, content: &str) -> Measurements {
        let item =
            |key| json!({ "key": format!("k{key}"), "content": content, "latencyMs": 1.0, "scores": {} });
        let run = json!({ "measurements": 1, "id": id, "name": "desk", "timestamp": "2026-11-21T00:00:00Z", "runs": 1,
            "evaluators": [], "items": keys.map(item).collect::<Vec<_>>() });
        serde_json::from_value(run).unwrap()
    }

    #[test]
    fn of_many_keys_the_first_are_listed_and_all_are_counted() {
        let comparison = compare(&run("a", 0..3_000, "1"), &[&run("b", 1_100..4_002, "2")]).remove(0);
        let items = &comparison.items;
        assert_eq!(items.matched, 1_900);
        assert_eq!(
            (items.changed_count(), items.added_count(), items.removed_count()),
            (1_900, 1_002, 1_100)
        );
        assert_eq!([&items.changed, &items.added, &items.removed].map(Vec::len), [1_000; 3]);
        assert_eq!(
            [&items.changed, &items.added, &items.removed].map(|keys| &*keys[999]),
            ["k2099", "k3999", "k999"]
        );
        assert_eq!(
            comparison.notes,
            [
                "the items differ: 1,900 items changed (included here, excluded from baseline thresholds), 1,002 items added, \
              1,100 items removed"
            ]
        );
        let read: ItemMatching = serde_json::from_value(json!(items)).unwrap();
        assert_eq!(&read, items);
    }

    #[test]
    fn a_comparison_of_an_earlier_version_lists_all_keys() {
        let items = json!({ "matched": 1, "changed": ["a"], "added": [], "removed": ["b", "c"] });
        let read: ItemMatching = serde_json::from_value(items.clone()).unwrap();
        assert_eq!((read.changed_count(), read.added_count(), read.removed_count()), (1, 0, 2));
        assert_eq!(json!(read), items, "and nothing is added if all are listed");
    }
}
