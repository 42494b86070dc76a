//! The evaluators of the travel planner: functions over its calls and its answer, which an ordinary test can call too.

use cobalt::{Item, Score};
use serde::Deserialize;
use serde_json::json;
use travel_planner::{Call, Reply};

/// What an evaluator knows of an item, and the agent does not.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Expected {
    /// What the answer must say, in any order.
    pub(crate) expected_output: Vec<String>,
    /// The calls that must be made, in this order.
    pub(crate) expected_calls: Vec<ExpectedCall>,
}

/// A call that must be made.
#[derive(Deserialize)]
pub(crate) struct ExpectedCall {
    pub(crate) tool: String,
    /// Those that matter: a call may have more.
    pub(crate) arguments: Item,
}

impl ExpectedCall {
    /// Which call of a trace meets it.
    fn place(&self, trace: &[Call]) -> Option<usize> {
        let given = |call: &Call| self.arguments.iter().all(|(name, value)| call.arguments[name] == *value);
        trace.iter().position(|call| call.tool == self.tool && given(call))
    }
}

/// The share of the expected calls that were made.
#[cobalt::evaluator]
pub(crate) fn expected_calls(expected: &Expected, output: &Reply) -> Score {
    let calls = &expected.expected_calls;
    let missing = calls.iter().filter(|call| call.place(&output.trace).is_none());
    let missing = missing.map(|call| format!("{} {}", call.tool, json!(call.arguments))).collect();
    share(calls.len(), "calls made", missing)
}

/// Whether those of the expected calls that were made were made in the expected order.
#[cobalt::evaluator]
pub(crate) fn in_order(expected: &Expected, output: &Reply) -> Score {
    let places: Vec<_> =
        expected.expected_calls.iter().filter_map(|call| call.place(&output.trace)).collect();
    Score::from(places.is_sorted()).reason(format!("places in the trace: {places:?}"))
}

/// One for no more calls than expected, less for each that is needless.
#[cobalt::evaluator]
pub(crate) fn few_steps(expected: &Expected, output: &Reply) -> Score {
    let (made, enough) = (output.trace.len(), expected.expected_calls.len());
    let score = if made <= enough { 1.0 } else { enough as f64 / made as f64 };
    Score::new(score).reason(format!("{made} calls, {enough} are enough"))
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
