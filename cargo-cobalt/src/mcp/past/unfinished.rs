//! The runs that have not ended, as their journals have them.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use cobalt::Report;
use cobalt::config::Config;
use cobalt::store::{JournalContents, is_going_on, read_journal};
use schemars::JsonSchema;
use serde::Serialize;

/// A run that has not ended, as lists name it.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) struct UnfinishedRun {
    pub(in crate::mcp) id: String,
    /// The experiment's name.
    pub(in crate::mcp) experiment: String,
    /// The start, ISO 8601 in UTC.
    pub(in crate::mcp) timestamp: String,
    pub(in crate::mcp) state: State,
    /// How many items are finished.
    pub(in crate::mcp) finished_items: usize,
    /// How many there are to run.
    pub(in crate::mcp) total_items: usize,
}

impl UnfinishedRun {
    /// Reads a journal; `None` where it is gone meanwhile, or not begun.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let bytes = fs::read(path).ok()?;
        let mut lines = memchr::memchr_iter(b'\n', &bytes);
        let header = read_journal(&bytes[..=lines.next()?]).ok()?.header;
        let total_items = header.planned_items();
        Some(Self {
            finished_items: lines.count().min(total_items),
            total_items,
            timestamp: header.timestamp.to_string(),
            state: State::of_journal(path).ok()?,
            id: header.id,
            experiment: header.name,
        })
    }
}

/// Whether a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::mcp) enum State {
    /// It has ended: its file has all that it found.
    Ended,
    /// It goes on: further items will be finished.
    GoingOn,
    /// It was cut off, and can be resumed.
    CutOff,
}

impl State {
    pub(super) fn of_journal(path: &Path) -> io::Result<Self> {
        Ok(if is_going_on(path)? { Self::GoingOn } else { Self::CutOff })
    }
}

/// The journals in a folder, by the ids of their runs.
pub(crate) fn journals(folder: &Path) -> BTreeMap<String, PathBuf> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let journals = paths.filter(|path| path.extension() == Some(OsStr::new("jsonl")));
    journals.filter_map(|path| Some((path.file_stem()?.to_str()?.to_owned(), path))).collect()
}

/// What is finished of a run. An item that was run again counts by its later line.
pub(crate) fn so_far(contents: JournalContents, settings: &Config) -> Report {
    let JournalContents { header, items, elapsed, .. } = contents;
    let items: BTreeMap<_, _> = items.into_iter().map(|item| (item.index, item)).collect();
    header.report_so_far(items.into_values().collect(), elapsed, settings.prices())
}
