//! Values of fields: of what type they are, whether they say anything, and how they are shown.

use std::borrow::Cow;

use serde_json::Value;

/// The types of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Type {
    Array,
    Boolean,
    Null,
    Number,
    Object,
    String,
}

impl Type {
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Null => "null",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }
}

/// Whether a value is a text, a list or an object with nothing in it.
pub(super) fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a value is a text of white space alone.
pub(super) fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty() && text.trim().is_empty())
}

/// A text as it is, any other value as JSON on one line.
pub(crate) fn plain(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        other => Cow::Owned(other.to_string()),
    }
}
