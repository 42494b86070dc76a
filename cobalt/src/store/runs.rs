//! The runs of a project: their result files, listed by what their names tell and read one by one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::{StoreError, storage};
use super::layout::{Layout, file_slug};
use super::results::{ResultFileName, read_report};
use crate::report::Report;
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
/// use cobalt::config::Config;
/// use cobalt::store::runs;
///
/// let config = Config::from_environment()?;
/// // The averages of an experiment over its last ten runs.
/// for run in runs(config.layout())?.iter().filter(|run| run.may_be_of("help-desk")).take(10) {
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
