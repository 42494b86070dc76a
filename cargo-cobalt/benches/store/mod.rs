//! Stores with runs, for benchmarks.

use std::fs;
use std::path::Path;

/// Writes the result file of a run; returns its size.
pub(crate) fn write(results: &Path, run: usize, items: usize) -> usize {
    let (id, minute, hour, day) = (format!("{run:012x}"), run % 60, run / 60 % 24, 1 + run / 1440 % 28);
    let timestamp = format!("2026-01-{day:02}T{hour:02}:{minute:02}:00.000Z");
    let score = |index: usize| f64::from(u8::from((index * 7 + run) % 10 > 3));
    // A different number from 0 to 1 for each item and run, like a judge's scores and an agent's latencies.
    let any = |index: usize, of: usize| ((index * 7919 + run * 104_729 + of * 613) % 1000) as f64 / 1000.0;
    let item = |index: usize| {
        serde_json::json!({
            "index": index, "key": format!("item-{index}"),
            "input": { "input": "A customer asks why the parcel is late. ".repeat(4), "expectedOutput": "late" },
            "output": { "output": "It is late as there is snow. ".repeat(4), "metadata": {
                "model": "gpt-4o-mini", "tokens": { "input": 400, "output": (100.0 * any(index, 0)) as u64 },
            } },
            "latencyMs": 10.0 + 5.0 * any(index, 1),
            "evaluations": { "correct": { "score": score(index), "reason": "r".repeat(60) }, "tone": { "score": any(index, 2) } },
            "status": "ok", "passed": true,
        })
    };
    let stats = serde_json::json!({ "avg": 0.75, "min": 0, "max": 1, "p50": 1, "p95": 1, "p99": 1 });
    let report = serde_json::json!({
        "schema": 1, "id": id, "name": format!("experiment-{}", run % 7), "timestamp": timestamp, "tags": ["nightly"],
        "config": { "runs": 1, "concurrency": 4, "timeout": 30000, "evaluators": ["correct", "tone"] },
        "summary": {
            "totalItems": items, "totalDurationMs": 900, "avgLatencyMs": 12.5, "estimatedCost": 0.02,
            "scores": { "correct": stats, "tone": stats },
        },
        "passed": true, "items": (0..items).map(item).collect::<Vec<_>>(),
    });
    let text = report.to_string();
    let name = format!("{}_experiment_{id}.json", timestamp[..19].replace(':', "-"));
    fs::write(results.join(name), &text).expect("failed to write a file");
    text.len()
}
