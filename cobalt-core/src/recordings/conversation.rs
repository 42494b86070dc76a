//! The messages of a request and the answer to it, in the forms of OpenAI, Anthropic, Gemini, Cohere and Ollama.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use super::stream::{StreamEvent, event_data};

/// The last message of a request, with its role: `user: Hello`. `None` if the form is not known.
#[must_use]
pub fn last_message(request: &Value) -> Option<String> {
    let message = match conversation(request)? {
        Value::Array(messages) => messages.last()?,
        other => other,
    };
    Some(message_text(message))
}

/// The messages of a request, or its only text.
fn conversation(request: &Value) -> Option<&Value> {
    ["messages", "input", "contents", "prompt", "texts", "query"].iter().find_map(|field| request.get(field))
}

/// A message with its role: `user: Hello`. The parts of OpenTelemetry's conventions are known, too.
#[must_use]
pub fn message_text(message: &Value) -> String {
    if message.get("type").and_then(Value::as_str) == Some("function_call_output") {
        return format!("tool: {}", content_text(&message["output"]));
    }
    let role = message.get("role").and_then(Value::as_str).unwrap_or("user");
    let content = message.get("content").or_else(|| message.get("parts")).unwrap_or(message);
    let calls = tool_calls(message).map(|call| format!("→ {call}"));
    let said = Some(content_text(content)).filter(|said| !said.is_empty());
    let said: Vec<_> = said.into_iter().chain(calls).collect();
    format!("{role}: {}", said.join(" "))
}

/// The results of tools in the last messages of a request, each with the id of its call, or else the tool's name.
#[must_use]
pub fn tool_results(request: &Value) -> Vec<(String, Value)> {
    let Some(Value::Array(messages)) = conversation(request) else { return Vec::new() };
    let is_answer = |message: &&Value| matches!(message["role"].as_str(), Some("assistant" | "model"));
    let after = messages.iter().rposition(|message| is_answer(&message)).map_or(0, |at| at + 1);
    messages[after..].iter().flat_map(results_in).collect()
}

/// The results of tools in a message.
#[must_use]
pub fn results_in(message: &Value) -> Vec<(String, Value)> {
    let id = |value: &Value, fields: &[&str]| {
        fields.iter().find_map(|field| value[*field].as_str()).map(str::to_owned)
    };
    if message["role"] == "tool"
        && let Some(id) = id(message, &["tool_call_id", "tool_name", "name"])
    {
        return vec![(id, message["content"].clone())];
    }
    if message["type"] == "function_call_output" {
        return id(message, &["call_id"]).map(|id| (id, message["output"].clone())).into_iter().collect();
    }
    let parts = ["content", "parts"].iter().find_map(|field| message[*field].as_array());
    let of_part = |part: &Value| {
        let function = &part["functionResponse"];
        match part["type"].as_str() {
            Some("tool_result") => Some((id(part, &["tool_use_id"])?, part["content"].clone())),
            Some("tool_call_response") => {
                let result = ["result", "response"].iter().find_map(|field| part.get(field));
                Some((id(part, &["id"])?, result.cloned().unwrap_or_default()))
            }
            _ if function.is_object() => Some((id(function, &["id", "name"])?, function["response"].clone())),
            _ => None,
        }
    };
    parts.into_iter().flatten().filter_map(of_part).collect()
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// Text.
    Text(String),
    /// A call of a tool.
    ToolCall(RequestedCall),
    /// An error.
    Error(String),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::ToolCall(call) => write!(f, "→ {call}"),
            Self::Error(error) => write!(f, "error: {error}"),
        }
    }
}

/// A call of a tool that a model requests. Its text is `weather({"city":"York"})`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestedCall {
    /// The id of the call, if it has one.
    pub id: Option<String>,
    /// The tool.
    pub name: String,
    /// The arguments: parsed if they are JSON.
    pub arguments: Value,
}

impl RequestedCall {
    /// A call whose arguments may be JSON text.
    pub(crate) fn new(id: &Value, name: &Value, arguments: &Value) -> Self {
        let parsed = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
        Self {
            id: id.as_str().map(str::to_owned),
            name: content_text(name),
            arguments: parsed.unwrap_or_else(|| arguments.clone()),
        }
    }
}

impl fmt::Display for RequestedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.arguments {
            Value::Null => write!(f, "{}()", self.name),
            Value::String(arguments) => write!(f, "{}({arguments})", self.name),
            arguments => write!(f, "{}({arguments})", self.name),
        }
    }
}

