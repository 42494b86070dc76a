//! The settings in force as a list for people and programs, without secrets.

use std::borrow::Cow;
use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::redact::{REDACTED, is_secret, redacted, shown_address};

/// A setting in force.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The key as it is written in the file, with its tables: `storage.dir`.
    pub key: String,
    /// The value as it would be written in the file; paths are absolute, and secrets are replaced by `[redacted]`.
    pub value: Value,
    /// Where the value comes from.
    pub origin: Origin,
}

/// Where a value comes from.
///
/// Its text form, which is also its JSON, is `flag`, the name of a variable, `cobalt.toml:3`, `found`, or `default`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A flag of the command.
    Flag,
    /// The environment variable of this name.
    Variable(String),
    /// A file.
    File {
        /// Its path: as seen from the root of the workspace where it lies there.
        file: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// The nearest file, which nobody asked for.
    Found,
    /// Nothing was set.
    Default,
}

impl Origin {
    pub(super) fn variable(name: &str) -> Self {
        Self::Variable(name.to_owned())
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag => f.write_str("flag"),
            Self::Variable(name) => f.write_str(name),
            Self::File { file, line } => write!(f, "{file}:{line}"),
            Self::Found => f.write_str("found"),
            Self::Default => f.write_str("default"),
        }
    }
}

impl Serialize for Origin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A variable's value as it may be shown.
pub(super) fn shown_variable<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_secret(name) { REDACTED.into() } else { redacted(value) }
}

/// A value without keys in its texts.
pub(super) fn without_secrets(value: Value) -> Value {
    match value {
        // Any parameter of an address may be a key, whatever it is called.
        Value::String(text) if text.starts_with("http") => Value::String(shown_address(&text)),
        Value::String(text) => Value::String(redacted(&text).into_owned()),
        Value::Array(list) => list.into_iter().map(without_secrets).collect(),
        Value::Object(fields) => {
            let hidden = |(key, value): (String, Value)| match value {
                // `secret-env` is the name of a variable, and no secret.
                Value::String(_) if is_secret(&key) && !key.ends_with("-env") => (key, REDACTED.into()),
                // So are those of the headers in `headers-env`, whatever the headers are called.
                Value::Object(names) if key.ends_with("-env") => {
                    let names = names.into_iter().map(|(name, variable)| (name, without_secrets(variable)));
                    (key, names.collect())
                }
                value => (key, without_secrets(value)),
            };
            fields.into_iter().map(hidden).collect()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_whose_name_says_so_is_a_secret() {
        let shown = without_secrets(json!([{ "apiKey": "abc", "model": "small", "maxTokens": 3 }]));
        assert_eq!(shown, json!([{ "apiKey": "[redacted]", "model": "small", "maxTokens": 3 }]));
    }

    #[test]
    fn an_address_is_shown_without_what_its_parameters_hold() {
        let shown = |url: &str| without_secrets(json!(url));
        assert_eq!(
            shown("https://host.test/v1?api-version=2024-10-21&key=abc&code=d#e"),
            "https://host.test/v1?api-version=2024-10-21&key=[redacted]&code=[redacted]#e"
        );
        assert_eq!(shown("https://u:pw@host.test/v1"), "https://u:[redacted]@host.test/v1");
        assert_eq!(shown("https://token@host.test/v1?flag"), "https://[redacted]@host.test/v1?flag");
        assert_eq!(shown("https://host.test/a.csv?[redacted]"), "https://host.test/a.csv?[redacted]");
    }
}
