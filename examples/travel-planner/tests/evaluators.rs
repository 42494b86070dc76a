//! Unit tests of the evaluators. The evaluators of tool calls are tested in an experiment, on real and on broken traces of the
//! planner.

mod scoring;

use cobalt::{Dataset, Experiment, Item, Json, Report, Score};
use scoring::{
    Expected, ExpectedCall, books_only_when_asked, expected_calls, few_steps, in_order, mentions_facts,
    no_loops, only_needed, right_arguments, succeeds, tells_failures,
};
use serde_json::json;
use travel_planner::{Call, Planner, Reply};

/// A request of the dataset.
fn item(id: &str) -> Item {
    let requests =
        Dataset::from_file(concat!(env!("CARGO_MANIFEST_DIR"), "/datasets/requests.jsonl")).unwrap();
    Item::clone(&requests.iter().find(|item| item["id"] == id).unwrap())
}

/// The planner's reply to a request of the dataset.
fn real(id: &str) -> Reply {
    Planner::new().unwrap().answer(item(id)["input"].as_str().unwrap())
}

/// An experiment on one request of the dataset, with an agent that returns this reply.
fn experiment(id: &str, reply: &Reply) -> Report {
    let reply = reply.clone();
    let experiment = Experiment::new("planner", Dataset::from_items([item(id)]))
        .evaluator(expected_calls())
        .evaluator(in_order())
        .evaluator(right_arguments())
        .evaluator(only_needed())
        .evaluator(few_steps())
        .evaluator(no_loops())
        .evaluator(succeeds())
        .save(false);
    let agent = move |_: Item| Json(reply.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(experiment.run(agent)).unwrap()
}

/// The score of a reply to a request of the dataset, with its reason.
fn scored(evaluator: &str, id: &str, reply: &Reply) -> (f64, String) {
    let report = experiment(id, reply);
    let evaluation = report.items[0].first_trial().evaluations.get(evaluator).unwrap().clone();
    (evaluation.score.unwrap(), evaluation.reason.unwrap())
}

/// The evaluators that a reply does not pass. The experiment fails if there are any.
fn objections(id: &str, reply: &Reply) -> Vec<String> {
    let report = experiment(id, reply);
    let marks = report.config.evaluators.iter().zip(&report.config.pass_marks);
    let evaluations = &report.items[0].first_trial().evaluations;
    let objects = |(name, mark): &(&String, &f64)| evaluations.get(name).unwrap().score.unwrap() < **mark;
    let objections: Vec<_> = marks.filter(objects).map(|(name, _)| name.clone()).collect();
    assert_eq!(report.passed, objections.is_empty());
    objections
}

#[test]
fn a_real_trace_passes_where_the_planner_is_right() {
    // An experiment with "hello" alone would check nothing: no calls are expected there.
    for id in ["weather", "train-and-weather", "book", "slip-booking"] {
        assert_eq!(objections(id, &real(id)), Vec::<String>::new(), "{id}");
    }
}

#[test]
fn a_wrong_tool_is_caught() {
    let mut reply = real("train-and-weather");
    reply.trace[0].tool = "find_station".to_owned();
    assert_eq!(
        objections("train-and-weather", &reply),
        ["expected_calls", "in_order", "right_arguments", "only_needed"]
    );
    let (score, reason) = scored("expected_calls", "train-and-weather", &reply);
    let missing = r#"search_trains(from: "Leeds", to: "York", day: "Friday")"#;
    assert_eq!((score, reason), (0.5, format!("1 of 2 expected calls made; missing: {missing}")));
}

#[test]
fn a_planner_that_knows_only_the_weather_is_caught() {
    let reply = Planner::new().unwrap().answer("Weather in York on Saturday?");
    let (score, reason) = scored("expected_calls", "train", &reply);
    assert!(score == 0.0 && reason.contains("missing: search_trains("), "{reason}");
    let (_, reason) = scored("only_needed", "train", &reply);
    assert_eq!(reason, r#"0 of 1 call as expected; unexpected: weather(place: "York", day: "Saturday")"#);
}

#[test]
fn a_missing_argument_is_caught() {
    let mut reply = real("weather");
    reply.trace[0].arguments.as_object_mut().unwrap().remove("day");
    assert_eq!(
        objections("weather", &reply),
        ["expected_calls", "in_order", "right_arguments", "only_needed"]
    );
    let (score, reason) = scored("right_arguments", "weather", &reply);
    assert_eq!(score, 0.5);
    assert!(reason.ends_with(r#"wrong arguments: weather: day is missing, expected "Friday""#), "{reason}");
}

#[test]
fn a_planner_that_hears_no_days_is_caught() {
    let request = item("weather")["input"].as_str().unwrap().replace("on Friday", "");
    let reply = Planner::new().unwrap().answer(&request);
    let (score, reason) = scored("right_arguments", "weather", &reply);
    assert_eq!(score, 0.5);
    assert!(reason.ends_with(r#"weather: day is "Wednesday", expected "Friday""#), "{reason}");
}

#[test]
fn a_loop_is_caught() {
    let once = real("train-and-weather").trace;
    let reply = Reply { answer: String::new(), trace: [once.clone(), once.clone(), once].concat() };
    assert_eq!(objections("train-and-weather", &reply), ["only_needed", "few_steps", "no_loops"]);
    let (score, reason) = scored("no_loops", "train-and-weather", &reply);
    assert_eq!(score, 1.0 / 3.0);
    assert!(
        reason.starts_with("4 repeated calls, at most 0; loop: search_trains, weather 3 times"),
        "{reason}"
    );
}

#[test]
fn a_failed_step_is_caught() {
    let mut reply = real("book");
    let booking = reply.trace.last_mut().unwrap();
    (booking.result, booking.error) = (None, Some("the booking office is closed".to_owned()));
    assert_eq!(objections("book", &reply), ["succeeds"]);
    let (score, reason) = scored("succeeds", "book", &reply);
    assert_eq!(score, 0.5);
    assert_eq!(reason, "1 of 2 calls succeeded; failed: book_seats (the booking office is closed)");
}

#[test]
fn a_step_that_really_fails_is_caught() {
    let (score, reason) = scored("succeeds", "unknown-place", &real("unknown-place"));
    assert_eq!(score, 0.0);
    assert!(reason.ends_with("failed: find_station (no station is called Atlantis)"), "{reason}");
}

#[test]
fn calls_in_another_order_are_caught() {
    let mut reply = real("train-and-weather");
    reply.trace.swap(0, 1);
    assert_eq!(objections("train-and-weather", &reply), ["in_order"]);
}

fn expected(facts: &[&str], tools: &[&str]) -> Expected {
    let call = |tool: &&str| ExpectedCall { tool: (*tool).to_owned() };
    Expected {
        expected_output: facts.iter().map(|&fact| fact.to_owned()).collect(),
        expected_calls: tools.iter().map(call).collect(),
    }
}

fn reply(answer: &str, trace: Vec<Call>) -> Reply {
    Reply { answer: answer.to_owned(), trace }
}

fn call(tool: &str) -> Call {
    Call { tool: tool.to_owned(), arguments: json!({}), result: Some(json!("found")), error: None }
}

fn passes(score: &Score) -> bool {
    score.value() >= 0.5
}

#[test]
fn facts_are_found_in_any_case_and_missing_ones_are_named() {
    let score = mentions_facts(&expected(&["Sunny", "07:15"], &[]), &reply("It is sunny.", vec![]));
    assert_eq!((score.value(), score.why()), (0.5, Some("1 of 2 facts mentioned; missing: 07:15")));
    assert_eq!(mentions_facts(&expected(&[], &[]), &reply("Hello!", vec![])).value(), 1.0);
}

#[test]
fn a_booking_must_be_asked_for() {
    let (asked, not_asked) = (expected(&[], &["book_seats"]), expected(&[], &["search_trains"]));
    assert!(passes(&books_only_when_asked(&asked, &reply("", vec![call("book_seats")]))));
    assert!(!passes(&books_only_when_asked(&not_asked, &reply("", vec![call("book_seats")]))));
    assert!(passes(&books_only_when_asked(&not_asked, &reply("", vec![call("search_trains")]))));
}

#[test]
fn a_failure_must_be_told() {
    let failure = || Call { result: None, error: Some("no train goes".to_owned()), ..call("search_trains") };
    assert!(passes(&tells_failures(&reply("Sorry, no train goes.", vec![failure()]))));
    assert!(!passes(&tells_failures(&reply("Have a nice trip!", vec![call("search_trains"), failure()]))));
}
