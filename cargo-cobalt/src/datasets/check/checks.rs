//! The checks of a dataset: fields, text encoding, duplicates and near-duplicates.

use std::collections::BTreeMap;

use cobalt_core::item::Item;
use cobalt_core::wording::{count, format_decimal, group_thousands};
use serde_json::Value;

use super::{AffectedItem, Check, Finding, Items};
use crate::datasets::duplicates::{Agreement, agreement, equal_inputs, expected, similar_inputs};
use crate::text_table::{Type, is_blank, is_empty};

/// Findings about fields.
pub fn check_fields(items: &Items<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let input = |item: &Item| item.get("input").is_some_and(has_content);
    found.extend(missing_field(items, Check::NoInput, "`input`", input));
    found.extend(repeated_ids(items));
    found
        .extend(missing_field(items, Check::Missing, "`id`", |item| item.get("id").is_some_and(has_content)));
    let expected = |item: &Item| expected(item).is_some_and(has_content);
    found.extend(missing_field(items, Check::Missing, "expected output", expected));
    found.extend(mixed_types(items));
    found.extend(blank_fields(items));
    found
}

fn has_content(value: &Value) -> bool {
    !(value.is_null() || is_empty(value) || is_blank(value))
}

/// The items that lack what other items have.
fn missing_field(
    items: &Items<'_>,
    check: Check,
    what: &str,
    has: impl Fn(&Item) -> bool,
) -> Option<Finding> {
    let lacking = items.indexes_where(|item| !has(item));
    let having = items.items.len() - lacking.len();
    let message = || {
        let verb = if lacking.len() == 1 { "has" } else { "have" };
        format!(
            "{} of {} {verb} no {what}",
            group_thousands(lacking.len() as u64),
            count(items.items.len(), "item")
        )
    };
    (having > 0 && !lacking.is_empty()).then(|| Finding::new(check, message(), items.places(&lacking)))
}

/// Ids shared by several items: 1 and "1" are the same id.
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
        let message = format!("{} items share the id `{id}`", indexes.len());
        Finding::new(Check::RepeatedId, message, items.places(&indexes))
    };
    repeated.into_iter().map(finding).collect()
}

/// The fields with mixed types, and the items that differ from the usual type.
fn mixed_types(items: &Items<'_>) -> Vec<Finding> {
    let mut fields: BTreeMap<&str, BTreeMap<Type, Vec<usize>>> = BTreeMap::new();
    for (index, item) in items.items.iter().enumerate() {
        for (name, value) in item.iter().filter(|(_, value)| !value.is_null()) {
            fields.entry(name).or_default().entry(Type::of(value)).or_default().push(index);
        }
    }
    let finding = |(name, types): (&str, BTreeMap<Type, Vec<usize>>)| {
        // Of equally frequent types, the one of the first item is the usual one.
        let usual = types.iter().max_by_key(|(_, of)| (of.len(), std::cmp::Reverse(of[0])))?.0;
        let mut others: Vec<usize> =
            types.iter().filter(|(of, _)| *of != usual).flat_map(|(_, of)| of).copied().collect();
        others.sort_unstable();
        let named = |(of, indexes): (&Type, &Vec<usize>)| format!("{} in {}", of.name(), indexes.len());
        let all: Vec<_> = types.iter().map(named).collect();
        let message = format!("field `{name}` has mixed types: {}", all.join(", "));
        let place = |index: &usize| items.place(*index, items.items[*index].get(name));
        Some(Finding::new(Check::MixedTypes, message, others.iter().map(place).collect()))
    };
    fields.into_iter().filter(|(_, types)| types.len() > 1).filter_map(finding).collect()
}

/// The fields that are only whitespace in some items; a blank input counts as missing.
fn blank_fields(items: &Items<'_>) -> Vec<Finding> {
    let mut fields: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.items.iter().enumerate() {
        for (name, _) in item.iter().filter(|(name, value)| *name != "input" && is_blank(value)) {
            fields.entry(name).or_default().push(index);
        }
    }
    let finding = |(name, indexes): (&str, Vec<usize>)| {
        let message = format!("field `{name}` is only whitespace in {}", count(indexes.len(), "item"));
        Finding::new(Check::Blank, message, items.places(&indexes))
    };
    fields.into_iter().map(finding).collect()
}

/// What decoders emit for invalid input.
const REPLACEMENT: char = '\u{fffd}';

/// The characters of Windows-1252 from 0x80, where it differs from Latin-1; unassigned bytes map to themselves.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The fields with broken encoding.
pub fn check_encoding(items: &Items<'_>) -> Vec<Finding> {
    let mut fields: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (index, item) in items.items.iter().enumerate() {
        for (name, value) in *item {
            if let Some(problem) = encoding_problem(value) {
                fields.entry((name, problem)).or_default().push(index);
            }
        }
    }
    let finding = |((name, problem), indexes): ((&str, &str), Vec<usize>)| {
        let message = format!("field `{name}` contains {problem} in {}", count(indexes.len(), "item"));
        let place = |index: &usize| items.place(*index, items.items[*index].get(name));
        Finding::new(Check::Encoding, message, indexes.iter().map(place).collect())
    };
    fields.into_iter().map(finding).collect()
}

