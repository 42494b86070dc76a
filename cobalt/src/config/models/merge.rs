//! What the file and the variables say of models, merged.

use std::ffi::OsString;

use super::tables::{Cache, Embedding, Judge};
use crate::config::error::ConfigError;
use crate::config::merge::{Merge, first};
use crate::config::settings::Origin;
use crate::config::variables::CACHE;
use crate::llm::{
    CacheSettings, DEFAULT_CONCURRENCY, DEFAULT_RETRIES, DEFAULT_TIMEOUT, DEFAULT_TTL, ModelChoice,
    ModelSettings, Provider,
};
use crate::redact::Secret;
use crate::redact::{REDACTED, register_address, register_secret};
use crate::settings::{Address, Age, EmbeddingVendor, JudgeVendor, KeyVariable, Retries, Temperature, Word};
use crate::settings::{Count, Length};
use crate::store::Layout;

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    /// The settings of models; `layout` says where answers would be kept.
    pub(in crate::config) fn models(
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

    /// Has the value of a variable known as a secret.
    pub(in crate::config) fn register_variable(&self, variable: Option<&KeyVariable>) {
        if let Some(KeyVariable(name)) = variable {
            self.variables.text(name).iter().for_each(|value| register_secret(name, value));
        }
    }

    /// Refuses a key that is written in a table, as is the variable that holds it.
    pub(in crate::config) fn said_once(
        &self,
        table: &str,
        name: &str,
        written: bool,
        in_variable: bool,
    ) -> Result<(), ConfigError> {
        match self.place(&format!("{table}.{name}-env")) {
            Some(place) if written && in_variable => {
                Err(place
                    .error(&format!("`{name}` and `{name}-env` both name the key; leave one of them out")))
            }
            _ => Ok(()),
        }
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
