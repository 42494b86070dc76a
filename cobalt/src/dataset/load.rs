//! Data sets from files: which file, and what is known of its format.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use super::shards::files;
use super::{Dataset, DatasetError, Format, Told, read};
use crate::{paths, suggest};

impl Dataset {
    /// [`read_package_file`] for a path that begins at the root of the workspace.
    pub(crate) fn from_workspace(workspace: &Path, path: &Path) -> Result<Dataset, DatasetError> {
        load_from(&Root { folder: workspace, called: "the root of the workspace" }, path, None)
    }
}

/// Where relative paths begin.
struct Root<'a> {
    folder: &'a Path,
    called: &'static str,
}

/// The items of a file, or of all files that a pattern stands for; a relative path begins at the package's folder. Without a
/// format, it is told by the file.
pub(crate) fn read_package_file(path: &Path, format: Option<Format>) -> Result<Dataset, DatasetError> {
    let root = Root { folder: &paths::package_root(), called: "the package's folder" };
    load_from(&root, path, format)
}

fn load_from(root: &Root<'_>, path: &Path, format: Option<Format>) -> Result<Dataset, DatasetError> {
    let shown = path.display().to_string();
    let mut items = Vec::new();
    for file in files(root.folder, path, &shown).map_err(|error| with_hint(error, path, root))? {
        let name = file.display().to_string();
        let told = Told { format, ..Told::by_name(&name) };
        items.extend(
            read(&root.folder.join(&file), &name, &told).map_err(|error| with_hint(error, &file, root))?,
        );
    }
    Ok(Dataset::new(shown, items))
}

/// Adds to an error what helps to find a file that is not there.
fn with_hint(error: DatasetError, path: &Path, root: &Root<'_>) -> DatasetError {
    match with_similar_name(error, &root.folder.join(path)) {
        DatasetError::Read { file, cause, hint } if cause.kind() == io::ErrorKind::NotFound => {
            DatasetError::Read { file, cause, hint: hint + &beginning(path, root) }
        }
        DatasetError::Read { file, cause, .. } if cause.kind() == io::ErrorKind::IsADirectory => {
            let hint = format!(": name its files by a pattern, such as `{file}/*.jsonl`");
            DatasetError::Read { file, cause, hint }
        }
        other => other,
    }
}

/// Adds to an error about a file that is not there the name of one that may be meant.
pub(super) fn with_similar_name(error: DatasetError, path: &Path) -> DatasetError {
    match error {
        DatasetError::Read { file, cause, .. } if cause.kind() == io::ErrorKind::NotFound => {
            DatasetError::Read { file, cause, hint: similar_name(path) }
        }
        other => other,
    }
}

fn similar_name(path: &Path) -> String {
    let names: Vec<_> = path
        .parent()
        .and_then(|folder| fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let wanted = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    let meant = suggest::closest(wanted, names.iter().map(String::as_str));
    meant.map(|meant| format!(": is `{meant}` meant?")).unwrap_or_default()
}

/// Where a relative path begins.
fn beginning(path: &Path, root: &Root<'_>) -> String {
    if path.is_absolute() {
        return String::new();
    }
    format!(" (a relative path begins at {}, {})", root.called, root.folder.display())
}
