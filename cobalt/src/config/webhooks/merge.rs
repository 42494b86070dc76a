//! What the file says of webhooks, with the variables that it names.

use std::ffi::OsString;

use serde_json::{Map, Value, json};

use super::table::{Address, Hook};
use super::webhook::{Source, Webhook};
use crate::config::merge::Merge;
use crate::config::settings::Origin;
use crate::redact::Secret;
use crate::redact::{REDACTED, register_secret, register_webhook};
use crate::settings::{Length, host};

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    /// Who is told of the end of a run.
    pub(in crate::config) fn webhooks(&mut self, written: Option<Vec<Hook>>) -> Vec<Webhook> {
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
