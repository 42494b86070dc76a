//! The usage and cost of model calls in metadata: `tokens`, `cost`, and `usage` with an entry for each model.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Item, TokenCount};
use crate::prices::{PriceTable, Tokens};

/// The field for the usage.
const USAGE_FIELD: &str = "usage";
/// The field for the recorded usage, if the agent uses the other field for something else.
const RECORDED_USAGE_FIELD: &str = "recordedUsage";

/// The highest cost that is plausible, in USD.
const MAX_COST: f64 = 1e9;

/// One model call: the model's name, and its tokens and cost if known.
///
/// Report it with `Context::record` or [`Output::usage`](super::Output::usage).
///
/// ```
/// use cobalt::ModelCall;
///
/// let call = ModelCall::new("gpt-4o-mini").tokens(20, 3).cached_tokens(4).cost(0.0003);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[must_use = "a call counts only if it is recorded or passed to `Output::usage`"]
pub struct ModelCall {
    model: String,
    tokens: Option<(u64, u64)>,
    cached_input: u64,
    cost: Option<f64>,
}

impl ModelCall {
    /// Creates a call of this model, without tokens or cost.
    pub fn new(model: impl Into<String>) -> Self {
        Self { model: model.into(), tokens: None, cached_input: 0, cost: None }
    }

    /// Sets the input and output tokens.
    pub fn tokens(mut self, input: u64, output: u64) -> Self {
        self.tokens = Some((input, output));
        self
    }

    /// Sets how many of the input tokens were read from the provider's cache, which cost less. They are included in the input of
    /// [`tokens`](Self::tokens).
    pub fn cached_tokens(mut self, cached_input: u64) -> Self {
        self.cached_input = cached_input;
        self
    }

    /// Sets the cost in USD, if known: it takes precedence over the price table. A cost that is negative, not finite or above
    /// a billion is an error of the item.
    pub fn cost(mut self, usd: f64) -> Self {
        self.cost = Some(usd);
        self
    }
}

/// The calls of one model. Calls with a known cost have a separate entry.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ModelUsage {
    pub(super) model: String,
    #[serde(default)]
    pub(crate) calls: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tokens: Option<Tokens>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
}

/// The error for an invalid cost; `None` for a valid one.
pub fn invalid_cost_message(usd: f64) -> Option<String> {
    let is_cost = (0.0..=MAX_COST).contains(&usd);
    (!is_cost).then(|| {
        format!(
            "the agent reports a cost of {usd}, expected a finite number of US dollars, at least 0 and at most {MAX_COST}"
        )
    })
}

/// Adds a call to those of its model.
///
/// # Errors
///
/// The cost is invalid. The call is then added without it.
pub fn add(usage: &mut Vec<ModelUsage>, call: ModelCall) -> Result<(), String> {
    let ModelCall { model, tokens, cached_input, cost } = call;
    let problem = cost.and_then(invalid_cost_message);
    let cost = cost.filter(|_| problem.is_none());
    let tokens =
        tokens.map(|(input, output)| Tokens { input, output, cached_input: cached_input.min(input) });
    // An agent passes on what its provider reports, which may be anything.
    let tokens = tokens.and_then(Tokens::if_plausible);
    let is_alike = |one: &&mut ModelUsage| {
        one.model == model && one.tokens.is_some() == tokens.is_some() && one.cost.is_some() == cost.is_some()
    };
    match usage.iter_mut().find(is_alike) {
        Some(one) => {
            one.calls = one.calls.saturating_add(1);
            one.tokens = one.tokens.zip(tokens).map(|(all, call)| sum(all, call));
            one.cost = one.cost.zip(cost).map(|(all, call)| all + call);
        }
        None => usage.push(ModelUsage { model, calls: 1, tokens, cost }),
    }
    problem.map_or(Ok(()), Err)
}

/// What was added to `before` until `after`.
pub fn since(before: &[ModelUsage], after: &[ModelUsage]) -> Vec<ModelUsage> {
    let added = |(place, all): (usize, &ModelUsage)| {
        let Some(earlier) = before.get(place) else { return Some(all.clone()) };
        let tokens = all.tokens.zip(earlier.tokens).map(|(all, earlier)| Tokens {
            input: all.input.saturating_sub(earlier.input),
            output: all.output.saturating_sub(earlier.output),
            cached_input: all.cached_input.saturating_sub(earlier.cached_input),
        });
        let cost = all.cost.zip(earlier.cost).map(|(all, earlier)| all - earlier);
        let calls = all.calls.saturating_sub(earlier.calls);
        (calls > 0).then(|| ModelUsage { model: all.model.clone(), calls, tokens, cost })
    };
    after.iter().enumerate().filter_map(added).collect()
}

