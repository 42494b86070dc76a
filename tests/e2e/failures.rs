//! Agents and evaluators that fail, panic, hang or return odd values affect only their own item.

use std::time::Duration;

use cobalt::report::Status;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, fixture};

/// An item with a correct answer among failing ones.
fn beside_a_good_one(items: impl IntoIterator<Item = Value>) -> Sandbox {
    Sandbox::with_items([json!({ "id": "good", "answer": "a" })].into_iter().chain(items))
}

#[test]
fn an_agent_that_fails_or_panics_fails_its_item_only() {
    for (fixture, name) in [(fixture!("steered"), "steered"), (fixture!("plain"), "plain")] {
        let sandbox = beside_a_good_one([
            json!({ "id": "no", "answer": "a", "act": "fail" }),
            json!({ "id": "broke", "answer": "a", "act": "panic" }),
        ]);
        let finished = sandbox.program(fixture).run().code(101);
        assert_eq!(finished.cases_that("FAILED"), [format!("{name}::broke"), format!("{name}::no")]);
        finished.says(&["error: the agent said no", "error: panicked at tests/src/lib.rs:", "2 errors"]);
        let report = sandbox.report();
        assert_eq!((report.summary.successful_items, report.summary.failed_items), (1, 2));
        assert_eq!(report.summary.scores["exact"].count, 1, "failed items have no score");
        assert_eq!(report.items[1].status(), Status::Error);
    }
}

#[test]
fn an_async_agent_that_runs_out_of_time_is_cancelled_at_once() {
    let sandbox = beside_a_good_one([json!({ "id": "slow", "answer": "a", "act": "hang" })]);
    let finished = sandbox.program(fixture!("steered")).env("E2E_TIMEOUT_MS", 100).run().code(101);
    assert!(finished.took < Duration::from_secs(5));
    let finished = finished.says(&["timeout: timed out after 100ms", "1 timeout"]);
    assert!(!finished.stdout.contains("1 error"));
    assert!(sandbox.calls().contains(&"cancelled slow 0".to_owned()), "{:?}", sandbox.calls());
    let report = sandbox.report();
    assert_eq!(report.items[1].status(), Status::Timeout);
    assert_eq!((report.summary.timeouts, report.summary.failed_items), (1, 1));
    assert!((100.0..5000.0).contains(&report.items[1].latency_ms()));
}

#[test]
fn async_agents_that_block_their_threads_run_out_of_time_and_the_others_are_answered() {
    let blocking = (0..3).map(|n| json!({ "id": format!("stuck-{n}"), "answer": "a", "act": "block" }));
    let good = (0..20).map(|n| json!({ "id": format!("good-{n}"), "answer": "a" }));
    let sandbox = Sandbox::with_items(blocking.chain(good));
    let program = sandbox.program(fixture!("steered")).env("E2E_TIMEOUT_MS", 100).env("E2E_CONCURRENCY", 4);
    let finished = program.run().code(101);
    assert_eq!(finished.cases_that("FAILED").len(), 3);
    assert_eq!(finished.cases_that("ok").len(), 20);
}

#[test]
fn a_plain_agent_that_hangs_is_left_behind_and_its_slot_freed() {
    let hanging = (0..3).map(|n| json!({ "id": format!("stuck-{n}"), "answer": "a", "act": "hang" }));
    let good = (0..20).map(|n| json!({ "id": format!("good-{n}"), "answer": "a" }));
    let sandbox = Sandbox::with_items(hanging.chain(good));
    let program = sandbox.program(fixture!("plain")).env("E2E_TIMEOUT_MS", 100).env("E2E_CONCURRENCY", 2);
    let finished = program.run().code(101);
    assert!(finished.took < Duration::from_secs(5), "{finished}");
    assert_eq!(finished.cases_that("FAILED").len(), 3);
    assert_eq!(finished.cases_that("ok").len(), 20);
    finished.stderr_has(&["abandoned 3 calls of plain functions that timed out"]);
}

#[test]
fn only_so_many_threads_are_left_behind_and_the_rest_is_told_so() {
    let sandbox = Sandbox::with_items((0..200).map(|n| json!({ "id": n, "answer": "a", "act": "hang" })));
    let program = sandbox.program(fixture!("plain")).env("E2E_TIMEOUT_MS", 50).env("E2E_CONCURRENCY", 16);
    let finished = program.run().code(101);
    assert!(finished.took < Duration::from_secs(10), "{finished}");
    let report = sandbox.report();
    let refused =
        report.items.iter().filter(|item| item.error().unwrap().starts_with("not called: 64 threads"));
    let refused = refused.count();
    let timeouts = report.summary.timeouts;
    assert_eq!(refused + timeouts, 200);
    // On a busy machine some time out before they get a thread.
    let called = sandbox.starts().len();
    assert!(called <= timeouts, "{called} {timeouts}");
    // A call can start on its thread while its caller gives up, before the thread counts as abandoned.
    assert!((64..=64 + 16).contains(&called), "{called}");
    finished.stderr_has(&[&format!("abandoned {called} calls of plain functions that timed out")]);
}

