//! Atomic writes of files.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Writes a file atomically, using a draft that is synced and renamed. The draft is removed if that fails.
pub fn write_atomically(
    path: &Path,
    draft: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    write_draft(draft, write)?.publish(path)
}

/// A file that is written and synced, but does not have its name yet. It is removed on drop.
#[derive(Debug)]
#[must_use]
pub struct Draft {
    path: PathBuf,
    is_named: bool,
}

impl Draft {
    /// Of a file that exists.
    pub fn of(path: PathBuf) -> Self {
        Self { path, is_named: false }
    }

    /// Where the draft is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name. A file that has the name is replaced.
    pub fn publish(mut self, name: &Path) -> io::Result<()> {
        fs::rename(&self.path, name)?;
        self.is_named = true;
        sync_folder(name);
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_named {
            // An error of that would hide the original one.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Writes and syncs a draft.
pub fn write_draft(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<Draft> {
    let file = File::create(path)?;
    let draft = Draft::of(path.to_owned());
    let mut file = BufWriter::with_capacity(1 << 16, file);
    write(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.sync_all()?;
    Ok(draft)
}

/// Syncs the folder of a created or renamed file, which persists its name. The file is already visible, so errors are ignored.
pub fn sync_folder(file: &Path) {
    // Other systems cannot open folders, and persist names on their own.
    if cfg!(unix)
        && let Some(folder) = file.parent()
    {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}
