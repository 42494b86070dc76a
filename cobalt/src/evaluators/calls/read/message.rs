//! Messages: which of their fields and blocks hold calls and answers, and which may do so in a shape that is not known.

use serde_json::Value;

use super::fields::Fields;
use super::{EXPECTED, NO_CALLS, Reader, anthropic, refused};
use crate::evaluators::calls::call::ToolCallError;

/// Where messages have their blocks. The second is that of other vendors, whose calls are not to be overlooked.
const BLOCKS: [&str; 2] = ["content", "parts"];

impl Reader {
    /// Reads the calls and answers of a message. What else its content holds is for people.
    pub(super) fn message(&mut self, fields: Fields<'_>) -> Result<(), ToolCallError> {
        let role = fields.text("role")?;
        if let Some(calls) = fields.list("tool_calls")? {
            self.list(calls, &fields.at("tool_calls"))?;
        }
        if let Some(call) = fields.get("function_call") {
            self.function(call, &fields.at("function_call"), None)?;
        }
        if let Some((name, _)) = fields.object.iter().find(|(name, value)| is_unread(name, value)) {
            return Err(overlooked(&fields.at(name)));
        }
        if ["tool", "function"].contains(&role) {
            return self.tool_message(fields, role);
        }
        BLOCKS.iter().try_for_each(|name| match fields.get(name) {
            Some(Value::Array(blocks)) => self.blocks(blocks, &fields.at(name)),
            _ => Ok(()),
        })
    }

    fn blocks(&mut self, blocks: &[Value], path: &str) -> Result<(), ToolCallError> {
        for (index, block) in blocks.iter().enumerate() {
            let Some(object) = block.as_object() else { continue };
            let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
            let path = format!("{path}[{index}]");
            if anthropic::is_use(kind) || anthropic::is_result(kind) {
                self.object(Fields { object, path: &path })?;
            } else if !NO_CALLS.contains(&kind)
                && (is_of_a_call(kind) || object.keys().any(|key| is_of_a_call(key)))
            {
                return Err(overlooked(&path));
            }
        }
        Ok(())
    }
}

/// Whether a field of a message may hold calls and is none of those that are read.
fn is_unread(name: &str, value: &Value) -> bool {
    let holds_some = match value {
        Value::Array(values) => !values.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        _ => false,
    };
    holds_some && !["tool_calls", "function_call"].contains(&name) && is_of_a_call(name)
}

/// Whether a name is made for calls of tools, as `toolInvocations`, `tool-call`, `toolUse` or `functionCall`.
fn is_of_a_call(name: &str) -> bool {
    let name = name.to_lowercase();
    let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
    has(&["tool", "function"]) && has(&["call", "use", "invocation"])
}

fn overlooked(path: &str) -> ToolCallError {
    refused(path, &format!("may be a call in a shape that is not known; {EXPECTED}"))
}
