//! Small helpers for the rules: words, sentences, tagged parts and dates.

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// The words of a text as written, without punctuation around them.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c.is_whitespace() || c == '/' || c == '–');
    words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).filter(|word| !word.is_empty())
}

/// The words of a text in lower case.
pub(crate) fn lower_words(text: &str) -> Vec<String> {
    words(text).map(str::to_lowercase).collect()
}

/// Whether a text contains one of these phrases, in any case.
pub(crate) fn has_any(text: &str, phrases: &[&str]) -> bool {
    let text = text.to_lowercase();
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// The sentences of a text.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(". ").flat_map(str::lines).map(str::trim).filter(|sentence| !sentence.is_empty())
}

/// The text between `<tag>` and the last `</tag>`.
pub(crate) fn tagged<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let (inner, _) = rest.rsplit_once(&format!("</{tag}>"))?;
    Some(inner.trim())
}

/// The number at the beginning of a word, such as 1280 of `1,280`.
pub(crate) fn number(word: &str) -> Option<u64> {
    let digits: String = word.chars().filter(|c| *c != ',').collect();
    digits.parse().ok()
}

/// `2026-11-06` as `6 November`; any other text unchanged.
pub(crate) fn day_and_month(date: &str) -> String {
    let mut parts = date.split('-').skip(1).map(str::parse::<usize>);
    let (Some(Ok(month)), Some(Ok(day))) = (parts.next(), parts.next()) else { return date.to_owned() };
    let month = month.checked_sub(1).and_then(|month| MONTHS.get(month));
    month.map_or_else(|| date.to_owned(), |month| format!("{day} {month}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_taken_apart() {
        assert_eq!(lower_words("Where's T-1001, please?"), ["where's", "t-1001", "please"]);
        let parts: Vec<_> = sentences("Title\nIt opened in 1937. It is red.").collect();
        assert_eq!(parts, ["Title", "It opened in 1937.", "It is red."]);
        assert_eq!(tagged("<a>x</a> <b> y </b>", "b"), Some("y"));
        assert_eq!(tagged("<a>x", "a"), None);
        assert_eq!(number("1,280"), Some(1_280));
        assert_eq!(number("metres"), None);
    }

    #[test]
    fn dates_are_written_out() {
        assert_eq!(day_and_month("2026-11-06"), "6 November");
        assert_eq!(day_and_month("soon"), "soon");
        assert_eq!(day_and_month("2026-13-06"), "2026-13-06");
    }
}
