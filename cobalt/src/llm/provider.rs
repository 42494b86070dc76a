//! Who offers models: the vendors whose APIs are spoken.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An API that models are asked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no provider has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown provider `{0}`; there are `openai`, `anthropic`, `gemini`, `azure`, `cohere`, `voyage` and `local`"
)]
pub struct UnknownProvider(String);

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(name: &str) -> Result<Self, UnknownProvider> {
        let known = Self::ALL.into_iter().find(|provider| provider.name() == name);
        known.ok_or_else(|| UnknownProvider(name.to_owned()))
    }
}
