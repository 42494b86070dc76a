//! Data sets from files: which file, and what is known of its format.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use super::format::by_extension;
use super::shards::files;
use super::{Dataset, DatasetError, Format, Told, read};
use crate::{Error, paths, suggest};

impl Dataset {
    /// The items of a file, or of all files that a pattern such as `data/train-*.parquet` stands for; a relative path
    /// begins at the package's folder.
    ///
    /// Which formats there are, also compressed, and what tells them, says [the module](crate::dataset#files). A `.json`
    /// file with an object per line is read as JSONL.
    ///
    /// ```
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let path = folder.path().join("questions.jsonl");
    /// std::fs::write(&path, "{\"input\": \"2 + 2\"}\n{\"input\": \"3 + 3\"}\n").unwrap();
    ///
    /// let dataset = cobalt::Dataset::from_file(&path)?;
    /// assert_eq!(dataset.len(), 2);
    /// # Ok::<(), cobalt::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Where the file cannot be read, breaks the rules of its format, or has no items; where no file matches a pattern.
    /// The message names the file and the line.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        load(path.as_ref(), None)
    }

    /// The items of a JSON file, whatever its extension: an array of objects, or an object with such an array as
    /// `items`.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file).
    pub fn from_json(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        load(path.as_ref(), Some(Format::Json))
    }

    /// The items of a JSONL file, whatever its extension: an object per line.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file).
    pub fn from_jsonl(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        load(path.as_ref(), Some(Format::Jsonl))
    }

    /// The items of a CSV file, whatever its extension: a header, then a row per item, split at tabs where the
    /// extension is `tsv` or `tab`. All values are strings, with the spaces that they are written with.
    ///
    /// # Errors
    ///
    /// As for [`from_file`](Dataset::from_file); also for a header with an empty or repeated name, a row that is
    /// longer or shorter than the header, and a misplaced quote.
    pub fn from_csv(path: impl AsRef<Path>) -> Result<Dataset, Error> {
        let path = path.as_ref();
        let tabs = by_extension(&path.to_string_lossy()) == Some(Format::Tsv);
        load(path, Some(if tabs { Format::Tsv } else { Format::Csv }))
    }

    /// [`from_file`](Dataset::from_file) for a path that begins at the root of the workspace.
    pub(crate) fn from_workspace(workspace: &Path, path: &Path) -> Result<Dataset, Error> {
        load_from(&Root { folder: workspace, called: "the root of the workspace" }, path, None)
    }
}

/// Where relative paths begin.
struct Root<'a> {
    folder: &'a Path,
    called: &'static str,
}

fn load(path: &Path, format: Option<Format>) -> Result<Dataset, Error> {
    let root = Root { folder: &paths::package_root(), called: "the package's folder" };
    load_from(&root, path, format)
}

fn load_from(root: &Root<'_>, path: &Path, format: Option<Format>) -> Result<Dataset, Error> {
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
