//! The last message of a request and the answer, as short texts, in the forms of OpenAI, Anthropic, Gemini, Cohere and Ollama.

use std::collections::BTreeMap;

use cobalt_core::recordings::StreamEvent;
use serde_json::Value;

/// The last message of a request, with its role: `user: Hello`. `None` if the form is not known.
pub fn last_message(request: &Value) -> Option<String> {
    let conversation = ["messages", "input", "contents", "prompt", "texts", "query"];
    let message = match conversation.iter().find_map(|field| request.get(field))? {
        Value::Array(messages) => messages.last()?,
        other => other,
    };
    if message.get("type").and_then(Value::as_str) == Some("function_call_output") {
        return Some(format!("tool: {}", text(&message["output"])));
    }
    let role = message.get("role").and_then(Value::as_str).unwrap_or("user");
    let content = message.get("content").or_else(|| message.get("parts")).unwrap_or(message);
    let calls = tool_calls(message).map(|call| format!("→ {call}"));
    let said: Vec<_> = Some(text(content)).filter(|said| !said.is_empty()).into_iter().chain(calls).collect();
    Some(format!("{role}: {}", said.join(" ")))
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    Text(String),
    /// A call of a tool: `weather({"city":"York"})`.
    ToolCall(String),
    Error(String),
}

/// What a response answers. Empty if the form is not known.
pub fn answer(response: &Value) -> Vec<Answer> {
    if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
        let message = error.get("message").unwrap_or(error);
        return vec![Answer::Error(text(message))];
    }
    let list = |field: &str| response.get(field).and_then(Value::as_array).into_iter().flatten();
    let mut parts = Vec::new();
    for choice in list("choices") {
        add_message(choice.get("message").unwrap_or(choice), &mut parts);
    }
    for output in list("output") {
        match output.get("type").and_then(Value::as_str) {
            Some("function_call") => {
                parts.push(Answer::ToolCall(call(&output["name"], &output["arguments"])))
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
        parts.push(Answer::Text(cobalt_core::wording::count(vectors.len(), "embedding")));
    }
    parts
}

/// What a stream answers.
pub fn answer_of_stream(events: &[StreamEvent]) -> Vec<Answer> {
    let mut stream = Stream::default();
    for line in events.iter().flat_map(|event| event.text.lines()) {
        // Ollama streams plain lines of JSON.
        let data = line.strip_prefix("data:").unwrap_or(line).trim();
        if let Ok(value) = serde_json::from_str(data) {
            stream.add(&value);
        }
    }
    stream.finish()
}

/// The parts of a stream so far.
#[derive(Debug, Default)]
struct Stream {
    text: String,
    /// Names and arguments of tool calls, by their index.
    calls: BTreeMap<u64, (String, String)>,
    /// Complete parts.
    complete: Vec<Answer>,
}

impl Stream {
    fn add(&mut self, event: &Value) {
        match event.get("type").and_then(Value::as_str) {
            Some("content_block_start") => {
                self.add_call(&event["index"], &event["content_block"]["name"], &Value::Null)
            }
            Some("content_block_delta") => {
                self.text += event["delta"]["text"].as_str().unwrap_or_default();
                self.add_call(&event["index"], &Value::Null, &event["delta"]["partial_json"]);
            }
            Some("response.completed" | "response.incomplete" | "response.failed") => {
                self.complete = answer(&event["response"]);
            }
            Some("response.output_text.delta") => self.text += event["delta"].as_str().unwrap_or_default(),
            Some("content-delta") => {
                self.text += event["delta"]["message"]["content"]["text"].as_str().unwrap_or_default();
            }
            Some("tool-call-start" | "tool-call-delta") => {
                let function = &event["delta"]["message"]["tool_calls"]["function"];
                self.add_call(&event["index"], &function["name"], &function["arguments"]);
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
            self.text += delta["content"].as_str().or_else(|| choice["text"].as_str()).unwrap_or_default();
            for call in delta["tool_calls"].as_array().into_iter().flatten() {
                self.add_call(&call["index"], &call["function"]["name"], &call["function"]["arguments"]);
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

    fn add_call(&mut self, index: &Value, name: &Value, arguments: &Value) {
        if name.is_string() || arguments.is_string() {
            let call = self.calls.entry(index.as_u64().unwrap_or(0)).or_default();
            call.0 += name.as_str().unwrap_or_default();
            call.1 += arguments.as_str().unwrap_or_default();
        }
    }

    fn finish(self) -> Vec<Answer> {
        if !self.complete.is_empty() && self.text.is_empty() {
            return self.complete;
        }
        // A complete response repeats the text.
        let is_repeated = self.complete.iter().any(|part| *part == Answer::Text(self.text.clone()));
        let text =
            Some(Answer::Text(self.text)).filter(|text| !is_repeated && *text != Answer::Text(String::new()));
        let calls = self
            .calls
            .into_values()
            .map(|(name, arguments)| Answer::ToolCall(format!("{name}({arguments})")));
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
        other => {
            parts.extend(Some(Answer::Text(text(other))).filter(|part| *part != Answer::Text(String::new())))
        }
    }
}

/// The tool calls of a message in OpenAI's form.
fn tool_calls(message: &Value) -> impl Iterator<Item = String> {
    let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    calls.map(|one| call(&one["function"]["name"], &one["function"]["arguments"]))
}

/// The tool call in a part of a message, in Anthropic's and Gemini's forms.
fn call_in(block: &Value) -> Option<String> {
    if block.get("type").and_then(Value::as_str) == Some("tool_use") {
        return Some(call(&block["name"], &block["input"]));
    }
    let function = block.get("functionCall")?;
    Some(call(&function["name"], &function["args"]))
}

fn call(name: &Value, arguments: &Value) -> String {
    format!("{}({})", text(name), text(arguments))
}

/// Strings as they are, the texts of lists of parts, and other values as JSON.
fn text(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text).collect::<Vec<_>>().join(" "),
        Value::Object(fields) => {
            if let Some(call) = call_in(value) {
                return format!("→ {call}");
            }
            let result = fields.get("functionResponse").and_then(|result| result.get("response"));
            let known =
                ["text", "thinking", "content", "output"].into_iter().find_map(|field| fields.get(field));
            match (result.or(known), fields.get("type").and_then(Value::as_str)) {
                (Some(inner), _) => text(inner),
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
        Answer::ToolCall(text.to_owned())
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
