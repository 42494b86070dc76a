//! Result files: their names, and how they are written.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::{StoreError, storage_error};
use super::layout::{Layout, file_slug};
use super::parts::items_file;
use super::report_file::ReportFile;
use super::report_text::{write_atomically, write_items_by_line};
use crate::report::Report;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::strip_bom;

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

    fn layout(folder: &tempfile::TempDir) -> Layout {
        let root = folder.path().join(".cobalt");
        Layout::new(root.clone(), root.join("results"), root.join("history.db"), root.join("cache"))
    }

    #[test]
    fn a_file_from_elsewhere_is_kept_byte_by_byte_and_once_and_read_with_its_mark() {
        let folder = tempfile::tempdir().unwrap();
        let layout = layout(&folder);
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

    #[cfg(unix)]
    #[test]
    fn results_are_private() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let layout = layout(&folder);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let path = write_report(&layout, &serde_json::from_str(ORIGINAL).unwrap()).unwrap();
        assert_eq!((mode(&path), mode(layout.results()), mode(&layout.journals())), (0o600, 0o700, 0o700));
        let usual = folder.path().join("usual");
        fs::create_dir(&usual).unwrap();
        assert_eq!(mode(layout.root()), mode(&usual), "it has the baselines");
    }
}
