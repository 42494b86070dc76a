//! What a recording says about a call of a tool.

use serde_json::Value;

/// What to do with a call of a tool.
#[derive(Debug)]
#[cfg_attr(not(feature = "record"), expect(dead_code, reason = "without recordings, nothing is decided"))]
pub enum ToolDecision {
    /// Answer it with the recorded result, or the text of the recorded error.
    Replay(Result<Value, String>),
    /// Call the tool.
    Call,
    /// Refuse it, with the reason.
    Refuse(String),
}
