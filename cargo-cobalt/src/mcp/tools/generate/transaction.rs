//! Temporary changes to files, which are rolled back unless they are kept.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::atomic_file::replace;
use crate::error::Error;
use crate::init::{InitError, create};

/// How often to retry if a manifest changes while it is edited.
const ATTEMPTS: usize = 3;

/// The changes so far; dropping it rolls them back.
#[derive(Debug, Default)]
pub struct Transaction {
    /// New files and folders, in the order of their creation.
    created: Vec<PathBuf>,
    saved: Vec<SavedFile>,
    edit: Option<Edit>,
    is_committed: bool,
}

/// A file to restore.
#[derive(Debug)]
struct SavedFile {
    path: PathBuf,
    /// Its bytes, if it existed.
    before: Option<Vec<u8>>,
    /// Its contents after our last write, if known: any other contents are someone else's.
    left: Option<Option<Vec<u8>>>,
}

/// An edit of a user's file.
#[derive(Debug)]
struct Edit {
    path: PathBuf,
    before: String,
    after: String,
}

impl Transaction {
    /// Records a file before cargo may write it.
    pub fn save(&mut self, path: &Path) -> Result<(), Error> {
        if let Some(noted) = self.saved.iter_mut().find(|noted| noted.path == path) {
            noted.left = None;
            return Ok(());
        }
        let before = match fs::read(path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(InitError::file("read", path)(error).into()),
        };
        self.saved.push(SavedFile { path: path.to_owned(), before, left: None });
        Ok(())
    }

    /// Records the contents of a file after cargo may have written it.
    pub fn record_written(&mut self, path: &Path) {
        if let Some(noted) = self.saved.iter_mut().find(|noted| noted.path == path) {
            noted.left = Some(fs::read(path).ok());
        }
    }

    /// Writes a file. Replaces an existing one only with `overwrite`.
    pub fn write(&mut self, path: &Path, text: &str, overwrite: bool) -> Result<(), Error> {
        let is_ours =
            self.created.iter().any(|made| made == path) || self.saved.iter().any(|noted| noted.path == path);
        if !is_ours && overwrite && path.is_file() {
            self.save(path)?;
        } else if !is_ours {
            let created = create(path, text, &mut self.created);
            return created.map_err(|error| InitError::file("create", path)(error).into());
        }
        replace(path, text).map_err(|error| Error::from(InitError::file("write", path)(error)))?;
        self.record_written(path);
        Ok(())
    }

    /// Edits a text file once; `edit` returns its new text, if it changes.
    pub fn edit(
        &mut self,
        path: &Path,
        edit: impl Fn(&str) -> Result<Option<String>, InitError>,
    ) -> Result<(), Error> {
        let read = || fs::read_to_string(path).map_err(InitError::file("read", path));
        for _ in 0..ATTEMPTS {
            let before = read()?;
            let Some(after) = edit(&before)? else { return Ok(()) };
            // Another process may have written it meanwhile.
            if read()? == before {
                replace(path, &after).map_err(InitError::file("write", path))?;
                self.edit = Some(Edit { path: path.to_owned(), before, after });
                return Ok(());
            }
        }
        let problem = "another process is writing it".to_owned();
        Err(InitError::file("edit", path)(io::Error::other(problem)).into())
    }

    /// Commits the changes.
    pub fn commit(mut self) {
        self.is_committed = true;
    }

    /// Rolls back all changes, and returns what could not be restored.
    pub fn rollback(&mut self) -> Vec<String> {
        let mut left = Vec::new();
        for path in self.created.drain(..).rev() {
            // A new folder with other files in it stays.
            if fs::remove_file(&path).is_err() {
                let _ = fs::remove_dir(&path);
            }
        }
        for SavedFile { path, before, left: ours } in self.saved.drain(..) {
            let now = fs::read(&path).ok();
            if now == before || ours.is_some_and(|ours| ours != now) {
                continue;
            }
            let restored = match before {
                Some(bytes) => fs::write(&path, bytes),
                None => fs::remove_file(&path),
            };
            if let Err(error) = restored {
                left.push(format!("`{}` could not be restored: {error}", path.display()));
            }
        }
        if let Some(Edit { path, before, after }) = self.edit.take() {
            let now = fs::read_to_string(&path).unwrap_or_default();
            match remove_additions(&now, &before, &after) {
                Some(text) if replace(&path, &text).is_ok() => {}
                _ => left.push(format!(
                    "`{}` was changed by another process meanwhile: remove what was added to it",
                    path.display()
                )),
            }
        }
        left
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        if !self.is_committed {
            self.rollback().iter().for_each(|left| eprintln!("warning: {left}"));
        }
    }
}

