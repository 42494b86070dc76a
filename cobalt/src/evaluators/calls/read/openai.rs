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
        let id = fields.text_if_any("id");
        match (fields.get("function"), fields.get("custom")) {
            (Some(function), _) => self.function(function, &fields.at("function"), id),
            (None, Some(Value::Object(custom))) => {
                let path = fields.at("custom");
                let custom = Fields { object: custom, path: &path };
                let call = ToolCall { name: custom.text("name")?.to_owned(), ..ToolCall::default() };
                self.add(call.with_input(custom.get("input")), id);
                Ok(())
            }
            _ => Err(fields.refused("function", "is missing; expected `{\"name\": …, \"arguments\": …}`")),
        }
    }

    pub(super) fn function(
        &mut self,
        function: &Value,
        path: &str,
        id: Option<&str>,
    ) -> Result<(), ToolCallError> {
        let Value::Object(object) = function else {
            let expected = "expected `{\"name\": …, \"arguments\": …}`";
            return Err(refused(path, &format!("is {}; {expected}", kind_of(function))));
        };
        let function = Fields { object, path };
        let call = ToolCall { name: function.text("name")?.to_owned(), ..ToolCall::default() };
        self.add(call.with_arguments(function.get("arguments")), id);
        Ok(())
    }

    /// A message in which a tool answers: by the call's identity, or, in the older form, by the function's name.
    pub(super) fn tool_message(&mut self, fields: Fields<'_>, role: &str) -> Result<(), ToolCallError> {
        let content = fields.get("content").cloned();
        // The API has no sign of failure; LangChain adds a status to such messages.
        let failed = is_flagged(fields.object) || fields.text_if_any("status") == Some("error");
        let error = failed.then(|| content.as_ref().map_or_else(|| "an error".to_owned(), said));
        let answer = Answer { result: content.filter(|_| !failed), error };
        if role == "tool" {
            return self.answer(fields.text("tool_call_id")?, answer, fields.path);
        }
        let name = fields.text("name")?;
        let index =
            (0..self.calls.len()).find(|index| self.calls[*index].name == name && !self.answered[*index]);
        let index = index.ok_or_else(|| {
            refused(fields.path, &format!("answers a call of `{name}`, which does not stand before it"))
        })?;
        self.give(index, answer);
        Ok(())
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
        self.add(call, fields.text_if_any("call_id").or_else(|| fields.text_if_any("id")));
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
