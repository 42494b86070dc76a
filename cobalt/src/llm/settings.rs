//! Settings for models: which to use, timeouts, retries, and caching.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use cobalt_core::redact::Secret;
use cobalt_core::store::Layout;
use cobalt_core::wording;

/// The default timeout of a response.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// The default number of retries.
pub(crate) const DEFAULT_RETRIES: u32 = 4;
/// The default maximum of concurrent requests.
pub(crate) const DEFAULT_CONCURRENCY: usize = 64;
/// How long responses are cached by default.
pub(crate) const DEFAULT_TTL: Duration = Duration::from_secs(7 * 24 * 3600);

/// Settings for models.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ModelSettings {
    /// The default model for judges.
    pub(crate) judge: ModelChoice,
    /// The default model for embeddings.
    pub(crate) embedding: ModelChoice,
    /// The timeout of one response.
    pub(crate) timeout: Duration,
    /// How often a request is retried after a transient failure.
    pub(crate) retries: u32,
    /// The maximum of concurrent requests of this process.
    pub(crate) concurrency: usize,
    /// The response cache, if enabled.
    pub(crate) cache: Option<CacheSettings>,
}

impl ModelSettings {
    /// A text that changes with the configured models; `None` if none is configured. Keys are not included.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        let [judge, embedding] = [&self.judge, &self.embedding].map(ModelChoice::without_key);
        let nothing = ModelChoice::default();
        (judge != nothing || embedding != nothing).then(|| format!("{judge:?} {embedding:?}"))
    }
}

/// The location and lifetime of cached responses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CacheSettings {
    /// Contains the folder.
    pub(crate) layout: Layout,
    pub(crate) ttl: Duration,
}

/// The choice of a model, by an evaluator or the configuration; unset fields come from the next level.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ModelChoice {
    pub(crate) model: Option<String>,
    pub(crate) provider: Option<Provider>,
    /// The URL up to `/chat/completions`, `/embeddings`, …, as in the provider's own libraries.
    pub(crate) base_url: Option<String>,
    /// The key itself.
    pub(crate) api_key: Option<Secret>,
    /// The environment variable that holds the key, instead of the provider's default.
    pub(crate) api_key_env: Option<String>,
    /// Only sent if the model supports it.
    pub(crate) temperature: Option<f64>,
}

impl ModelChoice {
    fn without_key(&self) -> Self {
        Self { api_key: None, api_key_env: None, ..self.clone() }
    }

    /// The error for an invalid value.
    #[cfg(feature = "judge")]
    pub(crate) fn validation_error(&self) -> Option<String> {
        let temperature = self.temperature.filter(|value| !(0.0..=2.0).contains(value))?;
        Some(format!("the temperature is {temperature}, expected a number from 0 to 2"))
    }
}

/// An API for models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI, and compatible APIs at another base URL: Ollama, vLLM, gateways.
    #[serde(rename = "openai")]
    OpenAi,
    /// Anthropic's Messages API. It has no embeddings.
    Anthropic,
    /// Google Gemini, through its OpenAI-compatible endpoint.
    Gemini,
    /// OpenAI's models on Azure, through its OpenAI-compatible endpoint; needs a base URL.
    Azure,
    /// Cohere, for embeddings only.
    Cohere,
    /// Voyage AI, for embeddings only.
    Voyage,
    /// No model: texts are compared by their characters, in this process and without a key. For embeddings only. It is lexical:
    /// it does not capture meaning.
    Local,
}

impl Provider {
    /// All providers.
    pub(crate) const ALL: [Self; 7] =
        [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Azure, Self::Cohere, Self::Voyage, Self::Local];

    /// The name in settings: `openai`, `anthropic`, …
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Azure => "azure",
            Self::Cohere => "cohere",
            Self::Voyage => "voyage",
            Self::Local => "local",
        }
    }

    /// Whether it has models for judges.
    pub(crate) fn has_judge_models(self) -> bool {
        matches!(self, Self::OpenAi | Self::Anthropic | Self::Gemini | Self::Azure)
    }

    /// Whether it has embeddings.
    pub(crate) fn has_embeddings(self) -> bool {
        self != Self::Anthropic
    }

    /// The names of the providers with a capability.
    pub(crate) fn names(can: impl Fn(Self) -> bool) -> Vec<&'static str> {
        Self::ALL.into_iter().filter(|provider| can(*provider)).map(Self::name).collect()
    }

    /// The error for a missing capability, which lists the providers that have it.
    pub(crate) fn missing_capability(self, what: &str, can: impl Fn(Self) -> bool) -> String {
        format!("{self} has no {what}; set another `provider`: {}", wording::join_quoted(Self::names(can)))
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for an unknown provider name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider `{wanted}`; {}", wording::suggest_or_list(.wanted, Provider::names(|_| true)))]
pub struct UnknownProvider {
    wanted: String,
}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, UnknownProvider> {
        let known = Self::ALL.into_iter().find(|provider| provider.name() == name);
        known.ok_or_else(|| UnknownProvider { wanted: name.to_owned() })
    }
}

/// The error for an unusable evaluator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CheckError(pub(crate) CheckErrorKind);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum CheckErrorKind {
    /// What is wrong, and how to fix it.
    #[error("{0}")]
    Problem(String),
    /// A key is missing. Reported once for all experiments that need it.
    #[error("{asked_for} needs a key; set {variable}")]
    MissingKey {
        /// The environment variable for the key.
        variable: String,
        /// What the key is for: a model and its provider.
        asked_for: String,
    },
}

impl CheckError {
    /// An error with a message that says what is wrong, and how to fix it.
    pub fn new(problem: impl Into<String>) -> Self {
        Self(CheckErrorKind::Problem(problem.into()))
    }

    /// The error for a missing key. `variable` is its environment variable, and `asked_for` what it is for: a model and its
    /// provider. A key that several experiments lack is reported once, and no experiment of the process runs.
    pub fn missing_key(variable: impl Into<String>, asked_for: impl Into<String>) -> Self {
        Self(CheckErrorKind::MissingKey { variable: variable.into(), asked_for: asked_for.into() })
    }
}
