//! The rules of the scripted model: which agent or judge it plays depends on the tools and the schema of the request.

mod judge;
mod research;
mod support;

use crate::conversation::{Answer, Conversation};

/// The answer to a request that no rules are for.
const UNKNOWN: &str = "I am a scripted model. I only know the example agents and their judges.";

pub(crate) fn answer(conversation: &Conversation) -> Answer {
    if let Some(schema) = &conversation.schema {
        return Answer::Text(judge::answer(conversation, schema).to_string());
    }
    if let Some(name) = &conversation.forced_tool {
        let tool = conversation.tools.iter().find(|tool| tool.name == *name);
        let judgement = tool.map(|tool| judge::answer(conversation, &tool.parameters));
        return Answer::Calls(vec![(name.clone(), judgement.unwrap_or_default())]);
    }
    if conversation.has_tool("find_order") {
        return support::answer(conversation);
    }
    if conversation.has_tool("search") && conversation.has_tool("read") {
        return research::answer(conversation);
    }
    Answer::Text(UNKNOWN.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_rules_gets_an_honest_answer() {
        assert_eq!(answer(&Conversation::default()), Answer::Text(UNKNOWN.to_owned()));
    }
}
