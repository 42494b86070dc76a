//! The schemas that tools are listed with, without what costs an assistant tokens and tells it nothing.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::Value;

/// Cuts both schemas of a tool down to what clients make use of.
pub(super) fn shorten(tool: &mut Tool) {
    transform(&mut tool.input_schema, &mut RecursiveTransform(drop_format_of_number));
    if let Some(schema) = &mut tool.output_schema {
        transform(schema, &mut RecursiveTransform(drop_format_of_number));
        transform(schema, &mut drop_descriptions_of_parts);
    }
}

fn transform(schema: &mut Arc<JsonObject>, by: &mut impl Transform) {
    let mut transformed = Schema::from(JsonObject::clone(schema));
    by.transform(&mut transformed);
    *schema = Arc::new(std::mem::take(transformed.ensure_object()));
}

/// Formats of numbers such as `uint32` are no standard, and the validators of clients complain that they are unknown.
fn drop_format_of_number(schema: &mut Schema) {
    if schema.get("format").and_then(Value::as_str).is_some_and(is_of_numbers) {
        schema.remove("format");
    }
}

fn is_of_numbers(format: &str) -> bool {
    ["int", "uint", "float", "double"].iter().any(|kind| format.starts_with(kind))
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

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::all;

    /// All values of a field, however deep.
    fn values<'a>(field: &str, json: &'a Value, found: &mut Vec<&'a Value>) {
        match json {
            Value::Object(fields) => {
                found.extend(fields.get(field));
                fields.values().for_each(|json| values(field, json, found));
            }
            Value::Array(elements) => elements.iter().for_each(|json| values(field, json, found)),
            _ => {}
        }
    }

    #[test]
    fn no_schema_has_a_format_that_json_schema_does_not_know() {
        for tool in all() {
            let (name, tool) = (tool.name.clone(), serde_json::to_value(tool).unwrap());
            let mut formats = Vec::new();
            values("format", &tool, &mut formats);
            formats.retain(|format| format.is_string() && *format != "date-time");
            assert!(formats.is_empty(), "{name}: {formats:?}");
        }
    }
}
