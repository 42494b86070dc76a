//! Deserializes items as the user's own types.

use std::fmt;

use cobalt_core::wording::{self, truncate};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::Item;

/// Deserializes an item as your own type.
///
/// ```
/// use cobalt::{dataset, item};
///
/// #[derive(Debug, serde::Deserialize)]
/// struct Question {
///     input: String,
///     points: u32,
/// }
///
/// let question: Question = dataset::decode(&item! { "input": "2 + 2", "points": 3 })?;
/// assert_eq!(question.points, 3);
///
/// let error = dataset::decode::<Question>(&item! { "input": "2 + 2", "points": "3" }).unwrap_err();
/// assert_eq!(error.to_string(), r#"field `points`: expected u32, found string "3""#);
/// # Ok::<(), cobalt::DecodeError>(())
/// ```
///
/// # Errors
///
/// A field does not match the type: the error names its path, what was expected and what was found. If a field is missing,
/// it lists the existing fields and suggests a similar name.
pub fn decode<T: DeserializeOwned>(item: &Item) -> Result<T, DecodeError> {
    // Tracking the path is slow, so it is done only for an item that does not match.
    T::deserialize(item).or_else(|_| {
        serde_path_to_error::deserialize(item)
            .map_err(|error| DecodeError::new(item, error.path(), &error.inner().to_string()))
    })
}

/// Deserializes any JSON value as your own type, as [`decode`] does for an item.
pub(crate) fn decode_value<T: DeserializeOwned>(value: &Value) -> Result<T, DecodeError> {
    if let Value::Object(item) = value {
        return decode(item);
    }
    serde_path_to_error::deserialize(value)
        .map_err(|error| DecodeError::new(&Item::new(), error.path(), &error.inner().to_string()))
}

/// The error for an item that does not match a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    path: String,
    reason: String,
}

impl DecodeError {
    fn new(item: &Item, path: &Path, message: &str) -> DecodeError {
        let reason = missing_field(item, path, message)
            .or_else(|| mismatch(message))
            .unwrap_or_else(|| message.into());
        let path = path.to_string();
        DecodeError { path: if path == "." { String::new() } else { path }, reason }
    }

    /// The field that does not match, such as `context[0].text`; empty for the item as a whole.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What was expected and what was found.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => formatter.write_str(&self.reason),
            path => write!(formatter, "field `{path}`: {}", self.reason),
        }
    }
}

impl std::error::Error for DecodeError {}

/// Explains serde's "missing field" error, which can only be recognized by its text.
fn missing_field(item: &Item, path: &Path, message: &str) -> Option<String> {
    let wanted = message.strip_prefix("missing field `")?.strip_suffix('`')?;
    let Some(object) = object_at(item, path) else { return Some(message.to_owned()) };
    let names = || object.keys().map(String::as_str);
    let mut reason = match object.is_empty() {
        true => format!("{message}; the object is empty"),
        false => format!("{message}; the fields are {}", wording::join_quoted(names())),
    };
    if let Some(meant) = wording::closest(wanted, names()) {
        reason += &format!("; did you mean `{meant}`?");
        if wording::normalize_name(meant) == wording::normalize_name(wanted)
            && meant.contains(char::is_uppercase)
        {
            reason += " Add `#[serde(rename_all = \"camelCase\")]` to the struct";
        }
    }
    Some(reason)
}

/// The object at a path.
fn object_at<'i>(item: &'i Item, path: &Path) -> Option<&'i Item> {
    let mut segments = path.iter();
    let Some(first) = segments.next() else { return Some(item) };
    let Segment::Map { key } = first else { return None };
    let value = segments.try_fold(item.get(key)?, |value, segment| match segment {
        Segment::Map { key } => value.get(key),
        Segment::Seq { index } => value.get(*index),
        _ => None,
    })?;
    value.as_object()
}

/// Reverses serde's "invalid type: <found>, expected <expected>", and truncates a long value.
fn mismatch(message: &str) -> Option<String> {
    const SHOWN: usize = 80;
    let found_and_expected =
        ["invalid type: ", "invalid value: "].iter().find_map(|prefix| message.strip_prefix(prefix))?;
    let (found, expected) = found_and_expected.rsplit_once(", expected ")?;
    Some(format!("expected {expected}, found {}", truncate(found, SHOWN)))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::Value;

    use super::*;
    use crate::item;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Case {
        expected_output: String,
        #[serde(default)]
        steps: Vec<Step>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct Step {
        tool: String,
        count: u8,
    }

    fn fails(item: Item) -> String {
        decode::<Case>(&item).unwrap_err().to_string()
    }

    #[test]
    fn an_item_that_fits_is_read() {
        let case = decode::<Case>(
            &item! { "expected_output": "x", "steps": [{ "tool": "t", "count": 1 }], "more": 1 },
        );
        assert_eq!(
            case.unwrap(),
            Case { expected_output: "x".into(), steps: vec![Step { tool: "t".into(), count: 1 }] }
        );
    }

    #[test]
    fn an_item_can_stay_an_item() {
        let item = item! { "a": [1, { "b": null }] };
        assert_eq!(decode::<Item>(&item).unwrap(), item);
        assert_eq!(decode::<Value>(&item).unwrap(), Value::Object(item));
    }

    #[test]
    fn the_path_of_the_field_that_does_not_fit_is_named() {
        let message =
            fails(item! { "expected_output": "x", "steps": [{ "tool": "t", "count": 1 }, { "tool": 7 }] });
        assert_eq!(message, "field `steps[1].tool`: expected a string, found integer `7`");
        let message = fails(item! { "expected_output": "x", "steps": [{ "tool": "t", "count": 256 }] });
        assert_eq!(message, "field `steps[0].count`: expected u8, found integer `256`");
    }

    #[test]
    fn a_missing_field_lists_the_fields_and_the_one_meant() {
        assert_eq!(
            fails(item! { "id": 1, "expectedOutput": "x" }),
            "missing field `expected_output`; the fields are `id`, `expectedOutput`; did you mean `expectedOutput`? \
            Add `#[serde(rename_all = \"camelCase\")]` to the struct"
        );
        assert_eq!(
            fails(item! { "expected_outptu": "x" }),
            "missing field `expected_output`; the fields are `expected_outptu`; did you mean `expected_outptu`?"
        );
        assert_eq!(fails(item! {}), "missing field `expected_output`; the object is empty");
    }

    #[test]
    fn a_missing_field_within_a_field_lists_the_fields_there() {
        assert_eq!(
            fails(item! { "expected_output": "x", "steps": [{ "tool": "t", "n": 1 }] }),
            "field `steps[0]`: missing field `count`; the fields are `tool`, `n`"
        );
    }

    #[test]
    fn a_long_value_is_cut() {
        let message = fails(item! { "expected_output": "x", "steps": "y".repeat(10_000) });
        assert!(message.starts_with("field `steps`: expected a sequence, found string \"yyy"), "{message}");
        assert!(message.chars().count() < 150, "{message}");
    }

    #[test]
    fn a_value_with_the_word_expected_in_it_is_told_apart() {
        let message = fails(item! { "expected_output": "x", "steps": "one, expected two" });
        assert_eq!(message, "field `steps`: expected a sequence, found string \"one, expected two\"");
    }
}