/// What a response answers. Empty if the form is not known.
#[must_use]
pub fn answer(response: &Value) -> Vec<Answer> {
    if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").unwrap_or(error);
        return vec![Answer::Error(content_text(message))];
    }
    let list = |field: &str| response.get(field).and_then(Value::as_array).into_iter().flatten();
    let mut parts = Vec::new();
    for choice in list("choices") {
        add_message(choice.get("message").unwrap_or(choice), &mut parts);
    }
    for output in list("output") {
        match output.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                let id = output.get("call_id").unwrap_or(&output["id"]);
                parts.push(Answer::ToolCall(RequestedCall::new(id, &output["name"], &output["arguments"])));
            }
            _ => add_message(output, &mut parts),
        }
    }
    for candidate in list("candidates") {
        add_content(&candidate["content"]["parts"], &mut parts);
    }
    if let Some(message) = response.get("message") {
        add_message(message, &mut parts);
    }
    if let Some(content) = response.get("content") {
        add_content(content, &mut parts);
    }
    let vectors = ["data", "embeddings"].into_iter().find_map(|field| response.get(field)?.as_array());
    if let Some(vectors) = vectors.filter(|_| parts.is_empty()) {
        parts.push(Answer::Text(crate::wording::count(vectors.len(), "embedding")));
    }
    parts
}

/// What a stream answers.
#[must_use]
pub fn answer_of_stream(events: &[StreamEvent]) -> Vec<Answer> {
    let mut stream = StreamedAnswer::default();
    for event in events {
        for value in
            serde_json::Deserializer::from_str(&event_data(&event.text)).into_iter().map_while(Result::ok)
        {
            stream.add(&value);
        }
    }
    stream.finish()
}

/// The answer of a stream so far.
#[derive(Debug, Default)]
pub struct StreamedAnswer {
    text: String,
    /// Tool calls by their index.
    calls: BTreeMap<u64, StreamedCall>,
    /// Complete parts.
    complete: Vec<Answer>,
    /// Whether there was any token, also one of reasoning.
    has_begun: bool,
}

#[derive(Debug, Default)]
struct StreamedCall {
    id: Value,
    name: String,
    arguments: String,
}

impl StreamedAnswer {
    /// Whether there is a part of an answer or of its reasoning yet.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.has_begun || !self.text.is_empty() || !self.calls.is_empty() || !self.complete.is_empty()
    }

    /// Adds the value of an event.
    pub fn add(&mut self, event: &Value) {
        let kind = event.get("type").and_then(Value::as_str);
        self.has_begun |= kind.is_some_and(|kind| kind.ends_with(".delta") || kind == "content_block_delta");
        match kind {
            Some("content_block_start") => {
                let block = &event["content_block"];
                self.add_call(&event["index"], &block["id"], &block["name"], &Value::Null);
            }
            Some("content_block_delta") => {
                self.text += event["delta"]["text"].as_str().unwrap_or_default();
                self.add_call(&event["index"], &Value::Null, &Value::Null, &event["delta"]["partial_json"]);
            }
            Some("response.completed" | "response.incomplete" | "response.failed") => {
                self.complete = answer(&event["response"]);
            }
            Some("response.output_text.delta") => self.text += event["delta"].as_str().unwrap_or_default(),
            Some("content-delta") => {
                self.text += event["delta"]["message"]["content"]["text"].as_str().unwrap_or_default();
            }
            Some("tool-call-start" | "tool-call-delta") => {
                let call = &event["delta"]["message"]["tool_calls"];
                self.add_call(
                    &event["index"],
                    &call["id"],
                    &call["function"]["name"],
                    &call["function"]["arguments"],
                );
            }
            Some("error") => self.complete.extend(answer(event)),
            Some(_) => {}
            None => self.add_untyped(event),
        }
    }

    /// An event of OpenAI's chat completions, of Gemini or of Ollama.
    fn add_untyped(&mut self, event: &Value) {
        for choice in event.get("choices").and_then(Value::as_array).into_iter().flatten() {
            let delta = &choice["delta"];
            let reasoning = ["reasoning_content", "reasoning"].map(|field| delta[field].as_str());
            self.has_begun |= reasoning.into_iter().flatten().any(|text| !text.is_empty());
            self.text += delta["content"].as_str().or_else(|| choice["text"].as_str()).unwrap_or_default();
            for call in delta["tool_calls"].as_array().into_iter().flatten() {
                self.add_call(
                    &call["index"],
                    &call["id"],
                    &call["function"]["name"],
                    &call["function"]["arguments"],
                );
            }
        }
        if event.get("choices").is_none() {
            for part in answer(event) {
                match part {
                    Answer::Text(text) => self.text += &text,
                    other => self.complete.push(other),
                }
            }
        }
    }

    fn add_call(&mut self, index: &Value, id: &Value, name: &Value, arguments: &Value) {
        if name.is_string() || arguments.is_string() {
            let call = self.calls.entry(index.as_u64().unwrap_or(0)).or_default();
            if id.is_string() {
                call.id = id.clone();
            }
            call.name += name.as_str().unwrap_or_default();
            call.arguments += arguments.as_str().unwrap_or_default();
        }
    }

    /// The parts of the answer.
    #[must_use]
    pub fn finish(self) -> Vec<Answer> {
        if !self.complete.is_empty() && self.text.is_empty() {
            return self.complete;
        }
        // A complete response repeats the text.
        let is_repeated = self.complete.iter().any(|part| *part == Answer::Text(self.text.clone()));
        let text = Some(self.text).filter(|text| !is_repeated && !text.is_empty()).map(Answer::Text);
        let calls = self.calls.into_values().map(|StreamedCall { id, name, arguments }| {
            Answer::ToolCall(RequestedCall::new(&id, &name.into(), &arguments.into()))
        });
        text.into_iter().chain(calls).chain(self.complete).collect()
    }
}

