//! Text that was decoded as something that it is not.

use std::collections::BTreeMap;

use cobalt::wording::count;
use serde_json::Value;

use super::finding::{Check, Finding};
use super::items::Items;

/// What decoders put where they understand nothing.
const REPLACEMENT: char = '\u{fffd}';

/// The characters of Windows-1252 from 0x80, where it differs from Latin-1; bytes without one stand for themselves.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// The fields with such text.
pub(super) fn encoding(items: &Items<'_>) -> Vec<Finding> {
    let mut fields: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (index, item) in items.items.iter().enumerate() {
        for (name, value) in *item {
            if let Some(problem) = problem(value) {
                fields.entry((name, problem)).or_default().push(index);
            }
        }
    }
    let finding = |((name, problem), indexes): ((&str, &str), Vec<usize>)| {
        let message = format!("the field `{name}` has {problem} in {}", count(indexes.len(), "item"));
        let place = |index: &usize| items.place(*index, items.items[*index].get(name));
        Finding::new(Check::Encoding, message, indexes.iter().map(place).collect())
    };
    fields.into_iter().map(finding).collect()
}

fn problem(value: &Value) -> Option<&'static str> {
    match value {
        Value::String(text) if text.is_ascii() => None,
        Value::String(text) if text.contains(REPLACEMENT) => Some("replacement characters (U+FFFD)"),
        Value::String(text) if is_mojibake(text) => Some("UTF-8 that was read as Windows-1252"),
        Value::Array(values) => values.iter().find_map(problem),
        Value::Object(fields) => fields.values().find_map(problem),
        _ => None,
    }
}

/// Whether a run of characters is what UTF-8 looks like when it is read as Windows-1252, as `Ã©` does for `é`.
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

/// Whether it is the last letter of a word with the mark behind it, as in `„Spaß“`. The letters that most of what is misread
/// begins with, as `Å‚` for `ł`, end hardly any word.
fn is_end_of_word(run: &str, next: Option<char>) -> bool {
    let mut characters = run.chars();
    let (first, second, third) = (characters.next(), characters.next(), characters.next());
    !next.is_some_and(|next| next.is_alphanumeric())
        && first.is_some_and(|first| first.is_alphabetic() && !"ÂÃÄÅ".contains(first))
        && second.is_some_and(|second| "‘’“”„‚‹›…–—™".contains(second))
        && third.is_none()
}

/// The byte that stands for a character.
fn windows_1252(character: char) -> Option<u8> {
    let special = WINDOWS_1252.iter().position(|special| *special == character);
    special.map(|place| 0x80 + place as u8).or_else(|| {
        let byte = u8::try_from(u32::from(character)).ok()?;
        (byte >= 0xa0).then_some(byte)
    })
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
        let found = problem(&json!({ "messages": [{ "text": "caf\u{fffd}" }] }));
        assert_eq!(found, Some("replacement characters (U+FFFD)"));
        assert_eq!(problem(&json!(["plain", 1, null])), None);
    }
}
