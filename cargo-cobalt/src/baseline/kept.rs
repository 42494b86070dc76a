//! The files of a folder, and how messages name them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::index::IndexError;

/// The JSON files in a folder, sorted by their names. A folder that is not there has none.
pub(crate) fn json_files(folder: &Path) -> Result<Vec<PathBuf>, IndexError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let entries = entries.map_err(|source| IndexError::Results { path: folder.to_owned(), source })?;
    let mut files: Vec<_> =
        entries.into_iter().map(|entry| entry.path()).filter(|path| is_json(path)).collect();
    files.sort();
    Ok(files)
}

/// What is being written begins with a dot.
fn is_json(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".json") && !name.starts_with('.')
}
