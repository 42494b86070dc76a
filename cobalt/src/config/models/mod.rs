//! What the file says of models: whom judges ask, who embeds texts, and what is kept of the answers.

mod merge;
mod tables;

use std::sync::Arc;

pub(super) use tables::{Cache, Embedding, Judge};

use super::Config;
#[cfg(feature = "judge")]
use crate::llm;
use crate::llm::Models;

impl Config {
    /// The models that these settings lead to, shared by all of this process that have the same ones.
    pub(crate) fn shared_models(&self) -> Arc<Models> {
        Models::of(self.models(), self.prices())
    }
}

#[cfg(feature = "judge")]
impl llm::Judge {
    /// The one that a configuration leads to. `variable` looks up an environment variable.
    ///
    /// # Errors
    ///
    /// A key is missing, or the provider cannot chat.
    pub fn of(config: &Config, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, llm::CheckError> {
        Self::new(config.models(), config.prices(), variable)
    }
}
