//! Removes files, one after another: what stands in the way of one does not keep the others.

use std::fs;
use std::io;
use std::path::Path;

use cobalt::store::{CutOffJournal, DATASET_LOCK};

use super::entry::{Entry, Kind};
use crate::baseline::seen;

/// What has become of files that were to go.
#[derive(Debug, Default)]
pub(super) struct Removed {
    pub(super) entries: Vec<Entry>,
    pub(super) notes: Vec<String>,
    pub(super) errors: Vec<String>,
}

pub(super) fn remove(entries: &[Entry]) -> Removed {
    let mut removed = Removed::default();
    for entry in entries {
        match remove_one(entry) {
            Ok(true) => removed.entries.push(entry.clone()),
            Ok(false) => {
                removed.notes.push(format!("`{}` stays: its run has been taken up", seen(&entry.path)))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => removed.errors.push(format!("failed to remove `{}`: {error}", seen(&entry.path))),
        }
    }
    removed
}

/// Removes a file; whether nobody has begun to use it since it was found.
fn remove_one(Entry { kind, path, .. }: &Entry) -> io::Result<bool> {
    match kind {
        Kind::Journal => match CutOffJournal::open(path)? {
            Some(journal) => journal.remove()?,
            None => return Ok(false),
        },
        Kind::Result | Kind::Report | Kind::Answer | Kind::Dataset => fs::remove_file(path)?,
    }
    if *kind == Kind::Dataset {
        // What whoever fetches it locks is of no use by itself.
        let _ = fs::remove_file(path.with_extension(DATASET_LOCK));
    }
    if *kind == Kind::Answer {
        // It is not empty before its last answer is gone.
        let _ = path.parent().map(|folder: &Path| fs::remove_dir(folder));
    }
    Ok(true)
}
