//! Conversations in test binaries started directly: several trials, a kill in the middle, shards and variants.

use std::collections::BTreeSet;

use cobalt::report::{ConversationEnd, Status, Transcript};
use serde_json::{Value, json};

use crate::model::Model;
use crate::sandbox::{Program, Sandbox, fixture};

/// Conversations of three turns, whose replies must list all that was said; this one acts in its second turn.
fn conversations(number: usize, acting: usize, act: &str) -> Vec<Value> {
    let conversation = |n: usize| {
        let turns =
            json!([format!("one {n}"), "two", { "say": "three", "expect": format!("one {n} two three.") }]);
        let act = if n == acting { json!(act) } else { Value::Null };
        json!({ "id": format!("item-{n}"), "turns": turns, "act": act, "answer": "-" })
    };
    (0..number).map(conversation).collect()
}

fn chatted(sandbox: &Sandbox) -> Program {
    sandbox.program(fixture!("chatted")).args(["chatted"])
}

fn last_reply(transcript: &Transcript) -> &str {
    transcript.turns.last().unwrap().reply.as_deref().unwrap_or("-")
}

#[test]
fn each_item_has_its_transcript_in_every_trial() {
    let sandbox = Sandbox::with_items(conversations(4, 9, ""));
    let finished = chatted(&sandbox).env("E2E_RUNS", 2).run().code(0);
    assert_eq!(finished.cases_that("ok").len(), 4);
    for item in sandbox.report().items {
        assert_eq!(item.runs.len(), 2);
        for run in item.runs {
            let transcript = run.transcript.unwrap();
            assert_eq!(last_reply(&transcript), format!("one {} two three.", item.index));
            assert_eq!((transcript.end, transcript.turns.len()), (ConversationEnd::ScriptEnd, 3));
        }
    }
}

#[test]
fn a_failure_in_the_second_turn_keeps_the_first() {
    let sandbox = Sandbox::with_items(conversations(2, 1, "fail"));
    chatted(&sandbox).run().code(101);
    let report = sandbox.report();
    let failed = report.items[1].runs[0].transcript.as_deref().unwrap();
    assert_eq!(
        (report.items[1].status(), failed.end, failed.turns.len()),
        (Status::Error, ConversationEnd::Error, 2)
    );
    assert_eq!(failed.turns[0].reply.as_deref(), Some("one 1."));
    assert_eq!(failed.turns[1].error.as_deref(), report.items[1].error());
}

#[test]
fn a_resumed_run_talks_again_only_where_it_was_killed() {
    let sandbox = Sandbox::with_items(conversations(4, 2, "hang-if-broken"));
    let mut running = sandbox.start_until_kept(chatted(&sandbox).env("E2E_BROKEN", 1), 3);
    running.kill();
    running.finish();
    let id = sandbox.cut_short();
    sandbox.forget_calls();
    chatted(&sandbox).env("COBALT_RESUME", &id).run().code(0);
    assert_eq!(sandbox.starts().keys().collect::<Vec<_>>(), ["item-2"]);
    for item in sandbox.report().items {
        let transcript = item.runs[0].transcript.as_deref().unwrap();
        assert_eq!(last_reply(transcript), format!("one {} two three.", item.index));
    }
}

#[test]
fn a_conversation_is_scored_again_with_a_corrected_label_but_no_other_user() {
    let mut items = conversations(3, 9, "");
    let sandbox = Sandbox::with_items(items.clone());
    chatted(&sandbox).run().code(0);
    let id = sandbox.report().id;
    items[0]["answer"] = json!("corrected");
    items[1]["turns"][2]["say"] = json!("four");
    sandbox.write_items(items);
    let scored = chatted(&sandbox).env("COBALT_SCORE", &id).run().code(0);
    scored.stderr_has(&[
        "1 item has changed except for its script or simulated user: evaluators saw it as it is in the dataset now",
        "1 item has a different script or simulated user in the dataset now: evaluators saw it as stored",
    ]);
    let reports = sandbox.reports();
    let rescored = reports.iter().find(|report| report.rescored.is_some()).unwrap();
    let labels: Vec<_> = rescored.items.iter().map(|item| item.input["answer"].as_str().unwrap()).collect();
    assert_eq!(labels, ["corrected", "-", "-"]);
}

