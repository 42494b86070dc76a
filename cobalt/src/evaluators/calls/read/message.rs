//! Reads messages with calls and results, recognised by their `type` or field name.

use serde_json::{Map, Value};

use super::non_calls::{self, may_hold_call};
use super::reader::{CallResult, EXPECTED, Entry, Reader, error_at, error_text, is_flagged};
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
    pub fn message(&mut self, fields: Entry<'_>) -> Result<(), ToolCallError> {
        // Gemini's messages may have no role.
        let role =
            if fields.get("role").is_some() { fields.text("role")?.to_lowercase() } else { String::new() };
        let is_tool = ["tool", "function"].contains(&&*role);
        if !is_tool && is_call(fields) {
            return Err(unknown_object_error(fields));
        }
        let first = self.calls.len();
        for name in LISTS {
            self.message_calls = first..self.calls.len();
            self.read_list(fields.optional_list(name)?.unwrap_or_default(), &fields.path_of(name))?;
        }
        for name in CALLS {
            self.message_calls = first..self.calls.len();
            if let Some(call) = fields.get(name) {
                self.message_call(call, &fields.path_of(name))?;
            }
        }
        if let Some((name, value)) =
            fields.object.iter().find(|(name, value)| is_unread_call_field(name, value))
        {
            return Err(unknown_format_error(&fields.path_of(name), value));
        }
        self.message_calls = first..self.calls.len();
        let answered = self.answered.clone();
        if !is_tool || fields.ids(&["tool_call_id"]).is_empty() {
            BLOCKS.iter().try_for_each(|name| match fields.get(name) {
                Some(content) => self.content(content, &fields.path_of(name)),
                None => Ok(()),
            })?;
        }
        self.message_calls = 0..0;
        if is_tool && self.answered == answered { self.tool_message(fields, &role) } else { Ok(()) }
    }

    /// Reads the call in a message field: `{"name": …, "arguments": …}`, or Gemini's `{"name": …, "args": …}`.
    fn message_call(&mut self, call: &Value, path: &str) -> Result<(), ToolCallError> {
        match call.as_object() {
            Some(object) if object.contains_key("args") => self.read_plain(Entry { object, path }),
            _ => self.function(call, path, &[]),
        }
    }

    fn content(&mut self, content: &Value, path: &str) -> Result<(), ToolCallError> {
        match content {
            Value::Array(blocks) => self.blocks(blocks, path),
            Value::Object(object) => {
                let fields = Entry { object, path };
                let list = |name| Some((name, fields.get(name)?.as_array()?));
                let found = ["parts"].into_iter().chain(GENAI).find_map(list);
                if let Some((name, _)) = found {
                    check_other_fields(name, fields)?;
                }
                match found {
                    Some(("ToolResponses", answers)) => {
                        answers.iter().enumerate().try_for_each(|(index, answer)| {
                            self.tool_response(answer, &format!("{path}.ToolResponses[{index}]"))
                        })
                    }
                    Some(("ToolCalls", calls)) => self.read_list(calls, &fields.path_of("ToolCalls")),
                    Some((name, blocks)) => self.blocks(blocks, &fields.path_of(name)),
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
            return if may_hold_call(block) { Err(unknown_format_error(path, block)) } else { Ok(()) };
        };
        let fields = Entry { object, path };
        if self.read_known(fields)? || non_calls::is_known_block(fields) {
            Ok(())
        } else if fields.kind().is_empty() && vendors::is_call(object) {
            self.read_plain(fields)
        } else {
            Err(unknown_format_error(path, block))
        }
    }
}

/// The message inside an entry: an object in `content` with `parts`.
pub fn inner_message<'v>(fields: Entry<'v>) -> Option<&'v Map<String, Value>> {
    fields.optional_object("content").filter(|content| content.contains_key("parts"))
}

/// Fails if something other than the field that is read may be a call.
pub fn check_other_fields(read: &str, fields: Entry<'_>) -> Result<(), ToolCallError> {
    if is_call(fields) {
        return Err(unknown_object_error(fields));
    }
    let is_list = |name: &str| LISTS.iter().chain(&CALLS).any(|list| *list == name);
    let is_void = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    let may_hold_calls = |(name, value): &(&String, &Value)| {
        *name != read
            && !non_calls::is_about_message(name)
            && (is_list(name) && !is_void(value) || non_calls::may_hold_call_under(name, value))
    };
    match fields.object.iter().find(may_hold_calls) {
        Some((name, value)) => Err(unknown_format_error(&fields.path_of(name), value)),
        None => Ok(()),
    }
}

