//! Thresholds on traces, on single models, and on metrics of one's own.

use super::tests::{failed, judged, scored};
use super::*;
use crate::item::{ModelCall, Output};
use crate::prices::PriceTable;
use crate::report::{Execution, ItemResult, MetricValue, RetriedExecution, Traffic, Transcript};
use crate::trace::{ModelSpan, Span, SpanKind, ToolSpan, Trace};

/// A trace with this many model and tool calls.
fn trace(models: usize, tools: usize) -> Trace {
    let span = |id: usize, kind| Span { id: id.to_string(), kind, ..Span::default() };
    let model = |id| Span { model: Some(Box::default()), ..span(id, SpanKind::Model) };
    let tool = |id| Span { tool: Some(Box::new(ToolSpan::default())), ..span(id, SpanKind::Tool) };
    (0..models).map(model).chain((models..models + tools).map(tool)).collect()
}

fn traced(models: usize, tools: usize) -> Execution {
    Execution { trace: trace(models, tools), ..scored(1.0) }
}

/// A trial whose streamed response began after these milliseconds.
fn streamed(ms: f64, replayed: bool) -> Execution {
    let model = ModelSpan { time_to_first_token_ms: Some(ms), replayed, ..ModelSpan::default() };
    let span = Span { kind: SpanKind::Model, model: Some(Box::new(model)), ..Span::default() };
    Execution { trace: [span].into_iter().collect(), ..scored(1.0) }
}

fn actual(threshold: &str, items: Vec<Vec<Execution>>) -> f64 {
    let outcome = judged(threshold, items);
    outcome.actual.unwrap_or_else(|| panic!("{}", outcome.message))
}

/// The reason for which there is nothing to measure.
fn reason(threshold: &str, items: Vec<Vec<Execution>>) -> String {
    let outcome = judged(threshold, items);
    assert_eq!((outcome.finding, outcome.actual), (ThresholdStatus::Missed, None), "{}", outcome.message);
    outcome.message.split_once("has nothing to measure: ").unwrap().1.to_owned()
}

#[test]
fn calls_are_counted_per_item_over_its_trials() {
    let items = || vec![vec![traced(1, 2), traced(3, 0)], vec![traced(1, 1), scored(1.0)], vec![failed()]];
    assert_eq!(actual("model_calls.total <= 9", items()), 5.0);
    assert_eq!(actual("model_calls.max <= 4", items()), 4.0);
    assert_eq!(actual("tool_calls.avg <= 4", items()), 1.5, "the item without any output is unknown");
    assert_eq!(actual("tool_calls.min >= 1", items()), 1.0);
    let outcome = judged("model_calls.max <= 3", items());
    assert_eq!(outcome.message, "model_calls.max is 4, which misses `model_calls.max <= 3`");
}

#[test]
fn an_item_without_calls_beside_traced_ones_made_none() {
    let items = vec![vec![traced(2, 0)], vec![scored(1.0)]];
    assert_eq!(actual("model_calls.avg <= 1", items), 1.0);
}

#[test]
fn without_complete_traces_there_are_no_calls_to_count() {
    for threshold in ["model_calls.total <= 9", "tool_calls.max <= 9", "time_to_first_token.p95 <= 1s"] {
        let reason = reason(threshold, vec![vec![scored(1.0)]]);
        assert!(reason.starts_with("no execution has a trace"), "{reason}");
    }
    let cut = Execution { dropped_spans: 1, ..traced(1, 1) };
    let reason = reason("model_calls.total <= 9", vec![vec![cut], vec![traced(1, 0)]]);
    assert_eq!(reason, "the trace of 1 item is incomplete, as it had too many spans");
}

#[test]
fn the_time_to_the_first_token_is_that_of_live_responses() {
    let items = vec![vec![streamed(100.0, false), streamed(300.0, false)], vec![traced(1, 0)]];
    assert_eq!(actual("time_to_first_token.max <= 1s", items), 200.0, "the mean of the trials");
    let reason = reason("time_to_first_token.avg <= 1s", vec![vec![traced(1, 0)]]);
    assert_eq!(reason, "no model call reports it; only streamed responses have one");
    let mixed = vec![vec![streamed(100.0, false)], vec![streamed(1.0, true)], vec![traced(1, 0)]];
    let outcome = judged("time_to_first_token.min >= 50ms", mixed);
    assert_eq!((outcome.passed, outcome.figure.as_deref()), (true, Some("100 ms, measured on 1 of 3 items")));
    assert_eq!(
        outcome.message,
        "time_to_first_token.min is 100 ms, measured on 1 of 3 items, which meets `time_to_first_token.min >= 50ms`; \
         not measured: 1 replayed item (to measure all items, run with `COBALT_RECORD=off`), 1 item without the time of a \
         streamed response"
    );
}

