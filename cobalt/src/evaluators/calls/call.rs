//! `ToolCall`: a tool call, independent of the format in which it was reported.

use serde_json::{Map, Value};

/// A tool call by an agent.
///
/// [`calls`](crate::calls) describes the supported formats.
///
/// ```
/// use cobalt::ToolCall;
/// use serde_json::json;
///
/// let calls = ToolCall::read(&json!([
///     { "role": "assistant", "tool_calls": [
///         { "id": "1", "type": "function", "function": { "name": "weather", "arguments": "{\"city\": \"York\"}" } },
///     ] },
///     { "role": "tool", "tool_call_id": "1", "content": "light rain" },
/// ]))?;
/// assert_eq!(calls[0].name, "weather");
/// assert_eq!(calls[0].arguments, Some(json!({ "city": "York" })));
/// assert_eq!(calls[0].result, Some(json!("light rain")));
/// # Ok::<(), cobalt::ToolCallError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ToolCall {
    /// The tool's name.
    pub name: String,
    /// The arguments, usually an object; `None` if not reported.
    pub arguments: Option<Value>,
    /// The parse error, if the arguments are text that is not JSON; `arguments` is then this text.
    pub arguments_error: Option<String>,
    /// The tool's result, if reported.
    pub result: Option<Value>,
    /// The error, if the call failed.
    pub error: Option<String>,
    /// The nesting depth: 0 for calls by the agent itself.
    pub depth: usize,
    /// The index of the parent call among all calls that were read.
    pub parent: Option<usize>,
}

/// Constructors, for agents that [record](crate::Context::record) calls.
///
/// ```
/// use cobalt::ToolCall;
/// use serde_json::json;
///
/// let call = ToolCall::new("weather").arguments(json!({ "city": "York" })).result("light rain");
/// assert!(call.succeeded());
/// assert!(!ToolCall::new("weather").error("no such city").succeeded());
/// ```
impl ToolCall {
    /// Creates a call of a tool, without further information.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Sets the arguments, usually an object. Text stays text.
    #[must_use]
    pub fn arguments(mut self, arguments: impl Into<Value>) -> Self {
        self.arguments = Some(arguments.into());
        self
    }

    /// Sets the tool's result.
    #[must_use]
    pub fn result(mut self, result: impl Into<Value>) -> Self {
        self.result = Some(result.into());
        self
    }

    /// Sets the error of a failed call.
    #[must_use]
    pub fn error(mut self, error: impl Into<String>) -> Self {
        self.error = Some(error.into());
        self
    }

    /// Converts the call to the plain format, which reads back unchanged.
    pub(crate) fn into_value(self) -> Value {
        let mut fields = Map::from_iter([("tool".to_owned(), Value::from(self.name))]);
        if let Some(arguments) = self.arguments {
            // Text under `arguments` would have to be JSON.
            let is_text = arguments.is_string() && self.arguments_error.is_none();
            fields.insert(if is_text { "input" } else { "arguments" }.to_owned(), arguments);
        }
        let result = self.result.map(|result| ("result".to_owned(), result));
        fields.extend(result.into_iter().chain(self.error.map(|error| ("error".to_owned(), error.into()))));
        fields.into()
    }
}

impl ToolCall {
    /// Whether the call has no error, and its arguments could be read.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.error.is_none() && self.arguments_error.is_none()
    }
}

/// Why calls cannot be read: the path, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolCallError(pub(super) String);
