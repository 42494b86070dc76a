//! Values and numbers as messages show them.

use std::borrow::Cow;

/// So many of something: `1 item`, `2 items`.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A number with a comma between its thousands: `12,400`.
#[must_use]
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with at most so many decimals (one at the least) and no zeros at their end. What is rounded to nothing has no
/// sign.
#[must_use]
pub fn decimal(number: f64, most: usize) -> String {
    let text = format!("{number:.0$}", most.max(1));
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// A text of at most so many characters; `…` stands for what is left out.
#[must_use]
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// The text with its control characters written out, but for line breaks and tabs: a terminal could be steered with them,
/// or its text be turned round.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let steers = |character: char| match character {
        '\n' | '\t' => false,
        // What changes the direction of writing.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => character.is_control(),
    };
    if !text.contains(steers) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        if steers(character) {
            printable.extend(character.escape_default());
        } else {
            printable.push(character);
        }
    }
    Cow::Owned(printable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_in_the_singular() {
        assert_eq!([0, 1, 2].map(|number| count(number, "item")), ["0 items", "1 item", "2 items"]);
    }

    #[test]
    fn thousands_are_set_off() {
        assert_eq!(
            [0, 999, 1000, 12_400, 1_234_567].map(thousands),
            ["0", "999", "1,000", "12,400", "1,234,567"]
        );
    }

    #[test]
    fn a_number_has_no_zeros_at_its_end() {
        assert_eq!([0.0, 10.0, 0.5, 1.0 / 3.0].map(|number| decimal(number, 3)), ["0", "10", "0.5", "0.333"]);
    }

    #[test]
    fn what_is_rounded_to_nothing_has_no_sign() {
        assert_eq!([-0.0, -0.0001, -0.001].map(|number| decimal(number, 3)), ["0", "0", "-0.001"]);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("質問質問", 4), "質問質問");
        assert_eq!(cut("質問質問", 3), "質問質…");
    }

    #[test]
    fn what_could_steer_a_terminal_is_written_out() {
        assert_eq!(printable("a\x1b[2Jb\tc\n\u{202e}"), "a\\u{1b}[2Jb\tc\n\\u{202e}");
    }
}
