//! The arguments of evaluator functions.

use std::any::Any;
use std::ops::Deref;

use cobalt_core::error_chain::BoxError;
use serde::de::DeserializeOwned;

use crate::dataset::DecodeError;
use crate::evaluators::EvalContext;

/// A value that is borrowed if it already has the parameter's type, and deserialized otherwise.
#[derive(Debug)]
pub enum Argument<'a, T> {
    /// The parameter has the type of the stored value.
    Borrowed(&'a T),
    /// The parameter has a user-defined type.
    Decoded(T),
}

impl<T> Deref for Argument<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(value) => value,
            Self::Decoded(value) => value,
        }
    }
}

impl<'a, T: 'static> Argument<'a, T> {
    fn new(held: &'a dyn Any, decode: impl FnOnce() -> Result<T, BoxError>) -> Result<Self, BoxError> {
        match held.downcast_ref() {
            Some(value) => Ok(Self::Borrowed(value)),
            None => decode().map(Self::Decoded),
        }
    }
}

fn type_mismatch(what: &str, error: &DecodeError) -> String {
    format!("the {what} does not match the parameter type: {error}")
}

/// The evaluator's item, for a parameter that is a reference.
///
/// # Errors
///
/// Names the field that does not match.
pub fn item_ref<T: DeserializeOwned + 'static>(cx: &EvalContext) -> Result<Argument<'_, T>, BoxError> {
    Argument::new(cx.item(), || item_owned(cx))
}

/// The evaluator's item, for a parameter that owns it.
///
/// # Errors
///
/// Names the field that does not match.
pub fn item_owned<T: DeserializeOwned>(cx: &EvalContext) -> Result<T, BoxError> {
    cx.item_as().map_err(|error| type_mismatch("item", &error).into())
}

/// The agent's output, for a parameter that is a reference.
///
/// # Errors
///
/// Names the field that does not match.
pub fn output_ref<T: DeserializeOwned + 'static>(cx: &EvalContext) -> Result<Argument<'_, T>, BoxError> {
    Argument::new(cx.output(), || output_owned(cx))
}

/// The agent's output, for a parameter that owns it. A `String` parameter gets any output as text.
///
/// # Errors
///
/// Names the field that does not match.
pub fn output_owned<T: DeserializeOwned + 'static>(cx: &EvalContext) -> Result<T, BoxError> {
    let mut decoded: Option<T> = None;
    if let Some(text) = (&mut decoded as &mut dyn Any).downcast_mut::<Option<String>>() {
        *text = Some(cx.output_text().to_owned());
    }
    decoded.map_or_else(|| cx.output_as().map_err(|error| type_mismatch("output", &error).into()), Ok)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use cobalt_core::item::Item;
    use cobalt_core::item::Output;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Question {
        points: u8,
    }

    fn cx(output: Value) -> EvalContext {
        EvalContext::new(crate::item! { "points": 3 }, Output::new(output))
    }

    #[test]
    fn what_is_held_in_the_wanted_type_is_not_copied() {
        let cx = cx(json!([1]));
        assert!(matches!(item_ref::<Item>(&cx), Ok(Argument::Borrowed(_))));
        assert!(matches!(output_ref::<Value>(&cx), Ok(Argument::Borrowed(_))));
    }

    #[test]
    fn other_types_are_decoded() {
        let cx = cx(json!([1, 2]));
        assert_eq!(item_ref::<Question>(&cx).unwrap().points, 3);
        assert_eq!(item_owned::<Question>(&cx).unwrap().points, 3);
        assert_eq!(output_ref::<Vec<u8>>(&cx).unwrap()[..], [1, 2]);
    }

    #[test]
    fn text_is_had_of_any_output() {
        assert_eq!(output_owned::<String>(&cx(json!("Paris"))).unwrap(), "Paris");
        assert_eq!(output_owned::<String>(&cx(json!([1]))).unwrap(), "[1]");
    }

    #[test]
    fn a_misfit_names_what_does_not_fit() {
        let error = output_owned::<Question>(&cx(json!({ "points": "3" }))).unwrap_err().to_string();
        assert!(error.starts_with("the output does not match the parameter type: field `points`"), "{error}");
    }
}
