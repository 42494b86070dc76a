//! The stored runs of a project, the earlier runs of an experiment, and the baseline files.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;

use super::error::{CREATE_FOLDER, StoreError, storage_error};
use super::interrupted::open_interrupted;
use super::journal_items::{JournalIndex, JournalItems, JournalReader, LineUse};
use super::layout::{Layout, file_slug};
use super::report_file::ReportFile;
use super::report_text::{strip_bom, write_json};
use super::results::{ResultFileName, read_report};
use crate::atomic_write::write_shared_atomically;
use crate::prices::PriceTable;
use crate::redact::redacted_document;
use crate::report::{ItemResult, MeasuredItemRef, Measurements, Report, item_keys};
use crate::timestamp::Timestamp;

/// A stored run, with the information from its file name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRun {
    path: PathBuf,
    id: String,
    slug: String,
    start: Timestamp,
}

impl StoredRun {
    /// The run's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// When the run started, to the second.
    #[must_use]
    pub fn start(&self) -> Timestamp {
        self.start
    }

    /// The result file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it may be a run of the experiment with this name: different names can have the same form in file names.
    #[must_use]
    pub fn may_belong_to(&self, experiment: &str) -> bool {
        self.slug == file_slug(experiment)
    }

    /// Reads the report with all its items.
    ///
    /// # Errors
    ///
    /// The file does not exist, cannot be read, or is not a result file; the error has the file, line and column.
    pub fn read(&self) -> Result<Report, StoreError> {
        read_report(&self.path)
    }

    /// Opens the report without reading items that are in parts: of a large run, they are read one by one.
    ///
    /// # Errors
    ///
    /// As of [`read`](Self::read).
    pub fn open(&self) -> Result<ReportFile, StoreError> {
        ReportFile::open(&self.path)
    }
}

/// The stored runs, newest first, including those of the original tool. Files with other names are ignored, and no file is opened.
/// Without a results folder, the list is empty.
///
/// ```no_run
/// use cobalt::files::{layout, runs};
///
/// // The mean scores of an experiment in its last ten runs.
/// for run in runs(&layout()?)?.iter().filter(|run| run.may_belong_to("help-desk")).take(10) {
///     let report = run.read()?;
///     for (evaluator, stats) in &report.summary.scores {
///         println!("{} {evaluator} {:.3}", report.timestamp, stats.avg);
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// The results folder cannot be read.
pub fn runs(layout: &Layout) -> Result<Vec<StoredRun>, StoreError> {
    let failed = |source| storage_error("read", layout.results(), source);
    let entries = match fs::read_dir(layout.results()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut runs = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().and_then(|name| ResultFileName::parse(name.to_str()?));
        if let Some((name, start)) = name.and_then(|name| Some((name, name.time()?))) {
            let (id, slug) = (name.id.to_owned(), name.experiment.to_owned());
            runs.push(StoredRun { path, id, slug, start });
        }
    }
    runs.sort_by(|one, other| (other.start, &one.path).cmp(&(one.start, &other.path)));
    Ok(runs)
}

/// An earlier run, whose items stay on disk if they are many.
#[derive(Debug)]
pub struct EarlierRun {
    /// Its report without its items, which may be incomplete.
    pub head: Report,
    /// Whether it was interrupted: the report is from its journal.
    pub is_interrupted: bool,
    items: EarlierItems,
}

#[derive(Debug)]
enum EarlierItems {
    File(Box<ReportFile>),
    Journal { path: PathBuf, index: Arc<JournalIndex> },
}

impl EarlierRun {
    fn of_file(file: ReportFile) -> Self {
        let head = file.report().without_items();
        Self { head, is_interrupted: false, items: EarlierItems::File(Box::new(file)) }
    }

    /// The finished items of an interrupted run. `None` if the run is in progress, belongs to another experiment, or cannot be read (and
    /// thus not be resumed).
    fn of_journal(path: PathBuf, experiment: &str) -> Option<Self> {
        let journal = open_interrupted(&path, experiment).ok()??;
        let reader = JournalReader::start(journal).ok()?.ok()?;
        let head = reader.header().report(Vec::new());
        // An item that was run again has two entries; the later one counts.
        let index = Arc::new(reader.read(|_| LineUse::Keep).ok()?.index);
        Some(Self { head, is_interrupted: true, items: EarlierItems::Journal { path, index } })
    }

