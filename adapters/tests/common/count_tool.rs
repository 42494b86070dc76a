//! The tool that the scripted model calls.

use rig::tool::{PortableTool, ToolExecutionError};
use serde_json::{Value, json};

/// Answers with what the function makes of the arguments. The macro `rig_tool` would take the older rig among the dev-dependencies for this one.
#[derive(Clone)]
pub struct Count<F>(pub F);

impl<F: Fn(Value) -> String + Send + Sync> PortableTool for Count<F> {
    const NAME: &'static str = "count";
    type Args = Value;
    type Output = String;
    type Error = ToolExecutionError;

    fn description(&self) -> String {
        "Counts".to_owned()
    }

    fn parameters(&self) -> Value {
        parameters()
    }

    async fn call(&self, arguments: Value) -> Result<String, ToolExecutionError> {
        Ok(self.0(arguments))
    }
}

/// The schema of its arguments.
pub fn parameters() -> Value {
    json!({ "type": "object", "properties": { "item": { "type": "integer" } }, "required": ["item"] })
}
