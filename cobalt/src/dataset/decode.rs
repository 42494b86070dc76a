//! Items as the user's own types.

use std::fmt;

use cobalt_core::wording::{self, cut};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use super::Item;

/// Reads an item as a type of your own.
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
/// Where a field does not fit: its path, what was expected and what was found. Where a field is missing: the
/// fields that there are, and the one that may be meant.
pub fn decode<T: DeserializeOwned>(item: &Item) -> Result<T, DecodeError> {
    // Keeping track of the path costs time, so only an item that does not fit is read with it.
    T::deserialize(item).or_else(|_| {
        serde_path_to_error::deserialize(item)
            .map_err(|error| DecodeError::new(item, error.path(), &error.inner().to_string()))
    })
}

/// Reads any JSON value as a type of your own, as [`decode`] does an item.
pub(crate) fn decode_value<T: DeserializeOwned>(value: &Value) -> Result<T, DecodeError> {
    if let Value::Object(item) = value {
        return decode(item);
    }
    serde_path_to_error::deserialize(value)
        .map_err(|error| DecodeError::new(&Item::new(), error.path(), &error.inner().to_string()))
}

/// Why an item does not fit a type.
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

    /// The field that does not fit, such as `context[0].text`; empty where it is the item as a whole.
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

/// Explains serde's "missing field", for which there is no other way to tell than its text.
fn missing_field(item: &Item, path: &Path, message: &str) -> Option<String> {
    let wanted = message.strip_prefix("missing field `")?.strip_suffix('`')?;
    let Some(object) = object_at(item, path) else { return Some(message.to_owned()) };
    let names = || object.keys().map(String::as_str);
    let mut reason = match object.is_empty() {
        true => format!("{message}, there are no fields"),
        false => format!("{message}, the fields are {}", wording::list(names())),
    };
    if let Some(meant) = wording::closest(wanted, names()) {
        reason += &format!(": is `{meant}` meant?");
        if wording::folded(meant) == wording::folded(wanted) && meant.contains(char::is_uppercase) {
            reason += " `#[serde(rename_all = \"camelCase\")]` on the struct reads such names";
        }
    }
    Some(reason)
}

/// The object that a path leads to.
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

/// Turns serde's "invalid type: <found>, expected <expected>" round, and cuts a long text that was found.
fn mismatch(message: &str) -> Option<String> {
    const SHOWN: usize = 80;
    let found_and_expected =
        ["invalid type: ", "invalid value: "].iter().find_map(|prefix| message.strip_prefix(prefix))?;
    let (found, expected) = found_and_expected.rsplit_once(", expected ")?;
    Some(format!("expected {expected}, found {}", cut(found, SHOWN)))
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
            "missing field `expected_output`, the fields are `id`, `expectedOutput`: is `expectedOutput` meant? \
             `#[serde(rename_all = \"camelCase\")]` on the struct reads such names"
        );
        assert_eq!(
            fails(item! { "expected_outptu": "x" }),
            "missing field `expected_output`, the fields are `expected_outptu`: is `expected_outptu` meant?"
        );
        assert_eq!(fails(item! {}), "missing field `expected_output`, there are no fields");
    }

    #[test]
    fn a_missing_field_within_a_field_lists_the_fields_there() {
        assert_eq!(
            fails(item! { "expected_output": "x", "steps": [{ "tool": "t", "n": 1 }] }),
            "field `steps[0]`: missing field `count`, the fields are `tool`, `n`"
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
