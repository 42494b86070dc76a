//! The travel planner's evaluators: built-in ones for tool calls, and custom functions for its answer.

use cobalt::{Score, ToolCalls};
use serde::Deserialize;
use travel_planner::Reply;

/// The fields of an item that only evaluators see.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Expected {
    /// Facts that the answer must mention, in any order.
    pub(crate) expected_output: Vec<String>,
    /// The expected calls.
    pub(crate) expected_calls: Vec<ExpectedCall>,
}

/// An expected call.
#[derive(Deserialize)]
pub(crate) struct ExpectedCall {
    pub(crate) tool: String,
}

/// The item's field with the expected calls.
const EXPECTED: &str = "expectedCalls";

/// The share of the expected calls that were made.
pub(crate) fn expected_calls() -> ToolCalls {
    ToolCalls::recall("expected_calls", EXPECTED)
}

/// Whether the expected calls were made in order.
pub(crate) fn in_order() -> ToolCalls {
    ToolCalls::in_order("in_order", EXPECTED)
}

/// How well the arguments match what the traveller said.
pub(crate) fn right_arguments() -> ToolCalls {
    ToolCalls::arguments("right_arguments", EXPECTED)
}

/// The share of the calls that were expected.
pub(crate) fn only_needed() -> ToolCalls {
    ToolCalls::precision("only_needed", EXPECTED)
}

/// At most five calls: no request needs more.
pub(crate) fn few_steps() -> ToolCalls {
    ToolCalls::at_most("few_steps", 5)
}

/// No repeated calls.
pub(crate) fn no_loops() -> ToolCalls {
    ToolCalls::repeats_at_most("no_loops", 0)
}

/// The share of the calls that did not fail.
pub(crate) fn succeeds() -> ToolCalls {
    ToolCalls::succeeded("succeeds")
}

/// The share of the facts that the answer mentions.
#[cobalt::evaluator]
pub(crate) fn mentions_facts(expected: &Expected, output: &Reply) -> Score {
    let (facts, answer) = (&expected.expected_output, output.answer.to_lowercase());
    let missing = facts.iter().filter(|fact| !answer.contains(&fact.to_lowercase()));
    share(facts.len(), "facts mentioned", missing.cloned().collect())
}

/// Whether seats are booked only on request.
#[cobalt::evaluator]
pub(crate) fn books_only_when_asked(expected: &Expected, output: &Reply) -> Score {
    const BOOKING: &str = "book_seats";
    let asked = expected.expected_calls.iter().any(|call| call.tool == BOOKING);
    match output.trace.iter().find(|call| call.tool == BOOKING) {
        Some(call) => Score::from(asked).reason(format!("asked: {asked}, books {}", call.arguments)),
        None => Score::from(true).reason("books nothing"),
    }
}

/// Whether the answer mentions the error of each failed call.
#[cobalt::evaluator]
pub(crate) fn tells_failures(output: &Reply) -> Score {
    let Reply { answer, trace } = output;
    let silent = trace.iter().find(|call| call.error.as_ref().is_some_and(|error| !answer.contains(error)));
    match silent {
        Some(call) => Score::from(false).reason(format!("the failure of {} is not reported", call.tool)),
        None => Score::from(true).reason("every failure is reported"),
    }
}

/// The share that is not missing; 1 if nothing is expected.
fn share(whole: usize, what: &str, missing: Vec<String>) -> Score {
    let part = whole - missing.len();
    let score = if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
    let missing =
        if missing.is_empty() { String::new() } else { format!("; missing: {}", missing.join(", ")) };
    Score::new(score).reason(format!("{part} of {whole} {what}{missing}"))
}
