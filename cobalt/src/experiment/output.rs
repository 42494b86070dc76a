//! What an agent returns: text or JSON, with the model and the tokens that it took.

use std::borrow::Cow;
use std::fmt::Display;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::agent::AgentError;
use super::tokens::TokenCount;
use crate::dataset::Item;
use crate::nesting::{dismantle, is_too_deep, too_deep};
use crate::redact::redact_texts;

/// An agent's answer with what it reports about itself.
///
/// ```
/// let output = cobalt::Output::new("Paris").model("gpt-4o-mini").tokens(20, 3).metadata("attempt", 1);
/// assert_eq!(output.token_count().unwrap().total, 23);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Output {
    #[serde(rename = "output", default)]
    value: Value,
    #[serde(default, skip_serializing_if = "Item::is_empty")]
    metadata: Item,
}

impl Output {
    /// An output of text or JSON, without metadata.
    pub fn new(value: impl Into<Value>) -> Self {
        Self { value: value.into(), metadata: Item::new() }
    }

    /// Names the model that answered; its price gives the cost. Kept as `metadata.model`.
    #[must_use]
    pub fn model(self, model: impl Into<String>) -> Self {
        self.metadata("model", model.into())
    }

    /// Reports the tokens that were read and written. Kept as `metadata.tokens`.
    #[must_use]
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.set_token_field("input", input);
        self.set_token_field("output", output);
        self
    }

    /// Reports how many of the input tokens were read from the vendor's cache, which cost less. They count among those of
    /// [`tokens`](Self::tokens), before or after which this is called. Kept as `metadata.tokens.cachedInput`.
    #[must_use]
    pub fn cached_tokens(mut self, cached_input: u64) -> Self {
        self.set_token_field("cachedInput", cached_input);
        self
    }

    fn set_token_field(&mut self, field: &str, count: u64) {
        let tokens = self.metadata.entry("tokens").or_insert_with(|| Item::new().into());
        match tokens {
            Value::Object(fields) => drop(fields.insert(field.to_owned(), count.into())),
            // A number, or anything else that was there, gives way.
            other => *other = serde_json::json!({ field: count }),
        }
    }

    /// The output, if it can be kept.
    pub(crate) fn checked(self) -> Result<Self, AgentError> {
        if !is_too_deep(&self.value) && !self.metadata.values().any(is_too_deep) {
            return Ok(self);
        }
        dismantle(self.value);
        self.metadata.into_iter().for_each(|(_, value)| dismantle(value));
        Err(AgentError::new(too_deep("the output")))
    }

    /// Takes what looks like a key out of all texts.
    pub(crate) fn redact(&mut self) {
        redact_texts(&mut self.value);
        self.metadata.values_mut().for_each(redact_texts);
    }

    /// Adds a field of metadata.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// The answer itself.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// All metadata, `model` and `tokens` among it.
    #[must_use]
    pub fn all_metadata(&self) -> &Item {
        &self.metadata
    }

    /// The answer as text: a string as it is, anything else as compact JSON.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match &self.value {
            Value::String(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.to_string()),
        }
    }

    /// The model named in `metadata.model`.
    #[must_use]
    pub fn model_name(&self) -> Option<&str> {
        self.metadata.get("model")?.as_str()
    }

    /// The tokens reported in `metadata.tokens`: a number, or `{input, output, cachedInput}` of which any may be missing.
    #[must_use]
    pub fn token_count(&self) -> Option<TokenCount> {
        TokenCount::read(self.metadata.get("tokens")?)
    }
}

/// What an agent may return: text, JSON, an [`Output`], or a `Result` of one of these.
#[diagnostic::on_unimplemented(
    message = "an agent cannot return `{Self}`",
    label = "not text, JSON, `cobalt::Output` or a `Result` of one",
    note = "return `String`, `serde_json::Value`, `cobalt::Output`, `cobalt::Json(value)` for any `Serialize` value, or a `Result` of one of these"
)]
pub trait IntoOutput {
    /// Turns the returned value into an output, or into the error of its item.
    ///
    /// # Errors
    ///
    /// The agent's own error, or that the value cannot be written as JSON.
    fn into_output(self) -> Result<Output, AgentError>;
}

impl IntoOutput for Output {
    fn into_output(self) -> Result<Output, AgentError> {
        Ok(self)
    }
}

macro_rules! values_are_outputs {
    ($($type:ty),*) => {$(
        impl IntoOutput for $type {
            fn into_output(self) -> Result<Output, AgentError> {
                Ok(Output::new(self))
            }
        }
    )*};
}

values_are_outputs!(String, &str, Cow<'_, str>, Value, Item, bool, i32, i64, u32, u64, usize, f64);

impl<T: IntoOutput, E: Display> IntoOutput for Result<T, E> {
    fn into_output(self) -> Result<Output, AgentError> {
        match self {
            Ok(value) => value.into_output(),
            // The alternate form shows the causes too where the type has them (`anyhow::Error`).
            Err(error) => Err(AgentError::new(format!("{error:#}"))),
        }
    }
}

/// Any serialisable value as a JSON output: `Json(Answer { .. })`.
#[derive(Clone, Debug)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoOutput for Json<T> {
    fn into_output(self) -> Result<Output, AgentError> {
        serde_json::to_value(self.0)
            .map(Output::new)
            .map_err(|error| AgentError::new(format!("the output cannot be written as JSON: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_shown_with_its_causes() {
        struct Chain;
        impl Display for Chain {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(if f.alternate() { "no answer: refused" } else { "no answer" })
            }
        }
        let outcome: Result<String, Chain> = Err(Chain);
        assert_eq!(outcome.into_output().unwrap_err().to_string(), "no answer: refused");
    }

    #[test]
    fn a_value_that_json_cannot_hold_is_the_items_error() {
        let odd: std::collections::BTreeMap<(i32, i32), i32> = [((1, 2), 3)].into();
        assert!(Json(odd).into_output().unwrap_err().to_string().contains("cannot be written as JSON"));
    }
}
