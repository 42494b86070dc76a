//! The score of each check, with its reason.

use cobalt_core::item::Output;
use cobalt_core::trace::Trace;
use serde_json::{Value, json};

use super::{any_order, arguments, exact_order, f1, in_order, precision, recall, score, scored, value};
use crate::evaluators::EvalContext;
use crate::{Item, ToolCalls};

fn search(day: &str) -> Value {
    json!({ "tool": "search", "arguments": { "to": "York", "day": day } })
}

fn book(seats: Value) -> Value {
    json!({ "tool": "book", "arguments": { "seats": seats } })
}

#[test]
fn a_tool_is_called_or_not() {
    let called = ToolCalls::called("called", "book");
    let not_called = ToolCalls::not_called("not-called", "book");
    let made = json!([search("Friday"), book(json!(2))]);
    assert_eq!(score(&called, made.clone(), json!(null)), (1.0, "called once: book(seats: 2)".to_owned()));
    assert_eq!(score(&not_called, made, json!(null)), (0.0, "called once: book(seats: 2)".to_owned()));
    let made = json!([search("Friday")]);
    assert_eq!(
        score(&called, made.clone(), json!(null)),
        (0.0, "`book` was not called, only search".to_owned())
    );
    assert_eq!(score(&not_called, made, json!(null)), (1.0, "`book` was not called".to_owned()));
    let loops = json!(["search", "search", "pay", "search", "search"]);
    assert_eq!(score(&called, loops, json!(null)).1, "`book` was not called, only pay, search");
    assert_eq!(
        score(&called, json!([]), json!(null)),
        (0.0, "`book` was not called; no calls were made".to_owned())
    );
}

#[test]
fn the_exact_order_has_no_other_calls() {
    let expected = json!(["a", "b", "c"]);
    assert_eq!(value(&exact_order(), json!(["a", "b", "c"]), expected.clone()), 1.0);
    assert_eq!(
        score(&exact_order(), json!(["a", "x", "b", "c"]), expected.clone()),
        (0.75, "3 of 3 expected calls made in order; unexpected: x".to_owned())
    );
    assert_eq!(
        score(&exact_order(), json!(["b", "a", "c"]), expected.clone()),
        (2.0 / 3.0, "2 of 3 expected calls made in order; out of order: a".to_owned())
    );
    assert_eq!(
        score(&exact_order(), json!(["a"]), expected),
        (1.0 / 3.0, "1 of 3 expected calls made in order; missing: b, c".to_owned())
    );
}

#[test]
fn in_order_allows_calls_between_the_expected_ones() {
    let expected = json!(["a", "b"]);
    assert_eq!(value(&in_order(), json!(["x", "a", "x", "b"]), expected.clone()), 1.0);
    assert_eq!(value(&in_order(), json!(["b", "a"]), expected), 0.5);
}

#[test]
fn any_order_is_of_the_expected_calls_alone_and_f1_is_full_without_others() {
    let expected = json!(["a", "b"]);
    for (made, of_expected, of_all) in
        [(json!(["b", "x", "a"]), 1.0, 0.8), (json!(["b", "a"]), 1.0, 1.0), (json!(["b"]), 0.5, 2.0 / 3.0)]
    {
        assert_eq!(value(&any_order(), made.clone(), expected.clone()), of_expected);
        assert_eq!(value(&recall(), made.clone(), expected.clone()), of_expected);
        assert_eq!(value(&f1(), made, expected.clone()), of_all);
    }
}

#[test]
fn precision_recall_and_f1_count_what_is_needless_and_what_is_missing() {
    let (made, expected) = (json!(["a", "x", "b", "y"]), json!(["a", "b", "c"]));
    assert_eq!(
        score(&precision(), made.clone(), expected.clone()),
        (0.5, "2 of 4 calls as expected; unexpected: x, y".to_owned())
    );
    assert_eq!(
        score(&recall(), made.clone(), expected.clone()),
        (2.0 / 3.0, "2 of 3 expected calls made; missing: c".to_owned())
    );
    assert_eq!(
        score(&f1(), made.clone(), expected.clone()),
        (
            4.0 / 7.0,
            "2 of 3 expected calls made, 2 of 4 calls as expected; missing: c; unexpected: x, y".to_owned()
        )
    );
    let figures = scored(&f1(), made, expected).unwrap();
    let figures = Value::Object(figures.all_metadata().clone());
    assert_eq!(
        figures,
        json!({ "expected": 3, "made": 4, "matched": 2, "missing": ["c"], "needless": ["x", "y"] })
    );
}

