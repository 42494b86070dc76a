//! Settings shared by evaluators that call models.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evaluators::judge_support::inputs::Texts;
use crate::llm::ModelChoice;
use crate::settings::{BaseUrl, JudgeProvider, NonEmptyString, SecretVariable, Temperature};

/// The keys that select the judge's model.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct JudgeOptions {
    /// The judge's model. Default: that of `[judge]`.
    pub(in crate::evaluators) model: Option<NonEmptyString>,
    /// The provider. Default: derived from the model, else from `[judge]`.
    pub(in crate::evaluators) provider: Option<JudgeProvider>,
    /// The base URL of the API. Default: that of `[judge]`, else the provider's own.
    pub(in crate::evaluators) base_url: Option<BaseUrl>,
    /// The environment variable with the API key. Default: the provider's own.
    pub(in crate::evaluators) api_key_env: Option<SecretVariable>,
    /// The sampling temperature; sent only to models that support it.
    pub(in crate::evaluators) temperature: Option<Temperature>,
}

impl JudgeOptions {
    /// The configured model.
    pub(in crate::evaluators) fn choice(&self) -> ModelChoice {
        let Self { model, provider, base_url, api_key_env, temperature } = self.clone();
        ModelChoice {
            model: model.map(|NonEmptyString(model)| model),
            provider: provider.map(|JudgeProvider(provider)| provider),
            base_url: base_url.map(|BaseUrl(url)| url),
            api_key: None,
            api_key_env: api_key_env.map(|SecretVariable(name)| name),
            temperature: temperature.map(|Temperature(number)| number),
        }
    }
}

/// Applies a table of input paths.
pub fn apply_field_paths(mut texts: Texts, fields: BTreeMap<String, NonEmptyString>) -> Texts {
    for (name, NonEmptyString(path)) in fields {
        texts.set_field(name, &path);
    }
    texts
}

/// Adds the setters that select the model, for a field with these settings.
macro_rules! model_setters {
    ($field:ident, $vendor:ident) => {
        /// Sets the provider. Default: derived from the model, else from the configuration.
        #[must_use]
        pub fn provider(mut self, provider: crate::llm::Provider) -> Self {
            self.$field.provider = Some(crate::settings::$vendor(provider));
            self
        }

        /// Sets the base URL of the API, without `/chat/completions` or `/embeddings`, such as `http://localhost:11434/v1`.
        #[must_use]
        pub fn base_url(mut self, url: impl Into<String>) -> Self {
            self.$field.base_url = Some(crate::settings::BaseUrl(url.into()));
            self
        }

        /// Sets the environment variable with the API key. Default: the provider's own.
        #[must_use]
        pub fn api_key_env(mut self, variable: impl Into<String>) -> Self {
            self.$field.api_key_env = Some(crate::settings::SecretVariable(variable.into()));
            self
        }
    };
}

/// Adds the setter of the temperature, for a type with the field `judge`.
macro_rules! temperature_setter {
    () => {
        /// Sets the sampling temperature, 0 to 2. It is sent only to models that support it.
        #[must_use]
        pub fn temperature(mut self, temperature: f64) -> Self {
            self.judge.temperature = Some(crate::settings::Temperature(temperature));
            self
        }
    };
}

/// Adds the setters of a judge with a single model, for a type with the fields `judge`, `texts` and `options`.
macro_rules! judge_setters {
    () => {
        /// Sets the model. Default: the configured one.
        #[must_use]
        pub fn model(mut self, model: impl Into<String>) -> Self {
            self.judge.model = Some(crate::settings::NonEmptyString(model.into()));
            self
        }

        crate::evaluators::judge_support::model_setters::model_setters!(judge, JudgeProvider);
        crate::evaluators::judge_support::model_setters::temperature_setter!();

        /// Takes an input from `path`, such as `question.text`, `output.answer` or `metadata.documents`. The input is then
        /// required; an input with a new name is also shown to the judge.
        #[must_use]
        pub fn field(mut self, name: impl Into<String>, path: impl AsRef<str>) -> Self {
            self.texts.set_field(name.into(), path.as_ref());
            self
        }

        crate::evaluators::options::shared_setters!(options, "the judge sees");
    };
}

/// Implements `Evaluator` for a type that calls models, with the methods `score` and `check_setup` and the field `options`.
/// The expression gives its name.
macro_rules! impl_judge_evaluator {
    ($type:ident, $it:ident: $name:expr) => {
        impl crate::Evaluator for $type {
            fn name(&self) -> &str {
                let $it = self;
                $name
            }

            fn evaluate<'a>(&'a self, cx: &'a crate::EvalContext) -> crate::Evaluation<'a> {
                Box::pin(self.score(cx))
            }

            fn pass_mark(&self) -> f64 {
                crate::evaluators::options::pass_mark_or_default(self.options.pass_mark)
            }

            fn check(&self, setup: &crate::Setup) -> Result<(), crate::CheckError> {
                self.check_setup(setup)
            }

            /// Each model call has its own limit, without the wait for a slot: a busy run is not an error.
            fn time_limit(&self, _: std::time::Duration) -> Option<std::time::Duration> {
                None
            }
        }
    };
}

pub(in crate::evaluators) use {impl_judge_evaluator, judge_setters, model_setters, temperature_setter};
