//! Reads calls in vendors' formats: Anthropic's blocks, OpenAI's messages and items, and plain objects.

use cobalt_core::wording;
use serde_json::{Map, Value};

use super::reader::{CallResult, EXPECTED, Entry, Reader, error_at, error_text, is_flagged, type_name};
use crate::evaluators::calls::call::{ToolCall, ToolCallError};

/// Whether a block is a call: of a user's, a built-in or an MCP tool.
pub fn is_tool_use(kind: &str) -> bool {
    ["tool_use", "server_tool_use", "mcp_tool_use"].contains(&kind)
}

/// Whether a block is a result. Those of built-in tools start with the tool's name, such as `web_search_tool_result`.
pub fn is_tool_result(kind: &str) -> bool {
    kind == "tool_result" || kind.ends_with("_tool_result")
}

impl Reader {
    pub fn tool_use(&mut self, fields: Entry<'_>) -> Result<(), ToolCallError> {
        let call = ToolCall { name: fields.text("name")?.to_owned(), ..ToolCall::default() };
        self.add(call.with_arguments(fields.get("input")), &fields.ids(&["id"]));
        Ok(())
    }

    pub fn tool_result(&mut self, fields: Entry<'_>) -> Result<(), ToolCallError> {
        let content = fields.get("content");
        let code = content.and_then(|content| content.get("error_code"));
        let error = match (is_flagged(fields.object), code) {
            (true, _) => Some(content.map_or_else(|| "an error".to_owned(), error_text)),
            (false, code) => code.map(error_text),
        };
        let result: Option<Value> = content.filter(|_| error.is_none()).cloned();
        self.add_result(fields.text("tool_use_id")?, CallResult { result, error }, fields.path)
    }
}

/// Response items that are calls and name their tool.
const NAMED_ITEMS: [&str; 3] = ["function_call", "custom_tool_call", "mcp_call"];

/// Response items that are calls of built-in tools: the type names the tool.
const HOSTED_ITEMS: [&str; 9] = [
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "computer_call",
    "image_generation_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "tool_search_call",
];

/// Fields with the arguments of a built-in tool that has no `action`.
const HOSTED_ARGUMENTS: [&str; 4] = ["queries", "code", "operation", "revised_prompt"];

pub fn is_item(kind: &str) -> bool {
    NAMED_ITEMS.contains(&kind) || HOSTED_ITEMS.contains(&kind)
}

pub fn is_item_output(kind: &str) -> bool {
    kind.strip_suffix("_output").is_some_and(is_item)
}

impl Reader {
    /// Reads an element of `tool_calls`: its `function`, or its `custom` tool, whose input is text.
    pub fn tool_call(&mut self, fields: Entry<'_>) -> Result<(), ToolCallError> {
        let ids = fields.ids(&["id", "call_id"]);
        match (fields.get("function"), fields.get("custom")) {
            (Some(function), _) => self.function(function, &fields.path_of("function"), &ids),
            (None, Some(Value::Object(custom))) => {
                let path = fields.path_of("custom");
                let custom = Entry { object: custom, path: &path };
                let call = ToolCall { name: custom.text("name")?.to_owned(), ..ToolCall::default() };
                self.add(call.with_input(custom.get("input")), &ids);
                Ok(())
            }
            _ => Err(fields.error_at("function", "is missing; expected `{\"name\": …, \"arguments\": …}`")),
        }
    }

    pub fn function(&mut self, function: &Value, path: &str, ids: &[&str]) -> Result<(), ToolCallError> {
        let Value::Object(object) = function else {
            let expected = "expected `{\"name\": …, \"arguments\": …}`";
            return Err(error_at(path, &format!("is {}; {expected}", type_name(function))));
        };
        let function = Entry { object, path };
        let call = ToolCall { name: function.text("name")?.to_owned(), ..ToolCall::default() };
        // If rig could not parse the model's arguments, they are here, next to an empty object.
        let arguments = function.get("invalid_arguments").or_else(|| function.get("arguments"));
        self.add(call.with_arguments(arguments), ids);
        Ok(())
    }