fn sum(mut all: Tokens, more: Tokens) -> Tokens {
    all += more;
    all
}

/// Reads the usage from metadata; `None` if there is none in our format.
pub fn read(metadata: &Item) -> Option<Vec<ModelUsage>> {
    [USAGE_FIELD, RECORDED_USAGE_FIELD].iter().find_map(|field| read_entries(metadata.get(*field)?))
}

/// Parses the usage; `None` if it has another format.
pub fn read_entries(usage: &Value) -> Option<Vec<ModelUsage>> {
    usage.as_array()?.iter().map(|entry| ModelUsage::deserialize(entry).ok()).collect()
}

/// Converts the usage to its metadata format.
pub fn write(usage: &[ModelUsage]) -> Value {
    json!(usage)
}

/// The tokens of all models; `None` if none are known, or if they are implausible.
pub fn total_tokens(usage: &[ModelUsage]) -> Option<Tokens> {
    usage.iter().filter_map(|one| one.tokens).reduce(sum).filter(|all| all.is_plausible_for_trial())
}

/// Adds the recorded usage, and the fields derived from usage, if the metadata does not have them.
pub fn add_recorded(metadata: &mut Item, recorded: Vec<ModelUsage>) {
    let own = metadata.get(USAGE_FIELD).map(read_entries);
    let field = match own {
        None => Some(USAGE_FIELD),
        Some(None) => Some(RECORDED_USAGE_FIELD),
        Some(Some(_)) => None,
    };
    let usage = own.flatten().unwrap_or(recorded);
    let Some(first) = usage.first() else { return };
    let tokens = total_tokens(&usage);
    let own_tokens =
        metadata.contains_key("tokens").then(|| TokenCount::of(metadata).map(|count| count.total));
    let total = tokens.map(|Tokens { input, output, .. }| input.saturating_add(output));
    let is_of_own = own_tokens.is_none_or(|own| own == total);
    // Avoids pricing the same tokens twice: a sum reported by the agent is priced by `model`.
    if let Some(field) = field.filter(|_| !metadata.contains_key("tokens")) {
        metadata.insert(field.to_owned(), write(&usage));
    }
    // The recorded model and cost apply only to the recorded tokens, not to others that the output reports.
    if usage.iter().all(|one| one.model == first.model) && (is_of_own || total.is_none()) {
        metadata.entry("model").or_insert_with(|| first.model.clone().into());
    }
    if let Some(tokens) = tokens {
        metadata.entry("tokens").or_insert_with(|| json!(tokens));
    }
    if let Some(cost) = usage.iter().map(|one| one.cost).sum::<Option<f64>>().filter(|_| is_of_own) {
        metadata.entry("cost").or_insert_with(|| cost.into());
    }
}

/// Only what usage and cost are calculated from. Fields of these names in another format are dropped.
pub fn retain_usage(mut metadata: Item) -> Item {
    metadata.retain(|field, value| match field.as_str() {
        USAGE_FIELD | RECORDED_USAGE_FIELD => match read_entries(value) {
            Some(usage) => {
                *value = write(&usage);
                true
            }
            None => false,
        },
        "tokens" => {
            if let Value::Object(fields) = value {
                fields.retain(|field, _| ["input", "output", "cachedInput"].contains(&field.as_str()));
                return fields.values().all(Value::is_number);
            }
            value.is_number()
        }
        "model" => value.is_string(),
        "cost" => value.is_number(),
        _ => false,
    });
    metadata
}

/// The cost in USD that the agent reports for all of its calls, if it is valid.
pub(super) fn reported_cost(metadata: &Item) -> Option<f64> {
    metadata.get("cost").and_then(Value::as_f64).filter(|usd| invalid_cost_message(*usd).is_none())
}

/// The usage and cost of one execution, from its metadata.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExecutionUsage {
    /// Input and output tokens, if reported.
    pub tokens: Option<u64>,
    /// The cost in USD; `None` if nothing is reported, or part of the cost is unknown.
    pub cost: Option<f64>,
    /// Whether tokens of unknown cost were used.
    pub is_unpriced: bool,
    /// The models without a price.
    pub unpriced_models: BTreeSet<String>,
}

