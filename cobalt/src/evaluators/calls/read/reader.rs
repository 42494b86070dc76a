//! `Reader`: collects calls with the paths of their entries, and assigns results to calls.

use std::ops::Range;

use serde_json::{Map, Value};

use crate::evaluators::calls::call::{ToolCall, ToolCallError};
use crate::metrics::parse_container;

pub const EXPECTED: &str = "expected a call as `{\"name\": …, \"arguments\": …}` or the tool's name as text, a message with \
                            a `role`, or an item or block of one of the known types";

/// The calls read so far.
#[derive(Debug, Default)]
pub struct Reader {
    pub calls: Vec<ToolCall>,
    /// The IDs of each call, which results refer to.
    ids: Vec<Vec<String>>,
    pub answered: Vec<bool>,
    /// The calls already read from other fields of the current message: some frameworks write the same calls twice.
    pub message_calls: Range<usize>,
    /// Whether unknown fields of a plain call are errors, for calls written by hand.
    pub strict: bool,
}

/// The result of a call.
pub struct CallResult {
    pub result: Option<Value>,
    pub error: Option<String>,
}

impl Reader {
    /// Creates a reader for calls written by hand: an unknown field is probably a typo.
    pub fn strict() -> Self {
        Self { strict: true, ..Self::default() }
    }

    pub fn add(&mut self, call: ToolCall, ids: &[&str]) -> usize {
        let ids: Vec<_> = ids.iter().filter(|id| !id.is_empty()).map(|id| (*id).to_owned()).collect();
        if let Some(twin) = self.message_calls.clone().find(|twin| {
            self.calls[*twin].name == call.name && self.ids[*twin].iter().any(|id| ids.contains(id))
        }) {
            let known = &mut self.calls[twin];
            known.result = known.result.take().or(call.result);
            known.error = known.error.take().or(call.error);
            return twin;
        }
        self.calls.push(call);
        self.ids.push(ids);
        self.answered.push(false);
        self.calls.len() - 1
    }

    /// Assigns a result to the first call with this ID that has none: some models reuse IDs.
    pub fn add_result(&mut self, id: &str, answer: CallResult, path: &str) -> Result<(), ToolCallError> {
        let index = (0..self.calls.len()).find(|index| self.has_id(*index, id) && !self.answered[*index]);
        let index = index.ok_or_else(|| match self.is_known(id) {
            true => error_at(path, &format!("is a second result for the call `{id}`; expected one")),
            false => error_at(path, &format!("is a result for the call `{id}`, which does not precede it")),
        })?;
        self.set_result(index, answer);
        Ok(())
    }

    /// Assigns a result to a call by any of its IDs, or by the tool's name if the calls have none.
    pub fn add_result_by(
        &mut self,
        ids: &[&str],
        name: Option<&str>,
        answer: CallResult,
        path: &str,
    ) -> Result<(), ToolCallError> {
        match (ids.iter().find(|id| self.is_known(id)).or(ids.first()), name) {
            (Some(id), _) if self.is_known(id) => self.add_result(id, answer, path),
            (id, Some(name)) => {
                let fits = |index: &usize| id.is_none() || self.ids[*index].is_empty();
                let open =
                    |index: &usize| self.calls[*index].name == name && !self.answered[*index] && fits(index);
                let index = (0..self.calls.len()).find(open).ok_or_else(|| {
                    error_at(path, &format!("is a result for a call to `{name}`, which does not precede it"))
                })?;
                self.set_result(index, answer);
                Ok(())
            }
            (Some(id), None) => self.add_result(id, answer, path),
            (None, None) => Err(error_at(path, "is a result without a call ID; expected `id`")),
        }
    }

    fn has_id(&self, index: usize, id: &str) -> bool {
        self.ids[index].iter().any(|known| known == id)
    }

    fn is_known(&self, id: &str) -> bool {
        (0..self.calls.len()).any(|index| self.has_id(index, id))
    }

    fn set_result(&mut self, index: usize, CallResult { result, error }: CallResult) {
        self.answered[index] = true;
        let call = &mut self.calls[index];
        call.result = result.or_else(|| call.result.take());
        call.error = error.or_else(|| call.error.take());
    }
}

pub fn error_at(path: &str, problem: &str) -> ToolCallError {
    ToolCallError(format!("`{path}` {problem}"))
}