fn add_message(message: &Value, parts: &mut Vec<Answer>) {
    for field in ["content", "refusal", "text"] {
        if let Some(content) = message.get(field) {
            add_content(content, parts);
        }
    }
    parts.extend(tool_calls(message).map(Answer::ToolCall));
}

fn add_content(content: &Value, parts: &mut Vec<Answer>) {
    match content {
        Value::Array(blocks) => {
            for block in blocks {
                match call_in(block) {
                    Some(call) => parts.push(Answer::ToolCall(call)),
                    None => add_content(block, parts),
                }
            }
        }
        Value::Null => {}
        other => parts.extend(Some(content_text(other)).filter(|text| !text.is_empty()).map(Answer::Text)),
    }
}

/// The tool calls of a message in OpenAI's form.
fn tool_calls(message: &Value) -> impl Iterator<Item = RequestedCall> {
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    calls.map(|one| RequestedCall::new(&one["id"], &one["function"]["name"], &one["function"]["arguments"]))
}

/// The tool call in a part of a message, in the forms of Anthropic, Gemini and OpenTelemetry.
#[must_use]
pub fn call_in(block: &Value) -> Option<RequestedCall> {
    match block.get("type").and_then(Value::as_str) {
        Some("tool_use") => Some(RequestedCall::new(&block["id"], &block["name"], &block["input"])),
        Some("tool_call") => Some(RequestedCall::new(&block["id"], &block["name"], &block["arguments"])),
        _ => {
            let function = block.get("functionCall")?;
            Some(RequestedCall::new(&function["id"], &function["name"], &function["args"]))
        }
    }
}