impl ExecutionUsage {
    /// A reported cost takes precedence over the usage by model, and that over `model` and `tokens`.
    pub fn of(metadata: &Item, prices: &PriceTable) -> Self {
        let count = TokenCount::of(metadata);
        let mut spending = Self { tokens: count.map(|count| count.total), ..Self::default() };
        if let Some(cost) = reported_cost(metadata) {
            spending.cost = Some(cost);
        } else if let Some(usage) = read(metadata).filter(|usage| !usage.is_empty()) {
            spending.add_usage(&usage, prices);
        } else if let Some(count) = count {
            spending.add(metadata.get("model").and_then(Value::as_str), count.to_price(), prices);
        }
        spending.cost = spending.cost.filter(|_| !spending.is_unpriced);
        spending
    }

    /// Whether a model was used.
    pub fn is_any(&self) -> bool {
        self.tokens.is_some_and(|tokens| tokens > 0)
            || self.is_unpriced
            || self.cost.is_some_and(|cost| cost > 0.0)
    }

    /// Adds the usage of another execution. The cost is unknown if that of one of them is.
    pub(crate) fn add_execution(&mut self, other: Self) {
        let Self { tokens, cost, is_unpriced, unpriced_models } = other;
        self.tokens = self.tokens.into_iter().chain(tokens).reduce(u64::saturating_add);
        self.cost = self.cost.into_iter().chain(cost).reduce(|one, other| one + other);
        self.is_unpriced |= is_unpriced;
        self.cost = self.cost.filter(|_| !self.is_unpriced);
        self.unpriced_models.extend(unpriced_models);
    }

    pub(super) fn add_usage(&mut self, usage: &[ModelUsage], prices: &PriceTable) {
        // Without tokens or costs, there is nothing to price.
        if usage.iter().all(|one| one.tokens.is_none() && one.cost.is_none()) {
            return;
        }
        for ModelUsage { model, tokens, cost, .. } in usage {
            match cost.filter(|usd| invalid_cost_message(*usd).is_none()) {
                Some(cost) => *self.cost.get_or_insert(0.0) += cost,
                None => self.add(Some(model), *tokens, prices),
            }
        }
    }

