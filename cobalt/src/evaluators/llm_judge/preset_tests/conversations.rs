//! Presets for conversations.

use cobalt_core::item::Output;
use cobalt_core::report::{Transcript, Turn};
use serde_json::json;

use super::{chat, preset, prompt_of};
use crate::LlmJudge;
use crate::evaluators::tests::asked_by;
use crate::evaluators::{EvalContext, Evaluator, Score};
use crate::llm::test_server::TestServer;

fn turn(message: &str, reply: &str) -> Turn {
    Turn { message: message.to_owned(), reply: Some(reply.to_owned()), ..Turn::default() }
}

fn context() -> EvalContext {
    let turns = vec![turn("A train to York.", "Which day?"), turn("Friday!", "To where?")];
    EvalContext::new(crate::item! { "goal": "a train to York" }, Output::new("To where?"))
        .with_transcript(Transcript { turns, ..Transcript::default() })
}

#[test]
fn a_conversation_is_shown_with_its_turns() {
    let server = TestServer::script([chat(&json!({ "reason": "not booked", "score": 0.25 }))]);
    let judge = preset(LlmJudge::goal_reached("reached"), &server);
    let score = asked_by(&judge, &context(), "").0.unwrap();
    assert_eq!(score, Score::new(0.25).reason("not booked"));
    let prompt = prompt_of(&server);
    assert!(prompt.contains("<goal>\na train to York\n</goal>"), "{prompt}");
    assert!(prompt.contains("[turn 2]\nUser: Friday!\nAgent: To where?"), "{prompt}");
}

#[test]
fn the_score_is_the_share_of_turns_or_facts_that_are_as_they_should_be() {
    let entry = |noun: &str, text: &str, verdict: &str| json!({ noun: text, "reason": "as said", "verdict": verdict });
    let two = |noun: &str, good: &str, bad: &str| [entry(noun, "a", good), entry(noun, "b", bad)];
    for (judge, field, entries, reason) in [
        (
            LlmJudge::stays_in_role("p"),
            "replies",
            two("answer", "in_role", "out_of_role"),
            "1 of 2 answers in the role",
        ),
        (
            LlmJudge::remembers("p"),
            "facts",
            two("fact", "remembered", "forgotten"),
            "1 of 2 facts remembered",
        ),
        (
            LlmJudge::answers_each_turn("p"),
            "messages",
            two("message", "answered", "not_answered"),
            "1 of 2 messages answered",
        ),
        (
            LlmJudge::user_frustration("p"),
            "messages",
            two("message", "calm", "frustrated"),
            "1 of 2 messages not frustrated",
        ),
    ] {
        let server = TestServer::script([chat(&json!({ field: entries }))]);
        let score = asked_by(&preset(judge, &server), &context(), "").0.unwrap().into_evaluation();
        assert_eq!(score.score, Some(0.5));
        assert!(score.reason.as_ref().unwrap().starts_with(reason), "{score:?}");
    }
    assert_eq!(Evaluator::pass_mark(&LlmJudge::user_frustration("p")), 1.0);
}

#[test]
fn a_prompt_may_show_the_conversation_or_one_message() {
    for (prompt, expected) in [
        ("Polite?\n{{messages}}", "Polite?\n[turn 1]\nUser: A train to York.\nAgent: Which day?\n\n[turn 2]"),
        ("Polite?\n{{messages[1].content}}", "Polite?\nWhich day?"),
    ] {
        let server =
            TestServer::script([chat(&json!({ "chainOfThought": "x", "reason": "r", "verdict": true }))]);
        asked_by(&preset(LlmJudge::new("p", prompt), &server), &context(), "").0.unwrap();
        assert!(prompt_of(&server).starts_with(expected), "{}", prompt_of(&server));
    }
    let both = "{{messages[2].content}} {{messages}}";
    let server =
        TestServer::script([chat(&json!({ "chainOfThought": "x", "reason": "r", "verdict": true }))]);
    asked_by(&preset(LlmJudge::new("p", both), &server), &context(), "").0.unwrap();
    assert!(prompt_of(&server).starts_with("Friday! [turn 1]\nUser: A train"), "{}", prompt_of(&server));
    let without = EvalContext::new(crate::Item::new(), Output::new("x"));
    let error = asked_by(&LlmJudge::new("p", "{{messages}}"), &without, "").0.unwrap_err();
    assert!(error.contains("the agent does not take turns"), "{error}");
    let own = EvalContext::new(crate::item! { "messages": "of the item" }, Output::new("x"));
    let server =
        TestServer::script([chat(&json!({ "chainOfThought": "x", "reason": "r", "verdict": true }))]);
    asked_by(&preset(LlmJudge::new("p", "{{messages}} {{output}}"), &server), &own, "").0.unwrap();
    assert_eq!(prompt_of(&server), "of the item x");
}
