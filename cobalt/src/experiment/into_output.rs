//! The return types of agents, and their conversion to an [`Output`].

use std::borrow::Cow;

use cobalt_core::error_chain::IntoReason;
use cobalt_core::item::{Item, Output};
use serde::Serialize;
use serde_json::Value;

use super::agent::AgentError;
use crate::tools::IntoToolResult;

/// A return type of agents: text, JSON, an [`Output`], or a `Result` of one of these.
///
/// The error of a `Result` is stored with all its causes (its [`source`](std::error::Error::source)s). It is text, `anyhow::Error`,
/// [`BoxError`](crate::BoxError), [`AgentError`], which can say that a failure is transient, or any error that is `Send` and `Sync`. Functions with the attribute
/// [`experiment`](macro@crate::experiment) may also return `Box<dyn Error>`, and errors that only implement `Display`.
#[diagnostic::on_unimplemented(
    message = "an agent cannot return `{Self}`",
    label = "not text, JSON, `cobalt::Output` or a `Result` of one",
    note = "return `String`, `serde_json::Value`, `cobalt::Output`, `cobalt::Json(value)` for any `Serialize` value, or a `Result` of one of these"
)]
pub trait IntoOutput {
    /// Converts the returned value to an output, or to the error of its item.
    ///
    /// # Errors
    ///
    /// The agent's own error, or the value cannot be serialized to JSON.
    fn into_output(self) -> Result<Output, AgentError>;
}

impl IntoOutput for Output {
    fn into_output(self) -> Result<Output, AgentError> {
        Ok(self)
    }
}

macro_rules! impl_into_output {
    ($($type:ty),*) => {$(
        impl IntoOutput for $type {
            fn into_output(self) -> Result<Output, AgentError> {
                Ok(Output::new(self))
            }
        }
    )*};
}

impl_into_output!(String, &str, Cow<'_, str>, Value, Item, bool, i32, i64, u32, u64, usize, f64);

impl<T: IntoOutput, E: IntoReason> IntoOutput for Result<T, E> {
    fn into_output(self) -> Result<Output, AgentError> {
        self.map_err(|error| AgentError::from_dyn(&*error.into_boxed()))?.into_output()
    }
}

/// Any serialisable value as a JSON output: `Json(Answer { .. })`.
#[derive(Clone, Debug)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoOutput for Json<T> {
    fn into_output(self) -> Result<Output, AgentError> {
        serde_json::to_value(self.0)
            .map(Output::new)
            .map_err(|error| AgentError::new(format!("the output cannot be serialized to JSON: {error}")))
    }
}

impl<T: Serialize> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<Value, String> {
        // A `Result` of any value converts it.
        Ok::<_, String>(self.0).into_tool_result()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_shown_with_its_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("no answer")]
        struct NoAnswer(#[source] std::io::Error);

        let outcome: Result<String, _> = Err(NoAnswer(std::io::Error::other("refused")));
        assert_eq!(outcome.into_output().unwrap_err().to_string(), "no answer: refused");
        assert_eq!(Err::<String, _>("said no").into_output().unwrap_err().to_string(), "said no");
    }

    #[test]
    fn a_value_that_json_cannot_hold_is_the_items_error() {
        let odd: std::collections::BTreeMap<(i32, i32), i32> = [((1, 2), 3)].into();
        assert!(Json(odd).into_output().unwrap_err().to_string().contains("cannot be serialized to JSON"));
    }

    #[test]
    fn json_of_any_value_is_an_output_and_the_result_of_a_tool() {
        #[derive(Serialize)]
        struct Found {
            titles: Vec<&'static str>,
        }

        let found = || Json(Found { titles: vec!["Assam"] });
        let expected = serde_json::json!({ "titles": ["Assam"] });
        assert_eq!(found().into_output().unwrap().value(), &expected);
        assert_eq!(found().into_tool_result(), Ok(expected));
    }
}
