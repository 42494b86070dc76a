//! Evaluators as `cobalt.toml` has them: each type is a table, with an evaluator to be made of it.

use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde::de::{DeserializeOwned, Error as _};
use toml::de::{DeTable, Error};

use super::{DEFAULT_PASS_MARK, Evaluator};
use crate::settings::{Score, Table};

/// The settings of an evaluator that are its own, as keys of its table without the `type`.
pub(crate) trait Options: Clone + Serialize + DeserializeOwned {
    /// The settings that it has in common with others: [`NoKeys`](crate::settings::NoKeys) where there are none.
    type Shared: Clone + Serialize + DeserializeOwned;

    /// Refuses settings that contradict each other.
    fn checked(self, shared: &Self::Shared) -> Result<Self, String> {
        let _ = shared;
        Ok(self)
    }

    /// Makes the evaluator.
    fn make(self, shared: Self::Shared) -> Result<Arc<dyn Evaluator>, String>;
}

/// The whole table of an evaluator.
pub type OptionsTable<Own> = Table<Own, <Own as Options>::Shared>;

impl<Own: Options> OptionsTable<Own> {
    /// Reads a table, which stands at `span`, and refuses settings that contradict each other.
    pub(crate) fn read_checked(span: Range<usize>, table: DeTable<'_>) -> Result<Self, Error> {
        let Self { own, shared } = Self::read(span, table)?;
        Ok(Self { own: own.checked(&shared).map_err(Error::custom)?, shared })
    }

    /// Makes the evaluator.
    pub(crate) fn make(&self) -> Result<Arc<dyn Evaluator>, String> {
        let Self { own, shared } = self.clone();
        own.make(shared)
    }
}

/// From which score an output passes, where nothing or this is written.
pub fn mark(written: Option<Score>) -> f64 {
    written.map_or(DEFAULT_PASS_MARK, |Score(mark)| mark)
}

/// Gives a type the `Debug` of a struct with these fields, whatever its own are: what is resolved of the settings, which
/// is the fingerprint, and stands in stored files.
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

/// Adds the setters of what each of several evaluators has in a field with `remap` and `pass_mark`; `seen` says what is
/// changed.
macro_rules! shared_setters {
    ($field:ident, $seen:literal) => {
        #[doc = concat!("Changes what ", $seen, ", for example another output or item.")]
        #[must_use]
        pub fn context(
            mut self,
            remap: impl Fn(&crate::EvalContext) -> crate::EvalContext + Send + Sync + 'static,
        ) -> Self {
            self.$field.remap = Some(crate::evaluators::context::Remap::new(remap));
            self
        }

        /// From which score an output passes: 0.5 unless it is set.
        #[must_use]
        pub fn pass_mark(mut self, mark: f64) -> Self {
            self.$field.pass_mark = Some(crate::settings::Score(mark));
            self
        }
    };
}

pub(super) use shared_setters;

/// Refuses none of the keys, and more than one, where each says the same in another way. Each comes with whether it is
/// written; `what` is what they say.
pub fn exactly_one(what: &str, keys: &[(&str, bool)]) -> Result<(), String> {
    let written: Vec<_> = keys.iter().filter(|(_, written)| *written).map(|(key, _)| *key).collect();
    match written[..] {
        [_] => Ok(()),
        [] => {
            let keys = cobalt_core::wording::list(keys.iter().map(|(key, _)| *key));
            Err(format!("nothing says {what}; write one of the keys {keys}"))
        }
        [one, another, ..] => Err(format!("`{one}` and `{another}` both say {what}; leave one of them out")),
    }
}

/// The same, as a schema has it.
#[cfg(feature = "schema")]
pub fn one_of(keys: &[&str]) -> serde_json::Value {
    keys.iter().map(|key| serde_json::json!({ "required": [key] })).collect()
}