    /// Adds tokens of a model. They can be priced only if input and output are known separately.
    fn add(&mut self, model: Option<&str>, tokens: Option<Tokens>, prices: &PriceTable) {
        if tokens.is_some_and(|tokens| tokens.input == 0 && tokens.output == 0) {
            self.cost.get_or_insert(0.0);
            return;
        }
        let price = model.and_then(|model| prices.price(model));
        match price.zip(tokens.filter(|tokens| tokens.is_plausible_for_trial())) {
            Some((price, tokens)) => *self.cost.get_or_insert(0.0) += price.cost(tokens),
            None => self.is_unpriced = true,
        }
        if price.is_none() {
            self.unpriced_models.extend(model.map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spent(metadata: Value) -> (Option<u64>, Option<f64>, bool) {
        let Value::Object(metadata) = metadata else { panic!("metadata is an object") };
        let spending = ExecutionUsage::of(&metadata, &PriceTable::default());
        (spending.tokens, spending.cost, spending.is_unpriced)
    }

    #[test]
    fn a_known_cost_wins_over_the_price_table() {
        let tokens = json!({ "input": 1_000_000, "output": 0 });
        assert_eq!(
            spent(json!({ "model": "gpt-4o", "tokens": tokens })),
            (Some(1_000_000), Some(2.5), false)
        );
        let known = json!({ "model": "gpt-4o", "tokens": tokens, "cost": 0.125 });
        assert_eq!(spent(known), (Some(1_000_000), Some(0.125), false));
        assert_eq!(spent(json!({ "cost": 0.125 })), (None, Some(0.125), false));
        assert_eq!(
            spent(json!({ "model": "unheard-of", "tokens": 3, "cost": 0 })),
            (Some(3), Some(0.0), false)
        );
    }

    #[test]
    fn what_is_no_cost_does_not_count_as_one() {
        for odd in [json!(-1), json!("0.5"), json!(null), json!({ "usd": 1 })] {
            let metadata =
                json!({ "model": "gpt-4o", "tokens": { "input": 1_000_000, "output": 0 }, "cost": odd });
            assert_eq!(spent(metadata), (Some(1_000_000), Some(2.5), false), "{odd}");
        }
    }

    #[test]
    fn each_model_has_its_own_price_and_one_without_makes_the_cost_unknown() {
        let million = json!({ "input": 1_000_000, "output": 0 });
        let of = |models: &[Value]| json!({ "usage": models });
        let gpt = json!({ "model": "gpt-4o", "calls": 1, "tokens": million });
        let mini = json!({ "model": "gpt-4o-mini", "calls": 2, "tokens": million });
        let unknown = json!({ "model": "ours", "calls": 1, "tokens": million });
        let given = json!({ "model": "ours", "calls": 1, "tokens": million, "cost": 0.25 });
        assert_eq!(spent(of(&[gpt.clone(), mini])), (Some(2_000_000), Some(2.65), false));
        assert_eq!(spent(of(&[gpt.clone(), unknown])), (Some(2_000_000), None, true));
        assert_eq!(spent(of(&[gpt, given])), (Some(2_000_000), Some(2.75), false));
    }

    #[test]
    fn a_call_of_which_only_the_model_is_known_leaves_the_cost_of_the_others_open() {
        let named = json!({ "model": "gpt-4o", "calls": 1 });
        assert_eq!(spent(json!({ "usage": [named] })), (None, None, false));
        let other = json!({ "model": "gpt-4o", "calls": 1, "tokens": { "input": 1, "output": 1 } });
        assert_eq!(spent(json!({ "usage": [named, other] })), (Some(2), None, true));
    }

    #[test]
    fn usage_of_two_executions_is_summed_up_and_an_unknown_cost_stays_unknown() {
        let of = |metadata: Value| {
            let Value::Object(metadata) = metadata else { panic!("metadata is an object") };
            ExecutionUsage::of(&metadata, &PriceTable::default())
        };
        let known = || of(json!({ "tokens": 3, "cost": 0.5 }));
        let unknown = || of(json!({ "model": "ours", "tokens": { "input": 1, "output": 1 } }));
        let sum = |mut one: ExecutionUsage, other| {
            one.add_execution(other);
            (one.tokens, one.cost, one.is_unpriced, one.unpriced_models.len())
        };
        assert_eq!(sum(known(), known()), (Some(6), Some(1.0), false, 0));
        assert_eq!(sum(known(), unknown()), (Some(5), None, true, 1));
        assert_eq!(sum(unknown(), known()), (Some(5), None, true, 1));
        assert_eq!(sum(ExecutionUsage::default(), known()), (Some(3), Some(0.5), false, 0));
    }

    #[test]
    fn only_fields_of_usage_in_their_format_are_retained() {
        let metadata = json!({
            "usage": [{ "model": "a", "calls": 1, "tokens": { "input": 1, "output": 2 }, "note": ["long"] }],
            "recordedUsage": { "note": ["long"] }, "tokens": { "input": 1, "output": 2, "note": ["long"] }, "model": "a",
            "cost": "much", "toolCalls": [], "messages": ["hello"],
        });
        let Value::Object(metadata) = metadata else { panic!("metadata is an object") };
        let expected = json!({
            "usage": [{ "model": "a", "calls": 1, "tokens": { "input": 1, "output": 2 } }],
            "tokens": { "input": 1, "output": 2 }, "model": "a",
        });
        assert_eq!(Value::from(retain_usage(metadata)), expected);
    }

    #[test]
    fn no_tokens_cost_nothing_whatever_the_model() {
        let none = json!({ "input": 0, "output": 0 });
        for metadata in [
            json!({ "tokens": none }),
            json!({ "tokens": 0 }),
            json!({ "tokens": none, "model": "unheard-of" }),
            json!({ "usage": [{ "model": "unheard-of", "calls": 1, "tokens": none }] }),
        ] {
            assert_eq!(spent(metadata.clone()), (Some(0), Some(0.0), false), "{metadata}");
        }
    }

    #[test]
    fn usage_in_another_shape_is_left_alone() {
        let tokens = json!({ "input": 1_000_000, "output": 0 });
        for odd in [json!({ "prompt_tokens": 7 }), json!([{ "prompt_tokens": 7 }]), json!([]), json!("7")] {
            let metadata = json!({ "model": "gpt-4o", "tokens": tokens, "usage": odd });
            assert_eq!(spent(metadata), (Some(1_000_000), Some(2.5), false), "{odd}");
        }
    }
}
