//! The mistakes of a simulated user that are found without a model.

use std::sync::LazyLock;

use cobalt_core::report::{ConversationEnd, Transcript, UserMistake, UserMistakeKind};
use regex::Regex;

use super::script::{Goal, contains_words};

/// What a user says who is out of character.
static OUT_OF_CHARACTER: LazyLock<Regex> = LazyLock::new(|| {
    let phrases = [
        r"\bas an ai\b",
        r"\bas a(n ai|n? large)? language model\b",
        r"\bi(’|'| a)m an ai( (agent|assistant|chatbot|model))?\s*([.,;:!?]|$|(and|but|so)\b)",
        r"\bhow (can|may) i (help|assist) you\b",
    ];
    Regex::new(&format!("(?i){}", phrases.join("|"))).expect("the pattern is valid")
});

/// A message that repeats a reply is out of character from this number of letters; two people may both say goodbye.
const REPEATED_CHARS: usize = 16;

/// The mistakes in a conversation of a user with this goal.
pub fn plain_mistakes(transcript: &Transcript, goal: &Goal) -> Vec<UserMistake> {
    let mut mistakes = Vec::new();
    let mut said_by_agent = String::new();
    let mut last_reply: Option<&str> = None;
    for (turn, played) in (1..).zip(&transcript.turns) {
        let message = played.message.trim();
        let is_long = message.chars().count() >= REPEATED_CHARS;
        let repeats = is_long && last_reply.is_some_and(|reply| reply.trim() == message);
        if repeats || OUT_OF_CHARACTER.is_match(message) {
            let reason =
                if repeats { format!("repeats the agent's reply: {message}") } else { message.to_owned() };
            mistakes.push(UserMistake { turn, kind: UserMistakeKind::OutOfCharacter, reason });
        }
        let tells = |text: &&String| contains_words(message, text) && !contains_words(&said_by_agent, text);
        if let Some(told) = goal.withhold.iter().find(tells) {
            let reason = format!("said `{told}` before the agent did: {message}");
            mistakes.push(UserMistake { turn, kind: UserMistakeKind::ToldAnswer, reason });
        }
        last_reply = played.reply.as_deref();
        said_by_agent += last_reply.unwrap_or_default();
        said_by_agent.push('\n');
    }
    if transcript.end == ConversationEnd::GaveUp && transcript.turns.len() == 1 {
        let reason = "gave up after a single reply".to_owned();
        mistakes.push(UserMistake { turn: 1, kind: UserMistakeKind::EndedTooEarly, reason });
    }
    mistakes
}

#[cfg(test)]
mod tests {
    use cobalt_core::report::Turn;

    use super::*;

    fn goal(withhold: &[&str]) -> Goal {
        Goal {
            goal: "Find the cheapest train.".to_owned(),
            persona: None,
            first_message: None,
            max_turns: None,
            withhold: withhold.iter().map(|text| (*text).to_owned()).collect(),
        }
    }

    fn mistakes(turns: &[(&str, &str)], end: ConversationEnd) -> Vec<(usize, UserMistakeKind)> {
        let turn = |&(message, reply): &(&str, &str)| Turn {
            message: message.to_owned(),
            reply: Some(reply.to_owned()),
            ..Turn::default()
        };
        let transcript = Transcript { turns: turns.iter().map(turn).collect(), end, ..Transcript::default() };
        let found = plain_mistakes(&transcript, &goal(&["XK-7", "12"]));
        found.into_iter().map(|mistake| (mistake.turn, mistake.kind)).collect()
    }

    #[test]
    fn mistakes_are_found_without_a_model() {
        use UserMistakeKind::{EndedTooEarly, OutOfCharacter, ToldAnswer};
        let ended = ConversationEnd::GoalMet;
        let told_by_agent = [("A train to York.", "XK-7 is the cheapest."), ("XK-7 then.", "Booked.")];
        assert_eq!(mistakes(&told_by_agent, ended), []);
        assert_eq!(mistakes(&[("Is xk-7 the cheapest?", "Yes.")], ended), [(1, ToldAnswer)]);
        let helps = [("Hello", "Hi."), ("How can I help you?", "I am the agent.")];
        assert_eq!(mistakes(&helps, ended), [(2, OutOfCharacter)]);
        let repeats = [("Hello", "Where do you want to go?"), ("Where do you want to go?", "?")];
        assert_eq!(mistakes(&repeats, ended), [(2, OutOfCharacter)]);
        assert_eq!(mistakes(&[("As an AI, I have no body.", "?")], ended), [(1, OutOfCharacter)]);
        assert_eq!(mistakes(&[("Hello", "Where to?")], ConversationEnd::GaveUp), [(1, EndedTooEarly)]);
    }

    #[test]
    fn ordinary_sentences_are_no_mistakes() {
        let said = [
            "The hotel has an airport shuttle, right?",
            "It was an air conditioner.",
            "Which language model do you use?",
            "I'm an AI engineer from Leeds.",
            "We leave in 2012.",
        ];
        for message in said {
            assert_eq!(mistakes(&[(message, "Yes.")], ConversationEnd::GoalMet), [], "{message}");
        }
        assert_eq!(mistakes(&[("Hello", "Goodbye!"), ("Goodbye!", "Bye.")], ConversationEnd::GoalMet), []);
    }
}
