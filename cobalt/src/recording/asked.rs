//! Hashes of what was sent to models, so that two trials can be compared without their texts.

use cobalt_core::hash::sha256_hex;
use cobalt_core::recordings::{Body, RecordedRequest};
use cobalt_core::report::SETTINGS_HASH_PREFIX;
use serde_json::Value;

/// The length of a hash, in hexadecimal digits.
const HASH_LENGTH: usize = 10;
/// The maximum number of hashes per trial.
const MAX_HASHES: usize = 1_000;
/// The fields that hold a conversation: of OpenAI and Anthropic, of the Responses API, and of Gemini.
const CONVERSATION: [&str; 3] = ["messages", "input", "contents"];

/// The messages that a trial has sent, each once.
#[derive(Clone, Debug, Default)]
pub struct AskedMessages {
    hashes: Vec<String>,
    /// The hashes of each request.
    requests: Vec<Vec<String>>,
}

impl AskedMessages {
    /// Adds a request: the part of its conversation that no earlier request had. Fields to ignore do not count.
    pub fn add(&mut self, request: &RecordedRequest, ignore: &[String]) {
        let hashes = hashes(&request.without(ignore));
        let common = |earlier: &Vec<String>| {
            earlier.iter().zip(&hashes).take_while(|(one, other)| one == other).count()
        };
        let known = self.requests.iter().map(common).max().unwrap_or(0);
        let room = MAX_HASHES.saturating_sub(self.hashes.len());
        self.hashes.extend(hashes[known..].iter().take(room).cloned());
        // An earlier request that is a part of this one will never have more in common.
        self.requests.retain(|earlier| !hashes.starts_with(earlier));
        self.requests.push(hashes);
    }

    pub fn into_hashes(self) -> Vec<String> {
        self.hashes
    }
}

/// The hash of everything but the conversation, and one for each message.
fn hashes(request: &RecordedRequest) -> Vec<String> {
    let Some(Body::Json(Value::Object(fields))) = &request.body else {
        let body = request.body.as_ref().map(|body| serde_json::to_string(body).unwrap_or_default());
        return vec![hash(&format!("{} {}", request.path, body.unwrap_or_default()))];
    };
    let mut rest = fields.clone();
    let mut messages = Vec::new();
    for field in CONVERSATION {
        match rest.shift_remove(field) {
            Some(Value::Array(list)) => {
                messages.extend(list.iter().map(|message| hash(&message.to_string())))
            }
            Some(other) => messages.push(hash(&other.to_string())),
            None => {}
        }
    }
    let settings = hash(&format!("{} {}", request.path, Value::Object(rest)));
    messages.insert(0, format!("{SETTINGS_HASH_PREFIX}{settings}"));
    messages
}

fn hash(text: &str) -> String {
    let mut hash = sha256_hex(&[text]);
    hash.truncate(HASH_LENGTH);
    hash
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(requests: &[Value]) -> Vec<String> {
        asked_without(&[], requests)
    }

    fn asked_without(ignore: &[String], requests: &[Value]) -> Vec<String> {
        let mut asked = AskedMessages::default();
        for body in requests {
            let body = Body::of_request(body.to_string().as_bytes());
            let (method, path) = ("POST".to_owned(), "openai/chat/completions".to_owned());
            asked.add(&RecordedRequest { method, path, url: None, body }, ignore);
        }
        asked.into_hashes()
    }

    #[test]
    fn a_conversation_that_grows_counts_each_message_once() {
        let turn = |messages: &[&str]| json!({ "model": "m", "messages": messages });
        let one = asked(&[turn(&["a"]), turn(&["a", "b", "c"])]);
        assert_eq!(one.len(), 4);
        let other = asked(&[turn(&["a"]), turn(&["a", "b", "x"])]);
        assert_eq!((&one[..3], one[3] == other[3]), (&other[..3], false));
        assert_ne!(one[0], asked(&[json!({ "model": "n", "messages": ["a"] })])[0]);
        assert_eq!(asked(&[json!({ "input": "a" }), json!({ "input": "b" })]).len(), 3);
    }

    #[test]
    fn fields_that_are_not_compared_do_not_count() {
        let turn = |trace: u32| json!({ "metadata": { "trace": trace }, "messages": [{ "id": trace, "content": "a" }] });
        let ignore = ["metadata.trace".to_owned(), "messages.id".to_owned()];
        assert_eq!(asked_without(&ignore, &[turn(1)]), asked_without(&ignore, &[turn(2)]));
        assert_ne!(asked_without(&ignore[..1], &[turn(1)]), asked_without(&ignore[..1], &[turn(2)]));
    }
}
