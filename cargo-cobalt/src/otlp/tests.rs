//! The spans of a report.

use std::collections::BTreeMap;

use cobalt_core::prices::PriceTable;
use cobalt_core::report::RunVerdict;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value as AttributeValue;
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Value, json};

use super::run_spans::run_spans;
use crate::results::FinishedExperiment;

/// 2026-02-05T14:30:00Z in nanoseconds.
const START: u64 = 1_770_301_800_000_000_000;

fn report(items: &Value) -> FinishedExperiment {
    let report = json!({
        "schema": 1, "id": "0123456789ab", "name": "help desk", "timestamp": "2026-02-05T14:30:00.000Z", "tags": ["nightly"],
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right", "short"], "passMarks": [0.7, 0.5] },
        "summary": { "totalItems": 1, "totalDurationMs": 2500, "passedItems": 1, "scores": { "right": { "avg": 0.8, "min": 0.8,
            "max": 0.8, "p50": 0.8, "p95": 0.8, "p99": 0.8 } } },
        "git": { "commit": "f".repeat(40), "dirty": false },
        "items": items,
    });
    FinishedExperiment::of_report(serde_json::from_value(report).unwrap(), None)
}

fn spans(items: &Value) -> Vec<Span> {
    run_spans(&report(items), &PriceTable::default()).collect()
}

/// Attributes as text.
fn texts(attributes: &[KeyValue]) -> BTreeMap<&str, String> {
    let text = |attribute: &KeyValue| match attribute.value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(AttributeValue::StringValue(text)) => text.clone(),
        Some(AttributeValue::IntValue(number)) => number.to_string(),
        Some(AttributeValue::DoubleValue(number)) => number.to_string(),
        Some(AttributeValue::BoolValue(value)) => value.to_string(),
        other => format!("{other:?}"),
    };
    attributes.iter().map(|attribute| (&*attribute.key, text(attribute))).collect()
}

fn has(attributes: &[KeyValue], expected: &[(&str, &str)]) {
    let texts = texts(attributes);
    for (name, value) in expected {
        assert_eq!(texts.get(name).map(String::as_str), Some(*value), "{name} in {texts:?}");
    }
}

fn item(fields: &Value) -> Value {
    let mut item = json!({ "index": 0, "key": "paris", "input": { "id": "paris", "input": "Capital of France?" },
        "status": "ok", "latencyMs": 1500.0, "output": { "output": "Paris" },
        "evaluations": { "right": { "score": 0.8, "reason": "It is." }, "short": { "error": "no key" } } });
    item.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!([item])
}

