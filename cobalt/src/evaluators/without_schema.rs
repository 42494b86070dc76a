//! JSON schemas in a program without the feature `json-schema`: an evaluator that needs one says so before the run.

use std::convert::Infallible;

use serde_json::Value;

use super::{EvalError, Score};

/// There is none without the feature.
pub(super) type Validator = Infallible;

/// Says which feature to turn on.
pub(super) fn validator(_: &Value) -> Result<Validator, String> {
    Err("JSON schemas need the feature `json-schema` of the package `cobalt`, which this program is built without; turn it on"
        .to_owned())
}

/// Is never called, as there is no validator.
pub(super) fn conforms(_: &Value, validator: &Validator) -> Result<Score, EvalError> {
    match *validator {}
}
