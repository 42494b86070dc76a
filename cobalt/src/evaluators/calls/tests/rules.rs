//! The rules for calls that failed, were made within others, or were repeated.

use serde_json::json;

use super::{any_order, arguments, exact_order, f1, in_order, precision, recall, score, scored, value};
use crate::ToolCalls;

#[test]
fn a_failed_call_counts_as_made() {
    let made = json!([{ "tool": "book", "error": "no seats" }]);
    assert_eq!(value(&recall(), made.clone(), json!(["book"])), 1.0);
    assert_eq!(value(&ToolCalls::called("c", "book"), made.clone(), json!(null)), 1.0);
    assert_eq!(value(&ToolCalls::not_called("n", "book"), made.clone(), json!(null)), 0.0);
    assert_eq!(value(&ToolCalls::at_most("m", 0), made, json!(null)), 0.0);
}

#[test]
fn failed_calls_that_are_ignored_were_not_made() {
    let made = json!([{ "tool": "book", "error": "no seats" }, "book"]);
    assert_eq!(value(&exact_order(), made.clone(), json!(["book"])), 0.5);
    assert_eq!(value(&exact_order().ignore_failed(true), made.clone(), json!(["book"])), 1.0);
    assert_eq!(value(&ToolCalls::at_most("m", 1).ignore_failed(true), made.clone(), json!(null)), 1.0);
    assert_eq!(value(&ToolCalls::repeats_at_most("r", 0).ignore_failed(true), made, json!(null)), 1.0);
    let failed = json!([{ "tool": "book", "error": "no seats" }]);
    assert_eq!(value(&recall().ignore_failed(true), failed.clone(), json!(["book"])), 0.0);
    assert_eq!(value(&ToolCalls::not_called("n", "book").ignore_failed(true), failed, json!(null)), 1.0);
}

#[test]
fn success_is_a_share_of_the_steps_and_names_those_that_failed() {
    let made =
        json!(["search", { "tool": "book", "error": "no seats" }, { "tool": "pay", "success": false }]);
    let all = score(&ToolCalls::succeeded("s"), made.clone(), json!(null));
    assert_eq!(
        all,
        (1.0 / 3.0, "1 of 3 calls succeeded; failed: book (no seats), pay (an error)".to_owned())
    );
    assert_eq!(value(&ToolCalls::succeeded("s").tool("search"), made.clone(), json!(null)), 1.0);
    assert_eq!(value(&ToolCalls::succeeded("s").tool("book"), made.clone(), json!(null)), 0.0);
    assert_eq!(value(&ToolCalls::succeeded("s").tool("fly"), made, json!(null)), 1.0);
}

#[test]
fn a_call_whose_arguments_cannot_be_read_meets_nothing_and_counts_against() {
    let made = json!([{ "tool": "book", "arguments": "{\"seats\": 2" }]);
    for evaluator in [exact_order(), in_order(), any_order(), arguments(), precision(), recall(), f1()] {
        assert_eq!(value(&evaluator, made.clone(), json!(["book"])), 0.0);
    }
    let (of_names, reason) = score(&recall().match_arguments(false), made.clone(), json!(["book"]));
    assert!(
        of_names == 0.0 && reason.contains("wrong arguments: book: the arguments are no JSON: EOF"),
        "{reason}"
    );
    for (evaluator, expected) in [
        (ToolCalls::called("c", "book"), 0.0),
        (ToolCalls::not_called("n", "book"), 0.0),
        (ToolCalls::succeeded("s"), 0.0),
        (ToolCalls::at_most("m", 0), 0.0),
    ] {
        let (value, reason) = score(&evaluator, made.clone(), json!(null));
        assert_eq!(value, expected, "{reason}");
    }
}

#[test]
fn calls_within_others_count_unless_the_top_level_is_asked_for() {
    let made =
        json!([{ "tool": "plan", "calls": ["search", { "tool": "book", "error": "no seats" }] }, "report"]);
    assert_eq!(value(&exact_order(), made.clone(), json!(["plan", "search", "book", "report"])), 1.0);
    assert_eq!(value(&exact_order().top_level_only(true), made.clone(), json!(["plan", "report"])), 1.0);
    assert_eq!(value(&ToolCalls::succeeded("s"), made.clone(), json!(null)), 0.75);
    assert_eq!(value(&ToolCalls::succeeded("s").top_level_only(true), made.clone(), json!(null)), 1.0);
    let nested = json!([{ "tool": "plan", "calls": ["search", "book"] }, "report"]);
    assert_eq!(value(&exact_order(), made.clone(), nested.clone()), 1.0);
    assert_eq!(value(&exact_order().top_level_only(true), made, nested), 1.0);
}

