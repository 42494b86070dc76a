//! The tables `[judge]`, `[embedding]` and `[cache]`, resolved with the variables.

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
    /// The models for these settings, shared within this process by everything with the same settings.
    pub(crate) fn shared_models(&self) -> Arc<Models> {
        Models::of(self.models(), self.prices())
    }
}

#[cfg(feature = "judge")]
impl llm::Judge {
    /// The judge for a configuration. `variable` looks up an environment variable.
    ///
    /// # Errors
    ///
    /// A key is missing, or the provider has no chat models.
    pub fn of(config: &Config, variable: &dyn Fn(&str) -> Option<String>) -> Result<Self, llm::CheckError> {
        Self::new(config.models(), config.prices(), variable)
    }
}

impl EvalContext {
    /// A context for a single output, outside of any experiment.
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

/// Access to the models, with the settings of this process.
#[cfg(feature = "judge")]
fn ask_by_environment() -> Result<Asking, EvalError> {
    let config = Config::from_environment().map_err(|error| EvalError::new(error.to_string()))?;
    Ok(Asking::new(config.shared_models()))
}

/// Default model of judges, and how to call it.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("not" = one_key())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Judge {
    /// The model; default: an inexpensive one of the provider for which there is a key.
    pub(super) model: Option<Word>,
    /// The API to use; default: inferred from the model.
    pub(super) provider: Option<JudgeVendor>,
    /// Base URL of the API, without `/chat/completions` or `/v1/messages`; default: the provider's.
    pub(super) base_url: Option<Address>,
    /// The key itself. Not recommended: the file is committed with your code.
    pub(super) api_key: Option<Word>,
    /// The environment variable that holds the key; default: the provider's.
    pub(super) api_key_env: Option<KeyVariable>,
    /// Sampling temperature; sent only if the model supports it.
    pub(super) temperature: Option<Temperature>,
    /// Time limit per request; default "60s".
    pub(super) timeout: Option<Length>,
    /// Retries after a transient failure; default 4. A request that times out is retried once.
    pub(super) retries: Option<Retries>,
    /// Maximum parallel requests per process, including embeddings; default 64.
    pub(super) concurrency: Option<Count>,
}

/// Default embedding model.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("not" = one_key())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Embedding {
    /// The model; default "text-embedding-3-small" if the provider is not set either.
    pub(super) model: Option<Word>,
    /// The API to use; default: inferred from the model. "local" needs no key, but does not capture meaning.
    pub(super) provider: Option<EmbeddingVendor>,
    /// Base URL of the API, without `/embeddings`; default: the provider's.
    pub(super) base_url: Option<Address>,
    /// The key itself. Not recommended: the file is committed with your code.
    pub(super) api_key: Option<Word>,
    /// The environment variable that holds the key; default: the provider's.
    pub(super) api_key_env: Option<KeyVariable>,
}

/// The cache of model responses.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Cache {
    /// Whether to cache responses; default true.
    pub(super) enabled: Option<bool>,
    /// Maximum age of a cached response; default "7d".
    pub(super) ttl: Option<Age>,
}

/// Forbids `api-key` together with `api-key-env`, as a schema.
#[cfg(feature = "schema")]
fn one_key() -> serde_json::Value {
    serde_json::json!({ "required": ["api-key", "api-key-env"] })
}

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    /// Resolves the settings of models; `layout` has the cache directory.
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

    /// Resolves the model of a table. Only written keys are noted: the rest is inferred from them and from the environment.
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

    /// The cache settings, if the cache is enabled.
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

/// The keys that both tables share.
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
