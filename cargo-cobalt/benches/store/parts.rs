//! Writes a run of many items in parts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cobalt_core::item::{Output, into_item};
use cobalt_core::prices::PriceTable;
use cobalt_core::report::{Evaluations, Execution, ItemResult, Report, ScoredEvaluation, Status};
use cobalt_core::store::{Layout, PartsWriter};
use serde_json::json;

/// Words of texts, which are as long and as compressible as those of models.
const WORDS: [&str; 24] = [
    "parcel",
    "delayed",
    "snow",
    "customer",
    "refund",
    "because",
    "address",
    "tomorrow",
    "the",
    "a",
    "of",
    "invoice",
    "support",
    "please",
    "order",
    "number",
    "tracking",
    "cannot",
    "account",
    "yesterday",
    "payment",
    "failed",
    "again",
    "with",
];

/// Writes the run with this number; returns its result file. An item is about 1 kB, and every 20th failed.
pub(crate) fn write_in_parts(folder: &Path, run: usize, items: usize) -> PathBuf {
    let layout = Layout::new(
        folder.to_owned(),
        folder.join("results"),
        folder.join("history.db"),
        folder.join("cache"),
    );
    let mut report = head(run, items);
    let prices = PriceTable::default();
    let mut writer = PartsWriter::create(&layout, &report, &prices).expect("failed to create a file");
    let names = ["correct", "tone"].map(Arc::<str>::from);
    for index in 0..items {
        let item = item(run, index, &names);
        writer.push(&item).expect("failed to write an item");
    }
    report.update_verdict();
    writer.finish(&report).expect("failed to write a run")
}

fn head(run: usize, items: usize) -> Report {
    let stats = json!({ "avg": 0.7, "min": 0, "max": 1, "p50": 0.7, "p95": 1, "p99": 1 });
    let report = json!({
        "schema": 1, "id": format!("{run:012x}"), "name": "million", "timestamp": format!("2026-02-05T14:{:02}:00.000Z", run % 60),
        "config": { "runs": 1, "concurrency": 64, "timeout": 30000, "evaluators": ["correct", "tone"], "passMarks": [0.5, 0.2] },
        "summary": {
            "totalItems": items, "successfulItems": items - items.div_ceil(20), "failedItems": items.div_ceil(20), "totalDurationMs": 900_000,
            "avgLatencyMs": 512.5, "estimatedCost": 20.0, "scores": { "correct": stats, "tone": stats },
        },
        "items": [],
    });
    serde_json::from_value(report).expect("the report is valid")
}

fn item(run: usize, index: usize, names: &[Arc<str>; 2]) -> ItemResult {
    let mut state = (run as u64) << 32 | index as u64;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let mut text = |words: usize| {
        let mut text = String::with_capacity(words * 8);
        for _ in 0..words {
            text.push_str(WORDS[next() % WORDS.len()]);
            text.push(' ');
        }
        text
    };
    let (input, answer) = (text(70), text(50));
    let any = |of: usize| ((index * 7919 + run * 104_729 + of * 613) % 1000) as f64 / 1000.0;
    let input = json!({ "id": format!("item-{index:07}"), "input": input, "topic": WORDS[index % 7] });
    let score = |score: f64| ScoredEvaluation { score: Some(score), ..ScoredEvaluation::default() };
    let scores = [score(any(1)), score(any(2))];
    let run = match index % 20 {
        0 => Execution {
            status: Status::Error,
            error: Some("no connection to the model".to_owned()),
            latency_ms: 3.5,
            ..Execution::default()
        },
        _ => Execution {
            output: Some(Output::new(answer).tokens(400, (100.0 * any(0)) as u64)),
            latency_ms: 300.0 + 500.0 * any(3),
            evaluations: names.iter().cloned().zip(scores).collect::<Evaluations>(),
            ..Execution::default()
        },
    };
    ItemResult {
        index,
        key: format!("item-{index:07}"),
        input: Arc::new(into_item(input).expect("an object")),
        passed: !index.is_multiple_of(20),
        runs: vec![run],
    }
}
