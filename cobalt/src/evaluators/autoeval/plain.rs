//! The kinds that compute their score, without asking any model.

use serde_json::Value;

use super::{AutoevalKind, Options};
use crate::evaluators::asking::source::{Inputs, text_of};
use crate::evaluators::schema::{conforms, validator};
use crate::evaluators::{EvalError, Score};
use crate::metrics::{exact_match, json_diff, levenshtein, list_contains, numeric_diff, tree_of, valid_json};
use crate::wording::cut;

/// How many characters a reason quotes.
const QUOTED: usize = 80;

/// The score of a kind that asks nobody.
pub(super) fn score(kind: AutoevalKind, options: &Options, inputs: &Inputs) -> Result<Score, EvalError> {
    let (output, expected) = (inputs.value("output"), inputs.value("expected"));
    let score = match kind {
        AutoevalKind::NumericDiff => {
            let (a, b) = (number("output", output)?, number("expected", expected)?);
            numeric_diff(a, b).into()
        }
        AutoevalKind::ExactMatch => exact_match(output, expected).into(),
        AutoevalKind::JsonDiff => json_diff(output, expected, options.preserve_strings).into(),
        AutoevalKind::ValidJson => return valid(output, inputs.value("schema")),
        AutoevalKind::ListContains => {
            let (given, wanted) = (elements("output", output)?, elements("expected", expected)?);
            list_contains(&given, &wanted, options.allow_extra, |a, b| levenshtein(a, b)).into()
        }
        _ => levenshtein(&text_of(output), &text_of(expected)).into(),
    };
    Ok(score)
}

/// A number, or text of one.
fn number(input: &str, value: &Value) -> Result<f64, EvalError> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number: &f64| number.is_finite()).ok_or_else(|| {
        EvalError::new(format!("`{input}` is {}, which is no number", cut(&value.to_string(), QUOTED)))
    })
}

/// The elements of a list, or of text of one, as texts.
pub(super) fn elements(input: &str, value: &Value) -> Result<Vec<String>, EvalError> {
    let read = if let Value::String(text) = value { tree_of(text) } else { None };
    match read.as_ref().unwrap_or(value) {
        Value::Array(elements) => Ok(elements.iter().map(|element| text_of(element).into_owned()).collect()),
        _ => {
            Err(EvalError::new(format!("`{input}` is {}, which is no list", cut(&value.to_string(), QUOTED))))
        }
    }
}

/// Whether the output is JSON, and of the form that a schema asks for.
fn valid(output: &Value, schema: &Value) -> Result<Score, EvalError> {
    if schema.is_null() {
        let valid = valid_json(output);
        return Ok(if valid { valid.into() } else { Score::from(valid).reason("no JSON object or list") });
    }
    conforms(output, &validator(schema).map_err(EvalError::new)?)
}
