//! The tables `[judge]`, `[embedding]` and `[cache]` as they are written.

use serde::Deserialize;

use crate::settings::{Address, Age, EmbeddingVendor, JudgeVendor, KeyVariable, Retries, Temperature, Word};
use crate::settings::{Count, Length};

/// Whom judges ask that do not say it themselves, and how.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(extend("not" = one_key())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub(in crate::config) struct Judge {
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
pub(in crate::config) struct Embedding {
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
pub(in crate::config) struct Cache {
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
