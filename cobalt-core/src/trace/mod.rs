//! Traces: what an agent did in one execution, as spans of model calls, tool calls and steps.

mod assemble;
mod limits;
mod outline;
mod own_tools;
mod reported;
mod span;
mod spans;
mod without_contents;

pub use assemble::{GatewayCall, TraceSources};
pub use limits::{ContentLimits, MAX_SPANS};
pub use outline::{OutlineOptions, dropped_spans_note};
pub use reported::{ReadSpan, ReportedSpan};
pub use span::{FAULT_ATTRIBUTE, ModelSpan, Span, SpanKind, SpanStatus, SpanTokens, ToolSpan};
pub use spans::Trace;
pub(crate) use without_contents::TraceWithoutContents;
