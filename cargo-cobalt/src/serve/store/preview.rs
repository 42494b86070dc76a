//! The beginnings of texts, as lists have them.

use cobalt::command::reporters::expected_field;
use cobalt::command::wording::cut;
use cobalt::dataset::Item;
use serde_json::{Map, Value};

/// How many characters of a text a list has.
const LENGTH: usize = 200;
/// Fields in which data sets hold what the agent is asked, the most telling first.
const ASKED: [&str; 7] = ["input", "question", "prompt", "query", "text", "message", "messages"];
/// The field by which an item is known: lists have it in a column of its own.
const IDENTITY: &str = "id";

/// The beginning of a text.
pub fn text(text: &str) -> Box<str> {
    cut(text, LENGTH).into()
}

/// The beginning of what the agent is asked. Where no field is known to hold that, all fields of the item but its id and
/// what is expected: `audience: customers · severity: 3`.
pub fn input(item: &Item) -> Box<str> {
    let asked = ASKED.into_iter().filter_map(|name| item.get(name)).find(|value| !value.is_null());
    match asked {
        Some(Value::String(asked)) => text(asked),
        Some(Value::Object(fields)) => self::fields(fields, &[]),
        Some(Value::Array(messages)) => text(&last_message(messages)),
        Some(other) => text(&other.to_string()),
        None => fields(item, &[Some(IDENTITY), expected_field(item)]),
    }
}

/// What was said last in a conversation; any other list as JSON.
fn last_message(messages: &[Value]) -> String {
    match messages.last().and_then(|message| message.get("content")) {
        Some(Value::String(content)) => content.clone(),
        _ => Value::from(messages).to_string(),
    }
}

/// Fields with their names, as far as there is room.
fn fields(fields: &Map<String, Value>, without: &[Option<&str>]) -> Box<str> {
    let mut line = String::new();
    for (name, value) in fields.iter().filter(|(name, _)| !without.contains(&Some(name))) {
        let (value, separator) = (written(value), if line.is_empty() { "" } else { " · " });
        line.extend([separator, name, ": ", &value]);
        if line.len() > LENGTH * char::MAX.len_utf8() {
            break;
        }
    }
    text(&line)
}

/// A text as it is, all else as JSON.
fn written(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use cobalt::item;

    use super::*;

    #[test]
    fn what_the_agent_is_asked_is_shown_without_what_lies_around_it() {
        let item = item! { "context": { "channel": "chat" }, "id": "q-1", "question": "Is it open?" };
        assert_eq!(&*input(&item), "Is it open?");
        assert_eq!(&*input(&item! { "input": null, "prompt": "Say so" }), "Say so");
        assert_eq!(&*input(&item! { "input": { "city": "York", "days": 2 } }), "city: York · days: 2");
        assert_eq!(&*input(&item! { "input": 7 }), "7");
    }

    #[test]
    fn of_a_conversation_the_last_message_is_shown() {
        let messages = item! { "messages": [{ "role": "system", "content": "Be brief" }, { "role": "user", "content": "Hello" }] };
        assert_eq!(&*input(&messages), "Hello");
        assert_eq!(&*input(&item! { "input": ["two", 2] }), r#"["two",2]"#);
        assert_eq!(&*input(&item! { "messages": [] }), "[]");
    }

    #[test]
    fn an_item_of_other_fields_is_shown_by_them_but_not_by_what_is_expected() {
        let item =
            item! { "id": "i-1", "audience": "customers", "severity": 3, "expectedOutput": "All is well" };
        assert_eq!(&*input(&item), "audience: customers · severity: 3");
        assert_eq!(&*input(&item! { "id": "i-1" }), "");
    }

    #[test]
    fn a_long_input_is_cut_between_characters() {
        let item = item! { "report": "é".repeat(100_000), "severity": 3 };
        assert_eq!(input(&item).chars().count(), LENGTH + 1);
    }
}
