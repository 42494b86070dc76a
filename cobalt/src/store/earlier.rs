//! What earlier runs of an experiment left: the newest whole one, the partial ones since, and those that were interrupted.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::cut_off::read_interrupted;
use super::error::{StoreError, storage};
use super::journal::read_journal;
use super::layout::{Layout, file_slug};
use super::results::{ResultFileName, read_report};
use crate::report::Report;

/// What an earlier run left.
#[derive(Clone, Debug)]
pub(crate) struct Earlier {
    pub(crate) report: Report,
    /// Whether it was interrupted, so that this is what its journal has.
    pub(crate) is_interrupted: bool,
}

impl Earlier {
    /// Whether all items were run.
    pub(crate) fn is_whole(&self) -> bool {
        !self.report.partial && !self.is_interrupted
    }
}

/// The newest whole run of an experiment, and the partial and interrupted ones that started after it, the newest first.
///
/// Of many result files only these are read: the names tell the experiment and the second in which a run started.
pub(crate) fn latest_runs(layout: &Layout, experiment: &str) -> Result<Vec<Earlier>, StoreError> {
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
pub(super) fn newest_file(layout: &Layout, experiment: &str) -> Option<PathBuf> {
    let files = result_files(layout, experiment).ok()?;
    files.into_iter().next().map(|(_, path)| path)
}

/// The files whose names are those of the experiment's runs, the newest first, each with its start.
pub(crate) fn result_files(layout: &Layout, experiment: &str) -> Result<Vec<(String, PathBuf)>, StoreError> {
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
