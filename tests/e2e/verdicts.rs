//! What passes and what fails.

use cobalt::report::RunVerdict;
use serde_json::json;

use crate::sandbox::{Sandbox, fixture, numbered};

/// One correct answer, one wrong answer, and one below the pass mark.
fn mixed() -> Sandbox {
    Sandbox::with_items([
        json!({ "id": "right", "answer": "a", "tokens": 10 }),
        json!({ "id": "wrong", "answer": "a", "says": "b", "tokens": 10 }),
        json!({ "id": "poor", "answer": "a", "grade": 0.49, "tokens": 10 }),
    ])
}

#[test]
fn without_thresholds_every_item_must_reach_every_pass_mark() {
    let sandbox = mixed();
    let finished = sandbox.program(fixture!("steered")).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["steered::poor", "steered::wrong"]);
    let finished = finished.says(&[
        "item wrong of `steered`\n  expected: \"a\"\n  output: \"b\"\n  exact: 0, below the pass mark of 0.5 \
         (expected \"a\", got \"b\")\n  graded: 1\n",
        "graded: 0.49, below the pass mark of 0.5",
    ]);
    assert_eq!(finished.cases_that("ok"), ["steered::right"]);
    let report = sandbox.report();
    assert!(!report.passed && report.ci_status.is_none());
    assert_eq!(report.summary.passed_items, 1);
}

#[test]
fn with_thresholds_low_scores_fail_no_item() {
    let sandbox = mixed();
    let finished = sandbox.program(fixture!("gated")).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["gated::thresholds::exact.pass_rate>=0.9"]);
    let report = sandbox.report();
    let status = report.ci_status.unwrap();
    assert!(!report.passed && !status.passed);
    assert_eq!((report.summary.passed_items, report.summary.low_items), (1, 2));
    let violations: Vec<_> =
        status.violations.iter().map(|v| (&*v.category, &*v.metric, v.expected)).collect();
    assert_eq!(violations, [("exact", "pass_rate", 0.9)]);
    assert!((status.violations[0].actual.unwrap() - 2.0 / 3.0).abs() < 1e-12);
}

#[test]
fn a_run_of_some_items_of_a_gated_experiment_is_not_evaluated() {
    let sandbox = mixed();
    let finished = sandbox.program(fixture!("gated")).args(["gated::wrong", "gated::poor"]).run().code(0);
    finished.says(&["gated: not evaluated, partial run", "2, 0 at pass marks, 2 below"]);
    let report = sandbox.report();
    assert_eq!((report.passed, report.verdict), (false, RunVerdict::NotEvaluated));
    assert!(report.items.iter().all(|item| !item.passed));
}

#[test]
fn a_run_of_some_items_of_a_strict_experiment_passes_or_fails() {
    let sandbox = mixed();
    sandbox.program(fixture!("steered")).args(["steered::right"]).run().code(0).says(&["steered: passed"]);
    assert_eq!(sandbox.report().verdict, RunVerdict::Passed);
    let sandbox = mixed();
    sandbox.program(fixture!("steered")).args(["steered::poor"]).run().code(101).says(&["steered: FAILED"]);
    assert_eq!(sandbox.report().verdict, RunVerdict::Failed);
}

#[test]
fn strict_overrides_thresholds_and_their_absence() {
    let sandbox = mixed();
    let strict = sandbox.program(fixture!("gated")).env("E2E_STRICT", 1).run().code(101);
    assert_eq!(
        strict.cases_that("FAILED"),
        ["gated::poor", "gated::thresholds::exact.pass_rate>=0.9", "gated::wrong"]
    );
    mixed().program(fixture!("steered")).env("E2E_LENIENT", 1).run().code(0);
}

#[test]
fn with_several_runs_one_bad_run_fails_its_item() {
    let sandbox = Sandbox::with_items([
        json!({ "id": "steady", "answer": "a", "grade": 0.5, "tokens": 10 }),
        json!({ "id": "shaky", "answer": "a", "act": "fail", "tokens": 10 }),
    ]);
    let finished = sandbox.program(fixture!("gated")).env("E2E_RUNS", 3).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["gated::shaky"]);
    finished.says(&["trials 1 to 3 of 3\n  error: the agent said no", "3 trials each"]);
    let report = sandbox.report();
    assert_eq!(report.items[0].runs.len(), 3);
    assert_eq!(report.summary.total_tokens, Some(3 * 15));
    let graded = &report.summary.scores["graded"];
    assert_eq!((graded.count, graded.avg), (3, 0.5));
    assert_eq!((graded.pass_at_k.len(), graded.pass_hat_k.len()), (3, 3));
}

#[test]
fn where_every_item_fails_every_threshold_fails_and_says_why() {
    let sandbox = Sandbox::with_items((0..3).map(|n| json!({ "id": n, "answer": "a", "act": "fail" })));
    let finished = sandbox.program(fixture!("gated")).run().code(101);
    assert_eq!(finished.cases_that("FAILED").len(), 3 + 4, "{finished}");
    assert_eq!(finished.stdout.matches("has nothing to measure: every item failed").count(), 2 * 4);
    let report = sandbox.report();
    let status = report.ci_status.unwrap();
    assert_eq!(status.violations.len(), 4);
    assert!(status.violations.iter().all(|violation| violation.actual.is_none()));
    assert!(report.summary.scores.is_empty(), "an evaluator without a score has no statistics");
}

#[test]
fn a_threshold_on_what_nobody_reported_fails() {
    let mut items = numbered(3, 0);
    items.iter_mut().for_each(|item| item["tokens"] = json!(null));
    let sandbox = Sandbox::with_items(items);
    let finished = sandbox.program(fixture!("gated")).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["gated::thresholds::tokens.total<=1000000"]);
    finished.says(&["`tokens.total <= 1000000` has nothing to measure"]);
}
