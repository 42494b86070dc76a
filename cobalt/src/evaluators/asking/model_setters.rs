//! The settings that are the same for evaluators that ask models.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evaluators::asking::source::Texts;
use crate::llm::ModelChoice;
use crate::settings::{Address, JudgeVendor, KeyVariable, Temperature, Word};

/// The keys of tables that say which model judges.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct JudgeOptions {
    /// The model that judges; that of `[judge]` unless it is set.
    pub(in crate::evaluators) model: Option<Word>,
    /// Whose API is spoken; follows from the model, else from `[judge]`, unless it is set.
    pub(in crate::evaluators) provider: Option<JudgeVendor>,
    /// Where the API is; that of `[judge]`, else the vendor's own, unless it is set.
    pub(in crate::evaluators) base_url: Option<Address>,
    /// The environment variable that holds the key; the vendor's own unless it is set.
    pub(in crate::evaluators) api_key_env: Option<KeyVariable>,
    /// How freely the model chooses its words; sent only where the model takes it.
    pub(in crate::evaluators) temperature: Option<Temperature>,
}

impl JudgeOptions {
    /// What is said of the model.
    pub(in crate::evaluators) fn choice(&self) -> ModelChoice {
        let Self { model, provider, base_url, api_key_env, temperature } = self.clone();
        ModelChoice {
            model: model.map(|Word(model)| model),
            provider: provider.map(|JudgeVendor(provider)| provider),
            base_url: base_url.map(|Address(url)| url),
            api_key: None,
            api_key_env: api_key_env.map(|KeyVariable(name)| name),
            temperature: temperature.map(|Temperature(number)| number),
        }
    }
}

/// The texts, from where a table says that they come.
pub fn with_fields(mut texts: Texts, fields: BTreeMap<String, Word>) -> Texts {
    for (name, Word(path)) in fields {
        texts.set_field(name, &path);
    }
    texts
}

/// Adds those that say which model is asked, to a type with a field that has them.
macro_rules! model_setters {
    ($field:ident, $vendor:ident) => {
        /// Whose API is spoken. Without it, it follows from the model, else from the configuration.
        #[must_use]
        pub fn provider(mut self, provider: crate::llm::Provider) -> Self {
            self.$field.provider = Some(crate::settings::$vendor(provider));
            self
        }

        /// Where the API is, up to the part before `/chat/completions`, `/embeddings` and the like, as in
        /// `http://localhost:11434/v1`.
        #[must_use]
        pub fn base_url(mut self, url: impl Into<String>) -> Self {
            self.$field.base_url = Some(crate::settings::Address(url.into()));
            self
        }

        /// The environment variable that holds the key, instead of the provider's own.
        #[must_use]
        pub fn api_key_env(mut self, variable: impl Into<String>) -> Self {
            self.$field.api_key_env = Some(crate::settings::KeyVariable(variable.into()));
            self
        }
    };
}

/// Adds the temperature to a type with the field `judge`.
macro_rules! temperature_setter {
    () => {
        /// How much chance is in the answers, from 0 to 2. It is sent only to models that take it.
        #[must_use]
        pub fn temperature(mut self, temperature: f64) -> Self {
            self.judge.temperature = Some(crate::settings::Temperature(temperature));
            self
        }
    };
}

/// Adds those of a judge of one model to a type with the fields `judge`, `texts` and `options`.
macro_rules! judge_setters {
    () => {
        /// The model to ask, instead of the configuration's.
        #[must_use]
        pub fn model(mut self, model: impl Into<String>) -> Self {
            self.judge.model = Some(crate::settings::Word(model.into()));
            self
        }

        crate::evaluators::asking::model_setters::model_setters!(judge, JudgeVendor);
        crate::evaluators::asking::model_setters::temperature_setter!();

        /// Takes a text from where `path` leads, such as `question.text`, `output.answer` or `metadata.documents`. It has to
        /// be there; one of a new name is shown to the judge as well.
        #[must_use]
        pub fn field(mut self, name: impl Into<String>, path: impl AsRef<str>) -> Self {
            self.texts.set_field(name.into(), path.as_ref());
            self
        }

        crate::evaluators::options::shared_setters!(options, "the judge sees");
    };
}

/// Makes an evaluator of a type that asks models, with the methods `score` and `check_setup`, and its table in the field
/// `options`; `it` says the name.
macro_rules! asking_evaluator {
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
                crate::evaluators::options::mark(self.options.pass_mark)
            }

            fn check(&self, setup: &crate::Setup) -> Result<(), crate::CheckError> {
                self.check_setup(setup)
            }

            /// Every call to a model has a limit of its own, waiting for a free place left out: a busy run is no error.
            fn time_limit(&self, _: std::time::Duration) -> Option<std::time::Duration> {
                None
            }
        }
    };
}

pub(in crate::evaluators) use {asking_evaluator, judge_setters, model_setters, temperature_setter};
