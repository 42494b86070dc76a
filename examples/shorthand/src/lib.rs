//! A shorthand expander: "mtg w/ Ann tmrw" becomes "Meeting with Ann tomorrow."

/// The abbreviations. Other words stay unchanged.
const ABBREVIATIONS: [(&str, &str); 20] = [
    ("&", "and"),
    ("appt", "appointment"),
    ("asap", "as soon as possible"),
    ("b/c", "because"),
    ("bldg", "building"),
    ("dept", "department"),
    ("eod", "by the end of the day"),
    ("fri", "Friday"),
    ("fwd", "forward"),
    ("mgr", "manager"),
    ("min", "minutes"),
    ("mon", "Monday"),
    ("mtg", "meeting"),
    ("pls", "please"),
    ("qty", "quantity"),
    ("re", "about"),
    ("tmrw", "tomorrow"),
    ("w/", "with"),
    ("w/o", "without"),
    ("yday", "yesterday"),
];

/// Expands a note to a sentence.
///
/// ```
/// assert_eq!(shorthand::expand("mtg w/ Ann tmrw, re budget"), "Meeting with Ann tomorrow, about budget.");
/// ```
#[must_use]
pub fn expand(note: &str) -> String {
    let words: Vec<_> = note.split_whitespace().map(expand_word).collect();
    let mut sentence = words.join(" ");
    if let Some(first) = sentence.chars().next() {
        sentence.replace_range(..first.len_utf8(), &first.to_uppercase().to_string());
    }
    if !sentence.is_empty() && !sentence.ends_with(['.', '!', '?']) {
        sentence.push('.');
    }
    sentence
}

/// Expands an abbreviation; trailing punctuation stays.
fn expand_word(word: &str) -> String {
    let stem = word.trim_end_matches([',', '.', ':', ';', '!', '?']);
    let long = ABBREVIATIONS.iter().find(|(short, _)| stem.eq_ignore_ascii_case(short));
    long.map_or_else(|| word.to_owned(), |(_, long)| format!("{long}{}", &word[stem.len()..]))
}
