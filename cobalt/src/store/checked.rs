//! Result files that come from elsewhere: what no run gives is refused before it counts.

use serde::Deserialize;

use super::results::without_mark;
use crate::report::{ItemProblem, ItemResult, Report, Status, check_items};

/// Why a result file is not to be trusted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("item {index} (`{key}`) is damaged: {problem}")]
pub struct DamagedReport {
    /// The item's place in the data set, from 0.
    pub index: usize,
    /// The item's key.
    pub key: String,
    /// What is wrong with it.
    pub problem: ItemProblem,
}

impl DamagedReport {
    fn of(item: &ItemResult, problem: ItemProblem) -> Self {
        Self { index: item.index, key: item.key.clone(), problem }
    }
}

/// What the items of a file say of themselves beside what follows from the rest of them.
#[derive(Deserialize)]
struct Written {
    #[serde(default)]
    items: Vec<WrittenItem>,
}

#[derive(Deserialize)]
struct WrittenItem {
    status: Option<Status>,
    passed: Option<bool>,
}

/// Checks that the values of a report's items are such as a run gives, and that what they say of themselves agrees with
/// their evaluations and errors. `bytes` is the file that the report was read from.
///
/// # Errors
///
/// An item is damaged.
pub fn check_report(bytes: &[u8], report: &Report) -> Result<(), DamagedReport> {
    check_items(report).map_err(|(place, problem)| DamagedReport::of(&report.items[place], problem))?;
    let Ok(written) = serde_json::from_slice::<Written>(without_mark(bytes)) else { return Ok(()) };
    for (item, written) in report.items.iter().zip(written.items) {
        let problem = match written {
            WrittenItem { passed: Some(true), .. } if item.is_in_error() => ItemProblem::Passed,
            // Of gated runs, earlier versions called an item passed that has no error.
            WrittenItem { passed: Some(passed), .. }
                if !report.config.pass_marks.is_empty()
                    && passed != item.passed
                    && (report.config.strict || item.passed) =>
            {
                ItemProblem::PassedContradicts
            }
            WrittenItem { status: Some(status), .. } if status != item.status() => {
                ItemProblem::Status { status: status.name() }
            }
            _ => continue,
        };
        return Err(DamagedReport::of(item, problem));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// What is said of a file with one item that has these fields in the place of those of one that is whole.
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
        let report: Report = serde_json::from_slice(without_mark(&bytes)).unwrap();
        check_report(&bytes, &report).err().map(|error| error.to_string())
    }

    #[test]
    fn a_damaged_item_is_named_with_what_is_wrong() {
        let score = json!({ "evaluations": { "exact": { "score": 9.0 } } });
        let expected = "item 4 (`k4`) is damaged: the score of `exact` is 9, and must be from 0 to 1";
        assert_eq!(problem(1, &score).as_deref(), Some(expected));
        assert_eq!(problem(0, &score).as_deref(), Some(expected), "in a file of the original, too");
    }

    #[test]
    fn what_an_item_says_of_itself_agrees_with_the_rest() {
        assert_eq!(problem(1, &json!({})), None);
        let without_score = json!({ "evaluations": { "exact": { "error": "no" } } });
        assert!(problem(1, &without_score).unwrap().contains("marked as passed, although it has an error"));
        let run = json!({ "output": { "output": "a" }, "latencyMs": 1, "status": "ok", "evaluations": { "exact": { "score": 1 } } });
        let other_status = json!({ "status": "timeout", "passed": false, "runs": [run] });
        assert!(problem(1, &other_status).unwrap().contains("its status `timeout` does not fit"));
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
            check_report(&bytes, &report).err().map(|error| error.problem)
        };
        for strict in [true, false] {
            assert_eq!(of(strict, false, 0.9), Some(ItemProblem::PassedContradicts));
            assert_eq!(of(strict, false, 0.4), None);
            assert_eq!(of(strict, true, 0.9), None);
        }
        assert_eq!(of(true, true, 0.4), Some(ItemProblem::PassedContradicts));
        assert_eq!(of(false, true, 0.4), None, "of a gated run, by an earlier version");
    }

    #[test]
    fn a_file_of_the_original_may_leave_out_what_ours_must_have() {
        let bare = json!({ "status": null, "passed": null, "output": { "output": "a" }, "evaluations": {} });
        assert_eq!(problem(0, &bare), None);
        assert!(problem(1, &bare).is_some());
    }
}
