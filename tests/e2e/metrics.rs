//! Metrics that agents record, and those of the whole run.

use serde_json::{Value, json};

use crate::sandbox::{Sandbox, fixture};

fn item(id: &str, answer: &str, says: &str) -> Value {
    json!({ "id": id, "answer": answer, "says": says, "cost": 0.5 })
}

fn sandbox() -> Sandbox {
    Sandbox::with_items([item("a", "spam", "spam"), item("b", "spam", "ham"), item("c", "ham", "ham")])
}

#[test]
fn metrics_and_summaries_are_saved_and_gated() {
    let sandbox = sandbox();
    let finished = sandbox.program(fixture!("metered")).run().code(0);
    let cases = finished.cases_that("ok");
    for case in [
        "metered::summaries::macro-f1",
        "metered::summaries::confusion",
        "metered::thresholds::metrics.macro_f1.value>=0.5",
        "metered::thresholds::metrics.length.max<=4",
    ] {
        assert!(cases.iter().any(|known| known == case), "{cases:?}");
    }
    let file: Value = serde_json::from_slice(&std::fs::read(&sandbox.result_files()[0]).unwrap()).unwrap();
    let summary = &file["summary"];
    assert_eq!(
        summary["tables"],
        json!({ "confusion": { "label": "expected", "columns": ["ham", "spam"], "rows": [["ham", [1.0, 0.0]], ["spam", [1.0, 1.0]]] } })
    );
    let f1 = &summary["runMetrics"]["macro_f1"];
    assert!((f1["value"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-12, "{f1}");
    assert_eq!((&f1["better"], f1["ci95"]["high"].is_number()), (&json!("higher"), true));
    let cost = &summary["metrics"]["cost"];
    assert_eq!((&cost["unit"], &cost["avg"], &cost["count"]), (&json!("EUR"), &json!(0.5), &json!(3)));
    assert_eq!(file["items"][0]["metrics"]["length"], json!({ "value": 4.0 }));
    assert_eq!(file["config"]["summaries"], json!(["macro f1", "confusion"]));
    assert_eq!(summary.get("summaryErrors"), None);
}

#[test]
fn a_summary_function_that_fails_fails_the_run() {
    for (act, why) in [("error", "no labels"), ("panic", "panicked at ")] {
        let sandbox = sandbox();
        let finished = sandbox.program(fixture!("metered")).env("E2E_SUMMARY", act).run().code(101);
        assert_eq!(finished.cases_that("FAILED"), ["metered::summaries::confusion"]);
        finished.says(&[
            "metered: FAILED, 1 summary function failed, 3 thresholds met",
            "`confusion` failed: ",
            why,
        ]);
        let report = sandbox.report();
        assert!(!report.passed && report.summary.tables.is_empty());
        assert!(report.summary.summary_errors["confusion"].contains(why));
        assert!(report.summary.run_metrics.contains_key("macro_f1"), "the other one is unaffected");
    }
}

#[test]
fn what_an_agent_recorded_before_it_failed_counts_and_what_is_no_number_is_an_error() {
    let mut endless = item("endless", "spam", "spam");
    endless["cost"] = json!("unknown");
    let sandbox = Sandbox::with_items([item("a", "spam", "spam"), item("silent", "ham", ""), endless]);
    let finished = sandbox.program(fixture!("metered")).run().code(101);
    assert_eq!(finished.cases_that("FAILED"), ["metered::endless", "metered::silent"]);
    finished.says(&["the metric `cost` is NaN, expected a finite number"]);
    let report = sandbox.report();
    let length = &report.summary.metrics["length"];
    assert_eq!((length.count, length.min, length.avg), (3, 0.0, 8.0 / 3.0));
    assert_eq!(report.summary.metrics["cost"].count, 2);
}

#[test]
fn a_run_of_some_items_is_summarized_over_those() {
    let sandbox = sandbox();
    sandbox.program(fixture!("metered")).args(["metered::a", "--exact"]).run().code(0);
    let report = sandbox.report();
    let f1 = &report.summary.run_metrics["macro_f1"];
    assert_eq!((report.partial, f1.value, f1.ci95), (true, 1.0, None));
    assert!(f1.note.as_ref().unwrap().starts_with("a single item"), "{f1:?}");
}
