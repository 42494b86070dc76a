//! Reads messages with calls and results, recognised by their `type` or field name.

use serde_json::{Map, Value};

use super::harmless::{self, may_hold_call};
use super::reader::{Answer, EXPECTED, Fields, Reader, is_flagged, refused, said};
use super::vendors;
use crate::evaluators::calls::call::{ToolCall, ToolCallError};

/// Message fields with lists of calls: of OpenAI, of other frameworks, and of Vercel's older UI messages.
const LISTS: [&str; 3] = ["tool_calls", "toolCalls", "toolInvocations"];
/// Message fields with one call: OpenAI's legacy field, and that of other frameworks.
const CALLS: [&str; 2] = ["function_call", "functionCall"];
/// Message fields with blocks; the second is used by Gemini, adk, OpenTelemetry and Vercel's UI messages.
const BLOCKS: [&str; 2] = ["content", "parts"];
/// Fields with lists in a `content` object, in older versions of genai.
const GENAI: [&str; 3] = ["ToolCalls", "ToolResponses", "Parts"];

impl Reader {
    /// Reads the calls and results of a message and ignores its text.
    pub fn message(&mut self, fields: Fields<'_>) -> Result<(), ToolCallError> {
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

    /// Reads the call in a message field: `{"name": …, "arguments": …}`, or Gemini's `{"name": …, "args": …}`.
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

    /// Reads a block of a message: a call, a result, or a block known to be neither.
    pub fn block(&mut self, block: &Value, path: &str) -> Result<(), ToolCallError> {
        let Value::Object(object) = block else {
            return if may_hold_call(block) { Err(overlooked(path, block)) } else { Ok(()) };
        };
        let fields = Fields { object, path };
        if self.known(fields)? || harmless::is_block(fields) {
            Ok(())
        } else if fields.kind().is_empty() && vendors::is_call(object) {
            self.plain(fields)
        } else {
            Err(overlooked(path, block))
        }
    }
}

/// The message inside an entry: an object in `content` with `parts`.
pub fn within<'v>(fields: Fields<'v>) -> Option<&'v Map<String, Value>> {
    fields.object_if_any("content").filter(|content| content.contains_key("parts"))
}

