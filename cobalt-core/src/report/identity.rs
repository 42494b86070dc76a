//! What the items of a run are called: their keys, by which other runs have them, and their names in test cases.

use serde_json::Value;

use super::item::ItemResult;
use crate::item::{Item, case_name, case_name_of_some, natural_key, unique};

/// The items' keys.
pub fn keys(items: &[ItemResult]) -> Vec<String> {
    let mut names = ItemNames::new(false);
    items.iter().for_each(|item| names.add(item));
    names.keys()
}

/// The item's field `cluster`, if it names one.
pub fn cluster(item: &Item) -> Option<String> {
    match item.get("cluster")? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Gathers what items are called. An item's name depends on those of all others, so that names are known when all items are.
#[derive(Clone, Debug, Default)]
pub struct ItemNames {
    is_partial: bool,
    /// Of each item the key that its file has or, where there is none, the one that others may have, too.
    keys: Vec<String>,
    is_without_keys: bool,
    case_names: Vec<String>,
}

impl ItemNames {
    /// Of no item yet. Where the run is of some of the items, other items may have the same ids.
    #[must_use]
    pub fn new(is_partial: bool) -> Self {
        Self { is_partial, ..Self::default() }
    }

    /// Adds the item that comes next in the order of the data set.
    pub fn add(&mut self, item: &ItemResult) {
        self.is_without_keys |= item.key.is_empty();
        self.keys.push(if item.key.is_empty() { natural_key(&item.input) } else { item.key.clone() });
        self.case_names.push(match self.is_partial {
            true => case_name_of_some(item.index, &item.input, &item.key),
            false => case_name(item.index, &item.input),
        });
    }

    /// The keys by which items are found in other runs; those of files of the original, which have none, are worked out.
    #[must_use]
    pub fn keys(&self) -> Vec<String> {
        if self.is_without_keys { unique(self.keys.clone()) } else { self.keys.clone() }
    }

    /// The names in test cases: slugs of ids, or else indexes as four digits, made unique.
    #[must_use]
    pub fn case_names(self) -> Vec<String> {
        unique(self.case_names)
    }
}
