//! The evaluators of the travel planner: those of calls with the planner's settings, and functions of its own over its answer.

use cobalt::{Score, ToolCalls};
use serde::Deserialize;
use travel_planner::Reply;

/// What an evaluator knows of an item, and the agent does not.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Expected {
    /// What the answer must say, in any order.
    pub(crate) expected_output: Vec<String>,
    /// The calls that must be made.
    pub(crate) expected_calls: Vec<ExpectedCall>,
}

/// A call that must be made.
#[derive(Deserialize)]
pub(crate) struct ExpectedCall {
    pub(crate) tool: String,
}

/// The field of an item with the calls that must be made.
const EXPECTED: &str = "expectedCalls";

/// The share of the expected calls that were made.
pub(crate) fn expected_calls() -> ToolCalls {
    ToolCalls::recall("expected_calls", EXPECTED)
}

/// Whether they were made in the expected order.
pub(crate) fn in_order() -> ToolCalls {
    ToolCalls::in_order("in_order", EXPECTED)
}

/// How far the tools were called with what the traveller said.
pub(crate) fn right_arguments() -> ToolCalls {
    ToolCalls::arguments("right_arguments", EXPECTED)
}

/// The share of the calls that had to be made.
pub(crate) fn only_needed() -> ToolCalls {
    ToolCalls::precision("only_needed", EXPECTED)
}

/// No request needs more than five calls.
pub(crate) fn few_steps() -> ToolCalls {
    ToolCalls::at_most("few_steps", 5)
}

/// Nothing is looked up twice.
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

/// Whether seats are booked only where the traveller asks for it.
#[cobalt::evaluator]
pub(crate) fn books_only_when_asked(expected: &Expected, output: &Reply) -> Score {
    const BOOKING: &str = "book_seats";
    let asked = expected.expected_calls.iter().any(|call| call.tool == BOOKING);
    match output.trace.iter().find(|call| call.tool == BOOKING) {
        Some(call) => Score::from(asked).reason(format!("asked: {asked}, books {}", call.arguments)),
        None => Score::from(true).reason("books nothing"),
    }
}

/// Whether the error of each call that failed is told to the traveller.
#[cobalt::evaluator]
pub(crate) fn tells_failures(output: &Reply) -> Score {
    let Reply { answer, trace } = output;
    let silent = trace.iter().find(|call| call.error.as_ref().is_some_and(|error| !answer.contains(error)));
    match silent {
        Some(call) => Score::from(false).reason(format!("the failure of {} is not told", call.tool)),
        None => Score::from(true).reason("every failure is told"),
    }
}

/// All but the missing ones, as a share; of nothing it is all.
fn share(whole: usize, what: &str, missing: Vec<String>) -> Score {
    let part = whole - missing.len();
    let score = if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
    let missing =
        if missing.is_empty() { String::new() } else { format!("; missing: {}", missing.join(", ")) };
    Score::new(score).reason(format!("{part} of {whole} {what}{missing}"))
}
