//! The tables `[[webhooks]]`: HTTP requests that are sent when a run finishes.

use std::ffi::OsString;
use std::time::Duration;

use cobalt_core::redact::{REDACTED, Secret, register_secret, register_webhook};
use cobalt_core::report::parse_duration;
use serde::de::Deserializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::resolve::Resolver;
use super::settings::Origin;
use crate::settings::{
    DurationValue, Retries, SecretVariable, StringVisitor, format_duration, host, is_http_url,
};

/// The default time limit for a response.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);
/// The default number of retries.
pub const DEFAULT_RETRIES: u32 = 3;
/// How long all webhooks together may delay the end of a run.
pub const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// A webhook that `cargo cobalt run` and `merge` call when a run finishes, see [`webhooks`](crate::webhooks). `Debug` shows no secrets.
#[derive(Clone, Debug)]
pub struct Webhook {
    pub(super) url: SecretSource,
    pub(super) secret: Option<SecretSource>,
    pub(super) on: WebhookOn,
    pub(super) timeout: Duration,
    pub(super) retries: u32,
}

/// The source of a value that is or may be secret.
#[derive(Clone, Debug)]
pub(super) enum SecretSource {
    /// From the file.
    Written(Secret),
    /// From a variable, which may be unset.
    Variable { name: String, value: Option<Secret> },
}

/// After which runs a webhook is called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WebhookOn {
    /// After every run.
    #[default]
    Always,
    /// After a run in which something failed.
    Failed,
    /// After a run in which an experiment is worse than its baseline, beyond noise, or misses a baseline threshold.
    Regressed,
}

/// A variable that a webhook needs and that is unset or empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the variable `{0}` is not set")]
pub struct UnsetVariable(pub String);

impl Webhook {
    /// How long all webhooks together may delay the end of a run, regardless of settings: 60 s.
    pub const MAX_WAIT: Duration = LONGEST_WAIT;

    /// The URL, which may contain a secret. One from a variable is not validated.
    ///
    /// # Errors
    ///
    /// The variable that holds it is not set.
    pub fn url(&self) -> Result<&str, UnsetVariable> {
        self.url.get()
    }

    /// The key for signing requests, if any.
    ///
    /// # Errors
    ///
    /// The variable that holds it is not set. Send nothing then: the receiver would reject an unsigned request as a forgery.
    pub fn secret(&self) -> Result<Option<&str>, UnsetVariable> {
        self.secret.as_ref().map(SecretSource::get).transpose()
    }

    /// After which runs it is called.
    #[must_use]
    pub fn on(&self) -> WebhookOn {
        self.on
    }

    /// The time limit for a response.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    /// How often a request is retried after a transient failure.
    #[must_use]
    pub fn retries(&self) -> u32 {
        self.retries
    }
}

impl SecretSource {
    fn get(&self) -> Result<&str, UnsetVariable> {
        match self {
            Self::Written(Secret(text)) | Self::Variable { value: Some(Secret(text)), .. } => Ok(text),
            Self::Variable { name, value: None } => Err(UnsetVariable(name.clone())),
        }
    }
}

/// A webhook that `cargo cobalt run` and `merge` call with JSON when a run finishes.
#[derive(Debug, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Webhook", extend("oneOf" = require_one_url())))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table with `url` or `url-env`")]
pub struct WebhookTable {
    /// The URL. Put a secret URL, such as that of a chat server, into a variable.
    url: Option<WebhookUrl>,
    /// The environment variable that holds the URL.
    url_env: Option<SecretVariable>,
    /// The environment variable that holds the key for signing requests; without it, requests are not signed.
    secret_env: Option<SecretVariable>,
    /// After which runs to send the request; default "always".
    #[serde(default)]
    on: WebhookOn,
    /// Time limit for a response; default "10s".
    timeout: Option<WebhookTimeout>,
    /// Retries after a transient failure; default 3.
    retries: Option<Retries>,
}

/// A validated table: it has exactly one of `url` and `url-env`.
#[derive(Debug, Deserialize)]
#[serde(try_from = "WebhookTable", expecting = "a table with `url` or `url-env`")]
pub struct WebhookConfig {
    pub(super) url: UrlSource,
    pub(super) secret_env: Option<String>,
    pub(super) on: WebhookOn,
    pub(super) timeout: Duration,
    pub(super) retries: u32,
}

/// Where a URL is given.
#[derive(Debug)]
pub enum UrlSource {
    /// In the file.
    Written(String),
    /// In the variable of this name.
    Variable(String),
}

