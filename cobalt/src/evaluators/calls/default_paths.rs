//! Finds the tool calls that an agent reports.

use cobalt_core::item::Item;
use serde_json::Value;

use super::call::ToolCall;
use super::from_trace;
use super::read::{Reader, may_hold_call};
use crate::evaluators::field_path::{AgentField, METADATA};
use crate::evaluators::{EvalContext, EvalError};

/// The default places for calls, in order of precedence. The output itself comes last.
const DEFAULT_PATHS: [&str; 14] = [
    "metadata.toolCalls",
    "metadata.tool_calls",
    "metadata.calls",
    "metadata.trace",
    "metadata.messages",
    "metadata.contents",
    "output.toolCalls",
    "output.tool_calls",
    "output.calls",
    "output.trace",
    "output.messages",
    "output.contents",
    "output.steps",
    "output",
];

/// Reads the calls at a place, or at the default places, or else from the trace. If nothing is known about calls, that is an error: the
/// agent may have made some.
pub fn read(place: Option<&AgentField>, cx: &EvalContext) -> Result<Vec<ToolCall>, EvalError> {
    let (value, path, hint) = match place {
        Some(field) => (field.resolve(cx)?, field.name(), ""),
        None => match find_default(cx) {
            Some(found) if may_be_overridden(found) && from_trace::has_calls(cx.whole_trace()?) => {
                return from_trace::read(cx.trace()).ok_or_else(not_found_error);
            }
            Some((value, path)) => (value, path, "; if its calls are elsewhere, set their path"),
            None => return from_trace::read(cx.whole_trace()?).ok_or_else(not_found_error),
        },
    };
    let read = Reader::default().read(value, path);
    read.map_err(|error| EvalError::new(format!("the agent's {error}{hint}")))
}

/// The value at the first default place that has one, with its path.
pub fn find_default(cx: &EvalContext) -> Option<(&Value, &'static str)> {
    let found =
        DEFAULT_PATHS.into_iter().filter_map(|path| AgentField::new(path).get(cx).map(|value| (value, path)));
    let mut found = found.filter(|(value, path)| match *path {
        "output" => looks_like_calls(value),
        "metadata.contents" | "output.contents" => are_messages(value),
        _ => true,
    });
    let first = found.next()?;
    if first.1 != DEFAULT_PATHS[0] || !is_empty(first.0) {
        return Some(first);
    }
    // The first place is an empty list if an agent that could record calls recorded none; later places may have them. An
    // output that is a list need not contain calls.
    Some(found.find(|it| !is_empty(it.0) && !is_answer(*it)).unwrap_or(first))
}

/// Whether an output is a list of other things than calls.
fn is_answer((value, path): (&Value, &str)) -> bool {
    path == "output" && value.is_array() && !may_hold_call(value)
}

/// Whether a trace with calls takes precedence, as a later place does.
fn may_be_overridden((value, path): (&Value, &str)) -> bool {
    is_answer((value, path)) || (path == DEFAULT_PATHS[0] && is_empty(value))
}

/// Whether metadata has a value at a default place.
pub fn reports_calls(metadata: &Item) -> bool {
    reported_values(metadata).next().is_some()
}

/// Whether metadata has a call at a default place.
pub fn has_calls(metadata: &Item) -> bool {
    reported_values(metadata)
        .any(|value| Reader::default().read(value, "").is_ok_and(|calls| !calls.is_empty()))
}

/// Whether a value can be read as calls and contains none.
pub fn has_no_calls(value: &Value) -> bool {
    Reader::default().read(value, "").is_ok_and(|calls| calls.is_empty())
}

/// The values at the default places in metadata.
fn reported_values(metadata: &Item) -> impl Iterator<Item = &Value> {
    let names = DEFAULT_PATHS.iter().filter_map(|path| path.strip_prefix(METADATA)?.strip_prefix('.'));
    let values = names.filter_map(|name| Some((name, metadata.get(name)?)));
    let reported = values.filter(|(name, value)| match *name {
        "contents" => are_messages(value),
        _ => !value.is_null(),
    });
    reported.map(|(_, value)| value)
}

fn is_empty(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}

/// Whether `contents` are messages of Gemini; others store documents there.
fn are_messages(contents: &Value) -> bool {
    contents.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(|one| one.get("parts").is_some()))
}

/// Whether a whole output looks like calls: any list, or an API response.
fn looks_like_calls(output: &Value) -> bool {
    match output {
        Value::Array(_) => true,
        Value::Object(fields) => {
            fields.contains_key("role")
                || fields.contains_key("choices")
                || fields.contains_key("candidates")
                || fields.get("output").is_some_and(|output| output.get("message").is_some())
                || fields.get("object").is_some_and(|of| of == "response")
        }
        _ => false,
    }
}

/// The error if there is nothing at the default places.
pub fn not_found_error() -> EvalError {
    EvalError::new(
        "no tool calls found in the default places, such as `metadata.toolCalls` and `output.trace`; report them there (an empty \
         list if there are none), or set their path, such as `output.run.calls`; the trace does not show them either: it needs spans of the \
         agent's model or tool calls",
    )
}

impl EvalContext {
    /// Returns the agent's tool calls, from the default places listed in [`calls`](crate::calls), else from the trace. For another place,
    /// use [`ToolCall::read`].
    ///
    /// ```
    /// use cobalt::{EvalContext, EvalError};
    ///
    /// #[cobalt::evaluator]
    /// fn looks_before_it_books(cx: &EvalContext) -> Result<bool, EvalError> {
    ///     let calls = cx.tool_calls()?;
    ///     let place = |tool| calls.iter().position(|call| call.name == tool);
    ///     Ok(place("book").is_none_or(|booked| place("search").is_some_and(|searched| searched < booked)))
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// Fails if no calls are reported or traced, or an entry is not a valid call.
    pub fn tool_calls(&self) -> Result<Vec<ToolCall>, EvalError> {
        read(None, self)
    }
}
