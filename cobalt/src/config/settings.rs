//! The settings in force as a list for people and programs, without secrets.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;

use serde::de::{Deserializer, Error, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::error::ConfigError;
use super::file::{ModelPrice, Storage, dotted};
use super::merge::{Merge, first};
use super::variables::{CACHE_DIR, DIR, HISTORY_DB, REDACTION_FORMS, RESULTS_DIR};
use crate::prices::{LongPrompt, Price, PriceTable};
use crate::redact::{REDACTED, is_secret, redacted, shown_address};
use crate::settings::Dollars;
use crate::store::Layout;

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
pub fn shown_variable<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_secret(name) { REDACTED.into() } else { redacted(value) }
}

/// A value without keys in its texts.
pub fn without_secrets(value: Value) -> Value {
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

/// Where `cargo cobalt serve` shows the runs, and how.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Dashboard {
    /// The port that it listens on, 0 for any that is free; 4000, or the next that is free, unless it is set.
    port: Option<Port>,
    /// Whether it is opened in the browser at once; true unless it is set.
    open: Option<bool>,
}

/// A port: a whole number from 0 to 65535.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Port(u16);

impl<'de> Deserialize<'de> for Port {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Whole;

        impl Visitor<'_> for Whole {
            type Value = Port;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a port from 0 to 65535")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Port, E> {
                let port = u16::try_from(number).map(Port);
                port.map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
            }
        }

        deserializer.deserialize_i64(Whole)
    }
}

/// The settings of the dashboard that are in force.
#[derive(Clone, Copy, Debug)]
pub struct DashboardSettings {
    port: Option<u16>,
    open: bool,
}

impl DashboardSettings {
    /// The port where none is set.
    pub const DEFAULT_PORT: u16 = 4000;

    /// The port that is set, 0 for any that is free; `None` where it is not.
    #[must_use]
    pub fn port(self) -> Option<u16> {
        self.port
    }

    /// Whether it is opened in the browser at once.
    #[must_use]
    pub fn opens(self) -> bool {
        self.open
    }
}

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    pub fn dashboard(&mut self, written: Dashboard) -> DashboardSettings {
        let Dashboard { port, open } = written;
        self.or_default("dashboard.port", port, || Port(DashboardSettings::DEFAULT_PORT));
        let open = self.or_default("dashboard.open", open, || true);
        DashboardSettings { port: port.map(|Port(port)| port), open }
    }
}

/// What is taken out of the texts that are stored, shown or served. Values that are known to be secret always are.
#[derive(Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, rename_all = "kebab-case", expecting = "a table of settings")]
pub struct Redaction {
    /// Whether texts that have the form of a key are, too; true unless it is set.
    forms: Option<bool>,
}

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    pub fn redacts_forms(&mut self, written: Redaction) -> Result<bool, ConfigError> {
        let key = "redaction.forms";
        let forms = first([
            (self.variables.redaction_forms()?, Origin::variable(REDACTION_FORMS)),
            (written.forms, self.origin(key)),
        ]);
        let (forms, origin) = forms.unwrap_or((true, Origin::Default));
        self.note(key, &forms, origin);
        Ok(forms)
    }
}

/// The folder of everything, unless something is set.
const DEFAULT_DIR: &str = ".cobalt";

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    /// Where runs are kept. `COBALT_DIR` moves all of it, so that what the file says of its parts does not count then.
    pub fn layout(&mut self, storage: Storage) -> Layout {
        let dir = first([
            (self.variables.path(DIR), Origin::variable(DIR)),
            (storage.dir, self.origin("storage.dir")),
        ]);
        let (dir, origin) = dir.unwrap_or((DEFAULT_DIR.into(), Origin::Default));
        let dir = self.workspace.join(dir);
        self.note("storage.dir", &dir, origin.clone());
        let parts = [
            ("storage.results", RESULTS_DIR, storage.results, "results"),
            ("storage.history", HISTORY_DB, storage.history, "history.db"),
            ("storage.cache", CACHE_DIR, storage.cache, "cache"),
        ];
        let [results, history, cache] = parts.map(|(key, variable, written, name)| {
            let written = written.filter(|_| origin != Origin::variable(DIR));
            let part = first([
                (self.variables.path(variable), Origin::variable(variable)),
                (written, self.origin(key)),
            ]);
            let (path, origin) = part.unwrap_or((dir.join(name), origin.clone()));
            let path = self.workspace.join(path);
            self.note(key, &path, origin);
            path
        });
        Layout::new(dir, results, history, cache)
    }
}

impl<F: Fn(&str) -> Option<OsString>> Merge<'_, F> {
    pub fn prices(&mut self, written: BTreeMap<String, ModelPrice>) -> PriceTable {
        let mut table = PriceTable::default();
        for (model, price) in written {
            self.note_written(&dotted("prices", &model), Some(&price));
            table.insert(model, price.into()).expect("amounts are checked as they are read");
        }
        table
    }
}

impl From<ModelPrice> for Price {
    fn from(written: ModelPrice) -> Self {
        let ModelPrice { input: Dollars(input), output: Dollars(output), cached_input, long_prompt } =
            written;
        Self {
            cached_input: cached_input.map(|Dollars(rate)| rate),
            long_prompt: long_prompt.map(|long| LongPrompt {
                above: long.above,
                input: long.input.0,
                output: long.output.0,
            }),
            ..Self::new(input, output)
        }
    }
}

/// The items that are run, in place of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only {
    /// Those that were in error the last time, or scored below a pass mark.
    Failed,
    /// Those that have no result yet, or none by the sources, the evaluators and the data of now.
    Changed,
}

/// As the variable `COBALT_ONLY` has it.
impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Failed => "failed",
            Self::Changed => "changed",
        })
    }
}

impl FromStr for Only {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let all = [Self::Failed, Self::Changed];
        all.into_iter().find(|only| only.to_string() == text).ok_or("expected `failed` or `changed`")
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
