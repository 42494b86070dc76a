//! These tables as they are written.

use serde::Deserialize;

use crate::settings::{Address, KeyVariable, Word};

/// By which accounts the platforms are asked where teams keep their data sets.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of platforms")]
pub(in crate::config) struct Platforms {
    /// Langfuse.
    pub(super) langfuse: Option<Langfuse>,
    /// LangSmith.
    pub(super) langsmith: Option<LangSmith>,
    /// Braintrust.
    pub(super) braintrust: Option<Braintrust>,
    /// Basalt.
    pub(super) basalt: Option<OneKey>,
}

/// An account of Langfuse, which has a pair of keys.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "LangfuseAccount", extend("allOf" = keys_once())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub(super) struct Langfuse {
    /// Where the API is; that of `LANGFUSE_BASE_URL` or `LANGFUSE_HOST`, else the platform's own, unless it is set.
    pub(super) base_url: Option<Address>,
    /// The public key itself.
    pub(super) public_key: Option<Word>,
    /// The environment variable that holds the public key; `LANGFUSE_PUBLIC_KEY` unless it is set.
    pub(super) public_key_env: Option<KeyVariable>,
    /// The secret key itself. Better not here: the file is committed with your code.
    pub(super) secret_key: Option<Word>,
    /// The environment variable that holds the secret key; `LANGFUSE_SECRET_KEY` unless it is set.
    pub(super) secret_key_env: Option<KeyVariable>,
}

/// An account of LangSmith.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "LangSmithAccount", extend("not" = key_twice())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub(super) struct LangSmith {
    /// Where the API is; that of `LANGSMITH_ENDPOINT`, else the platform's own, unless it is set.
    pub(super) base_url: Option<Address>,
    /// The key itself. Better not here: the file is committed with your code.
    pub(super) api_key: Option<Word>,
    /// The environment variable that holds the key; `LANGSMITH_API_KEY` unless it is set.
    pub(super) api_key_env: Option<KeyVariable>,
    /// The id of the workspace, where the key is for several.
    pub(super) workspace: Option<Word>,
}

/// An account of Braintrust.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "BraintrustAccount", extend("not" = key_twice())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub(super) struct Braintrust {
    /// Where the API is; that of `BRAINTRUST_API_URL`, else the platform's own, unless it is set.
    pub(super) base_url: Option<Address>,
    /// The key itself. Better not here: the file is committed with your code.
    pub(super) api_key: Option<Word>,
    /// The environment variable that holds the key; `BRAINTRUST_API_KEY` unless it is set.
    pub(super) api_key_env: Option<KeyVariable>,
    /// The name of the organization, where the key is of several.
    pub(super) organization: Option<Word>,
}

/// An account with one key.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Account", extend("not" = key_twice())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub(super) struct OneKey {
    /// Where the API is; the platform's own unless it is set, here or in its variable.
    pub(super) base_url: Option<Address>,
    /// The key itself. Better not here: the file is committed with your code.
    pub(super) api_key: Option<Word>,
    /// The environment variable that holds the key; the platform's usual one unless it is set.
    pub(super) api_key_env: Option<KeyVariable>,
}

/// A key that is said twice, as a schema has it.
#[cfg(feature = "schema")]
fn key_twice() -> serde_json::Value {
    serde_json::json!({ "required": ["api-key", "api-key-env"] })
}

/// That neither key of Langfuse is said twice, as a schema has it.
#[cfg(feature = "schema")]
fn keys_once() -> serde_json::Value {
    serde_json::json!([
        { "not": { "required": ["public-key", "public-key-env"] } },
        { "not": { "required": ["secret-key", "secret-key-env"] } },
    ])
}
