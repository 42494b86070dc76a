//! One item of a data set: a JSON object.

use serde::de::{DeserializeSeed, Deserializer, Error};
use serde_json::{Map, Value};

/// One item of a data set: a JSON object.
pub type Item = Map<String, Value>;

/// Reads one item, and says what was found where it is no object.
#[derive(Clone, Copy, Debug)]
pub struct ItemSeed;

impl<'de> DeserializeSeed<'de> for ItemSeed {
    type Value = Item;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Item, D::Error> {
        // Through `Value`, because numbers too arrive as maps where a build turns on serde_json's
        // `arbitrary_precision`.
        into_item(serde::Deserialize::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A value as an item, or what was found instead of one.
pub fn into_item(value: Value) -> Result<Item, String> {
    match value {
        Value::Object(item) => Ok(item),
        other => Err(format!("expected a JSON object, found {}", kind(&other))),
    }
}

/// The kind of a value, as a noun with its article.
pub fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
