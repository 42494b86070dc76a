//! Evaluators are code like any other: these are ordinary tests of them.

mod scoring;

use cobalt::{Score, item};
use scoring::{
    Expected, ExpectedCall, books_only_when_asked, expected_calls, few_steps, in_order, mentions_facts,
    tells_failures,
};
use serde_json::{Value, json};
use travel_planner::{Call, Reply};

fn expected(facts: &[&str], calls: Vec<ExpectedCall>) -> Expected {
    Expected { expected_output: facts.iter().map(|&fact| fact.to_owned()).collect(), expected_calls: calls }
}

fn search_and_weather() -> Expected {
    let call = |tool: &str, arguments| ExpectedCall { tool: tool.to_owned(), arguments };
    expected(&[], vec![call("search_trains", item! { "to": "York" }), call("weather", item! {})])
}

fn reply(answer: &str, trace: Vec<Call>) -> Reply {
    Reply { answer: answer.to_owned(), trace }
}

fn call(tool: &str, arguments: Value) -> Call {
    Call { tool: tool.to_owned(), arguments, result: Some(json!("found")), error: None }
}

fn search(to: &str) -> Call {
    call("search_trains", json!({ "from": "Leeds", "to": to }))
}

fn weather() -> Call {
    call("weather", json!({ "place": "York" }))
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
    let made = vec![search("Leeds"), search("York"), weather(), weather()];
    assert_eq!(few_steps(&expected, &reply("", made)).value(), 0.5);
}

#[test]
fn facts_are_found_in_any_case_and_missing_ones_are_named() {
    let score = mentions_facts(&expected(&["Sunny", "07:15"], vec![]), &reply("It is sunny.", vec![]));
    assert_eq!((score.value(), score.why()), (0.5, Some("1 of 2 facts mentioned; missing: 07:15")));
    assert_eq!(mentions_facts(&expected(&[], vec![]), &reply("Hello!", vec![])).value(), 1.0);
}

#[test]
fn a_booking_must_be_asked_for() {
    let booking = || call("book_seats", json!({ "train": "LY1" }));
    let asked = expected(&[], vec![ExpectedCall { tool: "book_seats".to_owned(), arguments: item! {} }]);
    assert!(passes(&books_only_when_asked(&asked, &reply("", vec![booking()]))));
    assert!(!passes(&books_only_when_asked(&search_and_weather(), &reply("", vec![booking()]))));
    assert!(passes(&books_only_when_asked(&search_and_weather(), &reply("", vec![search("York")]))));
}

#[test]
fn a_failure_must_be_told() {
    let failure = || Call { result: None, error: Some("no train goes".to_owned()), ..search("York") };
    assert!(passes(&tells_failures(&reply("Sorry, no train goes.", vec![failure()]))));
    assert!(!passes(&tells_failures(&reply("Have a nice trip!", vec![search("York"), failure()]))));
}
