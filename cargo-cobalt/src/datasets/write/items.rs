//! What items are called, and the order of their fields.

use cobalt::{Dataset, Item};
use serde_json::Value;

/// What an item is found by in other runs: its `id`, else a hash of its `input`, else of all of it. Others may have the same.
pub(crate) fn key(item: &Item) -> String {
    Dataset::from_items([item.clone()]).keys().swap_remove(0)
}

/// The fields that come first where no other item shows an order.
const FIRST: [&str; 3] = ["id", "input", "expectedOutput"];

/// The fields of an item: those that are named in their order, then the usual ones, then the others.
pub(super) fn in_order<'a>(item: &'a Item, named: &[String]) -> Vec<(&'a str, &'a Value)> {
    let place = |name: &str| {
        let shown = named.iter().position(|known| known == name).map(|place| (0, place));
        let usual = || FIRST.iter().position(|known| *known == name).map(|place| (1, place));
        shown.or_else(usual).unwrap_or((2, 0))
    };
    let mut fields: Vec<_> = item.iter().map(|(name, value)| (name.as_str(), value)).collect();
    // Stable: the others stay in the order of the alphabet.
    fields.sort_by_key(|(name, _)| place(name));
    fields
}