#[test]
fn arguments_are_compared_where_they_are_expected() {
    let made = json!([search("Friday"), book(json!(2.0))]);
    assert_eq!(value(&recall(), made.clone(), json!(["search", "book"])), 1.0);
    let wanted = json!([{ "tool": "search", "arguments": { "day": "Friday" } }, book(json!(2))]);
    assert_eq!(value(&recall(), made.clone(), wanted), 1.0);
    let wanted = json!([search("Sunday"), { "tool": "book", "arguments": { "seats": 2, "class": 1 } }]);
    assert_eq!(
        score(&recall(), made.clone(), wanted.clone()),
        (
            0.0,
            "0 of 2 expected calls made; wrong arguments: search: day is \"Friday\", expected \"Sunday\", \
             book: class is missing, expected 1"
                .to_owned()
        )
    );
    assert_eq!(value(&recall().match_arguments(false), made, wanted), 1.0);
}

#[test]
fn the_share_of_right_arguments_is_a_mean_over_the_expected_calls() {
    let wanted = json!([search("Friday"), book(json!(2)), "pay"]);
    let made = json!([search("Sunday"), book(json!(2))]);
    assert_eq!(
        score(&arguments(), made, wanted),
        (
            0.5,
            "correct arguments in 1 of 3 expected calls, mean share 0.5; \
             wrong arguments: search: day is \"Friday\", expected \"Friday\"; missing: pay"
                .replace("is \"Friday\"", "is \"Sunday\"")
        )
    );
}

#[test]
fn an_assignment_that_fits_is_not_missed() {
    // The first call matches both expectations; the second matches only the first.
    let made = json!([search("Friday"), search("Sunday")]);
    let wanted = json!(["search", search("Friday")]);
    assert_eq!(value(&recall(), made.clone(), wanted.clone()), 1.0);
    assert_eq!(value(&arguments(), made.clone(), wanted.clone()), 1.0);
    assert_eq!(value(&precision(), made, wanted), 1.0);
}

#[test]
fn one_call_meets_one_expectation() {
    assert_eq!(value(&recall(), json!(["a"]), json!(["a", "a"])), 0.5);
    assert_eq!(value(&precision(), json!(["a", "a"]), json!(["a"])), 0.5);
}

#[test]
fn steps_are_counted_up_to_a_limit() {
    let steps = ToolCalls::at_most("steps", 2);
    assert_eq!(score(&steps, json!(["a", "b"]), json!(null)), (1.0, "2 calls, at most 2".to_owned()));
    assert_eq!(
        score(&steps, json!(["a", "b", "c", "d"]), json!(null)),
        (0.5, "4 calls, at most 2: a, b, c and 1 more".to_owned())
    );
    assert_eq!(value(&ToolCalls::at_most("none", 0), json!(["a"]), json!(null)), 0.0);
}

#[test]
fn where_nothing_is_expected_and_nothing_is_called_all_is_well() {
    for evaluator in [exact_order(), in_order(), any_order(), arguments(), precision(), recall(), f1()] {
        let all_well = (1.0, "no calls are expected, and none were made".to_owned());
        assert_eq!(score(&evaluator, json!([]), json!([])), all_well);
    }
    for evaluator in
        [ToolCalls::succeeded("s"), ToolCalls::at_most("m", 0), ToolCalls::repeats_at_most("r", 0)]
    {
        assert_eq!(value(&evaluator, json!([]), json!(null)), 1.0);
    }
}