/// Formats an error value: text unchanged, anything else as JSON.
pub fn error_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => texts(parts).unwrap_or_else(|| value.to_string()),
        other => other.to_string(),
    }
}

/// The texts of a list of text blocks, joined by line breaks; `None` if there are other blocks.
fn texts(parts: &[Value]) -> Option<String> {
    let texts: Option<Vec<_>> = parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
    texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join("\n"))
}

/// Whether an object is flagged as an error, like results of MCP.
pub fn is_flagged(object: &Map<String, Value>) -> bool {
    ["is_error", "isError"].iter().any(|flag| object.get(*flag) == Some(&Value::Bool(true)))
}

/// An entry with its path.
#[derive(Clone, Copy)]
pub struct Entry<'v> {
    pub object: &'v Map<String, Value>,
    pub path: &'v str,
}

impl<'v> Entry<'v> {
    /// The path of a field.
    pub fn path_of(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    /// A field that is not `null`.
    pub fn get(&self, name: &str) -> Option<&'v Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// A required text that is not blank.
    pub fn text(&self, name: &str) -> Result<&'v str, ToolCallError> {
        match self.object.get(name) {
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
            Some(other) => Err(self.error_at(name, &format!("is {}; expected text", type_name(other)))),
            None => Err(self.error_at(name, "is missing; expected text")),
        }
    }

    /// An optional text.
    pub fn optional_text(&self, name: &str) -> Option<&'v str> {
        self.get(name).and_then(Value::as_str)
    }

    /// Its `type`; empty if it has none.
    pub fn kind(&self) -> &'v str {
        self.optional_text("type").unwrap_or_default()
    }

    /// An optional object.
    pub fn optional_object(&self, name: &str) -> Option<&'v Map<String, Value>> {
        self.get(name).and_then(Value::as_object)
    }

    /// The IDs under these names: texts, or objects with a single text, such as rig's `{"provider": "call_1"}`.
    pub fn ids(&self, names: &[&str]) -> Vec<&'v str> {
        let id = |value: &'v Value| match value {
            Value::Object(around) if around.len() == 1 => around.values().next()?.as_str(),
            other => other.as_str(),
        };
        names.iter().filter_map(|name| id(self.get(name)?)).filter(|id| !id.is_empty()).collect()
    }

    /// An optional list.
    pub fn optional_list(&self, name: &str) -> Result<Option<&'v [Value]>, ToolCallError> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Array(values)) => Ok(Some(values)),
            Some(other) => Err(self.error_at(name, &format!("is {}; expected a list", type_name(other)))),
        }
    }

    /// The one of several synonymous fields that is set, with its name. More than one is an error.
    pub fn one_of<'n>(&self, names: &[&'n str]) -> Result<Option<(&'n str, &'v Value)>, ToolCallError> {
        let mut found = names.iter().filter_map(|name| self.get(name).map(|value| (*name, value)));
        let first = found.next();
        match (first, found.next()) {
            (Some((one, _)), Some((other, _))) => {
                Err(error_at(self.path, &format!("has both `{one}` and `{other}`; remove one")))
            }
            _ => Ok(first),
        }
    }

    pub fn error_at(&self, name: &str, problem: &str) -> ToolCallError {
        error_at(&self.path_of(name), problem)
    }
}

/// Describes the type of a value.
pub fn type_name(value: &Value) -> &'static str {
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
    /// Sets the arguments from JSON, or from JSON text as models write it. Blank text means none. Text that is not JSON is kept
    /// with the error.
    pub fn with_arguments(mut self, arguments: Option<&Value>) -> Self {
        match arguments {
            Some(Value::String(text)) if text.trim().is_empty() => {}
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(read) => self.arguments = Some(read),
                Err(error) => {
                    self.arguments = Some(Value::String(text.clone()));
                    self.arguments_error = Some(format!("the arguments are not JSON: {error}"));
                }
            },
            other => self.arguments = other.cloned(),
        }
        self
    }

    /// Sets the arguments from an input that may be any text, for tools without structured arguments. Text with a JSON object
    /// or list is parsed.
    pub fn with_input(mut self, input: Option<&Value>) -> Self {
        let read = input.and_then(Value::as_str).and_then(parse_container);
        self.arguments = read.or_else(|| input.cloned());
        self
    }
}
