//! Equality of two answers: exact, as in SQuAD 1.1, or numeric.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Number, Value};

use super::json::{json_text, parse_container};
use super::n_grams::{Overlap, common_n_grams, is_whitespace};

/// Whether two values are equal. Two strings are compared exactly. If either side is an object, a list or `null`, both are compared as
/// JSON, regardless of key order; a string on the other side is parsed first. A number or a boolean is compared with a string by its
/// JavaScript format (`5` for 5.0).
///
/// ```
/// use serde_json::json;
/// assert!(cobalt::metrics::exact_match(&json!({"a": 1}), &json!("{\"a\": 1.0}")));
/// ```
#[must_use]
pub fn exact_match(a: &Value, b: &Value) -> bool {
    values_equal(a, b, &|a, b| a == b)
}

/// The same with a custom comparison of strings.
pub(crate) fn values_equal(a: &Value, b: &Value, same_text: &dyn Fn(&str, &str) -> bool) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => same_text(a, b),
        (Value::String(text), json) | (json, Value::String(text)) => {
            let read = if json.is_object() || json.is_array() { parse_container(text) } else { None };
            match read {
                Some(read) => json_equal(&read, json, same_text),
                None => same_text(text, &json_text(json)),
            }
        }
        (a, b) => json_equal(a, b, same_text),
    }
}

fn json_equal(a: &Value, b: &Value, same_text: &dyn Fn(&str, &str) -> bool) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => same_text(a, b),
        (Value::Number(a), Value::Number(b)) => numbers_equal(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| json_equal(a, b, same_text))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| json_equal(a, b, same_text)))
        }
        (a, b) => a == b,
    }
}

/// Whether two numbers have the same value. Two integers are compared exactly: as floating-point numbers, large neighbours would be equal.
pub fn numbers_equal(a: &Number, b: &Number) -> bool {
    a == b || ((a.is_f64() || b.is_f64()) && a.as_f64() == b.as_f64())
}

/// Words that SQuAD ignores.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Normalises an answer as SQuAD 1.1 does: lower case, without ASCII punctuation, without the words `a`, `an` and `the`, and with one space
/// between words.
///
/// ```
/// assert_eq!(cobalt::metrics::squad_normalize("The  U.S. dollar!"), "us dollar");
/// ```
#[must_use]
pub fn squad_normalize(text: &str) -> String {
    let mut normal = String::with_capacity(text.len());
    // The start of the trailing run of ASCII letters and digits.
    let mut run = 0;
    for letter in text.to_lowercase().chars().filter(|letter| !letter.is_ascii_punctuation()) {
        if letter.is_ascii_alphanumeric() {
            normal.push(letter);
            continue;
        }
        drop_article(&mut normal, run, Some(letter));
        if is_whitespace(letter) {
            push_space(&mut normal);
        } else {
            normal.push(letter);
        }
        run = normal.len();
    }
    drop_article(&mut normal, run, None);
    normal.truncate(normal.trim_end_matches(' ').len());
    normal
}

/// Replaces the trailing run with a space if it is an article, that is, a separate word given the text before it and `next`.
fn drop_article(normal: &mut String, run: usize, next: Option<char>) {
    if ARTICLES.contains(&&normal[run..])
        && !normal[..run].ends_with(is_part_of_word)
        && !next.is_some_and(is_part_of_word)
    {
        normal.truncate(run);
        push_space(normal);
    }
}

/// Whether a character is part of a word like `\w` in Python, which SQuAD uses to find articles. A combining mark is not, although it may
/// be alphabetic.
fn is_part_of_word(letter: char) -> bool {
    static LETTER_OR_NUMBER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[\p{L}\p{N}]").expect("the pattern is our own"));
    match letter.is_ascii() {
        true => letter.is_ascii_alphanumeric(),
        false => letter.is_alphanumeric() && LETTER_OR_NUMBER.is_match(letter.encode_utf8(&mut [0; 4])),
    }
}

/// Adds a space after a word.
fn push_space(normal: &mut String) {
    if !normal.is_empty() && !normal.ends_with(' ') {
        normal.push(' ');
    }
}

/// Token F1 of SQuAD 1.1: the words that output and reference share after [normalisation](squad_normalize), in any order; a word counts as
/// often as in the text that contains it less often.
///
/// As in SQuAD 1.1, the F1 is 0 if a text is empty after normalisation: two answers `the` have an F1 of 0, but
/// [match](squad_exact_match).
///
/// ```
/// use cobalt::metrics::token_f1;
///
/// assert_eq!(token_f1("The old mill", "a mill").f1, 2.0 / 3.0);
/// ```
#[must_use]
pub fn token_f1(output: &str, reference: &str) -> Overlap {
    let texts = [output, reference].map(squad_normalize);
    let [output, reference] =
        texts.each_ref().map(|text| text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>());
    Overlap::of_counts(common_n_grams(&output, &reference, 1), output.len(), reference.len())
}

