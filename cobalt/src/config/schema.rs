//! The JSON schema of the file, from the types that it is read into.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use super::model::File;
use super::values::{Bound, Count, Dollars, Length, Score, VariableName, VariableValue};

/// The JSON schema of `cobalt.toml`.
#[must_use]
pub fn schema() -> Value {
    schemars::schema_for!(File).to_value()
}

macro_rules! schema_of {
    ($($type:ident: $schema:tt),* $(,)?) => {$(
        impl JsonSchema for $type {
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}

schema_of! {
    Count: { "type": "integer", "minimum": 1 },
    Score: { "type": "number", "minimum": 0, "maximum": 1 },
    Dollars: { "type": "number", "minimum": 0 },
    Length: {
        "type": "string",
        "pattern": "^\\s*[0-9.][0-9._]*\\s*(ns|us|ms|s|m|h)\\s*$",
        "examples": ["30s", "500ms", "1.5s", "2m"],
    },
    Bound: {
        "type": "string",
        "pattern": "^.+\\.\\s*(avg|min|max|p50|p95|p99|total|pass_rate\\s*(\\(.+\\))?)\\s*[<>]=?\\s*[0-9.].*$",
        "examples": ["score.avg >= 0.8", "latency.p95 <= 5s", "right.pass_rate >= 0.95"],
    },
    VariableName: { "type": "string", "pattern": "^(?!COBALT_|CARGO_)[^=]+$" },
    VariableValue: { "type": "string" },
}
