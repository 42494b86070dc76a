//! Names of the fields of items.

use std::fmt;

use serde::Serialize;
use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

use super::NonEmptyString;

/// Fields of the items, or paths such as `meta.category`: a name or a list of names.
#[derive(Clone, Debug, Serialize)]
pub struct FieldNames(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for FieldNames {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Names;

        impl<'de> Visitor<'de> for Names {
            type Value = FieldNames;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "the name of a field in quotes, such as \"category\", or a list of names, such as [\"category\", \"language\"]",
                )
            }

            fn visit_str<E: Error>(self, name: &str) -> Result<FieldNames, E> {
                match name.trim() {
                    "" => {
                        Err(E::custom("the name of the field is empty; remove the key to group by no field"))
                    }
                    name => Ok(FieldNames(vec![name.to_owned()])),
                }
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<FieldNames, A::Error> {
                let mut names = Vec::new();
                while let Some(NonEmptyString(name)) = list.next_element()? {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                Ok(FieldNames(names))
            }
        }

        deserializer.deserialize_any(Names)
    }
}

#[cfg(feature = "schema")]
super::schema::inline_schemas! {
    FieldNames: {
        "anyOf": [
            { "type": "string", "pattern": "\\S" },
            { "type": "array", "items": { "type": "string", "pattern": "\\S" } },
        ],
        "examples": ["category", ["category", "language"]],
    },
}
