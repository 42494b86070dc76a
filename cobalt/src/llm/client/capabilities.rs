//! The known limits of each model: response formats and temperatures that its API rejected are not tried again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::Target;
use super::ordered_json::OrderedJson;
use crate::http::Refusal;
use crate::llm::{Provider, Schema};

/// The statuses with which APIs reject a part of a request.
const REJECTING_STATUSES: [u16; 4] = [400, 404, 422, 501];

/// The options of a request that depend on the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestMode {
    pub(super) response_format: ResponseFormat,
    /// Whether a temperature may be sent.
    pub(super) temperature: bool,
    /// Whether to use the usual token limit, if the API requires one.
    pub(super) long_answer: bool,
}

impl RequestMode {
    /// The first attempt.
    const DEFAULT: Self =
        Self { response_format: ResponseFormat::Schema, temperature: true, long_answer: true };

    /// Removes what was rejected; `None` if it cannot be removed.
    pub(super) fn fallback_after(self, refusal: &Refusal, target: &Target) -> Option<Self> {
        if !REJECTING_STATUSES.contains(&refusal.status) {
            return None;
        }
        let message = refusal.body.to_lowercase();
        let is_sent = temperature(target).is_some();
        if self.temperature && is_sent && message.contains("temperature") {
            return Some(Self { temperature: false, ..self });
        }
        if self.long_answer && target.provider == Provider::Anthropic && message.contains("max_tokens") {
            return Some(Self { long_answer: false, ..self });
        }
        let next = self
            .response_format
            .is_mentioned_in(&message)
            .then(|| self.response_format.fallback(target.provider))
            .flatten();
        next.map(|form| Self { response_format: form, ..self })
    }

    /// Combines the restrictions of both.
    fn combine(self, other: Self) -> Self {
        Self {
            response_format: self.response_format.max(other.response_format),
            temperature: self.temperature && other.temperature,
            long_answer: self.long_answer && other.long_answer,
        }
    }
}

/// The request options by base URL and model, if they differ from the first attempt.
#[derive(Debug, Default)]
pub(super) struct KnownModes(Mutex<HashMap<(String, String), RequestMode>>);

impl KnownModes {
    pub(super) fn get(&self, target: &Target) -> RequestMode {
        let remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.get(&key(target)).copied().unwrap_or(RequestMode::DEFAULT)
    }

    /// Stores options that worked.
    pub(super) fn store(&self, target: &Target, manner: RequestMode) {
        if manner != RequestMode::DEFAULT {
            let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = remembered.entry(key(target)).or_insert(manner);
            *kept = kept.combine(manner);
        }
    }
}

fn key(target: &Target) -> (String, String) {
    (target.base_url.clone(), target.model.clone())
}

/// How the answer is constrained to its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ResponseFormat {
    /// The API enforces the schema.
    Schema,
    /// The model must call a tool whose arguments match the schema.
    Tool,
    /// The API enforces a JSON object; the schema is in the instruction.
    Json,
    /// The schema is only in the instruction.
    Text,
}

impl ResponseFormat {
    /// The fallback if the API rejects this format.
    pub(super) fn fallback(self, provider: Provider) -> Option<Self> {
        match self {
            Self::Schema => Some(Self::Tool),
            // Anthropic's API supports JSON only with a schema.
            Self::Tool if provider == Provider::Anthropic => Some(Self::Text),
            Self::Tool => Some(Self::Json),
            Self::Json => Some(Self::Text),
            Self::Text => None,
        }
    }

    /// Whether an error is about this format. `message` is in lower case.
    pub(super) fn is_mentioned_in(self, message: &str) -> bool {
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

    /// The system prompt, with the schema if it is not sent otherwise.
    pub(super) fn instruction(self, system: &str, schema: &Schema) -> String {
        match self {
            Self::Schema | Self::Tool => system.to_owned(),
            Self::Json | Self::Text => format!(
                "{system}\n\nAnswer with one JSON object and nothing else, without a fence around it. It has to match \
                 this JSON schema:\n{}",
                OrderedJson(&schema.schema).text()
            ),
        }
    }
}

/// The temperature to send, if any: the configured one, else 0 for models that support it.
pub fn temperature(target: &Target) -> Option<f64> {
    target.temperature.or_else(|| supports_temperature(target).then_some(0.0))
}

/// Whether a model supports a temperature. Unknown models are tried, except at the vendors, whose new models do not.
fn supports_temperature(target: &Target) -> bool {
    // Gateways prefix the vendor: `openai/gpt-5`.
    let model = target.model.rsplit('/').next().unwrap_or_default();
    let rest = model.strip_prefix("gpt-").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    if let Some(rest) = rest {
        return rest.starts_with("3.5") || rest.starts_with('4');
    }
    if let Some(rest) = model.strip_prefix("claude-") {
        return version(rest) <= (4, 6);
    }
    if let Some(rest) = model.strip_prefix("gemini-") {
        return version(rest) < (3, 0);
    }
    let is_of_o_series =
        model.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_at_vendor = ["https://api.openai.com/", "https://api.anthropic.com"]
        .iter()
        .any(|vendor| target.base_url.starts_with(vendor));
    !is_of_o_series && !is_at_vendor
}

/// The first two numbers in a name, ignoring dates: `opus-4-1-20250805` is (4, 1). A name without numbers is a new model.
fn version(name: &str) -> (u32, u32) {
    let parts = name.split(['-', '.', '@']).filter_map(|part| part.parse().ok());
    let mut numbers = parts.filter(|number: &u32| *number < 1000);
    (numbers.next().unwrap_or(u32::MAX), numbers.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::Provider;

    fn sent(model: &str, base_url: &str) -> Option<f64> {
        temperature(&Target {
            provider: Provider::OpenAi,
            model: model.to_owned(),
            base_url: base_url.to_owned(),
            api_key: None,
            temperature: None,
        })
    }

    #[test]
    fn models_that_take_a_temperature_get_zero() {
        let models = "gpt-4o-mini gpt-4.1 gpt-3.5-turbo claude-haiku-4-5-20251001 claude-sonnet-4-6 \
                      claude-3-5-haiku-latest claude-opus-4-20250514 gemini-2.5-flash anthropic/claude-opus-4.1";
        for model in models.split_whitespace() {
            assert_eq!(sent(model, "https://gateway.test/v1"), Some(0.0), "{model}");
        }
    }

    #[test]
    fn models_that_refuse_a_temperature_get_none() {
        let models = "gpt-5-mini o3 o4-mini openai/gpt-5.1 claude-opus-4-7 claude-opus-4-8 claude-sonnet-5 \
                      claude-haiku-5-5 claude-next gemini-3-flash-preview";
        for model in models.split_whitespace() {
            assert_eq!(sent(model, "https://gateway.test/v1"), None, "{model}");
        }
    }

    #[test]
    fn an_unknown_model_gets_zero_unless_it_is_the_vendors_own() {
        for model in ["llama3.2", "gpt-oss:20b"] {
            assert_eq!(sent(model, "http://localhost:11434/v1"), Some(0.0), "{model}");
        }
        assert_eq!(sent("omega", "https://api.openai.com/v1"), None);
    }
}
