//! Evaluators are code like any other: these are ordinary tests of them.

mod scoring;

use cobalt::{Score, item};
use scoring::{
    Expected, ExpectedCall, PLANNER, books_only_when_asked, expected_calls, few_steps, in_order,
    mentions_facts, no_repeats, no_silent_failure,
};
use serde_json::json;
use travel_planner::{Call, Reply};

fn expected(facts: &[&str], calls: Vec<ExpectedCall>) -> Expected {
    Expected { expected_output: facts.iter().map(|&fact| fact.to_owned()).collect(), expected_calls: calls }
}

fn must_call(tool: &str, arguments: cobalt::Item) -> ExpectedCall {
    ExpectedCall { tool: tool.to_owned(), arguments }
}

fn search_and_weather() -> Expected {
    expected(&[], vec![must_call("search_trains", item! { "to": "York" }), must_call("weather", item! {})])
}

fn reply(answer: &str, trace: Vec<Call>) -> Reply {
    Reply { answer: answer.to_owned(), trace }
}

fn search(to: &str) -> Call {
    let arguments = json!({ "from": "Leeds", "to": to });
    Call { tool: "search_trains".into(), arguments, result: Some(json!([])), error: None }
}

fn weather() -> Call {
    Call {
        tool: "weather".into(),
        arguments: json!({ "place": "York" }),
        result: Some(json!({})),
        error: None,
    }
}

fn failed(call: Call) -> Call {
    Call { result: None, error: Some("no train goes".into()), ..call }
}

fn booking() -> Call {
    Call {
        tool: "book_seats".into(),
        arguments: json!({ "train": "LY1" }),
        result: Some(json!("LY1")),
        error: None,
    }
}

fn passes(score: &Score) -> bool {
    score.value() >= 0.5
}

#[test]
fn a_call_may_have_more_arguments_than_matter() {
    let score = expected_calls(&search_and_weather(), &reply("", vec![search("York"), weather()]));
    assert_eq!((score.value(), score.why()), (1.0, Some("2 of 2 calls made")));
}

#[test]
fn a_call_with_another_argument_is_missing() {
    let score = expected_calls(&search_and_weather(), &reply("", vec![search("London"), weather()]));
    assert_eq!(score.value(), 0.5);
    assert_eq!(score.why(), Some(r#"1 of 2 calls made; missing: search_trains {"to":"York"}"#));
}

#[test]
fn a_number_is_the_same_with_a_point_and_without() {
    let call = Call {
        tool: "convert_currency".into(),
        arguments: json!({ "amount": 80.0 }),
        result: Some(json!(92.8)),
        error: None,
    };
    let exchange =
        |amount: i32| expected(&[], vec![must_call("convert_currency", item! { "amount": amount })]);
    assert_eq!(expected_calls(&exchange(80), &reply("", vec![call.clone()])).value(), 1.0);
    assert_eq!(expected_calls(&exchange(81), &reply("", vec![call])).value(), 0.0);
}

#[test]
fn order_is_judged_of_the_calls_that_were_made() {
    let expected = search_and_weather();
    assert!(passes(&in_order(&expected, &reply("", vec![search("York"), weather()]))));
    assert!(passes(&in_order(&expected, &reply("", vec![weather()]))));
    assert!(!passes(&in_order(&expected, &reply("", vec![weather(), search("York")]))));
}

#[test]
fn each_needless_call_costs() {
    let expected = search_and_weather();
    assert_eq!(few_steps(&expected, &reply("", vec![])).value(), 1.0);
    let made = vec![search("Leeds"), search("York"), weather(), booking()];
    assert_eq!(few_steps(&expected, &reply("", made)).value(), 0.5);
}

#[test]
fn the_same_tool_with_other_arguments_is_no_repeat() {
    assert!(passes(&no_repeats(&reply("", vec![search("York"), search("London")]))));
    let score = no_repeats(&reply("", vec![search("York"), weather(), search("York")]));
    assert!(!passes(&score));
    assert_eq!(score.why(), Some(r#"search_trains {"from":"Leeds","to":"York"} twice"#));
}

#[test]
fn a_booking_must_be_asked_for() {
    let asked = expected(&[], vec![must_call("book_seats", item! {})]);
    assert!(passes(&books_only_when_asked(&asked, &reply("", vec![booking()]))));
    assert!(!passes(&books_only_when_asked(&search_and_weather(), &reply("", vec![booking()]))));
    assert!(passes(&books_only_when_asked(&search_and_weather(), &reply("", vec![search("York")]))));
}

#[test]
fn a_failure_is_told_or_tried_again() {
    let failure = || failed(search("York"));
    assert!(passes(&no_silent_failure(&reply("Sorry, no train goes.", vec![failure()]))));
    assert!(passes(&no_silent_failure(&reply("", vec![failure(), search("London")]))));
    assert!(!passes(&no_silent_failure(&reply("Have a nice trip!", vec![failure()]))));
    assert!(!passes(&no_silent_failure(&reply("", vec![failure(), weather()]))));
}

#[test]
fn facts_are_found_in_any_case_and_missing_ones_are_named() {
    let score = mentions_facts(&expected(&["Sunny", "07:15"], vec![]), &reply("It is sunny.", vec![]));
    assert_eq!((score.value(), score.why()), (0.5, Some("1 of 2 facts mentioned; missing: 07:15")));
    assert_eq!(mentions_facts(&expected(&[], vec![]), &reply("Hello!", vec![])).value(), 1.0);
}

#[test]
fn a_reply_is_read_back_as_it_is_written() {
    let reply = PLANNER.answer("Weather in York on Friday and Atlantis");
    let text = serde_json::to_string(&reply).unwrap();
    assert_eq!(serde_json::from_str::<Reply>(&text).unwrap(), reply);
}
