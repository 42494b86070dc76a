//! The schemas of tools: full ones, served as resources, and outlines for the list of tools, which costs an assistant tokens in
//! each conversation.

use std::collections::BTreeSet;
use std::sync::Arc;

use rmcp::model::{JsonObject, Tool};
use schemars::Schema;
use schemars::transform::{RecursiveTransform, Transform};
use serde_json::{Value, json};

/// The types of JSON Schema, except null.
const KINDS: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// A schema with references and a null alternative resolved.
#[derive(Clone, Copy, Debug)]
pub struct ResolvedSchema<'a> {
    /// The root schema, with the definitions.
    pub root: &'a Value,
    pub schema: &'a Value,
    pub is_nullable: bool,
}

impl<'a> ResolvedSchema<'a> {
    pub fn of(root: &'a Value, schema: &'a Value) -> Self {
        let (mut schema, mut is_nullable) = (schema, false);
        loop {
            let is_null = |schema: &&Value| schema["type"] == "null";
            if let Some(name) = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")) {
                schema = &root["$defs"][name];
            } else if let Some(either) =
                schema["anyOf"].as_array().filter(|either| either.iter().any(|it| is_null(&it)))
            {
                is_nullable = true;
                schema = either.iter().find(|it| !is_null(it)).unwrap_or(&Value::Null);
            } else {
                let types = schema["type"].as_array();
                is_nullable |= types.is_some_and(|types| types.iter().any(|kind| kind == "null"));
                return Self { root, schema, is_nullable };
            }
        }
    }

    /// The expected type; empty if any is valid.
    pub fn json_type(&self) -> &'static str {
        let kinds = &self.schema["type"];
        let is_it = |kind: &&&str| {
            *kinds == ***kind || kinds.as_array().is_some_and(|kinds| kinds.iter().any(|it| it == **kind))
        };
        match KINDS.iter().find(is_it) {
            Some(kind) => kind,
            None if !allowed(self.schema).is_empty() => "string",
            None => "",
        }
    }

    /// The smallest and the largest number.
    pub fn range(&self) -> (Option<f64>, Option<f64>) {
        (self.schema["minimum"].as_f64(), self.schema["maximum"].as_f64())
    }
}

/// The allowed strings, if there are only a few.
pub fn allowed(schema: &Value) -> Vec<&str> {
    let parts = schema["oneOf"].as_array().into_iter().flatten().chain([schema]);
    parts.flat_map(alternatives).collect()
}

/// The allowed strings of one alternative.
fn alternatives(part: &Value) -> Vec<&str> {
    let several = part["enum"].as_array().into_iter().flatten();
    part.get("const").into_iter().chain(several).filter_map(Value::as_str).collect()
}

/// Removes number formats from both schemas of a tool.
pub fn remove_number_formats(tool: &mut Tool) {
    transform(&mut tool.input_schema, &mut RecursiveTransform(drop_format_of_number));
    if let Some(schema) = &mut tool.output_schema {
        transform(schema, &mut RecursiveTransform(drop_format_of_number));
    }
}

fn transform(schema: &mut Arc<JsonObject>, by: &mut impl Transform) {
    let mut transformed = Schema::from(JsonObject::clone(schema));
    by.transform(&mut transformed);
    *schema = Arc::new(std::mem::take(transformed.ensure_object()));
}

/// Number formats such as `uint32` are not standard, and clients' validators warn about them.
fn drop_format_of_number(schema: &mut Schema) {
    if schema.get("format").and_then(Value::as_str).is_some_and(is_of_numbers) {
        schema.remove("format");
    }
}

fn is_of_numbers(format: &str) -> bool {
    ["int", "uint", "float", "double"].iter().any(|kind| format.starts_with(kind))
}

/// The tool for the list: its arguments, and an outline of its results.
pub fn outline_tool(mut tool: Tool) -> Tool {
    tool.input_schema = Arc::new(outline(&tool.input_schema, outline_of_argument));
    tool.output_schema =
        tool.output_schema.as_deref().map(|schema| Arc::new(outline(schema, outline_of_field)));
    tool
}

