//! What can be set on an `Autoeval`, and what does not fit its kind.

use std::collections::BTreeSet;

use super::generation::Weights;
use super::kind::Setting;
use crate::llm::{ModelChoice, Provider};
use crate::metrics::DEFAULT_EXPECTED_MIN;

/// The settings, with the values that hold where nothing was set.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) chain_of_thought: bool,
    pub(super) strictness: u32,
    pub(super) threshold: Option<f64>,
    pub(super) expected_min: Option<f64>,
    pub(super) preserve_strings: bool,
    pub(super) allow_extra: bool,
    pub(super) semantic: bool,
    pub(super) weights: Weights,
    pub(super) model: ModelChoice,
    pub(super) embedding: ModelChoice,
    /// The names of the settings that were set, as methods are called.
    pub(super) set: BTreeSet<&'static str>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            chain_of_thought: true,
            strictness: 3,
            threshold: None,
            expected_min: None,
            preserve_strings: false,
            allow_extra: false,
            semantic: false,
            weights: Weights::default(),
            model: ModelChoice::default(),
            embedding: ModelChoice::default(),
            set: BTreeSet::new(),
        }
    }
}

impl Options {
    pub(super) fn expected_min(&self) -> f64 {
        self.expected_min.unwrap_or(DEFAULT_EXPECTED_MIN)
    }

    /// Whom texts are embedded by. What is said of the judge's address and key holds for embeddings, too, unless that is said
    /// apart: a gateway usually serves both. The exception is a vendor that has no embeddings, or not this model: its key
    /// goes to no other.
    pub(super) fn embedding(&self) -> ModelChoice {
        let own = &self.embedding;
        let judge = self.model.vendor_if_any();
        // OpenAI's models are on Azure, too.
        let has_model =
            |vendor| judge == Some(vendor) || (judge, vendor) == (Some(Provider::Azure), Provider::OpenAi);
        let is_elsewhere =
            self.model.base_url.is_none() && own.vendor().is_some_and(|vendor| !has_model(vendor));
        let is_apart = own.provider.is_some() || own.base_url.is_some();
        if is_apart || is_elsewhere || judge.is_some_and(|judge| !judge.embeds()) {
            return own.clone();
        }
        let ModelChoice { provider, base_url, api_key, api_key_env, .. } = self.model.clone();
        let of_key = judge.filter(|_| base_url.is_none() && self.model.has_key());
        let provider = provider.or(of_key);
        ModelChoice { model: own.model.clone(), provider, base_url, api_key, api_key_env, temperature: None }
    }

    /// The settings that were set although the evaluator does not have them.
    pub(super) fn foreign(&self, takes: &[Setting]) -> Option<&'static str> {
        let known = |set: &str| {
            takes.iter().any(|setting| match setting {
                Setting::Model => {
                    ["model", "provider", "temperature", "base_url", "api_key_env"].contains(&set)
                }
                Setting::Embedding => {
                    ["embedding_model", "embedding_provider", "embedding_base_url", "base_url", "api_key_env"]
                        .contains(&set)
                }
                setting => setting.name() == set,
            })
        };
        self.set.iter().copied().find(|set| !known(set))
    }

    /// Says which value makes no sense.
    pub(super) fn problem(&self) -> Option<String> {
        if self.strictness == 0 {
            return Some(
                "`strictness` is 0; it is the number of questions to compare, at least 1".to_owned(),
            );
        }
        if self.threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
            return Some("`threshold` is no number from 0 to 1".to_owned());
        }
        if self.expected_min.is_some_and(|least| !(-1.0..1.0).contains(&least)) {
            return Some("`expected_min` is no cosine from -1 to below 1".to_owned());
        }
        self.weights.problem().map(|problem| format!("`weights`: {problem}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluators::Autoeval;

    fn embedding(autoeval: Autoeval) -> (Option<Provider>, Option<String>, Option<String>) {
        let ModelChoice { provider, base_url, api_key_env, .. } = autoeval.options.embedding();
        (provider, base_url, api_key_env)
    }

    #[test]
    fn a_judges_key_goes_to_no_other_vendor_for_embeddings() {
        let ragas = || Autoeval::ragas("r").api_key_env("OUR_KEY");
        let key = Some("OUR_KEY".to_owned());
        assert_eq!(embedding(ragas().model("claude-haiku-4-5")), (None, None, None));
        assert_eq!(embedding(ragas().model("gemini-2.5-flash")), (Some(Provider::Gemini), None, key.clone()));
        let apart = ragas().model("gemini-2.5-flash").embedding_model("text-embedding-3-small");
        assert_eq!(embedding(apart), (None, None, None));
        let azure = ragas().provider(Provider::Azure).embedding_model("text-embedding-3-small");
        assert_eq!(embedding(azure), (Some(Provider::Azure), None, key));
    }

    #[test]
    fn a_gateway_serves_both() {
        let url = "http://localhost:1/v1";
        let both = Autoeval::ragas("r").model("llama3.3").base_url(url).embedding_model("nomic-embed-text");
        assert_eq!(embedding(both), (None, Some(url.to_owned()), None));
    }
}
