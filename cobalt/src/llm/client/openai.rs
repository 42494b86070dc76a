//! Chat completions in the format of OpenAI and most others.
//!
//! Sources: <https://platform.openai.com/docs/api-reference/chat/create>,
//! <https://platform.openai.com/docs/guides/structured-outputs>, <https://platform.openai.com/docs/guides/function-calling>;
//! Gemini: <https://ai.google.dev/gemini-api/docs/openai>; Azure:
//! <https://learn.microsoft.com/azure/ai-foundry/openai/latest>; Ollama: <https://docs.ollama.com/api/openai-compatibility>.

use cobalt_core::prices::{Tokens, reported_count};
use serde_json::{Map, Value, json};

use super::capabilities::{self, RequestMode, ResponseFormat};
use super::{ClientError, Reply, Target, send};
use crate::http::error_body;
use crate::llm::Schema;

/// Relative to the base URL.
pub const PATH: &str = "/chat/completions";

/// The body of a request.
pub fn body(target: &Target, system: &str, prompt: &str, schema: &Schema, manner: RequestMode) -> Value {
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(target.model));
    body.insert(
        "messages".to_owned(),
        json!([
            {"role": "system", "content": manner.response_format.instruction(system, schema)},
            {"role": "user", "content": prompt},
        ]),
    );
    if let Some(temperature) = capabilities::temperature(target).filter(|_| manner.temperature) {
        body.insert("temperature".to_owned(), json!(temperature));
    }
    let Schema { name, schema } = schema;
    match manner.response_format {
        ResponseFormat::Schema => {
            let form = json!({"name": name, "schema": schema, "strict": true});
            body.insert("response_format".to_owned(), json!({"type": "json_schema", "json_schema": form}));
        }
        ResponseFormat::Tool => {
            let function = json!({"name": name, "description": "Takes the answer.", "parameters": schema});
            body.insert("tools".to_owned(), json!([{"type": "function", "function": function}]));
            let choice = json!({"type": "function", "function": {"name": name}});
            body.insert("tool_choice".to_owned(), choice);
        }
        ResponseFormat::Json => {
            body.insert("response_format".to_owned(), json!({"type": "json_object"}));
        }
        ResponseFormat::Text => {}
    }
    Value::Object(body)
}

/// Parses a response; `name` is the requested tool.
pub fn parse_response(answer: &Value, name: &str) -> Result<Reply, ClientError> {
    let tokens = tokens(&answer["usage"]);
    let useless = |problem: String| ClientError::malformed(problem, tokens);
    let choice = answer["choices"].get(0).ok_or_else(|| useless(no_choice(answer)))?;
    let message = &choice["message"];
    match choice["finish_reason"].as_str() {
        Some("length") => return Err(useless(send::TRUNCATED.to_owned())),
        Some("content_filter") => return Err(useless(send::FILTERED.to_owned())),
        _ => {}
    }
    if let Some(refusal) = message["refusal"].as_str().filter(|refusal| !refusal.is_empty()) {
        return Err(useless(send::model_refused(Some(refusal))));
    }
    // Some servers still respond with the older `function_call`.
    let call = message["tool_calls"].get(0).map(|call| &call["function"]);
    let call = call.or_else(|| Some(&message["function_call"]).filter(|call| call.is_object()));
    let text = match call {
        Some(call) => Some(arguments(call, name).map_err(useless)?),
        None => text(&message["content"]),
    };
    let text = text.filter(|text| !text.trim().is_empty());
    let text = text.ok_or_else(|| useless(send::EMPTY.to_owned()))?;
    Ok(Reply { text, tokens })
}

/// The error for a response without a choice: gateways pass on errors with a success status.
fn no_choice(answer: &Value) -> String {
    match error_body::vendor_message(answer) {
        Some(message) => format!("the response is an error: {}", error_body::one_line(message)),
        None => "the response contains no choice".to_owned(),
    }
}

/// The arguments of the requested tool call: JSON in a string, or an object on lenient servers.
fn arguments(call: &Value, name: &str) -> Result<String, String> {
    if call["name"] != name {
        return Err(send::wrong_tool(call["name"].as_str(), name));
    }
    Ok(call["arguments"].as_str().map_or_else(|| call["arguments"].to_string(), str::to_owned))
}

/// The text of a message: a string, or a list of parts.
fn text(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => Some(parts.iter().filter_map(|part| part["text"].as_str()).collect()),
        _ => None,
    }
}

/// The reported token usage; input tokens include cached ones.
pub fn tokens(usage: &Value) -> Tokens {
    let count = |value: &Value| reported_count(value).unwrap_or(0);
    Tokens {
        input: count(&usage["prompt_tokens"]),
        output: count(&usage["completion_tokens"]),
        cached_input: count(&usage["prompt_tokens_details"]["cached_tokens"]),
    }
}