/// Whether an object is a call, by its type or its fields.
fn is_call(fields: Entry<'_>) -> bool {
    let kind = fields.kind();
    vendors::is_call(fields.object)
        || vendors::is_tool_use(kind)
        || vendors::is_item(kind)
        || non_calls::suggests_call(kind) && !vendors::is_result_type(kind)
}

/// Whether a message field may contain calls, but is not one of those that are read.
fn is_unread_call_field(name: &str, value: &Value) -> bool {
    let is_read = LISTS.iter().chain(&CALLS).chain(&BLOCKS).any(|read| *read == name);
    !is_read && !non_calls::is_about_message(name) && non_calls::may_hold_call_under(name, value)
}

fn unknown_object_error(fields: Entry<'_>) -> ToolCallError {
    unknown_format_error(fields.path, &Value::Object(fields.object.clone()))
}

fn unknown_format_error(path: &str, piece: &Value) -> ToolCallError {
    let piece = non_calls::outline(piece);
    error_at(path, &format!("may be a tool call in an unknown format, `{piece}`; {EXPECTED}"))
}

/// Names of call IDs in results: `call` is rig's, `ref` Genkit's, `toolUseId` Bedrock's.
const IDS: [&str; 7] = ["id", "call", "call_id", "tool_call_id", "toolCallId", "toolUseId", "ref"];
const RESULTS: [&str; 4] = ["output", "result", "response", "content"];

