//! Whether the folder of the result files is another one than before, asked so that it costs next to nothing where it is not.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use cobalt::store::ResultFileName;

use crate::index::{Stamp, result_files};

/// How long a folder that has changed is looked into although its time stays the same: what changes within one tick of the
/// file system's clock has the same time.
const TICK: Duration = Duration::from_secs(2);

/// The result files as they were last seen.
#[derive(Debug)]
pub(super) struct ResultFiles {
    folder: PathBuf,
    /// When the folder last changed.
    modified: Option<SystemTime>,
    files: BTreeMap<String, Stamp>,
    /// The ids that their names tell.
    ids: HashSet<String>,
}

impl ResultFiles {
    pub(super) fn of(folder: PathBuf) -> Self {
        Self { folder, modified: None, files: BTreeMap::new(), ids: HashSet::new() }
    }

    /// Looks whether files came or went, or have been replaced.
    pub(super) fn have_changed(&mut self) -> bool {
        let modified = fs::metadata(&self.folder).and_then(|folder| folder.modified()).ok();
        let is_settled = modified.is_none_or(|time| time.elapsed().is_ok_and(|age| age > TICK));
        if modified == self.modified && is_settled {
            return false;
        }
        // Where it cannot be listed, that is told to whoever asks for runs.
        let files = result_files(&self.folder).unwrap_or_default();
        self.modified = modified;
        if files == self.files {
            return false;
        }
        let ids = files.keys().filter_map(|file| Some(ResultFileName::parse(file)?.id.to_owned()));
        self.ids = ids.collect();
        self.files = files;
        true
    }

    /// Whether there is a file of the run of this id.
    pub(super) fn have(&self, id: &str) -> bool {
        self.ids.contains(id)
    }
}
