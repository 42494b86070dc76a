//! JSON schemas: what they demand, and whether an output has that form.

use std::borrow::Cow;

pub(super) use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ReferencingError, ValidationError};
use serde_json::Value;

use cobalt_core::wording::cut;

use super::{EvalError, Score};
use crate::metrics::is_json_text;

/// How many violations a reason names.
const NAMED: usize = 3;
/// How many characters a reason gives to each of them.
const LONGEST: usize = 200;

/// What a schema demands, which may be written as text, as in a table. Nothing is fetched for it.
pub fn validator(schema: &Value) -> Result<Validator, String> {
    let invalid = |problem: String| format!("the schema is no valid JSON schema: {problem}");
    let schema = match schema {
        Value::String(text) => {
            Cow::Owned(serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?)
        }
        schema => Cow::Borrowed(schema),
    };
    // The library would ask for formats in drafts 4 to 7, and not in later ones.
    let options = jsonschema::options().should_validate_formats(false);
    options.build(&schema).map_err(|error| invalid(problem(&error)))
}

/// What is wrong with a schema. What the library says of a `$ref` elsewhere is how it would have to be built to fetch it.
fn problem(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) => {
            format!("`{uri}` is not within it, and nothing is fetched; put what it leads to under `$defs`")
        }
        _ => error.to_string(),
    }
}

/// 1 where an output, or the JSON that its text is, has the form that is demanded, and 0 elsewhere.
pub fn conforms(output: &Value, validator: &Validator) -> Result<Score, EvalError> {
    let output = match output {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(value) => Cow::Owned(value),
            Err(error) if is_json_text(text) => {
                return Err(EvalError::new(format!(
                    "the output is JSON, but holds what cannot be read here: {error}"
                )));
            }
            Err(error) => return Ok(Score::from(false).reason(format!("no JSON: {error}"))),
        },
        value => Cow::Borrowed(value),
    };
    let mut violations = validator.iter_errors(&output);
    let named: Vec<_> = violations.by_ref().take(NAMED).map(|error| in_words(&error)).collect();
    if named.is_empty() {
        return Ok(Score::from(true));
    }
    let more = violations.count();
    let reason = match more {
        0 => named.join("; "),
        more => format!("{}; and {more} more", named.join("; ")),
    };
    Ok(Score::from(false).reason(reason).metadata("violations", named.len() + more))
}

/// A violation with its place, a JSON pointer.
fn in_words(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { "the whole" } else { &place };
    format!("{place}: {}", cut(&error.to_string(), LONGEST))
}
