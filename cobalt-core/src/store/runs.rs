//! The runs of a project by their result files, the earlier runs of an experiment, and the baseline files.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

use super::error::{CREATE, StoreError, storage};
use super::journal::read_journal;
use super::layout::{Layout, file_slug};
use super::results::{ResultFileName, read_report, without_mark, write_by_line};
use super::unfinished::read_interrupted;
use crate::prices::PriceTable;
use crate::report::{Measurements, Report};
use crate::timestamp::Timestamp;

/// A run whose result file is kept, as far as the file's name tells of it.
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

    /// Whether it may be a run of the experiment of this name: in names of files, some names are written alike.
    #[must_use]
    pub fn may_be_of(&self, experiment: &str) -> bool {
        self.slug == file_slug(experiment)
    }

    /// Reads the report with all its items.
    ///
    /// # Errors
    ///
    /// The file is gone, cannot be read, or is no result file: the error names it, with the line and the column.
    pub fn read(&self) -> Result<Report, StoreError> {
        read_report(&self.path)
    }
}

/// The runs whose result files are kept, those of the original among them, the newest first. Files with other names are left out,
/// and no file is opened. Without a folder of results there is none.
///
/// ```no_run
/// use cobalt::files::{layout, runs};
///
/// // The averages of an experiment over its last ten runs.
/// for run in runs(&layout()?)?.iter().filter(|run| run.may_be_of("help-desk")).take(10) {
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
/// The folder of results cannot be read.
pub fn runs(layout: &Layout) -> Result<Vec<StoredRun>, StoreError> {
    let failed = |source| storage("read", layout.results(), source);
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

/// What an earlier run left.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// Its report, as far as it came.
    pub report: Report,
    /// Whether it was interrupted, so that this is what its journal has.
    pub is_interrupted: bool,
}

impl Earlier {
    /// Whether all items were run.
    pub fn is_whole(&self) -> bool {
        !self.report.partial && !self.is_interrupted
    }
}

/// The newest whole run of an experiment, and the partial and interrupted ones that started after it, the newest first.
///
/// Of many result files only these are read: the names tell the experiment and the second in which a run started.
pub fn latest_runs(layout: &Layout, experiment: &str) -> Result<Vec<Earlier>, StoreError> {
    let mut runs: Vec<Earlier> = Vec::new();
    let mut start_of_whole = None;
    for (start, path) in result_files(layout, experiment)? {
        if start_of_whole.as_ref().is_some_and(|whole| *whole != start) {
            break;
        }
        let report = read_report(&path)?;
        // Names that differ may be written alike in names of files.
        if report.name == experiment {
            start_of_whole = start_of_whole.or_else(|| (!report.partial).then_some(start));
            runs.push(Earlier { report, is_interrupted: false });
        }
    }
    runs.extend(interrupted(layout, experiment)?);
    runs.sort_by_key(|run| Reverse(run.report.timestamp));
    let whole = runs.iter().position(Earlier::is_whole);
    runs.truncate(whole.map_or(runs.len(), |place| place + 1));
    Ok(runs)
}

/// The runs of the experiment whose journals no process writes to any more.
fn interrupted(layout: &Layout, experiment: &str) -> Result<Vec<Earlier>, StoreError> {
    let folder = layout.journals();
    let entries = match fs::read_dir(&folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|source| storage("read", &folder, source))?,
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let journals = paths.filter(|path| path.extension() == Some(OsStr::new("jsonl")));
    Ok(journals.filter_map(|path| so_far(&path, experiment)).collect())
}

/// What is finished of an interrupted run. `None` where the run goes on, is another experiment's, or cannot be read: it cannot
/// be resumed then either.
fn so_far(path: &Path, experiment: &str) -> Option<Earlier> {
    let contents = read_journal(&read_interrupted(path, experiment).ok()??).ok()?;
    // An item that was run again stands there twice; the later one counts.
    let items: BTreeMap<_, _> = contents.items.into_iter().map(|item| (item.index, item)).collect();
    let report = contents.header.report(items.into_values().collect());
    Some(Earlier { report, is_interrupted: true })
}

/// The newest result file that has the experiment's name, or one that is written alike in names of files.
pub fn newest_file(layout: &Layout, experiment: &str) -> Option<PathBuf> {
    let files = result_files(layout, experiment).ok()?;
    files.into_iter().next().map(|(_, path)| path)
}

/// The files whose names are those of the experiment's runs, the newest first, each with its start.
pub fn result_files(layout: &Layout, experiment: &str) -> Result<Vec<(String, PathBuf)>, StoreError> {
    let failed = |source| storage("read", layout.results(), source);
    let entries = match fs::read_dir(layout.results()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let slug = file_slug(experiment);
    let mut files = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if let Some(start) = entry.file_name().to_str().and_then(|name| start(name, &slug)) {
            files.push((start.to_owned(), entry.path()));
        }
    }
    files.sort_by(|one, other| other.cmp(one));
    Ok(files)
}

/// The start in the name of a result file, where it is one of a run of the experiment with this slug.
fn start<'a>(name: &'a str, slug: &str) -> Option<&'a str> {
    ResultFileName::parse(name).filter(|name| name.experiment == slug).map(|name| name.start)
}

/// Writes the baseline of the run's experiment in place of an earlier one, and returns its path.
///
/// # Errors
///
/// The folder cannot be made, or the file not be written.
pub fn write_baseline(layout: &Layout, run: &Measurements) -> Result<PathBuf, StoreError> {
    let folder = layout.baselines();
    layout.create_folder(&folder).map_err(|source| storage(CREATE, &folder, source))?;
    let path = layout.baseline(&run.name);
    let draft = folder.join(format!(".{}.tmp", run.id));
    write_by_line(&path, &draft, &run.without_items(), &run.items)?;
    Ok(path)
}

/// Reads what a comparison needs, from a baseline file or a result file, one of the original's too.
///
/// # Errors
///
/// The file cannot be read, or is neither; the message names the file, and the line and column.
pub fn read_measurements(path: &Path, prices: &PriceTable) -> Result<Measurements, StoreError> {
    let unfit = |error| unfit(path, &error);
    let bytes = fs::read(path).map_err(|source| storage("read", path, source))?;
    let bytes = without_mark(&bytes);
    let is_baseline = is_baseline(bytes).map_err(unfit)?;
    if is_baseline {
        return serde_json::from_slice(bytes).map_err(unfit);
    }
    let report: Report = serde_json::from_slice(bytes).map_err(unfit)?;
    Ok(Measurements::of(&report, prices))
}

/// The name of the experiment that a baseline file or a result file is of.
pub fn experiment_of(path: &Path) -> Result<String, StoreError> {
    #[derive(serde::Deserialize)]
    struct Head {
        name: String,
    }

    let bytes = fs::read(path).map_err(|source| storage("read", path, source))?;
    let head: Head = serde_json::from_slice(without_mark(&bytes)).map_err(|error| unfit(path, &error))?;
    Ok(head.name)
}

fn unfit(path: &Path, error: &serde_json::Error) -> StoreError {
    let reason = format!("neither a baseline file nor a result file: {error}");
    storage("read", path, io::Error::new(io::ErrorKind::InvalidData, reason))
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
        assert!(found[1].may_be_of("help-desk") && !found[0].may_be_of("help-desk"));
        assert_eq!(found[0].read().unwrap().name, "sums");
        fs::write(found[0].path(), "{").unwrap();
        assert!(found[0].read().unwrap_err().to_string().contains("_sums_bbb.json"));
    }
}
