//! Reads traces without the contents of their spans, which takes a fraction of the time and memory.

use serde::Deserialize;

use super::span::{ModelSpan, Span, SpanKind, SpanStatus, SpanTokens, ToolSpan};
use super::spans::Trace;

/// A trace without errors, attributes, messages, arguments and results. Counts, usage, names and times are those of the whole.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct TraceWithoutContents(Vec<SpanWithoutContents>);

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SpanWithoutContents {
    id: String,
    parent: Option<String>,
    name: String,
    kind: SpanKind,
    start_ms: f64,
    duration_ms: f64,
    status: SpanStatus,
    model: Option<Box<ModelWithoutContents>>,
    tool: Option<Box<ToolWithoutContents>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ModelWithoutContents {
    vendor: Option<String>,
    asked: Option<String>,
    answered: Option<String>,
    tokens: Option<SpanTokens>,
    cost: Option<f64>,
    time_to_first_token_ms: Option<f64>,
    finish_reason: Option<String>,
    retries: u32,
    replayed: bool,
    recorded_latency_ms: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ToolWithoutContents {
    name: String,
}

impl From<TraceWithoutContents> for Trace {
    fn from(trace: TraceWithoutContents) -> Self {
        trace.0.into_iter().map(Span::from).collect()
    }
}

impl From<SpanWithoutContents> for Span {
    fn from(span: SpanWithoutContents) -> Self {
        let SpanWithoutContents { id, parent, name, kind, start_ms, duration_ms, status, model, tool } = span;
        let model = model.map(|model| Box::new(ModelSpan::from(*model)));
        let tool = tool.map(|tool| Box::new(ToolSpan { name: tool.name, ..ToolSpan::default() }));
        Self { id, parent, name, kind, start_ms, duration_ms, status, model, tool, ..Self::default() }
    }
}

impl From<ModelWithoutContents> for ModelSpan {
    fn from(model: ModelWithoutContents) -> Self {
        Self {
            provider: model.vendor,
            asked: model.asked,
            answered: model.answered,
            tokens: model.tokens,
            cost: model.cost,
            time_to_first_token_ms: model.time_to_first_token_ms,
            finish_reason: model.finish_reason,
            retries: model.retries,
            replayed: model.replayed,
            recorded_latency_ms: model.recorded_latency_ms,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_contents_are_left_out() {
        let mut spans = json!([
            { "id": "1", "name": "research", "kind": "agent", "startMs": 0.5, "durationMs": 9.0, "status": "ok" },
            { "id": "2", "parent": "1", "name": "chat", "kind": "model", "startMs": 1.0, "durationMs": 2.0, "status": "open",
              "model": { "vendor": "openai", "asked": "a", "answered": "b", "tokens": { "input": 3, "output": 4, "cachedInput": 1, "reasoning": 1 },
                "cost": 0.5, "timeToFirstTokenMs": 1.5, "finishReason": "stop", "retries": 2, "replayed": true, "recordedLatencyMs": 7.0 } },
            { "id": "3", "parent": "1", "name": "t", "kind": "tool", "startMs": 2.0, "durationMs": 3.0, "status": "error",
              "tool": { "name": "search" } },
        ]);
        let bare: Trace = serde_json::from_value(spans.clone()).unwrap();
        spans[0]["attributes"] = json!({ "k": [1] });
        spans[1]["model"]["responseId"] = json!("r");
        spans[1]["model"]["input"] = json!("user: a");
        spans[1]["model"]["output"] = json!("b");
        spans[2]["error"] = json!("no");
        for (field, value) in
            [("callId", json!("c")), ("arguments", json!({})), ("result", json!(1)), ("error", json!("no"))]
        {
            spans[2]["tool"][field] = value;
        }
        let read: TraceWithoutContents = serde_json::from_value(spans).unwrap();
        assert_eq!(Trace::from(read), bare);
    }
}
