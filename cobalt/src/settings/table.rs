//! Tables with own keys and with keys that several kinds of tables share, each declared once.

use std::ops::Range;

use cobalt_core::wording::{self, unknown_name_message};
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer, forward_to_deserialize_any};
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error, ValueDeserializer};

use super::values::StringVisitor;

/// A table that is parsed into two structs. In lists of keys, the shared ones follow its own, except that a shared `name` comes first.
#[derive(Clone, Debug)]
pub(crate) struct SplitTable<Own, Shared> {
    pub(crate) own: Own,
    pub(crate) shared: Shared,
}

/// For tables without shared keys.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub(crate) struct NoSharedKeys {}

impl<Own: DeserializeOwned, Shared: DeserializeOwned> SplitTable<Own, Shared> {
    /// Parses a table at `span`. Both structs use `deny_unknown_fields`.
    pub(crate) fn read(span: Range<usize>, mut table: DeTable<'_>) -> Result<Self, Error> {
        let shared_keys = field_names::<Shared>();
        let (name, others): (Vec<_>, Vec<_>) = shared_keys.iter().copied().partition(|key| *key == "name");
        let known: Vec<_> =
            name.into_iter().chain(field_names::<Own>().iter().copied()).chain(others).collect();
        let at = |table| ValueDeserializer::from(Spanned::new(span.clone(), DeValue::Table(table)));
        if table.keys().any(|key| !known.contains(&&**key.get_ref())) {
            at(table.clone()).deserialize_map(KnownKeys(&known))?;
        }
        let mut shared = DeTable::new();
        for key in shared_keys {
            shared.extend(table.remove_entry(*key));
        }
        // Shared keys first: none is required, and a wrong value should be reported before a missing one.
        let shared = Shared::deserialize(at(shared))?;
        Ok(Self { own: Own::deserialize(at(table))?, shared })
    }
}

/// The field names in a struct's derived `Deserialize`.
fn field_names<T: DeserializeOwned>() -> &'static [&'static str] {
    struct Keys<'k>(&'k mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for Keys<'_> {
        type Error = serde::de::value::Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
            Err(serde::de::Error::custom("only the keys are needed"))
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
    // This always fails with the error above.
    let _ = T::deserialize(Keys(&mut keys));
    keys
}

/// Refuses unknown keys, with their location.
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
        // Like serde's own message.
        let expected = match self.0 {
            [one] => format!("`{one}`"),
            [one, other] => format!("`{one}` or `{other}`"),
            all => format!("one of `{}`", all.join("`, `")),
        };
        Err(E::custom(format!("unknown field `{key}`, expected {expected}")))
    }
}

impl<Own: Serialize, Shared: Serialize> Serialize for SplitTable<Own, Shared> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = |value: Value| match value {
            Value::Object(fields) => Ok(fields),
            _ => Err(S::Error::custom("a table has keys")),
        };
        let own = serde_json::to_value(&self.own).map_err(S::Error::custom).and_then(fields)?;
        let shared = serde_json::to_value(&self.shared).map_err(S::Error::custom).and_then(fields)?;
        serializer.collect_map(merge_fields(own, shared))
    }
}

/// All fields in key order, without unset ones: TOML has no `null`.
fn merge_fields(own: Map<String, Value>, mut shared: Map<String, Value>) -> Map<String, Value> {
    let all = shared.shift_remove_entry("name").into_iter().chain(own).chain(shared);
    all.filter(|(_, value)| !value.is_null()).collect()
}

#[cfg(feature = "schema")]
impl<Own: schemars::JsonSchema, Shared: schemars::JsonSchema> schemars::JsonSchema
    for SplitTable<Own, Shared>
{
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Own::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        format!("{} {}", Own::schema_id(), Shared::schema_id()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let mut schema = Own::json_schema(generator);
        let mut shared = Shared::json_schema(generator);
        // The docs of the struct itself are for developers.
        schema.as_object_mut().map(|fields| fields.shift_remove("description"));
        if let (Some(Value::Object(own)), Some(Value::Object(shared))) =
            (schema.get_mut("properties"), shared.remove("properties"))
        {
            *own = merge_fields(std::mem::take(own), shared);
        }
        schema
    }
}

/// Removes the `type` from a table and returns its index in the list of types.
pub fn take_type(noun: &str, types: &[&str], table: &mut DeTable<'_>) -> Result<usize, Error> {
    let Some(kind) = table.remove("type") else {
        let known = wording::join_quoted(types.iter().copied());
        return Err(serde::de::Error::custom(format!(
            "the key `type` is missing; valid {noun} types: {known}"
        )));
    };
    let index = |name: &str| {
        let found = types.iter().position(|known| *known == name);
        found.ok_or_else(|| unknown_name_message(&format!("{noun} type"), "types", name, types))
    };
    let expected = "the name of a type in quotes";
    ValueDeserializer::from(kind).deserialize_str(StringVisitor { expected, read: index })
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

    fn read(text: &str) -> Result<SplitTable<Own, Shared>, Error> {
        SplitTable::read(0..text.len(), DeTable::parse(text).unwrap().into_inner())
    }

    #[test]
    fn each_struct_gets_its_keys_and_the_name_is_written_first() {
        let table = read("field = \"a\"\npass-mark = 0.7\nname = \"n\"").unwrap();
        assert_eq!((&*table.own.field, table.shared.pass_mark), ("a", Some(0.7)));
        assert_eq!(json!(table).to_string(), r#"{"name":"n","field":"a","pass-mark":0.7}"#);
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