#[test]
fn a_failed_call_that_is_ignored_keeps_those_within_it() {
    let made = json!([{ "tool": "plan", "error": "gave up", "calls": ["search"] }]);
    assert_eq!(value(&exact_order().ignore_failed(true), made, json!(["search"])), 1.0);
}

#[test]
fn a_repeat_has_the_same_tool_and_the_same_arguments() {
    let none = ToolCalls::repeats_at_most("r", 0);
    let call = |seats: serde_json::Value| json!({ "tool": "book", "arguments": seats });
    let different = json!([call(json!({ "seats": 1 })), call(json!({ "seats": 2 })), "book", "pay"]);
    assert_eq!(score(&none, different, json!(null)), (1.0, "0 repeated calls, at most 0".to_owned()));
    let same = json!([
        call(json!({ "seats": 1, "day": "Friday" })),
        "pay",
        call(json!({ "day": "Friday", "seats": 1.0 }))
    ]);
    assert_eq!(
        score(&none, same.clone(), json!(null)),
        (2.0 / 3.0, "1 repeated call, at most 0; in all: book(seats: 1, day: \"Friday\") twice".to_owned())
    );
    assert_eq!(value(&ToolCalls::repeats_at_most("r", 1), same, json!(null)), 1.0);
}

#[test]
fn a_loop_is_named_with_how_often_it_goes_round() {
    let none = ToolCalls::repeats_at_most("r", 0);
    let made = json!(["plan", "search", "weather", "search", "weather", "search", "weather", "report"]);
    assert_eq!(
        score(&none, made.clone(), json!(null)),
        (0.5, "4 repeated calls, at most 0; in a row: search, weather 3 times".to_owned())
    );
    let figures = scored(&none, made, json!(null)).unwrap();
    assert_eq!(figures.all_metadata()["loop"], json!({ "start": 1, "length": 2, "times": 3 }));
    let stuck = json!(["search", "search", "search", "search"]);
    let reason = "3 repeated calls, at most 0; in a row: search 4 times";
    assert_eq!(score(&none, stuck, json!(null)), (0.25, reason.to_owned()));
    let (_, reason) = score(&none, json!(["search", "search", "book", "pay", "book"]), json!(null));
    assert_eq!(
        reason,
        "2 repeated calls, at most 0; in a row: search twice; in all: search twice, book twice"
    );
}

#[test]
fn one_tool_can_be_looked_at_alone() {
    let made = json!(["search", "book", "search"]);
    assert_eq!(value(&exact_order().tool("search"), made.clone(), json!(["book", "search", "search"])), 1.0);
    assert_eq!(value(&ToolCalls::at_most("m", 1).tool("book"), made.clone(), json!(null)), 1.0);
    assert_eq!(value(&ToolCalls::at_most("m", 1).tool("search"), made.clone(), json!(null)), 0.5);
    assert_eq!(value(&ToolCalls::repeats_at_most("r", 0).tool("search"), made, json!(null)), 0.5);
}

#[test]
fn no_arguments_and_an_empty_object_are_the_same_call() {
    let made = json!([{ "tool": "now", "arguments": "" }, { "tool": "now", "arguments": "{}" }, "now"]);
    let (value, reason) = score(&ToolCalls::repeats_at_most("r", 0), made, json!(null));
    assert_eq!((value, &*reason), (1.0 / 3.0, "2 repeated calls, at most 0; in a row: now 3 times"));
}

#[test]
fn arguments_that_cannot_be_read_are_no_missing_call() {
    let made = json!([{ "tool": "book", "arguments": "{\"seats\": 2" }]);
    let (_, reason) = score(&arguments(), made, json!([{ "tool": "book", "arguments": { "seats": 2 } }]));
    assert!(reason.contains("; wrong arguments: book: the arguments are no JSON: EOF"), "{reason}");
}
