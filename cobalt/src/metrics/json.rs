//! JSON metrics: similarity of two values, subset, validity, and a canonical text.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Write};

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::exact_match::numbers_equal;
use super::{levenshtein, numeric_diff};
use crate::template::number_text;

/// The maximum depth to compare: as deep as JSON is parsed, so that JSON strings nested in JSON terminate as well.
const MAX_DEPTH: usize = 128;

/// Similarity of two JSON values, level by level:
///
/// - objects: the mean over the keys of both; a missing key counts as `null`
/// - lists: the sum over all positions, divided by the length of the longer list
/// - strings: [`levenshtein`]; numbers: [`numeric_diff`]; booleans: 1 if equal, else 0
/// - `null` is similar only to `null`
/// - values of different types: [`levenshtein`] of their compact JSON with sorted keys
///
/// Two empty objects or lists score 1. A string that parses as a JSON object or list is compared as such, unless `preserve_strings` is set.
/// Values may be as deep as `serde_json` parses them.
///
/// ```
/// use serde_json::json;
/// let score = cobalt::metrics::json_diff(&json!({"city": "Porto", "rank": 3}), &json!(r#"{"city": "Porto"}"#), false);
/// assert_eq!(score, 0.5);
/// ```
#[must_use]
pub fn json_diff(output: &Value, expected: &Value, preserve_strings: bool) -> f64 {
    JsonComparison { preserve_strings }.compare(output, expected, 0)
}

static NULL: Value = Value::Null;

struct JsonComparison {
    preserve_strings: bool,
}

impl JsonComparison {
    fn compare(&self, a: &Value, b: &Value, level: usize) -> f64 {
        let (a, b) = (self.read(a, level), self.read(b, level));
        match (&*a, &*b) {
            (Value::Object(a), Value::Object(b)) => self.compare_objects(a, b, level + 1),
            (Value::Array(a), Value::Array(b)) => self.compare_lists(a, b, level + 1),
            (Value::String(a), Value::String(b)) => levenshtein(a, b),
            (Value::Number(a), Value::Number(b)) => match (a.as_f64(), b.as_f64()) {
                (Some(a), Some(b)) => numeric_diff(a, b),
                _ => f64::from(u8::from(a == b)),
            },
            (Value::Bool(a), Value::Bool(b)) => f64::from(u8::from(a == b)),
            (Value::Null, Value::Null) => 1.0,
            (Value::Null, _) | (_, Value::Null) => 0.0,
            (a, b) => levenshtein(&json_text(a), &json_text(b)),
        }
    }

    /// Parses a string that contains an object or a list.
    fn read<'v>(&self, value: &'v Value, level: usize) -> Cow<'v, Value> {
        match value {
            Value::String(text) if !self.preserve_strings && level < MAX_DEPTH => {
                parse_container(text).map_or(Cow::Borrowed(value), Cow::Owned)
            }
            _ => Cow::Borrowed(value),
        }
    }

    fn compare_objects(&self, a: &Map<String, Value>, b: &Map<String, Value>, level: usize) -> f64 {
        let keys: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
        if keys.is_empty() {
            return 1.0;
        }
        let sum: f64 = keys
            .iter()
            .map(|key| {
                let [a, b] = [a, b].map(|object| object.get(key.as_str()).unwrap_or(&NULL));
                self.compare(a, b, level)
            })
            .sum();
        sum / keys.len() as f64
    }

    fn compare_lists(&self, a: &[Value], b: &[Value], level: usize) -> f64 {
        let longer = a.len().max(b.len());
        if longer == 0 {
            return 1.0;
        }
        a.iter().zip(b).map(|(a, b)| self.compare(a, b, level)).sum::<f64>() / longer as f64
    }
}

/// The object or list that a string contains as JSON, if any.
pub(crate) fn parse_container(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    serde_json::from_str(text).ok()
}

/// Whether `given` contains everything in `expected`. Objects may have additional fields; lists must have the same elements in the same
/// positions; numbers are compared by value, strings exactly. A field that is expected to be `null` may be missing.
///
/// ```
/// use cobalt::metrics::json_subset;
/// use serde_json::json;
///
/// assert!(json_subset(&json!({"day": "Friday"}), &json!({"day": "Friday", "seats": 2})));
/// assert!(json_subset(&json!({"seats": 2}), &json!({"seats": 2.0})));
/// assert!(!json_subset(&json!(["York"]), &json!(["York", "Leeds"])));
/// ```
#[must_use]
pub fn json_subset(expected: &Value, given: &Value) -> bool {
    match (expected, given) {
        (Value::Object(expected), Value::Object(given)) => expected
            .iter()
            .all(|(name, expected)| json_subset(expected, given.get(name).unwrap_or(&Value::Null))),
        (Value::Array(expected), Value::Array(given)) => {
            expected.len() == given.len()
                && expected.iter().zip(given).all(|(expected, given)| json_subset(expected, given))
        }
        (Value::Number(expected), Value::Number(given)) => numbers_equal(expected, given),
        (expected, given) => expected == given,
    }
}

/// The canonical text of a value.
pub fn json_text(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value).expect("text in memory takes whatever is written");
    text
}

