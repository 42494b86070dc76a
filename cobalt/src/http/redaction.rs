//! Redacts the key of a request in messages, also if a vendor repeats it in part.

use std::borrow::Cow;

use cobalt_core::redact::{REDACTED, Secret, redacted};

/// Shorter keys are treated as ordinary words: `none`, `ollama`.
const MIN_KEY_CHARS: usize = 8;
/// How many consecutive characters of a key identify it.
const IDENTIFYING_CHARS: usize = 8;
/// How many characters at either end identify a masked key.
const IDENTIFYING_END_CHARS: usize = 2;

/// Redacts the key, parts of it, and anything else that looks like a key.
pub fn redact_key(text: &str, key: Option<&Secret>) -> String {
    let key = key.map(|key| key.0.trim()).filter(|key| key.chars().count() >= MIN_KEY_CHARS);
    let text = match key {
        Some(key) => Cow::Owned(redact_parts(&text.replace(key, REDACTED), key)),
        None => Cow::Borrowed(text),
    };
    redacted(&text).into_owned()
}

/// Redacts words that contain a part of the key.
fn redact_parts(text: &str, key: &str) -> String {
    let key: Vec<char> = key.chars().collect();
    let parts: Vec<String> = key.windows(IDENTIFYING_CHARS).map(String::from_iter).collect();
    let (start, end) = (&key[..IDENTIFYING_END_CHARS], &key[key.len() - IDENTIFYING_END_CHARS..]);
    let (start, end) = (String::from_iter(start), String::from_iter(end));
    let tells = |word: &str| {
        let is_masked = ["**", "..", "…", "xxxx"].iter().any(|mask| word.contains(mask));
        is_masked && (word.starts_with(&start) || word.ends_with(&end))
            || parts.iter().any(|part| word.contains(part.as_str()))
    };
    let is_end = |letter: char| letter.is_whitespace() || "\"'`,;()<>[]{}".contains(letter);
    let words = text.split_inclusive(is_end).map(|piece| {
        let word = piece.trim_end_matches(is_end);
        let core = word.trim_end_matches(['.', ':']);
        if tells(core) {
            Cow::Owned(format!("{REDACTED}{}", &piece[core.len()..]))
        } else {
            Cow::Borrowed(piece)
        }
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, key: &str) -> String {
        redact_key(text, Some(&Secret(key.to_owned())))
    }

    #[test]
    fn the_key_itself_is_taken_out() {
        assert_eq!(shown("key `abcdefgh-1234` is wrong", "abcdefgh-1234"), "key `[redacted]` is wrong");
    }

    #[test]
    fn a_part_of_the_key_takes_its_word_out() {
        let key = "0123456789-secret-of-gateway";
        assert_eq!(shown("unknown key secret-of-gat, sorry", key), "unknown key [redacted], sorry");
    }

    #[test]
    fn a_masked_key_is_taken_out() {
        let key = "sk-proj-abcdefghijklmnop1234";
        for echoed in ["sk-proj-****1234", "sk-p...1234", "****34"] {
            assert_eq!(shown(&format!("wrong: {echoed}."), key), "wrong: [redacted].", "{echoed}");
        }
    }

    #[test]
    fn a_short_key_takes_no_word_out() {
        assert_eq!(shown("ollama is busy", "ollama"), "ollama is busy");
    }
}
