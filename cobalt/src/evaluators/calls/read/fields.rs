//! The fields of an entry and the arguments of a call, with the errors where one is not as it should be.

use serde_json::{Map, Value};

use crate::evaluators::calls::call::{ToolCall, ToolCallError};
use crate::evaluators::calls::read::refused;
use crate::metrics::tree_of;

/// An entry, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Fields<'v> {
    pub(super) object: &'v Map<String, Value>,
    pub(super) path: &'v str,
}

impl<'v> Fields<'v> {
    /// Where a field stands.
    pub(super) fn at(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// A field that is not `null`.
    pub(super) fn get(&self, name: &str) -> Option<&'v Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// A text that must be there, and not be blank.
    pub(super) fn text(&self, name: &str) -> Result<&'v str, ToolCallError> {
        match self.object.get(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
            Some(other) => Err(self.refused(name, &format!("is {}; expected text", kind_of(other)))),
            None => Err(self.refused(name, "is missing; expected text")),
        }
    }

    /// A text, where there is one.
    pub(super) fn text_if_any(&self, name: &str) -> Option<&'v str> {
        self.get(name).and_then(Value::as_str)
    }

    /// Its `type`; blank where it has none.
    pub(super) fn kind(&self) -> &'v str {
        self.text_if_any("type").unwrap_or_default()
    }

    /// An object, where there is one.
    pub(super) fn object_if_any(&self, name: &str) -> Option<&'v Map<String, Value>> {
        self.get(name).and_then(Value::as_object)
    }

    /// The identities under these names: texts, or objects around one, as rig's `{"provider": "call_1"}`.
    pub(super) fn ids(&self, names: &[&str]) -> Vec<&'v str> {
        let id = |value: &'v Value| match value {
            Value::Object(around) if around.len() == 1 => around.values().next()?.as_str(),
            other => other.as_str(),
        };
        names.iter().filter_map(|name| id(self.get(name)?)).filter(|id| !id.is_empty()).collect()
    }

    /// A list, where the field is there.
    pub(super) fn list(&self, name: &str) -> Result<Option<&'v [Value]>, ToolCallError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(values)) => Ok(Some(values)),
            Some(other) => Err(self.refused(name, &format!("is {}; expected a list", kind_of(other)))),
        }
    }

    /// The only one of several fields that mean the same, with its name.
    pub(super) fn one_of<'n>(
        &self,
        names: &[&'n str],
    ) -> Result<Option<(&'n str, &'v Value)>, ToolCallError> {
        let mut found = names.iter().filter_map(|name| self.get(name).map(|value| (*name, value)));
        let first = found.next();
        match (first, found.next()) {
            (Some((one, _)), Some((other, _))) => {
                Err(refused(self.path, &format!("has both `{one}` and `{other}`; leave one of them out")))
            }
            _ => Ok(first),
        }
    }

    pub(super) fn refused(&self, name: &str, problem: &str) -> ToolCallError {
        refused(&self.at(name), problem)
    }
}

/// What a value is, in words.
pub(super) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(text) if text.trim().is_empty() => "blank",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl ToolCall {
    /// Takes arguments that are JSON, or the text of JSON, as models write them. A blank text is none. One that is no JSON is
    /// kept with the reason.
    pub(super) fn with_arguments(mut self, arguments: Option<&Value>) -> Self {
        match arguments {
            Some(Value::String(text)) if text.trim().is_empty() => {}
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(read) => self.arguments = Some(read),
                Err(error) => {
                    self.arguments = Some(Value::String(text.clone()));
                    self.arguments_error = Some(format!("the arguments are no JSON: {error}"));
                }
            },
            other => self.arguments = other.cloned(),
        }
        self
    }

    /// Takes an input that may be any text, for tools that are given no object. Text that is an object or a list is read.
    pub(super) fn with_input(mut self, input: Option<&Value>) -> Self {
        let read = input.and_then(Value::as_str).and_then(tree_of);
        self.arguments = read.or_else(|| input.cloned());
        self
    }
}
