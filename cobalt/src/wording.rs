//! Values and numbers as messages show them.

use std::borrow::Cow;

/// So many of something: `1 item`, `2 items`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A text of at most so many characters; `…` stands for what is left out.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_in_the_singular() {
        assert_eq!([0, 1, 2].map(|number| count(number, "item")), ["0 items", "1 item", "2 items"]);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("質問質問", 4), "質問質問");
        assert_eq!(cut("質問質問", 3), "質問質…");
    }
}
