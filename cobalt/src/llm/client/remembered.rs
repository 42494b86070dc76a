//! What an API refused of a model before: forms of answers and temperatures, so that they are not tried again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::Target;
use super::ordered::Ordered;
use crate::http::Refusal;
use crate::llm::{Provider, Schema};

/// The statuses by which APIs refuse a part of a request.
const REFUSING: [u16; 4] = [400, 404, 422, 501];

/// How a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    pub(super) form: Form,
    /// Whether a temperature may be sent.
    pub(super) temperature: bool,
    /// Whether the answer may be as long as usual, where the API wants a limit.
    pub(super) long: bool,
}

impl Manner {
    /// As it is tried first.
    const FIRST: Self = Self { form: Form::Schema, temperature: true, long: true };

    /// Without what is refused; `None` where that is nothing that can be left out.
    pub(super) fn without(self, refusal: &Refusal, target: &Target) -> Option<Self> {
        if !REFUSING.contains(&refusal.status) {
            return None;
        }
        let message = refusal.body.to_lowercase();
        let is_sent = temperature(target).is_some();
        if self.temperature && is_sent && message.contains("temperature") {
            return Some(Self { temperature: false, ..self });
        }
        if self.long && target.provider == Provider::Anthropic && message.contains("max_tokens") {
            return Some(Self { long: false, ..self });
        }
        let next = self.form.is_meant(&message).then(|| self.form.next(target.provider)).flatten();
        next.map(|form| Self { form, ..self })
    }

    /// Without what is refused of either.
    fn and(self, other: Self) -> Self {
        Self {
            form: self.form.max(other.form),
            temperature: self.temperature && other.temperature,
            long: self.long && other.long,
        }
    }
}

/// How models are asked, by base URL and model, as far as it is not as it is tried first.
#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<HashMap<(String, String), Manner>>);

impl Remembered {
    pub(super) fn of(&self, target: &Target) -> Manner {
        let remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remembered.get(&key(target)).copied().unwrap_or(Manner::FIRST)
    }

    /// Keeps a manner that was answered.
    pub(super) fn keep(&self, target: &Target, manner: Manner) {
        if manner != Manner::FIRST {
            let mut remembered = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = remembered.entry(key(target)).or_insert(manner);
            *kept = kept.and(manner);
        }
    }
}

fn key(target: &Target) -> (String, String) {
    (target.base_url.clone(), target.model.clone())
}

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

/// The temperature to send, if any: what is set, else 0 to the models that take it.
pub fn temperature(target: &Target) -> Option<f64> {
    target.temperature.or_else(|| takes(target).then_some(0.0))
}

/// Whether a model takes a temperature. What is not known is tried, but at the vendor, where new models do not.
fn takes(target: &Target) -> bool {
    // Gateways name the vendor in front: `openai/gpt-5`.
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

/// The first two numbers of a name, but for dates: `opus-4-1-20250805` is (4, 1). Without a number it is a new model.
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
