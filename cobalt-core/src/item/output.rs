//! An agent's output: text or JSON, with metadata such as its model and tokens.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Item, ModelCall, usage};
use crate::nesting::{drop_iteratively, is_too_deep, too_deep_message};
use crate::prices::{MAX_TRIAL_TOKENS, Tokens};
use crate::redact::{redact_fields, redact_texts};

/// An agent's output with its metadata.
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
    /// Why the output is invalid.
    #[serde(skip)]
    problem: Option<String>,
}

impl Output {
    /// Creates an output of text or JSON, without metadata.
    pub fn new(value: impl Into<Value>) -> Self {
        Self { value: value.into(), metadata: Item::new(), problem: None }
    }

    /// Sets the model that answered; its price determines the cost. Stored as `metadata.model`.
    #[must_use]
    pub fn model(self, model: impl Into<String>) -> Self {
        self.metadata("model", model.into())
    }

    /// Sets the input and output tokens. Stored as `metadata.tokens`.
    #[must_use]
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.set_token_field("input", input);
        self.set_token_field("output", output);
        self
    }

    /// Sets how many of the input tokens were read from the provider's cache, which cost less. They are included in the input of
    /// [`tokens`](Self::tokens); the order of the calls does not matter. Stored as `metadata.tokens.cachedInput`.
    #[must_use]
    pub fn cached_tokens(mut self, cached_input: u64) -> Self {
        self.set_token_field("cachedInput", cached_input);
        self
    }

    /// Sets the cost in USD, if known: it takes precedence over the price table and over the cost of single calls. Stored as
    /// `metadata.cost`. A cost that is negative or not finite is an error of the item.
    ///
    /// ```
    /// let output = cobalt::Output::new("Paris").cost(0.0003);
    /// assert_eq!(output.all_metadata()["cost"], 0.0003);
    /// ```
    #[must_use]
    pub fn cost(mut self, usd: f64) -> Self {
        if let Some(problem) = usage::invalid_cost_message(usd) {
            self.problem.get_or_insert(problem);
            return self;
        }
        self.metadata("cost", usd)
    }

    /// Adds a model call. Call it once per model call, for one model or for several. Each call has its own model's price, unless its
    /// cost is given. Stored as `metadata.usage`, with an entry for each model; the sum of their tokens is stored as
    /// `metadata.tokens` unless [`tokens`](Self::tokens) sets another value.
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
            let problem = "the agent's `metadata.usage` does not have the format of `Output::usage`; use another field, or \
                           only `Output::usage`";
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
            // Replaces a number or any other value.
            other => *other = serde_json::json!({ field: count }),
        }
    }

    /// Why the output is invalid: an error of its item, which keeps the metadata.
    #[doc(hidden)]
    pub fn take_problem(&mut self) -> Option<String> {
        self.problem.take()
    }

    /// The output if it can be stored, or else the error.
    #[doc(hidden)]
    pub fn check_depth(self) -> Result<Self, String> {
        if !is_too_deep(&self.value) && !self.metadata.values().any(is_too_deep) {
            return Ok(self);
        }
        drop_iteratively(self.value);
        self.metadata.into_iter().for_each(|(_, value)| drop_iteratively(value));
        Err(too_deep_message("the output"))
    }

    /// The metadata, mutable.
    #[doc(hidden)]
    pub fn metadata_mut(&mut self) -> &mut Item {
        &mut self.metadata
    }

    /// Only the metadata.
    #[doc(hidden)]
    pub fn into_metadata(self) -> Item {
        self.metadata
    }

    /// Redacts all texts and names.
    #[doc(hidden)]
    pub fn redact(&mut self) {
        redact_texts(&mut self.value);
        redact_fields(&mut self.metadata);
    }

    /// Sets a metadata field.
    #[must_use]
    pub fn metadata(mut self, key: impl Into<String>, value: impl Into<Value>) -> Self {
        self.metadata.insert(key.into(), value.into());
        self
    }

    /// The output value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// All metadata, including `model` and `tokens`.
    #[must_use]
    pub fn all_metadata(&self) -> &Item {
        &self.metadata
    }

    /// The output as text: a string unchanged, anything else as compact JSON.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match &self.value {
            Value::String(text) => Cow::Borrowed(text),
            other => Cow::Owned(other.to_string()),
        }
    }

    /// The model in `metadata.model`.
    #[must_use]
    pub fn model_name(&self) -> Option<&str> {
        self.metadata.get("model")?.as_str()
    }

    /// The tokens in `metadata.tokens`: a number, or `{input, output, cachedInput}` of which any may be missing. Otherwise, the sum
    /// of those in `metadata.usage`.
    #[must_use]
    pub fn token_count(&self) -> Option<TokenCount> {
        TokenCount::of(&self.metadata)
    }
}

/// The tokens of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenCount {
    /// Input and output tokens.
    pub total: u64,
    /// Input tokens and output tokens, if both are known.
    pub split: Option<(u64, u64)>,
    /// The input tokens read from the provider's cache; never more than the input tokens.
    pub cached_input: u64,
}

impl TokenCount {
    /// The tokens in metadata: from `tokens`, or else by model from `usage`.
    #[doc(hidden)]
    pub fn of(metadata: &Item) -> Option<Self> {
        let of_usage = || {
            let Tokens { input, output, cached_input } = usage::total_tokens(&usage::read(metadata)?)?;
            Some(Self { total: input.saturating_add(output), split: Some((input, output)), cached_input })
        };
        metadata.get("tokens").and_then(Self::read).or_else(of_usage)
    }

