//! The traces of items as data for the script: one entry per span, with its depth in the tree, cut to a size.

use cobalt_core::report::{Execution, ItemResult};
use cobalt_core::reporters::format_metric;
use cobalt_core::serde_skip::is_zero;
use cobalt_core::trace::{OutlineOptions, Span, SpanStatus};
use cobalt_core::wording::truncate;
use serde::Serialize;
use serde_json::Value;

/// The most spans of all items of an experiment. Items that did not pass come first.
const MAX_SPANS: usize = 20_000;
/// The most spans of one trial.
const MAX_TRIAL_SPANS: usize = 300;
/// The most characters of a text or of a value's JSON.
const MAX_CONTENT: usize = 1000;

/// The trace of a trial.
#[derive(Debug, Serialize)]
pub struct TraceData {
    spans: Vec<SpanData>,
    /// How many further spans are not on the page.
    #[serde(rename = "leftOut", skip_serializing_if = "is_zero")]
    left_out: usize,
}

#[derive(Debug, Serialize)]
struct SpanData {
    depth: usize,
    /// Its kind, name, model, tokens, duration and cost, and why it failed.
    line: String,
    status: SpanStatus,
    /// Texts with their labels.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contents: Vec<(&'static str, String)>,
}

/// How many spans of each item are shown. Items that did not pass have priority.
pub fn span_shares<'a>(items: impl Iterator<Item = &'a ItemResult>) -> Vec<usize> {
    let items: Vec<_> = items.collect();
    let (mut left, mut shares) = (MAX_SPANS, vec![0; items.len()]);
    for passed in [false, true] {
        for (item, share) in items.iter().zip(&mut shares).filter(|(item, _)| item.passed == passed) {
            let spans: usize = item.runs.iter().map(|run| run.trace.spans().len().min(MAX_TRIAL_SPANS)).sum();
            *share = left.min(spans);
            left -= *share;
        }
    }
    shares
}

/// The trace of a trial with at most `room` spans, which is reduced by those; `None` if the trial has no trace.
pub fn trace(run: &Execution, room: &mut usize) -> Option<TraceData> {
    let all = run.trace.spans().len();
    if all == 0 {
        return None;
    }
    let shown = all.min(MAX_TRIAL_SPANS).min(*room);
    *room -= shown;
    let spans = run.trace.depth_first().into_iter().take(shown).map(SpanData::of).collect();
    Some(TraceData { spans, left_out: all - shown + run.dropped_spans })
}

/// The metrics that a trial recorded, each with its unit.
pub fn metrics(run: &Execution) -> Vec<(&str, String)> {
    run.metrics.iter().map(|(name, metric)| (&**name, format_metric(metric))).collect()
}

impl SpanData {
    fn of((depth, span): (usize, &Span)) -> Self {
        let options = OutlineOptions { times: true, content: false, max_chars: MAX_CONTENT };
        Self { depth, line: span.line(options), status: span.status, contents: contents(span) }
    }
}

fn contents(span: &Span) -> Vec<(&'static str, String)> {
    let mut contents = Vec::new();
    let mut add = |label, text: Option<String>| {
        contents.extend(text.map(|text| (label, truncate(&text, MAX_CONTENT).into_owned())));
    };
    let json = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => format!("{other:#}"),
    };
    let tool = span.tool.as_deref();
    let model = span.model.as_deref();
    add("Error", span.error.clone().or_else(|| tool?.error.clone()));
    add("Arguments", tool.and_then(|tool| tool.arguments.as_ref()).map(json));
    add("Result", tool.and_then(|tool| tool.result.as_ref()).map(json));
    add("Input", model.and_then(|model| model.input.clone()));
    add("Response", model.and_then(|model| model.output.clone()));
    let attributes = (!span.attributes.is_empty()).then(|| json(&Value::Object(span.attributes.clone())));
    add("Attributes", attributes);
    contents
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn item(index: usize, passed: bool, spans: usize) -> ItemResult {
        let spans: Vec<_> = (0..spans).map(|id| json!({ "id": id.to_string(), "name": "step" })).collect();
        serde_json::from_value(json!({
            "index": index, "key": "a", "input": {}, "output": { "output": "a" }, "status": "ok", "passed": passed,
            "trace": spans, "droppedSpans": 2,
        }))
        .unwrap()
    }

    #[test]
    fn items_that_did_not_pass_have_their_spans_first() {
        let mut items: Vec<_> = (0..100).map(|index| item(index, true, 300)).collect();
        items.push(item(100, false, 1000));
        let shares = span_shares(items.iter());
        assert_eq!(shares[100], MAX_TRIAL_SPANS);
        assert_eq!(shares.iter().sum::<usize>(), MAX_SPANS);
        let mut room = shares[100];
        let shown = trace(&items[100].runs[0], &mut room).unwrap();
        assert_eq!((shown.spans.len(), shown.left_out, room), (300, 702, 0));
    }

    #[test]
    fn contents_are_cut() {
        let span: Span = serde_json::from_value(json!({ "id": "a", "kind": "tool", "status": "error",
            "attributes": { "k": 1 }, "tool": { "name": "search", "arguments": { "q": "x".repeat(5000) }, "error": "no" } }))
        .unwrap();
        let contents = contents(&span);
        assert_eq!(
            contents.iter().map(|(label, _)| *label).collect::<Vec<_>>(),
            ["Error", "Arguments", "Attributes"]
        );
        assert_eq!(contents[1].1.chars().count(), MAX_CONTENT + 1);
    }
}
