//! What is told before anything runs, and of an item by itself.

use serde_json::{Value, json};

use super::{any_order, arguments, recall, scored, value};
use crate::config::Config;
use crate::dataset::{Dataset, Item};
use crate::evaluators::{Evaluator, Setup};
use crate::{ToolCalls, item};

fn checked(evaluator: &ToolCalls, items: &[Item]) -> Result<(), String> {
    let folder = tempfile::tempdir().unwrap();
    let models = Config::load(folder.path(), |_| None).unwrap().shared_models();
    let setup = Setup { dataset: Dataset::from_items(items.iter().cloned()), models };
    evaluator.check(&setup).map_err(|error| error.to_string())
}

#[test]
fn a_field_that_no_item_has_is_told_before_the_run() {
    let error = checked(&recall(), &[item! { "expectd": [] }]).unwrap_err();
    assert_eq!(error, "no item has `expected` to compare with; did you mean `expectd`? there are `expectd`");
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
        "item 1 (from 0): `expected[0].argumnts` is no field of a call; did you mean `arguments`?"
    );
    for book in [
        json!({ "tool": "book", "arguments": "{" }),
        json!({ "id": "1", "function": { "name": "book", "arguments": "{" } }),
        json!({ "role": "assistant", "function_call": { "name": "book", "arguments": "{" } }),
        json!({ "type": "function_call", "name": "book", "arguments": "{" }),
    ] {
        assert_eq!(
            error(json!(["search", book])),
            "item 1 (from 0): `expected` has a call of `book` that cannot be expected: the arguments are no JSON: EOF \
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
        "no item expects a call of `serch` in `expected`; did you mean `search`? there are `book`, `search`"
    );
    assert_eq!(checked(&recall().tool("book"), &items), Ok(()));
}

#[test]
fn settings_that_contradict_each_other_are_told_before_the_run() {
    for (evaluator, error) in [
        (
            ToolCalls::called("c", "a").tool("b"),
            "the check `called` names its tool already; leave `tool` out",
        ),
        (
            arguments().match_arguments(false),
            "the check `arguments` is of arguments in any case; leave out whether they are matched, or ask for `recall`",
        ),
        (
            ToolCalls::at_most("m", 1).match_arguments(true),
            "the check `at-most` compares nothing with what is expected; leave out whether arguments are matched",
        ),
        (
            ToolCalls::succeeded("s").ignore_failed(true),
            "the check `succeeded` looks for the calls that failed; leave out whether they are ignored",
        ),
    ] {
        assert_eq!(checked(&evaluator, &[item! { "expected": [] }]), Err(error.to_owned()));
    }
    let error = checked(&ToolCalls::at_most("m", 1).calls("trace"), &[]).unwrap_err();
    assert!(error.starts_with("`trace` is nothing that an agent gives"), "{error}");
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
