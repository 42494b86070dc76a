//! Responses about very large runs.

use std::collections::HashSet;
use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::assistant::Assistant;
use super::schema::{answered, output_schema};
use crate::store::Store;

/// Timeout for a response about a run of 10,000 items in an unoptimized build.
const PATIENCE: Duration = Duration::from_secs(30);

/// A run to write.
struct Large<'a> {
    id: &'a str,
    items: usize,
    evaluators: usize,
    thresholds: usize,
    /// Repeated to fill names and texts.
    filler: &'a str,
    name_length: usize,
    text_length: usize,
    /// Different values give different scores.
    shift: usize,
}

impl Large<'_> {
    fn text(&self, length: usize) -> String {
        self.filler.repeat(length / self.filler.len().max(1))
    }

    fn item(&self, index: usize, names: &[String]) -> Value {
        let text = self.text(self.text_length);
        let evaluation = |(at, name): (usize, &String)| {
            let score = ((index * 7 + at + self.shift) % 101) as f64 / 100.0;
            (
                name.clone(),
                json!({ "score": score, "reason": text, "chainOfThought": text, "metadata": { "note": text } }),
            )
        };
        let input: Map<String, Value> =
            (0..3).map(|field| (format!("field-{field}"), json!([text, field]))).collect();
        json!({
            "index": index, "key": format!("{index}{}", self.text(self.name_length)), "status": "ok", "passed": true, "latencyMs": 10.0,
            "input": input, "output": { "output": { "answer": text, "parts": [text] }, "metadata": { "model": text } },
            "evaluations": names.iter().enumerate().map(evaluation).collect::<Map<_, _>>(),
        })
    }

    fn write(&self, store: &Store) {
        let names: Vec<_> =
            (0..self.evaluators).map(|at| format!("{at}{}", self.text(self.name_length))).collect();
        let stats = json!({ "avg": 0.5, "min": 0.0, "max": 1.0, "p50": 0.5, "p95": 0.95, "p99": 0.99, "count": 9, "stddev": 0.3,
            "ci95": [0.4, 0.6], "passRate": 0.5 });
        let scores: Map<_, _> = names.iter().map(|name| (name.clone(), stats.clone())).collect();
        let threshold = |at: usize| format!("{at}{}.avg>=0.5", self.text(self.name_length));
        let outcomes = (0..self.thresholds).map(|at| {
            json!({ "name": threshold(at), "finding": "missed", "passed": false,
            "actual": 0.4, "figure": "0.4", "message": format!("{} is 0.4", threshold(at)) })
        });
        let violations = (0..self.thresholds)
            .map(|at| json!({ "category": "score", "metric": "avg", "expected": 0.5, "actual": 0.4, "message": threshold(at) }));
        let report = json!({
            "schema": 1, "id": self.id, "name": self.text(self.name_length), "timestamp": "2026-02-05T14:30:00.000Z",
            "tags": (0..100).map(|_| self.text(self.name_length)).collect::<Vec<_>>(),
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": names,
                "passMarks": vec![0.5; names.len()], "evaluatorHashes": names,
                "thresholds": (0..self.thresholds).map(threshold).collect::<Vec<_>>() },
            "summary": { "totalItems": self.items, "scores": scores },
            "ciStatus": { "passed": false, "summary": "missed", "violations": violations.collect::<Vec<_>>(),
                "thresholds": outcomes.collect::<Vec<_>>() },
            "passed": false, "items": (0..self.items).map(|index| self.item(index, &names)).collect::<Vec<_>>(),
        });
        let file = format!(".cobalt/results/2026-02-05T14-30-00_large_{}.json", self.id);
        fs::write(store.folder().join(file), report.to_string()).unwrap();
    }
}

