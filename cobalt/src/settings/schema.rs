//! JSON schemas of single values.

/// Implements `JsonSchema` for types, with the given inline schemas.
macro_rules! inline_schemas {
    ($($type:ident: $schema:tt),* $(,)?) => {$(
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!($schema)
            }
        }
    )*};
}

pub(crate) use inline_schemas;
