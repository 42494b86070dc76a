//! `COBALT_ONLY` in test binaries started directly: only items that failed last time, or that have changed.

use serde_json::{Value, json};

use crate::sandbox::{Finished, Program, Sandbox, fixture, numbered};

fn only(sandbox: &Sandbox, only: &str) -> Program {
    sandbox.program(fixture!("steered")).env("COBALT_ONLY", only).env("COBALT_SOURCES", "one")
}

/// The agent calls of a program that exits with this code.
fn called(sandbox: &Sandbox, program: Program, code: i32) -> (Vec<String>, Finished) {
    sandbox.forget_calls();
    let finished = program.run().code(code);
    (sandbox.starts().into_keys().collect(), finished)
}

/// Three passing items, and one that fails with an error while `E2E_BROKEN` is set.
fn items() -> Vec<Value> {
    let mut items = numbered(4, 0);
    items[3]["act"] = json!("fail-if-broken");
    items
}

#[test]
fn cases_of_items_that_passed_last_time_are_filtered_out() {
    let sandbox = Sandbox::with_items(items());
    called(&sandbox, only(&sandbox, "failed").env("E2E_BROKEN", 1), 101);
    let (items, finished) = called(&sandbox, only(&sandbox, "failed").env("E2E_BROKEN", 1), 101);
    assert_eq!(items, ["item-3"]);
    assert_eq!(finished.cases_that("FAILED"), ["steered::item-3"]);
    finished.says(&["3 filtered out"]).stderr_has(&["note: steered: items to run: 1 failed last time"]);
    assert_eq!(called(&sandbox, only(&sandbox, "failed"), 0).0, ["item-3"]);
    let (items, finished) = called(&sandbox, only(&sandbox, "failed"), 0);
    assert!(items.is_empty());
    finished
        .says(&["0 passed", "4 filtered out"])
        .stderr_has(&["note: steered: nothing to run: no item failed"]);
}

#[test]
fn other_runs_and_other_evaluators_are_a_change_and_unknown_sources_may_be_one() {
    let sandbox = Sandbox::with_items(items());
    assert_eq!(called(&sandbox, only(&sandbox, "changed"), 0).0.len(), 4);
    assert_eq!(called(&sandbox, only(&sandbox, "changed"), 0).0.len(), 0);
    for (variable, value, why) in [
        ("E2E_RUNS", "2", "4 last run with a different number of trials"),
        ("E2E_EXACT", "same", "4 scored before an evaluator changed"),
        ("COBALT_SOURCES", "two", "4 last run before the sources changed"),
        ("COBALT_SOURCES", "", "4 with unknown sources, which only `cargo cobalt run` tracks"),
    ] {
        let (items, finished) = called(&sandbox, only(&sandbox, "changed").env(variable, value), 0);
        assert_eq!(items.len(), 4, "{variable}={value}");
        finished.stderr_has(&[why]);
        assert_eq!(sandbox.reports().iter().filter(|report| report.partial).count(), 0);
        called(&sandbox, sandbox.program(fixture!("steered")).env("COBALT_SOURCES", "one"), 0);
        assert_eq!(
            called(&sandbox, only(&sandbox, "changed"), 0).0.len(),
            0,
            "unchanged after {variable} is removed"
        );
    }
}

/// A sandbox whose run over these items was killed after three were saved.
fn killed_after_three(items: Vec<Value>) -> Sandbox {
    let sandbox = Sandbox::with_items(items);
    let program = sandbox.program(fixture!("steered")).env("COBALT_SOURCES", "one").env("E2E_BROKEN", 1);
    let mut running = sandbox.start_until_kept(program, 3);
    running.kill();
    running.finish();
    sandbox
}

#[test]
fn what_was_done_before_the_sources_changed_is_not_taken_for_what_they_give() {
    let mut items = items();
    items[3]["act"] = json!("hang-if-broken");
    let sandbox = killed_after_three(items);
    let resumed = sandbox.program(fixture!("steered")).env("COBALT_RESUME", sandbox.cut_short());
    called(&sandbox, resumed.env("COBALT_SOURCES", "two"), 0);
    assert_eq!(sandbox.report().sources, None);
    let (items, finished) = called(&sandbox, only(&sandbox, "changed").env("COBALT_SOURCES", "two"), 0);
    assert_eq!(items.len(), 4);
    finished.stderr_has(&["4 last run with unknown sources"]);
}

