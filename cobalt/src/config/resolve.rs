//! Resolves flags, variables, the file and the defaults, and notes where each value comes from. The rules of each table are next to
//! the table.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use cobalt_core::redact::register_secret;
use serde::Serialize;

use super::error::{ConfigError, Location};
use super::overrides::{EnvVariables, Flags};
use super::settings::{Origin, Setting, redact_value};
use crate::settings::SecretVariable;

/// A resolution in progress.
pub struct Resolver<'a, F> {
    pub(super) workspace: PathBuf,
    pub(super) flags: &'a Flags,
    pub(super) variables: EnvVariables<F>,
    /// The locations of the file's keys.
    pub places: BTreeMap<String, Location>,
    pub settings: Vec<Setting>,
}

impl<F: Fn(&str) -> Option<OsString>> Resolver<'_, F> {
    /// The file's value, else the default.
    pub fn or_default<T: Serialize>(
        &mut self,
        key: &str,
        written: Option<T>,
        default: impl FnOnce() -> T,
    ) -> T {
        let origin = if written.is_some() { self.origin(key) } else { Origin::Default };
        let value = written.unwrap_or_else(default);
        self.note(key, &value, origin);
        value
    }

    /// Registers the value of a variable as a secret.
    pub fn register_variable(&self, variable: Option<&SecretVariable>) {
        if let Some(SecretVariable(name)) = variable {
            self.variables.text(name).iter().for_each(|value| register_secret(name, value));
        }
    }

    /// Refuses a table with both a key and the variable that holds it.
    pub fn refuse_both_keys(
        &self,
        table: &str,
        name: &str,
        written: bool,
        in_variable: bool,
    ) -> Result<(), ConfigError> {
        match self.location(&format!("{table}.{name}-env")) {
            Some(place) if written && in_variable => {
                Err(place.error(&format!("`{name}` and `{name}-env` are mutually exclusive; remove one")))
            }
            _ => Ok(()),
        }
    }

    /// The origin of a key that is in the file.
    pub fn origin(&self, key: &str) -> Origin {
        self.location(key).map_or(Origin::Default, |place| place.origin(&self.workspace))
    }

    /// The location of a key, if it is in the file.
    pub fn location(&self, key: &str) -> Option<&Location> {
        self.places.get(key)
    }

    pub fn note_written(&mut self, key: &str, value: Option<&impl Serialize>) {
        if let Some(value) = value {
            self.note(key, value, self.origin(key));
        }
    }

    pub fn note(&mut self, key: &str, value: &impl Serialize, origin: Origin) {
        // All values can be serialized, except paths that are not UTF-8.
        let value = serde_json::to_value(value).unwrap_or_default();
        self.settings.push(Setting { key: key.to_owned(), value: redact_value(value), origin });
    }
}

/// The first value that is set.
pub fn first_set<T, const N: usize>(candidates: [(Option<T>, Origin); N]) -> Option<(T, Origin)> {
    candidates.into_iter().find_map(|(value, origin)| Some((value?, origin)))
}
