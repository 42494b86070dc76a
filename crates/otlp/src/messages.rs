//! Messages that exporters report as events of a span, or as one attribute for each of their parts.

use serde_json::{Map, Value};

use cobalt_core::item::Item;
use cobalt_core::trace::ReportedSpan;

/// The attributes of messages in the conventions.
const INPUT: &str = "gen_ai.input.messages";
const OUTPUT: &str = "gen_ai.output.messages";
/// The longest list of messages or calls: attributes name its places, so a high one would make a long list of nothing.
const MOST_PARTS: usize = 10_000;

/// Where OpenInference and OpenLLMetry put each part of a message, and the attribute that it belongs to.
const FLAT: [(&str, &str); 4] = [
    ("llm.input_messages.", INPUT),
    ("gen_ai.prompt.", INPUT),
    ("llm.output_messages.", OUTPUT),
    ("gen_ai.completion.", OUTPUT),
];

/// Adds the messages to the fields of a span that has none, and other fields of events that are about models and tools.
pub fn add_messages(fields: &mut Item, events: Vec<(String, Item)>) {
    let (mut input, mut output) = (Vec::new(), Vec::new());
    for (name, event) in events {
        match name.as_str() {
            "gen_ai.choice" => output.push(choice(event)),
            "gen_ai.system.message" => input.push(message("system", event)),
            "gen_ai.user.message" => input.push(message("user", event)),
            "gen_ai.assistant.message" => input.push(message("assistant", event)),
            "gen_ai.tool.message" => input.push(message("tool", event)),
            _ => {
                for (field, value) in event {
                    if ReportedSpan::is_known_field(&field) {
                        fields.entry(field).or_insert(value);
                    }
                }
            }
        }
    }
    for (name, messages) in [(INPUT, input), (OUTPUT, output)] {
        if !messages.is_empty() {
            fields.entry(name).or_insert(messages.into());
        }
    }
    for (prefix, name) in FLAT {
        let messages = unflatten(fields, prefix);
        if !messages.is_empty() {
            fields.retain(|field, _| !field.starts_with(prefix));
            fields.entry(name).or_insert(messages.into());
        }
    }
}

/// A message of an event.
fn message(role: &str, mut event: Item) -> Value {
    event.entry("role").or_insert_with(|| role.into());
    for field in ["content", "tool_calls"] {
        if let Some(value) = event.get_mut(field) {
            parse(value);
        }
    }
    if let Some(id) = event.remove("id") {
        event.insert("tool_call_id".to_owned(), id);
    }
    let is_part = |field: &str| matches!(field, "role" | "content" | "tool_calls" | "tool_call_id" | "name");
    event.retain(|field, _| is_part(field));
    Value::Object(event)
}

/// The message of a choice, with its finish reason.
fn choice(mut event: Item) -> Value {
    let reason = event.remove("finish_reason");
    let mut message = match event.remove("message") {
        Some(mut message) => {
            parse(&mut message);
            match message {
                Value::Object(message) => self::message("assistant", message),
                content => self::message("assistant", Map::from_iter([("content".to_owned(), content)])),
            }
        }
        None => message("assistant", event),
    };
    if let Some(reason) = reason {
        message["finish_reason"] = reason;
    }
    message
}

/// Replaces JSON in text, but not text that only looks like a number or the like.
fn parse(value: &mut Value) {
    let is_json = |text: &&str| text.trim_start().starts_with(['{', '[']);
    if let Some(parsed) = value.as_str().filter(is_json).and_then(|text| serde_json::from_str(text).ok()) {
        *value = parsed;
    }
}

/// The list of messages whose parts have an attribute each: `gen_ai.prompt.0.role`, `llm.input_messages.0.message.content`.
fn unflatten(fields: &Item, prefix: &str) -> Vec<Value> {
    let mut messages = Value::Null;
    for (field, value) in fields {
        let Some(path) = field.strip_prefix(prefix) else { continue };
        // OpenInference wraps messages, contents and calls in objects of one field.
        let wrappers = ["message", "message_content", "tool_call", "function"];
        let steps: Vec<_> = path.split('.').filter(|step| !wrappers.contains(step)).collect();
        if steps[0].parse::<usize>().is_ok() {
            set(&mut messages, &steps, value.clone());
        }
    }
    let Value::Array(messages) = messages else { return Vec::new() };
    messages.into_iter().filter(|message| !message.is_null()).collect()
}

