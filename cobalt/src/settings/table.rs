//! Tables with keys of their own and keys that several kinds of tables share, each declared once.

use std::ops::Range;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer, forward_to_deserialize_any};
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error, ValueDeserializer};

/// A table that is read into two structs. In lists of its keys, the shared ones follow its own, but for `name`, which is
/// always the first.
#[derive(Clone, Debug)]
pub(crate) struct Table<Own, Shared> {
    pub(crate) own: Own,
    pub(crate) shared: Shared,
}

/// For tables that share no key.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct NoKeys {}

impl<Own: DeserializeOwned, Shared: DeserializeOwned> Table<Own, Shared> {
    /// Reads a table, which stands at `span`. Both structs deny unknown keys by what serde derives for them.
    pub(crate) fn read(span: Range<usize>, mut table: DeTable<'_>) -> Result<Self, Error> {
        let shared_keys = keys_of::<Shared>();
        let known = name_first(keys_of::<Own>().iter().chain(shared_keys).copied().collect());
        let at = |table| ValueDeserializer::from(Spanned::new(span.clone(), DeValue::Table(table)));
        if table.keys().any(|key| !known.contains(&&**key.get_ref())) {
            at(table.clone()).deserialize_map(KnownKeys(&known))?;
        }
        let mut shared = DeTable::new();
        for key in shared_keys {
            shared.extend(table.remove_entry(*key));
        }
        Ok(Self { own: Own::deserialize(at(table))?, shared: Shared::deserialize(at(shared))? })
    }
}

/// The keys that a struct is read from by what serde derives for it.
fn keys_of<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Keys<'k>(&'k mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for Keys<'_> {
        type Error = serde::de::value::Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(serde::de::Error::custom("only its keys are asked for"))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            keys: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            *self.0 = keys;
            self.deserialize_any(visitor)
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut keys: &'static [&'static str] = &[];
    // It ends with the error above in any case.
    let _ = T::deserialize(Keys(&mut keys));
    keys
}

fn name_first(mut keys: Vec<&'static str>) -> Vec<&'static str> {
    keys.sort_by_key(|key| *key != "name");
    keys
}

/// Refuses a key that is none of these, where it stands.
struct KnownKeys<'k>(&'k [&'static str]);

impl<'de> Visitor<'de> for KnownKeys<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while map.next_key_seed(KnownKey(self.0))?.is_some() {
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

struct KnownKey<'k>(&'k [&'static str]);

impl<'de> DeserializeSeed<'de> for KnownKey<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<(), D::Error> {
        key.deserialize_str(self)
    }
}

impl Visitor<'_> for KnownKey<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: serde::de::Error>(self, key: &str) -> Result<(), E> {
        if self.0.contains(&key) {
            return Ok(());
        }
        // In the words that serde has for it.
        Err(E::custom(format!("unknown field `{key}`, expected one of `{}`", self.0.join("`, `"))))
    }
}

impl<Own: Serialize, Shared: Serialize> Serialize for Table<Own, Shared> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = |value: Value| match value {
            Value::Object(fields) => Ok(fields),
            _ => Err(S::Error::custom("a table has keys")),
        };
        let own = serde_json::to_value(&self.own).map_err(S::Error::custom).and_then(fields)?;
        let shared = serde_json::to_value(&self.shared).map_err(S::Error::custom).and_then(fields)?;
        serializer.collect_map(joined(own, shared))
    }
}

fn joined(own: Map<String, Value>, mut shared: Map<String, Value>) -> Map<String, Value> {
    shared.shift_remove_entry("name").into_iter().chain(own).chain(shared).collect()
}

#[cfg(feature = "schema")]
impl<Own: schemars::JsonSchema, Shared: schemars::JsonSchema> schemars::JsonSchema for Table<Own, Shared> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Own::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        format!("{} {}", Own::schema_id(), Shared::schema_id()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = Own::json_schema(generator);
        let mut shared = Shared::json_schema(generator);
        let Some(Value::Object(shared)) = shared.remove("properties") else { return schema };
        if let Some(Value::Object(own)) = schema.get_mut("properties") {
            *own = joined(std::mem::take(own), shared);
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Clone, Debug, Deserialize, Serialize)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    struct Own {
        field: String,
        max_order: Option<u8>,
    }

    #[derive(Clone, Debug, Deserialize, Serialize)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    struct Shared {
        pass_mark: Option<f64>,
        name: Option<String>,
    }

    fn read(text: &str) -> Result<Table<Own, Shared>, Error> {
        Table::read(0..text.len(), DeTable::parse(text).unwrap().into_inner())
    }

    #[test]
    fn each_struct_gets_its_keys_and_the_name_is_written_first() {
        let table = read("field = \"a\"\npass-mark = 0.7\nname = \"n\"").unwrap();
        assert_eq!((&*table.own.field, table.shared.pass_mark), ("a", Some(0.7)));
        assert_eq!(json!(table).to_string(), r#"{"name":"n","field":"a","max-order":null,"pass-mark":0.7}"#);
    }

    #[test]
    fn an_unknown_key_is_refused_at_its_place_with_the_keys_of_both() {
        let error = read("field = \"a\"\nmax = 1").unwrap_err();
        assert_eq!(
            error.message(),
            "unknown field `max`, expected one of `name`, `field`, `max-order`, `pass-mark`"
        );
        assert_eq!(error.span(), Some(12..15));
    }

    #[test]
    fn a_wrong_value_is_refused_at_its_place() {
        let error = read("field = \"a\"\npass-mark = \"high\"").unwrap_err();
        assert_eq!(error.span(), Some(24..30));
        assert_eq!(read("max-order = 1").unwrap_err().span(), Some(0..13));
    }
}
