//! The starts of the texts of items, as lists show them.

use cobalt_core::item::Item;
use cobalt_core::report::ItemResult;
use cobalt_core::reporters::expected_field;
use cobalt_core::wording::truncate;
use serde_json::{Map, Value};

/// The number of characters of a text in lists.
const PREVIEW_LEN: usize = 200;
/// Fields in which datasets have the agent's input, in order of preference.
const INPUT_FIELDS: [&str; 7] = ["input", "question", "prompt", "query", "text", "message", "messages"];
/// The field that identifies an item: lists have a separate column for it.
const ID_FIELD: &str = "id";

/// The starts of an item's texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemTexts {
    pub input: Box<str>,
    /// Of the first trial; absent if it failed.
    pub output: Option<Box<str>>,
    pub error: Option<Box<str>>,
}

impl ItemTexts {
    pub fn of(item: &ItemResult) -> Self {
        Self {
            input: input_preview(&item.input),
            output: item.first_trial().output.as_ref().map(|output| preview(&output.text())),
            error: item.first_error().map(|error| preview(&error)),
        }
    }

    pub fn size(&self) -> usize {
        let texts = [&self.input].into_iter().chain(&self.output).chain(&self.error);
        texts.map(|text| text.len() + OVERHEAD).sum()
    }
}

/// The overhead of an allocation.
const OVERHEAD: usize = 16;

/// The start of a text.
fn preview(text: &str) -> Box<str> {
    truncate(text, PREVIEW_LEN).into()
}

/// The start of the agent's input. Without a known input field, all fields except the id and the expected output:
/// `audience: customers · severity: 3`.
fn input_preview(item: &Item) -> Box<str> {
    let asked = INPUT_FIELDS.into_iter().filter_map(|name| item.get(name)).find(|value| !value.is_null());
    match asked {
        Some(Value::String(asked)) => preview(asked),
        Some(Value::Object(fields)) => self::fields_preview(fields, &[]),
        Some(Value::Array(messages)) => preview(&last_message(messages)),
        Some(other) => preview(&other.to_string()),
        None => fields_preview(item, &[Some(ID_FIELD), expected_field(item)]),
    }
}

/// The last message of a conversation; any other list as JSON.
fn last_message(messages: &[Value]) -> String {
    match messages.last().and_then(|message| message.get("content")) {
        Some(Value::String(content)) => content.clone(),
        _ => Value::from(messages).to_string(),
    }
}

/// Fields with their names, up to the maximum length.
fn fields_preview(fields: &Map<String, Value>, without: &[Option<&str>]) -> Box<str> {
    let mut line = String::new();
    for (name, value) in fields.iter().filter(|(name, _)| !without.contains(&Some(name))) {
        let (value, separator) = (plain_text(value), if line.is_empty() { "" } else { " · " });
        line.extend([separator, name, ": ", &value]);
        if line.len() > PREVIEW_LEN * char::MAX.len_utf8() {
            break;
        }
    }
    preview(&line)
}

/// A string unchanged, anything else as JSON.
fn plain_text(value: &Value) -> String {
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
        assert_eq!(&*input_preview(&item), "Is it open?");
        assert_eq!(&*input_preview(&item! { "input": null, "prompt": "Say so" }), "Say so");
        assert_eq!(
            &*input_preview(&item! { "input": { "city": "York", "days": 2 } }),
            "city: York · days: 2"
        );
        assert_eq!(&*input_preview(&item! { "input": 7 }), "7");
    }

    #[test]
    fn of_a_conversation_the_last_message_is_shown() {
        let messages = item! { "messages": [{ "role": "system", "content": "Be brief" }, { "role": "user", "content": "Hello" }] };
        assert_eq!(&*input_preview(&messages), "Hello");
        assert_eq!(&*input_preview(&item! { "input": ["two", 2] }), r#"["two",2]"#);
        assert_eq!(&*input_preview(&item! { "messages": [] }), "[]");
    }

    #[test]
    fn an_item_of_other_fields_is_shown_by_them_but_not_by_what_is_expected() {
        let item =
            item! { "id": "i-1", "audience": "customers", "severity": 3, "expectedOutput": "All is well" };
        assert_eq!(&*input_preview(&item), "audience: customers · severity: 3");
        assert_eq!(&*input_preview(&item! { "id": "i-1" }), "");
    }

    #[test]
    fn a_long_input_is_cut_between_characters() {
        let item = item! { "report": "é".repeat(100_000), "severity": 3 };
        assert_eq!(input_preview(&item).chars().count(), PREVIEW_LEN + 1);
    }
}
