//! Checks before the run, errors of single items, and settings.

use cobalt_core::item::Item;
use serde_json::{Value, json};

use super::{any_order, arguments, exact_order, f1, in_order, precision, recall, score, scored, value};
use crate::config::Config;
use crate::dataset::Dataset;
use crate::evaluators::calls::evaluator::CallCheck;
use crate::evaluators::{Evaluator, Setup};
use crate::settings::assert_round_trip;
use crate::{ToolCall, ToolCalls, item};

#[test]
fn checks_are_written_as_they_are_read() {
    assert_round_trip::<CallCheck>();
}

fn checked(evaluator: &ToolCalls, items: &[Item]) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let models = Config::load(folder.path(), |_| None).unwrap().shared_models();
    let dataset = Dataset::from_items(items.iter().cloned());
    let setup = Setup { dataset, models, has_workspace: false, is_partial: false };
    evaluator.check(&setup).map_err(|error| error.to_string())
}

#[test]
fn a_field_that_no_item_has_is_told_before_the_run() {
    let error = checked(&recall(), &[item! { "expectd": [] }]).unwrap_err();
    assert_eq!(error, "no item has `expected` to compare with; did you mean `expectd`? available: `expectd`");
    assert_eq!(checked(&recall(), &[item! { "expected": [] }, item! { "input": 1 }]), Ok(()));
    assert_eq!(checked(&recall(), &[]), Ok(()));
}

#[test]
fn expected_calls_that_cannot_be_read_are_told_before_the_run() {
    let error = |expected: Value| {
        checked(&recall(), &[item! { "expected": [] }, item! { "expected": expected }]).unwrap_err()
    };
    assert_eq!(
        error(json!([{ "tool": "book", "argumnts": {} }])),
        "item 1 (from 0): `expected[0].argumnts` is not a field of a call; did you mean `arguments`?"
    );
    for book in [
        json!({ "tool": "book", "arguments": "{" }),
        json!({ "id": "1", "function": { "name": "book", "arguments": "{" } }),
        json!({ "role": "assistant", "function_call": { "name": "book", "arguments": "{" } }),
        json!({ "type": "function_call", "name": "book", "arguments": "{" }),
    ] {
        assert_eq!(
            error(json!(["search", book])),
            "item 1 (from 0): `expected` has an invalid call of `book`: the arguments are not JSON: EOF \
             while parsing an object at line 1 column 1"
        );
    }
    assert!(error(json!([3])).starts_with("item 1 (from 0): `expected[0]` is a number; expected a call"));
    assert!(error(json!(3)).starts_with("item 1 (from 0): `expected` is a number; expected a list"));
}

#[test]
fn a_tool_that_nothing_expects_is_told_before_the_run() {
    let items = [item! { "expected": ["search"] }, item! { "expected": ["book"] }];
    let error = checked(&recall().tool("serch"), &items).unwrap_err();
    assert_eq!(
        error,
        "no item expects a call to `serch` in `expected`; did you mean `search`? available: `book`, `search`"
    );
    assert_eq!(checked(&recall().tool("book"), &items), Ok(()));
}

#[test]
fn checks_without_expected_calls_are_errors() {
    let no_calls = [item! { "expected": [] }, item! { "expected": [] }];
    for evaluator in [recall(), any_order(), in_order(), arguments()] {
        let error = checked(&evaluator, &no_calls).unwrap_err();
        assert!(error.starts_with("every item's `expected` is empty, so the check `"), "{error}");
        assert_eq!(checked(&evaluator, &[no_calls[0].clone(), item! { "expected": ["book"] }]), Ok(()));
    }
    for evaluator in [exact_order(), precision(), f1()] {
        assert_eq!(checked(&evaluator, &no_calls), Ok(()), "they mind unexpected calls");
    }
    let error = checked(&ToolCalls::not_called("n", " "), &[]).unwrap_err();
    assert_eq!(error, "the check `not-called` has an empty `tool`; write the name of the tool");
}

