//! What an agent returns: text or JSON, with the model and the tokens that it took.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Item, ModelCall, TokenCount, usage};
use crate::nesting::{dismantle, is_too_deep, too_deep};
use crate::redact::{redact_fields, redact_texts};

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
    /// Why it cannot be used.
    #[serde(skip)]
    problem: Option<String>,
}

impl Output {
    /// An output of text or JSON, without metadata.
    pub fn new(value: impl Into<Value>) -> Self {
        Self { value: value.into(), metadata: Item::new(), problem: None }
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

    /// Reports what the answer cost in USD, where that is known: it takes precedence over the price table and over the cost
    /// of single calls. Kept as `metadata.cost`. A cost that is negative or no finite number is an error of the item.
    ///
    /// ```
    /// let output = cobalt::Output::new("Paris").cost(0.0003);
    /// assert_eq!(output.all_metadata()["cost"], 0.0003);
    /// ```
    #[must_use]
    pub fn cost(mut self, usd: f64) -> Self {
        if let Some(problem) = usage::no_cost(usd) {
            self.problem.get_or_insert(problem);
            return self;
        }
        self.metadata("cost", usd)
    }

    /// Reports a call of a model; one after the other where there are several, of one model or of different ones. Each has
    /// its own model's price, unless its cost is given. Kept as `metadata.usage`, with an entry for each model; the sum of
    /// their tokens is kept as `metadata.tokens` unless [`tokens`](Self::tokens) gives another.
    ///
    /// ```
    /// use cobalt::{ModelCall, Output};
    ///
    /// let output = Output::new("Paris")
    ///     .usage(ModelCall::new("gpt-4o").tokens(120, 10))
    ///     .usage(ModelCall::new("gpt-4o-mini").tokens(20, 3));
    /// assert_eq!(output.token_count().unwrap().total, 153);
    /// ```
    #[must_use]
    pub fn usage(mut self, call: ModelCall) -> Self {
        let own = self.metadata.get("usage").filter(|usage| !usage.is_null());
        let Some(mut usage) = own.map_or_else(|| Some(Vec::new()), usage::read_entries) else {
            let problem = "the agent's `metadata.usage` has another shape than `Output::usage` writes; keep it in another \
                           field, or use `Output::usage` alone";
            self.problem.get_or_insert_with(|| problem.to_owned());
            return self;
        };
        if let Err(problem) = usage::add(&mut usage, call) {
            self.problem.get_or_insert(problem);
        }
        self.metadata("usage", usage::write(&usage))
    }

    fn set_token_field(&mut self, field: &str, count: u64) {
        let tokens = self.metadata.entry("tokens").or_insert_with(|| Item::new().into());
        match tokens {
            Value::Object(fields) => drop(fields.insert(field.to_owned(), count.into())),
            // A number, or anything else that was there, gives way.
            other => *other = serde_json::json!({ field: count }),
        }
    }

    /// Why the output cannot be used: an error of its item, which keeps the metadata.
    pub(crate) fn problem(&mut self) -> Option<String> {
        self.problem.take()
    }

    /// The output, if it can be kept; else why not.
    pub(crate) fn checked(self) -> Result<Self, String> {
        if !is_too_deep(&self.value) && !self.metadata.values().any(is_too_deep) {
            return Ok(self);
        }
        dismantle(self.value);
        self.metadata.into_iter().for_each(|(_, value)| dismantle(value));
        Err(too_deep("the output"))
    }

    /// Its metadata, to be changed.
    pub(crate) fn metadata_mut(&mut self) -> &mut Item {
        &mut self.metadata
    }

    /// Its metadata alone.
    pub(crate) fn into_metadata(self) -> Item {
        self.metadata
    }

    /// Takes the secrets out of all texts and names.
    pub(crate) fn redact(&mut self) {
        redact_texts(&mut self.value);
        redact_fields(&mut self.metadata);
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
    /// Without them, the sum of those in `metadata.usage`.
    #[must_use]
    pub fn token_count(&self) -> Option<TokenCount> {
        TokenCount::of(&self.metadata)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_that_is_none_is_the_items_error() {
        for odd in [f64::NAN, f64::INFINITY, -0.01] {
            for mut output in
                [Output::new("").cost(odd), Output::new("").usage(ModelCall::new("a").cost(odd))]
            {
                let error = output.problem().unwrap();
                let expected =
                    format!("the agent reports a cost of {odd}; a cost is a finite number of US dollars");
                assert!(error.starts_with(&expected), "{error}");
            }
        }
        assert_eq!(Output::new("").cost(0.0).problem(), None);
    }

    #[test]
    fn usage_in_another_shape_is_not_replaced() {
        let raw = serde_json::json!({ "prompt_tokens": 7 });
        let call = || ModelCall::new("a").tokens(1, 2);
        let mut output = Output::new("").metadata("usage", raw.clone()).usage(call());
        let problem = output.problem().unwrap();
        assert!(problem.starts_with("the agent's `metadata.usage` has another shape"), "{problem}");
        assert_eq!(output.all_metadata()["usage"], raw);
        let mut output = Output::new("").metadata("usage", Value::Null).usage(call());
        assert_eq!((output.problem(), output.token_count().unwrap().total), (None, 3));
    }
}
