//! A dataset item: a JSON object.

use serde::de::{DeserializeSeed, Deserializer, Error};
use serde_json::{Map, Value};

/// A dataset item: a JSON object.
pub type Item = Map<String, Value>;

/// Deserializes one item, with an error that names the actual type if it is not an object.
#[derive(Clone, Copy, Debug)]
pub struct ItemSeed;

impl<'de> DeserializeSeed<'de> for ItemSeed {
    type Value = Item;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Item, D::Error> {
        // Via `Value`, because with serde_json's `arbitrary_precision`, numbers are maps as well.
        into_item(serde::Deserialize::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Converts a value to an item, or names its actual type.
pub fn into_item(value: Value) -> Result<Item, String> {
    match value {
        Value::Object(item) => Ok(item),
        other => Err(format!("expected a JSON object, found {}", type_name(&other))),
    }
}

/// The type of a value, with an article.
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
