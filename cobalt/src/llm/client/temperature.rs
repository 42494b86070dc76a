//! Which models take a temperature.
//!
//! Sources: <https://platform.openai.com/docs/guides/reasoning> (reasoning models, which are the o-series and all since
//! GPT-5, refuse it), <https://platform.claude.com/docs/en/models/sonnet-5/migration-guide> (refused since Claude
//! Opus 4.7), <https://ai.google.dev/gemini-api/docs/gemini-3> (since Gemini 3 it is to be left as it is).

use super::Target;

/// The temperature to send, if any: what is set, else 0 to the models that take it.
pub(super) fn temperature(target: &Target) -> Option<f64> {
    target.temperature.or_else(|| takes(target).then_some(0.0))
}

/// Whether a model takes a temperature. What is not known is tried, but at the vendor, where new models do not.
fn takes(target: &Target) -> bool {
    // Gateways name the vendor in front: `openai/gpt-5`.
    let model = target.model.rsplit('/').next().unwrap_or_default();
    if let Some(rest) = model.strip_prefix("gpt-") {
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
        assert_eq!(sent("llama3.2", "http://localhost:11434/v1"), Some(0.0));
        assert_eq!(sent("omega", "https://api.openai.com/v1"), None);
    }
}
