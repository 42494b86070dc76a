//! Anthropic's Messages API.
//!
//! Sources: <https://platform.claude.com/docs/en/api/messages/create>,
//! <https://platform.claude.com/docs/en/build-with-claude/structured-outputs>,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools>,
//! <https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons>,
//! <https://platform.claude.com/docs/en/build-with-claude/prompt-caching> (`input_tokens` exclude cached ones).

use cobalt_core::prices::{Tokens, reported_count};
use serde_json::{Map, Value, json};

use super::capabilities::{self, RequestMode, ResponseFormat};
use super::{ClientError, Reply, Target, send};
use crate::llm::Schema;

/// Relative to the base URL.
pub const PATH: &str = "/v1/messages";
/// The token limit of an answer, including thinking. The API requires a limit.
const MAX_TOKENS: u32 = 16_384;
/// The same for old models, which reject more.
const MAX_TOKENS_OLD_MODELS: u32 = 4_096;
/// Schema keywords that the API rejects.
const BOUNDS: [&str; 9] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
];

/// The body of a request.
pub fn body(target: &Target, system: &str, prompt: &str, schema: &Schema, manner: RequestMode) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(target.model));
    body.insert(
        "max_tokens".to_owned(),
        json!(if manner.long_answer { MAX_TOKENS } else { MAX_TOKENS_OLD_MODELS }),
    );
    body.insert("system".to_owned(), json!(manner.response_format.instruction(system, schema)));
    body.insert("messages".to_owned(), json!([{"role": "user", "content": prompt}]));
    if let Some(temperature) = capabilities::temperature(target).filter(|_| manner.temperature) {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    let Schema { name, schema } = schema;
    match manner.response_format {
        ResponseFormat::Schema => {
            let format = json!({"type": "json_schema", "schema": without_bounds(schema)});
            body.insert("output_config".to_owned(), json!({"format": format}));
        }
        ResponseFormat::Tool => {
            let tool = json!({"name": name, "description": "Takes the answer.", "input_schema": schema});
            body.insert("tools".to_owned(), json!([tool]));
            body.insert("tool_choice".to_owned(), json!({"type": "tool", "name": name}));
        }
        ResponseFormat::Json | ResponseFormat::Text => {}
    }
    Value::Object(body)
}

/// A schema without the bounds that the API rejects; they are checked when the answer is parsed.
fn without_bounds(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let kept =
                fields.iter().filter(|(name, value)| !(BOUNDS.contains(&name.as_str()) && value.is_number()));
            Value::Object(kept.map(|(name, value)| (name.clone(), without_bounds(value))).collect())
        }
        Value::Array(values) => Value::Array(values.iter().map(without_bounds).collect()),
        other => other.clone(),
    }
}

/// Parses a response; `name` is the requested tool.
pub fn parse_response(answer: &Value, name: &str) -> Result<Reply, ClientError> {
    let tokens = tokens(&answer["usage"]);
    let useless = |problem: String| ClientError::malformed(problem, tokens);
    match answer["stop_reason"].as_str() {
        Some("max_tokens" | "model_context_window_exceeded") => {
            return Err(useless(send::TRUNCATED.to_owned()));
        }
        Some("refusal") => return Err(useless(send::model_refused(None))),
        _ => {}
    }
    let no_content = || useless("the response has no list of contents".to_owned());
    let content = answer["content"].as_array().ok_or_else(no_content)?;
    let text = match content.iter().find(|block| block["type"] == "tool_use") {
        Some(call) if call["name"] == name => call["input"].to_string(),
        Some(call) => return Err(useless(send::wrong_tool(call["name"].as_str(), name))),
        // Thinking blocks have another type.
        None => {
            let texts = content.iter().filter(|block| block["type"] == "text");
            texts.filter_map(|block| block["text"].as_str()).collect()
        }
    };
    if text.trim().is_empty() {
        return Err(useless(send::EMPTY.to_owned()));
    }
    Ok(Reply { text, tokens })
}

/// The reported token usage. `input_tokens` exclude tokens read from the cache and written to it.
fn tokens(usage: &Value) -> Tokens {
    let count = |name: &str| reported_count(&usage[name]).unwrap_or(0);
    let cached_input = count("cache_read_input_tokens");
    Tokens {
        input: count("input_tokens")
            .saturating_add(cached_input)
            .saturating_add(count("cache_creation_input_tokens")),
        output: count("output_tokens"),
        cached_input,
    }
}
