//! The arguments of a call: JSON, or text that should be JSON.

use serde_json::Value;

use crate::evaluators::calls::call::ToolCall;
use crate::metrics::tree_of;

impl ToolCall {
    /// Takes arguments that are JSON, or the text of JSON, as models write them. A blank text is none. One that is no JSON is
    /// kept with the reason.
    pub(super) fn with_arguments(mut self, arguments: Option<&Value>) -> Self {
        match arguments {
            Some(Value::String(text)) if text.trim().is_empty() => {}
            Some(Value::String(text)) => match serde_json::from_str(text) {
                Ok(read) => self.arguments = Some(read),
                Err(error) => {
                    self.arguments = Some(Value::String(text.clone()));
                    self.arguments_error = Some(format!("the arguments are no JSON: {error}"));
                }
            },
            other => self.arguments = other.cloned(),
        }
        self
    }

    /// Takes an input that may be any text, for tools that are given no object. Text that is an object or a list is read.
    pub(super) fn with_input(mut self, input: Option<&Value>) -> Self {
        let read = input.and_then(Value::as_str).and_then(tree_of);
        self.arguments = read.or_else(|| input.cloned());
        self
    }
}