    /// Reads a message with a tool's result, assigned by the call's ID or, in the legacy format, by the function's name.
    pub fn tool_message(&mut self, fields: Entry<'_>, role: &str) -> Result<(), ToolCallError> {
        let content = fields.get("content").cloned();
        // The API does not mark failures; LangChain adds a status to such messages.
        let failed = is_flagged(fields.object) || fields.optional_text("status") == Some("error");
        let error = failed.then(|| content.as_ref().map_or_else(|| "an error".to_owned(), error_text));
        let answer = CallResult { result: content.filter(|_| !failed), error };
        if role == "function" {
            return self.add_result_by(&[], Some(fields.text("name")?), answer, fields.path);
        }
        // Ollama's messages have no IDs.
        let name = ["tool_name", "name"].iter().find_map(|name| fields.optional_text(name));
        match (&fields.ids(&["tool_call_id"])[..], name) {
            ([], None) => self.add_result(fields.text("tool_call_id")?, answer, fields.path),
            (ids, name) => self.add_result_by(ids, name, answer, fields.path),
        }
    }

    /// Reads a response item that is a call.
    pub fn item(&mut self, fields: Entry<'_>) -> Result<(), ToolCallError> {
        let kind = fields.text("type")?;
        let name =
            if NAMED_ITEMS.contains(&kind) { fields.text("name")? } else { kind.trim_end_matches("_call") };
        let call = ToolCall { name: name.to_owned(), ..ToolCall::default() };
        let mut call = match fields.get("arguments") {
            Some(arguments) => call.with_arguments(Some(arguments)),
            None => {
                let input = fields.get("input").or_else(|| fields.get("action")).cloned();
                call.with_input(input.or_else(|| hosted_arguments(fields)).as_ref())
            }
        };
        call.result = fields.get("output").cloned();
        call.error = item_error(fields);
        let ids = fields.ids(&["call_id", "id"]);
        self.add(call, &ids[..ids.len().min(1)]);
        Ok(())
    }

    /// Reads a response item with the result of another.
    pub fn item_output(&mut self, fields: Entry<'_>) -> Result<(), ToolCallError> {
        let answer = CallResult { result: fields.get("output").cloned(), error: item_error(fields) };
        self.add_result(fields.text("call_id")?, answer, fields.path)
    }
}

fn hosted_arguments(fields: Entry<'_>) -> Option<Value> {
    let asked =
        HOSTED_ARGUMENTS.iter().filter_map(|name| Some(((*name).to_owned(), fields.get(name)?.clone())));
    let asked: Map<_, _> = asked.collect();
    (!asked.is_empty()).then_some(Value::Object(asked))
}

/// The error of an item. Other states, such as `in_progress` and `completed`, are not errors.
fn item_error(fields: Entry<'_>) -> Option<String> {
    let status = fields.optional_text("status").filter(|status| ["failed", "incomplete"].contains(status));
    fields.get("error").map(error_text).or_else(|| status.map(|status| format!("its status is `{status}`")))
}

/// Fields with the tool's name; the last is genai's.
pub const NAMES: [&str; 5] = ["name", "tool", "tool_name", "toolName", "fn_name"];
/// Fields with arguments; text must be JSON.
const ARGUMENTS: [&str; 4] = ["arguments", "args", "parameters", "fn_arguments"];
/// Fields with arguments; any text is allowed.
const INPUTS: [&str; 4] = ["input", "tool_input", "toolInput", "input_parameters"];
/// Fields with the call's ID.
const IDS: [&str; 4] = ["id", "call_id", "tool_call_id", "toolCallId"];
const RESULTS: [&str; 2] = ["result", "output"];
const NESTED: [&str; 2] = ["calls", "children"];
const OTHER_FIELDS: [&str; 9] =
    ["type", "id", "call_id", "tool_call_id", "toolCallId", "error", "success", "is_error", "isError"];

/// Whether an entry of this type is a result, even if it names the tool.
pub fn is_result_type(kind: &str) -> bool {
    ["result", "output", "error"].iter().any(|end| kind.ends_with(end))
}

impl Reader {
    pub fn read_plain(&mut self, fields: Entry<'_>) -> Result<(), ToolCallError> {
        let name = match fields.one_of(&NAMES)? {
            Some((key, _)) => fields.text(key)?,
            None => return Err(not_a_call_error(fields)),
        };
        if self.strict {
            check_fields(fields)?;
        }
        let parent = self.add(build_call(name, fields)?, &fields.ids(&IDS));
        match fields.one_of(&NESTED)? {
            Some((key, _)) => {
                self.read_nested(parent, fields.optional_list(key)?.unwrap_or_default(), &fields.path_of(key))
            }
            None => Ok(()),
        }
    }