/// Fails if something other than the field that is read may be a call.
pub fn check_beside(read: &str, fields: Fields<'_>) -> Result<(), ToolCallError> {
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

/// Whether an object is a call, by its type or its fields.
fn is_call(fields: Fields<'_>) -> bool {
    let kind = fields.kind();
    vendors::is_call(fields.object)
        || vendors::is_use(kind)
        || vendors::is_item(kind)
        || harmless::is_of_a_call(kind) && !vendors::is_answer(kind)
}

/// Whether a message field may contain calls, but is not one of those that are read.
fn is_unread(name: &str, value: &Value) -> bool {
    let is_read = LISTS.iter().chain(&CALLS).chain(&BLOCKS).any(|read| *read == name);
    !is_read && !harmless::is_about_message(name) && harmless::may_hold_call_under(name, value)
}

fn overlooked_object(fields: Fields<'_>) -> ToolCallError {
    overlooked(fields.path, &Value::Object(fields.object.clone()))
}

fn overlooked(path: &str, piece: &Value) -> ToolCallError {
    let piece = harmless::outline(piece);
    refused(path, &format!("may be a tool call in an unknown format, `{piece}`; {EXPECTED}"))
}

/// Names of call IDs in results: `call` is rig's, `ref` Genkit's, `toolUseId` Bedrock's.
const IDS: [&str; 7] = ["id", "call", "call_id", "tool_call_id", "toolCallId", "toolUseId", "ref"];
const RESULTS: [&str; 4] = ["output", "result", "response", "content"];

impl Reader {
    /// Reads an entry with a known `type`. Returns `false` for an unknown one.
    pub fn tagged(&mut self, fields: Fields<'_>) -> Result<bool, ToolCallError> {
        match fields.kind() {
            // rig wraps the vendor's own items unchanged.
            "opaque" => match fields.get("item") {
                Some(item) => self.block(item, &fields.at("item"))?,
                None => return Ok(false),
            },
            "tool_call" | "tool-call" | "toolcall"
                if vendors::NAMES.iter().any(|name| fields.get(name).is_some()) =>
            {
                self.plain(fields)?;
            }
            "server_tool_call" => {
                let call = ToolCall { name: fields.text("name")?.to_owned(), ..ToolCall::default() };
                let arguments = fields.get("server_tool_call").or_else(|| fields.get("arguments"));
                self.add(call.with_arguments(arguments), &fields.ids(&IDS));
            }
            "server_tool_call_response" => {
                let result = fields.get("server_tool_call_response").or_else(|| fields.get("response"));
                let answer = Answer { result: result.cloned(), error: None };
                self.answer_any(&fields.ids(&IDS), name(fields), answer, fields.path)?;
            }
            "toolresult" | "tool_call_response" | "tool-result" | "tool-error" => {
                self.response(fields, &[])?
            }
            "dynamic-tool" => self.ui_tool(fields, fields.text("toolName")?)?,
            kind => match kind.strip_prefix("tool-") {
                Some(name) if fields.get("state").is_some() && fields.get("toolCallId").is_some() => {
                    self.ui_tool(fields, name)?;
                }
                _ => return Ok(false),
            },
        }
        Ok(true)
    }

    /// Reads a part of a Vercel UI message: a call with its result so far.
    fn ui_tool(&mut self, fields: Fields<'_>, name: &str) -> Result<(), ToolCallError> {
        if name.is_empty() {
            return Err(fields.refused("type", "names no tool; expected `tool-<name>`"));
        }
        let call = ToolCall { name: name.to_owned(), ..ToolCall::default() };
        let mut call = call.with_input(fields.get("input").or_else(|| fields.get("rawInput")));
        call.result = fields.get("output").cloned();
        call.error = fields.get("errorText").map(said);
        if fields.text_if_any("state") == Some("output-denied") {
            let reason = fields.get("approval").and_then(|approval| approval.get("reason"));
            call.error = Some(denied(reason));
        }
        self.add(call, &[fields.text("toolCallId")?]);
        Ok(())
    }

    /// Reads the result of a call; `outer` are IDs of the enclosing object.
    pub fn response(&mut self, fields: Fields<'_>, outer: &[&str]) -> Result<(), ToolCallError> {
        let result = RESULTS.iter().find_map(|name| fields.get(name));
        let failed = is_flagged(fields.object) || fields.text_if_any("status") == Some("error");
        let error = fields.get("error").map(said);
        let error = error.or_else(|| failed.then(|| result.map_or_else(|| "an error".to_owned(), said)));
        let answer = match (error, result) {
            (None, Some(result)) => output(result),
            (error, result) => Answer { result: result.filter(|_| error.is_none()).cloned(), error },
        };
        let ids = [&fields.ids(&IDS)[..], outer].concat();
        self.answer_any(&ids, name(fields), answer, fields.path)
    }

    /// Reads a result in genai's format.
    pub fn tool_response(&mut self, answer: &Value, path: &str) -> Result<(), ToolCallError> {
        match answer.as_object() {
            Some(object) => self.response(Fields { object, path }, &[]),
            None => Err(refused(path, "is not an object; expected a tool result")),
        }
    }
}

fn name(fields: Fields<'_>) -> Option<&str> {
    vendors::NAMES.iter().find_map(|name| fields.text_if_any(name))
}

/// Converts a result; Vercel's results have a type.
fn output(result: &Value) -> Answer {
    let value = || result.get("value").cloned();
    match result.get("type").and_then(Value::as_str) {
        Some("error-text" | "error-json") => Answer { result: None, error: value().as_ref().map(said) },
        Some("execution-denied") => Answer { result: None, error: Some(denied(result.get("reason"))) },
        Some("text" | "json" | "content") if result.get("value").is_some() => {
            Answer { result: value(), error: None }
        }
        _ => Answer { result: Some(result.clone()), error: None },
    }
}

fn denied(reason: Option<&Value>) -> String {
    match reason.and_then(Value::as_str) {
        Some(reason) => format!("denied: {reason}"),
        None => "denied".to_owned(),
    }
}

const WRAPPED_CALLS: [&str; 12] = [
    "functionCall",
    "function_call",
    "toolUse",
    "tool_use",
    "toolCall",
    "tool_call",
    "serverToolCall",
    "server_tool_call",
    "toolRequest",
    "tool_request",
    "ToolCall",
    "toolInvocation",
];
const ANSWERS: [&str; 9] = [
    "functionResponse",
    "function_response",
    "toolResult",
    "tool_result",
    "toolResponse",
    "tool_response",
    "serverToolResponse",
    "server_tool_response",
    "ToolResponse",
];
/// Code that the vendor runs, read as a call of `code_execution`.
const CODE: [&str; 2] = ["executableCode", "executable_code"];
const CODE_RESULTS: [&str; 2] = ["codeExecutionResult", "code_execution_result"];
const CODE_EXECUTION: &str = "code_execution";
/// A vendor's own item in genai.
const CUSTOM: &str = "Custom";
const WRAPPED_IDS: [&str; 6] = ["id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "ref"];
/// Fields that name a vendor's own tool if there is no other name.
const TYPES: [&str; 2] = ["toolType", "tool_type"];

impl Reader {
    /// Reads entries wrapped in a field with a known name. Returns `false` if there is none.
    pub fn wrapped(&mut self, fields: Fields<'_>) -> Result<bool, ToolCallError> {
        let mut found = false;
        for (name, value) in fields.object {
            let Value::Object(object) = value else { continue };
            let path = fields.at(name);
            let inner = Fields { object, path: &path };
            match &**name {
                name if WRAPPED_CALLS.contains(&name) => self.wrapped_call(inner, fields)?,
                name if ANSWERS.contains(&name) => self.wrapped_answer(inner, fields)?,
                name if CODE.contains(&name) => {
                    let call = ToolCall { name: CODE_EXECUTION.to_owned(), ..ToolCall::default() };
                    self.add(call.with_arguments(Some(value)), &inner.ids(&WRAPPED_IDS));
                }
                name if CODE_RESULTS.contains(&name) => self.code_result(inner)?,
                CUSTOM => match inner.get("data") {
                    Some(data) => self.block(data, &inner.at("data"))?,
                    None => continue,
                },
                _ => continue,
            }
            found = true;
        }
        Ok(found)
    }

    fn wrapped_call(&mut self, call: Fields<'_>, around: Fields<'_>) -> Result<(), ToolCallError> {
        let name = match call.one_of(&vendors::NAMES)? {
            Some((key, _)) => call.text(key)?,
            None => {
                let nameless = || refused(call.path, &format!("has no name; {EXPECTED}"));
                TYPES.iter().find_map(|key| call.text_if_any(key)).ok_or_else(nameless)?
            }
        };
        let ids = [call.ids(&WRAPPED_IDS), around.ids(&["id"])].concat();
        self.add(vendors::call(name, call)?, &ids);
        Ok(())
    }

    /// Reads a wrapped result. Gemini marks failures only by an `error` in the function's response.
    fn wrapped_answer(&mut self, answer: Fields<'_>, around: Fields<'_>) -> Result<(), ToolCallError> {
        let outer = around.ids(&["id"]);
        let error = answer.get("response").and_then(|response| response.get("error"));
        match error.filter(|error| !error.is_null()) {
            Some(error) => {
                let failed = Answer { result: None, error: Some(said(error)) };
                let ids = [answer.ids(&WRAPPED_IDS), outer].concat();
                self.answer_any(&ids, answer.text_if_any("name"), failed, answer.path)
            }
            None => self.response(answer, &outer),
        }
    }

    fn code_result(&mut self, result: Fields<'_>) -> Result<(), ToolCallError> {
        let output = result.get("output").cloned();
        let outcome = result.text_if_any("outcome").filter(|outcome| *outcome != "OUTCOME_OK");
        let error = outcome.map(|outcome| output.as_ref().map_or_else(|| outcome.to_owned(), said));
        let answer = Answer { result: output.filter(|_| error.is_none()), error };
        self.answer_any(&result.ids(&WRAPPED_IDS), Some(CODE_EXECUTION), answer, result.path)
    }
}
