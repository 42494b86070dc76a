//! A conversation and its answer, independent of the API.

use serde_json::Value;

use crate::tokens::{self, Usage};

/// What a request contains.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conversation {
    pub(crate) model: String,
    /// All system and developer messages.
    pub(crate) system: String,
    pub(crate) turns: Vec<Turn>,
    pub(crate) tools: Vec<Tool>,
    /// The tool that must be called.
    pub(crate) forced_tool: Option<String>,
    /// The schema of a structured answer.
    pub(crate) schema: Option<Value>,
}

/// A tool that the model may call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) parameters: Value,
}

/// A step of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Turn {
    User(String),
    Assistant(String),
    Call { id: String, name: String, arguments: Value },
    Result { id: String, text: String },
}

/// A tool call with its result, if there is one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Done<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a Value,
    pub(crate) result: &'a str,
}

/// What the model answers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Answer {
    Text(String),
    /// Tools with their arguments, at least one.
    Calls(Vec<(String, Value)>),
}

/// An answer with everything that an API reports about it.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    /// Equal requests have equal IDs.
    pub(crate) id: String,
    pub(crate) model: String,
    pub(crate) answer: Answer,
    pub(crate) usage: Usage,
}

impl Conversation {
    /// The latest message of the user.
    pub(crate) fn question(&self) -> &str {
        let mut users = self.turns.iter().rev().filter_map(|turn| match turn {
            Turn::User(text) => Some(&**text),
            _ => None,
        });
        users.next().unwrap_or_default()
    }

    /// The tool calls since the latest message of the user that have a result, in order.
    pub(crate) fn done(&self) -> Vec<Done<'_>> {
        let start = self.turns.iter().rposition(|turn| matches!(turn, Turn::User(_)));
        let turns = &self.turns[start.unwrap_or(0)..];
        let result = |id: &str| {
            turns.iter().find_map(|turn| match turn {
                Turn::Result { id: of, text } if of == id => Some(&**text),
                _ => None,
            })
        };
        let done = turns.iter().filter_map(|turn| match turn {
            Turn::Call { id, name, arguments } => Some(Done { name, arguments, result: result(id)? }),
            _ => None,
        });
        done.collect()
    }

    pub(crate) fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    pub(crate) fn reply(&self, answer: Answer) -> Reply {
        let usage = tokens::usage(self, &answer);
        let id = format!("{:016x}", hash(&format!("{self:?}")));
        Reply { id, model: self.model.clone(), answer, usage }
    }
}

/// FNV-1a: the same on every machine and in every version of Rust.
pub(crate) fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_calls_since_the_latest_question_count() {
        let call = |id: &str| Turn::Call { id: id.to_owned(), name: "t".to_owned(), arguments: json!({}) };
        let result = |id: &str| Turn::Result { id: id.to_owned(), text: format!("of {id}") };
        let user = |text: &str| Turn::User(text.to_owned());
        let turns = vec![user("one"), call("a"), result("a"), user("two"), call("b"), call("c"), result("b")];
        let conversation = Conversation { turns, ..Conversation::default() };
        assert_eq!(conversation.question(), "two");
        let results: Vec<_> = conversation.done().iter().map(|done| done.result).collect();
        assert_eq!(results, ["of b"]);
    }

    #[test]
    fn equal_requests_have_equal_ids() {
        let reply = |model: &str| {
            let conversation = Conversation { model: model.to_owned(), ..Conversation::default() };
            conversation.reply(Answer::Text("hello".to_owned())).id
        };
        assert_eq!(reply("gpt-a"), reply("gpt-a"));
        assert_ne!(reply("gpt-a"), reply("gpt-b"));
    }
}