    /// Reads nested calls.
    fn read_nested(&mut self, parent: usize, calls: &[Value], path: &str) -> Result<(), ToolCallError> {
        let first = self.calls.len();
        for (index, call) in calls.iter().enumerate() {
            let direct = self.calls.len();
            self.read_entry(call, &format!("{path}[{index}]"))?;
            for call in self.calls[direct..].iter_mut().filter(|call| call.parent.is_none()) {
                call.parent = Some(parent);
            }
        }
        self.calls[first..].iter_mut().for_each(|call| call.depth += 1);
        Ok(())
    }
}

/// Builds a call from an object's fields.
pub fn build_call(name: &str, fields: Entry<'_>) -> Result<ToolCall, ToolCallError> {
    let call = ToolCall { name: name.to_owned(), ..ToolCall::default() };
    let given = fields.one_of(&[&ARGUMENTS[..], &INPUTS[..]].concat())?;
    let mut call = match given {
        Some((key, value)) if INPUTS.contains(&key) => call.with_input(Some(value)),
        given => call.with_arguments(given.map(|(_, value)| value)),
    };
    call.result = fields.one_of(&RESULTS)?.map(|(_, value)| value.clone());
    call.error = plain_error(fields, call.result.as_ref())?;
    Ok(call)
}

/// Whether an object has a tool's name and arguments, even if these are `null`.
pub fn is_call(object: &Map<String, Value>) -> bool {
    let has_name = NAMES.iter().any(|name| object.get(*name).is_some_and(Value::is_string));
    has_name && ARGUMENTS.iter().chain(&INPUTS).any(|name| object.contains_key(*name))
}

/// The error for an entry that is not a call: an unknown type, or no name.
pub fn not_a_call_error(fields: Entry<'_>) -> ToolCallError {
    let keys = fields.object.keys().map(String::as_str);
    let has = if fields.object.is_empty() { "none".to_owned() } else { wording::join_quoted(keys) };
    match fields.optional_text("type") {
        Some(kind) => error_at(fields.path, &format!("has the unknown type `{kind}`; {EXPECTED}")),
        None => error_at(fields.path, &format!("has no name; {EXPECTED}; its fields: {has}")),
    }
}

/// The error of a plain call: `error`, or a flag. An `error` that is `false` or blank is ignored.
fn plain_error(fields: Entry<'_>, result: Option<&Value>) -> Result<Option<String>, ToolCallError> {
    let flagged = is_flagged(fields.object) || result.and_then(Value::as_object).is_some_and(is_flagged);
    let failed = match fields.get("success") {
        None | Some(Value::Bool(true)) => flagged,
        Some(Value::Bool(false)) => true,
        Some(other) => {
            return Err(
                fields.error_at("success", &format!("is {}; expected true or false", type_name(other)))
            );
        }
    };
    Ok(match fields.get("error") {
        Some(Value::Bool(true)) => Some("an error".to_owned()),
        Some(Value::String(text)) if text.trim().is_empty() => None,
        None | Some(Value::Bool(false)) => None,
        Some(error) => Some(error_text(error)),
    }
    .or_else(|| failed.then(|| result.map_or_else(|| "an error".to_owned(), error_text))))
}

/// Fails if a field is unknown.
fn check_fields(fields: Entry<'_>) -> Result<(), ToolCallError> {
    let known =
        || NAMES.iter().chain(&ARGUMENTS).chain(&INPUTS).chain(&RESULTS).chain(&NESTED).chain(&OTHER_FIELDS);
    match fields.object.keys().find(|key| known().all(|name| name != key)) {
        None => Ok(()),
        Some(key) => {
            let meant = wording::closest(key, known().copied());
            let hint = meant.map_or_else(
                || "expected `name`, and optionally `arguments` and `calls`".to_owned(),
                |meant| format!("did you mean `{meant}`?"),
            );
            Err(fields.error_at(key, &format!("is not a field of a call; {hint}")))
        }
    }
}
