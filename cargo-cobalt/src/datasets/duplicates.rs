//! Duplicate items and duplicate inputs.

use std::collections::HashMap;

use cobalt_core::item::Item;
use cobalt_core::item::{item_hash, value_hash};
use cobalt_core::reporters::expected_field;
use serde_json::Value;

use super::near_duplicates::{NearDuplicates, near_duplicates};

/// How far items with the same input agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// All their fields are equal.
    Identical,
    /// Their expected outputs agree, but other fields differ.
    SameInput,
    /// Their expected outputs differ.
    Conflict,
}

/// The indexes of items that are equal in all fields, in groups of two or more.
pub fn equal_items(items: &[&Item]) -> Vec<Vec<usize>> {
    group_by_hash(items, item_hash)
}

/// The indexes of items with equal inputs, in groups of two or more. For items without an input, all fields except the id count.
pub fn equal_inputs(items: &[&Item]) -> Vec<Vec<usize>> {
    group_by_hash(items, |item| match input(item) {
        Some(input) => format!("input {}", value_hash(input)),
        None => item_hash(&without_id(item)),
    })
}

/// How far these items with the same input agree.
pub fn agreement<'i>(items: impl Iterator<Item = &'i Item> + Clone) -> Agreement {
    let has_several = |mut hashes: Vec<String>| {
        hashes.sort_unstable();
        hashes.dedup();
        hashes.len() > 1
    };
    // An empty CSV cell counts as none.
    let expected = |item| expected(item).filter(|expected| expected.as_str() != Some(""));
    if has_several(items.clone().filter_map(expected).map(value_hash).collect()) {
        Agreement::Conflict
    } else if has_several(items.map(item_hash).collect()) {
        Agreement::SameInput
    } else {
        Agreement::Identical
    }
}

/// Items with similar inputs, see [`near_duplicates`]. Of items with equal inputs, only the first one counts.
pub fn similar_inputs(items: &[&Item], bound: f64) -> Vec<NearDuplicates> {
    let mut is_repeated = vec![false; items.len()];
    for group in equal_inputs(items) {
        group[1..].iter().for_each(|index| is_repeated[*index] = true);
    }
    let text =
        |(item, is_repeated): (&&Item, bool)| if is_repeated { String::new() } else { input_text(item) };
    let texts: Vec<_> = items.iter().zip(is_repeated).map(text).collect();
    near_duplicates(&texts, bound)
}

/// The expected output of an item, unless missing or null.
pub fn expected(item: &Item) -> Option<&Value> {
    item.get(expected_field(item)?).filter(|expected| !expected.is_null())
}

fn input(item: &Item) -> Option<&Value> {
    item.get("input").filter(|input| !input.is_null())
}

fn without_id(item: &Item) -> Item {
    item.iter().filter(|(name, _)| *name != "id").map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn group_by_hash(items: &[&Item], hash: impl Fn(&Item) -> String) -> Vec<Vec<usize>> {
    let mut by_hash: HashMap<String, Vec<usize>> = HashMap::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        by_hash.entry(hash(item)).or_default().push(index);
    }
    let mut groups: Vec<_> = by_hash.into_values().filter(|group| group.len() > 1).collect();
    groups.sort_unstable();
    groups
}

/// The strings, numbers and booleans of an item's input, or of all its fields except the id, as one text. Field names do not count,
/// as they are the same in all items.
fn input_text(item: &Item) -> String {
    let mut text = String::new();
    match input(item) {
        Some(input) => collect_strings(input, &mut text),
        None => item
            .iter()
            .filter(|(name, _)| *name != "id")
            .for_each(|(_, value)| collect_strings(value, &mut text)),
    }
    text
}

fn collect_strings(value: &Value, text: &mut String) {
    match value {
        Value::Null => {}
        Value::Array(values) => values.iter().for_each(|value| collect_strings(value, text)),
        Value::Object(fields) => fields.values().for_each(|value| collect_strings(value, text)),
        Value::String(string) => push_line(string, text),
        Value::Bool(_) | Value::Number(_) => push_line(&value.to_string(), text),
    }
}

fn push_line(line: &str, text: &mut String) {
    text.push_str(line);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use cobalt::item;

    use super::*;

    #[test]
    fn items_are_equal_whatever_the_order_of_fields_and_the_spelling_of_numbers() {
        let items = [
            item! { "id": 1, "input": "a" },
            item! { "input": "b" },
            item! { "input": "a", "id": 1.0 },
            item! { "input": "b", "hint": null },
        ];
        assert_eq!(equal_items(&items.each_ref()), [[0, 2]]);
    }

    #[test]
    fn inputs_are_equal_whatever_the_other_fields_are() {
        let items = [
            item! { "id": 1, "input": ["a", 1] },
            item! { "id": 2, "input": ["a", 1.0], "expectedOutput": "b" },
            item! { "id": 3, "question": "a" },
            item! { "id": 4, "question": "a", "input": null },
            item! { "id": 5, "question": "a" },
        ];
        assert_eq!(equal_inputs(&items.each_ref()), [[0, 1], [2, 4]]);
    }

    #[test]
    fn only_expected_outputs_that_are_there_can_differ() {
        let with = |expected: Value| item! { "input": "a", "expectedOutput": expected };
        let of = |items: &[Item]| agreement(items.iter());
        assert_eq!(of(&[with("b".into()), with("b".into())]), Agreement::Identical);
        assert_eq!(of(&[with("b".into()), item! { "input": "a" }]), Agreement::SameInput);
        assert_eq!(of(&[with("b".into()), with(Value::Null)]), Agreement::SameInput);
        assert_eq!(of(&[with("".into()), with("b".into())]), Agreement::SameInput);
        let elsewhere = item! { "input": "a", "expectedOutput": "", "answer": "c" };
        assert_eq!(of(&[elsewhere, with("b".into())]), Agreement::Conflict);
        assert_eq!(of(&[with("b".into()), item! { "input": "a" }, with("c".into())]), Agreement::Conflict);
    }

    #[test]
    fn near_inputs_are_compared_by_their_texts_and_equal_ones_but_once() {
        let message = |text: &str| item! { "input": [{ "role": "user", "content": text }] };
        let question = "How do I get my money back when the parcel never came?";
        let items = [
            message(question),
            message(question),
            message("Who is there?"),
            message(&question.replace('?', "!")),
        ];
        let near = similar_inputs(&items.each_ref(), 0.8);
        assert_eq!(near.len(), 1);
        assert_eq!((near[0].first, near[0].others[0].0, near[0].others.len()), (0, 3, 1));
    }
}
