//! Removes files, one after another: what stands in the way of one does not keep the others.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use cobalt::store::{CutOffJournal, Layout};

use super::entry::{Entry, Kind};
use crate::terminal::seen;

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
                let why = if entry.kind == Kind::Dataset {
                    "it is fetched anew"
                } else {
                    "its run has been taken up"
                };
                removed.notes.push(format!("`{}` stays: {why}", seen(&entry.path)))
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
        Kind::Dataset => return remove_copy(path),
        Kind::Result | Kind::Report | Kind::Answer => fs::remove_file(path)?,
    }
    if *kind == Kind::Answer {
        // It is not empty before its last answer is gone.
        let _ = path.parent().map(|folder: &Path| fs::remove_dir(folder));
    }
    Ok(true)
}

/// Removes a copy of a data set, unless a process fetches it, which holds the lock.
fn remove_copy(path: &Path) -> io::Result<bool> {
    let lock = Layout::copy_lock(path);
    let held = File::options().write(true).open(&lock).ok();
    if held.as_ref().is_some_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock))) {
        return Ok(false);
    }
    fs::remove_file(path)?;
    // By itself it is of no use.
    let _ = fs::remove_file(lock);
    Ok(true)
}
