//! The tables `[judge]`, `[embedding]` and `[cache]`, and what they and the variables say of models.

use std::ffi::OsString;
use std::sync::Arc;

use cobalt_core::item::{Item, Output};
use cobalt_core::redact::{REDACTED, Secret, register_address, register_secret};
use cobalt_core::store::Layout;
use serde::Deserialize;

use super::Config;
use super::error::ConfigError;
use super::merge::{Merge, first};
use super::settings::Origin;
use super::variables::CACHE;
use crate::evaluators::EvalContext;
#[cfg(feature = "judge")]
use crate::evaluators::EvalError;
#[cfg(feature = "judge")]
use crate::llm::{self, Asking};
use crate::llm::{
    CacheSettings, DEFAULT_CONCURRENCY, DEFAULT_RETRIES, DEFAULT_TIMEOUT, DEFAULT_TTL, ModelChoice,
    ModelSettings, Models, Provider,
};
use crate::settings::{
    Address, Age, Count, EmbeddingVendor, JudgeVendor, KeyVariable, Length, Retries, Temperature, Word,
};

impl Config {
    /// The models that these settings lead to, shared by all of this process that have the same ones.
    pub(crate) fn shared_models(&self) -> Arc<Models> {
        Models::of(self.models(), self.prices())
    }
}

#[cfg(feature = "judge")]
impl llm::Judge {
    /// The one that a configuration leads to. `variable` looks up an environment variable.
    ///
    /// # Errors
    ///
    /// A key is missing, or the provider cannot chat.
    pub fn of(config: &Config, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, llm::CheckError> {
        Self::new(config.models(), config.prices(), variable)
    }
}

impl EvalContext {
    /// The context of an output that stands for itself, outside of any experiment.
    ///
    /// ```
    /// # async fn example() -> Result<(), cobalt::EvalError> {
    /// use cobalt::{EvalContext, Evaluator, ExactMatch, Output};
    ///
    /// let item = cobalt::item! { "input": "2 + 2", "expectedOutput": "4" };
    /// let score = ExactMatch::new("exact", "expectedOutput")
    ///     .evaluate(&EvalContext::new(item, Output::new("4")))
    ///     .await?;
    /// assert_eq!(score.value(), 1.0);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn new(item: Item, output: Output) -> Self {
        let cx = Self::of(Arc::new(item), "".into(), 0, 0, Arc::new(output));
        #[cfg(feature = "judge")]
        let cx = cx.usually_asking(ask_by_environment);
        cx
    }
}

/// The way to the models by the settings of this process.
#[cfg(feature = "judge")]
fn ask_by_environment() -> Result<Asking, EvalError> {
    let config = Config::from_environment().map_err(|error| EvalError::new(error.to_string()))?;
    Ok(Asking::new(config.shared_models()))
}

/// Whom judges ask that do not say it themselves, and how.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("not" = one_key())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Judge {
    /// The model; an inexpensive one of the vendor that there is a key for, unless it is set.
    pub(super) model: Option<Word>,
    /// Whose API is spoken; follows from the model unless it is set.
    pub(super) provider: Option<JudgeVendor>,
    /// Where the API is, up to what comes before `/chat/completions` or `/v1/messages`; the vendor's own unless it is set.
    pub(super) base_url: Option<Address>,
    /// The key itself. Better not here: the file is committed with your code.
    pub(super) api_key: Option<Word>,
    /// The environment variable that holds the key; the vendor's own unless it is set.
    pub(super) api_key_env: Option<KeyVariable>,
    /// How freely the model chooses its words; sent only where the model takes it.
    pub(super) temperature: Option<Temperature>,
    /// How long one answer may take; "60s" unless it is set.
    pub(super) timeout: Option<Length>,
    /// How often a request is sent again after a failure that may pass; 4 unless it is set. Without an answer in time it is sent
    /// again once.
    pub(super) retries: Option<Retries>,
    /// How many requests of a process are on their way at a time, those for embeddings included; 64 unless it is set.
    pub(super) concurrency: Option<Count>,
}

/// Whom texts are embedded by, where an evaluator does not say it.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("not" = one_key())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Embedding {
    /// The model; "text-embedding-3-small" unless it or the provider is set.
    pub(super) model: Option<Word>,
    /// Whose API is spoken; follows from the model unless it is set. "local" needs no key, and knows nothing of meaning.
    pub(super) provider: Option<EmbeddingVendor>,
    /// Where the API is, up to what comes before `/embeddings`; the vendor's own unless it is set.
    pub(super) base_url: Option<Address>,
    /// The key itself. Better not here: the file is committed with your code.
    pub(super) api_key: Option<Word>,
    /// The environment variable that holds the key; the vendor's own unless it is set.
    pub(super) api_key_env: Option<KeyVariable>,
}

