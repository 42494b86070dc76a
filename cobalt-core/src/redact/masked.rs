//! Compares texts whose secrets may be redacted.

use super::marks::{MARK_START, mark_at};

/// How much of the text after a secret is searched for, in bytes.
const ANCHOR: usize = 32;
/// The longest secret, in bytes.
const LONGEST_SECRET: usize = 8192;

/// Whether two texts are the same except that a secret is redacted in one of them, or has another name in its mark. A mark stands for
/// any characters except white space.
pub fn is_same_but_for_secrets(text: &str, other: &str) -> bool {
    let (mut text, mut other) = (text.as_bytes(), other.as_bytes());
    loop {
        let (after, other_after) = (after_marks(text), after_marks(other));
        match (after.len() < text.len(), other_after.len() < other.len()) {
            (true, true) => (text, other) = (after, other_after),
            (true, false) => {
                let Some(rest) = after_secret(other, after) else { return false };
                (text, other) = (after, rest);
            }
            (false, true) => {
                let Some(rest) = after_secret(text, other_after) else { return false };
                (text, other) = (rest, other_after);
            }
            (false, false) if text.is_empty() || other.is_empty() => {
                return text.is_empty() && other.is_empty();
            }
            (false, false) => {
                let length = 1 + before_mark(&text[1..]).min(before_mark(&other[1..]));
                if text[..length] != other[..length] {
                    return false;
                }
                (text, other) = (&text[length..], &other[length..]);
            }
        }
    }
}

/// The text after the marks with which it begins.
fn after_marks(mut text: &[u8]) -> &[u8] {
    while let Some(mark) = mark_at(text, 0) {
        text = &text[mark.end..];
    }
    text
}

/// The length of the text before its next mark.
fn before_mark(text: &[u8]) -> usize {
    let mut starts = memchr::memmem::find_iter(text, MARK_START);
    starts.find(|start| mark_at(text, *start).is_some()).unwrap_or(text.len())
}

/// The text after the secret with which it begins, if `next` is there.
fn after_secret<'a>(text: &'a [u8], next: &[u8]) -> Option<&'a [u8]> {
    let part = &text[..text.len().min(LONGEST_SECRET)];
    let secret = part.iter().position(u8::is_ascii_whitespace).unwrap_or(part.len());
    let anchor = &next[..before_mark(next).min(ANCHOR)];
    if secret == 0 || next.is_empty() && secret < text.len() {
        return None;
    }
    if next.is_empty() {
        return Some(&text[secret..]);
    }
    // The other text may have a mark of its own.
    let mark = before_mark(text);
    let is_end = |at: &usize| {
        let length = anchor.len().min(mark.saturating_sub(*at));
        text.get(*at..*at + length) == Some(&anchor[..length])
    };
    (1..=secret).find(is_end).map(|at| &text[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_stand_for_secrets() {
        for (text, other) in [
            ("order [redacted:FOREIGN_KEY] of Ada", "order order_id_2024x of Ada"),
            ("[redacted:A], [redacted:B]", "one1, two2"),
            ("a [redacted:A] b two2 c", "a one1 b [redacted:B] c"),
            ("a [redacted:A]", "a [redacted:B]"),
            ("a [redacted:A][redacted:B]", "a one1two2"),
            ("[redacted]", "[x"),
            ("no secret [redacted by hand]", "no secret [redacted by hand]"),
        ] {
            assert!(is_same_but_for_secrets(text, other), "{text}, {other}");
            assert!(is_same_but_for_secrets(other, text), "{other}, {text}");
        }
    }

    #[test]
    fn other_differences_count() {
        for (text, other) in [
            ("order [redacted:A] of Ada", "order 2024x of Bob"),
            ("[redacted:A]", "What is the weather?"),
            ("[redacted:A]", ""),
            ("[redacted:A] a", " a"),
            ("a", "b"),
            ("a", "ab"),
            ("a [redacted:A] b", "a one1 c"),
        ] {
            assert!(!is_same_but_for_secrets(text, other), "{text}, {other}");
            assert!(!is_same_but_for_secrets(other, text), "{other}, {text}");
        }
    }
}
