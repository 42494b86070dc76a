//! Validation of responses against the output schemas of the tools.

use jsonschema::Validator;
use serde_json::{Value, json};

use super::assistant::Assistant;

/// The output schema of a tool: the full schema, combined with the outline in the tool list.
pub(super) fn output_schema(assistant: &mut Assistant, tool: &str) -> Validator {
    let listed = assistant.ask("tools/list", json!({}));
    let tool = listed["tools"].as_array().unwrap().iter().find(|it| it["name"] == tool).unwrap();
    assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
    let uri = format!("cobalt://schemas/{}", tool["name"].as_str().unwrap());
    let read = assistant.ask("resources/read", json!({ "uri": uri }));
    let mut schema: Value = serde_json::from_str(read["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert!(schema["$defs"].as_object().is_some_and(|parts| parts.len() > 3), "{schema}");
    schema["allOf"] = json!([tool["outputSchema"]]);
    jsonschema::validator_for(&schema).unwrap()
}

/// The result of a tool call, checked against its schema and the size limits.
#[track_caller]
pub(super) fn answered(assistant: &mut Assistant, schema: &Validator, tool: &str, arguments: Value) -> Value {
    let result = assistant.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
    assert_ne!(result["isError"], true, "{result}");
    let errors: Vec<_> = schema
        .iter_errors(&result["structuredContent"])
        .map(|it| format!("{it} at {}", it.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");
    assert!(result.to_string().len() < 60_000, "{} bytes", result.to_string().len());
    assert!(result["content"][0]["text"].as_str().unwrap().len() < 8_000);
    result
}