/// Exact match of SQuAD 1.1: whether output and reference are equal after [normalisation](squad_normalize).
///
/// ```
/// assert!(cobalt::metrics::squad_exact_match("The Mill.", "mill"));
/// ```
#[must_use]
pub fn squad_exact_match(output: &str, reference: &str) -> bool {
    squad_normalize(output) == squad_normalize(reference)
}

/// Relative similarity of two numbers: `1 - |a - b| / (|a| + |b|)`. Two zeros score 1, numbers with different signs 0. A number that is not
/// finite scores 0.
///
/// ```
/// assert_eq!(cobalt::metrics::numeric_diff(8.0, 6.0), 1.0 - 2.0 / 14.0);
/// ```
#[must_use]
pub fn numeric_diff(a: f64, b: f64) -> f64 {
    if !(a.is_finite() && b.is_finite()) {
        return 0.0;
    }
    if a == b {
        return 1.0;
    }
    let far = (a - b).abs() / (a.abs() + b.abs());
    // The sum of two huge numbers is infinite; that of their halves is not.
    let far = if far.is_finite() && (a.abs() + b.abs()).is_finite() {
        far
    } else {
        (a / 2.0 - b / 2.0).abs() / (a.abs() / 2.0 + b.abs() / 2.0)
    };
    (1.0 - far).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_is_compared_whatever_the_order_of_keys() {
        assert!(exact_match(&json!({"a": 1, "b": 2}), &json!("{\"b\": 2, \"a\": 1}")));
        assert!(!exact_match(&json!("{\"a\":1}"), &json!("{\"a\": 1}")));
        assert!(!exact_match(&json!([1, 2]), &json!([2, 1])));
    }

    #[test]
    fn whole_numbers_are_exact() {
        assert!(!exact_match(&json!({"n": 9_007_199_254_740_993_u64}), &json!("{\"n\":9007199254740992}")));
        assert!(exact_match(&json!(-0.0), &json!(0)));
        assert!(exact_match(&json!(5.0), &json!("5")));
    }

    #[test]
    fn an_article_is_a_word_by_itself() {
        assert_eq!(squad_normalize("A theatre, an anthem, the arena"), "theatre anthem arena");
        assert_eq!(squad_normalize("the–end of “a” line"), "–end of “ ” line");
        assert_eq!(squad_normalize("thé a9 the_end th.e éa"), "thé a9 theend éa");
        assert_eq!(squad_normalize("an\u{301} theक aी"), "\u{301} theक ी");
    }

    #[test]
    fn words_are_parted_by_one_space_and_nothing_is_at_the_ends() {
        assert_eq!(squad_normalize(" \t the\u{a0}old \u{1f} , mill a\n"), "old mill");
        assert_eq!(squad_normalize("... the a an"), "");
    }

    #[test]
    fn texts_of_which_nothing_is_left_match_but_share_nothing() {
        assert!(squad_exact_match("the", "...") && squad_exact_match("", ""));
        assert_eq!(token_f1("the", "the"), Overlap::default());
    }

    #[test]
    fn a_word_counts_as_often_as_the_text_with_fewer_has_it() {
        let overlap = token_f1("mill mill mill", "old mill mill");
        assert_eq!((overlap.precision, overlap.recall), (2.0 / 3.0, 2.0 / 3.0));
    }

    #[test]
    fn the_size_of_the_numbers_decides_what_is_near() {
        assert_eq!(numeric_diff(1.0, 2.0), 1.0 - 1.0 / 3.0);
        assert_eq!(numeric_diff(100.0, 101.0), 1.0 - 1.0 / 201.0);
        assert_eq!(numeric_diff(0.0, -0.0), 1.0);
        assert_eq!(numeric_diff(0.0, 1e-300), 0.0);
        assert_eq!(numeric_diff(-3.0, 3.0), 0.0);
    }

    #[test]
    fn the_largest_numbers_are_compared() {
        assert!((numeric_diff(f64::MAX, 1e308) - 0.714_874_685_532_095_3).abs() < 1e-12);
        assert_eq!(numeric_diff(f64::MAX, f64::MAX), 1.0);
        assert_eq!(numeric_diff(1.7e308, -1.7e308), 0.0);
        assert_eq!(numeric_diff(f64::NAN, 1.0), 0.0);
    }
}
