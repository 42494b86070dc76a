//! Tables of several kinds, each told by its `type`: read by hand, for the sake of the errors.

use std::ops::Range;

use serde::de::{Deserializer, Error as _};
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::values::Text;
use crate::suggest::{self, unknown_name};

/// How the settings of one type are read.
pub(crate) type ReadTable<T> = fn(ValueDeserializer<'_>) -> Result<T, toml::de::Error>;

/// Reads a table by the reader of the type that it names. `noun` is what such a table is, and `span` where it stands.
pub(crate) fn read_by_type<T>(
    noun: &str,
    types: &[&str],
    readers: &[ReadTable<T>],
    span: Range<usize>,
    mut table: DeTable<'_>,
) -> Result<T, toml::de::Error> {
    let kind = take_type(noun, types, &mut table)?;
    readers[kind](ValueDeserializer::from(Spanned::new(span, DeValue::Table(table))))
}

/// Takes the `type` out of a table, as its index in the list of types.
pub(crate) fn take_type(
    noun: &str,
    types: &[&str],
    table: &mut DeTable<'_>,
) -> Result<usize, toml::de::Error> {
    let Some(kind) = table.remove("type") else {
        let known = suggest::list(types.iter().copied());
        return Err(toml::de::Error::custom(format!(
            "the key `type` is missing; the types of {noun}s are {known}"
        )));
    };
    let index = |name: &str| {
        let found = types.iter().position(|known| *known == name);
        found.ok_or_else(|| unknown_name(&format!("type of {noun}"), "types", name, types))
    };
    let expected = "the name of a type in quotes";
    ValueDeserializer::from(kind).deserialize_str(Text { expected, read: index })
}
