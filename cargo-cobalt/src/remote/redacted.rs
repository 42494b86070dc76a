//! A copy of a run without what its items contain: for a store whose readers may not see inputs and outputs.
//!
//! Only known numbers, names and states are kept, so a field that is new here is left out.

use std::path::{Path, PathBuf};

use cobalt_core::error_chain::BoxError;
use cobalt_core::item::without_content;
use cobalt_core::prices::PriceTable;
use cobalt_core::redact::REDACTED;
use cobalt_core::report::Report;
use cobalt_core::store::{Layout, PartsWriter, ReportFile, strip_bom};
use serde_json::{Map, Value};
use tempfile::TempDir;

/// A field of the head that may quote items.
const NOTE: &str = "note";
/// Fields of an item, and of its trials, that are kept as they are.
const KEPT: [&str; 7] = ["index", "key", "latencyMs", "status", "passed", "metrics", "aggregated"];
/// Fields of an output's metadata that are kept: what costs are computed from.
const KEPT_METADATA: [&str; 4] = ["model", "tokens", "usage", "cost"];
/// Fields of an evaluation that are kept.
const KEPT_EVALUATION: [&str; 3] = ["score", "notApplicable", "judge"];
/// Fields of the summary that hold texts of the run.
const SUMMARY_TEXTS: [&str; 2] = ["tables", "summaryErrors"];

/// The result file without inputs, outputs, expected values, reasons, traces, transcripts, requests and files.
pub fn redact_result(bytes: &[u8]) -> serde_json::Result<Vec<u8>> {
    let mut report: Map<String, Value> = serde_json::from_slice(strip_bom(bytes))?;
    report.remove(NOTE);
    if let Some(Value::Object(summary)) = report.get_mut("summary") {
        for field in SUMMARY_TEXTS {
            match summary.get_mut(field) {
                Some(Value::Object(texts)) if field == "summaryErrors" => {
                    texts.values_mut().for_each(|text| *text = REDACTED.into());
                }
                Some(_) => drop(summary.remove(field)),
                None => {}
            }
        }
    }
    if let Some(Value::Array(items)) = report.get_mut("items") {
        for item in items {
            *item = redact_item(std::mem::take(item));
        }
    }
    let mut text = serde_json::to_vec(&report)?;
    text.push(b'\n');
    Ok(text)
}

/// The files of a run in parts, redacted, until dropped.
#[derive(Debug)]
pub struct RedactedParts {
    /// The result file; its items file is beside it.
    pub result: PathBuf,
    _folder: TempDir,
}

impl RedactedParts {
    /// Writes the files, item by item. Their columns have the costs by these prices.
    pub fn write(path: &Path, prices: &PriceTable) -> Result<Self, BoxError> {
        let folder = tempfile::tempdir()?;
        let at = |name: &str| folder.path().join(name);
        let layout = Layout::new(folder.path().to_owned(), at("results"), at("history.db"), at("cache"));
        let file = ReportFile::open(path)?;
        let head = redact_result(&serde_json::to_vec(&file.report().without_items())?)?;
        let head: Report = serde_json::from_slice(&head)?;
        let mut writer = PartsWriter::create(&layout, &head, prices)?;
        for item in file.items() {
            let item = redact_item(serde_json::to_value(&*item?)?);
            writer.push(&serde_json::from_value(item)?)?;
        }
        let result = writer.finish(&head)?;
        Ok(Self { result, _folder: folder })
    }
}

/// An item of a result file.
fn redact_item(item: Value) -> Value {
    let Value::Object(mut fields) = item else { return Value::Null };
    let mut kept = redact_trial(&mut fields);
    if let Some(Value::Array(trials)) = fields.remove("runs") {
        let trials = trials.into_iter().map(|trial| match trial {
            Value::Object(mut fields) => Value::Object(redact_trial(&mut fields)),
            _ => Value::Null,
        });
        kept.insert("runs".to_owned(), trials.collect());
    }
    let input = fields.get("input").and_then(Value::as_object).map(without_content).unwrap_or_default();
    kept.insert("input".to_owned(), Value::Object(input));
    Value::Object(kept)
}

fn redact_trial(fields: &mut Map<String, Value>) -> Map<String, Value> {
    let mut kept = take(fields, &KEPT);
    let mut output = Map::from_iter([("output".to_owned(), "".into())]);
    if let Some(Value::Object(mut written)) = fields.remove("output")
        && let Some(Value::Object(mut metadata)) = written.remove("metadata")
    {
        let metadata = take(&mut metadata, &KEPT_METADATA);
        if !metadata.is_empty() {
            output.insert("metadata".to_owned(), Value::Object(metadata));
        }
    }
    kept.insert("output".to_owned(), Value::Object(output));
    if let Some(Value::Object(evaluations)) = fields.remove("evaluations") {
        let evaluations =
            evaluations.into_iter().map(|(name, evaluation)| (name, redact_evaluation(evaluation)));
        kept.insert("evaluations".to_owned(), Value::Object(evaluations.collect()));
    }
    if fields.get("error").is_some_and(|error| !error.is_null()) {
        kept.insert("error".to_owned(), REDACTED.into());
    }
    kept
}

