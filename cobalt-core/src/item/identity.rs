//! The identity of an item: its key, its name in test cases, and a canonical hash of its JSON.

use std::borrow::Cow;

use serde_json::{Number, Value};
use sha2::{Digest, Sha256};

use super::{FieldPath, Item};
use crate::hash::sha256_hex;
use crate::redact::redacted;
use crate::slug::slug;

/// The number of hexadecimal digits in a key: 64 bits.
const KEY_DIGITS: usize = 16;

/// The maximum length of an ID's slug, in bytes of UTF-8.
const CASE_KEY_BYTES: usize = 80;

/// The field of an item whose content was removed, with its [`content_hash`].
const REMOVED_CONTENT: &str = "$redacted";
/// The field with the name of an item's cluster.
const CLUSTER: &str = "cluster";

/// 16 hexadecimal digits of a hash of the whole item, which change if anything in it changes.
pub fn content_hash(item: &Item) -> String {
    if let Some(hash) = removed_content(item) {
        return hash.to_owned();
    }
    let mut hash = CanonicalHasher::of_item(item);
    hash.truncate(KEY_DIGITS);
    hash
}

/// A [`content_hash`] as a number. The hash of an item whose content was removed is what its file says: a text that is no hash gets the
/// number of its own hash.
pub fn content_number(hash: &str) -> u64 {
    let number = |digits: &str| u64::from_str_radix(digits, 16).unwrap_or_default();
    match is_short_hash(hash) {
        true => number(hash),
        false => number(&sha256_hex(&[hash])[..KEY_DIGITS]),
    }
}

/// The hash of the content that was removed from an item.
fn removed_content(item: &Item) -> Option<&str> {
    item.get(REMOVED_CONTENT)?.as_str().filter(|hash| is_short_hash(hash))
}

