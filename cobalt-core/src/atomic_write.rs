//! Atomic writes of files.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::Path;

/// Writes a file atomically, using a draft that is synced and renamed. The draft is removed if that fails.
pub fn write_atomically(
    path: &Path,
    draft: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let written = File::create(draft).and_then(|file| {
        let mut file = BufWriter::with_capacity(1 << 16, file);
        write(&mut file)?;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(draft, path)?;
        sync_folder(path);
        Ok(())
    });
    if written.is_err() {
        // An error of that would hide the original one.
        let _ = fs::remove_file(draft);
    }
    written
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
