//! The evaluators of the travel planner: functions over its calls and its answer, which an ordinary test can call too.

use std::path::Path;
use std::sync::LazyLock;

use cobalt::{Item, Score};
use serde::Deserialize;
use serde_json::{Value, json};
use travel_planner::{Call, Day, Planner, Reply};

/// The planner under test, opened once. In its data it is Wednesday.
pub(crate) static PLANNER: LazyLock<Planner> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data");
    Planner::open(&folder, Day::Wednesday).unwrap_or_else(|error| panic!("the data cannot be read: {error}"))
});

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
    fn is_met_by(&self, call: &Call) -> bool {
        call.tool == self.tool
            && self
                .arguments
                .iter()
                .all(|(name, value)| call.arguments.get(name).is_some_and(|given| same(given, value)))
    }

    /// Which call of a trace meets it.
    fn place(&self, trace: &[Call]) -> Option<usize> {
        trace.iter().position(|call| self.is_met_by(call))
    }
}

/// Whether two arguments are the same; 80 and 80.0 are one number.
fn same(a: &Value, b: &Value) -> bool {
    a == b || a.as_f64().is_some_and(|number| b.as_f64() == Some(number))
}

/// The share of the expected calls that were made.
#[cobalt::evaluator]
pub(crate) fn expected_calls(expected: &Expected, output: &Reply) -> Score {
    let calls = &expected.expected_calls;
    let missing = calls.iter().filter(|call| call.place(&output.trace).is_none());
    let missing: Vec<String> =
        missing.map(|call| format!("{} {}", call.tool, json!(call.arguments))).collect();
    share(calls.len() - missing.len(), calls.len(), "calls made", &missing)
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

/// Whether no call was made twice with the same arguments: the second can find nothing new.
#[cobalt::evaluator]
pub(crate) fn no_repeats(output: &Reply) -> Score {
    let same = |a: &Call, b: &Call| a.tool == b.tool && a.arguments == b.arguments;
    let trace = &output.trace;
    match trace
        .iter()
        .enumerate()
        .find(|(place, call)| trace[..*place].iter().any(|earlier| same(earlier, call)))
    {
        Some((_, call)) => Score::from(false).reason(format!("{} {} twice", call.tool, call.arguments)),
        None => Score::from(true).reason("no call twice"),
    }
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

/// Whether each call that failed was followed by another try of its tool, or its error was told to the traveller.
#[cobalt::evaluator]
pub(crate) fn no_silent_failure(output: &Reply) -> Score {
    let Reply { answer, trace } = output;
    let silent = trace.iter().enumerate().find(|(place, call)| {
        let tried_again = trace[place + 1..].iter().any(|later| later.tool == call.tool);
        call.error.as_ref().is_some_and(|error| !tried_again && !answer.contains(error))
    });
    match silent {
        Some((_, call)) => Score::from(false).reason(format!("the failure of {} is not told", call.tool)),
        None => Score::from(true).reason("every failure is followed up"),
    }
}

/// The share of the facts that the answer mentions.
#[cobalt::evaluator]
pub(crate) fn mentions_facts(expected: &Expected, output: &Reply) -> Score {
    let (facts, answer) = (&expected.expected_output, output.answer.to_lowercase());
    let missing: Vec<_> =
        facts.iter().filter(|fact| !answer.contains(&fact.to_lowercase())).cloned().collect();
    share(facts.len() - missing.len(), facts.len(), "facts mentioned", &missing)
}

/// A share as a score; of nothing it is all.
fn share(part: usize, whole: usize, what: &str, missing: &[String]) -> Score {
    let score = if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
    let missing =
        if missing.is_empty() { String::new() } else { format!("; missing: {}", missing.join(", ")) };
    Score::new(score).reason(format!("{part} of {whole} {what}{missing}"))
}
