//! The difference between two versions of a dataset, item by item.

use std::collections::HashMap;
use std::fmt;

use cobalt_core::wording::count;

use super::Dataset;

/// Counts the items that differ between two versions of a dataset. Items are matched by their [keys](Dataset::keys).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DatasetDiff {
    added: usize,
    removed: usize,
    /// In both versions, with different content.
    changed: usize,
    /// Whether the common items are in a different order.
    is_reordered: bool,
}

impl DatasetDiff {
    pub fn between(old: &Dataset, new: &Dataset) -> Self {
        let mut old: HashMap<_, _> = old.keys().into_iter().zip(old.iter().enumerate()).collect();
        let mut difference = Self { added: 0, removed: 0, changed: 0, is_reordered: false };
        let mut last = None;
        for (key, item) in new.keys().into_iter().zip(new) {
            match old.remove(&key) {
                None => difference.added += 1,
                Some((index, before)) => {
                    difference.changed += usize::from(before != item);
                    difference.is_reordered |= last.is_some_and(|last| index < last);
                    last = Some(index);
                }
            }
        }
        Self { removed: old.len(), ..difference }
    }

    pub fn is_empty(&self) -> bool {
        *self == Self { added: 0, removed: 0, changed: 0, is_reordered: false }
    }
}

impl fmt::Display for DatasetDiff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [(self.added, "added"), (self.removed, "removed"), (self.changed, "changed")];
        let counts = counts.into_iter().filter(|(number, _)| *number > 0);
        let mut parts: Vec<_> =
            counts.map(|(number, what)| format!("{} {what}", count(number, "item"))).collect();
        if self.is_reordered {
            parts.push("the order changed".to_owned());
        }
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item;

    fn between(old: &[(&str, u32)], new: &[(&str, u32)]) -> String {
        let [old, new] = [old, new]
            .map(|items| items.iter().map(|(id, n)| item! { "id": *id, "n": *n }).collect::<Dataset>());
        let difference = DatasetDiff::between(&old, &new);
        assert_eq!(difference.is_empty(), old.hash() == new.hash());
        difference.to_string()
    }

    #[test]
    fn items_are_compared_by_their_keys() {
        let old = [("a", 1), ("b", 1), ("c", 1)];
        assert_eq!(between(&old, &old), "");
        assert_eq!(
            between(&old, &[("b", 2), ("c", 1), ("d", 1), ("e", 1)]),
            "2 items added, 1 item removed, 1 item changed"
        );
        assert_eq!(between(&old, &[("b", 1), ("a", 1), ("c", 1)]), "the order changed");
    }
}
