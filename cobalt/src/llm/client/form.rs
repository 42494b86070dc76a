//! The ways in which an answer is brought into its form, from the strictest to none.

use super::ordered::Ordered;
use crate::llm::{Provider, Schema};

/// How the answer is brought into the form of its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// The API holds the model to the schema.
    Schema,
    /// The model has to call a tool, whose arguments follow the schema.
    Tool,
    /// The API holds the model to some JSON object; the instruction tells the schema.
    Json,
    /// The instruction alone tells the schema.
    Text,
}

impl Form {
    /// The next one, where the API refuses this one.
    pub(super) fn next(self, provider: Provider) -> Option<Self> {
        match self {
            Self::Schema => Some(Self::Tool),
            // Anthropic's messages know no other JSON than that of a schema.
            Self::Tool if provider == Provider::Anthropic => Some(Self::Text),
            Self::Tool => Some(Self::Json),
            Self::Json => Some(Self::Text),
            Self::Text => None,
        }
    }

    /// Whether an error speaks of this form. `message` is in lower case.
    pub(super) fn is_meant(self, message: &str) -> bool {
        let words: &[&str] = match self {
            Self::Schema => {
                &["schema", "response_format", "response format", "output_", "output format", "structured"]
            }
            Self::Tool => &["tool", "function"],
            Self::Json => &["response_format", "response format", "json"],
            Self::Text => &[],
        };
        words.iter().any(|word| message.contains(word))
    }

    /// The instruction of the system, with the schema where nothing else tells it.
    pub(super) fn instruction(self, system: &str, schema: &Schema) -> String {
        match self {
            Self::Schema | Self::Tool => system.to_owned(),
            Self::Json | Self::Text => format!(
                "{system}\n\nAnswer with one JSON object and nothing else, without a fence around it. It has to match \
                 this JSON schema:\n{}",
                Ordered(&schema.schema).text()
            ),
        }
    }
}
