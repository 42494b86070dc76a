//! What the requests of an experiment have in common, as far as they were seen: the fields of items whose texts they contain.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use cobalt_core::item::Item;
use serde_json::Value;

/// The shortest part of a message that can attribute a request, in bytes.
const MIN_PART: usize = 8;
/// After this many agents that failed before they sent anything, the others probably do the same.
const MAX_SILENT_FAILURES: u32 = 3;
/// The fields that hold what is said to a model, as opposed to its tools and settings.
const CONVERSATION: [&str; 9] =
    ["messages", "input", "contents", "prompt", "query", "texts", "documents", "message", "content"];

/// The texts of an item, each with the item's field.
#[derive(Clone, Debug, Default)]
pub struct ItemTexts(pub Arc<[(String, String)]>);

impl ItemTexts {
    /// The texts of an item that are not blank.
    pub fn of(item: &Item) -> Self {
        let mut all = Vec::new();
        for (field, value) in item {
            let mut found = Vec::new();
            texts(value, &mut found);
            let found = found.into_iter().map(str::trim).filter(|text| !text.is_empty());
            all.extend(found.map(|text| (field.clone(), text.to_owned())));
        }
        Self(all.into())
    }
}

/// How the text of a field is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a whole message.
    Whole,
    /// As a part of a message.
    Part,
}

/// What is known of the requests of an experiment.
#[derive(Clone, Debug, Default)]
pub struct RequestShape {
    /// The fields of items whose texts conversations begin with; that in part if it was so once.
    pub sent: BTreeMap<String, Form>,
    /// Whether a request had a token.
    pub has_tokens: bool,
    /// Whether a request had none.
    pub lacks_tokens: bool,
    /// Whether a request had no text of its item.
    pub lacks_texts: bool,
    /// Whether an agent has ended: until then, it may send requests of another kind.
    pub has_ended: bool,
    /// The number of agents that failed before they sent anything.
    silent_failures: u32,
}

impl RequestShape {
    /// Whether no request is to be attributed by its content: all have tokens, also those of an agent that has ended.
    pub fn is_exact(&self) -> bool {
        !self.lacks_tokens && self.has_tokens && self.has_ended
    }

    /// Whether that is so as far as it was seen: its requests have tokens, or an agent has ended without any.
    pub fn seems_exact(&self) -> bool {
        !self.lacks_tokens && (self.has_tokens || self.has_ended)
    }

    /// The texts of an item that its requests have.
    pub fn sent_texts<'a>(&'a self, item: &'a ItemTexts) -> impl Iterator<Item = (&'a str, Option<Form>)> {
        let all = item.0.iter().map(|(field, text)| (text.as_str(), self.sent.get(field).copied()));
        all.filter(|(_, form)| self.sent.is_empty() || form.is_some())
    }

    /// Whether requests of an item may have no text by which they are recognized.
    pub fn may_lack_texts(&self, item: &ItemTexts) -> bool {
        !self.is_exact()
            && (self.lacks_texts
                || !self.has_ended
                || !self.sent_texts(item).any(|sent| is_recognized(&sent)))
    }

    /// Whether requests of two items may fit either. `other` is the shape of the experiment of the second one.
    pub fn confuses(&self, item: &ItemTexts, other: &Self, other_item: &ItemTexts) -> bool {
        if self.is_exact() || other.is_exact() {
            return false;
        }
        (self.may_lack_texts(item) && other.may_lack_texts(other_item))
            || self.shares_texts(item, other, other_item)
    }

    /// The same for experiments whose first agents take long: then requests without texts are only expected where they were seen.
    pub fn confuses_late(&self, item: &ItemTexts, other: &Self, other_item: &ItemTexts) -> bool {
        if self.is_exact() || other.is_exact() {
            return false;
        }
        (self.lacks_texts && other.may_lack_texts(other_item))
            || (self.may_lack_texts(item) && other.lacks_texts)
            || self.shares_texts(item, other, other_item)
    }

    /// Whether requests that contain texts of two items may fit either.
    fn shares_texts(&self, item: &ItemTexts, other: &Self, other_item: &ItemTexts) -> bool {
        // Until it is known which texts are sent, any may be; a first request without one is known by that.
        let is_apart = |shape: &Self, item: &ItemTexts, other: &ItemTexts| {
            let may_send_any = !shape.lacks_tokens;
            let mut sent = shape.sent_texts(item).filter(|sent| may_send_any || is_recognized(sent));
            (may_send_any && item.0.is_empty())
                || sent.any(|(text, _)| other.0.iter().all(|(_, other)| other != text))
        };
        !is_apart(self, item, other_item) || !is_apart(other, other_item, item)
    }

    /// Notes that an agent has ended. Returns whether it is news. One that fails before it sends anything shows little, unless all do.
    pub fn note_end(&mut self, is_complete: bool) -> bool {
        self.silent_failures += u32::from(!is_complete);
        let shows_all = is_complete || self.silent_failures >= MAX_SILENT_FAILURES;
        shows_all && !std::mem::replace(&mut self.has_ended, true)
    }

    /// Learns from a request of an item. Returns whether it is news. `is_first`: whether it begins a conversation.
    pub fn learn(&mut self, item: &ItemTexts, sent: &[&str], is_first: bool) -> bool {
        let mut is_news = !std::mem::replace(&mut self.lacks_tokens, true);
        let mut fits = false;
        for (field, text) in item.0.iter() {
            let form = if is_whole(text, sent) {
                Form::Whole
            } else if is_part(text, sent) {
                Form::Part
            } else {
                continue;
            };
            fits = true;
            let known = self.sent.get(field);
            if is_first && (known.is_none() || (known == Some(&Form::Whole) && form == Form::Part)) {
                self.sent.insert(field.clone(), form);
                is_news = true;
            }
        }
        if is_first && !fits {
            is_news |= !std::mem::replace(&mut self.lacks_texts, true);
        }
        is_news
    }
}