fn encoding_problem(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) if text.is_ascii() => None,
        Value::String(text) if text.contains(REPLACEMENT) => Some("replacement characters (U+FFFD)"),
        Value::String(text) if is_mojibake(text) => Some("UTF-8 decoded as Windows-1252"),
        Value::Array(values) => values.iter().find_map(encoding_problem),
        Value::Object(fields) => fields.values().find_map(encoding_problem),
        _ => None,
    }
}

/// Whether a text contains UTF-8 that was decoded as Windows-1252, such as `Ã©` for `é`.
fn is_mojibake(text: &str) -> bool {
    let is_utf_8 = |run: &str| {
        let bytes: Option<Vec<u8>> = run.chars().map(windows_1252).collect();
        bytes.is_some_and(|bytes| std::str::from_utf8(&bytes).is_ok())
    };
    text.split_inclusive(|character: char| character.is_ascii()).any(|piece| {
        let (run, next) = match piece.char_indices().next_back() {
            Some((end, next)) if next.is_ascii() => (&piece[..end], Some(next)),
            _ => (piece, None),
        };
        !run.is_empty() && !is_end_of_word(run, next) && is_utf_8(run)
    })
}

/// Whether it is the last letter of a word followed by punctuation, as in `„Spaß“`. The letters that most mojibake starts with, as
/// in `Å‚` for `ł`, end hardly any word.
fn is_end_of_word(run: &str, next: Option<char>) -> bool {
    let mut characters = run.chars();
    let (first, second, third) = (characters.next(), characters.next(), characters.next());
    !next.is_some_and(|next| next.is_alphanumeric())
        && first.is_some_and(|first| first.is_alphabetic() && !"ÂÃÄÅ".contains(first))
        && second.is_some_and(|second| "‘’“”„‚‹›…–—™".contains(second))
        && third.is_none()
}

/// The Windows-1252 byte of a character.
fn windows_1252(character: char) -> Option<u8> {
    let special = WINDOWS_1252.iter().position(|special| *special == character);
    special.map(|place| 0x80 + place as u8).or_else(|| {
        let byte = u8::try_from(u32::from(character)).ok()?;
        (byte >= 0xa0).then_some(byte)
    })
}

/// Groups of items with equal inputs.
pub fn find_duplicates(items: &Items<'_>) -> Vec<Finding> {
    let all = &items.items;
    let finding = |group: Vec<usize>| match agreement(group.iter().map(|index| all[*index])) {
        Agreement::Identical => {
            let message = format!("{} items are identical", group.len());
            Finding::new(Check::Duplicate, message, items.places(&group))
        }
        Agreement::SameInput => {
            let message = format!("{} items have the same input but differ in other fields", group.len());
            Finding::new(Check::Duplicate, message, items.places(&group))
        }
        Agreement::Conflict => {
            let place = |index: &usize| items.place(*index, expected(all[*index]));
            let message = format!("{} items have the same input but different expected outputs", group.len());
            Finding::new(Check::Conflict, message, group.iter().map(place).collect())
        }
    };
    equal_inputs(all).into_iter().map(finding).collect()
}

/// Groups of items with similar inputs.
pub fn find_similar(items: &Items<'_>, bound: f64) -> Vec<Finding> {
    let groups = similar_inputs(&items.items, bound).into_iter();
    groups
        .map(|group| {
            let place = |index: usize, similarity: Option<f64>| {
                let value = items.items[index].get("input");
                AffectedItem { similarity, ..items.place(index, value) }
            };
            let others = group.others.iter().map(|(index, similarity)| place(*index, Some(*similarity)));
            let places: Vec<_> = std::iter::once(place(group.first, None)).chain(others).collect();
            let least = group.others.iter().map(|(_, similarity)| *similarity).fold(1.0, f64::min);
            let least = format_decimal((least * 1000.0).floor() / 10.0, 1);
            let message = format!("{} items have similar inputs (at least {least}% similar)", places.len());
            Finding::new(Check::NearDuplicate, message, places)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn utf_8_that_was_read_as_windows_1252_is_recognised() {
        for text in ["cafÃ©", "sÄ…", "koÅ„czy", "Å“uvre", "itâ€™s", "Â£5", "Ã¤Ã¶", "è³ªå•\u{8f}"]
        {
            assert!(is_mojibake(text), "{text}");
        }
    }

    #[test]
    fn text_in_any_script_is_none() {
        for text in ["café", "it’s “so”", "£5 – €6", "ÀÉÎ", "質問", "Ωμέγα", "naïve Ångström ½", "«à»", "🚀"]
            .into_iter()
            .chain(["„Spaß“", "“CAFÉ”", "ein Maß…", "Straß–"])
        {
            assert!(!is_mojibake(text), "{text}");
        }
    }

    #[test]
    fn replacement_characters_are_found_in_any_depth() {
        let found = encoding_problem(&json!({ "messages": [{ "text": "caf\u{fffd}" }] }));
        assert_eq!(found, Some("replacement characters (U+FFFD)"));
        assert_eq!(encoding_problem(&json!(["plain", 1, null])), None);
    }
}
