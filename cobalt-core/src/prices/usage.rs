//! What was asked of models for one evaluation.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::Tokens;

/// What an evaluation asked of models, and what that cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct JudgeUsage {
    /// The models that answered, each once, in the order in which they did so first.
    pub models: Vec<String>,
    /// Requests that were answered over the network, those among them whose answer was of no use. A request with texts of
    /// several evaluations counts for one of them; its tokens are shared.
    pub calls: u64,
    /// Answers that were known already: from the cache, or from a request of another evaluation.
    pub cached: u64,
    /// Tokens of the requests that were sent.
    pub tokens: Tokens,
    /// What these cost, in USD, as far as prices are known.
    pub cost: f64,
    /// Those of the models whose price is not known, although tokens of theirs were used.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpriced: Vec<String>,
}

impl JudgeUsage {
    /// Whether no model was asked.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.calls == 0 && self.cached == 0 && self.tokens == Tokens::default()
    }
}

/// Counts what is asked for one evaluation, whatever comes of it.
#[derive(Debug, Default)]
#[doc(hidden)]
pub struct Meter(Mutex<JudgeUsage>);

impl Meter {
    /// Adds to what was asked.
    pub fn add(&self, add: impl FnOnce(&mut JudgeUsage)) {
        add(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// What was asked up to now; `None` where no model was.
    pub fn usage(&self) -> Option<JudgeUsage> {
        let usage = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (!usage.is_empty()).then_some(usage)
    }
}
