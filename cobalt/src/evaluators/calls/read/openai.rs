//! The shapes of OpenAI's APIs: messages of chat completions, and items of responses.

use serde_json::{Map, Value};

use super::fields::{Fields, kind_of};
use super::{Answer, Reader, is_flagged, refused, said};
use crate::evaluators::calls::call::{ToolCall, ToolCallError};

/// Items of a response that are calls and name their tool.
const NAMED: [&str; 3] = ["function_call", "custom_tool_call", "mcp_call"];

/// Items that are calls of the vendor's own tools: the type names the tool.
const HOSTED: [&str; 9] = [
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

/// Fields in which an item of a vendor's tool says what was asked of it, where it has no `action`.
const ASKED: [&str; 4] = ["queries", "code", "operation", "revised_prompt"];

pub(super) fn is_item(kind: &str) -> bool {
    NAMED.contains(&kind) || HOSTED.contains(&kind)
}

pub(super) fn is_item_output(kind: &str) -> bool {
    kind.strip_suffix("_output").is_some_and(is_item)
}

impl Reader {
    /// An element of `tool_calls`: its `function`, or its `custom` tool, which is given text.
    pub(super) fn tool_call(&mut self, fields: Fields<'_>) -> Result<(), ToolCallError> {
        let ids = fields.ids(&["id", "call_id"]);
        match (fields.get("function"), fields.get("custom")) {
            (Some(function), _) => self.function(function, &fields.at("function"), &ids),
            (None, Some(Value::Object(custom))) => {
                let path = fields.at("custom");
                let custom = Fields { object: custom, path: &path };
                let call = ToolCall { name: custom.text("name")?.to_owned(), ..ToolCall::default() };
                self.add(call.with_input(custom.get("input")), &ids);
                Ok(())
            }
            _ => Err(fields.refused("function", "is missing; expected `{\"name\": …, \"arguments\": …}`")),
        }
    }

    pub(super) fn function(
        &mut self,
        function: &Value,
        path: &str,
        ids: &[&str],
    ) -> Result<(), ToolCallError> {
        let Value::Object(object) = function else {
            let expected = "expected `{\"name\": …, \"arguments\": …}`";
            return Err(refused(path, &format!("is {}; {expected}", kind_of(function))));
        };
        let function = Fields { object, path };
        let call = ToolCall { name: function.text("name")?.to_owned(), ..ToolCall::default() };
        // Where rig could not read what the model sent, it has this beside an object without it.
        let arguments = function.get("invalid_arguments").or_else(|| function.get("arguments"));
        self.add(call.with_arguments(arguments), ids);
        Ok(())
    }

    /// A message in which a tool answers: by the call's identity, or, in the older form, by the function's name.
    pub(super) fn tool_message(&mut self, fields: Fields<'_>, role: &str) -> Result<(), ToolCallError> {
        let content = fields.get("content").cloned();
        // The API has no sign of failure; LangChain adds a status to such messages.
        let failed = is_flagged(fields.object) || fields.text_if_any("status") == Some("error");
        let error = failed.then(|| content.as_ref().map_or_else(|| "an error".to_owned(), said));
        let answer = Answer { result: content.filter(|_| !failed), error };
        if role == "function" {
            return self.answer_any(&[], Some(fields.text("name")?), answer, fields.path);
        }
        // Ollama's messages have no identities.
        let name = ["tool_name", "name"].iter().find_map(|name| fields.text_if_any(name));
        match (&fields.ids(&["tool_call_id"])[..], name) {
            ([], None) => self.answer(fields.text("tool_call_id")?, answer, fields.path),
            (ids, name) => self.answer_any(ids, name, answer, fields.path),
        }
    }

    /// An item of a response that is a call.
    pub(super) fn item(&mut self, fields: Fields<'_>) -> Result<(), ToolCallError> {
        let kind = fields.text("type")?;
        let name = if NAMED.contains(&kind) { fields.text("name")? } else { kind.trim_end_matches("_call") };
        let call = ToolCall { name: name.to_owned(), ..ToolCall::default() };
        let mut call = match fields.get("arguments") {
            Some(arguments) => call.with_arguments(Some(arguments)),
            None => {
                let input = fields.get("input").or_else(|| fields.get("action")).cloned();
                call.with_input(input.or_else(|| asked(fields)).as_ref())
            }
        };
        call.result = fields.get("output").cloned();
        call.error = item_error(fields);
        let ids = fields.ids(&["call_id", "id"]);
        self.add(call, &ids[..ids.len().min(1)]);
        Ok(())
    }

    /// An item that answers another.
    pub(super) fn item_output(&mut self, fields: Fields<'_>) -> Result<(), ToolCallError> {
        let answer = Answer { result: fields.get("output").cloned(), error: item_error(fields) };
        self.answer(fields.text("call_id")?, answer, fields.path)
    }
}

fn asked(fields: Fields<'_>) -> Option<Value> {
    let asked = ASKED.iter().filter_map(|name| Some(((*name).to_owned(), fields.get(name)?.clone())));
    let asked: Map<_, _> = asked.collect();
    (!asked.is_empty()).then_some(Value::Object(asked))
}

/// What went wrong with an item: `in_progress`, `completed` and the like say nothing of it.
fn item_error(fields: Fields<'_>) -> Option<String> {
    let status = fields.text_if_any("status").filter(|status| ["failed", "incomplete"].contains(status));
    fields.get("error").map(said).or_else(|| status.map(|status| format!("its status is `{status}`")))
}
