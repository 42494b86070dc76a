//! Failures that an agent calls transient are retried, counted and shown, and survive a kill.

use cobalt::report::Status;
use serde_json::{Value, json};

use crate::sandbox::{Sandbox, fixture};

fn item(id: &str, busy: usize) -> Value {
    json!({ "id": id, "answer": "a", "busy": busy })
}

#[test]
fn an_item_that_passed_only_after_a_retry_is_counted_and_one_that_stays_busy_fails() {
    let sandbox = Sandbox::with_items([item("good", 0), item("slow-start", 1), item("busy", 3)]);
    let finished = sandbox.program(fixture!("retried")).args(["boxed"]).run().code(101);
    finished.says(&[
        "  retried 2 items, 2 transient failures; 1 item passed only after a retry\n",
        "  error: the model is busy\n  attempts: 2, retried after: the model is busy\n",
        "  tokens  50, ",
    ]);
    let report = sandbox.report();
    let summary = &report.summary;
    assert_eq!((summary.retried_items, summary.retried_executions, summary.passed_after_retry), (2, 2, 1));
    assert_eq!((summary.passed_items, summary.failed_items, report.config.retries), (2, 1, 1));
    let attempts: Vec<_> =
        report.items.iter().map(|item| (item.status(), item.runs[0].retried.len())).collect();
    assert_eq!(attempts, [(Status::Ok, 0), (Status::Ok, 1), (Status::Error, 1)]);
    let file: Value = serde_json::from_slice(&std::fs::read(&sandbox.result_files()[0]).unwrap()).unwrap();
    let attempt = &file["items"][1]["retried"][0];
    assert_eq!(
        (&attempt["error"], &attempt["metadata"]["tokens"]["input"]),
        (&json!("the model is busy"), &json!(9))
    );
    assert_eq!(file["items"][0].get("retried"), None);
}

#[test]
fn a_transient_failure_is_found_in_every_error_type_with_causes() {
    let sandbox = Sandbox::with_items([item("slow-start", 1), item("busy", 2)]);
    for (experiment, error) in [("own", "no answer: the model is busy"), ("plain", "the model is busy")] {
        sandbox.program(fixture!("retried")).args([experiment]).run().code(101);
        let mut reports = sandbox.reports();
        let report = reports.iter_mut().find(|report| report.name == experiment).unwrap();
        assert_eq!((report.items[0].status(), report.items[1].error()), (Status::Ok, Some(error)));
        assert_eq!(report.items[1].runs[0].retried[0].error, error);
    }
}

#[test]
fn attempts_outlive_a_kill() {
    let mut open = item("open", 0);
    open["act"] = json!("hang-if-broken");
    let sandbox = Sandbox::with_items([item("slow-start", 1), item("busy", 3), open]);
    let program = || sandbox.program(fixture!("retried")).args(["boxed"]).env("E2E_RUNS", 2);
    let mut running = sandbox.start_until_kept(program().env("E2E_BROKEN", 1), 2);
    running.kill();
    running.finish();
    let id = sandbox.cut_short();
    sandbox.forget_calls();
    let refused = program().env("COBALT_RESUME", &id).env("E2E_RETRIES", 2).run().code(3);
    refused.stderr_has(&[&id, "has changed since", "start a new run"]);
    program().env("COBALT_RESUME", &id).run().code(101);
    assert_eq!(sandbox.starts().keys().collect::<Vec<_>>(), ["open"]);
    let report = sandbox.report();
    let attempts =
        |place: usize| report.items[place].runs.iter().map(|run| run.retried.len()).collect::<Vec<_>>();
    assert_eq!([attempts(0), attempts(1), attempts(2)], [[1, 1], [1, 1], [0, 0]]);
    let summary = &report.summary;
    assert_eq!((summary.retried_items, summary.retried_executions, summary.passed_after_retry), (2, 4, 1));
    assert_eq!(summary.total_tokens, Some(10 * (4 + 4 + 2)));
}