#[test]
fn settings_that_contradict_each_other_are_told_before_the_run() {
    for (evaluator, error) in [
        (ToolCalls::called("c", "a").tool("b"), "the check `called` already names its tool; remove `tool`"),
        (
            arguments().match_arguments(false),
            "the check `arguments` always compares arguments; remove `match_arguments`, or use `recall`",
        ),
        (
            ToolCalls::at_most("m", 1).match_arguments(true),
            "the check `at-most` does not use expected calls; remove `match_arguments`",
        ),
        (
            ToolCalls::succeeded("s").ignore_failed(true),
            "the check `succeeded` looks for failed calls; remove `ignore_failed`",
        ),
    ] {
        assert_eq!(checked(&evaluator, &[item! { "expected": [] }]), Err(error.to_owned()));
    }
    let error = checked(&ToolCalls::at_most("m", 1).calls("trace"), &[]).unwrap_err();
    assert!(error.starts_with("`trace` is not part of the agent's result"), "{error}");
    assert_eq!(checked(&any_order().ignore_failed(true).top_level_only(true), &[]), Ok(()));
}

#[test]
fn an_item_without_expected_calls_is_an_error_and_no_score() {
    let error = scored(&recall(), json!([]), json!(null)).unwrap_err().to_string();
    assert!(error.starts_with("the item's `expected` is missing or null"), "{error}");
}

#[test]
fn expected_calls_may_be_one_name_or_the_text_of_json() {
    for expected in [json!("book"), json!("[\"book\"]"), json!({ "tool": "book" }), json!(["book"])] {
        assert_eq!(value(&recall(), json!(["book"]), expected), 1.0);
    }
}

#[test]
fn an_output_passes_with_a_full_score_unless_it_is_said_otherwise() {
    assert_eq!(Evaluator::pass_mark(&recall()), 1.0);
    assert_eq!(Evaluator::pass_mark(&recall().pass_mark(0.7)), 0.7);
}

#[test]
fn a_setting_changes_the_fingerprint() {
    let prints = [recall(), recall().tool("a"), recall().ignore_failed(true), recall().calls("output.steps")]
        .map(|evaluator| evaluator.fingerprint());
    assert!((1..prints.len()).all(|index| !prints[..index].contains(&prints[index])));
}

#[track_caller]
fn refused(value: Value) -> String {
    ToolCall::read(&value).unwrap_err().to_string()
}

#[test]
fn an_entry_that_is_no_call_is_named_with_what_was_expected() {
    let error = refused(json!(["weather", 3]));
    assert!(error.starts_with("`calls[1]` is a number; expected a call as `{\"name\": …"), "{error}");
    let error = refused(json!([{ "arguments": {}, "when": 1 }]));
    assert!(error.starts_with("`calls[0]` has no name; expected a call"), "{error}");
    assert!(error.ends_with("its fields: `arguments`, `when`"), "{error}");
    let error = refused(json!([{ "type": "step-result", "toolCallId": "1" }]));
    assert!(error.starts_with("`calls[0]` has the unknown type `step-result`"), "{error}");
    assert!(refused(json!([" "])).starts_with("`calls[0]` is blank; expected"));
}

#[test]
fn a_field_that_is_not_as_it_should_be_is_named() {
    for (value, error) in [
        (json!([{ "tool": 3 }]), "`calls[0].tool` is a number; expected text"),
        (json!([{ "tool": "t", "calls": "u" }]), "`calls[0].calls` is text; expected a list"),
        (
            json!([{ "tool": "t", "calls": [{ "tool": "" }] }]),
            "`calls[0].calls[0].tool` is blank; expected text",
        ),
        (json!([{ "tool": "t", "name": "t" }]), "`calls[0]` has both `name` and `tool`; remove one"),
        (
            json!([{ "tool": "t", "args": {}, "input": {} }]),
            "`calls[0]` has both `args` and `input`; remove one",
        ),
        (json!([{ "tool": "t", "success": "no" }]), "`calls[0].success` is text; expected true or false"),
        (
            json!([{ "role": "assistant", "tool_calls": [{ "function": { "arguments": "{}" } }] }]),
            "`calls[0].tool_calls[0].function.name` is missing; expected text",
        ),
        (
            json!([{ "role": "assistant", "tool_calls": {} }]),
            "`calls[0].tool_calls` is an object; expected a list",
        ),
        (json!([{ "role": "tool", "content": "rain" }]), "`calls[0].tool_call_id` is missing; expected text"),
        (
            json!([{ "type": "function_call", "arguments": "{}" }]),
            "`calls[0].name` is missing; expected text",
        ),
        (
            json!([{ "role": "assistant", "content": [{ "type": "tool_use", "id": "1" }] }]),
            "`calls[0].content[0].name` is missing; expected text",
        ),
        (
            json!([{ "role": "model", "parts": [{ "functionCall": { "name": 7, "args": {} } }] }]),
            "`calls[0].parts[0].functionCall.name` is a number; expected text",
        ),
        (
            json!([{ "role": "assistant", "parts": [{ "type": "dynamic-tool", "toolCallId": "1" }] }]),
            "`calls[0].parts[0].toolName` is missing; expected text",
        ),
        (
            json!([{ "role": "user", "parts": [{ "functionResponse": { "response": {} } }] }]),
            "`calls[0].parts[0].functionResponse` is a result without a call ID; expected `id`",
        ),
        (
            json!([{ "role": "user", "parts": [{ "functionResponse": { "name": "t", "response": {} } }] }]),
            "`calls[0].parts[0].functionResponse` is a result for a call to `t`, which does not precede it",
        ),
        (
            json!([{ "role": "user", "content": [{ "toolResult": { "toolUseId": "1", "content": [] } }] }]),
            "`calls[0].content[0].toolResult` is a result for the call `1`, which does not precede it",
        ),
    ] {
        assert_eq!(refused(value), error);
    }
}

