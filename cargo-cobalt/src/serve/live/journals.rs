//! The journals of all runs that have not ended.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use cobalt::report::ItemResult;

use super::journal::Journal;
use crate::serve::api::LiveRun;

/// The folder of the journals.
#[derive(Debug)]
pub(super) struct Journals {
    folder: PathBuf,
    /// Those that are there, by their names.
    known: BTreeMap<OsString, Journal>,
}

impl Journals {
    pub(super) fn of(folder: PathBuf) -> Self {
        Self { folder, known: BTreeMap::new() }
    }

    /// Reads what was added to all of them, and tells of each item that was finished, with its run's id.
    pub(super) fn follow(&mut self, mut tell: impl FnMut(&str, ItemResult)) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut before = std::mem::take(&mut self.known);
        for path in entries.map(|entry| entry.path()) {
            let is_journal = path.extension().is_some_and(|extension| extension == "jsonl");
            let (Some(name), true) = (path.file_name(), is_journal) else { continue };
            let mut journal = before.remove(name).unwrap_or_else(|| Journal::new(&path));
            // It may have been removed at this moment, as its run has ended.
            let Ok(items) = journal.follow() else { continue };
            if let Some(id) = journal.id() {
                items.into_iter().for_each(|item| tell(id, item));
            }
            self.known.insert(name.to_owned(), journal);
        }
    }

    /// The journal of the run of this id.
    pub(super) fn path(&self, id: &str) -> Option<&Path> {
        self.known.values().find(|journal| journal.id() == Some(id)).map(Journal::path)
    }

    /// The runs, the newest first.
    pub(super) fn runs(&self) -> Vec<LiveRun> {
        let mut runs: Vec<_> = self.known.values().filter_map(Journal::run).collect();
        runs.sort_by(|one, two| two.timestamp.cmp(&one.timestamp));
        runs
    }
}
