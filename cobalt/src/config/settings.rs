//! The effective settings as a list without secrets, and settings with a fixed set of values.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use cobalt_core::redact::{REDACTED, is_secret, redacted, redacted_url};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::settings::StringVisitor;

/// An effective setting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Setting {
    /// The key as written in the file, with its tables: `storage.dir`.
    pub key: String,
    /// The value as it would be written in the file, with absolute paths and `[redacted]` for secrets.
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
        /// Its path, relative to the workspace root if the file is inside it.
        file: String,
        /// The line, counted from 1.
        line: usize,
    },
    /// The nearest file, found automatically.
    Found,
    /// Not set anywhere.
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

/// The value of a variable, redacted if it is a secret.
pub fn redacted_variable<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_secret(name) { REDACTED.into() } else { redacted(value) }
}

/// A value with all secrets redacted.
pub fn redact_value(value: Value) -> Value {
    match value {
        // Any URL parameter may be a key, whatever its name.
        Value::String(text) if text.starts_with("http") => Value::String(redacted_url(&text)),
        Value::String(text) => Value::String(redacted(&text).into_owned()),
        Value::Array(list) => list.into_iter().map(redact_value).collect(),
        Value::Object(fields) => {
            let hidden = |(key, value): (String, Value)| match value {
                // `secret-env` is the name of a variable, not a secret.
                Value::String(_) if is_secret(&key) && !key.ends_with("-env") => (key, REDACTED.into()),
                // `headers-env` contains names of variables, whatever the header names.
                Value::Object(names) if key.ends_with("-env") => {
                    let names = names.into_iter().map(|(name, variable)| (name, redact_value(variable)));
                    (key, names.collect())
                }
                value => (key, redact_value(value)),
            };
            fields.into_iter().map(hidden).collect()
        }
        other => other,
    }
}

/// Which items to run instead of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RerunMode {
    /// Items that were in error or below a pass mark in their last result.
    Failed,
    /// Items whose result is missing or out of date: the sources, the evaluators or the data have changed since.
    Changed,
}

/// The value of `COBALT_ONLY`.
impl fmt::Display for RerunMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "failed",
            Self::Changed => "changed",
        })
    }
}

impl FromStr for RerunMode {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let all = [Self::Failed, Self::Changed];
        all.into_iter().find(|only| only.to_string() == text).ok_or("expected `failed` or `changed`")
    }
}

/// Which workspaces to keep after their execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum KeepWorkspaces {
    /// None.
    #[default]
    None,
    /// Those of executions that failed or are below a pass mark.
    Failed,
    /// All.
    All,
}

/// The value of `COBALT_KEEP_WORKSPACES`.
impl fmt::Display for KeepWorkspaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Failed => "failed",
            Self::All => "all",
        })
    }
}

impl FromStr for KeepWorkspaces {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let all = [Self::None, Self::Failed, Self::All];
        all.into_iter().find(|kept| kept.to_string() == text).ok_or("expected `failed`, `all` or `none`")
    }
}

/// How to treat a baseline threshold that is neither met nor missed beyond noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OnInconclusive {
    /// It passes, with a message.
    #[default]
    Pass,
    /// It fails.
    Fail,
}

impl FromStr for OnInconclusive {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "pass" => Ok(Self::Pass),
            "fail" => Ok(Self::Fail),
            _ => Err(format!("expected `pass` or `fail`, not `{text}`")),
        }
    }
}

/// As written in the file.
impl fmt::Display for OnInconclusive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
        })
    }
}

impl<'de> Deserialize<'de> for OnInconclusive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer
            .deserialize_str(StringVisitor { expected: "`pass` or `fail` in quotes", read: str::parse })
    }
}

/// The dotted path of a key: `storage.dir`, or `prices."gpt-4.1"` if the key needs quotes.
pub fn dotted_key(above: &str, key: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    let key = if !key.is_empty() && key.chars().all(is_bare) { key.to_owned() } else { format!("{key:?}") };
    if above.is_empty() { key } else { format!("{above}.{key}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_whose_name_says_so_is_a_secret() {
        let shown = redact_value(json!([{ "apiKey": "abc", "model": "small", "maxTokens": 3 }]));
        assert_eq!(shown, json!([{ "apiKey": "[redacted]", "model": "small", "maxTokens": 3 }]));
    }

    #[test]
    fn an_address_is_shown_without_what_its_parameters_hold() {
        let shown = |url: &str| redact_value(json!(url));
        assert_eq!(
            shown("https://host.test/v1?api-version=2024-10-21&key=abc&code=d#e"),
            "https://host.test/v1?api-version=2024-10-21&key=[redacted]&code=[redacted]#e"
        );
        assert_eq!(shown("https://u:pw@host.test/v1"), "https://u:[redacted]@host.test/v1");
        assert_eq!(shown("https://token@host.test/v1?flag"), "https://[redacted]@host.test/v1?flag");
        assert_eq!(shown("https://host.test/a.csv?[redacted]"), "https://host.test/a.csv?[redacted]");
    }
}
