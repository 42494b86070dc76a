//! The shape of Anthropic's API: blocks of content that use tools, and blocks with their results.

use serde_json::Value;

use super::fields::Fields;
use super::{Answer, Reader, is_flagged, said};
use crate::evaluators::calls::call::{ToolCall, ToolCallError};

/// Blocks that call a tool of the program, of the vendor, or of an MCP server.
pub(super) fn is_use(kind: &str) -> bool {
    ["tool_use", "server_tool_use", "mcp_tool_use"].contains(&kind)
}

/// Blocks with a result: those of the vendor's own tools have the tool's name before it, as `web_search_tool_result`.
pub(super) fn is_result(kind: &str) -> bool {
    kind == "tool_result" || kind.ends_with("_tool_result")
}

impl Reader {
    pub(super) fn tool_use(&mut self, fields: Fields<'_>) -> Result<(), ToolCallError> {
        let call = ToolCall { name: fields.text("name")?.to_owned(), ..ToolCall::default() };
        self.add(call.with_arguments(fields.get("input")), &fields.ids(&["id"]));
        Ok(())
    }

    pub(super) fn tool_result(&mut self, fields: Fields<'_>) -> Result<(), ToolCallError> {
        let content = fields.get("content");
        let code = content.and_then(|content| content.get("error_code"));
        let error = match (is_flagged(fields.object), code) {
            (true, _) => Some(content.map_or_else(|| "an error".to_owned(), said)),
            (false, code) => code.map(said),
        };
        let result: Option<Value> = content.filter(|_| error.is_none()).cloned();
        self.answer(fields.text("tool_use_id")?, Answer { result, error }, fields.path)
    }
}
