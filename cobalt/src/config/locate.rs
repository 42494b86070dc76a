//! Locates the configuration file: automatically, or as requested by a flag or a variable.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

use super::error::ConfigError;

/// The name of the configuration file.
pub const FILE_NAME: &str = "cobalt.toml";
const MANIFEST: &str = "Cargo.toml";

/// A file that may contain the configuration.
#[derive(Debug)]
pub struct SourceFile {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// The path of tables that contains the configuration; empty if it is the whole file.
    pub(super) tables: &'static [&'static str],
}

/// The files that may configure a directory, nearest first. Manifests need not contain a configuration.
pub fn candidates(folder: &Path, workspace: &Path) -> impl Iterator<Item = Result<SourceFile, ConfigError>> {
    let places: [(PathBuf, &'static [&'static str]); 4] = [
        (folder.join(FILE_NAME), &[]),
        (workspace.join(FILE_NAME), &[]),
        (folder.join(MANIFEST), &["package", "metadata", "cobalt"]),
        (workspace.join(MANIFEST), &["workspace", "metadata", "cobalt"]),
    ];
    places.into_iter().filter_map(|(path, tables)| read_if_exists(path, tables).transpose())
}

/// A file that was requested by its path.
pub fn read_requested(path: PathBuf, hint: &'static str) -> Result<SourceFile, ConfigError> {
    let text =
        fs::read_to_string(&path).map_err(|source| ConfigError::Read { path: path.clone(), source, hint })?;
    Ok(SourceFile { path, text, tables: &[] })
}

/// A file, if it exists.
fn read_if_exists(path: PathBuf, tables: &'static [&'static str]) -> Result<Option<SourceFile>, ConfigError> {
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(SourceFile { path, text, tables })),
        Err(source) if source.kind() == io::ErrorKind::NotFound => match fs::symlink_metadata(&path) {
            Ok(_) => Err(ConfigError::Read {
                path,
                source,
                hint: "; it is a broken symlink: remove it or point it at a file",
            }),
            Err(_) if tables.is_empty() => refuse_misnamed(&path).map(|()| None),
            Err(_) => Ok(None),
        },
        Err(source) => Err(ConfigError::Read { path, source, hint: "" }),
    }
}

/// Refuses a file next to this path with a similar name, which would be ignored: `Cobalt.toml`, `.cobalt.toml`.
fn refuse_misnamed(path: &Path) -> Result<(), ConfigError> {
    // Ignores a directory that cannot be listed.
    let entries = path.parent().into_iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let is_meant = |name: &str| name.strip_prefix('.').unwrap_or(name).eq_ignore_ascii_case(FILE_NAME);
    let misnamed = entries
        .map(|entry| entry.path())
        .find(|path| path.file_name().and_then(OsStr::to_str).is_some_and(is_meant) && !path.is_dir());
    misnamed.map_or(Ok(()), |path| Err(ConfigError::Misnamed { path }))
}

/// The project root of a directory: the nearest ancestor that is a package, a workspace or has a `cobalt.toml`. Without one, the
/// directory itself.
///
/// For programs that, unlike tests, do not get the package from Cargo.
///
/// ```
/// use std::path::Path;
///
/// let package = Path::new(env!("CARGO_MANIFEST_DIR"));
/// assert_eq!(cobalt::command::config::project_root(&package.join("src")), package);
/// ```
#[must_use]
pub fn project_root(folder: &Path) -> PathBuf {
    // A broken symlink counts: it is refused when the file is read.
    let is_there = |path: PathBuf| fs::symlink_metadata(path).is_ok_and(|there| !there.is_dir());
    let is_root = |folder: &&Path| [FILE_NAME, MANIFEST].iter().any(|file| is_there(folder.join(file)));
    folder.ancestors().find(is_root).unwrap_or(folder).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(folder: &Path) -> String {
        let read: Result<Vec<_>, _> = candidates(folder, folder).collect();
        read.unwrap_err().to_string()
    }

    #[test]
    fn a_file_whose_name_is_nearly_right_is_refused_with_the_remedy() {
        for name in ["Cobalt.toml", ".cobalt.toml", "COBALT.TOML"] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join(name), "concurrency = 0\n").unwrap();
            if folder.path().join(FILE_NAME).exists() {
                // The file system is case-insensitive.
                continue;
            }
            let error = refused(folder.path());
            assert!(
                error.contains(name) && error.ends_with("is not read; rename it to `cobalt.toml`"),
                "{error}"
            );
            fs::write(folder.path().join(FILE_NAME), "").unwrap();
            assert!(
                candidates(folder.path(), folder.path()).all(|source| source.is_ok()),
                "{name} next to the file"
            );
        }
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".cobalt")).unwrap();
        fs::write(folder.path().join("cobalt.toml.bak"), "").unwrap();
        assert_eq!(candidates(folder.path(), folder.path()).count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nowhere_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("elsewhere.toml", folder.path().join(FILE_NAME)).unwrap();
        let error = refused(folder.path());
        assert!(error.contains("cobalt.toml`: ") && error.contains("; it is a broken symlink"), "{error}");
        assert_eq!(project_root(folder.path()), folder.path());
    }
}
