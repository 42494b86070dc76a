//! The turns of a scripted model: calls of the tool `count`, and then an answer. As chat completions, or as responses of the API of that name.

use axum::http::header;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// The turns in which the model asks for a tool.
pub const TOOL_TURNS: usize = 3;
/// The requests of an item whose agent calls tools.
pub const TURNS: usize = TOOL_TURNS + 1;

/// The tokens of one turn of an item: the input, the output, and how much of the input is cached.
pub fn tokens(item: usize, turn: usize) -> [u64; 3] {
    [100 + item as u64, 10 + turn as u64, 7 * turn as u64]
}

/// The item that a prompt names.
pub fn item_of(body: &str) -> &str {
    let (_, after) = body.split_once("item ").expect("a prompt names its item");
    after.split_once(':').unwrap().0
}

/// A call of the tool `count`, or the answer.
pub fn reply(item: &str, answer: &str, request: &Value) -> Response {
    let messages =
        [&request["messages"], &request["input"]].into_iter().filter_map(Value::as_array).flatten();
    let is_result = |message: &&Value| message["role"] == "tool" || message["type"] == "function_call_output";
    let results = messages.filter(is_result).count();
    let with_tools = request["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let turn = if with_tools && results < TOOL_TURNS {
        Turn::Call { id: format!("call-{results}"), arguments: format!("{{\"item\":{item}}}") }
    } else {
        Turn::Answer(answer.to_owned())
    };
    let used = tokens(item.parse().expect("a number"), results);
    let (kind, body) = if request["stream"] == true {
        ("text/event-stream", turn.events(used))
    } else if request.get("input").is_some() {
        ("application/json", turn.response(used).to_string())
    } else {
        ("application/json", turn.completion(used).to_string())
    };
    ([(header::CONTENT_TYPE, kind)], body).into_response()
}

/// What the model says in one turn.
enum Turn {
    Call { id: String, arguments: String },
    Answer(String),
}

impl Turn {
    fn finish(&self) -> &'static str {
        match self {
            Self::Call { .. } => "tool_calls",
            Self::Answer(_) => "stop",
        }
    }

    fn completion(&self, used: [u64; 3]) -> Value {
        let message = match self {
            Self::Call { id, arguments } => {
                let function = json!({ "name": "count", "arguments": arguments });
                let call = json!({ "id": id, "type": "function", "function": function });
                json!({ "role": "assistant", "content": null, "tool_calls": [call] })
            }
            Self::Answer(text) => json!({ "role": "assistant", "content": text }),
        };
        json!({
            "id": "chat", "created": 1, "model": "m", "object": "chat.completion",
            "usage": usage(used),
            "choices": [{ "index": 0, "message": message, "finish_reason": self.finish() }],
        })
    }

    fn response(&self, [input, output, cached]: [u64; 3]) -> Value {
        let answered = match self {
            Self::Call { id, arguments } => json!({
                "type": "function_call", "id": format!("fc-{id}"), "call_id": id, "name": "count",
                "arguments": arguments, "status": "completed",
            }),
            Self::Answer(text) => json!({
                "type": "message", "id": "message", "role": "assistant", "status": "completed",
                "content": [{ "type": "output_text", "text": text, "annotations": [] }],
            }),
        };
        json!({
            "id": "response", "object": "response", "created_at": 1, "status": "completed", "model": "m",
            "output": [answered], "tools": [],
            "usage": {
                "input_tokens": input, "output_tokens": output, "total_tokens": input + output,
                "input_tokens_details": { "cached_tokens": cached }, "output_tokens_details": { "reasoning_tokens": 0 },
            },
        })
    }

    /// A completion as a stream: the words of an answer, or a call whose arguments come in two parts.
    fn events(&self, used: [u64; 3]) -> String {
        let mut deltas = Vec::new();
        match self {
            Self::Call { id, arguments } => {
                let (first, second) = arguments.split_at(arguments.len() / 2);
                let function = json!({ "name": "count", "arguments": "" });
                let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
                deltas.push(json!({ "role": "assistant", "content": null, "tool_calls": [call] }));
                deltas.extend([first, second].map(
                    |part| json!({ "tool_calls": [{ "index": 0, "function": { "arguments": part } }] }),
                ));
            }
            Self::Answer(text) => {
                deltas.push(json!({ "role": "assistant", "content": "" }));
                deltas.extend(text.split_inclusive(' ').map(|word| json!({ "content": word })));
            }
        }
        let mut choices: Vec<_> = deltas
            .into_iter()
            .map(|delta| json!([{ "index": 0, "delta": delta, "finish_reason": null }]))
            .collect();
        choices.push(json!([{ "index": 0, "delta": {}, "finish_reason": self.finish() }]));
        let mut chunks: Vec<_> = choices.into_iter().map(|choices| chunk(&choices, &Value::Null)).collect();
        chunks.push(chunk(&json!([]), &usage(used)));
        format!("{}data: [DONE]\n\n", chunks.concat())
    }
}

fn usage([input, output, cached]: [u64; 3]) -> Value {
    json!({
        "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": cached },
    })
}

fn chunk(choices: &Value, usage: &Value) -> String {
    let chunk = json!({
        "id": "chat", "created": 1, "model": "m", "object": "chat.completion.chunk",
        "choices": choices, "usage": usage,
    });
    format!("data: {chunk}\n\n")
}