#[test]
fn an_item_is_the_root_of_a_trace_with_its_scores_as_events_and_a_link_to_the_run() {
    let spans = spans(&item(&json!({ "metrics": { "retrieved": { "value": 7.0 } } })));
    let [run, trial] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((&*run.name, run.start_time_unix_nano), ("run help-desk", START));
    assert_eq!(run.end_time_unix_nano, START + 2_500_000_000);
    has(&run.attributes, &[("cobalt.mean_score.right", "0.8"), ("test.suite.name", "help desk")]);

    assert_eq!((&*trial.name, trial.start_time_unix_nano), ("help-desk::paris", START));
    assert_eq!(trial.end_time_unix_nano, START + 1_500_000_000);
    assert!(trial.parent_span_id.is_empty() && trial.trace_id != run.trace_id);
    assert_eq!((&trial.links[0].trace_id, &trial.links[0].span_id), (&run.trace_id, &run.span_id));
    has(
        &trial.attributes,
        &[
            ("session.id", "0123456789ab"),
            ("input.value", r#"{"id":"paris","input":"Capital of France?"}"#),
            ("output.value", "Paris"),
            ("cobalt.score.right", "0.8"),
            ("cobalt.metric.retrieved", "7"),
            ("cobalt.passed", "false"),
            ("test.case.result.status", "fail"),
        ],
    );
    let [right, short] = &trial.events[..] else { panic!("{:?}", trial.events) };
    assert!([right, short].iter().all(|event| event.name == "gen_ai.evaluation.result"));
    let expected = [
        ("gen_ai.evaluation.name", "right"),
        ("gen_ai.evaluation.score.value", "0.8"),
        ("gen_ai.evaluation.score.label", "pass"),
        ("gen_ai.evaluation.explanation", "It is."),
    ];
    has(&right.attributes, &expected);
    has(&short.attributes, &[("gen_ai.evaluation.explanation", "no key"), ("error.type", "_OTHER")]);
    assert!(!texts(&short.attributes).contains_key("gen_ai.evaluation.score.value"));
}

#[test]
fn the_spans_of_the_agent_are_below_the_item_with_the_attributes_of_the_conventions() {
    let trace = json!([
        { "id": "1", "name": "agent", "kind": "agent", "startMs": 1.0, "durationMs": 900.0, "status": "ok" },
        { "id": "2", "parent": "1", "name": "chat", "kind": "model", "startMs": 2.0, "durationMs": 800.0, "status": "ok",
            "attributes": { "server.port": 443 },
            "model": { "vendor": "openai", "asked": "gpt-4o", "answered": "gpt-4o-2024", "finishReason": "stop",
                "tokens": { "input": 10, "output": 5, "cachedInput": 4 }, "cost": 0.25 } },
        { "id": "3", "parent": "gone", "name": "search", "kind": "tool", "startMs": 3.0, "durationMs": 1.0, "status": "error",
            "error": "no index", "tool": { "name": "search", "arguments": { "q": "x" }, "error": "no index" } },
    ]);
    let spans = spans(&item(&json!({ "trace": trace })));
    let [_, trial, agent, chat, search] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((&agent.parent_span_id, &chat.parent_span_id), (&trial.span_id, &agent.span_id));
    assert_eq!(search.parent_span_id, trial.span_id, "the parent is unknown");
    assert!(spans[1..].iter().all(|span| span.trace_id == trial.trace_id));
    assert_eq!(
        (chat.start_time_unix_nano, chat.end_time_unix_nano),
        (START + 2_000_000, START + 802_000_000)
    );
    has(
        &chat.attributes,
        &[
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.provider.name", "openai"),
            ("gen_ai.request.model", "gpt-4o"),
            ("gen_ai.response.model", "gpt-4o-2024"),
            ("gen_ai.usage.input_tokens", "10"),
            ("gen_ai.usage.output_tokens", "5"),
            ("gen_ai.usage.cache_read.input_tokens", "4"),
            ("gen_ai.usage.cost", "0.25"),
            ("openinference.span.kind", "LLM"),
            ("server.port", "443"),
        ],
    );
    has(
        &search.attributes,
        &[
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "search"),
            ("gen_ai.tool.call.arguments", r#"{"q":"x"}"#),
            ("error.type", "_OTHER"),
        ],
    );
    assert_eq!(search.status.as_ref().map(|status| (status.code, &*status.message)), Some((2, "no index")));
    assert!(!texts(&trial.attributes).contains_key("gen_ai.usage.cost"), "it would be counted twice");
}

#[test]
fn only_the_innermost_model_span_has_usage() {
    let model = json!({ "asked": "gpt-4o", "tokens": { "input": 10, "output": 5 }, "cost": 0.25 });
    let span = |id: &str, parent: Value| {
        json!({ "id": id, "parent": parent, "name": id, "kind": "model", "startMs": 0.0, "durationMs": 1.0, "status": "ok",
            "model": model })
    };
    let spans =
        spans(&item(&json!({ "trace": [span("outer", Value::Null), span("inner", json!("outer"))] })));
    let usage = |span: &Span| {
        let texts = texts(&span.attributes);
        (texts.contains_key("gen_ai.usage.cost"), texts.contains_key("gen_ai.usage.input_tokens"))
    };
    assert_eq!((usage(&spans[2]), usage(&spans[3])), ((false, false), (true, true)));
}

#[test]
fn usage_without_spans_is_that_of_the_item() {
    let metadata = json!({ "model": "gpt-4o", "tokens": { "input": 10, "output": 5 }, "cost": 0.5 });
    let spans = spans(&item(&json!({ "output": { "output": "Paris", "metadata": metadata } })));
    let expected = [
        ("gen_ai.request.model", "gpt-4o"),
        ("gen_ai.usage.input_tokens", "10"),
        ("gen_ai.usage.cost", "0.5"),
    ];
    has(&spans[1].attributes, &expected);
}

#[test]
fn a_failed_trial_says_why() {
    let failed =
        json!({ "status": "timeout", "error": "timed out after 1s", "output": null, "evaluations": {} });
    let spans = spans(&item(&failed));
    assert_eq!(spans[1].status.as_ref().map(|status| &*status.message), Some("timed out after 1s"));
    has(&spans[1].attributes, &[("error.type", "timeout"), ("test.case.result.status", "fail")]);
}

#[test]
fn a_run_whose_summary_function_failed_says_why() {
    let mut finished = report(&item(&json!({})));
    finished.report.verdict = RunVerdict::Failed;
    finished.report.summary.summary_errors = [("confusion".to_owned(), "no labels".to_owned())].into();
    let run = run_spans(&finished, &PriceTable::default()).next().unwrap();
    let message = "summary function `confusion` failed: no labels";
    assert_eq!(run.status.as_ref().map(|status| &*status.message), Some(message));
}

#[test]
fn a_report_that_is_sent_again_has_the_same_spans() {
    let items = item(&json!({}));
    assert_eq!(spans(&items), spans(&items));
}