impl Reader {
    /// Reads an entry with a known `type`. Returns `false` for an unknown one.
    pub fn read_tagged(&mut self, fields: Entry<'_>) -> Result<bool, ToolCallError> {
        match fields.kind() {
            // rig wraps the vendor's own items unchanged.
            "opaque" => match fields.get("item") {
                Some(item) => self.block(item, &fields.path_of("item"))?,
                None => return Ok(false),
            },
            "tool_call" | "tool-call" | "toolcall"
                if vendors::NAMES.iter().any(|name| fields.get(name).is_some()) =>
            {
                self.read_plain(fields)?;
            }
            "server_tool_call" => {
                let call = ToolCall { name: fields.text("name")?.to_owned(), ..ToolCall::default() };
                let arguments = fields.get("server_tool_call").or_else(|| fields.get("arguments"));
                self.add(call.with_arguments(arguments), &fields.ids(&IDS));
            }
            "server_tool_call_response" => {
                let result = fields.get("server_tool_call_response").or_else(|| fields.get("response"));
                let answer = CallResult { result: result.cloned(), error: None };
                self.add_result_by(&fields.ids(&IDS), name(fields), answer, fields.path)?;
            }
            "toolresult" | "tool_call_response" | "tool-result" | "tool-error" => {
                self.read_response(fields, &[])?
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
    fn ui_tool(&mut self, fields: Entry<'_>, name: &str) -> Result<(), ToolCallError> {
        if name.is_empty() {
            return Err(fields.error_at("type", "names no tool; expected `tool-<name>`"));
        }
        let call = ToolCall { name: name.to_owned(), ..ToolCall::default() };
        let mut call = call.with_input(fields.get("input").or_else(|| fields.get("rawInput")));
        call.result = fields.get("output").cloned();
        call.error = fields.get("errorText").map(error_text);
        if fields.optional_text("state") == Some("output-denied") {
            let reason = fields.get("approval").and_then(|approval| approval.get("reason"));
            call.error = Some(denied_error(reason));
        }
        self.add(call, &[fields.text("toolCallId")?]);
        Ok(())
    }

    /// Reads the result of a call; `outer` are IDs of the enclosing object.
    pub fn read_response(&mut self, fields: Entry<'_>, outer: &[&str]) -> Result<(), ToolCallError> {
        let result = RESULTS.iter().find_map(|name| fields.get(name));
        let failed = is_flagged(fields.object) || fields.optional_text("status") == Some("error");
        let error = fields.get("error").map(error_text);
        let error =
            error.or_else(|| failed.then(|| result.map_or_else(|| "an error".to_owned(), error_text)));
        let answer = match (error, result) {
            (None, Some(result)) => output(result),
            (error, result) => CallResult { result: result.filter(|_| error.is_none()).cloned(), error },
        };
        let ids = [&fields.ids(&IDS)[..], outer].concat();
        self.add_result_by(&ids, name(fields), answer, fields.path)
    }

    /// Reads a result in genai's format.
    pub fn tool_response(&mut self, answer: &Value, path: &str) -> Result<(), ToolCallError> {
        match answer.as_object() {
            Some(object) => self.read_response(Entry { object, path }, &[]),
            None => Err(error_at(path, "is not an object; expected a tool result")),
        }
    }
}

fn name(fields: Entry<'_>) -> Option<&str> {
    vendors::NAMES.iter().find_map(|name| fields.optional_text(name))
}

/// Converts a result; Vercel's results have a type.
fn output(result: &Value) -> CallResult {
    let value = || result.get("value").cloned();
    match result.get("type").and_then(Value::as_str) {
        Some("error-text" | "error-json") => {
            CallResult { result: None, error: value().as_ref().map(error_text) }
        }
        Some("execution-denied") => {
            CallResult { result: None, error: Some(denied_error(result.get("reason"))) }
        }
        Some("text" | "json" | "content") if result.get("value").is_some() => {
            CallResult { result: value(), error: None }
        }
        _ => CallResult { result: Some(result.clone()), error: None },
    }
}

fn denied_error(reason: Option<&Value>) -> String {
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
    pub fn read_wrapped(&mut self, fields: Entry<'_>) -> Result<bool, ToolCallError> {
        let mut found = false;
        for (name, value) in fields.object {
            let Value::Object(object) = value else { continue };
            let path = fields.path_of(name);
            let inner = Entry { object, path: &path };
            match &**name {
                name if WRAPPED_CALLS.contains(&name) => self.wrapped_call(inner, fields)?,
                name if ANSWERS.contains(&name) => self.wrapped_answer(inner, fields)?,
                name if CODE.contains(&name) => {
                    let call = ToolCall { name: CODE_EXECUTION.to_owned(), ..ToolCall::default() };
                    self.add(call.with_arguments(Some(value)), &inner.ids(&WRAPPED_IDS));
                }
                name if CODE_RESULTS.contains(&name) => self.code_result(inner)?,
                CUSTOM => match inner.get("data") {
                    Some(data) => self.block(data, &inner.path_of("data"))?,
                    None => continue,
                },
                _ => continue,
            }
            found = true;
        }
        Ok(found)
    }

    fn wrapped_call(&mut self, call: Entry<'_>, around: Entry<'_>) -> Result<(), ToolCallError> {
        let name = match call.one_of(&vendors::NAMES)? {
            Some((key, _)) => call.text(key)?,
            None => {
                let nameless = || error_at(call.path, &format!("has no name; {EXPECTED}"));
                TYPES.iter().find_map(|key| call.optional_text(key)).ok_or_else(nameless)?
            }
        };
        let ids = [call.ids(&WRAPPED_IDS), around.ids(&["id"])].concat();
        self.add(vendors::build_call(name, call)?, &ids);
        Ok(())
    }

    /// Reads a wrapped result. Gemini marks failures only by an `error` in the function's response.
    fn wrapped_answer(&mut self, answer: Entry<'_>, around: Entry<'_>) -> Result<(), ToolCallError> {
        let outer = around.ids(&["id"]);
        let error = answer.get("response").and_then(|response| response.get("error"));
        match error.filter(|error| !error.is_null()) {
            Some(error) => {
                let failed = CallResult { result: None, error: Some(error_text(error)) };
                let ids = [answer.ids(&WRAPPED_IDS), outer].concat();
                self.add_result_by(&ids, answer.optional_text("name"), failed, answer.path)
            }
            None => self.read_response(answer, &outer),
        }
    }

    fn code_result(&mut self, result: Entry<'_>) -> Result<(), ToolCallError> {
        let output = result.get("output").cloned();
        let outcome = result.optional_text("outcome").filter(|outcome| *outcome != "OUTCOME_OK");
        let error = outcome.map(|outcome| output.as_ref().map_or_else(|| outcome.to_owned(), error_text));
        let answer = CallResult { result: output.filter(|_| error.is_none()), error };
        self.add_result_by(&result.ids(&WRAPPED_IDS), Some(CODE_EXECUTION), answer, result.path)
    }
}
