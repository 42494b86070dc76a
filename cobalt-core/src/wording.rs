//! Formats values and numbers for messages, suggests names for misspelt ones, and finds lines and columns.

use std::borrow::Cow;

/// A number with its noun: `1 item`, `12,400 items`.
#[must_use]
pub fn count(number: usize, noun: &str) -> String {
    format!("{} {noun}{}", group_thousands(number as u64), if number == 1 { "" } else { "s" })
}

/// How many items are at their pass marks, and below one if any are: `46 at pass marks, 50 below`. It is not a verdict: thresholds
/// decide that.
#[must_use]
pub fn pass_mark_counts(at: usize, below: usize) -> String {
    let at = format!("{} at pass marks", group_thousands(at as u64));
    if below == 0 { at } else { format!("{at}, {} below", group_thousands(below as u64)) }
}

/// How many items passed if the verdict needs all of them: `46 of 96 items passed`.
#[must_use]
pub fn passed_count(passed: usize, total: usize) -> String {
    format!("{} of {} passed", group_thousands(passed as u64), count(total, "item"))
}

/// A number with thousands separators: `12,400`.
#[must_use]
pub fn group_thousands(number: u64) -> String {
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

/// A formatted number with thousands separators: `-12,400.5`.
#[must_use]
pub fn group_decimal(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |number| ("-", number));
    let (whole, fraction) = number.split_at(number.find('.').unwrap_or(number.len()));
    let whole = whole.parse::<u64>().map_or_else(|_| whole.to_owned(), group_thousands);
    format!("{sign}{whole}{fraction}")
}

/// A share from 0 to 1 as a percentage with at most one decimal: `95%`, `66.7%`. More decimals show that it is not 0% or 100%.
#[must_use]
pub fn percent(share: f64) -> String {
    let rounded = |decimals| format_decimal(share * 100.0, decimals);
    let is_exact = |text: &str| (text != "0" || share <= 0.0) && (text != "100" || share >= 1.0);
    let number = (1..6).map(rounded).find(|text| is_exact(text)).unwrap_or_else(|| rounded(6));
    format!("{number}%")
}

/// Rounds a number to at most `most` decimals (at least one) and drops trailing zeros. A zero has no sign.
#[must_use]
pub fn format_decimal(number: f64, most: usize) -> String {
    let text = format!("{number:.0$}", most.max(1));
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// Truncates a text to at most `most` characters and marks the cut with `…`.
#[must_use]
pub fn truncate(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// Escapes control characters other than line breaks and tabs, and characters that change the writing direction: they
/// could control a terminal.
#[must_use]
pub fn escape_control(text: &str) -> Cow<'_, str> {
    let steers = |character: char| match character {
        '\n' | '\t' => false,
        // Changes the writing direction.
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

/// The shortest prefix that identifies a name.
const MIN_PREFIX: usize = 4;

/// Joins names in backticks; names at most twelve.
#[must_use]
pub fn join_quoted<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let names: Vec<_> = names.into_iter().map(|name| format!("`{name}`")).collect();
    match names.len().checked_sub(SHOWN) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..SHOWN].join(", ")),
    }
}

/// The candidate closest to `wanted`: it differs only in style or in a few letters, or starts with it.
#[must_use]
pub fn closest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = normalize_name(wanted);
    let length = wanted.chars().count();
    let near = |candidate| {
        let folded = normalize_name(candidate);
        let distance = strsim::damerau_levenshtein(&wanted, &folded);
        let is_near = distance <= length / 3 || (length >= MIN_PREFIX && folded.starts_with(&wanted));
        is_near.then_some((distance, candidate))
    };
    candidates
        .into_iter()
        .filter_map(near)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Suggests a name and lists the known ones: "did you mean `input`? available: `id`, `input`".
#[must_use]
pub fn suggest_or_list<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str> + Clone) -> String {
    let meant = closest(wanted, names.clone()).map(|meant| format!("did you mean `{meant}`? "));
    format!("{}available: {}", meant.unwrap_or_default(), join_quoted(names))
}

/// The letters and digits in lower case; equal for `expectedOutput`, `expected_output` and `Expected Output`.
pub fn normalize_name(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The message for an unknown name, with the closest known name or all of them.
pub fn unknown_name_message(noun: &str, plural: &str, name: &str, known: &[&str]) -> String {
    match closest(name, known.iter().copied()) {
        Some(meant) => format!("unknown {noun} `{name}`; did you mean `{meant}`?"),
        None => {
            format!("unknown {noun} `{name}`; valid {plural}: {}", join_quoted(known.iter().copied()))
        }
    }
}

/// The line and the column (in characters) of the byte `at`. A byte order mark has no column.
#[must_use]
pub fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    TextCursor::new(text).advance_to(at)
}