/// The text without what was added between `before` and `after`, even if it has other changes.
fn remove_additions(now: &str, before: &str, after: &str) -> Option<String> {
    if now == after {
        return Some(before.to_owned());
    }
    let mut rest = now.to_owned();
    for added in additions(before, after)? {
        let (start, end) = rest.split_once(&added)?;
        rest = format!("{start}{end}");
    }
    Some(rest)
}

/// The added lines, in blocks; `None` if other lines were changed.
fn additions(before: &str, after: &str) -> Option<Vec<String>> {
    let mut old = before.split_inclusive('\n').peekable();
    let mut blocks = Vec::new();
    let mut block = String::new();
    for line in after.split_inclusive('\n') {
        if old.next_if(|old| old.trim_end() == line.trim_end()).is_none() {
            block.push_str(line);
        } else if !block.is_empty() {
            blocks.push(std::mem::take(&mut block));
        }
    }
    blocks.extend(Some(block).filter(|block| !block.is_empty()));
    old.next().is_none().then_some(blocks)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"desk\"\n\n[dev-dependencies]\nserde = \"1\"\n";
    const EDITED: &str = "[package]\nname = \"desk\"\n\n[dev-dependencies]\nserde = \"1\"\ncobalt = \"x\"\n\n[[test]]\nname = \"evals\"\n";

    fn edit(folder: &Path) -> Transaction {
        let mut transaction = Transaction::default();
        transaction.edit(&folder.join("Cargo.toml"), |_| Ok(Some(EDITED.to_owned()))).unwrap();
        transaction
    }

    #[test]
    fn a_rollback_removes_new_files_and_folders_and_restores_replaced_files() {
        let folder = tempfile::tempdir().unwrap();
        let (new, old, lock) = (
            folder.path().join("data/deep/new.jsonl"),
            folder.path().join("old.rs"),
            folder.path().join("Cargo.lock"),
        );
        fs::write(&old, "old").unwrap();
        let mut transaction = Transaction::default();
        transaction.save(&lock).unwrap();
        fs::write(&lock, "made by cargo").unwrap();
        for text in ["first", "second"] {
            transaction.write(&new, text, false).unwrap();
            transaction.write(&old, text, true).unwrap();
            assert_eq!(fs::read_to_string(&old).unwrap(), text);
        }
        drop(transaction);
        assert_eq!(fs::read_to_string(&old).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn other_changes_of_the_lock_file_between_two_checks_stay() {
        let folder = tempfile::tempdir().unwrap();
        let lock = folder.path().join("Cargo.lock");
        for (after_check, at_end) in [("cargo's", "old"), ("the user's", "the user's")] {
            fs::write(&lock, "old").unwrap();
            let mut transaction = Transaction::default();
            transaction.save(&lock).unwrap();
            fs::write(&lock, "cargo's").unwrap();
            transaction.record_written(&lock);
            fs::write(&lock, after_check).unwrap();
            assert_eq!(transaction.rollback(), [""; 0]);
            assert_eq!(fs::read_to_string(&lock).unwrap(), at_end);
        }
    }

    #[test]
    fn a_file_created_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.rs");
        fs::write(&path, "somebody's").unwrap();
        assert!(Transaction::default().write(&path, "ours", false).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's");
    }

    #[test]
    fn committed_changes_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut transaction = Transaction::default();
        transaction.write(&folder.path().join("new.rs"), "new", false).unwrap();
        transaction.commit();
        assert!(folder.path().join("new.rs").is_file());
    }

    #[test]
    fn a_rollback_of_a_manifest_keeps_other_changes() {
        let folder = tempfile::tempdir().unwrap();
        let manifest = folder.path().join("Cargo.toml");
        fs::write(&manifest, MANIFEST).unwrap();
        drop(edit(folder.path()));
        assert_eq!(fs::read_to_string(&manifest).unwrap(), MANIFEST);

        let transaction = edit(folder.path());
        fs::write(&manifest, EDITED.replace("serde = \"1\"", "serde = \"1\"\nrand = \"0.9\"")).unwrap();
        drop(transaction);
        let expected = MANIFEST.replace("serde = \"1\"", "serde = \"1\"\nrand = \"0.9\"");
        assert_eq!(fs::read_to_string(&manifest).unwrap(), expected);

        fs::write(&manifest, MANIFEST).unwrap();
        let mut transaction = edit(folder.path());
        fs::write(&manifest, "[package]\nname = \"another\"\n").unwrap();
        assert!(transaction.rollback()[0].contains("remove what was added"));
        assert_eq!(fs::read_to_string(&manifest).unwrap(), "[package]\nname = \"another\"\n");
    }
}
