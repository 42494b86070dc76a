//! `type = "transcript"`, and the keys for parts of outputs and turns of conversations, which all evaluators have.

use cobalt_core::report::ConversationEnd;

use super::Project;
use super::errors::refused;
use crate::{CombineTurns, Contains, Evaluator, EvaluatorExt as _, TranscriptCheck};

#[track_caller]
fn makes(table: &str, expected: &impl Evaluator) {
    let made = Project::with(&format!("[[evaluators]]\n{table}")).load().evaluators().unwrap();
    assert_eq!(made[0].fingerprint(), expected.fingerprint());
    assert_eq!((made[0].name(), made[0].pass_mark()), (expected.name(), expected.pass_mark()));
}

#[test]
fn every_check_is_made_with_its_settings() {
    let check = |keys: &str| format!("type = \"transcript\"\n{keys}");
    makes(
        &check("check = \"turns\"\nmin-turns = 2\nmax-turns = 6\npass-mark = 0.5"),
        &TranscriptCheck::turns("turns", 2..=6).pass_mark(0.5),
    );
    makes(&check("check = \"no-repeated-reply\""), &TranscriptCheck::no_repeated_reply("no-repeated-reply"));
    makes(&check("check = \"script\"\nname = \"s\""), &TranscriptCheck::script("s"));
    let ends = [ConversationEnd::GoalMet, ConversationEnd::HandedOver];
    makes(
        &check("check = \"ended\"\nends = [\"goal-met\", \"handed-over\"]"),
        &TranscriptCheck::ended("ended", ends),
    );
}

#[test]
fn every_evaluator_may_see_a_part_or_turns() {
    let york = || Contains::text("york", "York");
    let table = |keys: &str| format!("type = \"contains\"\nname = \"york\"\ntexts = [\"York\"]\n{keys}");
    makes(&table("part = \"output.answer\""), &york().part("answer"));
    makes(&table("turn = 2"), &york().turn(2));
    makes(&table("turn = \"last\""), &york().last_turn());
    makes(&table("each-turn = \"min\""), &york().each_turn(CombineTurns::Min));
}

#[test]
fn settings_that_cannot_work_are_told_where_they_stand() {
    let table = |keys: &str| {
        format!("[[evaluators]]\ntype = \"contains\"\nname = \"york\"\ntexts = [\"York\"]\n{keys}")
    };
    for (keys, problem) in [
        ("turn = 0", "5:8: expected the number of a turn, at least 1, or \"last\""),
        ("turn = \"first\"", "5:8: expected the number of a turn, at least 1, or \"last\""),
        ("each-turn = \"median\"", "5:13: unknown combination `median`; did you mean `mean`?"),
        (
            "turn = 1\npart = \"output.a\"",
            "1:1: `part` and `turn` both set what the evaluator sees; remove one",
        ),
    ] {
        assert_eq!(refused(&table(keys)), problem);
    }
    let transcript = |keys: &str| refused(&format!("[[evaluators]]\ntype = \"transcript\"\n{keys}"));
    for (keys, problem) in [
        (
            "check = \"turns\"",
            "1:1: the check `turns` needs a number of turns; add `min-turns` or `max-turns`",
        ),
        ("check = \"ended\"", "1:1: the check `ended` needs how the conversation may end; add `ends`"),
        (
            "check = \"script\"\nends = [\"goal-met\"]",
            "1:1: the check `script` does not use `ends`; remove it",
        ),
    ] {
        assert_eq!(transcript(keys), problem);
    }
}