#[test]
fn a_replayed_time_to_the_first_token_is_inconclusive_and_passes() {
    let by_traffic = Traffic { replayed: 1, ..Traffic::default() };
    let by_traffic = Execution { traffic: Some(Box::new(by_traffic)), ..streamed(1.0, false) };
    for replayed in [by_traffic, streamed(1.0, true)] {
        let outcome = judged("time_to_first_token.avg <= 1ms", vec![vec![replayed]]);
        assert_eq!((outcome.finding, outcome.passed), (ThresholdStatus::Inconclusive, true));
        assert!(outcome.message.contains("the time to the first token is that of the recording"));
    }
}

fn using(calls: impl IntoIterator<Item = ModelCall>) -> Execution {
    let output = calls.into_iter().fold(Output::new(""), Output::usage);
    Execution { output: Some(output), ..scored(1.0) }
}

#[test]
fn a_model_is_measured_by_its_name_over_all_items_that_report_usage() {
    let big = || ModelCall::new("gpt-4o-2024-08-06").tokens(1_000_000, 0);
    let small = || ModelCall::new("gpt-4o-mini").tokens(100, 100);
    let retried =
        RetriedExecution { metadata: using([big()]).metadata().clone(), ..RetriedExecution::default() };
    let items = || {
        vec![
            vec![Execution { retried: vec![retried.clone()], ..using([big(), small()]) }, using([big()])],
            vec![using([small()])],
            vec![failed()],
        ]
    };
    assert_eq!(actual(r#"tokens["gpt-4o"].total <= 1"#, items()), 3_000_000.0);
    assert_eq!(actual(r#"tokens["gpt-4o"].avg <= 1"#, items()), 1_500_000.0);
    assert_eq!(actual(r#"tokens["gpt-4o-mini"].p50 <= 1"#, items()), 200.0);
    assert_eq!(actual(r#"cost["gpt-4o"].total <= 1"#, items()), 7.5);
    let outcome = judged(r#"cost["gpt-4o"].total <= 0.5"#, items());
    assert_eq!(outcome.name, "cost.gpt-4o.total<=0.5");
    assert_eq!(
        outcome.message,
        r#"cost["gpt-4o"].total is $7.50, which misses `cost["gpt-4o"].total <= 0.5`"#
    );
}

#[test]
fn metrics_of_items_in_memory_have_the_usage_of_every_model() {
    let call = || ModelCall::new("gpt-4o").tokens(1_000_000, 0);
    let items = [ItemResult {
        index: 0,
        key: String::new(),
        input: Arc::default(),
        passed: true,
        runs: vec![using([call()])],
    }];
    let metrics = RunMetrics::gather(&items, &[], &PriceTable::default());
    let outcome = |threshold: &str| evaluate(&threshold.parse().unwrap(), &metrics);
    assert_eq!(outcome(r#"cost["gpt-4o"].total <= 3"#).actual, Some(2.5));
    let missing = outcome(r#"cost["gpt-4"].total <= 3"#).message;
    assert!(missing.contains("no item used `gpt-4`; did you mean `gpt-4o`?"), "{missing}");
}

#[test]
fn a_model_whose_usage_is_not_known_is_nothing_to_measure() {
    let known = || using([ModelCall::new("gpt-4o").tokens(1, 1)]);
    for (threshold, run, expected) in [
        (
            r#"tokens["gpt-4"].total <= 1"#,
            known(),
            "no item used `gpt-4`; did you mean `gpt-4o`? available: `gpt-4o`",
        ),
        (r#"tokens["gpt-4o"].total <= 1"#, scored(1.0), "no output reports its model"),
        (
            r#"cost["ours"].total <= 1"#,
            using([ModelCall::new("ours").tokens(1, 1)]),
            "add `ours` under `[prices]`",
        ),
        (r#"tokens["ours"].total <= 1"#, using([ModelCall::new("ours").cost(1.0)]), "without its tokens"),
    ] {
        let reason = reason(threshold, vec![vec![run]]);
        assert!(reason.contains(expected), "{reason}");
    }
    let unnamed = Execution { output: Some(Output::new("").tokens(1, 1)), ..scored(1.0) };
    let reason = reason(r#"tokens["gpt-4o"].total <= 1"#, vec![vec![known()], vec![unnamed]]);
    assert!(reason.starts_with("1 item reports usage without its model"), "{reason}");
    let silent = judged(r#"tokens["gpt-4o"].total <= 9"#, vec![vec![known()], vec![scored(1.0)]]);
    assert!(silent.message.contains("only 1 of 2 items reports tokens"), "{}", silent.message);
}

/// An execution that recorded this.
fn recording(run: Execution, name: &str, value: f64) -> Execution {
    let value = MetricValue { value, ..MetricValue::default() };
    Execution { metrics: [(name.to_owned(), value)].into(), ..run }
}

#[test]
fn metrics_of_ones_own_are_bounded_on_either_side() {
    let items = || {
        vec![
            vec![recording(scored(1.0), "retrieved", 4.0), recording(failed(), "retrieved", 8.0)],
            vec![recording(scored(1.0), "retrieved", -3.0)],
        ]
    };
    assert_eq!(actual(r#"metrics["retrieved"].avg >= 5"#, items()), 3.0);
    assert_eq!(actual(r#"metrics["retrieved"].total <= 5"#, items()), 9.0);
    assert!(judged(r#"metrics["retrieved"].min >= -3"#, items()).passed);
    assert!(judged(r#"metrics["retrieved"].max < 8.5"#, items()).passed);
    let outcome = judged(r#"metrics["retrieved"].avg >= 5"#, items());
    assert_eq!(
        outcome.message,
        r#"metrics["retrieved"].avg is 3, which misses `metrics["retrieved"].avg >= 5`"#
    );
    let unknown = reason(r#"metrics["retreived"].avg >= 5"#, items());
    assert!(unknown.contains("did you mean `retrieved`?"), "{unknown}");
    let none = reason(r#"metrics["retrieved"].avg >= 5"#, vec![vec![scored(1.0)]]);
    assert!(none.ends_with(r#"record it with `context.metric("retrieved", value)`"#), "{none}");
}

#[test]
fn partly_recorded_metrics_are_missed() {
    let recorded = || recording(scored(1.0), "retrieved", 4.0);
    let one_of_four = vec![vec![recorded()], vec![scored(1.0)], vec![scored(1.0)], vec![scored(1.0)]];
    let why = reason(r#"metrics["retrieved"].avg >= 1"#, one_of_four);
    assert!(why.starts_with("only 1 of 4 executions with an output recorded `retrieved`"), "{why}");
    // Failed executions need not record it.
    let outcome = judged(r#"metrics["retrieved"].avg >= 1"#, vec![vec![recorded()], vec![failed()]]);
    assert!(outcome.passed, "{}", outcome.message);
    assert_eq!(outcome.figure.as_deref(), Some("4, recorded by 1 of 2 executions"), "{}", outcome.message);
}

#[test]
fn scripts_need_no_user_mistakes() {
    let talked = |simulated, run: Execution| {
        let transcript = Transcript { simulated, ..Transcript::default() };
        Execution { transcript: Some(Box::new(transcript)), ..run }
    };
    let items = |unchecked: bool| {
        let simulated = if unchecked { scored(1.0) } else { recording(scored(1.0), "user_mistakes", 0.0) };
        let checked = talked(true, recording(scored(1.0), "user_mistakes", 0.0));
        vec![vec![talked(true, simulated)], vec![checked], vec![talked(false, scored(1.0))]]
    };
    let threshold = r#"metrics["user_mistakes"].total <= 0"#;
    assert!(judged(threshold, items(false)).passed);
    let why = reason(threshold, items(true));
    assert!(why.starts_with("only 1 of 2 executions"), "{why}");
}

#[test]
fn totals_that_overflow_are_named() {
    let items = || [1e308, 1e308].map(|value| vec![recording(scored(1.0), "m", value)]).to_vec();
    assert_eq!(actual(r#"metrics["m"].avg <= 5"#, items()), 1e308);
    let total = reason(r#"metrics["m"].total >= 1"#, items());
    assert!(total.starts_with("the total is larger than a number can be"), "{total}");
}