impl TryFrom<WebhookTable> for WebhookConfig {
    type Error = &'static str;

    fn try_from(table: WebhookTable) -> Result<Self, Self::Error> {
        let url = match (table.url, table.url_env) {
            (Some(WebhookUrl(url)), None) => UrlSource::Written(url),
            (None, Some(SecretVariable(name))) => UrlSource::Variable(name),
            (None, None) => {
                return Err("a webhook needs a URL: set `url`, or `url-env` to the name of a variable");
            }
            (Some(_), Some(_)) => {
                return Err("`url` and `url-env` are mutually exclusive; remove one");
            }
        };
        let secret_env = table.secret_env.map(|SecretVariable(name)| name);
        let timeout = table.timeout.map_or(DEFAULT_TIMEOUT, |WebhookTimeout(timeout)| timeout);
        let retries = table.retries.map_or(DEFAULT_RETRIES, |Retries(retries)| retries);
        Ok(Self { url, secret_env, on: table.on, timeout, retries })
    }
}

/// Requires exactly one of the two, as a schema.
#[cfg(feature = "schema")]
fn require_one_url() -> serde_json::Value {
    serde_json::json!([{ "required": ["url"] }, { "required": ["url-env"] }])
}

/// The URL for requests.
#[derive(Debug)]
pub struct WebhookUrl(pub(super) String);

impl<'de> Deserialize<'de> for WebhookUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match is_http_url(text) {
            true => Ok(Self(text.to_owned())),
            // The error does not repeat it: it may contain a secret.
            false => Err("not a URL; write it like \"https://example.com/hook\"".to_owned()),
        };
        deserializer.deserialize_str(StringVisitor { expected: "a URL in quotes", read })
    }
}

/// The time limit for a response.
#[derive(Clone, Copy, Debug)]
pub struct WebhookTimeout(pub(super) Duration);

impl<'de> Deserialize<'de> for WebhookTimeout {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = |text: &str| match parse_duration(text)? {
            timeout if timeout <= LONGEST_WAIT => Ok(Self(timeout)),
            _ => Err(format!(
                "`{text}` is too long: a run waits at most {} for its webhooks",
                format_duration(LONGEST_WAIT)
            )),
        };
        deserializer
            .deserialize_str(StringVisitor { expected: "a duration in quotes, such as \"10s\"", read })
    }
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    /// Resolves the webhooks.
    pub fn webhooks(&mut self, written: Option<Vec<WebhookConfig>>) -> Vec<Webhook> {
        let origin = if written.is_some() { self.origin("webhooks") } else { Origin::Default };
        let written = written.unwrap_or_default();
        let shown: Vec<_> = written.iter().map(display_value).collect();
        self.note("webhooks", &shown, origin);
        written.into_iter().map(|hook| self.webhook(hook)).collect()
    }

    fn webhook(&self, hook: WebhookConfig) -> Webhook {
        let url = match hook.url {
            UrlSource::Written(url) => {
                register_webhook("webhooks.url", &url);
                SecretSource::Written(Secret(url))
            }
            UrlSource::Variable(name) => self.variable_source(name, register_webhook),
        };
        let secret = hook.secret_env.map(|name| self.variable_source(name, register_secret));
        Webhook { url, secret, on: hook.on, timeout: hook.timeout, retries: hook.retries }
    }

    /// The value of a variable; an empty one counts as unset.
    fn variable_source(&self, name: String, register: fn(&str, &str)) -> SecretSource {
        let value = self.variables.text(&name).filter(|text| !text.is_empty());
        value.iter().for_each(|value| register(&name, value));
        let value = value.map(Secret);
        SecretSource::Variable { name, value }
    }
}

/// A webhook as it is displayed, without secrets.
fn display_value(hook: &WebhookConfig) -> Value {
    let (key, value) = match &hook.url {
        UrlSource::Written(url) => ("url", redact_url(url)),
        UrlSource::Variable(name) => ("url-env", name.clone()),
    };
    let mut fields = Map::from_iter([
        (key.to_owned(), json!(value)),
        ("on".to_owned(), json!(hook.on)),
        ("timeout".to_owned(), json!(DurationValue(hook.timeout))),
        ("retries".to_owned(), json!(hook.retries)),
    ]);
    if let Some(name) = &hook.secret_env {
        fields.insert("secret-env".to_owned(), json!(name));
    }
    Value::Object(fields)
}

/// A URL without anything but the host, as the rest may be secret.
fn redact_url(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or_default();
    let host = host(rest);
    if host == rest { url.to_owned() } else { format!("{scheme}://{host}/{REDACTED}") }
}