/// How well an item fits what is sent: in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fit {
    /// The length of its texts that are there as they usually are. A whole message counts more than a part of one, which may be there
    /// by chance.
    pub usual: usize,
    /// The length of all its texts that are there.
    pub all: usize,
    /// The number of its texts that are not.
    pub missing: Reverse<usize>,
}

impl Fit {
    pub fn of(shape: &RequestShape, item: &ItemTexts, sent: &[&str]) -> Self {
        let mut found: Vec<(&str, bool)> = Vec::new();
        let mut missing = 0;
        for (text, form) in shape.sent_texts(item) {
            let is_whole = is_whole(text, sent);
            if is_whole || is_part(text, sent) {
                found.push((text, is_whole || form == Some(Form::Part)));
            } else if form.is_some() {
                missing += 1;
            }
        }
        // A text within another one says nothing more.
        found.sort_by_key(|(text, is_usual)| Reverse((text.len(), *is_usual)));
        let mut distinct: Vec<(&str, bool)> = Vec::new();
        for (text, is_usual) in found {
            if !distinct.iter().any(|(longer, _)| longer.contains(text)) {
                distinct.push((text, is_usual));
            }
        }
        let sum = |is_counted: fn(bool) -> bool| {
            distinct.iter().filter(|(_, is_usual)| is_counted(*is_usual)).map(|(text, _)| text.len()).sum()
        };
        Self { usual: sum(|is_usual| is_usual), all: sum(|_| true), missing: Reverse(missing) }
    }
}

/// Whether a text attributes a request.
fn is_recognized((text, form): &(&str, Option<Form>)) -> bool {
    text.len() >= MIN_PART || *form == Some(Form::Whole)
}

/// Whether a text is a whole message.
pub fn is_whole(text: &str, sent: &[&str]) -> bool {
    sent.iter().any(|sent| sent.trim() == text)
}

/// Whether a text is a part of a message that is hardly there by chance.
fn is_part(text: &str, sent: &[&str]) -> bool {
    text.len() >= MIN_PART && sent.iter().any(|sent| sent.contains(text))
}

/// The texts of a conversation; all texts of a request in another form.
pub fn conversation(request: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    CONVERSATION.iter().filter_map(|field| request.get(field)).for_each(|value| texts(value, &mut found));
    if found.is_empty() {
        texts(request, &mut found);
    }
    found
}

/// Whether a request begins a conversation: no model has answered yet.
pub fn is_beginning(request: &Value) -> bool {
    let is_answer = |message: &Value| {
        let is_one_of =
            |field: &str, names: &[&str]| message[field].as_str().is_some_and(|it| names.contains(&it));
        is_one_of("role", &["assistant", "model", "tool", "function"])
            || is_one_of("type", &["function_call", "function_call_output", "reasoning"])
    };
    let messages = CONVERSATION.iter().filter_map(|field| request.get(field)?.as_array());
    !messages.flatten().any(is_answer)
}

