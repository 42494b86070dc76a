//! Finds damaged items in result files that are imported or merged.

use serde::Deserialize;

use super::report_text::strip_bom;
use crate::report::{ItemError, ItemResult, Report, RunConfig, Status, validate_items, validate_stored_item};

/// A damaged item in a result file.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("item {index} (`{key}`) is damaged: {problem}")]
pub struct DamagedReport {
    /// The item's index in the dataset, from 0.
    pub index: usize,
    /// The item's key.
    pub key: String,
    /// The problem.
    pub problem: ItemError,
}

impl DamagedReport {
    fn of(item: &ItemResult, problem: ItemError) -> Self {
        Self { index: item.index, key: item.key.clone(), problem }
    }
}

/// The stored fields of items that can also be derived from their other fields.
#[derive(Deserialize)]
struct StoredItems {
    #[serde(default)]
    items: Vec<StoredItem>,
}

#[derive(Deserialize)]
struct StoredItem {
    status: Option<Status>,
    passed: Option<bool>,
}

/// Checks that the values of a report's items are valid, and that their stored `status` and `passed` match their evaluations and
/// errors. `bytes` is the file of the report. [`PartsReader::validate`](super::PartsReader::validate) does it for items in parts.
///
/// # Errors
///
/// An item is damaged.
pub fn validate_report(bytes: &[u8], report: &Report) -> Result<(), DamagedReport> {
    validate_items(report).map_err(|(place, problem)| DamagedReport::of(&report.items[place], problem))?;
    let Ok(written) = serde_json::from_slice::<StoredItems>(strip_bom(bytes)) else { return Ok(()) };
    let mut items = report.items.iter().zip(written.items);
    items.try_for_each(|(item, written)| written.check(item, &report.config))
}

/// The same for items, each with the line that has it. Of `report`, the settings are used.
pub fn validate_lines<'a>(
    items: impl Iterator<Item = (&'a [u8], ItemResult)>,
    report: &Report,
) -> Result<(), DamagedReport> {
    for (line, item) in items {
        validate_stored_item(&item, report).map_err(|problem| DamagedReport::of(&item, problem))?;
        if let Ok(written) = serde_json::from_slice::<StoredItem>(line) {
            written.check(&item, &report.config)?;
        }
    }
    Ok(())
}

impl StoredItem {
    /// Compares what is stored with what follows from the other fields.
    fn check(&self, item: &ItemResult, config: &RunConfig) -> Result<(), DamagedReport> {
        let problem = match *self {
            Self { passed: Some(true), .. } if item.is_in_error() => ItemError::Passed,
            // In runs with thresholds, earlier versions marked items without an error as passed.
            Self { passed: Some(passed), .. }
                if !config.pass_marks.is_empty()
                    && passed != item.passed
                    && (config.strict || item.passed) =>
            {
                ItemError::PassedContradicts
            }
            Self { status: Some(status), .. } if status != item.status() => {
                ItemError::Status { status: status.name() }
            }
            _ => return Ok(()),
        };
        Err(DamagedReport::of(item, problem))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The problem of a file with one valid item with these fields replaced.
    fn problem(schema: u32, fields: &Value) -> Option<String> {
        let mut item = json!({
            "index": 4, "key": "k4", "input": {}, "output": { "output": "a" }, "latencyMs": 1, "status": "ok", "passed": true,
            "evaluations": { "exact": { "score": 1 } },
        });
        item.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let file = json!({
            "schema": schema, "id": "5ea00522f3eb", "name": "a", "timestamp": "2026-02-05T10:00:34.836Z",
            "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact"] },
            "summary": {}, "passed": true, "items": [item],
        });
        let bytes = format!("\u{feff}{file}").into_bytes();
        let report: Report = serde_json::from_slice(strip_bom(&bytes)).unwrap();
        validate_report(&bytes, &report).err().map(|error| error.to_string())
    }

    #[test]
    fn a_damaged_item_is_named_with_what_is_wrong() {
        let score = json!({ "evaluations": { "exact": { "score": 9.0 } } });
        let expected = "item 4 (`k4`) is damaged: the score of `exact` is 9, expected a number from 0 to 1";
        assert_eq!(problem(1, &score).as_deref(), Some(expected));
        assert_eq!(problem(0, &score).as_deref(), Some(expected), "also in a file of the original");
    }

    #[test]
    fn what_an_item_says_of_itself_agrees_with_the_rest() {
        assert_eq!(problem(1, &json!({})), None);
        let without_score = json!({ "evaluations": { "exact": { "error": "no" } } });
        assert!(problem(1, &without_score).unwrap().contains("marked as passed, although it has an error"));
        let run = json!({ "output": { "output": "a" }, "latencyMs": 1, "status": "ok", "evaluations": { "exact": { "score": 1 } } });
        let other_status = json!({ "status": "timeout", "passed": false, "runs": [run] });
        assert!(problem(1, &other_status).unwrap().contains("its status `timeout` does not match"));
    }

    #[test]
    fn a_score_that_was_changed_after_the_verdict_is_damage() {
        let of = |strict: bool, passed: bool, score: f64| {
            let file = json!({
                "schema": 1, "id": "5ea00522f3eb", "name": "a", "timestamp": "2026-02-05T10:00:34.836Z",
                "config": { "runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": ["exact"],
                    "passMarks": [0.5], "strict": strict },
                "summary": {}, "passed": true, "items": [{
                    "index": 4, "key": "k4", "input": {}, "output": { "output": "a" }, "latencyMs": 1, "status": "ok",
                    "passed": passed, "evaluations": { "exact": { "score": score } },
                }],
            });
            let bytes = file.to_string().into_bytes();
            let report: Report = serde_json::from_slice(&bytes).unwrap();
            validate_report(&bytes, &report).err().map(|error| error.problem)
        };
        for strict in [true, false] {
            assert_eq!(of(strict, false, 0.9), Some(ItemError::PassedContradicts));
            assert_eq!(of(strict, false, 0.4), None);
            assert_eq!(of(strict, true, 0.9), None);
        }
        assert_eq!(of(true, true, 0.4), Some(ItemError::PassedContradicts));
        assert_eq!(of(false, true, 0.4), None, "a run with thresholds, by an earlier version");
    }

    #[test]
    fn a_file_of_the_original_may_leave_out_what_ours_must_have() {
        let bare = json!({ "status": null, "passed": null, "output": { "output": "a" }, "evaluations": {} });
        assert_eq!(problem(0, &bare), None);
        assert!(problem(1, &bare).is_some());
    }
}
