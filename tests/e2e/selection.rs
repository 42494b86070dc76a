//! Only selected items are run.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::sandbox::{Sandbox, fixture, numbered};

fn started(sandbox: &Sandbox) -> Vec<String> {
    sandbox.starts().into_keys().collect()
}

#[test]
fn a_filter_that_picks_some_items_runs_those_only_and_makes_the_run_partial() {
    let sandbox = Sandbox::with_items(numbered(12, 0));
    let finished = sandbox.program(fixture!("gated")).args(["item-1"]).run().code(0);
    assert_eq!(finished.cases_that("ok"), ["gated::item-1", "gated::item-10", "gated::item-11"]);
    assert_eq!(started(&sandbox), ["item-1", "item-10", "item-11"]);
    let finished =
        finished.says(&["3 passed; 0 failed; 0 ignored; 0 measured; 13 filtered out", "partial run"]);
    assert!(!finished.stdout.contains("met "), "thresholds are not evaluated for a partial run");
    let text = std::fs::read_to_string(&sandbox.result_files()[0]).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["partial"], true);
    assert!(json.get("ciStatus").is_none());
    assert_eq!(json["summary"]["totalItems"], 3);
}

#[test]
fn as_many_items_are_worked_on_at_a_time_as_was_said_and_their_runs_one_after_another() {
    for (fixture, concurrency) in [(fixture!("steered"), 3), (fixture!("plain"), 7)] {
        let sandbox = Sandbox::with_items(numbered(20, 50));
        let program = sandbox.program(fixture).env("E2E_CONCURRENCY", concurrency).env("E2E_RUNS", 2);
        program.run().code(0);
        let (mut working, mut most) = (BTreeSet::new(), 0);
        for call in sandbox.calls() {
            let (what, key) = call.rsplit_once(' ').unwrap().0.split_once(' ').unwrap();
            if what == "start" {
                assert!(working.insert(key.to_owned()), "two trials of {key} at the same time");
            } else {
                working.remove(key);
            }
            most = most.max(working.len());
        }
        assert_eq!(most, concurrency);
    }
}

#[test]
fn skipped_items_are_not_run() {
    let sandbox = Sandbox::with_items(numbered(5, 0));
    let args = ["--skip", "item-1", "--skip=item-3", "--skip", "thresholds"];
    sandbox.program(fixture!("gated")).args(args).run().code(0).says(&["3 passed", "6 filtered out"]);
    assert_eq!(started(&sandbox), ["item-0", "item-2", "item-4"]);
    assert!(sandbox.report().partial);
}

#[test]
fn an_exact_name_picks_one_item() {
    let sandbox = Sandbox::with_items(numbered(12, 0));
    let finished = sandbox.program(fixture!("gated")).args(["--exact", "gated::item-1"]).run().code(0);
    assert_eq!(finished.cases_that("ok"), ["gated::item-1"]);
    assert_eq!(started(&sandbox), ["item-1"]);
}

#[test]
fn a_picked_threshold_runs_all_items_and_shows_itself_only() {
    let sandbox = Sandbox::with_items(numbered(5, 0));
    let finished = sandbox.program(fixture!("gated")).args(["score.avg"]).run().code(0);
    assert_eq!(finished.cases_that("ok"), ["gated::thresholds::score.avg>=0.5"]);
    finished.says(&["1 passed", "8 filtered out"]);
    let report = sandbox.report();
    assert_eq!((report.partial, report.items.len()), (false, 5));
    assert!(report.ci_status.unwrap().passed);
}

#[test]
fn an_experiment_of_which_nothing_is_picked_is_not_run() {
    let sandbox = Sandbox::new();
    sandbox.program(fixture!("several")).args(["sums"]).run().code(0);
    assert_eq!(started(&sandbox), ["four", "two"]);
    assert_eq!(sandbox.report().name, "sums");
}

#[test]
fn a_filter_that_matches_nothing_leaves_no_trace() {
    let sandbox = Sandbox::new();
    let finished = sandbox.program(fixture!("several")).args(["no such case"]).run().code(0);
    assert_eq!(
        finished.masked(),
        "\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 8 filtered out; \
         finished in TIME\n"
    );
    assert!(!sandbox.path(".cobalt").exists());
}

#[test]
fn a_list_leaves_no_trace() {
    let sandbox = Sandbox::new();
    sandbox.program(fixture!("several")).args(["--list"]).run().code(0);
    assert!(!sandbox.path(".cobalt").exists());
    assert_eq!(sandbox.calls(), [""; 0]);
}
