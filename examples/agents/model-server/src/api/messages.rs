//! Anthropic's messages.

use serde_json::{Value, json};

use super::{Api, Event, Failure, list, owned, pieces, text_of, tool};
use crate::conversation::{Answer, Conversation, Reply, Turn};

pub(super) const API: Api = Api { read, write, events, error };

fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        model: owned(&body["model"]),
        system: text_of(&body["system"]),
        tools: list(&body["tools"])
            .iter()
            .map(|entry| tool(&entry["name"], &entry["input_schema"]))
            .collect(),
        forced_tool: body["tool_choice"]["name"].as_str().map(str::to_owned),
        schema: body["output_config"]["format"].get("schema").cloned(),
        ..Conversation::default()
    };
    for message in list(&body["messages"]) {
        let say = |text: String| match message["role"].as_str() {
            Some("assistant") => Turn::Assistant(text),
            _ => Turn::User(text),
        };
        if let Some(text) = message["content"].as_str() {
            conversation.turns.push(say(text.to_owned()));
        }
        conversation.turns.extend(list(&message["content"]).iter().filter_map(|block| {
            match block["type"].as_str()? {
                "text" => Some(say(owned(&block["text"]))),
                "tool_use" => Some(Turn::Call {
                    id: owned(&block["id"]),
                    name: owned(&block["name"]),
                    arguments: block["input"].clone(),
                }),
                "tool_result" => {
                    Some(Turn::Result { id: owned(&block["tool_use_id"]), text: text_of(&block["content"]) })
                }
                _ => None,
            }
        }));
    }
    conversation
}

/// The blocks of the answer, and why it stops.
fn content(reply: &Reply) -> (Vec<Value>, &'static str) {
    match &reply.answer {
        Answer::Text(text) => (vec![json!({ "type": "text", "text": text })], "end_turn"),
        Answer::Calls(calls) => {
            let block = |(index, (name, input)): (usize, &(String, Value))| {
                let id = format!("toolu_{}{index}", reply.id);
                json!({ "type": "tool_use", "id": id, "name": name, "input": input })
            };
            (calls.iter().enumerate().map(block).collect(), "tool_use")
        }
    }
}

fn write(reply: &Reply) -> Value {
    let (content, stop_reason) = content(reply);
    json!({
        "id": format!("msg_{}", reply.id),
        "type": "message",
        "role": "assistant",
        "model": reply.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": null,
        "usage": usage(reply, reply.usage.output),
    })
}

/// Anthropic's `input_tokens` exclude those read from the cache.
fn usage(reply: &Reply, output: u64) -> Value {
    json!({
        "input_tokens": reply.usage.input - reply.usage.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": reply.usage.cached,
        "output_tokens": output,
    })
}

fn events(_: &Value, reply: &Reply) -> Vec<Event> {
    let mut events = Vec::new();
    let mut push = |name: &str, mut data: Value| {
        data["type"] = name.into();
        events.push((Some(name.to_owned()), data.to_string()));
    };
    let (blocks, stop_reason) = content(reply);
    let mut start = write(reply);
    (start["content"], start["stop_reason"]) = (json!([]), Value::Null);
    start["usage"] = usage(reply, 1);
    push("message_start", json!({ "message": start }));
    for (index, block) in blocks.into_iter().enumerate() {
        let mut begun = block.clone();
        let is_text = block["type"] == "text";
        begun[if is_text { "text" } else { "input" }] = if is_text { json!("") } else { json!({}) };
        push("content_block_start", json!({ "index": index, "content_block": begun }));
        let deltas: Vec<Value> = if is_text {
            let text = owned(&block["text"]);
            pieces(&text).map(|piece| json!({ "type": "text_delta", "text": piece })).collect()
        } else {
            vec![json!({ "type": "input_json_delta", "partial_json": block["input"].to_string() })]
        };
        for delta in deltas {
            push("content_block_delta", json!({ "index": index, "delta": delta }));
        }
        push("content_block_stop", json!({ "index": index }));
    }
    let delta = json!({ "stop_reason": stop_reason, "stop_sequence": null });
    push("message_delta", json!({ "delta": delta, "usage": { "output_tokens": reply.usage.output } }));
    push("message_stop", json!({}));
    events
}

fn error(failure: &Failure) -> Value {
    let kind = match failure {
        Failure::NoKey => "authentication_error",
        Failure::UnknownModel(_) => "not_found_error",
        Failure::NotJson | Failure::Unsupported(_) => "invalid_request_error",
    };
    json!({ "type": "error", "error": { "type": kind, "message": failure.message() } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_with_tools_is_read() {
        let conversation = read(&json!({
            "model": "claude-haiku-5-5",
            "system": [{ "type": "text", "text": "Be kind." }],
            "messages": [
                { "role": "user", "content": "Hello" },
                { "role": "assistant", "content": [
                    { "type": "text", "text": "Let me see." },
                    { "type": "tool_use", "id": "t1", "name": "find", "input": { "id": 7 } },
                ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "t1", "content": [{ "type": "text", "text": "found" }] },
                ] },
            ],
            "tools": [{ "name": "find", "input_schema": {} }],
        }));
        assert_eq!((&*conversation.system, conversation.question()), ("Be kind.", "Hello"));
        assert_eq!(conversation.done()[0].result, "found");
    }

    #[test]
    fn a_stream_has_the_events_of_the_api() {
        let reply = Conversation::default().reply(Answer::Text("It is red.".to_owned()));
        let names: Vec<_> = events(&json!({}), &reply).into_iter().filter_map(|(name, _)| name).collect();
        let [first, second, .., last] = &names[..] else { panic!("{names:?}") };
        assert_eq!([&**first, second, last], ["message_start", "content_block_start", "message_stop"]);
        assert_eq!(names.iter().filter(|name| *name == "content_block_delta").count(), 3);
    }
}
