//! JSON schemas without the feature `json-schema`: evaluators that need them fail their check before the run.

use std::convert::Infallible;

use serde_json::Value;

use super::{EvalError, Score};

/// Cannot be constructed without the feature.
pub(super) type Validator = Infallible;

/// Returns an error that names the feature.
pub(super) fn compile(_: &Value) -> Result<Validator, String> {
    Err("JSON schemas need the feature `json-schema` of the package `cobalt-evals`; enable it".to_owned())
}

/// Never called: there is no validator.
pub(super) fn validate(_: &Value, validator: &Validator) -> Result<Score, EvalError> {
    match *validator {}
}