#[test]
fn an_answer_to_no_call_is_an_error() {
    let answer = json!({ "type": "tool_result", "tool_use_id": "1", "content": "rain" });
    assert_eq!(
        refused(json!([answer])),
        "`calls[0]` is a result for the call `1`, which does not precede it"
    );
    let call = json!({ "type": "tool_use", "id": "1", "name": "weather", "input": {} });
    assert_eq!(
        refused(json!([call, answer, answer])),
        "`calls[2]` is a second result for the call `1`; expected one"
    );
    let older = json!([{ "role": "function", "name": "weather", "content": "rain" }]);
    assert_eq!(refused(older), "`calls[0]` is a result for a call to `weather`, which does not precede it");
}

#[test]
fn what_holds_no_calls_at_all_is_an_error() {
    assert_eq!(refused(json!(null)), "`calls` is null; expected a list of calls or messages");
    assert_eq!(refused(json!("weather")), "`calls` is text; expected a list of calls or messages");
    let error = refused(json!({ "choices": [{}, {}] }));
    assert_eq!(error, "`calls.choices` has 2 answers; expected one, or a single message");
}

#[test]
fn calls_within_calls_without_end_are_an_error_and_no_overflow() {
    let deep = (0..60).fold(json!("t"), |inner, _| json!({ "tool": "t", "calls": [inner] }));
    let error = refused(deep);
    assert!(error.starts_with("`calls` is nested more than 100 levels deep"), "{error}");
}

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
        of_names == 0.0 && reason.contains("wrong arguments: book: the arguments are not JSON: EOF"),
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
        (2.0 / 3.0, "1 repeated call, at most 0; repeated: book(seats: 1, day: \"Friday\") twice".to_owned())
    );
    assert_eq!(value(&ToolCalls::repeats_at_most("r", 1), same, json!(null)), 1.0);
}

#[test]
fn a_loop_is_named_with_how_often_it_goes_round() {
    let none = ToolCalls::repeats_at_most("r", 0);
    let made = json!(["plan", "search", "weather", "search", "weather", "search", "weather", "report"]);
    assert_eq!(
        score(&none, made.clone(), json!(null)),
        (0.5, "4 repeated calls, at most 0; loop: search, weather 3 times".to_owned())
    );
    let figures = scored(&none, made, json!(null)).unwrap();
    assert_eq!(figures.all_metadata()["loop"], json!({ "start": 1, "length": 2, "times": 3 }));
    let stuck = json!(["search", "search", "search", "search"]);
    let reason = "3 repeated calls, at most 0; loop: search 4 times";
    assert_eq!(score(&none, stuck, json!(null)), (0.25, reason.to_owned()));
    let (_, reason) = score(&none, json!(["search", "search", "book", "pay", "book"]), json!(null));
    assert_eq!(reason, "2 repeated calls, at most 0; loop: search twice; repeated: search twice, book twice");
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
    assert_eq!((value, &*reason), (1.0 / 3.0, "2 repeated calls, at most 0; loop: now 3 times"));
}

#[test]
fn arguments_that_cannot_be_read_are_no_missing_call() {
    let made = json!([{ "tool": "book", "arguments": "{\"seats\": 2" }]);
    let (_, reason) = score(&arguments(), made, json!([{ "tool": "book", "arguments": { "seats": 2 } }]));
    assert!(reason.contains("; wrong arguments: book: the arguments are not JSON: EOF"), "{reason}");
}
