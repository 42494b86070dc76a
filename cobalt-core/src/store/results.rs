//! Result files: written atomically, and validated when imported.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::error::{StoreError, storage_error};
use super::layout::{Layout, file_slug};
use super::parts::items_file;
use super::report_file::ReportFile;
use super::report_text::{strip_bom, write_atomically, write_items_by_line};
use crate::report::{ItemError, ItemResult, Report, RunConfig, Status, validate_items, validate_stored_item};
use crate::timestamp::Timestamp;

/// The length of the start time in a result file's name.
const START_LENGTH: usize = "2026-02-05T14-30-00".len();

/// The name of a result file: start time, slug of the experiment's name, run ID.
#[must_use]
pub fn result_file_name(report: &Report) -> String {
    format!("{}_{}_{}.json", report.timestamp.for_file_name(), file_slug(&report.name), report.id)
}

/// The parts of a result file's name, also of the original tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResultFileName<'a> {
    /// The start time in UTC, such as `2026-02-05T14-30-00`.
    pub start: &'a str,
    /// The slug of the experiment's name.
    pub experiment: &'a str,
    /// The run's id.
    pub id: &'a str,
}

impl<'a> ResultFileName<'a> {
    /// Parses a name. `None` if it is not the name of a result file.
    #[must_use]
    pub fn parse(name: &'a str) -> Option<Self> {
        let (start, rest) = name.split_at_checked(START_LENGTH)?;
        let (experiment, id) = rest.strip_prefix('_')?.strip_suffix(".json")?.rsplit_once('_')?;
        let has_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let parsed = Self { start, experiment, id };
        (has_id && !experiment.is_empty() && parsed.time().is_some()).then_some(parsed)
    }

    /// The start time, to the second.
    #[must_use]
    pub fn time(&self) -> Option<Timestamp> {
        let (date, time) = self.start.split_once('T')?;
        let time = humantime::parse_rfc3339(&format!("{date}T{}Z", time.replace('-', ":"))).ok()?;
        Some(Timestamp::from(time))
    }
}

/// Writes a report's file atomically (write, sync, rename), and returns its path.
///
/// # Errors
///
/// The folder cannot be created, or the file cannot be written.
pub fn write_report(layout: &Layout, report: &Report) -> Result<PathBuf, StoreError> {
    // The folder may have been removed since the run started.
    layout.create()?;
    let path = layout.results().join(result_file_name(report));
    // Only one process has the run at a time; a draft of a killed process is overwritten.
    let draft = layout.results().join(format!(".{}.tmp", report.id));
    write_items_by_line(&path, &draft, &report.without_items(), report.items.iter())?;
    // An earlier result of the run may have been in parts.
    match fs::remove_file(items_file(&path)) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(storage_error("remove", &items_file(&path), source))
        }
        _ => Ok(path),
    }
}

/// Stores the file of an imported run unchanged under its usual name, and returns its path. `report` is its content.
///
/// # Errors
///
/// The folder cannot be created, the file cannot be written, or it exists already.
pub fn import_report(layout: &Layout, report: &Report, bytes: &[u8]) -> Result<PathBuf, StoreError> {
    layout.create()?;
    let path = layout.results().join(result_file_name(report));
    let draft = layout.results().join(format!(".{}.tmp", report.id));
    if path.exists() {
        return Err(storage_error("write", &path, io::ErrorKind::AlreadyExists.into()));
    }
    write_atomically(&path, &draft, |file| file.write_all(bytes))?;
    Ok(path)
}

/// Reads a result file with all its items, also of the original tool, with or without a byte order mark. [`ReportFile`] reads a large
/// one item by item.
///
/// # Errors
///
/// The file cannot be read, or is not a result file; the message has the file, line and column, or the damaged part.
pub fn read_report(path: &Path) -> Result<Report, StoreError> {
    ReportFile::open(path)?.into_report()
}

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

    #[test]
    fn the_name_of_a_result_file_tells_start_experiment_and_id() {
        let name = ResultFileName::parse("2026-02-05T14-30-00_help_desk-é_0123456789ab.json").unwrap();
        assert_eq!((name.experiment, name.id), ("help_desk-é", "0123456789ab"));
        assert_eq!(name.time().unwrap().to_string(), "2026-02-05T14:30:00.000Z");
    }

    #[test]
    fn other_names_are_none_of_ours() {
        for name in [
            "notes.json",
            "2026-02-05T14-30-00_desk.json",
            "2026-02-05T14-30-00_desk_.json",
            "2026-02-05T14-30-00__0123456789ab.json",
            "2026-02-30T14-30-00_desk_0123456789ab.json",
            "2026-02-05 14-30-00_desk_0123456789ab.json",
            "2026-02-05T14-30-00_desk_0123456789ab.json.bak",
            "2026-02-05T14-30-00_desk_my copy.json",
        ] {
            assert_eq!(ResultFileName::parse(name), None, "{name}");
        }
    }

    const ORIGINAL: &str = r#"{"id": "5ea00522f3eb", "name": "a/b", "timestamp": "2026-02-05T10:00:34.836Z", "unheard": "of",
        "config": {"runs": 1, "concurrency": 1, "timeout": 1000, "evaluators": []}, "summary": {}, "items": []}"#;

    #[test]
    fn a_file_from_elsewhere_is_kept_byte_by_byte_and_once_and_read_with_its_mark() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(".cobalt");
        let layout =
            Layout::new(root.clone(), root.join("results"), root.join("history.db"), root.join("cache"));
        let bytes = format!("\u{feff}{ORIGINAL}").into_bytes();
        let report: Report = serde_json::from_slice(strip_bom(&bytes)).unwrap();
        let path = import_report(&layout, &report, &bytes).unwrap();
        assert_eq!(path, layout.results().join("2026-02-05T10-00-34_a-b_5ea00522f3eb.json"));
        assert_eq!(fs::read(&path).unwrap(), bytes);
        assert_eq!(read_report(&path).unwrap(), report);
        assert!(
            import_report(&layout, &report, ORIGINAL.as_bytes()).is_err(),
            "it would overwrite another file"
        );
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }

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
