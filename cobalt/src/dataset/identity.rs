//! Keys and names of a dataset's items, and the dataset's hash.

use std::sync::Arc;

use cobalt_core::item::{CanonicalHasher, CaseNames, ItemKeys};
use cobalt_core::redact::redacted;

use super::Dataset;

/// The maximum number of duplicate IDs that a warning names, and of items for each.
const MAX_NAMED: usize = 3;

impl Dataset {
    /// A unique key for each item, by which results are compared across runs.
    ///
    /// The key is the item's `id` if that is a number or a non-blank string, else the first 16 hexadecimal digits of a hash
    /// of its `input`, else of the whole item. A duplicate key gets the suffix `-2`, then `-3`, and so on, skipping keys that
    /// are another item's `id`. A key thus does not depend on the item's position in the dataset or on the order of its
    /// fields.
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
        self.item_keys().iter().map(str::to_owned).collect()
    }

    /// The same in little memory.
    pub(crate) fn item_keys(&self) -> ItemKeys {
        ItemKeys::new(Arc::clone(self.identities()))
    }

    /// A warning about duplicate IDs: the keys of the later items depend on their order.
    pub(crate) fn duplicate_id_warning(&self) -> Option<String> {
        let indexes = self.identities().shared_ids();
        let more = indexes.len().saturating_sub(MAX_NAMED);
        let named: Vec<_> = indexes
            .iter()
            .take(MAX_NAMED)
            .map(|(id, indexes)| {
                let items: Vec<_> = indexes.iter().take(MAX_NAMED).map(ToString::to_string).collect();
                let dots = if indexes.len() > MAX_NAMED { ", …" } else { "" };
                format!("`{}` (items {}{dots})", redacted(id), items.join(", "))
            })
            .collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        (!named.is_empty()).then(|| {
            format!(
                "several items of {} have the same ID: {}{more}; their results are matched by order, so give each item a unique ID",
                self.source(),
                named.join(", "),
            )
        })
    }

    /// A unique test-case name for each item: without white space and `::`, at most about 80 bytes long.
    ///
    /// The name is the item's `id`, in which letters and digits of every script, `-`, `_` and `.` are kept and every other
    /// sequence becomes one `-`. If nothing is left, or there is no `id`, it is the item's index as four digits. A duplicate
    /// name gets the suffix `-2`, and so on.
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
        let names = self.case_names();
        (0..names.len()).map(|index| names.get(index)).collect()
    }

    /// The same in little memory.
    pub(crate) fn case_names(&self) -> CaseNames {
        CaseNames::new(Arc::clone(self.identities()))
    }

    /// The SHA-256 of the items in order, as 64 hexadecimal digits. It depends only on the content, not on the source, the
    /// format, the order of keys or the spelling of numbers.
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
            let mut canonical = CanonicalHasher::default();
            canonical.list(self.len());
            self.iter().for_each(|item| canonical.item(&item));
            canonical.finish()
        };
        self.hash_or_init(hash).to_owned()
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
        let said = ids(["a", "b", "a", "c", "c", "c", "c"]).duplicate_id_warning().unwrap();
        assert!(said.contains("the same ID: `a` (items 0, 2), `c` (items 3, 4, 5, …); "), "{said}");
        let many = ids(["a", "a", "b", "b", "c", "c", "d", "d", "e", "e"]).duplicate_id_warning().unwrap();
        assert!(many.contains("`c` (items 4, 5) and 2 more"), "{many}");
        assert_eq!(ids(["a", "a-2", "b"]).duplicate_id_warning(), None);
        assert_eq!(
            Dataset::from_items([item! { "input": "x" }, item! { "input": "x" }]).duplicate_id_warning(),
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
