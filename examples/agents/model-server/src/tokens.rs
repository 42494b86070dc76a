//! Plausible token counts: about four characters per token, and some for each message.

use serde_json::Value;

use crate::conversation::{Answer, Conversation, Turn};

const PER_MESSAGE: u64 = 4;
/// The shortest prompt that is cached, and the step in which cached tokens are counted.
const CACHED_FROM: u64 = 1_024;
const CACHE_STEP: u64 = 128;

/// The token counts of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Usage {
    /// Includes the cached ones.
    pub(crate) input: u64,
    pub(crate) cached: u64,
    pub(crate) output: u64,
}

/// The tokens of a text.
pub(crate) fn count(text: &str) -> u64 {
    text.chars().count().div_ceil(4) as u64
}

pub(crate) fn usage(conversation: &Conversation, answer: &Answer) -> Usage {
    let call = |name: &str, arguments: &Value| count(name) + count(&arguments.to_string());
    let turns = conversation.turns.iter().map(|turn| {
        PER_MESSAGE
            + match turn {
                Turn::User(text) | Turn::Assistant(text) | Turn::Result { text, .. } => count(text),
                Turn::Call { name, arguments, .. } => call(name, arguments),
            }
    });
    let tools = conversation.tools.iter().map(|tool| PER_MESSAGE + call(&tool.name, &tool.parameters));
    let schema = conversation.schema.as_ref().map_or(0, |schema| count(&schema.to_string()));
    let input = count(&conversation.system) + turns.sum::<u64>() + tools.sum::<u64>() + schema;
    // The provider has seen the beginning of a prompt if there is an answer of the model in it.
    let seen = conversation.turns.iter().any(|turn| !matches!(turn, Turn::User(_)));
    let cached = if seen && input >= CACHED_FROM { input * 3 / 4 / CACHE_STEP * CACHE_STEP } else { 0 };
    let output = match answer {
        Answer::Text(text) => count(text),
        Answer::Calls(calls) => calls.iter().map(|(name, arguments)| 8 + call(name, arguments)).sum(),
    };
    Usage { input, cached, output }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_prompt_has_more_tokens_and_part_of_a_long_one_is_cached() {
        let usage = |length: usize, turn: Turn| {
            let turns = vec![Turn::User("x".repeat(length)), turn];
            usage(&Conversation { turns, ..Conversation::default() }, &Answer::Text("four".to_owned()))
        };
        let short = usage(40, Turn::Assistant(String::new()));
        assert_eq!(short, Usage { input: 18, cached: 0, output: 1 });
        let long = usage(8_000, Turn::Assistant(String::new()));
        assert_eq!((long.input, long.cached), (2_008, 1_408));
        assert_eq!(usage(8_000, Turn::User(String::new())).cached, 0);
    }
}
