#![doc = include_str!("../../docs/traces.md")]

mod collector;
#[cfg(not(feature = "tracing"))]
mod disabled;
mod execution;
#[cfg(feature = "otlp")]
mod exported;
#[cfg(feature = "tracing")]
mod fields;
#[cfg(feature = "tracing")]
mod layer;

#[doc(inline)]
pub use cobalt_core::trace::{ModelSpan, Span, SpanKind, SpanStatus, SpanTokens, ToolSpan, Trace};
pub(crate) use collector::{Place, SpanCollector};
#[cfg(not(feature = "tracing"))]
pub(crate) use disabled::{ExecutionSpan, current_place, outside_of_traces, take_note};
pub(crate) use execution::ExecutionTrace;
#[cfg(feature = "otlp")]
pub(crate) use exported::{enable_exports, export_note, receive_exports, traceparent, wait_for_exports};
#[cfg(all(test, feature = "tracing"))]
pub(crate) use layer::test_support::with_layer;
#[cfg(feature = "tracing")]
pub(crate) use layer::{ExecutionSpan, current_place, outside_of_traces, take_note};
#[cfg(feature = "tracing")]
pub use layer::{install, layer};