#[test]
fn shards_share_the_conversations() {
    let mut keys = BTreeSet::new();
    for shard in ["1/2", "2/2"] {
        let sandbox = Sandbox::with_items(conversations(8, 9, ""));
        chatted(&sandbox).env("COBALT_SHARD", shard).run().code(0);
        for item in sandbox.report().items {
            assert_eq!(item.runs[0].transcript.as_ref().unwrap().turns.len(), 3);
            assert!(keys.insert(item.key));
        }
    }
    assert_eq!(keys.len(), 8);
}

#[test]
fn a_turn_gets_the_settings_of_its_variant() {
    let sandbox = Sandbox::with_items(conversations(3, 9, ""));
    sandbox.program(fixture!("chatted")).args(["toned"]).env("E2E_TONES", 1).run().code(101);
    for report in sandbox.reports() {
        let end = if report.name.ends_with("calm") { '.' } else { '!' };
        for item in &report.items {
            assert!(
                last_reply(item.runs[0].transcript.as_deref().unwrap()).ends_with(end),
                "{}",
                report.name
            );
        }
        let expected = if end == '.' { 1.0 } else { 0.0 };
        assert_eq!(report.summary.scores["script"].avg, expected);
    }
}

#[test]
fn a_recorded_simulated_user_needs_no_model() {
    let item = |n: usize| json!({ "id": format!("item-{n}"), "goal": format!("goal {n}"), "maxTurns": 2, "answer": "-" });
    let sandbox = Sandbox::with_items([item(0), item(1)]);
    let simulated = || {
        sandbox
            .program(fixture!("chatted"))
            .args(["simulated"])
            .env("E2E_SIMULATED", 1)
            .env("NO_PROXY", "127.0.0.1")
    };
    let model = Model::start();
    let key = "sk-proj-9fK2mQx7Lp0ZbT4vWc8YhN3sRj6DgA1uEoIi5XkMnBqVtHyU";
    let live = simulated().env("OPENAI_BASE_URL", model.base_url()).env("OPENAI_API_KEY", key).run().code(0);
    live.says(&["users   6 calls, 240,060 tokens, user cost $"]);
    assert_eq!(model.asked(), 6, "two messages and one check per item");
    drop(model);
    let replayed = simulated().env("CI", "true").run().code(0);
    replayed.says(&["users   0 calls, 6 replayed, "]);
    for report in sandbox.reports() {
        let users = report.summary.simulated_users.unwrap();
        assert_eq!(users.tokens.total(), 240_060);
        for item in report.items {
            let transcript = item.runs[0].transcript.as_deref().unwrap();
            assert_eq!(
                (last_reply(transcript), transcript.end),
                ("Go on. Go on..", ConversationEnd::TurnLimit)
            );
            assert!(transcript.simulated && transcript.unchecked.is_none());
        }
    }
}

#[test]
fn a_missing_key_of_a_simulated_user_is_reported_before_anything_runs() {
    let sandbox = Sandbox::with_items([json!({ "id": "a", "goal": "x" })]);
    let refused = sandbox.program(fixture!("chatted")).args(["chatted"]).run().code(3);
    refused.stderr_has(&["OPENAI_API_KEY is unset or empty", "needed by experiment `chatted`"]);
    assert!(sandbox.calls().is_empty());
}

#[test]
fn an_item_that_is_not_a_conversation_is_refused_before_anything_runs() {
    let sandbox =
        Sandbox::with_items([json!({ "id": "a", "turns": ["x"] }), json!({ "id": "b", "input": "y" })]);
    let finished = chatted(&sandbox).run().code(101);
    finished.says(&["item `b` is not a valid conversation: it has neither `turns`"]);
    assert!(sandbox.calls().is_empty() && sandbox.result_files().is_empty());
}