fn is_short_hash(text: &str) -> bool {
    text.len() == KEY_DIGITS && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// An item without its content. Only its ID remains, the values of these fields, and hashes of it and of its cluster, so runs can still
/// be compared: items that changed are recognized, and those that are not independent.
pub fn without_content(item: &Item, fields: &[String]) -> Item {
    let mut left = Item::new();
    left.insert(REMOVED_CONTENT.to_owned(), content_hash(item).into());
    if let Some(cluster) = removed_cluster(item) {
        left.insert(CLUSTER.to_owned(), cluster.into());
    }
    if let Some(id) = id(item) {
        left.insert("id".to_owned(), id.into());
    }
    // A field with the name of a whole path takes precedence when it is read.
    for field in fields.iter().filter(|field| *field != REMOVED_CONTENT) {
        if let Some(value) = FieldPath::new(field).resolve(item) {
            left.insert(field.clone(), value.clone());
        }
    }
    left
}

/// What stands for an item's cluster: a hash of its name.
fn removed_cluster(item: &Item) -> Option<String> {
    let name = match item.get(CLUSTER)? {
        Value::String(name) if !name.trim().is_empty() => name.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    if removed_content(item).is_some() && is_short_hash(&name) {
        return Some(name);
    }
    let mut hash = value_hash(&name.into());
    hash.truncate(KEY_DIGITS);
    Some(hash)
}

/// An item's key, which may not be unique: see [`make_unique`](super::make_unique).
pub fn natural_key(item: &Item) -> String {
    if let Some(id) = id(item) {
        return id;
    }
    let mut key = match item.get("input").filter(|input| !input.is_null()) {
        Some(input) => CanonicalHasher::of_value(input),
        None => CanonicalHasher::of_item(item),
    };
    key.truncate(KEY_DIGITS);
    key
}

/// An item's test case name, which may not be unique: see [`make_unique`](super::make_unique).
pub fn case_name(index: usize, item: &Item) -> String {
    slug_or_index(id(item).as_deref(), index)
}

/// An item's test case name in a partial run: keys distinguish items with the same ID.
pub fn case_name_in_partial_run(index: usize, item: &Item, key: &str) -> String {
    slug_or_index(id(item).map(|_| key), index)
}

/// The slug of an ID or, without one, the index.
pub fn slug_or_index(id: Option<&str>, index: usize) -> String {
    let slug = id.map(|id| slug(id, CASE_KEY_BYTES)).unwrap_or_default();
    if slug.is_empty() { format!("{index:04}") } else { slug }
}

/// The `id` of an item, if it has one.
pub fn id(item: &Item) -> Option<String> {
    // IDs appear in test case names and stored files.
    unredacted_id(item).map(|id| redacted(&id).into_owned())
}

/// The `id` of an item as it is written, which may contain a secret.
pub fn unredacted_id(item: &Item) -> Option<Cow<'_, str>> {
    match item.get("id")? {
        Value::String(text) if !text.trim().is_empty() => Some(text.into()),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

/// A canonical hash of a value in 64 hexadecimal digits.
#[must_use]
pub fn value_hash(value: &Value) -> String {
    CanonicalHasher::of_value(value)
}

/// A canonical hash of an item in 64 hexadecimal digits.
#[must_use]
pub fn item_hash(item: &Item) -> String {
    CanonicalHasher::of_item(item)
}

/// SHA-256 over an unambiguous encoding: every value is prefixed with its kind, and every text and list with its length.
#[derive(Clone, Debug, Default)]
pub struct CanonicalHasher {
    hash: Sha256,
}

impl CanonicalHasher {
    /// The hash of one value in lower-case hexadecimal digits.
    pub fn of_value(value: &Value) -> String {
        let mut canonical = CanonicalHasher::default();
        canonical.value(value);
        canonical.finish()
    }

    /// The hash of one item in lower-case hexadecimal digits.
    pub fn of_item(item: &Item) -> String {
        let mut canonical = CanonicalHasher::default();
        canonical.item(item);
        canonical.finish()
    }

    /// The hash in lower-case hexadecimal digits.
    pub fn finish(self) -> String {
        crate::hash::hex(&self.hash.finalize())
    }

    /// Starts a list of `length` values.
    pub fn list(&mut self, length: usize) {
        self.head(b'a', length as u64);
    }

    /// Adds a value.
    pub fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.hash.update(b"n"),
            Value::Bool(false) => self.hash.update(b"f"),
            Value::Bool(true) => self.hash.update(b"t"),
            Value::Number(number) => self.number(number),
            Value::String(text) => self.text(text),
            Value::Array(values) => {
                self.list(values.len());
                values.iter().for_each(|value| self.value(value));
            }
            Value::Object(item) => self.item(item),
        }
    }

    /// Adds an item.
    pub fn item(&mut self, item: &Item) {
        self.head(b'o', item.len() as u64);
        if item.keys().is_sorted() {
            item.iter().for_each(|(key, value)| self.field(key, value));
        } else {
            // Another crate in the build may enable serde_json's `preserve_order`.
            let mut fields: Vec<_> = item.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            fields.into_iter().for_each(|(key, value)| self.field(key, value));
        }
    }

    fn field(&mut self, key: &str, value: &Value) {
        self.text(key);
        self.value(value);
    }

    /// Numbers are hashed by value: 1, 1.0 and 1e0 are equal, as in RFC 8785.
    fn number(&mut self, number: &Number) {
        const EXACT: f64 = 9_007_199_254_740_992.0;
        match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(integer), _, _) => self.head(b'i', integer as u64),
            (None, Some(integer), _) => self.head(b'u', integer),
            (None, None, Some(float)) if float.fract() == 0.0 && float.abs() <= EXACT => {
                self.head(b'i', float as i64 as u64);
            }
            (None, None, Some(float)) => self.head(b'd', float.to_bits()),
            // Only with serde_json's `arbitrary_precision`.
            (None, None, None) => self.text(&number.to_string()),
        }
    }

    fn text(&mut self, text: &str) {
        self.head(b's', text.len() as u64);
        self.hash.update(text);
    }

    fn head(&mut self, kind: u8, number: u64) {
        let mut head = [kind; 9];
        head[1..].copy_from_slice(&number.to_be_bytes());
        self.hash.update(head);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn hash(value: Value) -> String {
        CanonicalHasher::of_value(&value)
    }

    #[test]
    fn the_order_of_keys_does_not_matter() {
        let read = |text| hash(serde_json::from_str(text).unwrap());
        assert_eq!(read(r#"{"a": 1, "b": {"c": 2, "d": 3}}"#), read(r#"{"b":{"d":3,"c":2},"a":1}"#));
    }

    #[test]
    fn the_spelling_of_a_number_does_not_matter() {
        let read = |text| hash(serde_json::from_str(text).unwrap());
        for same in ["1.0", "1e0", "10e-1"] {
            assert_eq!(read("1"), read(same));
        }
        assert_eq!(read("0"), read("-0.0"));
        assert_ne!(read("1"), read("1.5"));
        assert_ne!(read("18446744073709551615"), read("-1"));
    }

    #[test]
    fn different_values_differ() {
        let values = [
            json!(null),
            json!(false),
            json!(true),
            json!(0),
            json!(""),
            json!("0"),
            json!([]),
            json!({}),
            json!([[], []]),
            json!([[[]]]),
            json!(["ab", "c"]),
            json!(["a", "bc"]),
            json!({"a": null}),
            json!({"a": {"b": 1}}),
            json!({"a": {}, "b": 1}),
            json!([null]),
        ];
        let hashes: std::collections::HashSet<_> = values.iter().map(CanonicalHasher::of_value).collect();
        assert_eq!(hashes.len(), values.len());
    }

    #[test]
    fn the_hash_is_the_same_in_every_version() {
        // Result files of earlier versions contain these hashes as keys.
        assert_eq!(
            hash(json!({"input": ["2 + 2", 1, -1.5, null, true]})),
            "cf5dc84bf8e458080c32a3e0c2514a50d48fa1d457df816a959b516ad83d3d0c"
        );
    }
}
