//! A wrapped tool.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;
use serde_json::Value;

use super::calls::{Call, ExecutionTools};
use super::error::ToolError;
use super::function::{ToolFn, ToolFunction};
use super::injection::{Injection, failure, replacement};
use crate::recording::{ExecutionTraffic, ToolDecision};

/// A tool of an agent, wrapped by [`Context::tool`](crate::Context::tool): its calls are spans of the trace, and faults are injected
/// into them. See [`tools`](crate::tools).
///
/// Cheap to clone.
#[derive(Clone)]
pub struct Tool<'a> {
    name: Arc<str>,
    real: Arc<ToolFn<'a>>,
    tools: Arc<ExecutionTools>,
    is_live: bool,
}

impl<'a> Tool<'a> {
    pub(crate) fn new<M>(name: String, real: impl ToolFunction<'a, M>, tools: Arc<ExecutionTools>) -> Self {
        Self { name: name.into(), real: Arc::from(real.into_shared().0), tools, is_live: false }
    }

    /// Always calls the tool, also while recordings are replayed, and records nothing of it: for tools without effects and without a
    /// network, such as a calculator.
    #[must_use]
    pub fn live(self) -> Self {
        Self { is_live: true, ..self }
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
        let mut call = self.tools.begin(&self.name, &arguments);
        let outcome = self.answer(&mut call, arguments).await;
        call.end(outcome)
    }

    /// Calls the tool with the fault of the call.
    async fn answer(&self, call: &mut Call<'_>, arguments: Value) -> Result<Value, ToolError> {
        if let Some(failure) = call.injection().and_then(|injection| failure(injection, &self.name)) {
            call.inject();
            return Err(failure);
        }
        if let Some(stale) = call.stale_result() {
            call.inject();
            return Ok(stale);
        }
        if let Some(Injection::Slow(wait)) = call.injection() {
            call.inject();
            call.wait(*wait).await;
        }
        let result = self.real_result(call, &arguments).await?;
        call.keep(&result);
        match call.injection().and_then(|injection| replacement(injection, &result)) {
            Some(replaced) => {
                if let Some(traffic) = self.traffic() {
                    traffic.hide_tool_result(&self.name, &arguments);
                }
                call.inject();
                Ok(replaced)
            }
            None => Ok(result),
        }
    }

    /// The recordings of the trial, unless the tool is always called.
    fn traffic(&self) -> Option<&ExecutionTraffic> {
        self.tools.traffic().filter(|_| !self.is_live)
    }

    /// What the tool returns, or returned when it was recorded.
    async fn real_result(&self, call: &Call<'_>, arguments: &Value) -> Result<Value, ToolError> {
        let Some(traffic) = self.traffic() else {
            return (self.real)(arguments.clone()).await.map_err(ToolError::Failed);
        };
        let outcome = match traffic.decide_tool(&self.name, arguments) {
            ToolDecision::Replay(outcome) => outcome,
            ToolDecision::Refuse(problem) => return Err(ToolError::NotRecorded(problem)),
            ToolDecision::Call => {
                let started = Instant::now();
                let outcome = (self.real)(arguments.clone()).await;
                let id = (&*self.name, call.number());
                traffic.keep_tool_result(id, arguments, &outcome, started.elapsed());
                outcome
            }
        };
        outcome.map_err(ToolError::Failed)
    }
}

impl fmt::Debug for Tool<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).finish_non_exhaustive()
    }
}