fn write(text: &mut String, value: &Value) -> fmt::Result {
    match value {
        Value::Number(number) => text.write_str(&number_text(number)),
        Value::Array(values) => {
            text.push('[');
            for (index, value) in values.iter().enumerate() {
                text.push_str(if index > 0 { "," } else { "" });
                write(text, value)?;
            }
            text.write_char(']')
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| *name);
            text.push('{');
            for (index, (name, value)) in fields.into_iter().enumerate() {
                write!(text, "{}{}:", if index > 0 { "," } else { "" }, Value::String(name.clone()))?;
                write(text, value)?;
            }
            text.write_char('}')
        }
        Value::String(_) | Value::Bool(_) | Value::Null => write!(text, "{value}"),
    }
}

/// Whether a value is an object or a list, or a string that contains one. Numbers, booleans, `null` and plain text do not count: almost
/// every text contains one of them. Strings are parsed strictly by RFC 8259: a number too large for this machine is valid, a comment or a
/// trailing comma is not.
///
/// ```
/// use serde_json::json;
/// assert!(cobalt::metrics::valid_json(&json!("[1, 2]")));
/// assert!(!cobalt::metrics::valid_json(&json!("[1, 2,]")));
/// ```
#[must_use]
pub fn valid_json(value: &Value) -> bool {
    match value {
        Value::Object(_) | Value::Array(_) => true,
        Value::String(text) => {
            text.trim_start_matches([' ', '\t', '\r', '\n']).starts_with(['{', '[']) && is_json_text(text)
        }
        Value::Number(_) | Value::Bool(_) | Value::Null => false,
    }
}

/// Whether a string is JSON of any type.
pub fn is_json_text(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_missing_key_is_like_null() {
        assert_eq!(json_diff(&json!({"a": null, "b": 1}), &json!({"b": 1}), false), 1.0);
        assert_eq!(json_diff(&json!({"a": 2, "b": 1}), &json!({"b": 1}), false), 0.5);
    }

    #[test]
    fn booleans_are_equal_or_not() {
        assert_eq!(json_diff(&json!(true), &json!(false), false), 0.0);
        assert_eq!(json_diff(&json!([true]), &json!([true]), false), 1.0);
    }

    #[test]
    fn text_of_json_is_json_unless_strings_are_preserved() {
        let (text, value) = (json!("{\"a\":1}"), json!({"a": 1}));
        assert_eq!(json_diff(&text, &value, false), 1.0);
        assert!((json_diff(&text, &value, true) - 0.636_363_636).abs() < 1e-6);
    }

    #[test]
    fn json_within_json_within_json_ends() {
        let deep = |text: &str| format!("{}{}{}", "[".repeat(100), json!(text), "]".repeat(100));
        let text = (0..12).fold("1".to_owned(), |inner, _| deep(&inner));
        assert_eq!(json_diff(&json!(text), &json!(text), false), 1.0);
    }

    #[test]
    fn the_deepest_json_that_is_read_is_compared() {
        let deep = |leaf: &str| -> Value {
            serde_json::from_str(&format!("{}{leaf}{}", "[".repeat(127), "]".repeat(127))).unwrap()
        };
        assert!((json_diff(&deep("1"), &deep("2"), false) - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn objects_are_looked_into_at_every_depth() {
        let given = json!({"trip": {"legs": [{"from": "Leeds", "to": "York"}], "seats": 1}});
        assert!(json_subset(&json!({}), &given));
        assert!(json_subset(&json!({"trip": {"legs": [{"to": "York"}]}}), &given));
        assert!(!json_subset(&json!({"trip": {"legs": [{"to": "Leeds"}]}}), &given));
        assert!(!json_subset(&json!({"trip": {"class": 1}}), &given));
    }

    #[test]
    fn lists_have_the_same_elements_in_the_same_places() {
        assert!(!json_subset(&json!([1, 2]), &json!([2, 1])));
        assert!(!json_subset(&json!([]), &json!([1])));
    }

    #[test]
    fn numbers_are_no_texts_and_large_neighbours_differ() {
        assert!(!json_subset(&json!({"seats": 2}), &json!({"seats": "2"})));
        assert!(!json_subset(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
        assert!(!json_subset(&json!("york"), &json!("York")));
    }

    #[test]
    fn null_is_expected_of_a_field_that_is_missing_or_null() {
        assert!(json_subset(&json!({"a": null}), &json!({})));
        assert!(json_subset(&json!({"a": null}), &json!({"a": null})));
        assert!(!json_subset(&json!({"a": null}), &json!({"a": 0})));
    }

    #[test]
    fn equal_values_have_one_text() {
        assert_eq!(json_text(&json!({"b": [1, 2.0, "é\n"], "a": null})), r#"{"a":null,"b":[1,2,"é\n"]}"#);
    }

    #[test]
    fn only_objects_and_lists_count() {
        assert!(valid_json(&json!({"a": 1})) && valid_json(&json!(" {\"a\": 1}\n")));
        assert!(["5", "\"text\"", "null", "", "not json"].iter().all(|text| !valid_json(&json!(text))));
        assert!(!valid_json(&Value::Null));
    }

    #[test]
    fn the_grammar_decides_not_this_machine() {
        assert!(valid_json(&json!("[1e999]")) && valid_json(&json!("[\"\\ud800\"]")));
        assert!(valid_json(&json!(format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)))));
    }
}