    /// Whether all items were run.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        !self.head.partial && !self.is_interrupted
    }

    /// Calls a function with each item, in dataset order, and its key.
    ///
    /// # Errors
    ///
    /// The file of the items cannot be read, or is damaged.
    pub fn for_each_item(&self, mut each: impl FnMut(&str, &ItemResult)) -> Result<(), StoreError> {
        match &self.items {
            EarlierItems::File(file) if file.parts().is_none() => {
                let items = &file.report().items;
                item_keys(items).iter().zip(items).for_each(|(key, item)| each(key, item));
                Ok(())
            }
            EarlierItems::File(file) => file.items().try_for_each(|item| {
                let item = item?;
                each(&item.key, &item);
                Ok(())
            }),
            EarlierItems::Journal { path, index } => {
                let items = JournalItems::open(path, Arc::clone(index), &self.head.config)?;
                items.for_each(|item| {
                    each(&item.key, &item);
                    Ok(())
                })
            }
        }
    }
}

/// The newest complete run of an experiment, and the partial and interrupted runs that started later, newest first.
///
/// Only the files of these runs are read: file names contain the experiment and the start time.
pub fn latest_runs(layout: &Layout, experiment: &str) -> Result<Vec<EarlierRun>, StoreError> {
    let mut runs: Vec<EarlierRun> = Vec::new();
    let mut start_of_whole = None;
    for (start, path) in result_files(layout, experiment)? {
        if start_of_whole.as_ref().is_some_and(|whole| *whole != start) {
            break;
        }
        let file = ReportFile::open(&path)?;
        // Different names can have the same form in file names.
        if file.report().name == experiment {
            start_of_whole = start_of_whole.or_else(|| (!file.report().partial).then_some(start));
            runs.push(EarlierRun::of_file(file));
        }
    }
    runs.extend(interrupted_runs(layout, experiment)?);
    runs.sort_by_key(|run| Reverse(run.head.timestamp));
    let whole = runs.iter().position(EarlierRun::is_whole);
    runs.truncate(whole.map_or(runs.len(), |place| place + 1));
    Ok(runs)
}

/// The interrupted runs of the experiment.
fn interrupted_runs(layout: &Layout, experiment: &str) -> Result<Vec<EarlierRun>, StoreError> {
    let folder = layout.journals();
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|source| storage_error("read", &folder, source))?,
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let journals = paths.filter(|path| path.extension() == Some(OsStr::new("jsonl")));
    Ok(journals.filter_map(|path| EarlierRun::of_journal(path, experiment)).collect())
}

/// The newest result file whose name matches the experiment.
pub fn newest_file(layout: &Layout, experiment: &str) -> Option<PathBuf> {
    let files = result_files(layout, experiment).ok()?;
    files.into_iter().next().map(|(_, path)| path)
}

/// The files whose names match the experiment's runs, newest first, each with its start time.
pub fn result_files(layout: &Layout, experiment: &str) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let failed = |source| storage_error("read", layout.results(), source);
    let entries = match fs::read_dir(layout.results()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let slug = file_slug(experiment);
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if let Some(start) = entry.file_name().to_str().and_then(|name| start_of(name, &slug)) {
            files.push((start.to_owned(), entry.path()));
        }
    }
    files.sort_by(|one, other| other.cmp(one));
    Ok(files)
}

/// The start time in a result file's name, if it belongs to the experiment with this slug.
fn start_of<'a>(name: &'a str, slug: &str) -> Option<&'a str> {
    ResultFileName::parse(name).filter(|name| name.experiment == slug).map(|name| name.start)
}

/// Writes or replaces the baseline of the run's experiment, and returns its path.
///
/// # Errors
///
/// The folder cannot be created, or the file cannot be written.
pub fn write_baseline(layout: &Layout, run: &Measurements) -> Result<PathBuf, StoreError> {
    let folder = layout.baselines();
    layout.create_folder(layout.root()).map_err(|source| storage_error(CREATE_FOLDER, &folder, source))?;
    // It is committed, so it is as readable as the code.
    fs::create_dir_all(&folder).map_err(|source| storage_error(CREATE_FOLDER, &folder, source))?;
    let path = layout.baseline(&run.name);
    let draft = folder.join(format!(".{}.tmp", run.id));
    let items = run.items.iter().map(MeasuredItemRef::to_item).map(Ok);
    write_shared_atomically(&path, &draft, |file| write_json(file, &run.without_items(), items))
        .map_err(|source| storage_error("write", &path, source))?;
    Ok(path)
}

/// Reads the measurements for a comparison from a baseline file or a result file, also of the original tool.
///
/// # Errors
///
/// The file cannot be read, or is neither; the message has the file, line and column.
pub fn read_measurements(path: &Path, prices: &PriceTable) -> Result<Measurements, StoreError> {
    let unfit = |error| not_measurements(path, &error);
    let read = |source| storage_error("read", path, source);
    if let Some(baseline) = open_baseline(path).map_err(read)? {
        let unfit = |error: serde_json::Error| if error.is_io() { read(error.into()) } else { unfit(error) };
        return serde_json::from_reader(baseline).map_err(unfit);
    }
    let bytes = redacted_document(fs::read(path).map_err(read)?);
    match is_baseline(strip_bom(&bytes)).map_err(unfit)? {
        true => serde_json::from_slice(strip_bom(&bytes)).map_err(unfit),
        false => ReportFile::of_bytes(path, bytes, NOT_MEASUREMENTS)?.measurements(prices),
    }
}

