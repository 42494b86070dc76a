//! A wrapped tool.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::calls::{Call, ExecutionTools};
use super::error::ToolError;
use super::function::{ToolFn, ToolFunction};
use super::injection::Injection;

/// A tool of an agent, wrapped by [`Context::tool`](crate::Context::tool): its calls are spans of the trace, and faults are injected
/// into them. See [`tools`](crate::tools).
///
/// Cheap to clone.
#[derive(Clone)]
pub struct Tool<'a> {
    name: Arc<str>,
    real: Arc<ToolFn<'a>>,
    tools: Arc<ExecutionTools>,
}

impl<'a> Tool<'a> {
    pub(crate) fn new<M>(name: String, real: impl ToolFunction<'a, M>, tools: Arc<ExecutionTools>) -> Self {
        Self { name: name.into(), real: Arc::from(real.into_shared().0), tools }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Calls the tool.
    ///
    /// # Errors
    ///
    /// The tool's own error, or that of an injected fault.
    pub async fn call(&self, arguments: impl Serialize) -> Result<Value, ToolError> {
        let arguments = serde_json::to_value(arguments).map_err(|error| {
            ToolError::Failed(format!("the arguments cannot be serialized to JSON: {error}"))
        })?;
        let call = self.tools.begin(&self.name, &arguments);
        let mut is_injected = false;
        let outcome = self.answer(&call, arguments, &mut is_injected).await;
        call.end(outcome, is_injected)
    }

    /// Calls the tool with the fault of the call.
    async fn answer(
        &self,
        call: &Call<'_>,
        arguments: Value,
        is_injected: &mut bool,
    ) -> Result<Value, ToolError> {
        let mut inject = || {
            *is_injected = true;
            call.inject();
        };
        if let Some(failure) = call.injection().and_then(|injection| injection.failure(&self.name)) {
            inject();
            return Err(failure);
        }
        if let Some(stale) = call.stale_result() {
            inject();
            return Ok(stale);
        }
        if let Some(Injection::Slow(wait)) = call.injection() {
            inject();
            tokio::time::sleep(*wait).await;
        }
        let result = (self.real)(arguments).await.map_err(ToolError::Failed)?;
        call.keep(&result);
        match call.injection().and_then(|injection| injection.replace(&result)) {
            Some(replaced) => {
                inject();
                Ok(replaced)
            }
            None => Ok(result),
        }
    }
}

impl fmt::Debug for Tool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}
