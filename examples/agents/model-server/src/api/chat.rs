//! OpenAI's chat completions.

use serde_json::{Value, json};

use super::{Api, CREATED, Event, join, list, openai_error, owned, parse_arguments, pieces, text_of, tool};
use crate::conversation::{Answer, Conversation, Reply, Turn};
use crate::tokens::Usage;

pub(super) const API: Api = Api { read, write, events, error: openai_error };

/// The length of the pieces in which arguments are streamed, in characters.
const ARGUMENT_PIECE: usize = 12;

fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        model: owned(&body["model"]),
        tools: list(&body["tools"])
            .iter()
            .map(|entry| tool(&entry["function"]["name"], &entry["function"]["parameters"]))
            .collect(),
        forced_tool: body["tool_choice"]["function"]["name"].as_str().map(str::to_owned),
        schema: body["response_format"]["json_schema"].get("schema").cloned(),
        ..Conversation::default()
    };
    for message in list(&body["messages"]) {
        let text = text_of(&message["content"]);
        match message["role"].as_str() {
            Some("system" | "developer") => join(&mut conversation.system, &text),
            Some("user") => conversation.turns.push(Turn::User(text)),
            Some("tool") => {
                conversation.turns.push(Turn::Result { id: owned(&message["tool_call_id"]), text });
            }
            _ => {
                if !text.is_empty() {
                    conversation.turns.push(Turn::Assistant(text));
                }
                conversation.turns.extend(list(&message["tool_calls"]).iter().map(|call| Turn::Call {
                    id: owned(&call["id"]),
                    name: owned(&call["function"]["name"]),
                    arguments: parse_arguments(&call["function"]["arguments"]),
                }));
            }
        }
    }
    conversation
}

fn write(reply: &Reply) -> Value {
    let (message, finish_reason) = match &reply.answer {
        Answer::Text(text) => (json!({ "role": "assistant", "content": text, "refusal": null }), "stop"),
        Answer::Calls(calls) => {
            let calls: Vec<_> =
                calls.iter().enumerate().map(|(index, call)| tool_call(reply, index, call)).collect();
            let message =
                json!({ "role": "assistant", "content": null, "refusal": null, "tool_calls": calls });
            (message, "tool_calls")
        }
    };
    let choice = json!({ "index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason });
    json!({
        "id": format!("chatcmpl-{}", reply.id),
        "object": "chat.completion",
        "created": CREATED,
        "model": reply.model,
        "choices": [choice],
        "usage": usage(reply.usage),
        "service_tier": "default",
    })
}

fn tool_call(reply: &Reply, index: usize, (name, arguments): &(String, Value)) -> Value {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    json!({ "id": format!("call_{}{index}", reply.id), "type": "function", "function": function })
}

fn usage(Usage { input, cached, output }: Usage) -> Value {
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": cached, "audio_tokens": 0 },
        "completion_tokens_details": { "reasoning_tokens": 0, "audio_tokens": 0 },
    })
}

fn events(body: &Value, reply: &Reply) -> Vec<Event> {
    let with_usage = body["stream_options"]["include_usage"] == true;
    let chunk = |choices: Value, usage: Value| -> Event {
        let mut chunk = json!({
            "id": format!("chatcmpl-{}", reply.id),
            "object": "chat.completion.chunk",
            "created": CREATED,
            "model": reply.model,
            "service_tier": "default",
            "choices": choices,
        });
        if with_usage {
            chunk["usage"] = usage;
        }
        (None, chunk.to_string())
    };
    let delta = |delta: Value, finish_reason: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish_reason });
        chunk(json!([choice]), Value::Null)
    };
    let mut events = vec![delta(json!({ "role": "assistant", "content": "", "refusal": null }), None)];
    let finish_reason = match &reply.answer {
        Answer::Text(text) => {
            events.extend(pieces(text).map(|piece| delta(json!({ "content": piece }), None)));
            "stop"
        }
        Answer::Calls(calls) => {
            for (index, call) in calls.iter().enumerate() {
                let mut whole = tool_call(reply, index, call);
                let arguments: Vec<char> = owned(&whole["function"]["arguments"]).chars().collect();
                whole["index"] = index.into();
                whole["function"]["arguments"] = "".into();
                events.push(delta(json!({ "tool_calls": [whole] }), None));
                for piece in arguments.chunks(ARGUMENT_PIECE) {
                    let function = json!({ "arguments": piece.iter().collect::<String>() });
                    let call = json!({ "index": index, "function": function });
                    events.push(delta(json!({ "tool_calls": [call] }), None));
                }
            }
            "tool_calls"
        }
    };
    events.push(delta(json!({}), Some(finish_reason)));
    if with_usage {
        events.push(chunk(json!([]), usage(reply.usage)));
    }
    events.push((None, "[DONE]".to_owned()));
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(answer: Answer) -> Reply {
        Conversation { model: "gpt-5".to_owned(), ..Conversation::default() }.reply(answer)
    }

    #[test]
    fn a_conversation_with_tools_is_read() {
        let call = json!({ "id": "c1", "type": "function",
                           "function": { "name": "find", "arguments": "{\"id\": 7}" } });
        let conversation = read(&json!({
            "model": "gpt-5",
            "messages": [
                { "role": "system", "content": "Be kind." },
                { "role": "user", "content": [{ "type": "text", "text": "Hello" }] },
                { "role": "assistant", "content": null, "tool_calls": [call] },
                { "role": "tool", "tool_call_id": "c1", "content": "found" },
            ],
            "tools": [{ "type": "function", "function": { "name": "find", "parameters": {} } }],
        }));
        assert_eq!(conversation.system, "Be kind.");
        assert_eq!(conversation.question(), "Hello");
        let done = conversation.done();
        assert_eq!((done[0].name, &done[0].arguments["id"], done[0].result), ("find", &json!(7), "found"));
        assert!(conversation.has_tool("find"));
    }

    #[test]
    fn a_stream_adds_up_to_the_whole_answer() {
        let call = ("find".to_owned(), json!({ "name": "a long enough name" }));
        let body = json!({ "stream_options": { "include_usage": true } });
        let reply = reply(Answer::Calls(vec![call.clone(), call]));
        let events = events(&body, &reply);
        assert_eq!(events.last().unwrap().1, "[DONE]");
        let chunks: Vec<Value> =
            events.iter().filter_map(|(_, data)| serde_json::from_str(data).ok()).collect();
        assert_eq!(chunks.last().unwrap()["usage"], write(&reply)["usage"]);
        let mut arguments = [String::new(), String::new()];
        for part in chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].get(0)) {
            let index = part["index"].as_u64().unwrap() as usize;
            arguments[index].push_str(part["function"]["arguments"].as_str().unwrap());
        }
        assert_eq!(arguments, [r#"{"name":"a long enough name"}"#; 2]);
    }

    #[test]
    fn a_streamed_text_keeps_its_spaces() {
        let reply = reply(Answer::Text("It is  red.\nTruly.".to_owned()));
        let chunks = events(&json!({}), &reply);
        let chunks = chunks.iter().filter_map(|(_, data)| serde_json::from_str::<Value>(data).ok());
        let text: String = chunks.map(|chunk| owned(&chunk["choices"][0]["delta"]["content"])).collect();
        assert_eq!(text, "It is  red.\nTruly.");
    }
}
