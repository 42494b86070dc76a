//! Reads the calls of tools from JSON: what a list may hold, and which answer belongs to which call.

mod anthropic;
mod arguments;
mod fields;
mod message;
mod openai;
mod plain;

use serde_json::{Map, Value};

use self::fields::{Fields, kind_of};
use super::call::{ToolCall, ToolCallError};
use crate::metrics::tree_of;
use crate::nesting::{is_too_deep, too_deep};

/// What stands beside calls in the lists of the APIs, and is none.
const NO_CALLS: [&str; 16] = [
    "text",
    "thinking",
    "redacted_thinking",
    "image",
    "document",
    "search_result",
    "container_upload",
    "output_text",
    "refusal",
    "reasoning",
    "compaction",
    "item_reference",
    "tool_search_output",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
];

const EXPECTED: &str = "expected a call as `{\"name\": …, \"arguments\": …}` or the tool's name as text, a message with a \
                        `role`, or an item or block of one of the known types";

/// What was read so far.
#[derive(Debug, Default)]
pub(super) struct Reader {
    calls: Vec<ToolCall>,
    /// What the answer to each call refers to.
    ids: Vec<Option<String>>,
    answered: Vec<bool>,
    /// Whether what cannot be understood in a plain call is an error: calls that a person wrote down.
    strict: bool,
}

/// What came of a call.
struct Answer {
    result: Option<Value>,
    error: Option<String>,
}

impl Reader {
    /// A reader of calls that a person wrote down, where a field that is not known is a slip.
    pub(super) fn strict() -> Self {
        Self { strict: true, ..Self::default() }
    }

    /// Reads all calls. `path` says where the value stands.
    pub(super) fn read(mut self, value: &Value, path: &str) -> Result<Vec<ToolCall>, ToolCallError> {
        if is_too_deep(value) {
            return Err(ToolCallError(too_deep(&format!("`{path}`"))));
        }
        let read = value.as_str().and_then(tree_of);
        self.whole(read.as_ref().unwrap_or(value), path)?;
        match self.calls.iter().find_map(|call| Some((&call.name, call.arguments_error.as_ref()?))) {
            Some((name, problem)) if self.strict => {
                Err(refused(path, &format!("has a call of `{name}` that cannot be expected: {problem}")))
            }
            _ => Ok(self.calls),
        }
    }

    fn whole(&mut self, value: &Value, path: &str) -> Result<(), ToolCallError> {
        match value {
            Value::Array(values) => self.list(values, path),
            Value::Object(object) => {
                let fields = Fields { object, path };
                match (object.get("choices"), object.get("messages"), object.get("output")) {
                    (Some(Value::Array(choices)), _, _) => self.choice(choices, path),
                    (_, Some(Value::Array(messages)), _) => self.list(messages, &fields.at("messages")),
                    (_, _, Some(Value::Array(items)))
                        if object.get("object").is_some_and(|of| of == "response") =>
                    {
                        self.list(items, &fields.at("output"))
                    }
                    _ => self.object(fields),
                }
            }
            _ => Err(refused(path, &format!("is {}; expected a list of calls or messages", kind_of(value)))),
        }
    }

    /// The only answer of a chat completion; several would be alternatives to each other.
    fn choice(&mut self, choices: &[Value], path: &str) -> Result<(), ToolCallError> {
        match choices {
            [choice] => {
                let at = format!("{path}.choices[0].message");
                let message = choice.get("message").and_then(Value::as_object);
                let object = message.ok_or_else(|| refused(&at, "is missing; expected a message"))?;
                self.object(Fields { object, path: &at })
            }
            _ => Err(refused(
                &format!("{path}.choices"),
                &format!("has {} answers; expected one, or the message that counts", choices.len()),
            )),
        }
    }

    fn list(&mut self, values: &[Value], path: &str) -> Result<(), ToolCallError> {
        values
            .iter()
            .enumerate()
            .try_for_each(|(index, value)| self.entry(value, &format!("{path}[{index}]")))
    }

    fn entry(&mut self, value: &Value, path: &str) -> Result<(), ToolCallError> {
        match value {
            Value::Object(object) => self.object(Fields { object, path }),
            Value::String(name) if !name.trim().is_empty() => {
                self.add(ToolCall { name: name.clone(), ..ToolCall::default() }, None);
                Ok(())
            }
            _ => Err(refused(path, &format!("is {}; {EXPECTED}", kind_of(value)))),
        }
    }

    /// Reads what may be a call, an answer to one, or a message with any of them.
    fn object(&mut self, fields: Fields<'_>) -> Result<(), ToolCallError> {
        let kind = fields.text_if_any("type").unwrap_or_default();
        if fields.get("role").is_some() {
            self.message(fields)
        } else if fields.get("function").is_some() || fields.get("custom").is_some() {
            self.tool_call(fields)
        } else if anthropic::is_use(kind) {
            self.tool_use(fields)
        } else if anthropic::is_result(kind) {
            self.tool_result(fields)
        } else if openai::is_item(kind) {
            self.item(fields)
        } else if openai::is_item_output(kind) {
            self.item_output(fields)
        } else if NO_CALLS.contains(&kind) {
            Ok(())
        } else if plain::is_answer(kind) {
            Err(plain::nameless(fields))
        } else if fields.get("content").is_some() || fields.get("tool_calls").is_some() {
            let expected = "expected one, as in messages of OpenAI's and Anthropic's APIs";
            Err(refused(fields.path, &format!("looks like a message, but has no `role`; {expected}")))
        } else {
            self.plain(fields)
        }
    }

    fn add(&mut self, call: ToolCall, id: Option<&str>) -> usize {
        self.calls.push(call);
        self.ids.push(id.filter(|id| !id.is_empty()).map(str::to_owned));
        self.answered.push(false);
        self.calls.len() - 1
    }

    /// Gives an answer to the first call of this identity that has none yet: models have been seen to use one again.
    fn answer(&mut self, id: &str, answer: Answer, path: &str) -> Result<(), ToolCallError> {
        let asked = |index: &usize| self.ids[*index].as_deref() == Some(id);
        let index = (0..self.calls.len()).filter(asked).find(|index| !self.answered[*index]);
        let index = index.ok_or_else(|| match (0..self.calls.len()).any(|index| asked(&index)) {
            true => refused(path, &format!("is a second answer to the call `{id}`; expected one")),
            false => refused(path, &format!("answers the call `{id}`, which does not stand before it")),
        })?;
        self.give(index, answer);
        Ok(())
    }

    fn give(&mut self, index: usize, Answer { result, error }: Answer) {
        self.answered[index] = true;
        let call = &mut self.calls[index];
        call.result = result.or_else(|| call.result.take());
        call.error = error.or_else(|| call.error.take());
    }
}

fn refused(path: &str, problem: &str) -> ToolCallError {
    ToolCallError(format!("`{path}` {problem}"))
}

/// What a tool or an agent says went wrong: a text as it is, anything else as JSON.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => texts(parts).unwrap_or_else(|| value.to_string()),
        other => other.to_string(),
    }
}

/// The texts of a list of blocks of text, one below the other; `None` where there is anything else.
fn texts(parts: &[Value]) -> Option<String> {
    let texts: Option<Vec<_>> = parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
    texts.filter(|texts| !texts.is_empty()).map(|texts| texts.join("\n"))
}

/// Whether an object says by a flag that it is an error, as results of MCP do.
fn is_flagged(object: &Map<String, Value>) -> bool {
    ["is_error", "isError"].iter().any(|flag| object.get(*flag) == Some(&Value::Bool(true)))
}
