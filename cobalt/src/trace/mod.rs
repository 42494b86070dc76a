#![doc = include_str!("../../docs/traces.md")]

mod collector;
#[cfg(not(feature = "tracing"))]
mod disabled;
mod execution;
#[cfg(feature = "tracing")]
mod fields;
#[cfg(feature = "tracing")]
mod layer;

#[doc(inline)]
pub use cobalt_core::trace::{ModelSpan, Span, SpanKind, SpanStatus, SpanTokens, ToolSpan, Trace};
pub(crate) use collector::SpanCollector;
#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::{ExecutionSpan, outside_of_traces};
pub(crate) use execution::ExecutionTrace;
#[cfg(feature = "tracing")]
pub(crate) use layer::{ExecutionSpan, outside_of_traces, take_note};
#[cfg(feature = "tracing")]
pub use layer::{install, layer};

/// What to tell about spans that could not be attributed.
#[cfg(not(feature = "tracing"))]
pub(crate) fn take_note() -> Option<String> {
    None
}
