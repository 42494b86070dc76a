//! Takes the tool calls from the trace.

use std::collections::HashMap;

use cobalt_core::trace::{Span, ToolSpan, Trace};

use super::call::ToolCall;

/// The tool calls of a trace, in the order in which they started; `None` if it does not show whether there were any.
pub fn read(trace: &Trace) -> Option<Vec<ToolCall>> {
    if !trace.reports_tool_calls() {
        return None;
    }
    let spans: HashMap<_, _> = trace.spans().iter().map(|span| (&*span.id, span)).collect();
    let indices: HashMap<_, _> =
        trace.tool_calls().enumerate().map(|(index, (span, _))| (&*span.id, index)).collect();
    let made = trace.tool_calls().map(|(span, tool)| {
        let parent = |span: &&Span| spans.get(span.parent.as_deref()?).copied();
        // A damaged file may have a cycle.
        let ancestors = std::iter::successors(parent(&span), parent).take(spans.len());
        let mut containing = ancestors.filter_map(|ancestor| indices.get(&*ancestor.id).copied());
        let parent = containing.next();
        let depth = containing.count() + usize::from(parent.is_some());
        ToolCall { depth, parent, ..to_call(span, tool) }
    });
    Some(made.collect())
}

/// Whether the trace has tool calls.
pub fn has_calls(trace: &Trace) -> bool {
    trace.tool_calls().next().is_some()
}

fn to_call(span: &Span, tool: &ToolSpan) -> ToolCall {
    let failed = || span.failed().then(|| span.error.clone().unwrap_or_else(|| "an error".to_owned()));
    let call = ToolCall {
        name: tool.name.clone(),
        result: tool.result.clone(),
        error: tool.error.clone().or_else(failed),
        ..ToolCall::default()
    };
    call.with_input(tool.arguments.as_ref())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn trace(spans: Value) -> Trace {
        serde_json::from_value(spans).unwrap()
    }

    #[test]
    fn a_tool_span_is_a_call_with_its_arguments_and_its_result() {
        let calls = read(&trace(json!([
            { "id": "a", "name": "execute_tool", "kind": "tool",
              "tool": { "name": "search", "arguments": "{\"query\": \"rust\"}", "result": ["The Book"] } },
            { "id": "b", "name": "execute_tool", "kind": "tool", "tool": { "name": "say", "arguments": "hello" } },
            { "id": "c", "kind": "tool", "status": "error", "error": "timed out", "tool": { "name": "fetch" } },
            { "id": "d", "kind": "tool", "status": "error", "tool": { "name": "fetch", "error": "404" } },
            { "id": "e", "kind": "tool", "status": "open", "tool": { "name": "wait" } },
        ])));
        let expected = [
            ToolCall::new("search").arguments(json!({ "query": "rust" })).result(json!(["The Book"])),
            ToolCall::new("say").arguments("hello"),
            ToolCall::new("fetch").error("timed out"),
            ToolCall::new("fetch").error("404"),
            ToolCall::new("wait"),
        ];
        assert_eq!(calls.unwrap(), expected);
    }

    #[test]
    fn a_call_within_a_call_is_nested_whatever_lies_between() {
        let calls = read(&trace(json!([
            { "id": "root", "kind": "agent" },
            { "id": "a", "parent": "root", "kind": "tool", "tool": { "name": "delegate" } },
            { "id": "b", "parent": "a", "kind": "agent" },
            { "id": "c", "parent": "b", "kind": "tool", "tool": { "name": "search" } },
            { "id": "d", "parent": "c", "kind": "tool", "tool": { "name": "fetch" } },
            { "id": "e", "parent": "gone", "kind": "tool", "tool": { "name": "book" } },
        ])));
        let nesting: Vec<_> =
            calls.unwrap().into_iter().map(|call| (call.name, call.depth, call.parent)).collect();
        let expected =
            [("delegate", 0, None), ("search", 1, Some(0)), ("fetch", 2, Some(1)), ("book", 0, None)];
        assert_eq!(nesting, expected.map(|(name, depth, parent)| (name.to_owned(), depth, parent)));
        let cycle = json!([
            { "id": "a", "parent": "b", "kind": "tool", "tool": { "name": "x" } },
            { "id": "b", "parent": "a" },
        ]);
        assert_eq!(read(&trace(cycle)).unwrap().len(), 1);
    }

    #[test]
    fn no_calls_are_known_only_if_the_trace_would_show_them() {
        let known = |spans: Value| read(&trace(spans)).map(|calls| calls.len());
        let model =
            |reason: &str| json!([{ "id": "a", "kind": "model", "model": { "finishReason": reason } }]);
        assert_eq!(known(model("stop")), Some(0));
        assert_eq!(known(json!([{ "id": "a", "kind": "agent" }])), Some(0));
        assert_eq!(known(model("tool_calls")), None, "the call has no span");
        assert_eq!(known(model("completed")), None, "a response of OpenAI is, with and without calls");
        let answered =
            json!([{ "id": "a", "kind": "model", "model": { "finishReason": "completed", "output": "Hi" } }]);
        assert_eq!(known(answered), Some(0));
        assert_eq!(known(json!([{ "id": "a", "name": "parse" }])), None);
        assert_eq!(known(json!([])), None);
    }
}
