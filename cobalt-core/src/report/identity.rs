//! The identity of a run's items: their keys, which match them between runs, and their names in test cases.

use serde_json::Value;

use super::item::ItemResult;
use crate::item::{Item, case_name, case_name_in_partial_run, make_unique, natural_key};

/// The items' keys, which match them between runs. They are calculated for files of the original tool, which have none.
#[must_use]
pub fn item_keys(items: &[ItemResult]) -> Vec<String> {
    let mut names = ItemNames::new(false);
    items.iter().for_each(|item| names.add(item));
    names.keys()
}

/// The item's cluster from its field `cluster`, if it has one.
pub fn cluster_name(item: &Item) -> Option<String> {
    match item.get("cluster")? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Gathers the names of items. A name depends on those of all other items, so names are known only at the end.
#[derive(Clone, Debug, Default)]
pub struct ItemNames {
    is_partial: bool,
    /// Each item's key from its file or, without one, its natural key, which may not be unique.
    keys: Vec<String>,
    is_without_keys: bool,
    case_names: Vec<String>,
}

impl ItemNames {
    /// Creates an empty collection. In a partial run, items that are not part of it may have the same IDs.
    #[must_use]
    pub fn new(is_partial: bool) -> Self {
        Self { is_partial, ..Self::default() }
    }

    /// Adds the next item in dataset order.
    pub fn add(&mut self, item: &ItemResult) {
        self.is_without_keys |= item.key.is_empty();
        self.keys.push(if item.key.is_empty() { natural_key(&item.input) } else { item.key.clone() });
        self.case_names.push(match self.is_partial {
            true => case_name_in_partial_run(item.index, &item.input, &item.key),
            false => case_name(item.index, &item.input),
        });
    }

    /// The keys that match items between runs. They are calculated for files of the original tool, which have none.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        if self.is_without_keys { make_unique(self.keys.clone()) } else { self.keys.clone() }
    }

    /// The names in test cases: slugs of IDs, or else indexes as four digits, made unique.
    #[must_use]
    pub fn case_names(self) -> Vec<String> {
        make_unique(self.case_names)
    }
}
