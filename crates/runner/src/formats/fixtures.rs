//! Results for tests: reports as in result files.

use std::path::Path;

use cobalt_core::prices::PriceTable;
use cobalt_core::report::Report;
use cobalt_core::report::ranking::Ranking;
use cobalt_core::store::{Layout, PartsWriter, ReportFile};
use serde_json::{Value, json};

use crate::results::{FinishedExperiment, Results};

/// The results of runs with these reports.
pub fn results(reports: Vec<Value>) -> Results {
    Results::of(reports.into_iter().map(finished).collect())
}

pub fn finished(report: Value) -> FinishedExperiment {
    let report: Report = serde_json::from_value(report).unwrap();
    FinishedExperiment::of_report(report, None)
}

/// The report of a run of `desk` with these items, which the evaluator `right` scored.
pub fn report(items: &[Value]) -> Value {
    json!({
        "schema": 1, "id": "0123456789ab", "name": "desk", "timestamp": "2026-02-05T14:30:00.123Z", "tags": ["smoke", "v1"],
        "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["right"], "passMarks": [0.5] },
        "summary": { "totalItems": items.len(), "totalDurationMs": 1500 }, "passed": true, "items": items,
    })
}

/// A run of 2,500 items, whole and in parts: of ten items, one is in error, five are below the pass mark, and four passed. The last
/// items have the lowest scores.
pub fn large_in_both_forms(folder: &Path) -> [FinishedExperiment; 2] {
    let item = |index: usize| match index % 10 {
        0 => broken(index, "error", "no answer"),
        1..=5 => item(index, &json!("a"), 0.5 - 0.0001 * index as f64),
        _ => item(index, &json!("a"), 1.0),
    };
    let items: Vec<_> = (0..2_500).map(item).collect();
    let report: Report = serde_json::from_value(report(&items)).unwrap();
    let layout =
        Layout::new(folder.into(), folder.join("results"), folder.join("index"), folder.join("cache"));
    let path = PartsWriter::write_report(&layout, &report, &PriceTable::default()).unwrap();
    [ReportFile::of_report(&path, report), ReportFile::open(&path).unwrap()]
        .map(|file| FinishedExperiment::of(file).unwrap())
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

/// The report of a run of two items, of which the first is a conversation with a simulated user that failed in its second turn.
pub fn conversation() -> Value {
    let mut items = [broken(0, "error", "no seats"), item(1, &json!("b"), 1.0)];
    items[0]["input"]["id"] = json!("item 0");
    items[0]["transcript"] = json!({
        "turns": [
            {
                "message": "Hello <b>", "reply": "Where to?", "latencyMs": 420, "tokens": 1234, "cost": 0.0012, "modelCalls": 2,
                "toolCalls": ["seats"],
                "checks": [{ "expected": "contains \"Friday\"", "passed": false }, { "expected": "calls seats", "passed": true }],
            },
            { "message": "York", "startMs": 500, "latencyMs": 5, "error": "no seats" },
        ],
        "end": "error", "simulated": true, "unchecked": "no key",
        "mistakes": [{ "turn": 2, "kind": "told-answer", "reason": "it named the city" }],
        "user": { "models": ["gpt-4o"], "calls": 3, "cached": 0, "tokens": { "input": 900, "output": 100 }, "cost": 0.25 },
    });
    let mut report = report(&items);
    report["summary"]["simulatedUsers"] = items[0]["transcript"]["user"].clone();
    report
}

/// The report of a run of an item whose agent changed a file of its workspace, below its pass mark.
pub fn with_workspace() -> Value {
    let mut items = [item(0, &json!("done"), 0.0)];
    items[0]["workspace"] = json!({
        "files": [{ "path": "src/<b>.rs", "change": "changed", "addedLines": 1, "removedLines": 1, "bytes": 12 }],
        "addedLines": 1, "removedLines": 1, "kept": ".cobalt/workspaces/0123456789ab/k0-1",
        "patch": "diff --git a/src/<b>.rs b/src/<b>.rs\n--- a/src/<b>.rs\n+++ b/src/<b>.rs\n@@ -1 +1 @@\n-a - b\n+a </script> b\n",
    });
    report(&items)
}

/// A ranking of two variants of `desk` with these labels. The first is cheaper; the second is better in `right`.
pub fn ranking(labels: &[&str; 2]) -> Ranking {
    let run = |place: usize, mean: f64, cost: f64| {
        json!({
            "label": labels[place], "verdict": "passed", "items": 200, "passedItems": 150, "failedItems": 2, "isOnParetoFront": true,
            "run": { "id": format!("{place:012}"), "name": "desk", "timestamp": "2026-02-05T14:30:00.123Z", "items": 200, "runs": 1 },
            "scores": [{
                "evaluator": "right", "mean": mean, "ci95": { "low": mean - 0.05, "high": mean + 0.05 },
                "rank": { "best": 2 - place, "worst": 2 - place },
            }],
            "meanScore": mean, "latencyMs": 812.0, "costPer1000": cost, "tokensPerItem": 1210.0,
        })
    };
    let difference = json!({
        "name": "right", "quantity": "score", "base": 0.75, "other": 0.875, "difference": 0.125,
        "ci95": { "low": 0.0625, "high": 0.1875 }, "pValue": 0.002, "pAdjusted": 0.002, "test": "mcnemar",
        "smallestDetectable": 0.07, "verdict": "better", "settledBy": null, "items": 200, "clusters": 200, "better": 26, "worse": 1,
        "equal": 173, "unmeasured": 0,
    });
    serde_json::from_value(json!({
        "experiment": "desk", "group": "0123456789ab", "runs": [run(0, 0.75, 0.42), run(1, 0.875, 12.5)],
        "pairs": [{ "base": 0, "other": 1, "difference": difference }],
        "recommendation": {
            "best": 1, "cheapest": 1,
            "text": format!("`{}` is best: every other is worse beyond noise; mean score 0.875, agent cost $12.50 per 1,000 items", labels[1]),
        },
    }))
    .unwrap()
}
