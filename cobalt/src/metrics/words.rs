//! The words of a text, as white space parts them.

/// The words between white space, as `str.split()` of Python has them, which the reference libraries are written in.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_white_space).filter(|word| !word.is_empty())
}

/// Whether a letter is white space: by Unicode, or one of the four separators of ASCII.
pub(super) fn is_white_space(letter: char) -> bool {
    letter.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&letter)
}
