//! The stubs for spans if the feature `tracing` is off.

use std::future::Future;
use std::sync::Arc;

use super::collector::SpanCollector;

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

/// Runs a future whose spans belong to no execution.
pub fn outside_of_traces<F: Future>(future: F) -> impl Future<Output = F::Output> {
    future
}
