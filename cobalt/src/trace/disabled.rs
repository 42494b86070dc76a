//! The stubs for spans if the feature `tracing` is off.

use std::future::Future;
use std::sync::Arc;

use super::collector::{Place, SpanCollector};

/// No span.
#[derive(Clone, Debug)]
pub struct ExecutionSpan;

impl ExecutionSpan {
    pub fn new(_: &Arc<SpanCollector>) -> Self {
        Self
    }

    pub fn run<F: Future>(&self, future: F) -> impl Future<Output = F::Output> {
        future
    }

    pub fn run_plain<R>(&self, function: impl FnOnce() -> R) -> R {
        function()
    }
}

/// Spans without a current one are directly below the execution.
pub fn current_place(_: &Arc<SpanCollector>) -> Place {
    Place::Execution
}

/// Runs a future whose spans belong to no execution.
pub fn outside_of_traces<F: Future>(future: F) -> impl Future<Output = F::Output> {
    future
}

/// Without spans, there is no note on them.
pub fn take_note() -> Option<String> {
    None
}