/// Sets the value at a path of fields and places in lists.
fn set(target: &mut Value, steps: &[&str], value: Value) {
    let Some((step, rest)) = steps.split_first() else {
        *target = value;
        return;
    };
    if let Ok(place) = step.parse::<usize>() {
        if target.is_null() {
            *target = Value::Array(Vec::new());
        }
        if let Value::Array(list) = target
            && place < MOST_PARTS
        {
            if list.len() <= place {
                list.resize(place + 1, Value::Null);
            }
            set(&mut list[place], rest, value);
        }
    } else {
        if target.is_null() {
            *target = Value::Object(Map::new());
        }
        if let Value::Object(fields) = target {
            // The names of the conventions.
            let name = if *step == "contents" { "content" } else { step };
            set(fields.entry(name).or_insert(Value::Null), rest, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use cobalt_core::item::into_item;

    fn added(fields: Value, events: &[(&str, Value)]) -> Value {
        let mut fields = into_item(fields).unwrap();
        let events =
            events.iter().map(|(name, event)| ((*name).to_owned(), into_item(event.clone()).unwrap()));
        add_messages(&mut fields, events.collect());
        Value::Object(fields)
    }

    #[test]
    fn events_become_the_messages_of_the_conventions() {
        let events = [
            ("gen_ai.user.message", json!({ "content": "Weather?", "gen_ai.system": "openai" })),
            (
                "gen_ai.assistant.message",
                json!({ "tool_calls": r#"[{"id":"c","function":{"name":"w","arguments":"{}"}}]"# }),
            ),
            ("gen_ai.tool.message", json!({ "id": "c", "content": "18" })),
            (
                "gen_ai.choice",
                json!({ "index": 0, "finish_reason": "stop", "message": r#"{"content":"It is 18."}"# }),
            ),
            ("log", json!({ "gen_ai.usage.input_tokens": 3, "line": 7 })),
        ];
        let expected = json!({
            "gen_ai.usage.input_tokens": 3,
            "gen_ai.input.messages": [
                { "content": "Weather?", "role": "user" },
                { "tool_calls": [{ "id": "c", "function": { "name": "w", "arguments": "{}" } }], "role": "assistant" },
                { "content": "18", "role": "tool", "tool_call_id": "c" },
            ],
            "gen_ai.output.messages": [{ "content": "It is 18.", "role": "assistant", "finish_reason": "stop" }],
        });
        assert_eq!(added(json!({}), &events), expected);
    }

    #[test]
    fn attributes_of_parts_become_messages() {
        let fields = json!({
            "gen_ai.prompt.0.role": "system", "gen_ai.prompt.0.content": "Be brief.",
            "gen_ai.prompt.1.role": "user", "gen_ai.prompt.1.content": "Hi",
            "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Hello", "other": 1,
        });
        let expected = json!({ "other": 1,
            "gen_ai.input.messages": [{ "role": "system", "content": "Be brief." }, { "role": "user", "content": "Hi" }],
            "gen_ai.output.messages": [{ "role": "assistant", "content": "Hello" }] });
        assert_eq!(added(fields, &[]), expected);
        let fields = json!({
            "llm.input_messages.0.message.role": "user",
            "llm.input_messages.0.message.contents.0.message_content.text": "Hi",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "w",
            "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": "{}",
        });
        let expected = json!({
            "gen_ai.input.messages": [{ "role": "user", "content": [{ "text": "Hi" }] }],
            "gen_ai.output.messages": [{ "tool_calls": [{ "name": "w", "arguments": "{}" }] }] });
        assert_eq!(added(fields, &[]), expected);
    }

    #[test]
    fn own_messages_come_before_others_and_wrong_places_are_ignored() {
        let fields = json!({ "gen_ai.input.messages": "own", "gen_ai.prompt.0.content": "other", "gen_ai.prompt.x": 1,
            "llm.output_messages.99999999999.message.role": "x" });
        assert_eq!(
            added(fields, &[("gen_ai.user.message", json!({ "content": "event" }))])["gen_ai.input.messages"],
            "own"
        );
    }
}