/// A position in a text that only moves forward: finds many positions in one pass.
#[derive(Debug)]
pub struct TextCursor<'t> {
    /// The text after the position.
    rest: &'t str,
    /// The number of bytes before it.
    at: usize,
    line: usize,
    column: usize,
}

impl<'t> TextCursor<'t> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'t str) -> Self {
        Self { rest: text, at: 0, line: 1, column: 1 }
    }

    /// Moves to the byte `at`, which must not be before the current position, and returns its line and column.
    pub fn advance_to(&mut self, at: usize) -> (usize, usize) {
        let (passed, rest) =
            self.rest.split_at_checked(at.saturating_sub(self.at)).unwrap_or((self.rest, ""));
        for character in passed.chars() {
            match character {
                '\n' => (self.line, self.column) = (self.line + 1, 1),
                '\u{feff}' => {}
                _ => self.column += 1,
            }
        }
        (self.rest, self.at) = (rest, self.at + passed.len());
        (self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_in_the_singular() {
        assert_eq!(
            [0, 1, 2, 1234].map(|number| count(number, "item")),
            ["0 items", "1 item", "2 items", "1,234 items"]
        );
    }

    #[test]
    fn thousands_are_set_off() {
        assert_eq!(
            [0, 999, 1000, 12_400, 1_234_567].map(group_thousands),
            ["0", "999", "1,000", "12,400", "1,234,567"]
        );
        assert_eq!(["-12400.5", "0.1234", "10"].map(group_decimal), ["-12,400.5", "0.1234", "10"]);
    }

    #[test]
    fn a_percentage_has_no_space_and_at_most_one_decimal() {
        assert_eq!([0.0, 0.95, 2.0 / 3.0, 1.0].map(percent), ["0%", "95%", "66.7%", "100%"]);
        assert_eq!([0.0004, 0.9996].map(percent), ["0.04%", "99.96%"]);
    }

    #[test]
    fn a_number_has_no_zeros_at_its_end() {
        assert_eq!(
            [0.0, 10.0, 0.5, 1.0 / 3.0].map(|number| format_decimal(number, 3)),
            ["0", "10", "0.5", "0.333"]
        );
    }

    #[test]
    fn what_is_rounded_to_nothing_has_no_sign() {
        assert_eq!([-0.0, -0.0001, -0.001].map(|number| format_decimal(number, 3)), ["0", "0", "-0.001"]);
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(truncate("質問質問", 4), "質問質問");
        assert_eq!(truncate("質問質問", 3), "質問質…");
    }

    #[test]
    fn what_could_steer_a_terminal_is_written_out() {
        assert_eq!(escape_control("a\x1b[2Jb\tc\n\u{202e}"), "a\\u{1b}[2Jb\tc\n\\u{202e}");
    }

    #[test]
    fn another_style_of_the_same_name_is_the_closest() {
        let candidates = ["expected", "expectedOutput", "output"];
        assert_eq!(closest("expected_output", candidates), Some("expectedOutput"));
        assert_eq!(closest("inptu", ["id", "input"]), Some("input"));
    }

    #[test]
    fn a_name_that_is_begun_is_the_shortest_that_begins_so() {
        assert_eq!(closest("Factual", ["ValidJSON", "Factuality"]), Some("Factuality"));
        assert_eq!(closest("api-key", ["name", "api-key-env"]), Some("api-key-env"));
        assert_eq!(closest("context", ["ContextPrecision", "ContextRecall"]), Some("ContextRecall"));
        assert_eq!(closest("in", ["input"]), None);
    }

    #[test]
    fn nothing_is_suggested_where_nothing_is_near() {
        assert_eq!(closest("answer", ["input", "id"]), None);
        assert_eq!(closest("id", ["n"]), None);
    }

    #[test]
    fn a_long_list_is_cut() {
        let names: Vec<_> = (0..14).map(|number| number.to_string()).collect();
        let list = join_quoted(names.iter().map(String::as_str));
        assert!(list.ends_with("`10`, `11` and 2 more"), "{list}");
    }

    #[test]
    fn lines_and_characters_are_counted_from_one() {
        let text = "\u{feff}é = 1\r\n\nb = 2";
        let place = |part| line_and_column(text, text.find(part).unwrap());
        assert_eq!([place("é"), place("1"), place("b"), place("2")], [(1, 1), (1, 5), (3, 1), (3, 5)]);
        assert_eq!(line_and_column(text, usize::MAX), (3, 6), "the end");
        let mut cursor = TextCursor::new(text);
        let place = |part| cursor.advance_to(text.find(part).unwrap());
        assert_eq!(["é", "1", "b", "b", "2"].map(place), [(1, 1), (1, 5), (3, 1), (3, 1), (3, 5)]);
    }
}