/// The top-level fields, without definitions. What matches the full schema matches the outline.
fn outline(schema: &JsonObject, of: impl Fn(&Value, &Value) -> Value) -> JsonObject {
    let root = Value::Object(schema.clone());
    let mut outline: JsonObject = schema.clone();
    outline.retain(|name, _| ["type", "required", "additionalProperties"].contains(&name.as_str()));
    let fields = root["properties"].as_object().into_iter().flatten();
    let fields: JsonObject = fields.map(|(name, field)| (name.clone(), of(&root, field))).collect();
    outline.insert("properties".to_owned(), fields.into());
    outline
}

/// An argument with all its constraints.
fn outline_of_argument(root: &Value, argument: &Value) -> Value {
    let resolved = ResolvedSchema::of(root, argument);
    let mut outline = json!({ "type": resolved.json_type(), "description": one_line(argument) });
    for name in ["minimum", "maximum", "items"] {
        if let Some(value) = resolved.schema.get(name) {
            outline[name] = value.clone();
        }
    }
    if let Some(value) = argument.get("default").filter(|value| !value.is_null()) {
        outline["default"] = value.clone();
    }
    let allowed = allowed(resolved.schema);
    if !allowed.is_empty() {
        outline["enum"] = allowed.into();
    }
    outline
}

/// A field of a result: its type and, for objects and lists of objects, the required fields.
fn outline_of_field(root: &Value, field: &Value) -> Value {
    let resolved = ResolvedSchema::of(root, field);
    let mut outline = json!({});
    match (resolved.json_type(), resolved.is_nullable) {
        ("", _) => {}
        (kind, false) => outline["type"] = kind.into(),
        (kind, true) => outline["type"] = json!([kind, "null"]),
    }
    if let Some(required) = resolved.schema.get("required") {
        outline["required"] = required.clone();
    }
    if resolved.json_type() == "array" {
        let element = ResolvedSchema::of(root, &resolved.schema["items"]);
        outline["items"] = match element.schema.get("required") {
            Some(required) => json!({ "type": element.json_type(), "required": required }),
            None => json!({ "type": element.json_type() }),
        };
    }
    let allowed: BTreeSet<_> = allowed(resolved.schema).into_iter().collect();
    if !allowed.is_empty() && !resolved.is_nullable {
        outline["enum"] = json!(allowed);
    }
    outline
}

fn one_line(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use rmcp::model::ListToolsResult;
    use serde_json::Value;

    use super::super::{all, outlines};

    /// The maximum size of the list of tools, in bytes. With more than 3.5 bytes of JSON per token, this is at most 4,000 tokens.
    const MOST_BYTES: usize = 14_000;

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
        for tool in all().into_iter().chain(outlines(None)) {
            let (name, tool) = (tool.name.clone(), serde_json::to_value(tool).unwrap());
            let mut formats = Vec::new();
            values("format", &tool, &mut formats);
            formats.retain(|format| format.is_string() && *format != "date-time");
            assert!(formats.is_empty(), "{name}: {formats:?}");
        }
    }

    #[test]
    fn the_list_of_tools_is_short() {
        let list = serde_json::to_string(&ListToolsResult::with_all_items(outlines(None))).unwrap();
        assert!(list.len() <= MOST_BYTES, "{} bytes: {list}", list.len());
    }

    #[test]
    fn an_outline_has_all_fields_of_a_result_and_all_values_of_an_argument() {
        let fields = |tool: &rmcp::model::Tool| {
            let schemas = [Some(&tool.input_schema), tool.output_schema.as_ref()];
            let names = |schema: &std::sync::Arc<rmcp::model::JsonObject>| {
                schema["properties"].as_object().unwrap().keys().cloned().collect::<Vec<_>>()
            };
            schemas.map(|schema| names(schema.unwrap()))
        };
        for (whole, listed) in all().iter().zip(outlines(None)) {
            assert_eq!(fields(whole), fields(&listed), "{}", whole.name);
        }
        let results = outlines(None).into_iter().find(|tool| tool.name == "cobalt_results").unwrap();
        let status = &results.input_schema["properties"]["status"];
        assert_eq!(
            status["enum"],
            serde_json::json!(["passed", "failed", "error", "low", "partial"]),
            "{status}"
        );
        assert_eq!(results.input_schema["additionalProperties"], false);
        let run = outlines(None).into_iter().find(|tool| tool.name == "cobalt_run").unwrap();
        let runs = &run.output_schema.unwrap()["properties"]["runs"];
        assert_eq!(runs["items"]["type"], "object", "{runs}");
        assert!(runs["items"]["required"].as_array().unwrap().iter().any(|name| name == "items"), "{runs}");
    }
}
