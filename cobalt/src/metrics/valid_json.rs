//! Whether a text is JSON.

use serde::de::IgnoredAny;
use serde_json::Value;

/// Whether a value is an object or a list, or a text of one. Numbers, booleans, `null` and plain text are not: nearly
/// every text holds one of them. The text is read by the grammar of RFC 8259 alone: a number too large for this machine
/// is valid, a comment or a trailing comma is not.
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

/// Whether a text is JSON of any type.
pub(crate) fn is_json_text(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

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
