//! Results for tests: reports as in result files.

use cobalt_core::report::Report;
use serde_json::{Value, json};

use crate::results::{FinishedExperiment, Results};

/// The results of runs with these reports.
pub fn results(reports: Vec<Value>) -> Results {
    Results::of(reports.into_iter().map(finished).collect())
}

pub fn finished(report: Value) -> FinishedExperiment {
    let report: Report = serde_json::from_value(report).unwrap();
    FinishedExperiment { report, path: None, without_items: None }
}

/// The report of a run of `desk` with these items, which the evaluator `right` scored.
pub fn report(items: &[Value]) -> Value {
    json!({
        "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.123Z", "tags": ["smoke", "v1"],
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"], "passMarks": [0.5] },
        "summary": { "totalItems": items.len(), "totalDurationMs": 1500 }, "passed": true, "items": items,
    })
}

/// An item with an output and a score.
pub fn item(index: usize, output: &Value, score: f64) -> Value {
    json!({
        "index": index, "key": format!("k{index}"), "status": "ok", "passed": score >= 0.5, "latencyMs": 250.0,
        "input": { "id": format!("item {index}"), "input": "what now?", "expectedOutput": 4 },
        "output": { "output": output }, "evaluations": { "right": { "score": score } },
    })
}

/// An item without an output.
pub fn broken(index: usize, status: &str, error: &str) -> Value {
    json!({
        "index": index, "key": format!("k{index}"), "status": status, "passed": false, "latencyMs": 250.0,
        "input": { "input": "what now?" }, "output": { "output": "" }, "evaluations": {}, "error": error,
    })
}

/// The report of a run of two items: one was replayed, the other diverged from its recording.
pub fn replayed() -> Value {
    let recorded = "2026-01-21T09:00:00.000Z";
    let mut items = [item(0, &json!("a"), 1.0), item(1, &json!("b"), 1.0)];
    items[0]["traffic"] = json!({ "replayed": 2, "recordedAt": recorded });
    items[1]["traffic"] = json!({
        "replayed": 1, "live": 3, "recordedAt": recorded, "liveCost": 0.03, "diverged": "`messages[1]`: now <b>`x`</b>",
    });
    let mut report = report(&items);
    report["summary"]["traffic"] = json!({
        "replayedItems": 1, "liveItems": 1, "divergedItems": 1, "replayed": 3, "live": 3, "recordedAt": recorded,
        "liveCost": 0.03, "unattributed": 2,
    });
    report["summary"]["latency"] =
        json!({ "min": 250.0, "max": 250.0, "p50": 250.0, "p95": 250.0, "p99": 250.0 });
    report
}

/// The report of a run of two items, of which the first passed in its third attempt.
pub fn retried() -> Value {
    let mut items = [item(0, &json!("a"), 1.0), item(1, &json!("b"), 1.0)];
    let attempt = json!({ "error": "=busy <b>", "latencyMs": 1.5 });
    items[0]["retried"] = json!([attempt, attempt]);
    let mut report = report(&items);
    for (field, number) in [("retriedItems", 1), ("retriedExecutions", 2), ("passedAfterRetry", 1)] {
        report["summary"][field] = number.into();
    }
    report
}
