//! The stubs for spans if the feature `tracing` is off.

use std::future::Future;
use std::sync::Arc;
use std::time::Instant;

use cobalt_core::trace::ReportedSpan;

/// Collects nothing, but knows when the execution started.
#[derive(Debug)]
pub struct SpanCollector {
    started: Instant,
}

impl SpanCollector {
    pub fn new() -> Self {
        Self { started: Instant::now() }
    }

    pub fn started(&self) -> Instant {
        self.started
    }

    pub fn take(&self) -> (Vec<ReportedSpan>, usize) {
        (Vec::new(), 0)
    }
}

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

/// Without spans, there is no note on them.
pub fn take_note() -> Option<String> {
    None
}