#[test]
fn an_evaluator_that_gives_no_score_is_no_score_of_zero_and_fails_its_case() {
    let odd = ["nan", "panic", "refusal", "hang"];
    for (fixture, evaluator) in [(fixture!("steered"), "graded"), (fixture!("plain"), "weighed")] {
        let odd = odd.iter().map(|grade| json!({ "id": grade, "answer": "a", "grade": grade }));
        let sandbox = beside_a_good_one(
            odd.chain([json!({ "id": "above", "answer": "a", "grade": 1.5 })])
                .chain([json!({ "id": "below", "answer": "a", "grade": -0.1 })]),
        );
        let finished = sandbox.program(fixture).env("E2E_TIMEOUT_MS", 200).run().code(101);
        assert_eq!(finished.cases_that("FAILED").len(), 6);
        let finished = finished.says(&[
            &format!("{evaluator}: no score: the score is NaN; it must be a number from 0 to 1"),
            &format!("{evaluator}: no score: the score is 1.5;"),
            &format!("{evaluator}: no score: the score is -0.1;"),
            &format!("{evaluator}: no score: panicked at tests/src/lib.rs:"),
            &format!("{evaluator}: no score: the evaluator said refusal"),
            &format!("{evaluator}: no score: timed out after 200ms"),
            "6 scoring errors",
        ]);
        assert!(finished.took < Duration::from_secs(5), "{finished}");
        let summary = sandbox.report().summary;
        assert_eq!(summary.eval_errors, 6);
        assert_eq!((summary.scores[evaluator].count, summary.scores[evaluator].avg), (1, 1.0));
        assert_eq!((summary.scores["exact"].count, summary.scores["exact"].avg), (7, 1.0));
        assert_eq!(
            (summary.successful_items, summary.failed_items),
            (7, 0),
            "evaluator failures are not item failures"
        );
    }
}

#[test]
fn an_evaluation_error_fails_its_case_even_where_thresholds_decide() {
    let sandbox = beside_a_good_one([json!({ "id": "odd", "answer": "a", "grade": "nan" })]);
    let finished = sandbox.program(fixture!("steered")).env("E2E_LENIENT", 1).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["steered::odd"]);
}

#[test]
fn an_odd_output_costs_nobody_elses_work() {
    let acts = ["nan", "odd-keys", "huge", "control", "deep", "deeper", "abyss"];
    let odd = acts.iter().map(|act| json!({ "id": act, "answer": "a", "act": act }));
    let sandbox = beside_a_good_one(odd.chain([json!({ "id": "last", "answer": "a" })]));
    let finished = sandbox.program(fixture!("steered")).run().code(101);
    assert_eq!(finished.cases_that("ok"), ["steered::good", "steered::last"]);
    assert!(!finished.stdout.contains('\u{1b}'), "control characters do not reach the terminal");
    let finished = finished.says(&["the output cannot be serialized to JSON: key must be a string"]);
    assert!(finished.stdout.len() < 20_000, "a huge output is truncated for display");
    let report = sandbox.report();
    let item = |key: &str| report.items.iter().find(|item| item.key == key).unwrap().first_trial();
    let value = |key: &str| item(key).output.as_ref().unwrap().value().clone();
    assert_eq!(value("nan"), json!([null, null]));
    assert_eq!(value("huge").as_str().unwrap().len(), 5 << 20);
    assert_eq!(value("control"), json!("\u{0}\u{1b}[31mred\u{7f}\r\n\u{2028}\u{feff}"));
    assert!(value("deep").to_string().starts_with(&"[".repeat(100)));
    for act in ["deeper", "abyss"] {
        let error = item(act).error.as_deref().unwrap();
        assert!(error.contains("nested") && error.contains("levels"), "{act}: {error}");
    }
}

#[test]
fn an_item_too_deep_to_be_kept_is_refused_with_its_data_set() {
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let sandbox = Sandbox::new();
    sandbox.write("items.jsonl", &format!("{{\"input\": 1}}\n{{\"input\": {deep}}}\n"));
    let finished = sandbox.program(fixture!("steered")).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["steered::dataset"]);
    finished.says(&["items[1]", "nested", "levels"]);
}

#[test]
fn a_plain_agent_that_sleeps_does_not_starve_an_async_one() {
    let sandbox = Sandbox::new();
    sandbox.program(fixture!("neighbours")).run().code(0);
    let reports = sandbox.reports();
    let lively = reports.iter().find(|report| report.name == "lively").unwrap();
    let latency = lively.summary.latency.as_ref().unwrap();
    assert!(latency.p50 < 50.0, "a wait of 1 ms takes about 1 ms: {latency:?}");
    let sleepy = reports.iter().find(|report| report.name == "sleepy").unwrap();
    assert!(sleepy.summary.total_duration_ms < 9_000, "60 sleeps of 300 ms run in parallel");
}
