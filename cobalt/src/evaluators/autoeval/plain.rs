//! The kinds that compute their score, without asking any model.

use serde_json::Value;

use super::{AutoevalKind, Options};
use crate::evaluators::source::{Inputs, text_of};
use crate::evaluators::{EvalError, Score};
use crate::metrics::{
    exact_match, is_json_text, json_diff, levenshtein, list_contains, numeric_diff, tree_of, valid_json,
};
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
    let validator = validator(schema)?;
    let read;
    let instance = match output {
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(value) => {
                read = value;
                &read
            }
            Err(error) if is_json_text(text) => {
                return Err(EvalError::new(format!(
                    "the output is JSON, but holds what cannot be read here: {error}"
                )));
            }
            Err(error) => return Ok(Score::from(false).reason(format!("no JSON: {error}"))),
        },
        value => value,
    };
    Ok(match validator.iter_errors(instance).next() {
        None => Score::from(true),
        Some(error) => {
            let place = error.instance_path().to_string();
            let place = if place.is_empty() { "the whole".to_owned() } else { place };
            Score::from(false).reason(format!("{place}: {}", cut(&error.to_string(), 4 * QUOTED)))
        }
    })
}

/// What a schema demands, which may be written as text, as in a table. Nothing is fetched for it.
pub(super) fn validator(schema: &Value) -> Result<jsonschema::Validator, EvalError> {
    let invalid = |problem: String| EvalError::new(format!("the schema is no valid JSON schema: {problem}"));
    let read;
    let schema = match schema {
        Value::String(text) => {
            read = serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?;
            &read
        }
        schema => schema,
    };
    jsonschema::validator_for(schema).map_err(|error| invalid(error.to_string()))
}
