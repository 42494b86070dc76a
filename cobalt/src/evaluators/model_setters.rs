//! The settings that say which model an evaluator asks: the same for all that ask one.

/// Adds them to a type with the field `choice`, a `ModelChoice`.
macro_rules! model_setters {
    () => {
        /// Whose API is spoken. Without it, it follows from the model, else from the configuration.
        #[must_use]
        pub fn provider(mut self, provider: crate::llm::Provider) -> Self {
            self.choice.provider = Some(provider);
            self
        }

        /// Where the API is, up to the part before `/chat/completions`, `/embeddings` and the like, as in
        /// `http://localhost:11434/v1`.
        #[must_use]
        pub fn base_url(mut self, url: impl Into<String>) -> Self {
            self.choice.base_url = Some(url.into());
            self
        }

        /// The environment variable that holds the key, instead of the provider's own.
        #[must_use]
        pub fn api_key_env(mut self, variable: impl Into<String>) -> Self {
            self.choice.api_key_env = Some(variable.into());
            self
        }
    };
}

pub(super) use model_setters;
