//! JSON schemas of types whose JSON differs from their fields.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use super::item::SerializedItem;
use super::{Evaluations, ItemResult, ScoredEvaluation, Timestamp};

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl JsonSchema for Evaluations {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Evaluations".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, ScoredEvaluation>::json_schema(generator)
    }
}

impl JsonSchema for ItemResult {
    fn schema_name() -> Cow<'static, str> {
        SerializedItem::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        SerializedItem::json_schema(generator)
    }
}
