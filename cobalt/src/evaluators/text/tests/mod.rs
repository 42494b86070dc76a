//! What the tests of evaluators of text have in common, and what holds for all of these evaluators.

mod contains;
#[cfg(feature = "json-schema")]
mod json_schema;
mod references;
mod regex_match;
mod rouge;
mod seen;
mod squad;
mod translation;
mod wer;

use serde_json::Value;

use crate::evaluators::tests::without_models;
use crate::evaluators::{EvalContext, Evaluator, Score};
use crate::experiment::Output;

/// Scores an output for an item.
fn scored(evaluator: &dyn Evaluator, item: Value, output: Value) -> Result<Score, String> {
    let Value::Object(item) = item else { panic!("an item is an object") };
    let cx = EvalContext::new(item, Output::new(output));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(evaluator.evaluate(&cx)).map_err(|error| error.to_string())
}

/// The score alone, and why.
#[track_caller]
fn value(evaluator: &dyn Evaluator, item: Value, output: Value) -> (f64, Option<String>) {
    let score = scored(evaluator, item, output).unwrap();
    (score.value(), score.why().map(str::to_owned))
}

/// Checks against these items before anything is run.
fn checked(evaluator: &dyn Evaluator, items: Value) -> Result<(), String> {
    let items =
        items.as_array().expect("a list of items").iter().map(|item| item.as_object().unwrap().clone());
    without_models(evaluator, &items.collect::<Vec<_>>()).map_err(|error| error.to_string())
}
