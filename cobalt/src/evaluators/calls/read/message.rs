//! Messages: which of their fields and blocks hold calls and answers, and which may do so in a shape that is not known.

use serde_json::{Map, Value};

use super::fields::Fields;
use super::harmless::{self, may_hold_call};
use super::{EXPECTED, Reader, anthropic, openai, plain, refused};
use crate::evaluators::calls::call::ToolCallError;

/// Fields of a message with lists of calls: OpenAI's, that of other frameworks, and that of Vercel's older UI messages.
const LISTS: [&str; 3] = ["tool_calls", "toolCalls", "toolInvocations"];
/// Fields of a message with one call: OpenAI's older form, and that of other frameworks.
const CALLS: [&str; 2] = ["function_call", "functionCall"];
/// Fields of a message with its blocks; the second is that of Gemini, adk, OpenTelemetry and Vercel's UI messages.
const BLOCKS: [&str; 2] = ["content", "parts"];
/// Fields with lists in a `content` that is an object: in older versions of genai.
const GENAI: [&str; 3] = ["ToolCalls", "ToolResponses", "Parts"];

impl Reader {
    /// Reads the calls and answers of a message. What else its content holds is for people.
    pub(super) fn message(&mut self, fields: Fields<'_>) -> Result<(), ToolCallError> {
        // Gemini's messages may have no role.
        let role =
            if fields.get("role").is_some() { fields.text("role")?.to_lowercase() } else { String::new() };
        let is_tool = ["tool", "function"].contains(&&*role);
        if !is_tool && is_call(fields) {
            return Err(overlooked_object(fields));
        }
        let first = self.calls.len();
        for name in LISTS {
            self.twins = first..self.calls.len();
            self.list(fields.list(name)?.unwrap_or_default(), &fields.at(name))?;
        }
        for name in CALLS {
            self.twins = first..self.calls.len();
            if let Some(call) = fields.get(name) {
                self.message_call(call, &fields.at(name))?;
            }
        }
        if let Some((name, value)) = fields.object.iter().find(|(name, value)| is_unread(name, value)) {
            return Err(overlooked(&fields.at(name), value));
        }
        self.twins = first..self.calls.len();
        let answered = self.answered.clone();
        if !is_tool || fields.ids(&["tool_call_id"]).is_empty() {
            BLOCKS.iter().try_for_each(|name| match fields.get(name) {
                Some(content) => self.content(content, &fields.at(name)),
                None => Ok(()),
            })?;
        }
        self.twins = 0..0;
        if is_tool && self.answered == answered { self.tool_message(fields, &role) } else { Ok(()) }
    }

    /// The call that a message has beside its content: `{"name": …, "arguments": …}`, or Gemini's `{"name": …, "args": …}`.
    fn message_call(&mut self, call: &Value, path: &str) -> Result<(), ToolCallError> {
        match call.as_object() {
            Some(object) if object.contains_key("args") => self.plain(Fields { object, path }),
            _ => self.function(call, path, &[]),
        }
    }

    fn content(&mut self, content: &Value, path: &str) -> Result<(), ToolCallError> {
        match content {
            Value::Array(blocks) => self.blocks(blocks, path),
            Value::Object(object) => {
                let fields = Fields { object, path };
                let list = |name| Some((name, fields.get(name)?.as_array()?));
                let found = ["parts"].into_iter().chain(GENAI).find_map(list);
                if let Some((name, _)) = found {
                    check_beside(name, fields)?;
                }
                match found {
                    Some(("ToolResponses", answers)) => {
                        answers.iter().enumerate().try_for_each(|(index, answer)| {
                            self.tool_response(answer, &format!("{path}.ToolResponses[{index}]"))
                        })
                    }
                    Some(("ToolCalls", calls)) => self.list(calls, &fields.at("ToolCalls")),
                    Some((name, blocks)) => self.blocks(blocks, &fields.at(name)),
                    None => self.block(content, path),
                }
            }
            _ => Ok(()),
        }
    }

    fn blocks(&mut self, blocks: &[Value], path: &str) -> Result<(), ToolCallError> {
        blocks
            .iter()
            .enumerate()
            .try_for_each(|(index, block)| self.block(block, &format!("{path}[{index}]")))
    }

    /// Reads a block of a message: a call, an answer, or what is known to be neither.
    pub(super) fn block(&mut self, block: &Value, path: &str) -> Result<(), ToolCallError> {
        let Value::Object(object) = block else {
            return if may_hold_call(block) { Err(overlooked(path, block)) } else { Ok(()) };
        };
        let fields = Fields { object, path };
        if self.known(fields)? || harmless::is_block(fields) {
            Ok(())
        } else if fields.kind().is_empty() && plain::is_call(object) {
            self.plain(fields)
        } else {
            Err(overlooked(path, block))
        }
    }
}

/// The message that an entry is about: an object with its blocks in `content`.
pub(super) fn within<'v>(fields: Fields<'v>) -> Option<&'v Map<String, Value>> {
    fields.object_if_any("content").filter(|content| content.contains_key("parts"))
}

/// An error where what stands beside the only field that is read may be a call.
pub(super) fn check_beside(read: &str, fields: Fields<'_>) -> Result<(), ToolCallError> {
    if is_call(fields) {
        return Err(overlooked_object(fields));
    }
    let is_list = |name: &str| LISTS.iter().chain(&CALLS).any(|list| *list == name);
    let is_void = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    let may_hold_calls = |(name, value): &(&String, &Value)| {
        *name != read
            && !harmless::is_about_message(name)
            && (is_list(name) && !is_void(value) || harmless::may_hold_call_under(name, value))
    };
    match fields.object.iter().find(may_hold_calls) {
        Some((name, value)) => Err(overlooked(&fields.at(name), value)),
        None => Ok(()),
    }
}

/// Whether the whole is a call by its type, or by what it names.
fn is_call(fields: Fields<'_>) -> bool {
    let kind = fields.kind();
    plain::is_call(fields.object)
        || anthropic::is_use(kind)
        || openai::is_item(kind)
        || harmless::is_of_a_call(kind) && !plain::is_answer(kind)
}

/// Whether a field of a message may hold calls and is none of those that are read.
fn is_unread(name: &str, value: &Value) -> bool {
    let is_read = LISTS.iter().chain(&CALLS).chain(&BLOCKS).any(|read| *read == name);
    !is_read && !harmless::is_about_message(name) && harmless::may_hold_call_under(name, value)
}

fn overlooked_object(fields: Fields<'_>) -> ToolCallError {
    overlooked(fields.path, &Value::Object(fields.object.clone()))
}

fn overlooked(path: &str, piece: &Value) -> ToolCallError {
    let piece = harmless::outline(piece);
    refused(path, &format!("may be a call in a shape that is not known, `{piece}`; {EXPECTED}"))
}
