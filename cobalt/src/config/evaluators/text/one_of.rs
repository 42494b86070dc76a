//! Keys of which a table has exactly one: each says the same thing in another way.

use serde::de::Error as _;
use toml::de::Error;

use crate::suggest;

/// Refuses none of the keys, and more than one. Each comes with whether it is written; `what` is what they say.
pub(super) fn exactly_one(what: &str, keys: &[(&str, bool)]) -> Result<(), Error> {
    let written: Vec<_> = keys.iter().filter(|(_, written)| *written).map(|(key, _)| *key).collect();
    match written[..] {
        [_] => Ok(()),
        [] => {
            let keys = suggest::list(keys.iter().map(|(key, _)| *key));
            Err(Error::custom(format!("nothing says {what}; write one of the keys {keys}")))
        }
        [one, another, ..] => {
            Err(Error::custom(format!("`{one}` and `{another}` both say {what}; leave one of them out")))
        }
    }
}

/// The same, as a schema has it.
#[cfg(feature = "schema")]
pub(super) fn one_of(keys: &[&str]) -> serde_json::Value {
    keys.iter().map(|key| serde_json::json!({ "required": [key] })).collect()
}