#[test]
fn items_that_failed_in_an_interrupted_run_are_run_again() {
    let mut items = items();
    items[1]["act"] = json!("fail");
    items[3]["act"] = json!("hang-if-broken");
    let sandbox = killed_after_three(items);
    let (items, finished) = called(&sandbox, only(&sandbox, "failed"), 101);
    assert_eq!(items, ["item-1"], "its failure is only in the journal");
    finished.stderr_has(&["note: steered: items to run: 1 failed last time"]);
    let (items, finished) = called(&sandbox, only(&sandbox, "changed"), 101);
    assert_eq!(items, ["item-3"], "the journal has results of the others");
    finished.stderr_has(&[
        "1 without a result",
        "error: steered: still failing because of earlier results: 1 item in error in run `",
    ]);
}

#[test]
fn what_failed_and_is_not_run_again_fails_the_program() {
    let sandbox = Sandbox::with_items(items());
    called(&sandbox, only(&sandbox, "changed").env("E2E_BROKEN", 1), 101);
    let (items, finished) = called(&sandbox, only(&sandbox, "changed"), 101);
    assert!(items.is_empty());
    finished.stderr_has(&[
        "note: steered: nothing to run: nothing has changed since run `",
        "error: steered: still failing because of earlier results: 1 item in error in run `",
        "` (item-3)",
    ]);
    let (_, finished) = called(&sandbox, only(&sandbox, "changed").args(["steered::item-1"]), 0);
    assert!(
        !finished.stderr.contains("still failing"),
        "the item that was selected did not fail: {finished}"
    );
    called(&sandbox, only(&sandbox, "failed"), 0);
    called(&sandbox, only(&sandbox, "changed"), 0);
}

#[test]
fn a_missed_threshold_fails_the_program_until_all_items_are_run_and_each_attempt_of_nextest() {
    let sandbox = Sandbox::with_items(
        [json!({ "id": "a", "answer": "a", "act": "wrong-if-broken" })]
            .into_iter()
            .chain((0..3).map(|n| json!({ "id": format!("item-{n}"), "answer": "a" }))),
    );
    let evaluators = "evaluators = [{ type = \"exact-match\", name = \"exact\", field = \"answer\" }]\n";
    sandbox.write("cobalt.toml", &format!("{evaluators}thresholds = [\"exact.avg >= 0.9\"]\n"));
    let silent = || sandbox.program(fixture!("silent"));
    silent().env("E2E_BROKEN", 1).run().code(101);
    let why =
        "error: silent: still failing because of earlier results: `exact.avg>=0.9` did not pass in run `";
    for number in [1, 2] {
        let attempt = silent()
            .env("COBALT_ONLY", "failed")
            .env("NEXTEST_EXECUTION_MODE", "process-per-test")
            .env("NEXTEST_RUN_ID", "a")
            .env("NEXTEST_ATTEMPT", number)
            .args(["--exact", "silent", "--nocapture"]);
        attempt.run().code(101).stderr_has(&[why]);
    }
    silent().env("COBALT_ONLY", "failed").run().code(101).stderr_has(&["nothing to run", why]);
    silent().run().code(0);
    silent().env("COBALT_ONLY", "failed").run().code(0);
}

#[test]
fn a_result_that_cannot_be_read_is_an_error_and_nothing_is_run() {
    let sandbox = Sandbox::with_items(items());
    called(&sandbox, only(&sandbox, "changed"), 0);
    std::fs::write(&sandbox.result_files()[0], "{").unwrap();
    let (items, finished) = called(&sandbox, only(&sandbox, "changed"), 101);
    assert!(items.is_empty());
    assert_eq!(finished.cases_that("FAILED"), ["steered::results"]);
    finished.says(&["not a result file"]);
    called(&sandbox, only(&sandbox, "change"), 3).1.stderr_has(&["COBALT_ONLY", "`failed` or `changed`"]);
}

#[test]
fn under_nextest_an_attempt_runs_what_failed_and_the_next_one_what_failed_of_that() {
    let mut items = items();
    items[2]["says"] = json!("wrong");
    let sandbox = Sandbox::with_items(items);
    let attempt = |run: &str, number: u32| {
        only(&sandbox, "failed")
            .env("NEXTEST_EXECUTION_MODE", "process-per-test")
            .env("NEXTEST_RUN_ID", run)
            .env("NEXTEST_ATTEMPT", number)
            .args(["--exact", "steered", "--nocapture"])
    };
    assert_eq!(called(&sandbox, attempt("a", 1).env("E2E_BROKEN", 1), 101).0.len(), 4);
    assert_eq!(called(&sandbox, attempt("b", 1).env("E2E_BROKEN", 1), 101).0, ["item-2", "item-3"]);
    assert_eq!(called(&sandbox, attempt("b", 2), 101).0, ["item-3"]);
    let report = sandbox.reports().into_iter().find(|report| report.partial).unwrap();
    assert_eq!((report.items.len(), report.summary.failed_items), (2, 0));
}