/// Opens a file that [`write_baseline`] wrote, which starts with its version: that of a large run takes hundreds of megabytes, so it is
/// not read as one text.
fn open_baseline(path: &Path) -> io::Result<Option<impl Read>> {
    let mut file = BufReader::new(File::open(path)?);
    let start = file.fill_buf()?;
    let text = strip_bom(start);
    let mark = start.len() - text.len();
    let fields = text.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    let is_baseline = fields.is_some_and(|fields| fields.starts_with(b"\"measurements\":"));
    file.consume(mark);
    Ok(is_baseline.then_some(file))
}

/// The experiment's name in a baseline file or a result file.
pub fn read_experiment_name(path: &Path) -> Result<String, StoreError> {
    #[derive(serde::Deserialize)]
    struct Head {
        name: String,
    }

    let bytes = fs::read(path).map_err(|source| storage_error("read", path, source))?;
    let head: Head =
        serde_json::from_slice(strip_bom(&bytes)).map_err(|error| not_measurements(path, &error))?;
    Ok(head.name)
}

const NOT_MEASUREMENTS: &str = "neither a baseline file nor a result file";

fn not_measurements(path: &Path, error: &serde_json::Error) -> StoreError {
    let reason = format!("{NOT_MEASUREMENTS}: {error}");
    storage_error("read", path, io::Error::new(io::ErrorKind::InvalidData, reason))
}

fn is_baseline(bytes: &[u8]) -> serde_json::Result<bool> {
    #[derive(serde::Deserialize)]
    struct Head {
        measurements: Option<Value>,
    }

    Ok(serde_json::from_slice::<Head>(bytes)?.measurements.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::write_report;

    fn layout(root: &Path) -> Layout {
        let root = root.join(".cobalt");
        Layout::new(root.clone(), root.join("results"), root.join("history.db"), root.join("cache"))
    }

    #[test]
    fn a_baseline_is_read_whatever_its_first_field() {
        let folder = tempfile::tempdir().unwrap();
        let item =
            r#"{"key": "a", "content": "00000000000000ff", "latencyMs": 1.0, "scores": {"right": [1.0]}}"#;
        let baseline = format!(
            r#"{{"id": "aaa", "name": "desk", "timestamp": "2026-02-05T14:30:00.500Z", "measurements": 1, "runs": 1,
            "evaluators": [], "items": [{item}, {item}]}}"#
        );
        let path = folder.path().join("baseline.json");
        let read = |text: &str| {
            fs::write(&path, text).unwrap();
            read_measurements(&path, &PriceTable::default())
        };
        let baseline = read(&baseline).unwrap();
        assert_eq!(baseline.items.len(), 2);
        let path = write_baseline(&layout(folder.path()), &baseline).unwrap();
        let written = fs::read_to_string(path).unwrap();
        assert_eq!(read(&written).unwrap(), baseline);
        assert_eq!(read(&format!("\u{feff}{written}")).unwrap(), baseline);
        let error = read(&written.replace("\"a\"", "7")).unwrap_err().to_string();
        assert!(error.contains("baseline.json") && error.contains("neither a baseline"), "{error}");
        assert!(error.contains("line "), "{error}");
    }

    #[test]
    fn runs_are_listed_from_the_newest_and_read_on_demand() {
        let folder = tempfile::tempdir().unwrap();
        let layout = layout(folder.path());
        assert_eq!(runs(&layout).unwrap(), []);
        let report = |id: &str, name: &str, day: u32| -> Report {
            let text = format!(
                r#"{{"id": "{id}", "name": "{name}", "timestamp": "2026-02-{day:02}T14:30:00.500Z", "summary": {{}},
                "config": {{"runs": 1, "concurrency": 1, "timeout": 1, "evaluators": []}}, "items": []}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        for kept in [report("aaa", "Help desk", 5), report("bbb", "sums", 7), report("ccc", "help-desk", 6)] {
            write_report(&layout, &kept).unwrap();
        }
        fs::write(layout.results().join("notes.json"), "{}").unwrap();
        let found = runs(&layout).unwrap();
        assert_eq!(found.iter().map(StoredRun::id).collect::<Vec<_>>(), ["bbb", "ccc", "aaa"]);
        assert_eq!(found[0].start().to_string(), "2026-02-07T14:30:00.000Z");
        assert!(found[1].may_belong_to("help-desk") && !found[0].may_belong_to("help-desk"));
        assert_eq!(found[0].read().unwrap().name, "sums");
        fs::write(found[0].path(), "{").unwrap();
        assert!(found[0].read().unwrap_err().to_string().contains("_sums_bbb.json"));
    }
}
