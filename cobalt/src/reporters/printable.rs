//! Text of any origin as a terminal may show it.

use std::borrow::Cow;

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
#[test]
fn what_could_steer_a_terminal_is_written_out() {
    assert_eq!(printable("a\x1b[2Jb\tc\n\u{202e}"), "a\\u{1b}[2Jb\tc\n\\u{202e}");
}
