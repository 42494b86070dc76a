//! What the items of a data set are called, and the hash of all of them.

use std::collections::BTreeMap;

use cobalt_core::item::{Canonical, case_names, id, natural_key, unique};
use cobalt_core::redact::redacted;

use super::Dataset;

/// How many repeated ids a warning names, and how many items of each.
const MOST_NAMED: usize = 3;

impl Dataset {
    /// A key for each item, all of them different, by which results are compared across runs.
    ///
    /// It is the item's `id` where that is a number or a text that is not blank, else 16 hexadecimal digits of a
    /// hash of its `input`, else of the whole item. The second item of the same key gets `-2` after it, the
    /// third `-3`; a key that is another item's `id` is passed over. So a key does not depend on the place of
    /// its item in the data set, nor on the order of its fields.
    ///
    /// ```
    /// use cobalt::{Dataset, item};
    ///
    /// let dataset = Dataset::from_items([
    ///     item! { "id": "refund", "input": "Can I get my money back?" },
    ///     item! { "id": 7, "input": "Where is my invoice?" },
    ///     item! { "input": "Hello!" },
    ///     item! { "id": "refund", "input": "I want my money back." },
    /// ]);
    /// assert_eq!(dataset.keys(), ["refund", "7", "ab5a0e5a235fdf69", "refund-2"]);
    /// ```
    pub fn keys(&self) -> Vec<String> {
        unique(self.iter().map(natural_key).collect())
    }

    /// Says which ids several items have: the keys of the later ones depend on their order.
    pub(crate) fn repeated_ids(&self) -> Option<String> {
        let mut indexes: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, item) in self.iter().enumerate() {
            if let Some(id) = id(item) {
                indexes.entry(id).or_default().push(index);
            }
        }
        indexes.retain(|_, indexes| indexes.len() > 1);
        let more = indexes.len().saturating_sub(MOST_NAMED);
        let named: Vec<_> = indexes
            .iter()
            .take(MOST_NAMED)
            .map(|(id, indexes)| {
                let items: Vec<_> = indexes.iter().take(MOST_NAMED).map(ToString::to_string).collect();
                let dots = if indexes.len() > MOST_NAMED { ", …" } else { "" };
                format!("`{}` (items {}{dots})", redacted(id), items.join(", "))
            })
            .collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!named.is_empty()).then(|| {
            format!(
                "several items of {} have the same id: {}{more}; their results are matched by their order, so give each its own",
                self.source(),
                named.join(", "),
            )
        })
    }

    /// A name for each item's test case, all of them different: without white space and `::`, at most about 80
    /// bytes long.
    ///
    /// It is the item's `id`, of which letters and digits of every script, `-`, `_` and `.` are kept and each run
    /// of anything else becomes one `-`. Where that leaves nothing, or there is no `id`, it is the item's index
    /// as four digits. The second item of the same name gets `-2` after it.
    ///
    /// ```
    /// use cobalt::{Dataset, item};
    ///
    /// let dataset = Dataset::from_items([
    ///     item! { "id": "billing::refund (EU)" },
    ///     item! { "input": "no id" },
    ///     item! { "id": "billing refund EU" },
    /// ]);
    /// assert_eq!(dataset.case_keys(), ["billing-refund-EU", "0001", "billing-refund-EU-2"]);
    /// ```
    pub fn case_keys(&self) -> Vec<String> {
        case_names(self.iter().enumerate())
    }

    /// SHA-256 over the items in their order, as 64 hexadecimal digits: the same for the same content, whatever
    /// its format, the order of keys and the spelling of numbers. Where the items are from plays no part.
    ///
    /// ```
    /// use cobalt::{Dataset, item};
    ///
    /// let one = Dataset::from_items([item! { "a": 1, "b": 2 }]);
    /// let same = Dataset::from_items([item! { "b": 2, "a": 1 }]);
    /// assert_eq!(one.hash(), same.hash());
    /// ```
    pub fn hash(&self) -> String {
        let hash = || {
            let mut canonical = Canonical::default();
            canonical.list(self.len());
            self.iter().for_each(|item| canonical.item(item));
            canonical.finish()
        };
        self.hash_by(hash).to_owned()
    }
}

#[cfg(test)]
mod tests {
    use cobalt_core::report::Report;
    use serde_json::json;

    use super::*;
    use crate::item;

    fn ids<const N: usize>(ids: [&str; N]) -> Dataset {
        ids.into_iter().map(|id| item! { "id": id }).collect()
    }

    #[test]
    fn repeated_ids_are_numbered_around_the_ids_that_there_are() {
        assert_eq!(ids(["a", "a", "a-2", "a", "a-2"]).keys(), ["a", "a-3", "a-2", "a-4", "a-2-2"]);
    }

