//! The spans of an agent, with OpenTelemetry's attributes for generative AI and OpenInference's for tools that read these.
//!
//! Sources: <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/>,
//! <https://arize-ai.github.io/openinference/spec/semantic_conventions.html>.

use std::collections::HashSet;

use cobalt_core::trace::{ModelSpan, Span, SpanKind, SpanStatus, ToolSpan, Trace};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind as OtlpKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{Span as OtlpSpan, Status};
use serde_json::Value;

use super::attributes::Attributes;
use super::ids::TraceIds;

/// The value of `error.type` if no class of errors is known.
pub const OTHER_ERROR: &str = "_OTHER";

/// The spans of an execution that started at `start`, in nanoseconds since 1970, below its root span.
pub fn trace_spans<'a>(
    trace: &'a Trace,
    ids: &'a TraceIds,
    start: u64,
) -> impl Iterator<Item = OtlpSpan> + 'a {
    let known: HashSet<&str> = trace.spans().iter().map(|span| &*span.id).collect();
    // Model spans that contain others may report their sum.
    let calls: HashSet<&str> = trace.model_calls().map(|(span, _)| &*span.id).collect();
    trace.spans().iter().map(move |span| {
        let parent = span.parent.as_deref().filter(|parent| known.contains(parent));
        OtlpSpan {
            trace_id: ids.trace.clone(),
            span_id: ids.span(&span.id),
            parent_span_id: parent.map_or_else(|| ids.root.clone(), |parent| ids.span(parent)),
            name: span.name.clone(),
            kind: if span.kind == SpanKind::Model { OtlpKind::Client } else { OtlpKind::Internal }.into(),
            start_time_unix_nano: after(start, span.start_ms),
            end_time_unix_nano: after(start, span.end_ms().max(span.start_ms)),
            attributes: attributes(span, calls.contains(&*span.id)).into_vec(),
            status: span.failed().then(|| error_status(span.error.as_deref())),
            ..OtlpSpan::default()
        }
    })
}

/// A time, some milliseconds after another one in nanoseconds.
pub fn after(start: u64, ms: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
    let nanos = (ms * 1e6).round() as u64;
    start.saturating_add(nanos)
}

/// The status of a failed span.
pub fn error_status(error: Option<&str>) -> Status {
    Status { code: StatusCode::Error.into(), message: error.unwrap_or_default().to_owned() }
}

/// `is_call`: it is a model call that contains no other.
fn attributes(span: &Span, is_call: bool) -> Attributes {
    let mut attributes = Attributes::default();
    span.attributes.iter().for_each(|(name, value)| attributes.set(name, value));
    let (operation, kind) = match span.kind {
        SpanKind::Model if is_call => (Some("chat"), "LLM"),
        SpanKind::Tool => (Some("execute_tool"), "TOOL"),
        SpanKind::Agent => (Some("invoke_agent"), "AGENT"),
        SpanKind::Retrieval => (Some("retrieval"), "RETRIEVER"),
        SpanKind::Model | SpanKind::Other => (None, "CHAIN"),
    };
    let name = "gen_ai.operation.name";
    if span.kind == SpanKind::Model || !span.attributes.contains_key(name) {
        attributes.set(name, operation);
    }
    attributes.set("openinference.span.kind", kind);
    attributes.set("error.type", span.failed().then_some(OTHER_ERROR));
    attributes.set("cobalt.unfinished", (span.status == SpanStatus::Open).then_some(true));
    if let Some(model) = &span.model {
        set_model(&mut attributes, model, is_call);
    }
    if let Some(tool) = &span.tool {
        set_tool(&mut attributes, tool);
    }
    attributes
}

fn set_model(attributes: &mut Attributes, model: &ModelSpan, is_call: bool) {
    let ModelSpan { provider, asked, answered, finish_reason, response_id, input, output, .. } = model;
    attributes.set("gen_ai.provider.name", provider.as_deref());
    attributes.set("gen_ai.request.model", asked.as_deref());
    attributes.set("gen_ai.response.model", answered.as_deref());
    attributes.set("gen_ai.response.id", response_id.as_deref());
    attributes.set("gen_ai.response.finish_reasons", finish_reason.as_ref().map(std::slice::from_ref));
    for (name, content) in [("input", input), ("output", output)] {
        content.iter().for_each(|text| attributes.set_content(name, &Value::from(text.as_str())));
    }
    if is_call {
        if let Some(tokens) = model.tokens {
            attributes.set("gen_ai.usage.input_tokens", tokens.input);
            attributes.set("gen_ai.usage.output_tokens", tokens.output);
            let known = |tokens: u64| Some(tokens).filter(|tokens| *tokens > 0);
            attributes.set("gen_ai.usage.cache_read.input_tokens", known(tokens.cached_input));
            attributes.set("gen_ai.usage.reasoning.output_tokens", known(tokens.reasoning));
        }
        attributes.set("gen_ai.usage.cost", model.cost);
    }
    attributes.set("gen_ai.response.time_to_first_chunk", model.time_to_first_token_ms.map(|ms| ms / 1e3));
    attributes
        .set("http.request.resend_count", Some(u64::from(model.retries)).filter(|retries| *retries > 0));
    attributes.set("cobalt.replayed", model.replayed.then_some(true));
    attributes.set("cobalt.recorded_latency_ms", model.recorded_latency_ms);
}

fn set_tool(attributes: &mut Attributes, tool: &ToolSpan) {
    let ToolSpan { name, call_id, arguments, result, error } = tool;
    attributes.set("gen_ai.tool.name", name.as_str());
    attributes.set("gen_ai.tool.call.id", call_id.as_deref());
    for (name, input_or_output, content) in
        [("gen_ai.tool.call.arguments", "input", arguments), ("gen_ai.tool.call.result", "output", result)]
    {
        if let Some(content) = content {
            attributes.set(name, content.as_str().map_or_else(|| content.to_string(), str::to_owned));
            attributes.set_content(input_or_output, content);
        }
    }
    attributes.set("error.type", error.is_some().then_some(OTHER_ERROR));
}
