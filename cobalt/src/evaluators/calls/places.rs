//! Where an agent reports its calls.

use cobalt_core::item::Item;
use serde_json::Value;

use super::call::ToolCall;
use super::read::{Reader, may_hold_call};
use crate::evaluators::places::{AgentField, METADATA};
use crate::evaluators::{EvalContext, EvalError};

/// Where calls are looked for, in this order, unless a place is named. The output itself comes last.
const PLACES: [&str; 14] = [
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

/// The calls that an agent reported at a place, or else in the usual ones. That it reported none where it should is an error:
/// it may have made some.
pub fn read(place: Option<&AgentField>, cx: &EvalContext) -> Result<Vec<ToolCall>, EvalError> {
    let (value, path, hint) = match place {
        Some(field) => (field.find(cx)?, field.name(), ""),
        None => {
            let (value, path) = usual(cx).ok_or_else(nowhere)?;
            (value, path, "; where its calls are elsewhere, name the place")
        }
    };
    let read = Reader::default().read(value, path);
    read.map_err(|error| EvalError::new(format!("the agent's {error}{hint}")))
}

/// What the first of the usual places has that has something, and the place.
pub fn usual(cx: &EvalContext) -> Option<(&Value, &'static str)> {
    let found =
        PLACES.into_iter().filter_map(|path| AgentField::new(path).get(cx).map(|value| (value, path)));
    let mut found = found.filter(|(value, path)| match *path {
        "output" => may_be_calls(value),
        "metadata.contents" | "output.contents" => are_messages(value),
        _ => true,
    });
    let first = found.next()?;
    if first.1 != PLACES[0] || !is_empty(first.0) {
        return Some(first);
    }
    // An agent that records its calls says first that there are none; later places may have the calls. An answer that is
    // a list need not hold any.
    let is_answer =
        |(value, path): &(&Value, &str)| *path == "output" && value.is_array() && !may_hold_call(value);
    Some(found.find(|it| !is_empty(it.0) && !is_answer(it)).unwrap_or(first))
}

/// Whether metadata has something in one of the usual places.
pub fn reports_calls(metadata: &Item) -> bool {
    reported(metadata).next().is_some()
}

/// Whether metadata has a call in one of the usual places.
pub fn has_calls(metadata: &Item) -> bool {
    reported(metadata).any(|value| Reader::default().read(value, "").is_ok_and(|calls| !calls.is_empty()))
}

/// Whether a value is read as calls, and holds none.
pub fn has_no_calls(value: &Value) -> bool {
    Reader::default().read(value, "").is_ok_and(|calls| calls.is_empty())
}

/// What metadata has in the usual places.
fn reported(metadata: &Item) -> impl Iterator<Item = &Value> {
    let names = PLACES.iter().filter_map(|path| path.strip_prefix(METADATA)?.strip_prefix('.'));
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

/// Whether `contents` are Gemini's messages: others have documents there.
fn are_messages(contents: &Value) -> bool {
    contents.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(|one| one.get("parts").is_some()))
}

/// Whether an output as a whole looks like calls: any list, or an object that an API gave.
fn may_be_calls(output: &Value) -> bool {
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

/// Why there are no calls in any of the usual places.
pub fn nowhere() -> EvalError {
    EvalError::new(
        "the agent reports no calls in the usual places, such as `metadata.toolCalls` and `output.trace`; report them there, an \
         empty list where there are none, or name the place, as in `output.run.calls`",
    )
}

impl EvalContext {
    /// The calls of tools that the agent made, from the usual places that [`calls`](crate::calls) lists; for another
    /// place, use [`ToolCall::read`].
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
    /// There are none to be found, or an entry is not as a call should be.
    pub fn tool_calls(&self) -> Result<Vec<ToolCall>, EvalError> {
        read(None, self)
    }
}
