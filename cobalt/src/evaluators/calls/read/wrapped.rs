//! Calls and answers that are known by the field that they stand in: those of Gemini, adk, genai, Bedrock and Genkit, and of
//! Vercel's older UI messages.

use serde_json::Value;

use super::fields::Fields;
use super::{Answer, EXPECTED, Reader, plain, refused, said};
use crate::evaluators::calls::call::{ToolCall, ToolCallError};

const CALLS: [&str; 12] = [
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
/// Code that a vendor runs: a call of a tool of this name.
const CODE: [&str; 2] = ["executableCode", "executable_code"];
const CODE_RESULTS: [&str; 2] = ["codeExecutionResult", "code_execution_result"];
const CODE_EXECUTION: &str = "code_execution";
/// A vendor's item as genai got it.
const CUSTOM: &str = "Custom";
const IDS: [&str; 6] = ["id", "call_id", "tool_call_id", "toolCallId", "toolUseId", "ref"];
/// Names of a vendor's own tool, where it has no other.
const TYPES: [&str; 2] = ["toolType", "tool_type"];

impl Reader {
    /// `false` where there is no such field.
    pub(super) fn wrapped(&mut self, fields: Fields<'_>) -> Result<bool, ToolCallError> {
        let mut found = false;
        for (name, value) in fields.object {
            let Value::Object(object) = value else { continue };
            let path = fields.at(name);
            let inner = Fields { object, path: &path };
            match &**name {
                name if CALLS.contains(&name) => self.wrapped_call(inner, fields)?,
                name if ANSWERS.contains(&name) => self.wrapped_answer(inner, fields)?,
                name if CODE.contains(&name) => {
                    let call = ToolCall { name: CODE_EXECUTION.to_owned(), ..ToolCall::default() };
                    self.add(call.with_arguments(Some(value)), &inner.ids(&IDS));
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
        let name = match call.one_of(&plain::NAMES)? {
            Some((key, _)) => call.text(key)?,
            None => {
                let nameless = || refused(call.path, &format!("has no name; {EXPECTED}"));
                TYPES.iter().find_map(|key| call.text_if_any(key)).ok_or_else(nameless)?
            }
        };
        let ids = [call.ids(&IDS), around.ids(&["id"])].concat();
        self.add(plain::call(name, call)?, &ids);
        Ok(())
    }

    /// Gemini has no sign of failure but an `error` in what the function gave.
    fn wrapped_answer(&mut self, answer: Fields<'_>, around: Fields<'_>) -> Result<(), ToolCallError> {
        let outer = around.ids(&["id"]);
        let error = answer.get("response").and_then(|response| response.get("error"));
        match error.filter(|error| !error.is_null()) {
            Some(error) => {
                let failed = Answer { result: None, error: Some(said(error)) };
                let ids = [answer.ids(&IDS), outer].concat();
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
        self.answer_any(&result.ids(&IDS), Some(CODE_EXECUTION), answer, result.path)
    }
}
