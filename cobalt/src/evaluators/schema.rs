//! Compiles JSON schemas and validates outputs.

use std::borrow::Cow;

pub(super) use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{ReferencingError, ValidationError};
use serde_json::Value;

use cobalt_core::wording::truncate;

use super::{EvalError, Score};
use crate::metrics::is_json_text;

/// The maximum number of violations in a reason.
const MAX_VIOLATIONS: usize = 3;
/// The maximum length of each of them, in characters.
const MAX_VIOLATION_CHARS: usize = 200;

/// Compiles a schema, which may also be JSON text. References are not fetched.
pub fn compile(schema: &Value) -> Result<Validator, String> {
    let invalid = |problem: String| format!("invalid JSON schema: {problem}");
    let schema = match schema {
        Value::String(text) => {
            Cow::Owned(serde_json::from_str(text).map_err(|error| invalid(error.to_string()))?)
        }
        schema => Cow::Borrowed(schema),
    };
    // By default the library checks formats in drafts 4 to 7, but not in later ones.
    let options = jsonschema::options().should_validate_formats(false);
    options.build(&schema).map_err(|error| invalid(problem(&error)))
}

/// The error of an invalid schema. For an external `$ref`, the library's message is about how to build it with fetching.
fn problem(error: &ValidationError<'_>) -> String {
    match error.kind() {
        ValidationErrorKind::Referencing(ReferencingError::Unretrievable { uri, .. }) => {
            format!(
                "`{uri}` is outside the schema, and references are not fetched; move its target to `$defs`"
            )
        }
        _ => error.to_string(),
    }
}

/// Scores 1 if an output (parsed, if it is JSON text) is valid, else 0.
pub fn validate(output: &Value, validator: &Validator) -> Result<Score, EvalError> {
    let output = match output {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(value) => Cow::Owned(value),
            Err(error) if is_json_text(text) => {
                return Err(EvalError::new(format!(
                    "the output is JSON, but cannot be parsed here: {error}"
                )));
            }
            Err(error) => return Ok(Score::from(false).reason(format!("not JSON: {error}"))),
        },
        value => Cow::Borrowed(value),
    };
    let mut violations = validator.iter_errors(&output);
    let named: Vec<_> =
        violations.by_ref().take(MAX_VIOLATIONS).map(|error| describe_violation(&error)).collect();
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

/// A violation with its location as a JSON pointer.
fn describe_violation(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().to_string();
    let place = if place.is_empty() { "root" } else { &place };
    format!("{place}: {}", truncate(&error.to_string(), MAX_VIOLATION_CHARS))
}
