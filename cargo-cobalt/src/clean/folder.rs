//! What lies in a folder of the store itself: links are not followed.

use std::ffi::OsString;
use std::fs::{self, DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cobalt::store::Layout;

use super::entry::{Entry, Found, Kind};
use crate::error::Error;
use crate::terminal::seen;

/// Something in a folder, under a name that can be read.
#[derive(Debug)]
pub(super) struct Inside {
    pub(super) name: String,
    entry: DirEntry,
}

/// Whether a folder of the store may be looked into. One that is a link is left alone, and said to be.
pub(super) fn is_ours(folder: &Path, layout: &Layout, found: &mut Found) -> bool {
    let link = link(folder, layout);
    let note = |link| format!("`{}` is a symbolic link, and what it leads to is left alone", seen(link));
    found.notes.extend(link.as_deref().map(note));
    link.is_none()
}

/// The files in a folder. One that is not there has none.
pub(super) fn files(folder: &Path) -> Result<Vec<Inside>, Error> {
    list(folder, FileType::is_file)
}

/// The folders in a folder.
pub(super) fn folders(folder: &Path) -> Result<Vec<Inside>, Error> {
    list(folder, FileType::is_dir)
}

/// The folder of the store or that of everything, where it is a link.
fn link(folder: &Path, layout: &Layout) -> Option<PathBuf> {
    let journals = layout.journals();
    let root = journals.parent().filter(|root| folder.starts_with(root));
    let is_link = |path: &&Path| path.is_symlink();
    root.into_iter().chain([folder]).find(is_link).map(Path::to_owned)
}

fn list(folder: &Path, is_wanted: fn(&FileType) -> bool) -> Result<Vec<Inside>, Error> {
    let failed = |source| Error::Folder { path: folder.to_owned(), source };
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut inside = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        // The type is that of the entry itself, where it is a link.
        if is_wanted(&entry.file_type().map_err(failed)?) {
            let name = entry
                .file_name()
                .into_string()
                .unwrap_or_else(|name: OsString| name.to_string_lossy().into());
            inside.push(Inside { name, entry });
        }
    }
    inside.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(inside)
}

impl Inside {
    pub(super) fn path(&self) -> PathBuf {
        self.entry.path()
    }

    /// The file as one that may go. `None` where it is gone already. `time` is that of its run, in place of when it was last
    /// written.
    pub(super) fn entry(&self, kind: Kind, time: Option<SystemTime>) -> Result<Option<Entry>, Error> {
        let read = self.entry.metadata().and_then(|metadata| {
            let time = time.map_or_else(|| metadata.modified(), Ok)?;
            Ok(Entry { kind, path: self.path(), size: metadata.len(), time })
        });
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(|source| Error::Folder { path: self.path(), source }),
        }
    }
}
