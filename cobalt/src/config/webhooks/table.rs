//! A table of `[[webhooks]]` as it is written.

use std::time::Duration;

use serde::Deserialize;

use super::values::{HookAddress, HookTimeout};
use super::webhook::{DEFAULT_RETRIES, DEFAULT_TIMEOUT, WebhookOn};
use crate::settings::{KeyVariable, Retries};

/// Whom `cargo cobalt run` and `merge` tell of the end of a run, by a request with JSON.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Webhook", extend("oneOf" = one_address())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table with `url` or `url-env`")]
pub(in crate::config) struct Table {
    /// The address. One that is a secret, as those of chat servers are, belongs into a variable.
    url: Option<HookAddress>,
    /// The environment variable that holds the address.
    url_env: Option<KeyVariable>,
    /// The environment variable that holds the key by which requests are signed; without it they are not signed.
    secret_env: Option<KeyVariable>,
    /// After which runs the request is sent; "always" unless it is set.
    #[serde(default)]
    on: WebhookOn,
    /// How long an answer may take; "10s" unless it is set.
    timeout: Option<HookTimeout>,
    /// How often the request is sent again after a failure that may pass; 3 unless it is set.
    retries: Option<Retries>,
}

/// A table of which it is known that it has one address.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Table", expecting = "a table with `url` or `url-env`")]
pub(in crate::config) struct Hook {
    pub(super) url: Address,
    pub(super) secret_env: Option<String>,
    pub(super) on: WebhookOn,
    pub(super) timeout: Duration,
    pub(super) retries: u32,
}

/// Where an address is.
#[derive(Debug)]
pub(super) enum Address {
    /// In the file.
    Written(String),
    /// In the variable of this name.
    Variable(String),
}

impl TryFrom<Table> for Hook {
    type Error = &'static str;

    fn try_from(table: Table) -> Result<Self, Self::Error> {
        let url = match (table.url, table.url_env) {
            (Some(HookAddress(url)), None) => Address::Written(url),
            (None, Some(KeyVariable(name))) => Address::Variable(name),
            (None, None) => {
                return Err("a webhook needs an address: `url`, or `url-env` with the name of a variable");
            }
            (Some(_), Some(_)) => {
                return Err("`url` and `url-env` both give the address; leave one of them out");
            }
        };
        let secret_env = table.secret_env.map(|KeyVariable(name)| name);
        let timeout = table.timeout.map_or(DEFAULT_TIMEOUT, |HookTimeout(timeout)| timeout);
        let retries = table.retries.map_or(DEFAULT_RETRIES, |Retries(retries)| retries);
        Ok(Self { url, secret_env, on: table.on, timeout, retries })
    }
}

/// That just one of the two is there, as a schema has it.
#[cfg(feature = "schema")]
fn one_address() -> serde_json::Value {
    serde_json::json!([{ "required": ["url"] }, { "required": ["url-env"] }])
}