/// What is kept of the answers of models.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Cache {
    /// Whether answers are kept, and taken from there; true unless it is set.
    pub(super) enabled: Option<bool>,
    /// How long an answer is taken from there; "7d" unless it is set.
    pub(super) ttl: Option<Age>,
}

/// That `api-key` and `api-key-env` are not both there, as a schema has it.
#[cfg(feature = "schema")]
fn one_key() -> serde_json::Value {
    serde_json::json!({ "required": ["api-key", "api-key-env"] })
}

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    /// The settings of models; `layout` says where answers would be kept.
    pub fn models(
        &mut self,
        judge: Judge,
        embedding: Embedding,
        cache: Cache,
        layout: &Layout,
    ) -> Result<ModelSettings, ConfigError> {
        let Judge { model, provider, base_url, api_key, api_key_env, temperature, .. } = judge;
        let provider = provider.map(|JudgeVendor(provider)| provider);
        let judge_choice =
            self.choice("judge", Choice { model, provider, base_url, api_key, api_key_env, temperature })?;
        let Length(timeout) = self.or_default("judge.timeout", judge.timeout, || Length(DEFAULT_TIMEOUT));
        let Retries(retries) = self.or_default("judge.retries", judge.retries, || Retries(DEFAULT_RETRIES));
        let Count(concurrency) =
            self.or_default("judge.concurrency", judge.concurrency, || Count(DEFAULT_CONCURRENCY));
        let Embedding { model, provider, base_url, api_key, api_key_env } = embedding;
        let provider = provider.map(|EmbeddingVendor(provider)| provider);
        let temperature = None;
        let embedding = self
            .choice("embedding", Choice { model, provider, base_url, api_key, api_key_env, temperature })?;
        let cache = self.cache(cache, layout)?;
        Ok(ModelSettings { judge: judge_choice, embedding, timeout, retries, concurrency, cache })
    }

    /// Whom a table chooses. Only what is written is noted: the rest follows from each other and from the environment.
    fn choice(&mut self, table: &str, choice: Choice) -> Result<ModelChoice, ConfigError> {
        let key = |name: &str| format!("{table}.{name}");
        self.said_once(table, "api-key", choice.api_key.is_some(), choice.api_key_env.is_some())?;
        if let Some(Word(secret)) = &choice.api_key {
            register_secret(&key("api-key"), secret);
        }
        if let Some(Address(url)) = &choice.base_url {
            register_address(&key("base-url"), url);
        }
        self.register_variable(choice.api_key_env.as_ref());
        self.note_written(&key("model"), choice.model.as_ref());
        self.note_written(&key("provider"), choice.provider.as_ref());
        self.note_written(&key("base-url"), choice.base_url.as_ref());
        self.note_written(&key("api-key"), choice.api_key.as_ref().map(|_| REDACTED).as_ref());
        self.note_written(&key("api-key-env"), choice.api_key_env.as_ref());
        self.note_written(&key("temperature"), choice.temperature.as_ref());
        Ok(choice.into())
    }

    /// Where answers are kept, if they are.
    fn cache(&mut self, written: Cache, layout: &Layout) -> Result<Option<CacheSettings>, ConfigError> {
        let enabled = first([
            (self.variables.cache()?, Origin::variable(CACHE)),
            (written.enabled, self.origin("cache.enabled")),
        ]);
        let (enabled, origin) = enabled.unwrap_or((true, Origin::Default));
        self.note("cache.enabled", &enabled, origin);
        let Age(ttl) = self.or_default("cache.ttl", written.ttl, || Age(DEFAULT_TTL));
        Ok(enabled.then_some(CacheSettings { layout: layout.clone(), ttl }))
    }
}

/// What both tables have.
struct Choice {
    model: Option<Word>,
    provider: Option<Provider>,
    base_url: Option<Address>,
    api_key: Option<Word>,
    api_key_env: Option<KeyVariable>,
    temperature: Option<Temperature>,
}

impl From<Choice> for ModelChoice {
    fn from(written: Choice) -> Self {
        Self {
            model: written.model.map(|Word(model)| model),
            provider: written.provider,
            base_url: written.base_url.map(|Address(url)| url),
            api_key: written.api_key.map(|Word(key)| Secret(key)),
            api_key_env: written.api_key_env.map(|KeyVariable(name)| name),
            temperature: written.temperature.map(|Temperature(temperature)| temperature),
        }
    }
}
