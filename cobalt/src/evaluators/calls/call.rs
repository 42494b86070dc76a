//! `ToolCall`: one call of a tool, whatever shape it was reported in.

use serde_json::{Map, Value};

/// A call of a tool that an agent made.
///
/// The shapes that are read are described in [`calls`](crate::calls).
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
    /// What it was called with, mostly an object; `None` where nothing is said of it.
    pub arguments: Option<Value>,
    /// Why the arguments cannot be read, where they are text that is no JSON. They are then kept as this text.
    pub arguments_error: Option<String>,
    /// What the tool gave, where it is said.
    pub result: Option<Value>,
    /// Why the call failed, where it did.
    pub error: Option<String>,
    /// How many calls it was made within: 0 for what the agent itself called.
    pub depth: usize,
    /// The place, among all calls that were read, of the one that it was made within.
    pub parent: Option<usize>,
}

/// How an agent that [records](crate::Context::record) a call makes one.
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
    /// A call of this tool, of which nothing else is known.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// What it was called with: an object in most cases; text is kept as text.
    #[must_use]
    pub fn arguments(mut self, arguments: impl Into<Value>) -> Self {
        self.arguments = Some(arguments.into());
        self
    }

    /// What the tool returned.
    #[must_use]
    pub fn result(mut self, result: impl Into<Value>) -> Self {
        self.result = Some(result.into());
        self
    }

    /// Why the call failed.
    #[must_use]
    pub fn error(mut self, error: impl Into<String>) -> Self {
        self.error = Some(error.into());
        self
    }

    /// The call in the plain shape, which is read back as it is.
    pub(crate) fn into_value(self) -> Value {
        let mut fields = Map::from_iter([("tool".to_owned(), Value::from(self.name))]);
        if let Some(arguments) = self.arguments {
            // As `arguments`, text would have to be JSON.
            let is_text = arguments.is_string() && self.arguments_error.is_none();
            fields.insert(if is_text { "input" } else { "arguments" }.to_owned(), arguments);
        }
        let result = self.result.map(|result| ("result".to_owned(), result));
        fields.extend(result.into_iter().chain(self.error.map(|error| ("error".to_owned(), error.into()))));
        fields.into()
    }
}

impl ToolCall {
    /// Whether nothing says that the call failed: it has no error, and its arguments could be read.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.error.is_none() && self.arguments_error.is_none()
    }
}

/// Why calls cannot be read: the place, and what was expected there.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ToolCallError(pub(super) String);