fn redact_evaluation(evaluation: Value) -> Value {
    let Value::Object(mut fields) = evaluation else { return Value::Null };
    let mut kept = take(&mut fields, &KEPT_EVALUATION);
    if fields.get("error").is_some_and(|error| !error.is_null()) {
        kept.insert("error".to_owned(), REDACTED.into());
    }
    Value::Object(kept)
}

fn take(fields: &mut Map<String, Value>, names: &[&str]) -> Map<String, Value> {
    names.iter().filter_map(|name| Some(((*name).to_owned(), fields.remove(*name)?))).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cobalt_core::item::content_hash;
    use cobalt_core::store::items_file;
    use serde_json::json;

    use super::*;

    /// A run with a secret word in each text that quotes an item.
    fn run() -> Value {
        let trial = json!({
            "output": { "output": "SECRET", "metadata": { "model": "small", "tokens": { "input": 3, "output": 4 }, "note": "SECRET" } },
            "latencyMs": 12.5, "status": "ok",
            "evaluations": {
                "right": { "score": 0.5, "reason": "SECRET", "chainOfThought": "SECRET", "metadata": { "a": "SECRET" } },
                "tone": { "error": "SECRET" },
            },
            "trace": [{ "id": "a", "name": "SECRET", "kind": "tool", "durationMs": 1 }],
            "retried": [{ "error": "SECRET", "latencyMs": 1 }], "faults": [{ "tool": "SECRET", "call": 1, "fault": "SECRET" }],
            "metrics": { "retrieved": { "value": 3.0 } },
        });
        let mut item = trial.clone();
        item["index"] = json!(0);
        item["key"] = json!("refund");
        item["passed"] = json!(false);
        item["input"] = json!({ "input": "SECRET", "expected": "SECRET" });
        item["error"] = json!("SECRET");
        item["status"] = json!("error");
        let mut second = trial;
        second["status"] = json!("timeout");
        second["error"] = json!("SECRET");
        item["runs"] = json!([item.clone(), second]);
        json!({
            "schema": 1, "id": "5ea00522f3eb", "name": "desk", "timestamp": "2026-02-05T10:00:00.000Z", "note": "SECRET",
            "config": { "runs": 2, "concurrency": 1, "timeout": 1000, "evaluators": ["right", "tone"] },
            "summary": { "totalItems": 1, "failedItems": 1, "avgLatencyMs": 12.5,
                "tables": { "confusion": { "columns": ["SECRET"], "rows": [] } }, "summaryErrors": { "f1": "SECRET" } },
            "passed": false, "items": [item],
        })
    }

    #[test]
    fn nothing_that_quotes_an_item_is_kept_and_every_number_is() {
        let bytes = redact_result(run().to_string().as_bytes()).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains("SECRET"), "{text}");
        let report: Report = serde_json::from_str(&text).unwrap();
        assert_eq!((report.id.as_str(), report.summary.failed_items), ("5ea00522f3eb", 1));
        let item = &report.items[0];
        assert_eq!((item.key.as_str(), item.runs.len()), ("refund", 2));
        assert_eq!(item.scores("right").collect::<Vec<_>>(), [0.5, 0.5]);
        assert_eq!(item.first_error().as_deref(), Some(REDACTED));
        let trial = item.first_trial();
        assert_eq!((trial.latency_ms, trial.token_count().unwrap().total), (12.5, 7));
        assert!(trial.trace.is_empty() && trial.retried.is_empty());
        let original: Report = serde_json::from_value(run()).unwrap();
        assert_eq!(
            content_hash(&item.input),
            content_hash(&original.items[0].input),
            "and whether it changes is seen"
        );
    }

    #[test]
    fn a_run_in_parts_is_redacted_item_by_item() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let layout = Layout::new(folder.path().to_owned(), at("results"), at("history.db"), at("cache"));
        let report: Report = serde_json::from_value(run()).unwrap();
        let prices = PriceTable::default();
        let mut writer = PartsWriter::create(&layout, &report, &prices).unwrap();
        (0..100).for_each(|_| writer.push(&report.items[0]).unwrap());
        let path = writer.finish(&report).unwrap();
        let redacted = RedactedParts::write(&path, &prices).unwrap();
        assert!(!fs::read_to_string(&redacted.result).unwrap().contains("SECRET"));
        let file = ReportFile::open(&redacted.result).unwrap();
        assert_eq!(file.item_count(), 100);
        for item in file.items() {
            let text = serde_json::to_string(&*item.unwrap()).unwrap();
            assert!(!text.contains("SECRET") && text.contains("refund"), "{text}");
        }
        // The same each time, so it is pushed once.
        let again = RedactedParts::write(&path, &prices).unwrap();
        for file in [|path: &Path| path.to_owned(), items_file] {
            assert!(fs::read(file(&redacted.result)).unwrap() == fs::read(file(&again.result)).unwrap());
        }
    }

    #[test]
    fn a_run_is_redacted_to_the_same_bytes_each_time() {
        let once = redact_result(run().to_string().as_bytes()).unwrap();
        assert_eq!(redact_result(&once).unwrap(), once);
    }
}