#[test]
fn needless_calls_cost_where_nothing_is_expected_but_for_what_asks_only_for_the_expected() {
    let values = |made: Value, expected: Value| {
        [exact_order(), in_order(), any_order(), arguments(), precision(), recall(), f1()]
            .map(|evaluator| value(&evaluator, made.clone(), expected.clone()))
    };
    assert_eq!(values(json!(["a"]), json!([])), [0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(values(json!([]), json!(["a"])), [0.0; 7]);
}

#[test]
fn long_arguments_and_long_lists_are_cut() {
    let long = json!({ "tool": "write", "arguments": { "text": "x".repeat(500) } });
    let (_, reason) = score(&precision(), json!([long, long, long, long, long]), json!(["a"]));
    assert!(reason.contains("write(text: \"xxx") && reason.ends_with("and 2 more"), "{reason}");
    assert!(reason.chars().count() < 260, "{reason}");
}

fn names(output: Output) -> Result<Vec<String>, String> {
    let calls = EvalContext::new(Item::new(), output).tool_calls();
    calls.map(|calls| calls.into_iter().map(|call| call.name).collect()).map_err(|error| error.to_string())
}

#[test]
fn the_usual_places_are_found() {
    for place in ["toolCalls", "tool_calls", "calls", "trace", "messages"] {
        let fields = json!({ place: ["weather"] });
        assert_eq!(names(Output::new(fields)).unwrap(), ["weather"], "{place}");
        let reported = Output::new("It rains.").metadata(place, json!(["weather"]));
        assert_eq!(names(reported).unwrap(), ["weather"], "{place}");
    }
    assert_eq!(names(Output::new(json!(["weather"]))).unwrap(), ["weather"]);
    let message = json!({ "role": "assistant", "tool_calls": [{ "function": { "name": "weather" } }] });
    assert_eq!(names(Output::new(message)).unwrap(), ["weather"]);
}

#[test]
fn metadata_goes_before_the_output_and_null_counts_as_nothing() {
    let output = json!({ "trace": ["of output"] });
    let both = |reported: Value| Output::new(output.clone()).metadata("toolCalls", reported);
    assert_eq!(names(both(json!(["of metadata"]))).unwrap(), ["of metadata"]);
    assert_eq!(names(both(Value::Null)).unwrap(), ["of output"]);
}

#[test]
fn an_empty_list_of_calls_hides_no_calls_in_a_later_place() {
    let none = |output: Value| Output::new(output).metadata("toolCalls", json!([]));
    let message = || json!({ "role": "assistant", "tool_calls": [{ "function": { "name": "weather" } }] });
    let gemini =
        || json!([{ "role": "model", "parts": [{ "functionCall": { "name": "weather", "args": {} } }] }]);
    for output in [
        none(json!("It rains.")).metadata("messages", json!([message()])),
        none(json!("It rains.")).metadata("contents", gemini()),
        none(json!({ "messages": [message()] })),
        none(json!({ "toolCalls": ["weather"] })),
        none(json!({ "trace": ["weather"], "calls": [] })),
        none(json!({ "contents": gemini() })),
        none(message()),
        none(json!([message()])),
    ] {
        assert_eq!(names(output.clone()).unwrap(), ["weather"], "{output:?}");
    }
    for output in
        [json!("It rains."), json!(["York", "Leeds"]), json!([{ "name": "York" }]), json!({ "trace": [] })]
    {
        assert_eq!(names(none(output.clone())).unwrap(), Vec::<String>::new(), "{output}");
    }
}

#[test]
fn an_agent_that_reports_no_calls_is_an_error_and_no_score() {
    for output in [json!("weather"), json!({ "answer": "It rains." }), json!(null)] {
        let error = names(Output::new(output)).unwrap_err();
        assert!(error.starts_with("no tool calls found in the default places, such as "), "{error}");
        assert!(error.contains("an empty list if there are none"), "{error}");
    }
}

fn traced(kind: &str) -> Trace {
    let tool = (kind == "tool").then(|| json!({ "name": "traced" }));
    let model = (kind == "model").then(|| json!({ "finishReason": "stop" }));
    let span = json!({ "id": "a", "name": "s", "kind": kind, "tool": tool, "model": model });
    serde_json::from_value(json!([span])).unwrap()
}

fn names_with(output: Output, trace: Trace) -> Result<Vec<String>, String> {
    let calls = EvalContext::new(Item::new(), output).with_trace(trace).tool_calls();
    calls.map(|calls| calls.into_iter().map(|call| call.name).collect()).map_err(|error| error.to_string())
}

#[test]
fn the_trace_has_the_calls_where_the_output_has_none() {
    let answer = || Output::new("It rains.");
    assert_eq!(names_with(answer(), traced("tool")).unwrap(), ["traced"]);
    for known in ["model", "agent"] {
        assert_eq!(names_with(answer(), traced(known)).unwrap(), [""; 0], "{known}");
    }
    for unknown in [traced("other"), traced("retrieval"), Trace::default()] {
        let error = names_with(answer(), unknown).unwrap_err();
        assert!(error.ends_with("it needs spans of the agent's model or tool calls"), "{error}");
    }
    let reported = answer().metadata("toolCalls", json!(["reported"]));
    assert_eq!(names_with(reported, traced("tool")).unwrap(), ["reported"]);
    for replaced in [answer().metadata("toolCalls", json!([])), Output::new(json!(["York", "Leeds"]))] {
        assert_eq!(names_with(replaced, traced("tool")).unwrap(), ["traced"]);
    }
    let list = Output::new(json!(["weather"]));
    assert_eq!(names_with(list, traced("model")).unwrap(), ["weather"]);
}

#[test]
fn calls_of_an_incomplete_trace_are_unknown() {
    let score = |output: Output| {
        let cx = EvalContext::new(Item::new(), output).with_trace(traced("tool")).with_incomplete_trace(true);
        ToolCalls::called("c", "reported").score(&cx).map(|score| score.value())
    };
    for unknown in [Output::new("It rains."), Output::new("It rains.").metadata("toolCalls", json!([]))] {
        let error = score(unknown).unwrap_err().to_string();
        assert!(error.contains("could not be attributed") && error.contains("Context::base_url"), "{error}");
    }
    let reported = Output::new("It rains.").metadata("toolCalls", json!(["reported"]));
    assert_eq!(score(reported).unwrap(), 1.0, "the agent knows its calls");
}

#[test]
fn a_place_that_is_set_is_not_replaced_by_the_trace() {
    let cx = EvalContext::new(Item::new(), Output::new("It rains.")).with_trace(traced("tool"));
    let called = ToolCalls::called("c", "traced");
    assert_eq!(called.score(&cx).unwrap().value(), 1.0);
    let error = called.calls("output.steps").score(&cx).unwrap_err().to_string();
    assert_eq!(error, "the agent's `output.steps` is missing or null");
}

#[test]
fn what_stands_in_a_usual_place_and_is_no_call_is_told_with_the_way_out() {
    let error = names(Output::new(json!({ "trace": 7 }))).unwrap_err();
    assert!(error.starts_with("the agent's `output.trace`") && error.ends_with("set their path"), "{error}");
}

#[test]
fn a_place_is_named_and_stands_in_the_errors() {
    let of = |path: &str, output: Value| {
        let steps = ToolCalls::at_most("steps", 3).calls(path);
        let cx = EvalContext::new(Item::new(), Output::new(output));
        steps.score(&cx).map(|score| score.value()).map_err(|error| error.to_string())
    };
    let output = json!({ "run": { "steps": ["a", "b"] }, "trace": ["a", "a", "a", "a"] });
    assert_eq!(of("output.run.steps", output.clone()), Ok(1.0));
    assert_eq!(
        of("output.run.calls", output),
        Err("the agent's `output.run.calls` is missing or null".to_owned())
    );
    let error = of("output.steps", json!({ "steps": ["a", null] })).unwrap_err();
    assert!(error.starts_with("the agent's `output.steps[1]` is null; expected a call as"), "{error}");
}