/// All texts in a value.
fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(list) => list.iter().for_each(|value| texts(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn texts_of(texts: &[&str]) -> ItemTexts {
        ItemTexts(texts.iter().map(|text| ("input".to_owned(), (*text).to_owned())).collect())
    }

    fn fit(texts: &[&str], request: &Value) -> (usize, usize) {
        let Fit { usual, all, .. } =
            Fit::of(&RequestShape::default(), &texts_of(texts), &conversation(request));
        (usual, all)
    }

    #[test]
    fn a_whole_message_and_a_long_part_of_one_fit_an_item() {
        let request =
            json!({ "messages": [{ "content": " Rome " }, { "content": "Is it warm in Reykjavik?" }] });
        assert_eq!(fit(&["Rome"], &request), (4, 4), "spaces at the ends do not count");
        assert_eq!(fit(&["Reykjavik"], &request), (0, 9));
        assert_eq!(fit(&["warm"], &request), (0, 0), "a short part may be there by chance");
        assert_eq!(fit(&["Oslo"], &request), (0, 0));
        assert!(fit(&["Rome"], &request) > fit(&["Reykjavik"], &request));
    }

    #[test]
    fn only_what_is_said_counts_unless_the_form_is_not_known() {
        let request = json!({ "messages": ["Hi"], "tools": [{ "name": "Rome" }] });
        assert_eq!(fit(&["Rome"], &request), (0, 0));
        assert_eq!(fit(&["Rome"], &json!({ "city": ["Rome"] })), (4, 4));
    }

    fn item(value: Value) -> ItemTexts {
        let Value::Object(item) = value else { panic!("an item is an object") };
        ItemTexts::of(&item)
    }

    /// The shape of an experiment that has sent a message for an item, and nothing else.
    fn shape(item: &ItemTexts, message: &str) -> RequestShape {
        let mut shape = RequestShape { has_ended: true, ..RequestShape::default() };
        assert!(shape.learn(item, &[message], true));
        shape
    }

    #[test]
    fn items_with_the_same_text_are_confused() {
        let york = item(json!({ "input": "Weather in York?", "topic": "the weather" }));
        let leeds = item(json!({ "input": "Weather in Leeds?", "topic": "the weather" }));
        let other = item(json!({ "question": "Weather in York?", "facts": ["18 °C"] }));
        let unknown = RequestShape::default();
        assert!(
            unknown.confuses(&york, &unknown, &item(json!({ "input": "Hello there" }))),
            "nothing is known"
        );
        let asks = shape(&york, "Weather in York?");
        assert!(asks.confuses(&york, &unknown, &other));
        assert!(!asks.confuses(&york, &unknown, &leeds), "another text");
        assert!(asks.confuses(&york, &asks, &york));
        assert!(!asks.confuses(&york, &asks, &leeds), "the topic is not sent");
        assert!(asks.confuses(&york, &shape(&other, "Weather in York?"), &other));
        let exact = RequestShape { has_tokens: true, has_ended: true, ..RequestShape::default() };
        assert!(!exact.confuses(&york, &asks, &york) && !asks.confuses(&york, &exact, &york));
    }

    #[test]
    fn first_agents_may_send_anything() {
        let york = item(json!({ "input": "Weather in York?" }));
        let leeds = item(json!({ "input": "Weather in Leeds?" }));
        let asks = shape(&york, "Weather in York?");
        let begun = RequestShape { has_ended: false, ..asks.clone() };
        assert!(begun.confuses(&york, &begun, &leeds), "a later request may have no text");
        assert!(!begun.confuses(&york, &asks, &leeds), "then it is not of the other");
        let has_tokens = RequestShape { has_tokens: true, ..RequestShape::default() };
        assert!(has_tokens.confuses(&york, &begun, &leeds) && !has_tokens.confuses(&york, &asks, &leeds));
        let silent = RequestShape { has_ended: true, ..RequestShape::default() };
        for unsure in [has_tokens, silent] {
            assert!(unsure.confuses(&york, &asks, &york) && asks.confuses(&york, &unsure, &york));
        }
    }

    #[test]
    fn items_that_contain_others_are_told_apart() {
        let short = item(json!({ "input": "Weather in York?" }));
        let long = item(json!({ "input": "Weather in York? And in Leeds?" }));
        for message in ["Weather in York?", "Answer this: Weather in York? Be brief."] {
            let shape = shape(&short, message);
            assert!(!shape.confuses(&short, &shape, &long) && !shape.confuses(&long, &shape, &short));
        }
    }

    #[test]
    fn items_without_texts_are_confused() {
        let [one, two] = [1, 2].map(|number| item(json!({ "a": number, "note": "adds numbers" })));
        let sums = shape(&one, "What is 1 + 1?");
        assert!(sums.confuses(&one, &sums, &two));
        let asks = item(json!({ "input": "Weather in York?" }));
        let shape = shape(&asks, "Weather in York?");
        assert!(!shape.confuses(&asks, &sums, &one), "its requests have a text");
    }
}
