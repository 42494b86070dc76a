//! The schemas that tools are listed with, without what costs an assistant tokens and tells it nothing.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;

/// Cuts both schemas of a tool down to what clients make use of.
pub(super) fn shorten(tool: &mut Tool) {
    transform(&mut tool.input_schema, &mut RecursiveTransform(drop_format_of_rust));
    if let Some(schema) = &mut tool.output_schema {
        transform(schema, &mut RecursiveTransform(drop_format_of_rust));
        transform(schema, &mut drop_descriptions_of_parts);
    }
}

fn transform(schema: &mut Arc<JsonObject>, by: &mut impl Transform) {
    let mut transformed = Schema::from(JsonObject::clone(schema));
    by.transform(&mut transformed);
    *schema = Arc::new(std::mem::take(transformed.ensure_object()));
}

/// Formats such as `uint64` are no standard, and clients warn of each when they read a schema.
fn drop_format_of_rust(schema: &mut Schema) {
    if schema.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with("uint")) {
        schema.remove("format");
    }
}

/// The parts of answers are those of result files, whose documentation describes them; in the schemas of all tools that would be
/// the larger half.
fn drop_descriptions_of_parts(schema: &mut Schema) {
    let parts = schema.get_mut("$defs").and_then(Value::as_object_mut);
    let parts = parts.into_iter().flat_map(|parts| parts.values_mut());
    for part in parts.filter_map(|part| <&mut Schema>::try_from(part).ok()) {
        RecursiveTransform(|schema: &mut Schema| drop(schema.remove("description"))).transform(part);
    }
}
