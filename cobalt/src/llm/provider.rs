//! Who offers models: the vendors whose APIs are spoken.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::suggest;

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
        format!("{self} has no {what}; set another `provider`: {}", suggest::list(Self::names(can)))
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that no provider has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown provider `{wanted}`; {}", suggest::instead(.wanted, Provider::names(|_| true)))]
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
