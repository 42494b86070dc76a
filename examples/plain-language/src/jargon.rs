//! Office jargon, and plain alternatives.

use crate::text::words;

const PLAIN: [(&str, &str); 16] = [
    ("aforementioned", "this"),
    ("approximately", "about"),
    ("ascertain", "find out"),
    ("commence", "begin"),
    ("endeavour", "try"),
    ("facilitate", "help"),
    ("in order to", "to"),
    ("in the event of", "if"),
    ("leverage", "use"),
    ("prior to", "before"),
    ("purchase", "buy"),
    ("remuneration", "pay"),
    ("subsequent to", "after"),
    ("terminate", "end"),
    ("utilise", "use"),
    ("utilize", "use"),
];

/// The jargon in a text, in order, with plain alternatives.
pub(crate) fn found(text: &str) -> Vec<(&'static str, &'static str)> {
    let words: Vec<_> = words(text).map(str::to_lowercase).collect();
    let at = |start: usize| {
        let rest = &words[start..];
        let begins = |phrase: &str| {
            let length = phrase.split(' ').count();
            phrase.split(' ').eq(rest.iter().take(length))
        };
        PLAIN.into_iter().find(|(phrase, _)| begins(phrase))
    };
    (0..words.len()).filter_map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_are_found_in_any_case_and_parts_are_not() {
        let text = "Prior to this, COMMENCE. The leveraged prior, in order.";
        assert_eq!(found(text), [("prior to", "before"), ("commence", "begin")]);
    }
}
