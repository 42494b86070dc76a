//! The judge usage of one evaluation.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::Tokens;
use crate::serde_skip::is_zero;

/// The judge calls of an evaluation, and their cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct JudgeUsage {
    /// The models that answered, each once, in order of their first response.
    pub models: Vec<String>,
    /// Requests answered over the network, including those with an unusable response. A request for several evaluations counts for
    /// one of them; its tokens are shared.
    pub calls: u64,
    /// Responses reused from the cache or from a request of another evaluation.
    pub cached: u64,
    /// Responses from a recording.
    #[serde(skip_serializing_if = "is_zero")]
    pub replayed: u64,
    /// Tokens of the sent requests, and of those that were recorded.
    pub tokens: Tokens,
    /// The judge cost in USD, as far as prices are known, including that of replayed responses.
    pub cost: f64,
    /// The part of the cost that replayed responses had when they were recorded; it was not paid again.
    #[serde(skip_serializing_if = "is_zero")]
    pub replayed_cost: f64,
    /// Models that used tokens but have no known price.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
}

impl JudgeUsage {
    /// Adds the usage of other calls.
    pub fn add(&mut self, other: &Self) {
        let Self { models, calls, cached, replayed, tokens, cost, replayed_cost, unpriced } = other;
        for (own, others) in [(&mut self.models, models), (&mut self.unpriced, unpriced)] {
            for model in others {
                if !own.contains(model) {
                    own.push(model.clone());
                }
            }
        }
        // A stored file may contain anything.
        self.calls = self.calls.saturating_add(*calls);
        self.cached = self.cached.saturating_add(*cached);
        self.replayed = self.replayed.saturating_add(*replayed);
        self.tokens += *tokens;
        self.cost += cost;
        self.replayed_cost += replayed_cost;
    }

    /// The cost in USD; `None` if no model has a known price.
    #[must_use]
    pub fn known_cost(&self) -> Option<f64> {
        (self.cost > 0.0 || self.unpriced.is_empty()).then_some(self.cost)
    }

    /// Whether no model was called.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls == 0 && self.cached == 0 && self.replayed == 0 && self.tokens == Tokens::default()
    }
}

/// Counts the judge usage of one evaluation, even if it fails.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct JudgeMeter(Mutex<JudgeUsage>);

impl JudgeMeter {
    /// Adds usage.
    pub fn add(&self, add: impl FnOnce(&mut JudgeUsage)) {
        add(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// The usage so far; `None` if no model was called.
    pub fn usage(&self) -> Option<JudgeUsage> {
        let usage = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (!usage.is_empty()).then_some(usage)
    }
}
