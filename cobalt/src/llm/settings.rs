//! What the configuration says of models: whom to ask, for how long, and what to keep.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use cobalt_core::redact::Secret;
use cobalt_core::store::Layout;
use cobalt_core::wording;

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

/// An API that models are asked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Provider {
    /// OpenAI, and whatever speaks its API at another base URL: Ollama, vLLM, gateways.
    #[serde(rename = "openai")]
    OpenAi,
    /// Anthropic's messages. It has no embeddings.
    Anthropic,
    /// Google's Gemini, by its endpoint that is compatible with OpenAI's.
    Gemini,
    /// Models of OpenAI on Azure, by its endpoint that is compatible with OpenAI's; it needs a base URL.
    Azure,
    /// Cohere, for embeddings alone.
    Cohere,
    /// Voyage AI, for embeddings alone.
    Voyage,
    /// No model at all: texts are compared by their characters, in this process and without a key. For embeddings alone,
    /// and lexical: it knows nothing of meaning.
    Local,
}

impl Provider {
    /// All of them.
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

    /// Whether it has models that judge.
    pub(crate) fn judges(self) -> bool {
        matches!(self, Self::OpenAi | Self::Anthropic | Self::Gemini | Self::Azure)
    }

    /// Whether it has embeddings.
    pub(crate) fn embeds(self) -> bool {
        self != Self::Anthropic
    }

    /// Those that can do something, by their names.
    pub(crate) fn names(can: impl Fn(Self) -> bool) -> Vec<&'static str> {
        Self::ALL.into_iter().filter(|provider| can(*provider)).map(Self::name).collect()
    }

    /// Says that it has none of what is wanted, and who has.
    pub(crate) fn lacks(self, what: &str, can: impl Fn(Self) -> bool) -> String {
        format!("{self} has no {what}; set another `provider`: {}", wording::list(Self::names(can)))
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no provider has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider `{wanted}`; {}", wording::instead(.wanted, Provider::names(|_| true)))]
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

/// Why an evaluator cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct CheckError(pub(crate) Unfit);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unfit {
    /// What is wrong, and what to do.
    #[error("{0}")]
    Problem(String),
    /// A key is missing. Told once for all experiments that need it.
    #[error("{asked_for} needs a key; set {variable}")]
    MissingKey {
        /// The variable that would hold it.
        variable: String,
        /// Whom the key is for: a model and its provider.
        asked_for: String,
    },
}

impl CheckError {
    /// An error that says what is wrong, and what to do.
    pub fn new(problem: impl Into<String>) -> Self {
        Self(Unfit::Problem(problem.into()))
    }

    /// An error that a key is missing, which the variable would hold; `asked_for` says whom it is for: a model and its
    /// provider. Keys that several experiments lack are told once, and no experiment of the process is run then.
    pub fn missing_key(variable: impl Into<String>, asked_for: impl Into<String>) -> Self {
        Self(Unfit::MissingKey { variable: variable.into(), asked_for: asked_for.into() })
    }
}
