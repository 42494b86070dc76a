//! Redaction marks, which replace secrets: `[redacted:github-token]`.

use std::ops::Range;

/// The mark for a secret without a name.
pub const REDACTED: &str = "[redacted]";
/// The start of every mark.
pub const MARK_START: &str = "[redacted";
/// The maximum length of a name in a mark.
const LONGEST_NAME: usize = 64;

/// The mark with a name: that of the matching rule, or of the variable or setting with the secret.
pub fn mark(name: &str) -> String {
    format!("{MARK_START}:{name}]")
}

/// Converts a name for use in a mark.
pub fn name(name: &str) -> String {
    let fit = |letter: char| if is_of_name(letter) { letter } else { '-' };
    let name: String = name.chars().take(LONGEST_NAME).map(fit).collect();
    if name.is_empty() { "secret".to_owned() } else { name }
}

fn is_of_name(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_.-".contains(letter)
}

/// The mark that starts at `start`.
pub fn mark_at(text: &[u8], start: usize) -> Option<Range<usize>> {
    let rest = text.get(start..)?.strip_prefix(MARK_START.as_bytes())?;
    let length = match rest {
        [b']', ..] => 1,
        [b':', name @ ..] => {
            let length =
                name.iter().take(LONGEST_NAME + 1).take_while(|byte| is_of_name(char::from(**byte))).count();
            if length == 0 || name.get(length) != Some(&b']') {
                return None;
            }
            length + 2
        }
        _ => return None,
    };
    Some(start..start + MARK_START.len() + length)
}

/// Whether a mark starts at `start`.
pub fn begins_at(text: &[u8], start: usize) -> bool {
    mark_at(text, start).is_some()
}

/// Whether a mark ends at `end`.
pub fn ends_at(text: &[u8], end: usize) -> bool {
    let before = &text[end.saturating_sub(MARK_START.len() + LONGEST_NAME + 2)..end];
    let start = before.iter().rposition(|byte| *byte == b'[').map(|mark_at| end - before.len() + mark_at);
    start.and_then(|start| mark_at(text, start)).is_some_and(|mark| mark.end == end)
}

/// Whether a text contains a mark.
#[must_use]
pub fn has_mark(text: &str) -> bool {
    text.match_indices(MARK_START).any(|(start, _)| begins_at(text.as_bytes(), start))
}
