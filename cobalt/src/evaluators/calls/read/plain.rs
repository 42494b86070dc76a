//! The plain shape: an object with the tool's name and, where they are known, arguments, result, error and calls within.

use serde_json::{Map, Value};

use super::fields::{Fields, kind_of};
use super::{EXPECTED, Reader, is_flagged, refused, said};
use crate::evaluators::calls::call::{ToolCall, ToolCallError};
use crate::suggest;

/// Names of the tool; the last is genai's.
pub(super) const NAMES: [&str; 5] = ["name", "tool", "tool_name", "toolName", "fn_name"];
/// Under these, text is the text of JSON.
const ARGUMENTS: [&str; 4] = ["arguments", "args", "parameters", "fn_arguments"];
/// Under these, text may be any.
const INPUTS: [&str; 4] = ["input", "tool_input", "toolInput", "input_parameters"];
/// What the answer to a call refers to.
const IDS: [&str; 4] = ["id", "call_id", "tool_call_id", "toolCallId"];
const RESULTS: [&str; 2] = ["result", "output"];
const WITHIN: [&str; 2] = ["calls", "children"];
const OTHERS: [&str; 9] =
    ["type", "id", "call_id", "tool_call_id", "toolCallId", "error", "success", "is_error", "isError"];

/// Whether an entry of this type is what came of a call, and no call, even where it names the tool.
pub(super) fn is_answer(kind: &str) -> bool {
    ["result", "output", "error"].iter().any(|end| kind.ends_with(end))
}

impl Reader {
    pub(super) fn plain(&mut self, fields: Fields<'_>) -> Result<(), ToolCallError> {
        let name = match fields.one_of(&NAMES)? {
            Some((key, _)) => fields.text(key)?,
            None => return Err(nameless(fields)),
        };
        if self.strict {
            check_fields(fields)?;
        }
        let parent = self.add(call(name, fields)?, &fields.ids(&IDS));
        match fields.one_of(&WITHIN)? {
            Some((key, _)) => self.within(parent, fields.list(key)?.unwrap_or_default(), &fields.at(key)),
            None => Ok(()),
        }
    }

    /// Reads the calls that were made within another.
    fn within(&mut self, parent: usize, calls: &[Value], path: &str) -> Result<(), ToolCallError> {
        let first = self.calls.len();
        for (index, call) in calls.iter().enumerate() {
            let direct = self.calls.len();
            self.entry(call, &format!("{path}[{index}]"))?;
            for call in self.calls[direct..].iter_mut().filter(|call| call.parent.is_none()) {
                call.parent = Some(parent);
            }
        }
        self.calls[first..].iter_mut().for_each(|call| call.depth += 1);
        Ok(())
    }
}

/// A call of this tool, with what is said of it.
pub(super) fn call(name: &str, fields: Fields<'_>) -> Result<ToolCall, ToolCallError> {
    let call = ToolCall { name: name.to_owned(), ..ToolCall::default() };
    let given = fields.one_of(&[&ARGUMENTS[..], &INPUTS[..]].concat())?;
    let mut call = match given {
        Some((key, value)) if INPUTS.contains(&key) => call.with_input(Some(value)),
        given => call.with_arguments(given.map(|(_, value)| value)),
    };
    call.result = fields.one_of(&RESULTS)?.map(|(_, value)| value.clone());
    call.error = error_of(fields, call.result.as_ref())?;
    Ok(call)
}

/// Whether an object names a tool and has what it is called with, even if that is `null`.
pub(super) fn is_call(object: &Map<String, Value>) -> bool {
    let has_name = NAMES.iter().any(|name| object.get(*name).is_some_and(Value::is_string));
    has_name && ARGUMENTS.iter().chain(&INPUTS).any(|name| object.contains_key(*name))
}

/// An error for what is no call, by its type or for want of a name.
pub(super) fn nameless(fields: Fields<'_>) -> ToolCallError {
    let keys = fields.object.keys().map(String::as_str);
    let has = if fields.object.is_empty() { "no field".to_owned() } else { suggest::list(keys) };
    match fields.text_if_any("type") {
        Some(kind) => {
            refused(fields.path, &format!("is of the type `{kind}`, which is not known; {EXPECTED}"))
        }
        None => refused(fields.path, &format!("has no name; {EXPECTED}; it has {has}")),
    }
}

/// What went wrong: `error`, or a flag. An error that is `false` or blank is none.
fn error_of(fields: Fields<'_>, result: Option<&Value>) -> Result<Option<String>, ToolCallError> {
    let flagged = is_flagged(fields.object) || result.and_then(Value::as_object).is_some_and(is_flagged);
    let failed = match fields.get("success") {
        None | Some(Value::Bool(true)) => flagged,
        Some(Value::Bool(false)) => true,
        Some(other) => {
            return Err(fields.refused("success", &format!("is {}; expected true or false", kind_of(other))));
        }
    };
    Ok(match fields.get("error") {
        Some(Value::Bool(true)) => Some("an error".to_owned()),
        Some(Value::String(text)) if text.trim().is_empty() => None,
        None | Some(Value::Bool(false)) => None,
        Some(error) => Some(said(error)),
    }
    .or_else(|| failed.then(|| result.map_or_else(|| "an error".to_owned(), said))))
}

/// An error where a field has a name that is not known.
fn check_fields(fields: Fields<'_>) -> Result<(), ToolCallError> {
    let known =
        || NAMES.iter().chain(&ARGUMENTS).chain(&INPUTS).chain(&RESULTS).chain(&WITHIN).chain(&OTHERS);
    match fields.object.keys().find(|key| known().all(|name| name != key)) {
        None => Ok(()),
        Some(key) => {
            let meant = suggest::closest(key, known().copied());
            let hint = meant.map_or_else(
                || "expected `name` and, where they matter, `arguments` and `calls`".to_owned(),
                |meant| format!("did you mean `{meant}`?"),
            );
            Err(fields.refused(key, &format!("is no field of a call; {hint}")))
        }
    }
}
