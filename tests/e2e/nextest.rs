//! With `cargo nextest`, which starts a process per test case, an experiment is one test case.

use serde_json::json;

use crate::sandbox::{Program, Sandbox, fixture, numbered};

fn attempt(sandbox: &Sandbox, number: u32) -> Program {
    sandbox
        .program(fixture!("gated"))
        .env("NEXTEST", 1)
        .env("NEXTEST_EXECUTION_MODE", "process-per-test")
        .env("NEXTEST_RUN_ID", "00000000-1111-2222-3333-444444444444")
        .env("NEXTEST_BINARY_ID", "package::gated")
        .env("NEXTEST_ATTEMPT", number)
        .args(["--exact", "gated", "--nocapture"])
}

#[test]
fn an_experiment_is_one_case_and_needs_no_data_to_be_listed() {
    let sandbox = Sandbox::new();
    let list = |args: &[&str]| {
        let program = sandbox.program(fixture!("several")).env("NEXTEST_EXECUTION_MODE", "process-per-test");
        program.args(args.iter().copied()).run().code(0).stdout
    };
    let all = list(&["--list", "--format", "terse"]);
    assert_eq!(all, "desk: test\nsums: test\nÜbersetzung-質問: test\n");
    assert_eq!(list(&["--list", "--format", "terse", "--ignored"]), "");
}

#[test]
fn a_case_is_its_experiment_alone() {
    let sandbox = Sandbox::new();
    let program = sandbox.program(fixture!("several")).env("NEXTEST_EXECUTION_MODE", "process-per-test");
    let finished = program.args(["--exact", "sums", "--nocapture"]).run().code(0);
    assert_eq!(finished.cases_that("ok"), ["sums"]);
    assert_eq!(sandbox.report().name, "sums");
    assert!(!sandbox.report().partial);
}

#[test]
fn a_retry_runs_again_only_what_failed_with_an_error_and_there_is_one_result() {
    let mut items = numbered(10, 1);
    items[3]["act"] = json!("fail-if-broken");
    items[7]["act"] = json!("fail-if-broken");
    let sandbox = Sandbox::with_items(items);
    let finished = attempt(&sandbox, 1).env("E2E_BROKEN", 1).run().code(101);
    finished.says(&["item item-3 of `gated`", "error: the network is broken", "item item-7 of `gated`"]);
    let first = sandbox.report();
    assert_eq!(first.summary.failed_items, 2);

    sandbox.forget_calls();
    attempt(&sandbox, 2).run().code(0);
    assert_eq!(sandbox.starts().into_keys().collect::<Vec<_>>(), ["item-3", "item-7"]);
    let second = sandbox.report();
    assert_eq!((&second.id, second.timestamp), (&first.id, first.timestamp));
    assert!(second.passed && second.items.len() == 10);
    assert!(second.summary.total_duration_ms >= first.summary.total_duration_ms);
    assert!(sandbox.journals().is_empty());
}

#[test]
fn a_retry_of_an_attempt_that_was_killed_goes_on_with_it() {
    let mut items = numbered(10, 1);
    items[9]["act"] = json!("hang-if-broken");
    let sandbox = Sandbox::with_items(items);
    let mut running = sandbox.start_until_kept(attempt(&sandbox, 1).env("E2E_BROKEN", 1), 9);
    running.kill();
    running.finish();
    sandbox.forget_calls();
    attempt(&sandbox, 2).run().code(0);
    assert_eq!(sandbox.starts().into_keys().collect::<Vec<_>>(), ["item-9"]);
    assert_eq!(sandbox.report().items.len(), 10);
}

#[test]
fn low_scores_are_not_tried_again() {
    let mut items = numbered(4, 1);
    items.iter_mut().for_each(|item| item["says"] = json!("wrong"));
    let sandbox = Sandbox::with_items(items);
    attempt(&sandbox, 1).run().code(101);
    sandbox.forget_calls();
    attempt(&sandbox, 2).run().code(101).says(&["exact.pass_rate"]);
    assert_eq!(sandbox.calls(), [""; 0]);
    assert_eq!(sandbox.reports().len(), 1);
}

#[test]
fn a_run_that_was_cut_short_is_resumed_here_too() {
    let mut items = numbered(6, 0);
    items[5]["act"] = json!("hang-if-broken");
    let sandbox = Sandbox::with_items(items);
    let program = sandbox.program(fixture!("gated")).env("E2E_BROKEN", 1);
    let mut running = sandbox.start_until_kept(program, 5);
    running.kill();
    running.finish();
    let id = sandbox.cut_short();
    sandbox.forget_calls();
    attempt(&sandbox, 1).env("COBALT_RESUME", &id).run().code(0);
    assert_eq!(sandbox.starts().into_keys().collect::<Vec<_>>(), ["item-5"]);
    assert_eq!(sandbox.report().id, id);
}
