//! The tables `[judge]`, `[embedding]` and `[cache]`, resolved with the variables.

use std::ffi::OsString;
use std::sync::Arc;

use cobalt_core::item::{Item, Output};
use cobalt_core::redact::{REDACTED, Secret, register_address, register_secret};
use cobalt_core::store::Layout;
use serde::Deserialize;

use super::Config;
use super::error::ConfigError;
use super::resolve::{Resolver, first_set};
use super::settings::Origin;
use super::variables::CACHE;
use crate::evaluators::EvalContext;
#[cfg(feature = "judge")]
use crate::evaluators::EvalError;
#[cfg(feature = "judge")]
use crate::llm::{self, LlmHandle};
use crate::llm::{
    CacheSettings, DEFAULT_CONCURRENCY, DEFAULT_RETRIES, DEFAULT_TIMEOUT, DEFAULT_TTL, ModelChoice,
    ModelSettings, Models, Provider,
};
use crate::settings::{
    Age, BaseUrl, DurationValue, EmbeddingProvider, JudgeProvider, NonEmptyString, PositiveInt, Retries,
    SecretVariable, Temperature,
};

impl Config {
    /// The models for these settings, shared within this process by everything with the same settings.
    pub(crate) fn shared_models(&self) -> Arc<Models> {
        Models::shared(self.models(), self.prices())
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
        let cx = Self::for_trial(Arc::new(item), "".into(), 0, 0, Arc::new(output));
        #[cfg(feature = "judge")]
        let cx = cx.with_default_llm(llm_from_environment);
        cx
    }
}

/// Access to the models, with the settings of this process.
#[cfg(feature = "judge")]
fn llm_from_environment() -> Result<LlmHandle, EvalError> {
    let config = Config::from_environment().map_err(|error| EvalError::new(error.to_string()))?;
    Ok(LlmHandle::new(config.shared_models(), None))
}

/// Default model of judges, and how to call it.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("not" = both_keys())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Judge {
    /// The model; default: an inexpensive one of the provider for which there is a key.
    pub(super) model: Option<NonEmptyString>,
    /// The API to use; default: inferred from the model.
    pub(super) provider: Option<JudgeProvider>,
    /// Base URL of the API, without `/chat/completions` or `/v1/messages`; default: the provider's.
    pub(super) base_url: Option<BaseUrl>,
    /// The key itself. Not recommended: the file is committed with your code.
    pub(super) api_key: Option<NonEmptyString>,
    /// The environment variable that holds the key; default: the provider's.
    pub(super) api_key_env: Option<SecretVariable>,
    /// Sampling temperature; sent only if the model supports it.
    pub(super) temperature: Option<Temperature>,
    /// Time limit per request; default "60s".
    pub(super) timeout: Option<DurationValue>,
    /// Retries after a transient failure; default 4. A request that times out is retried once.
    pub(super) retries: Option<Retries>,
    /// Maximum parallel requests per process, including embeddings; default 64.
    pub(super) concurrency: Option<PositiveInt>,
}

/// Default embedding model.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("not" = both_keys())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Embedding {
    /// The model; default "text-embedding-3-small" if the provider is not set either.
    pub(super) model: Option<NonEmptyString>,
    /// The API to use; default: inferred from the model. "local" needs no key, but does not capture meaning.
    pub(super) provider: Option<EmbeddingProvider>,
    /// Base URL of the API, without `/embeddings`; default: the provider's.
    pub(super) base_url: Option<BaseUrl>,
    /// The key itself. Not recommended: the file is committed with your code.
    pub(super) api_key: Option<NonEmptyString>,
    /// The environment variable that holds the key; default: the provider's.
    pub(super) api_key_env: Option<SecretVariable>,
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
fn both_keys() -> serde_json::Value {
    serde_json::json!({ "required": ["api-key", "api-key-env"] })
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    /// Resolves the settings of models; `layout` has the cache directory.
    pub fn models(
        &mut self,
        judge: Judge,
        embedding: Embedding,
        cache: Cache,
        layout: &Layout,
    ) -> Result<ModelSettings, ConfigError> {
        let Judge { model, provider, base_url, api_key, api_key_env, temperature, .. } = judge;
        let provider = provider.map(|JudgeProvider(provider)| provider);
        let judge_choice = self.resolve_model(
            "judge",
            ModelTable { model, provider, base_url, api_key, api_key_env, temperature },
        )?;
        let DurationValue(timeout) =
            self.or_default("judge.timeout", judge.timeout, || DurationValue(DEFAULT_TIMEOUT));
        let Retries(retries) = self.or_default("judge.retries", judge.retries, || Retries(DEFAULT_RETRIES));
        let PositiveInt(concurrency) =
            self.or_default("judge.concurrency", judge.concurrency, || PositiveInt(DEFAULT_CONCURRENCY));
        let Embedding { model, provider, base_url, api_key, api_key_env } = embedding;
        let provider = provider.map(|EmbeddingProvider(provider)| provider);
        let temperature = None;
        let embedding = self.resolve_model(
            "embedding",
            ModelTable { model, provider, base_url, api_key, api_key_env, temperature },
        )?;
        let cache = self.cache(cache, layout)?;
        Ok(ModelSettings { judge: judge_choice, embedding, timeout, retries, concurrency, cache })
    }

    /// Resolves the model of a table. Only written keys are noted: the rest is inferred from them and from the environment.
    fn resolve_model(&mut self, table: &str, choice: ModelTable) -> Result<ModelChoice, ConfigError> {
        let key = |name: &str| format!("{table}.{name}");
        self.refuse_both_keys(table, "api-key", choice.api_key.is_some(), choice.api_key_env.is_some())?;
        if let Some(NonEmptyString(secret)) = &choice.api_key {
            register_secret(&key("api-key"), secret);
        }
        if let Some(BaseUrl(url)) = &choice.base_url {
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
        let enabled = first_set([
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
struct ModelTable {
    model: Option<NonEmptyString>,
    provider: Option<Provider>,
    base_url: Option<BaseUrl>,
    api_key: Option<NonEmptyString>,
    api_key_env: Option<SecretVariable>,
    temperature: Option<Temperature>,
}

impl From<ModelTable> for ModelChoice {
    fn from(written: ModelTable) -> Self {
        Self {
            model: written.model.map(|NonEmptyString(model)| model),
            provider: written.provider,
            base_url: written.base_url.map(|BaseUrl(url)| url),
            api_key: written.api_key.map(|NonEmptyString(key)| Secret(key)),
            api_key_env: written.api_key_env.map(|SecretVariable(name)| name),
            temperature: written.temperature.map(|Temperature(temperature)| temperature),
        }
    }
}
