//! The rules of `cobalt/docs/calls.md`, each with a test.

mod scores;
mod settings;
mod shapes;
mod vendors;

use cobalt_core::item::Output;
use serde_json::{Value, json};

use super::ToolCalls;
use crate::evaluators::{EvalContext, EvalError, Score};

/// Scores made calls against the expected calls of an item.
fn scored(evaluator: &ToolCalls, made: Value, expected: Value) -> Result<Score, EvalError> {
    let item = crate::item! { "expected": expected };
    evaluator.score(&EvalContext::new(item, Output::new(json!({ "toolCalls": made }))))
}

/// The value and the reason.
#[track_caller]
fn score(evaluator: &ToolCalls, made: Value, expected: Value) -> (f64, String) {
    let score = scored(evaluator, made, expected).unwrap();
    (score.value(), score.why().unwrap().to_owned())
}

/// The value alone.
#[track_caller]
fn value(evaluator: &ToolCalls, made: Value, expected: Value) -> f64 {
    score(evaluator, made, expected).0
}

fn exact_order() -> ToolCalls {
    ToolCalls::exact_order("exact", "expected")
}

fn in_order() -> ToolCalls {
    ToolCalls::in_order("in-order", "expected")
}

fn any_order() -> ToolCalls {
    ToolCalls::any_order("any-order", "expected")
}

fn arguments() -> ToolCalls {
    ToolCalls::arguments("arguments", "expected")
}

fn precision() -> ToolCalls {
    ToolCalls::precision("precision", "expected")
}

fn recall() -> ToolCalls {
    ToolCalls::recall("recall", "expected")
}

fn f1() -> ToolCalls {
    ToolCalls::f1("f1", "expected")
}
