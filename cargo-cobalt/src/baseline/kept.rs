//! The files of a folder, and how messages name them.

use std::io;
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::index::IndexError;
use crate::terminal::one_line;

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

/// A path as seen from the current folder.
pub(crate) fn seen(path: &Path) -> String {
    let folder = env::current_dir().unwrap_or_default();
    one_line(&path.strip_prefix(&folder).unwrap_or(path).display().to_string())
}
