//! The tables `[platforms.…]`: accounts for dataset platforms.

use std::collections::BTreeMap;
use std::ffi::OsString;

use cobalt_core::redact::{REDACTED, Secret, register_address, register_secret};
use serde::Deserialize;

use super::error::ConfigError;
use super::resolve::Resolver;
use crate::dataset::settings::{Account, Key, Platform};
use crate::settings::{BaseUrl, NonEmptyString, SecretVariable};

/// Accounts for dataset platforms.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of platforms")]
pub struct Platforms {
    /// Langfuse.
    pub(super) langfuse: Option<Langfuse>,
    /// LangSmith.
    pub(super) langsmith: Option<LangSmith>,
    /// Braintrust.
    pub(super) braintrust: Option<Braintrust>,
    /// Basalt.
    pub(super) basalt: Option<SingleKeyAccount>,
}

/// A Langfuse account, which has a pair of keys.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "LangfuseAccount", extend("allOf" = forbid_both_keys())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Langfuse {
    /// Base URL of the API; default: `LANGFUSE_BASE_URL` or `LANGFUSE_HOST`, else the platform's own.
    pub(super) base_url: Option<BaseUrl>,
    /// The public key itself.
    pub(super) public_key: Option<NonEmptyString>,
    /// The environment variable that holds the public key; default `LANGFUSE_PUBLIC_KEY`.
    pub(super) public_key_env: Option<SecretVariable>,
    /// The secret key itself. Not recommended: the file is committed with your code.
    pub(super) secret_key: Option<NonEmptyString>,
    /// The environment variable that holds the secret key; default `LANGFUSE_SECRET_KEY`.
    pub(super) secret_key_env: Option<SecretVariable>,
}

/// A LangSmith account.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "LangSmithAccount", extend("not" = both_keys())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct LangSmith {
    /// Base URL of the API; default: `LANGSMITH_ENDPOINT`, else the platform's own.
    pub(super) base_url: Option<BaseUrl>,
    /// The key itself. Not recommended: the file is committed with your code.
    pub(super) api_key: Option<NonEmptyString>,
    /// The environment variable that holds the key; default `LANGSMITH_API_KEY`.
    pub(super) api_key_env: Option<SecretVariable>,
    /// Workspace ID, if the key belongs to several.
    pub(super) workspace: Option<NonEmptyString>,
}

/// A Braintrust account.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "BraintrustAccount", extend("not" = both_keys())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Braintrust {
    /// Base URL of the API; default: `BRAINTRUST_API_URL`, else the platform's own.
    pub(super) base_url: Option<BaseUrl>,
    /// The key itself. Not recommended: the file is committed with your code.
    pub(super) api_key: Option<NonEmptyString>,
    /// The environment variable that holds the key; default `BRAINTRUST_API_KEY`.
    pub(super) api_key_env: Option<SecretVariable>,
    /// Organization name, if the key belongs to several.
    pub(super) organization: Option<NonEmptyString>,
}

/// An account with one key.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Account", extend("not" = both_keys())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct SingleKeyAccount {
    /// Base URL of the API; default: that of the platform's variable, else the platform's own.
    pub(super) base_url: Option<BaseUrl>,
    /// The key itself. Not recommended: the file is committed with your code.
    pub(super) api_key: Option<NonEmptyString>,
    /// The environment variable that holds the key; default: the platform's usual one.
    pub(super) api_key_env: Option<SecretVariable>,
}

/// Matches a key that is given twice, as a schema.
#[cfg(feature = "schema")]
fn both_keys() -> serde_json::Value {
    serde_json::json!({ "required": ["api-key", "api-key-env"] })
}

/// Forbids giving either key of Langfuse twice, as a schema.
#[cfg(feature = "schema")]
fn forbid_both_keys() -> serde_json::Value {
    serde_json::json!([
        { "not": { "required": ["public-key", "public-key-env"] } },
        { "not": { "required": ["secret-key", "secret-key-env"] } },
    ])
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    /// Resolves the account of each platform that has a table.
    pub fn accounts(&mut self, written: Platforms) -> Result<BTreeMap<Platform, Account>, ConfigError> {
        let Platforms { langfuse, langsmith, braintrust, basalt } = written;
        let accounts = [
            langfuse.map(|table| Ok((Platform::Langfuse, self.langfuse(table)?))),
            langsmith.map(|table| Ok((Platform::LangSmith, self.langsmith(table)?))),
            braintrust.map(|table| Ok((Platform::Braintrust, self.braintrust(table)?))),
            basalt.map(|table| Ok((Platform::Basalt, self.single_key_account("platforms.basalt", table)?))),
        ];
        accounts.into_iter().flatten().collect()
    }

    fn langfuse(&mut self, table: Langfuse) -> Result<Account, ConfigError> {
        let Langfuse { base_url, public_key, public_key_env, secret_key, secret_key_env } = table;
        let at = "platforms.langfuse";
        Ok(Account {
            base_url: self.base_url(at, base_url),
            public_key: self.key(at, "public-key", public_key, public_key_env)?,
            key: self.key(at, "secret-key", secret_key, secret_key_env)?,
            workspace: None,
        })
    }

    fn langsmith(&mut self, table: LangSmith) -> Result<Account, ConfigError> {
        let LangSmith { base_url, api_key, api_key_env, workspace } = table;
        let at = "platforms.langsmith";
        let account = self.single_key_account(at, SingleKeyAccount { base_url, api_key, api_key_env })?;
        self.note_written(&format!("{at}.workspace"), workspace.as_ref());
        Ok(Account { workspace: workspace.map(|NonEmptyString(id)| id), ..account })
    }

    fn braintrust(&mut self, table: Braintrust) -> Result<Account, ConfigError> {
        let Braintrust { base_url, api_key, api_key_env, organization } = table;
        let at = "platforms.braintrust";
        let account = self.single_key_account(at, SingleKeyAccount { base_url, api_key, api_key_env })?;
        self.note_written(&format!("{at}.organization"), organization.as_ref());
        Ok(Account { workspace: organization.map(|NonEmptyString(name)| name), ..account })
    }

    fn single_key_account(&mut self, table: &str, written: SingleKeyAccount) -> Result<Account, ConfigError> {
        let SingleKeyAccount { base_url, api_key, api_key_env } = written;
        Ok(Account {
            base_url: self.base_url(table, base_url),
            key: self.key(table, "api-key", api_key, api_key_env)?,
            ..Account::default()
        })
    }

    fn base_url(&mut self, table: &str, written: Option<BaseUrl>) -> Option<String> {
        if let Some(BaseUrl(url)) = &written {
            register_address(&format!("{table}.base-url"), url);
        }
        self.note_written(&format!("{table}.base-url"), written.as_ref());
        written.map(|BaseUrl(url)| url)
    }

    /// Resolves a key: either the key itself or the variable that holds it.
    fn key(
        &mut self,
        table: &str,
        name: &str,
        written: Option<NonEmptyString>,
        variable: Option<SecretVariable>,
    ) -> Result<Option<Key>, ConfigError> {
        self.refuse_both_keys(table, name, written.is_some(), variable.is_some())?;
        self.note_written(&format!("{table}.{name}"), written.as_ref().map(|_| REDACTED).as_ref());
        self.note_written(&format!("{table}.{name}-env"), variable.as_ref());
        if let Some(NonEmptyString(secret)) = &written {
            register_secret(&format!("{table}.{name}"), secret);
        }
        self.register_variable(variable.as_ref());
        let variable = variable.map(|SecretVariable(name)| Key::Variable(name));
        Ok(written.map(|NonEmptyString(key)| Key::Written(Secret(key))).or(variable))
    }
}
