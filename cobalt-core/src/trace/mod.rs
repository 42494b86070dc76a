//! Traces: what an agent did in one execution, as spans of model calls, tool calls and steps.

mod span;
mod spans;

pub use span::{ModelSpan, Span, SpanKind, SpanStatus, SpanTokens, ToolSpan};
pub use spans::Trace;
