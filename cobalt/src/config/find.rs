//! Which file the settings are read from: one counts, the nearest.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::error::ConfigError;

/// The name of the file.
pub(super) const FILE: &str = "cobalt.toml";
const MANIFEST: &str = "Cargo.toml";

/// A file that may hold the settings.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// The tables that the settings stand in; none where the whole file is about them.
    pub(super) tables: &'static [&'static str],
}

/// The files that may hold the settings of a folder, nearest first. Manifests need not hold any.
pub(super) fn candidates(
    folder: &Path,
    workspace: &Path,
) -> impl Iterator<Item = Result<Source, ConfigError>> {
    let places: [(PathBuf, &'static [&'static str]); 4] = [
        (folder.join(FILE), &[]),
        (workspace.join(FILE), &[]),
        (folder.join(MANIFEST), &["package", "metadata", "cobalt"]),
        (workspace.join(MANIFEST), &["workspace", "metadata", "cobalt"]),
    ];
    places.into_iter().filter_map(|(path, tables)| read(path, tables).transpose())
}

/// A file that was asked for by its path.
pub(super) fn asked_for(path: PathBuf, hint: &'static str) -> Result<Source, ConfigError> {
    let text =
        fs::read_to_string(&path).map_err(|source| ConfigError::Read { path: path.clone(), source, hint })?;
    Ok(Source { path, text, tables: &[] })
}

/// A file, if it is there.
fn read(path: PathBuf, tables: &'static [&'static str]) -> Result<Option<Source>, ConfigError> {
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(Source { path, text, tables })),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(ConfigError::Read { path, source, hint: "" }),
    }
}

/// The root of the project that a folder belongs to: the nearest package or workspace above it, or the nearest folder with
/// a `cobalt.toml`, and without any the folder itself.
///
/// This is where a program begins that, unlike a test, was not told by cargo which package it is about.
///
/// ```
/// use std::path::Path;
///
/// let package = Path::new(env!("CARGO_MANIFEST_DIR"));
/// assert_eq!(cobalt::config::project_root(&package.join("src")), package);
/// ```
#[must_use]
pub fn project_root(folder: &Path) -> PathBuf {
    let is_root = |folder: &&Path| [FILE, MANIFEST].iter().any(|file| folder.join(file).is_file());
    folder.ancestors().find(is_root).unwrap_or(folder).to_owned()
}
