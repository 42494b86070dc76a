//! OpenAI's responses.

use serde_json::{Value, json};

use super::{Api, CREATED, Event, join, list, openai_error, owned, parse_arguments, pieces, text_of, tool};
use crate::conversation::{Answer, Conversation, Reply, Turn};
use crate::tokens::Usage;

pub(super) const API: Api = Api { read, write, events, error: openai_error };

fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        model: owned(&body["model"]),
        system: owned(&body["instructions"]),
        tools: list(&body["tools"]).iter().map(|entry| tool(&entry["name"], &entry["parameters"])).collect(),
        forced_tool: body["tool_choice"]["name"].as_str().map(str::to_owned),
        schema: body["text"]["format"].get("schema").cloned(),
        ..Conversation::default()
    };
    if let Some(text) = body["input"].as_str() {
        conversation.turns.push(Turn::User(text.to_owned()));
    }
    for item in list(&body["input"]) {
        let turn = match item["type"].as_str() {
            Some("function_call") => Turn::Call {
                id: owned(&item["call_id"]),
                name: owned(&item["name"]),
                arguments: parse_arguments(&item["arguments"]),
            },
            Some("function_call_output") => {
                Turn::Result { id: owned(&item["call_id"]), text: text_of(&item["output"]) }
            }
            Some("message") | None => match item["role"].as_str() {
                Some("system" | "developer") => {
                    join(&mut conversation.system, &text_of(&item["content"]));
                    continue;
                }
                Some("user") => Turn::User(text_of(&item["content"])),
                _ => Turn::Assistant(text_of(&item["content"])),
            },
            Some(_) => continue,
        };
        conversation.turns.push(turn);
    }
    conversation
}

/// The items of the answer.
fn output(reply: &Reply) -> Vec<Value> {
    match &reply.answer {
        Answer::Text(text) => {
            let part = json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] });
            vec![json!({
                "id": format!("msg_{}", reply.id),
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [part],
            })]
        }
        Answer::Calls(calls) => {
            let item = |(index, (name, arguments)): (usize, &(String, Value))| {
                json!({
                    "id": format!("fc_{}{index}", reply.id),
                    "type": "function_call",
                    "status": "completed",
                    "call_id": format!("call_{}{index}", reply.id),
                    "name": name,
                    "arguments": arguments.to_string(),
                })
            };
            calls.iter().enumerate().map(item).collect()
        }
    }
}

fn write(reply: &Reply) -> Value {
    json!({
        "id": format!("resp_{}", reply.id),
        "object": "response",
        "created_at": CREATED,
        "status": "completed",
        "error": null,
        "incomplete_details": null,
        "instructions": null,
        "max_output_tokens": null,
        "metadata": {},
        "model": reply.model,
        "output": output(reply),
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "reasoning": { "effort": null, "summary": null },
        "service_tier": "default",
        "temperature": 1.0,
        "text": { "format": { "type": "text" } },
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage(reply.usage),
    })
}

fn usage(Usage { input, cached, output }: Usage) -> Value {
    json!({
        "input_tokens": input,
        "input_tokens_details": { "cached_tokens": cached },
        "output_tokens": output,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": input + output,
    })
}

fn events(_: &Value, reply: &Reply) -> Vec<Event> {
    let mut events = Vec::new();
    let mut push = |name: &str, mut data: Value| {
        data["type"] = name.into();
        data["sequence_number"] = events.len().into();
        events.push((Some(name.to_owned()), data.to_string()));
    };
    let whole = write(reply);
    let mut start = whole.clone();
    (start["status"], start["output"], start["usage"]) = (json!("in_progress"), json!([]), Value::Null);
    push("response.created", json!({ "response": start }));
    push("response.in_progress", json!({ "response": start }));
    for (index, item) in output(reply).into_iter().enumerate() {
        let mut begun = item.clone();
        begun["status"] = "in_progress".into();
        if item["type"] == "message" {
            let part = &item["content"][0];
            let at = |mut data: Value| {
                data["item_id"] = item["id"].clone();
                data["output_index"] = index.into();
                data["content_index"] = 0.into();
                data
            };
            begun["content"] = json!([]);
            push("response.output_item.added", json!({ "output_index": index, "item": begun }));
            let empty = json!({ "type": "output_text", "text": "", "annotations": [], "logprobs": [] });
            push("response.content_part.added", at(json!({ "part": empty })));
            let text = owned(&part["text"]);
            for piece in pieces(&text) {
                push("response.output_text.delta", at(json!({ "delta": piece, "logprobs": [] })));
            }
            push("response.output_text.done", at(json!({ "text": text, "logprobs": [] })));
            push("response.content_part.done", at(json!({ "part": part })));
        } else {
            let arguments = &item["arguments"];
            begun["arguments"] = "".into();
            push("response.output_item.added", json!({ "output_index": index, "item": begun }));
            let at = json!({ "item_id": item["id"], "output_index": index });
            let mut delta = at.clone();
            delta["delta"] = arguments.clone();
            push("response.function_call_arguments.delta", delta);
            let mut done = at;
            (done["name"], done["arguments"]) = (item["name"].clone(), arguments.clone());
            push("response.function_call_arguments.done", done);
        }
        push("response.output_item.done", json!({ "output_index": index, "item": item }));
    }
    push("response.completed", json!({ "response": whole }));
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_with_tools_is_read() {
        let conversation = read(&json!({
            "model": "gpt-5",
            "instructions": "Be kind.",
            "input": [
                { "role": "user", "content": [{ "type": "input_text", "text": "Hello" }] },
                { "type": "reasoning", "summary": [] },
                { "type": "function_call", "call_id": "c1", "name": "find", "arguments": "{\"id\": 7}" },
                { "type": "function_call_output", "call_id": "c1", "output": "found" },
            ],
            "tools": [{ "type": "function", "name": "find", "parameters": {} }],
        }));
        assert_eq!((&*conversation.system, conversation.question()), ("Be kind.", "Hello"));
        assert_eq!(conversation.done()[0].result, "found");
        assert_eq!(read(&json!({ "input": "Hi" })).question(), "Hi");
    }

    #[test]
    fn a_stream_ends_with_the_whole_response() {
        for answer in [
            Answer::Text("It is red.".to_owned()),
            Answer::Calls(vec![("find".to_owned(), json!({ "id": 7 }))]),
        ] {
            let reply = Conversation::default().reply(answer);
            let events = events(&json!({}), &reply);
            let (name, data) = events.last().unwrap();
            assert_eq!(name.as_deref(), Some("response.completed"));
            let data: Value = serde_json::from_str(data).unwrap();
            assert_eq!(data["response"], write(&reply));
            assert_eq!(data["sequence_number"], events.len() - 1);
        }
    }
}
