//! The tables `[[webhooks]]`: who is called when a run finishes, and how.

use std::ffi::OsString;
use std::time::Duration;

use cobalt_core::redact::{REDACTED, Secret, register_secret, register_webhook};
use cobalt_core::report::duration;
use serde::de::Deserializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::merge::Merge;
use super::settings::Origin;
use crate::settings::{KeyVariable, Length, Retries, Text, host, is_address, written};

/// How long an answer may take, unless something is set.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// How often a request is sent again, unless something is set.
pub const DEFAULT_RETRIES: u32 = 3;
/// How long all webhooks together may hold up the end of a run.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// Whom `cargo cobalt run` and `merge` tell of the end of a run, see [`webhooks`](crate::webhooks). Its debug form shows no secret.
#[derive(Clone, Debug)]
pub struct Webhook {
    pub(super) url: Source,
    pub(super) secret: Option<Source>,
    pub(super) on: WebhookOn,
    pub(super) timeout: Duration,
    pub(super) retries: u32,
}

/// Where a text comes from that is, or may be, a secret.
#[derive(Clone, Debug)]
pub(super) enum Source {
    /// From the file.
    Written(Secret),
    /// From a variable, which may not be set.
    Variable { name: String, value: Option<Secret> },
}

/// After which runs a webhook is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WebhookOn {
    /// After every run.
    #[default]
    Always,
    /// After a run in which something failed.
    Failed,
    /// After a run in which an experiment is worse than its baseline, beyond noise, or misses a threshold against it.
    Regressed,
}

/// A variable that a webhook needs, and that is not set, or empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the variable `{0}` is not set")]
pub struct UnsetVariable(pub String);

impl Webhook {
    /// How long all webhooks together may hold up the end of a run, whatever is set: 60 s.
    pub const LONGEST_WAIT: Duration = LONGEST_WAIT;

    /// The address, which may hold a secret. One from a variable may be anything.
    ///
    /// # Errors
    ///
    /// The variable that holds it is not set.
    pub fn url(&self) -> Result<&str, UnsetVariable> {
        self.url.get()
    }

    /// The key by which requests are signed, if they are.
    ///
    /// # Errors
    ///
    /// The variable that holds it is not set. Nothing is to be sent then, as the receiver would take it for a forgery.
    pub fn secret(&self) -> Result<Option<&str>, UnsetVariable> {
        self.secret.as_ref().map(Source::get).transpose()
    }

    /// After which runs it is told.
    #[must_use]
    pub fn on(&self) -> WebhookOn {
        self.on
    }

    /// How long an answer may take.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How often a request is sent again after a failure that may pass.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.retries
    }
}

impl Source {
    fn get(&self) -> Result<&str, UnsetVariable> {
        match self {
            Self::Written(Secret(text)) | Self::Variable { value: Some(Secret(text)), .. } => Ok(text),
            Self::Variable { name, value: None } => Err(UnsetVariable(name.clone())),
        }
    }
}

/// Whom `cargo cobalt run` and `merge` tell of the end of a run, by a request with JSON.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Webhook", extend("oneOf" = one_address())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table with `url` or `url-env`")]
pub struct Table {
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
pub struct Hook {
    pub(super) url: Address,
    pub(super) secret_env: Option<String>,
    pub(super) on: WebhookOn,
    pub(super) timeout: Duration,
    pub(super) retries: u32,
}

/// Where an address is.
#[derive(Debug)]
pub enum Address {
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

/// An address that requests are sent to.
#[derive(Debug)]
pub struct HookAddress(pub(super) String);

impl<'de> Deserialize<'de> for HookAddress {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match is_address(text) {
            true => Ok(Self(text.to_owned())),
            // It is not repeated, as it may hold a secret.
            false => Err("this is no address; write it like \"https://example.com/hook\"".to_owned()),
        };
        deserializer.deserialize_str(Text { expected: "an address in quotes", read })
    }
}

/// How long an answer may take.
#[derive(Clone, Copy, Debug)]
pub struct HookTimeout(pub(super) Duration);

impl<'de> Deserialize<'de> for HookTimeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match duration(text)? {
            timeout if timeout <= LONGEST_WAIT => Ok(Self(timeout)),
            _ => Err(format!(
                "`{text}` is too long: a run waits {} for its webhooks at the most",
                written(LONGEST_WAIT)
            )),
        };
        deserializer.deserialize_str(Text { expected: "a duration in quotes, such as \"10s\"", read })
    }
}

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    /// Who is told of the end of a run.
    pub fn webhooks(&mut self, written: Option<Vec<Hook>>) -> Vec<Webhook> {
        let origin = if written.is_some() { self.origin("webhooks") } else { Origin::Default };
        let written = written.unwrap_or_default();
        let shown: Vec<_> = written.iter().map(shown).collect();
        self.note("webhooks", &shown, origin);
        written.into_iter().map(|hook| self.webhook(hook)).collect()
    }

    fn webhook(&self, hook: Hook) -> Webhook {
        let url = match hook.url {
            Address::Written(url) => {
                register_webhook("webhooks.url", &url);
                Source::Written(Secret(url))
            }
            Address::Variable(name) => self.source(name, register_webhook),
        };
        let secret = hook.secret_env.map(|name| self.source(name, register_secret));
        Webhook { url, secret, on: hook.on, timeout: hook.timeout, retries: hook.retries }
    }

    /// A variable; an empty one counts as unset.
    fn source(&self, name: String, register: fn(&str, &str)) -> Source {
        let value = self.variables.text(&name).filter(|text| !text.is_empty());
        value.iter().for_each(|value| register(&name, value));
        let value = value.map(Secret);
        Source::Variable { name, value }
    }
}

/// A webhook as it may be shown.
fn shown(hook: &Hook) -> Value {
    let (key, value) = match &hook.url {
        Address::Written(url) => ("url", without_secrets(url)),
        Address::Variable(name) => ("url-env", name.clone()),
    };
    let mut fields = Map::from_iter([
        (key.to_owned(), json!(value)),
        ("on".to_owned(), json!(hook.on)),
        ("timeout".to_owned(), json!(Length(hook.timeout))),
        ("retries".to_owned(), json!(hook.retries)),
    ]);
    if let Some(name) = &hook.secret_env {
        fields.insert("secret-env".to_owned(), json!(name));
    }
    Value::Object(fields)
}

/// An address of which everything but the host may be a secret.
fn without_secrets(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let host = host(rest);
    if host == rest { url.to_owned() } else { format!("{scheme}://{host}/{REDACTED}") }
}
