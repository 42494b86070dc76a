//! What executions used of one model.

use serde_json::Value;

use super::usage::{self, ExecutionUsage, reported_cost};
use super::{Item, TokenCount};
use crate::prices::{PriceTable, is_named};

/// The tokens and the cost of one model in the executions of an item.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelShare {
    /// Whether the model was called.
    pub is_used: bool,
    /// Its tokens.
    pub tokens: u64,
    /// Its cost in USD, as far as it is known.
    pub cost: f64,
    /// Whether calls of it report no tokens.
    pub lacks_tokens: bool,
    /// Whether the cost of some of its calls is unknown.
    pub is_unpriced: bool,
    /// Whether any usage is reported, also of other models.
    pub is_reported: bool,
    /// Whether usage is reported without a model.
    pub is_unattributed: bool,
}

impl ModelShare {
    /// Adds what an execution with this metadata used of the model.
    pub fn add(&mut self, model: &str, metadata: &Item, prices: &PriceTable) {
        let usage = usage::read(metadata).unwrap_or_default();
        self.is_reported |= !usage.is_empty();
        if usage.is_empty() {
            self.add_single(model, metadata, prices);
            return;
        }
        let entries: Vec<_> = usage.iter().filter(|entry| is_named(&entry.model, model)).collect();
        // The cost of an output is that of all of its models.
        let total = reported_cost(metadata).filter(|_| entries.len() == usage.len());
        for entry in &entries {
            self.is_used = true;
            self.lacks_tokens |= entry.tokens.is_none();
            let tokens = entry.tokens.map_or(0, |tokens| tokens.input.saturating_add(tokens.output));
            self.tokens = self.tokens.saturating_add(tokens);
            if total.is_none() {
                let mut spending = ExecutionUsage::default();
                spending.add_usage(std::slice::from_ref(entry), prices);
                self.add_cost(&spending);
            }
        }
        self.cost += total.unwrap_or(0.0);
    }

    /// Adds an execution that reports one model at most.
    fn add_single(&mut self, model: &str, metadata: &Item, prices: &PriceTable) {
        let count = TokenCount::of(metadata);
        let spending = ExecutionUsage::of(metadata, prices);
        let is_spent =
            count.is_some_and(|count| count.total > 0) || spending.cost.is_some_and(|usd| usd > 0.0);
        self.is_reported |= count.is_some() || spending.cost.is_some();
        match metadata.get("model").and_then(Value::as_str) {
            Some(named) if is_named(named, model) => {
                self.is_used = true;
                self.lacks_tokens |= count.is_none();
                self.tokens = self.tokens.saturating_add(count.map_or(0, |count| count.total));
                self.add_cost(&spending);
            }
            Some(_) => {}
            None => self.is_unattributed |= is_spent,
        }
    }

    fn add_cost(&mut self, spending: &ExecutionUsage) {
        self.cost += spending.cost.unwrap_or(0.0);
        self.is_unpriced |= spending.is_unpriced || spending.cost.is_none();
    }
}

/// The models that an execution with this metadata called.
pub fn models(metadata: &Item) -> Vec<String> {
    let usage = usage::read(metadata).unwrap_or_default();
    let single = metadata.get("model").and_then(Value::as_str).filter(|_| usage.is_empty());
    usage.into_iter().map(|entry| entry.model).chain(single.map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::item::into_item;

    fn share(model: &str, metadata: Value) -> ModelShare {
        let mut share = ModelShare::default();
        share.add(model, &into_item(metadata).unwrap(), &PriceTable::default());
        share
    }

    #[test]
    fn each_model_has_its_own_tokens_and_cost() {
        let million = json!({ "input": 1_000_000, "output": 0 });
        let metadata = json!({ "usage": [
            { "model": "openai/gpt-4o-2024-08-06", "calls": 1, "tokens": million },
            { "model": "gpt-4o", "calls": 1, "tokens": million, "cost": 0.5 },
            { "model": "gpt-4o-mini", "calls": 1, "tokens": million },
            { "model": "ours", "calls": 1, "tokens": million },
        ], "cost": 100.0 });
        let of = |model| {
            let share = share(model, metadata.clone());
            assert!(share.is_reported && !share.is_unattributed);
            (share.is_used, share.tokens, share.cost, share.is_unpriced)
        };
        assert_eq!(of("gpt-4o"), (true, 2_000_000, 3.0, false));
        assert_eq!(of("gpt-4o-2024-08-06"), (true, 1_000_000, 2.5, false));
        assert_eq!(of("gpt-4o-mini"), (true, 1_000_000, 0.15, false));
        assert_eq!(of("ours"), (true, 1_000_000, 0.0, true));
        assert_eq!(of("gpt"), (false, 0, 0.0, false));
    }

    #[test]
    fn an_output_of_one_model_has_the_cost_that_it_reports() {
        let of = |metadata| {
            let share = share("gpt-4o", metadata);
            (share.is_used, share.tokens, share.cost)
        };
        let tokens = json!({ "input": 1_000_000, "output": 0 });
        assert_eq!(of(json!({ "model": "gpt-4o", "tokens": tokens })), (true, 1_000_000, 2.5));
        assert_eq!(of(json!({ "model": "gpt-4o", "tokens": 7, "cost": 0.5 })), (true, 7, 0.5));
        let usage = json!([{ "model": "gpt-4o", "calls": 1, "tokens": tokens }]);
        assert_eq!(of(json!({ "usage": usage, "cost": 0.5 })), (true, 1_000_000, 0.5));
        assert_eq!(of(json!({ "model": "other", "tokens": tokens })), (false, 0, 0.0));
    }

    #[test]
    fn usage_without_a_model_belongs_to_none() {
        assert!(share("gpt-4o", json!({ "tokens": 7 })).is_unattributed);
        assert!(share("gpt-4o", json!({ "cost": 0.5 })).is_unattributed);
        assert!(!share("gpt-4o", json!({ "tokens": 0 })).is_unattributed);
        assert_eq!(share("gpt-4o", json!({})), ModelShare::default());
    }
}
