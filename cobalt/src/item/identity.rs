//! What an item is called: by a key that outlives sorting and cutting, and by the name of its test case.

use std::collections::HashMap;

use serde_json::Value;

use super::{Canonical, Item};
use crate::redact::redacted;
use crate::slug::slug;

/// How many hexadecimal digits of a hash make a key: 64 bits.
const KEY_DIGITS: usize = 16;

/// The longest slug of an id, in bytes of UTF-8.
const CASE_KEY_BYTES: usize = 80;

/// 16 hexadecimal digits of a hash of a whole item, which change with whatever changes in it.
pub(crate) fn content_hash(item: &Item) -> String {
    let mut hash = Canonical::of_item(item);
    hash.truncate(KEY_DIGITS);
    hash
}

/// The names in test cases of items with these indexes.
pub(crate) fn case_names<'a>(items: impl Iterator<Item = (usize, &'a Item)>) -> Vec<String> {
    unique(items.map(|(index, item)| case_name(index, item)).collect())
}

/// An item's key, which others may have, too: see [`unique`].
pub(crate) fn natural_key(item: &Item) -> String {
    if let Some(id) = id(item) {
        return id;
    }
    let mut key = match item.get("input").filter(|input| !input.is_null()) {
        Some(input) => Canonical::of_value(input),
        None => Canonical::of_item(item),
    };
    key.truncate(KEY_DIGITS);
    key
}

/// An item's name in test cases, which others may have, too: see [`unique`].
pub(crate) fn case_name(index: usize, item: &Item) -> String {
    name_or_index(id(item), index)
}

/// The same of an item of some of a data set: of items that have the same id, the keys tell which of them they are.
pub(crate) fn case_name_of_some(index: usize, item: &Item, key: &str) -> String {
    name_or_index(id(item).map(|_| key.to_owned()), index)
}

fn name_or_index(name: Option<String>, index: usize) -> String {
    let slug = name.map(|name| slug(&name, CASE_KEY_BYTES)).unwrap_or_default();
    if slug.is_empty() { format!("{index:04}") } else { slug }
}

/// The `id` of an item, where it has one.
pub(crate) fn id(item: &Item) -> Option<String> {
    match item.get("id")? {
        // It is in the names of test cases and in what is kept.
        Value::String(text) if !text.trim().is_empty() => Some(redacted(text).into_owned()),
        Value::Number(number) => Some(redacted(&number.to_string()).into_owned()),
        _ => None,
    }
}

/// Numbers the names that occur more than once, around names that are numbered already.
pub(crate) fn unique(names: Vec<String>) -> Vec<String> {
    let mut uses: HashMap<&str, usize> = names.iter().map(|name| (name.as_str(), 0)).collect();
    if uses.len() == names.len() {
        return names;
    }
    let mut unique = Vec::with_capacity(names.len());
    for name in &names {
        let mut number = uses[name.as_str()] + 1;
        let mut key = name.clone();
        while number > 1 {
            key = format!("{name}-{number}");
            if !uses.contains_key(key.as_str()) {
                break;
            }
            number += 1;
        }
        uses.insert(name, number);
        unique.push(key);
    }
    unique
}
