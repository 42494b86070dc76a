//! Calls and answers that are known by their `type`: those of rig, of OpenTelemetry's conventions, and of Vercel's AI SDK.

use serde_json::Value;

use super::fields::Fields;
use super::{Answer, Reader, is_flagged, plain, refused, said};
use crate::evaluators::calls::call::{ToolCall, ToolCallError};

/// What an answer refers to: `call` is rig's, `ref` Genkit's, `toolUseId` Bedrock's.
const IDS: [&str; 7] = ["id", "call", "call_id", "tool_call_id", "toolCallId", "toolUseId", "ref"];
const RESULTS: [&str; 4] = ["output", "result", "response", "content"];

impl Reader {
    /// `false` where the type is of none of them.
    pub(super) fn tagged(&mut self, fields: Fields<'_>) -> Result<bool, ToolCallError> {
        match fields.kind() {
            // rig has the vendor's own items in it, as it got them.
            "opaque" => match fields.get("item") {
                Some(item) => self.block(item, &fields.at("item"))?,
                None => return Ok(false),
            },
            "tool_call" | "tool-call" | "toolcall"
                if plain::NAMES.iter().any(|name| fields.get(name).is_some()) =>
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

    /// A part of a message of Vercel's UI: a call with what came of it so far.
    fn ui_tool(&mut self, fields: Fields<'_>, name: &str) -> Result<(), ToolCallError> {
        if name.is_empty() {
            return Err(fields.refused("type", "names no tool; expected it behind `tool-`"));
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

    /// What came of a call; `outer` are identities from around it.
    pub(super) fn response(&mut self, fields: Fields<'_>, outer: &[&str]) -> Result<(), ToolCallError> {
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

    /// An answer that genai wrote.
    pub(super) fn tool_response(&mut self, answer: &Value, path: &str) -> Result<(), ToolCallError> {
        match answer.as_object() {
            Some(object) => self.response(Fields { object, path }, &[]),
            None => Err(refused(path, "is no object; expected what came of a call")),
        }
    }
}

fn name(fields: Fields<'_>) -> Option<&str> {
    plain::NAMES.iter().find_map(|name| fields.text_if_any(name))
}

/// A result; Vercel's says of which type it is.
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
