//! Fields that not all items have, or not with values of one type.

use std::collections::BTreeMap;

use cobalt::Item;
use cobalt::wording::count;
use serde_json::Value;

use super::finding::{Check, Finding};
use super::items::Items;
use crate::datasets::duplicates::expected;
use crate::datasets::values::{Type, is_blank, is_empty};

/// What is found of fields.
pub(super) fn fields(items: &Items<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let input = |item: &Item| item.get("input").is_some_and(says_something);
    found.extend(lacking(items, Check::NoInput, "`input`", input));
    found.extend(repeated_ids(items));
    found.extend(lacking(items, Check::Missing, "`id`", |item| item.get("id").is_some_and(says_something)));
    let expected = |item: &Item| expected(item).is_some_and(says_something);
    found.extend(lacking(items, Check::Missing, "expected output", expected));
    found.extend(mixed_types(items));
    found.extend(blank(items));
    found
}

fn says_something(value: &Value) -> bool {
    !(value.is_null() || is_empty(value) || is_blank(value))
}

/// The items that lack what others have.
fn lacking(items: &Items<'_>, check: Check, what: &str, has: impl Fn(&Item) -> bool) -> Option<Finding> {
    let lacking = items.those(|item| !has(item));
    let having = items.items.len() - lacking.len();
    let message = || {
        let verb = if lacking.len() == 1 { "has" } else { "have" };
        format!(
            "{} {verb} no {what}, as {having} of {} have",
            count(lacking.len(), "item"),
            items.items.len()
        )
    };
    (having > 0 && !lacking.is_empty()).then(|| Finding::new(check, message(), items.places(&lacking)))
}

/// The ids that several items have: 1 and "1" are one id.
fn repeated_ids(items: &Items<'_>) -> Vec<Finding> {
    let mut by_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.items.iter().enumerate() {
        let id = match item.get("id") {
            Some(Value::String(text)) if !text.trim().is_empty() => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => continue,
        };
        by_id.entry(id).or_default().push(index);
    }
    let mut repeated: Vec<_> = by_id.into_iter().filter(|(_, indexes)| indexes.len() > 1).collect();
    repeated.sort_unstable_by(|(_, one), (_, other)| one.cmp(other));
    let finding = |(id, indexes): (String, Vec<usize>)| {
        let message = format!("{} items have the id `{id}`", indexes.len());
        Finding::new(Check::RepeatedId, message, items.places(&indexes))
    };
    repeated.into_iter().map(finding).collect()
}

/// The fields with values of several types, and the items that have another one than most.
fn mixed_types(items: &Items<'_>) -> Vec<Finding> {
    let mut fields: BTreeMap<&str, BTreeMap<Type, Vec<usize>>> = BTreeMap::new();
    for (index, item) in items.items.iter().enumerate() {
        for (name, value) in item.iter().filter(|(_, value)| !value.is_null()) {
            fields.entry(name).or_default().entry(Type::of(value)).or_default().push(index);
        }
    }
    let finding = |(name, types): (&str, BTreeMap<Type, Vec<usize>>)| {
        // Of types that are as frequent, that of the first item counts as the usual one.
        let usual = types.iter().max_by_key(|(_, of)| (of.len(), std::cmp::Reverse(of[0])))?.0;
        let mut others: Vec<usize> =
            types.iter().filter(|(of, _)| *of != usual).flat_map(|(_, of)| of).copied().collect();
        others.sort_unstable();
        let named = |(of, indexes): (&Type, &Vec<usize>)| format!("{} in {}", of.name(), indexes.len());
        let all: Vec<_> = types.iter().map(named).collect();
        let message = format!("the field `{name}` has values of several types: {}", all.join(", "));
        let place = |index: &usize| items.place(*index, items.items[*index].get(name));
        Some(Finding::new(Check::MixedTypes, message, others.iter().map(place).collect()))
    };
    fields.into_iter().filter(|(_, types)| types.len() > 1).filter_map(finding).collect()
}

/// The fields that are white space alone in some items; an input that is counts as none.
fn blank(items: &Items<'_>) -> Vec<Finding> {
    let mut fields: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.items.iter().enumerate() {
        for (name, _) in item.iter().filter(|(name, value)| *name != "input" && is_blank(value)) {
            fields.entry(name).or_default().push(index);
        }
    }
    let finding = |(name, indexes): (&str, Vec<usize>)| {
        let message = format!("the field `{name}` is white space alone in {}", count(indexes.len(), "item"));
        Finding::new(Check::Blank, message, items.places(&indexes))
    };
    fields.into_iter().map(finding).collect()
}
