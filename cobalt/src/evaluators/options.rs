//! Evaluator settings from `cobalt.toml`: each type has a table, from which its evaluator is built.

use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use toml::de::{DeTable, Error};

use super::{DEFAULT_PASS_MARK, Evaluator};
use crate::settings::{ScoreValue, SplitTable};

/// The settings specific to an evaluator: the keys of its table, without `type`.
pub(crate) trait Options: Clone + Serialize + DeserializeOwned {
    /// The settings shared with other evaluators; [`NoSharedKeys`](crate::settings::NoSharedKeys) if there are none.
    type Shared: Clone + Serialize + DeserializeOwned;

    /// Rejects contradictory settings.
    fn checked(self, shared: &Self::Shared) -> Result<Self, String> {
        let _ = shared;
        Ok(self)
    }

    /// Builds the evaluator.
    fn make(self, shared: Self::Shared) -> Result<Arc<dyn Evaluator>, String>;
}

/// The whole table of an evaluator.
pub type OptionsTable<Own> = SplitTable<Own, <Own as Options>::Shared>;

impl<Own: Options> OptionsTable<Own> {
    /// Reads the table at `span` and rejects contradictory settings.
    pub(crate) fn read_checked(span: Range<usize>, table: DeTable<'_>) -> Result<Self, Error> {
        let Self { own, shared } = Self::read(span, table)?;
        Ok(Self { own: own.checked(&shared).map_err(Error::custom)?, shared })
    }

    /// Builds the evaluator.
    pub(crate) fn make(&self) -> Result<Arc<dyn Evaluator>, String> {
        let Self { own, shared } = self.clone();
        own.make(shared)
    }
}

/// The pass mark: the configured one, or the default.
pub fn pass_mark_or_default(written: Option<ScoreValue>) -> f64 {
    written.map_or(DEFAULT_PASS_MARK, |ScoreValue(mark)| mark)
}

/// Implements `Debug` as a struct with these fields, independent of the actual ones. It shows the resolved settings, serves
/// as the fingerprint, and is stored in files.
macro_rules! fingerprint {
    ($type:ident as $name:literal, $it:ident: $($field:ident = $value:expr),+ $(,)?) => {
        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $it = self;
                f.debug_struct($name)$(.field(stringify!($field), &$value))+.finish()
            }
        }
    };
}

pub(super) use fingerprint;

/// Adds the setters shared by several evaluators, whose field has `remap` and `pass_mark`. `seen` completes the doc comment.
macro_rules! shared_setters {
    ($field:ident, $seen:literal) => {
        #[doc = concat!("Changes what ", $seen, ", for example by replacing the output or the item.")]
        #[must_use]
        pub fn context(
            mut self,
            remap: impl Fn(&crate::EvalContext) -> crate::EvalContext + Send + Sync + 'static,
        ) -> Self {
            self.$field.remap = Some(crate::evaluators::context::Remap::new(remap));
            self
        }

        /// Sets the minimum score for an output to pass. Default: 0.5.
        #[must_use]
        pub fn pass_mark(mut self, mark: f64) -> Self {
            self.$field.pass_mark = Some(crate::settings::ScoreValue(mark));
            self
        }
    };
}

pub(super) use shared_setters;

/// Requires exactly one of several mutually exclusive keys, each given with whether it is set. `what` is what they set.
pub fn require_exactly_one(what: &str, keys: &[(&str, bool)]) -> Result<(), String> {
    let written: Vec<_> = keys.iter().filter(|(_, written)| *written).map(|(key, _)| *key).collect();
    match written[..] {
        [_] => Ok(()),
        [] => {
            let keys = cobalt_core::wording::join_quoted(keys.iter().map(|(key, _)| *key));
            Err(format!("missing {what}; set one of the keys {keys}"))
        }
        [one, another, ..] => Err(format!("`{one}` and `{another}` both set the {what}; remove one")),
    }
}

/// The same for the JSON schema.
#[cfg(feature = "schema")]
pub fn one_of_schema(keys: &[&str]) -> serde_json::Value {
    keys.iter().map(|key| serde_json::json!({ "required": [key] })).collect()
}
