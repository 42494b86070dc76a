//! Builds the JSON schemas of structured responses.

use serde_json::{Map, Value, json};

/// The schema of an object with these properties, all required.
pub fn object(properties: &[(&str, Value)]) -> Value {
    let names: Vec<_> = properties.iter().map(|(name, _)| *name).collect();
    let properties: Map<_, _> =
        properties.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({"type": "object", "properties": properties, "required": names, "additionalProperties": false})
}

/// The schema of a string.
pub fn string(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

/// The schema of a list.
pub fn list_of(element: &Value, description: &str) -> Value {
    json!({"type": "array", "items": element, "description": description})
}

/// The schema of a yes/no flag.
pub fn flag(description: &str) -> Value {
    json!({"type": "integer", "enum": [0, 1], "description": description})
}