    #[test]
    fn repeated_ids_are_named_with_their_items() {
        let said = ids(["a", "b", "a", "c", "c", "c", "c"]).repeated_ids().unwrap();
        assert!(said.contains("the same id: `a` (items 0, 2), `c` (items 3, 4, 5, …); "), "{said}");
        let many = ids(["a", "a", "b", "b", "c", "c", "d", "d", "e", "e"]).repeated_ids().unwrap();
        assert!(many.contains("`c` (items 4, 5) and 2 more"), "{many}");
        assert_eq!(ids(["a", "a-2", "b"]).repeated_ids(), None);
        assert_eq!(
            Dataset::from_items([item! { "input": "x" }, item! { "input": "x" }]).repeated_ids(),
            None
        );
    }

    #[test]
    fn keys_follow_their_items_when_the_order_changes() {
        let items =
            [item! { "input": "x" }, item! { "input": ["y"], "n": 1 }, item! { "n": 2 }, item! { "id": "z" }];
        let keys = Dataset::from_items(items.clone()).keys();
        let mut turned = Dataset::from_items(items.into_iter().rev()).keys();
        turned.reverse();
        assert_eq!(keys, turned);
    }

    #[test]
    fn other_fields_do_not_change_the_key_of_an_input() {
        let one = Dataset::from_items([item! { "input": "x", "expectedOutput": "y" }]);
        let corrected = Dataset::from_items([item! { "input": "x", "expectedOutput": "z" }]);
        assert_eq!(one.keys(), corrected.keys());
        assert_ne!(one.hash(), corrected.hash());
    }

    #[test]
    fn a_blank_id_or_a_null_input_counts_as_absent() {
        let by_input = Dataset::from_items([item! { "input": "x" }]).keys();
        for id in [json!(" "), json!(null), json!({}), json!(true)] {
            assert_eq!(Dataset::from_items([item! { "id": id, "input": "x" }]).keys(), by_input);
        }
        let keys =
            Dataset::from_items([item! { "input": null, "n": 1 }, item! { "input": null, "n": 2 }]).keys();
        assert!(keys.iter().all(|key| key.len() == 16), "{keys:?}");
    }

    #[test]
    fn an_id_that_looks_like_an_index_keeps_its_name() {
        let dataset = Dataset::from_items([item! { "n": 0 }, item! { "id": "0000" }, item! { "id": "::" }]);
        assert_eq!(dataset.case_keys(), ["0000", "0000-2", "0002"]);
    }

    #[test]
    fn a_long_id_gives_a_short_name() {
        let long = "long ".repeat(1000);
        let names = ids([&long, &long]).case_keys();
        assert_eq!(names[0].len(), 79);
        assert_eq!(names[1], format!("{}-2", names[0]));
    }

    #[test]
    fn the_order_and_number_of_items_change_the_hash() {
        let hashes = [ids(["a", "b"]).hash(), ids(["b", "a"]).hash(), ids(["a"]).hash(), ids([]).hash()];
        let different: std::collections::HashSet<_> = hashes.iter().collect();
        assert_eq!(different.len(), hashes.len());
        assert!(hashes.iter().all(|hash| hash.len() == 64));
    }

    #[test]
    fn a_numeric_id_that_is_known_is_in_no_key() {
        cobalt_core::redact::register_secret("NUMBER_KEY", "749301746583921");
        let dataset = Dataset::from_items([item! { "id": 749_301_746_583_921_u64 }]);
        assert_eq!(dataset.keys(), ["[redacted:NUMBER_KEY]"]);
    }

    #[test]
    fn items_of_the_same_id_are_named_alike_in_runs_of_all_and_of_some() {
        let whole = ids(["a b", "", "a b", "c", "a b"]);
        let (keys, names) = (whole.keys(), whole.case_keys());
        for some in [vec![0, 1, 2, 3, 4], vec![2], vec![1, 3, 4], vec![2, 4]] {
            let items = some.iter().map(|index: &usize| {
                json!({ "index": index, "key": keys[*index], "input": whole.get(*index), "passed": true })
            });
            let report: Report = serde_json::from_value(json!({
                "id": "5ea00522f3eb", "name": "a", "timestamp": "2026-02-05T10:00:34.836Z", "tags": [], "partial": true,
                "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact"] },
                "summary": { "totalItems": some.len(), "totalDurationMs": 1003, "avgLatencyMs": 2 },
                "items": items.collect::<Vec<_>>(),
            }))
            .unwrap();
            assert_eq!(report.case_names(), some.iter().map(|index| &*names[*index]).collect::<Vec<_>>());
        }
    }
}