/// Strings as they are, the texts of lists of parts, and other values as JSON.
#[must_use]
pub fn content_text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(content_text).collect::<Vec<_>>().join(" "),
        Value::Object(fields) => {
            if let Some(call) = call_in(value) {
                return format!("→ {call}");
            }
            let result = fields.get("functionResponse").and_then(|result| result.get("response"));
            let known = ["text", "thinking", "content", "output", "result", "response"]
                .into_iter()
                .find_map(|field| fields.get(field));
            match (result.or(known), fields.get("type").and_then(Value::as_str)) {
                (Some(inner), _) => content_text(inner),
                // Images and the like.
                (None, Some(kind)) => format!("[{kind}]"),
                (None, None) => value.to_string(),
            }
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_message_is_found_in_every_providers_form() {
        for (request, expected) in [
            (
                json!({ "messages": [{ "role": "system", "content": "Be short." }, { "role": "user", "content": "Hi" }] }),
                "user: Hi",
            ),
            (
                json!({ "messages": [{ "role": "user", "content": [{ "type": "text", "text": "What?" }, { "type": "image_url" }] }] }),
                "user: What? [image_url]",
            ),
            (
                json!({ "messages": [{ "role": "user", "content": [{ "type": "tool_result", "content": "rain" }] }] }),
                "user: rain",
            ),
            (json!({ "messages": [{ "role": "tool", "content": "rain" }] }), "tool: rain"),
            (json!({ "input": "Hi" }), "user: Hi"),
            (
                json!({ "input": [{ "role": "user", "content": "Hi" }, { "type": "function_call_output", "output": "rain" }] }),
                "tool: rain",
            ),
            (json!({ "contents": [{ "role": "user", "parts": [{ "text": "Hi" }] }] }), "user: Hi"),
            (
                json!({ "contents": [{ "parts": [{ "functionResponse": { "name": "weather", "response": { "sky": "grey" } } }] }] }),
                "user: {\"sky\":\"grey\"}",
            ),
        ] {
            assert_eq!(last_message(&request).as_deref(), Some(expected), "{request}");
        }
        assert_eq!(last_message(&json!({ "model": "m" })), None);
    }

    fn said(text: &str) -> Answer {
        Answer::Text(text.to_owned())
    }

    fn called(text: &str) -> Answer {
        let (name, arguments) = text.trim_end_matches(')').split_once('(').unwrap();
        Answer::ToolCall(RequestedCall::new(&Value::Null, &json!(name), &json!(arguments)))
    }

    #[test]
    fn the_answer_is_found_in_every_providers_form() {
        for (response, expected) in [
            (
                json!({ "choices": [{ "message": { "content": "Yes", "tool_calls": [{ "function": { "name": "f", "arguments": "{}" } }] } }] }),
                vec![said("Yes"), called("f({})")],
            ),
            (
                json!({ "content": [{ "type": "text", "text": "Yes" }, { "type": "tool_use", "name": "f", "input": { "a": 1 } }] }),
                vec![said("Yes"), called("f({\"a\":1})")],
            ),
            (
                json!({ "output": [{ "type": "message", "content": [{ "type": "output_text", "text": "Yes" }] },
                    { "type": "function_call", "name": "f", "arguments": "{}" }] }),
                vec![said("Yes"), called("f({})")],
            ),
            (
                json!({ "candidates": [{ "content": { "parts": [{ "text": "Yes" }, { "functionCall": { "name": "f", "args": {} } }] } }] }),
                vec![said("Yes"), called("f({})")],
            ),
            (json!({ "message": { "content": "Yes" } }), vec![said("Yes")]),
            (json!({ "error": { "message": "busy" } }), vec![Answer::Error("busy".to_owned())]),
            (json!({ "data": [{}, {}] }), vec![said("2 embeddings")]),
            (json!({ "id": 1 }), vec![]),
        ] {
            assert_eq!(answer(&response), expected, "{response}");
        }
    }

    fn stream(texts: &[Value]) -> Vec<Answer> {
        let event = |data: &Value| StreamEvent { at: 0, text: format!("event: x\ndata: {data}\n\n") };
        answer_of_stream(&texts.iter().map(event).collect::<Vec<_>>())
    }

    #[test]
    fn a_stream_begins_with_the_first_token_of_any_kind() {
        for (event, begun) in [
            (json!({ "type": "response.created", "response": {} }), false),
            (json!({ "type": "response.function_call_arguments.delta", "delta": "{" }), true),
            (json!({ "type": "message_start", "message": {} }), false),
            (
                json!({ "type": "content_block_delta", "delta": { "type": "thinking_delta", "thinking": "Hm" } }),
                true,
            ),
            (json!({ "choices": [{ "delta": { "role": "assistant", "content": "" } }] }), false),
            (json!({ "choices": [{ "delta": { "reasoning_content": "Hm" } }] }), true),
            (json!({ "choices": [{ "delta": { "content": "Yes" } }] }), true),
        ] {
            let mut stream = StreamedAnswer::default();
            stream.add(&event);
            assert_eq!(stream.has_begun(), begun, "{event}");
        }
    }

    #[test]
    fn the_pieces_of_a_stream_are_joined() {
        let chat = [
            json!({ "choices": [{ "delta": { "content": "Y" } }] }),
            json!({ "choices": [{ "delta": { "content": "es" } }] }),
            json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "function": { "name": "f", "arguments": "{\"a\"" } }] } }] }),
            json!({ "choices": [{ "delta": { "tool_calls": [{ "index": 0, "function": { "arguments": ":1}" } }] } }] }),
        ];
        assert_eq!(stream(&chat), [said("Yes"), called("f({\"a\":1})")]);
        let messages = [
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "content_block_delta", "index": 0, "delta": { "text": "Yes" } }),
            json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "tool_use", "name": "f" } }),
            json!({ "type": "content_block_delta", "index": 1, "delta": { "partial_json": "{}" } }),
        ];
        assert_eq!(stream(&messages), [said("Yes"), called("f({})")]);
        let responses = [
            json!({ "type": "response.output_text.delta", "delta": "Yes" }),
            json!({ "type": "response.completed", "response": { "output": [{ "type": "message", "content": [{ "text": "Yes" }] }] } }),
        ];
        assert_eq!(stream(&responses), [said("Yes")]);
        let gemini =
            ["Y", "es"].map(|text| json!({ "candidates": [{ "content": { "parts": [{ "text": text }] } }] }));
        assert_eq!(stream(&gemini), [said("Yes")]);
        let lines = StreamEvent {
            at: 0,
            text: "{\"message\":{\"content\":\"Y\"}}\n{\"message\":{\"content\":\"es\"}}\n".to_owned(),
        };
        assert_eq!(answer_of_stream(&[lines]), [said("Yes")]);
    }
}
