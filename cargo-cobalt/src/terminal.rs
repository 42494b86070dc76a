//! What a terminal shows: how wide it is, how wide a text is on it, and what may be sent to it.

use std::io::{self, IsTerminal};

/// The width where a terminal does not tell its own.
const USUAL: usize = 80;

/// The width of the terminal that stdout goes to, in columns; `None` where none reads.
pub(crate) fn stdout_width() -> Option<usize> {
    io::stdout().is_terminal().then(|| reported_width().filter(|width| *width > 0).unwrap_or(USUAL))
}

#[cfg(unix)]
fn reported_width() -> Option<usize> {
    rustix::termios::tcgetwinsize(io::stdout()).ok().map(|size| size.ws_col.into())
}

#[cfg(not(unix))]
fn reported_width() -> Option<usize> {
    std::env::var("COLUMNS").ok()?.parse().ok()
}

/// Text of any origin as a terminal may show it, on one line: control characters, with which it could be steered, are
/// written out.
pub(crate) fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            printable.extend(character.escape_default());
        } else {
            printable.push(character);
        }
    }
    printable
}

/// How many columns a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.chars().map(columns_of).sum()
}

/// The columns of a character, after Unicode's annex 11: two for those that East Asian typography calls wide and for
/// pictures, none for those that only change the one before.
fn columns_of(character: char) -> usize {
    match character {
        '\u{300}'..='\u{36f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{20d0}'..='\u{20ff}'
        | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{303e}'
        | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1f64f}'
        | '\u{1f680}'..='\u{1f6ff}'
        | '\u{1f900}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

/// A text that takes at most so many columns; `…` stands for what is left out.
pub(crate) fn fit(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut fitting = String::new();
    let mut left = most.saturating_sub(1);
    for character in text.chars() {
        let Some(rest) = left.checked_sub(columns_of(character)) else { break };
        left = rest;
        fitting.push(character);
    }
    fitting.truncate(fitting.trim_end().len());
    fitting.push('…');
    fitting
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_to_the_columns_that_it_takes() {
        assert_eq!(fit("help-desk", 9), "help-desk");
        assert_eq!(fit("help-desk", 8), "help-de…");
        assert_eq!(fit("質問質問", 8), "質問質問");
        assert_eq!(fit("質問質問", 6), "質問…");
        assert_eq!(fit("cafe\u{301}", 4), "cafe\u{301}");
        assert_eq!(fit("two words", 5), "two…");
    }

    #[test]
    fn a_text_cannot_steer_the_terminal() {
        assert_eq!(printable("a\x1b[2J\nb"), "a\\u{1b}[2J\\nb");
    }
}