#[test]
fn a_run_of_10_000_items_is_read_page_by_page_within_bounds() {
    let store = Store::new();
    let large = Large {
        id: "aaaaaaaaaaaa",
        items: 10_000,
        evaluators: 4,
        thresholds: 3,
        filler: "words ",
        name_length: 10,
        text_length: 60,
        shift: 0,
    };
    large.write(&store);
    Large { id: "bbbbbbbbbbbb", shift: 30, ..large }.write(&store);
    let mut assistant = Assistant::over(store.folder(), &[], "2025-11-25");
    let schema = output_schema(&mut assistant, "cobalt_results");
    let (mut seen, mut cursor) = (HashSet::new(), None);
    for page in 0..3 {
        let mut arguments = json!({ "runId": "aaaa" });
        if let Some(cursor) = cursor {
            arguments["cursor"] = cursor;
        }
        let started = Instant::now();
        let result = answered(&mut assistant, &schema, "cobalt_results", arguments);
        let took = started.elapsed();
        let run = &result["structuredContent"]["run"];
        println!("page {page}: {} items, {} bytes, {took:?}", run["itemsShown"], result.to_string().len());
        assert!(took < PATIENCE, "{took:?}");
        for item in run["items"].as_array().unwrap() {
            assert!(seen.insert(item["index"].as_u64().unwrap()), "{} twice", item["index"]);
        }
        cursor = run.get("nextCursor").cloned();
    }
    assert!(seen.len() > 30, "{}", seen.len());
    let schema = output_schema(&mut assistant, "cobalt_compare");
    let started = Instant::now();
    let result =
        answered(&mut assistant, &schema, "cobalt_compare", json!({ "runA": "aaaa", "runB": "bbbb" }));
    println!("compare: {} bytes, {:?}", result.to_string().len(), started.elapsed());
    assert!(started.elapsed() < 2 * PATIENCE);
}

#[test]
fn whatever_a_run_holds_its_answers_stay_within_bounds_in_every_version() {
    let large = Large {
        id: "aaaaaaaaaaaa",
        items: 2,
        evaluators: 200,
        thresholds: 1000,
        filler: "\"\n\u{1b}質",
        name_length: 1000,
        text_length: 600,
        shift: 0,
    };
    let store = Store::new();
    large.write(&store);
    Large { id: "bbbbbbbbbbbb", shift: 30, ..large }.write(&store);
    for version in ["2025-11-25", "2024-11-05"] {
        let mut assistant = Assistant::over(store.folder(), &[], version);
        for (tool, arguments) in [
            ("cobalt_results", json!({})),
            ("cobalt_results", json!({ "runId": "aaaa" })),
            ("cobalt_compare", json!({ "runA": "aaaa", "runB": "bbbb" })),
        ] {
            let result = assistant.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
            assert_ne!(result["isError"], true, "{version}, {tool}: {result}");
            let (size, text) = (result.to_string().len(), result["content"][0]["text"].to_string().len());
            assert!(
                size < 60_000 && text < 8_000,
                "{version}, {tool} {arguments}: {size} bytes, text {text}"
            );
        }
    }
    let mut assistant = Assistant::over(store.folder(), &[], "2025-11-25");
    let schema = output_schema(&mut assistant, "cobalt_results");
    let result = answered(&mut assistant, &schema, "cobalt_results", json!({ "runId": "aaaa" }));
    assert!(result["structuredContent"]["run"]["itemsShown"].as_u64() >= Some(1));
    let schema = output_schema(&mut assistant, "cobalt_compare");
    let result =
        answered(&mut assistant, &schema, "cobalt_compare", json!({ "runA": "aaaa", "runB": "bbbb" }));
    let compared = &result["structuredContent"];
    for kind in ["regressed", "improved"] {
        let (shown, all) = (&compared[format!("{kind}Items")], &compared[format!("{kind}Count")]);
        assert!(all == 0 || !shown.as_array().unwrap().is_empty(), "{kind}: {all}");
    }
    assert!(compared["regressedCount"].as_u64().unwrap() + compared["improvedCount"].as_u64().unwrap() > 0);
}
