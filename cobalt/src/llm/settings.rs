//! What the configuration says of models: whom to ask, for how long, and what to keep.

use std::time::Duration;

use super::Provider;
use crate::redact::Secret;
use crate::store::Layout;

/// How long an answer may take, unless something is set.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a request is sent again, unless something is set.
pub(crate) const DEFAULT_RETRIES: u32 = 4;
/// How many requests are on their way at a time, unless something is set.
pub(crate) const DEFAULT_CONCURRENCY: usize = 64;
/// How long answers are kept, unless something is set.
pub(crate) const DEFAULT_TTL: Duration = Duration::from_secs(7 * 24 * 3600);

/// What the configuration says of models.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelSettings {
    /// Whom judges ask that do not say it themselves.
    pub(crate) judge: ModelChoice,
    /// Whom texts are embedded by where an evaluator does not say it.
    pub(crate) embedding: ModelChoice,
    /// How long one answer may take.
    pub(crate) timeout: Duration,
    /// How often a request is sent again after a failure that may pass.
    pub(crate) retries: u32,
    /// How many requests of this process are on their way at a time.
    pub(crate) concurrency: usize,
    /// Where answers are kept; `None` where they are not.
    pub(crate) cache: Option<CacheSettings>,
}

impl ModelSettings {
    /// Text that changes with whom judges ask; `None` where nothing is said of it. Keys do not count.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        let [judge, embedding] = [&self.judge, &self.embedding].map(ModelChoice::without_key);
        let nothing = ModelChoice::default();
        (judge != nothing || embedding != nothing).then(|| format!("{judge:?} {embedding:?}"))
    }
}

/// Where answers are kept, and for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CacheSettings {
    /// Has the folder.
    pub(crate) layout: Layout,
    pub(crate) ttl: Duration,
}

/// What is said of a model to ask, by an evaluator or the configuration; what is not said follows from the next of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ModelChoice {
    pub(crate) model: Option<String>,
    pub(crate) provider: Option<Provider>,
    /// Up to the part before `/chat/completions`, `/embeddings`, … as the vendor's own libraries take it.
    pub(crate) base_url: Option<String>,
    /// The key itself.
    pub(crate) api_key: Option<Secret>,
    /// The variable that holds the key, instead of the provider's own.
    pub(crate) api_key_env: Option<String>,
    /// Sent only where the model takes it.
    pub(crate) temperature: Option<f64>,
}

impl ModelChoice {
    fn without_key(&self) -> Self {
        Self { api_key: None, api_key_env: None, ..self.clone() }
    }

    /// What no model takes.
    #[cfg(feature = "judge")]
    pub(crate) fn problem(&self) -> Option<String> {
        let temperature = self.temperature.filter(|value| !(0.0..=2.0).contains(value))?;
        Some(format!("the temperature is {temperature}; it is a number from 0 to 2"))
    }
}
