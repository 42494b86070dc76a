//! What the traces of a conversation have: each call once, from any source.

use cobalt::report::Execution;
use cobalt::trace::{SpanTokens, Trace};
use cobalt::{Report, trace};
use serde_json::{Value, json};

use crate::matrix::{Agent, DIRECT, ITEMS, RECORD, REPLAY, Scene};
use crate::reply::{TOOL_TURNS, TURNS, tokens};

/// What spans contain of a conversation, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpanDetail {
    Nothing,
    /// The model calls with their tokens.
    Models,
    /// The names of tools, too.
    Tools,
    /// Their arguments and results, too.
    Contents,
}

pub fn span_tokens(item: usize, turn: usize) -> SpanTokens {
    let [input, output, cached_input] = tokens(item, turn);
    SpanTokens { input, output, cached_input, reasoning: 0 }
}

/// The tokens of all model calls.
fn spent(trace: &Trace) -> Vec<SpanTokens> {
    trace.model_calls().map(|(_, model)| model.tokens.unwrap_or_default()).collect()
}

/// What an output reports after the calls of these turns.
fn reported(item: usize, turns: usize) -> Value {
    let sum = |part: usize| (0..turns).map(|turn| tokens(item, turn)[part]).sum::<u64>();
    let mut reported = json!({ "input": sum(0), "output": sum(1) });
    if sum(2) > 0 {
        reported["cachedInput"] = json!(sum(2));
    }
    reported
}

/// The name, the arguments and the result of each tool call.
pub fn tools(trace: &Trace) -> Vec<(String, Option<Value>, Option<Value>)> {
    let call = |tool: &trace::ToolSpan| (tool.name.clone(), tool.arguments.clone(), tool.result.clone());
    trace.tool_calls().map(|(_, tool)| call(tool)).collect()
}

/// Asserts that a conversation about an item is in its trace, in this detail.
pub fn assert_conversation(execution: &Execution, item: usize, detail: SpanDetail) {
    let trace = &execution.trace;
    let models = if detail >= SpanDetail::Models { 0..TURNS } else { 0..0 };
    let expected: Vec<_> = models.map(|turn| span_tokens(item, turn)).collect();
    assert_eq!(spent(trace), expected, "item {item}: {trace:#?}");
    let contents = (detail == SpanDetail::Contents).then(|| (json!({ "item": item }), json!("1"))).unzip();
    let expected = if detail >= SpanDetail::Tools { TOOL_TURNS } else { 0 };
    assert_eq!(
        tools(trace),
        vec![("count".to_owned(), contents.0, contents.1); expected],
        "item {item}: {trace:#?}"
    );
    assert_eq!(trace.failed().count(), 0);
    assert!(
        detail == SpanDetail::Nothing || execution.metadata()["tokens"] == reported(item, TURNS),
        "{execution:?}"
    );
}

/// Asserts that nothing is there twice, and the order of calls if it is known.
fn assert_conversations(report: &Report, detail: SpanDetail) {
    assert_eq!(report.items.len(), ITEMS);
    for (number, item) in report.items.iter().enumerate() {
        let execution = &item.runs[0];
        assert_conversation(execution, number, detail);
        assert_eq!(execution.trace.reports_tool_calls(), detail >= SpanDetail::Tools);
        if detail >= SpanDetail::Tools {
            let path = ["count"; TOOL_TURNS];
            assert!(execution.trace.has_path(&path) && !execution.trace.has_path(&["count"; TOOL_TURNS + 1]));
        }
    }
}

/// With spans alone, with the gateway that sees the same calls, and in replay.
pub async fn trace<A: Agent>(agent: A) {
    trace::install();
    let scene = Scene::new();
    assert_conversations(&scene.converse(DIRECT, agent).await, A::SPANS);
    let recorded = scene.converse(RECORD, agent).await;
    assert_conversations(&recorded, SpanDetail::Contents);
    let replayed = scene.converse(REPLAY, agent).await;
    assert_conversations(&replayed, SpanDetail::Contents);
    for (report, is_replay) in [(recorded, false), (replayed, true)] {
        let calls = || report.items.iter().flat_map(|item| item.runs[0].trace.model_calls());
        assert!(calls().all(|(_, model)| model.replayed == is_replay && model.retries == 0));
    }
}

/// The same of a streamed answer, whose first token comes after a pause, and before its last.
pub async fn stream_trace<A: Agent>(agent: A) {
    trace::install();
    let scene = Scene::new();
    for (setup, has_spans) in [(DIRECT, A::SPANS >= SpanDetail::Models), (RECORD, true), (REPLAY, true)] {
        for (number, item) in scene.stream(setup, agent).await.items.iter().enumerate() {
            let trace = &item.runs[0].trace;
            let expected = if has_spans { vec![span_tokens(number, 0)] } else { Vec::new() };
            assert_eq!(spent(trace), expected, "{trace:#?}");
            assert!(tools(trace).is_empty());
            let first = trace.time_to_first_token_ms();
            assert!(first.is_some() || setup.mode.is_none(), "the gateway has seen it: {trace:#?}");
            if let Some(first) = first {
                let (span, model) = trace.model_calls().next().unwrap();
                let took = model.recorded_latency_ms.unwrap_or(span.duration_ms);
                assert!(first >= 2.0 && first < took, "first token after {first} ms of {took} ms");
            }
        }
    }
}
