//! Whether the folder of the result files is another one than before, asked so that it costs next to nothing where it is not.

use std::collections::BTreeMap;
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
}

impl ResultFiles {
    pub(super) fn of(folder: PathBuf) -> Self {
        Self { folder, modified: None, files: BTreeMap::new() }
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
        let has_changed = files != self.files;
        (self.modified, self.files) = (modified, files);
        has_changed
    }

    /// Whether there is a file of the run of this id.
    pub(super) fn have(&self, id: &str) -> bool {
        self.files.keys().any(|file| ResultFileName::parse(file).is_some_and(|name| name.id == id))
    }
}