    /// The tokens of both; the split is known if that of both is.
    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = |((input, output), (more_input, more_output)): ((u64, u64), (u64, u64))| {
            (input.saturating_add(more_input), output.saturating_add(more_output))
        };
        Self {
            total: self.total.saturating_add(other.total),
            split: self.split.zip(other.split).map(sum),
            cached_input: self.cached_input.saturating_add(other.cached_input),
        }
    }

    fn read(tokens: &Value) -> Option<Self> {
        if let Some(total) = count(tokens) {
            return Some(Self { total, split: None, cached_input: 0 });
        }
        let sides = tokens.as_object()?;
        let numbers = ["input", "output"].map(|side| sides.get(side).filter(|count| count.is_number()));
        // A count that cannot be makes the total unknown.
        if numbers.into_iter().flatten().any(|number| count(number).is_none()) {
            return None;
        }
        let [input, output] = numbers.map(|number| number.and_then(count));
        if input.is_none() && output.is_none() {
            return None;
        }
        let (input, output) = (input.unwrap_or(0), output.unwrap_or(0));
        let cached_input = sides.get("cachedInput").and_then(count).unwrap_or(0).min(input);
        Some(Self { total: input.saturating_add(output), split: Some((input, output)), cached_input })
    }

    /// The tokens in the form that prices need; `None` if only their sum is known.
    #[must_use]
    pub fn to_price(self) -> Option<Tokens> {
        let (input, output) = self.split.or((self.total == 0).then_some((0, 0)))?;
        Some(Tokens { input, output, cached_input: self.cached_input })
    }
}

/// A non-negative integer in any notation (`12`, `12.0`) that is plausible for a trial.
fn count(value: &Value) -> Option<u64> {
    let number = value.as_f64()?;
    (number >= 0.0 && number.fract() == 0.0 && number <= MAX_TRIAL_TOKENS as f64).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::item::Output;

    #[test]
    fn a_cost_that_is_none_is_the_items_error() {
        for odd in [f64::NAN, f64::INFINITY, -0.01] {
            for mut output in
                [Output::new("").cost(odd), Output::new("").usage(ModelCall::new("a").cost(odd))]
            {
                let error = output.take_problem().unwrap();
                let expected =
                    format!("the agent reports a cost of {odd}, expected a finite number of US dollars");
                assert!(error.starts_with(&expected), "{error}");
            }
        }
        assert_eq!(Output::new("").cost(0.0).take_problem(), None);
    }

    #[test]
    fn usage_in_another_shape_is_not_replaced() {
        let raw = serde_json::json!({ "prompt_tokens": 7 });
        let call = || ModelCall::new("a").tokens(1, 2);
        let mut output = Output::new("").metadata("usage", raw.clone()).usage(call());
        let problem = output.take_problem().unwrap();
        assert!(problem.starts_with("the agent's `metadata.usage` does not have the format"), "{problem}");
        assert_eq!(output.all_metadata()["usage"], raw);
        let mut output = Output::new("").metadata("usage", Value::Null).usage(call());
        assert_eq!((output.take_problem(), output.token_count().unwrap().total), (None, 3));
    }

    fn tokens(value: Value) -> Option<TokenCount> {
        Output::new("").metadata("tokens", value).token_count()
    }

    #[test]
    fn tokens_are_read_as_one_number_or_as_two() {
        assert_eq!(tokens(json!(12)), Some(TokenCount { total: 12, split: None, cached_input: 0 }));
        assert_eq!(
            tokens(json!({"input": 10, "output": 2})),
            Some(TokenCount { total: 12, split: Some((10, 2)), cached_input: 0 })
        );
    }

    #[test]
    fn a_side_of_zero_tokens_or_none_keeps_the_other() {
        assert_eq!(tokens(json!({"input": 10, "output": 0})).unwrap().split, Some((10, 0)));
        assert_eq!(tokens(json!({"output": 7})).unwrap().total, 7);
    }

    #[test]
    fn cached_tokens_are_kept_beside_the_others_in_either_order() {
        let tokens = json!({"input": 10, "output": 2, "cachedInput": 7});
        for output in
            [Output::new("").tokens(10, 2).cached_tokens(7), Output::new("").cached_tokens(7).tokens(10, 2)]
        {
            assert_eq!(output.all_metadata()["tokens"], tokens);
            assert_eq!(output.token_count().unwrap().cached_input, 7);
        }
        assert_eq!(Output::new("").cached_tokens(7).token_count(), None, "the total is unknown");
    }

    #[test]
    fn cached_tokens_are_read_as_far_as_they_can_be() {
        for (cached, expected) in
            [(json!(4.0), 4), (json!(11), 10), (json!("4"), 0), (json!(-4), 0), (json!(null), 0)]
        {
            let count = tokens(json!({"input": 10, "output": 2, "cachedInput": cached})).unwrap();
            assert_eq!((count.cached_input, count.total), (expected, 12), "{cached}");
        }
    }

    #[test]
    fn what_is_no_count_of_tokens_is_left_out() {
        for odd in [json!(-1), json!(1.5), json!("12"), json!({}), json!(null), json!({"input": "many"})] {
            assert_eq!(tokens(odd.clone()), None, "{odd}");
        }
    }
}
