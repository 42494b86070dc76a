//! One item of a data set: a JSON object.

use serde::de::{DeserializeSeed, Deserializer, Error};
use serde_json::{Map, Value};

/// One item of a data set: a JSON object.
pub type Item = Map<String, Value>;

/// An [`Item`] written as JSON; values may be expressions, as in [`serde_json::json!`].
///
/// ```
/// let n = 3;
/// let item = cobalt::item! { "input": "2 + 2", "n": n, "list": [1, 2], "nested": { "ok": true } };
/// assert_eq!(item["n"], 3);
/// assert_eq!(item["nested"]["ok"], true);
/// ```
#[macro_export]
macro_rules! item {
    ($($field:tt)*) => {
        match $crate::private::serde_json::json!({ $($field)* }) {
            $crate::private::serde_json::Value::Object(item) => item,
            _ => ::core::unreachable!("an object literal makes an object"),
        }
    };
}

/// Reads one item, and says what was found where it is no object.
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

#[cfg(test)]
mod tests {
    #[test]
    fn an_item_is_written_as_json() {
        let item = crate::item! { "input": "2 + 2", "n": 1 + 2, "list": [1, 2], };
        assert_eq!(serde_json::to_string(&item).unwrap(), r#"{"input":"2 + 2","n":3,"list":[1,2]}"#);
    }

    #[test]
    fn an_item_may_have_no_fields() {
        assert!(crate::item! {}.is_empty());
    }
}
