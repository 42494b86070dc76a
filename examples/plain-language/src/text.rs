//! Splits text into sentences and words by punctuation.

/// The sentences that have words.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let ends = |(at, letter): (usize, char)| {
        let rest = &text[at + letter.len_utf8()..];
        // A full stop within a number or name, as in `2.5` or `example.com`, does not end a sentence.
        let is_end =
            matches!(letter, '.' | '!' | '?') && !rest.starts_with(|next: char| next.is_alphanumeric());
        (is_end || letter == '\n').then_some(at + letter.len_utf8())
    };
    let mut start = 0;
    let ends = text.char_indices().filter_map(ends).chain([text.len()]);
    ends.map(move |end| &text[std::mem::replace(&mut start, end)..end])
        .filter(|sentence| words(sentence).next().is_some())
}

/// The words: letters, with inner apostrophes and hyphens.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_of_word = |letter: char| letter.is_alphanumeric() || matches!(letter, '\'' | '’' | '-');
    let words = text.split(move |letter| !is_of_word(letter));
    words
        .map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_with_their_mark_or_their_line() {
        let text = "It costs 2.50 at example.com. Really?! Yes\n\nTwo lines";
        let found: Vec<_> = sentences(text).map(str::trim).collect();
        assert_eq!(found, ["It costs 2.50 at example.com.", "Really?", "Yes", "Two lines"]);
    }

    #[test]
    fn words_keep_what_is_within_them() {
        let found: Vec<_> = words("\"Don't\" re-enter -- 'now', Zoë!").collect();
        assert_eq!(found, ["Don't", "re-enter", "now", "Zoë"]);
    }
}
