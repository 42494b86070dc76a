//! The folder of an experiment's cassettes.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::body::is_hash;
use super::cassette::{CASSETTE_VERSION, Cassette};
use super::request_key::sort_keys;
use crate::hash::sha256_hex;

/// The file of requests that could not be attributed to an item, without its extension.
pub const UNATTRIBUTED: &str = "unattributed";
/// The folder of long texts.
const BLOBS: &str = "blobs";

/// A recording cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file or folder cannot be read or written.
    #[error("cannot {action} the recording `{path}`: {source}")]
    Io {
        /// `read` or `write`.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not a recording.
    #[error(
        "`{path}` is not a valid recording: {source}; restore it from version control, or delete it and record the item again"
    )]
    Invalid {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
    /// A file was written by a later version.
    #[error(
        "`{path}` has version {version}, but this version of Cobalt reads {CASSETTE_VERSION}; update Cobalt"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
}

/// A folder with cassettes: `cassettes/<experiment>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordingFolder(PathBuf);

/// Whether this is the name of a cassette.
#[must_use]
pub fn is_cassette(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    is_json && path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'))
}

impl RecordingFolder {
    /// The folder at a path. It need not exist.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a cassette.
    #[must_use]
    pub fn cassette(&self, name: &str) -> PathBuf {
        self.0.join(format!("{name}.json"))
    }

    /// The paths of all cassettes, sorted.
    ///
    /// # Errors
    ///
    /// The folder exists but cannot be read.
    pub fn cassettes(&self) -> Result<Vec<PathBuf>, RecordingError> {
        let mut paths: Vec<_> = self.files(&self.0)?.into_iter().filter(|path| is_cassette(path)).collect();
        paths.sort_unstable();
        Ok(paths)
    }

    /// The path of a long text, by its hash.
    #[must_use]
    pub fn blob(&self, hash: &str) -> PathBuf {
        self.0.join(BLOBS).join(hash)
    }

    /// The paths of all long texts.
    ///
    /// # Errors
    ///
    /// The folder exists but cannot be read.
    pub fn blobs(&self) -> Result<Vec<PathBuf>, RecordingError> {
        let is_blob = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(is_hash);
        Ok(self.files(&self.0.join(BLOBS))?.into_iter().filter(is_blob).collect())
    }

    fn files(&self, folder: &Path) -> Result<Vec<PathBuf>, RecordingError> {
        let failed = |source| RecordingError::Io { action: "read", path: folder.to_owned(), source };
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let paths = entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>().map_err(failed)?;
        Ok(paths.into_iter().filter(|path| path.is_file()).collect())
    }

    /// Reads a cassette by its name; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a cassette.
    pub fn read(&self, name: &str) -> Result<Option<Cassette>, RecordingError> {
        Self::read_file(&self.cassette(name))
    }

    /// Reads a cassette by its path; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is not a cassette.
    pub fn read_file(path: &Path) -> Result<Option<Cassette>, RecordingError> {
        let bytes = match fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(RecordingError::Io { action: "read", path: path.to_owned(), source }),
        };
        let cassette: Cassette = serde_json::from_slice(&bytes)
            .map_err(|source| RecordingError::Invalid { path: path.to_owned(), source })?;
        if cassette.version > CASSETTE_VERSION {
            return Err(RecordingError::Version { path: path.to_owned(), version: cassette.version });
        }
        Ok(Some(cassette))
    }

    /// Writes a cassette atomically, with sorted keys, so that the same content gives the same file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, name: &str, cassette: &Cassette) -> Result<(), RecordingError> {
        let path = self.cassette(name);
        let written = to_sorted_json(cassette).and_then(|text| write_atomically(&path, text.as_bytes()));
        written.map_err(|source| RecordingError::Io { action: "write", path, source })
    }

    /// Removes a cassette.
    ///
    /// # Errors
    ///
    /// The file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), RecordingError> {
        let path = self.cassette(name);
        fs::remove_file(&path).map_err(|source| RecordingError::Io { action: "remove", path, source })
    }

    /// Changes a cassette while no other process does.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written.
    pub fn update(&self, name: &str, change: impl FnOnce(&mut Cassette)) -> Result<(), RecordingError> {
        // Outside the folder, which is committed.
        let id = sha256_hex(&[std::path::absolute(self.cassette(name))
            .unwrap_or_default()
            .as_os_str()
            .as_encoded_bytes()]);
        let path = std::env::temp_dir().join(format!("cobalt-{}.lock", &id[..16]));
        let failed = |source| RecordingError::Io { action: "lock", path: path.clone(), source };
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(failed)?;
        lock.lock().map_err(failed)?;
        let mut cassette = self.read(name)?.unwrap_or_else(|| Cassette::new("", ""));
        change(&mut cassette);
        self.write(name, &cassette)
    }

    /// Stores a long text by its hash, and returns the hash.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write_blob(&self, data: &[u8]) -> io::Result<String> {
        let hash = sha256_hex(&[data]);
        let path = self.blob(&hash);
        if !path.exists() {
            write_atomically(&path, data)?;
        }
        Ok(hash)
    }

    /// Reads a long text by its hash.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is damaged.
    pub fn read_blob(&self, hash: &str) -> io::Result<Vec<u8>> {
        let path = self.blob(hash);
        let damaged = |problem: &str| {
            let text = format!(
                "`{}` {problem}; restore it from version control, or record the item again",
                path.display()
            );
            io::Error::new(io::ErrorKind::InvalidData, text)
        };
        if !is_hash(hash) {
            return Err(damaged("is not named by a hash"));
        }
        let data = fs::read(&path).map_err(|error| damaged(&format!("cannot be read: {error}")))?;
        if sha256_hex(&[&data]) != hash {
            return Err(damaged("does not have the recorded content"));
        }
        Ok(data)
    }
}

/// Indented JSON with sorted keys, and a line break at the end.
fn to_sorted_json(cassette: &impl Serialize) -> io::Result<String> {
    let mut value = serde_json::to_value(cassette)?;
    sort_keys(&mut value);
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

/// Writes a file so that it is either complete or as before.
fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}-{:08x}.tmp", std::process::id(), fastrand::u32(..)));
    let written = File::create(&draft)
        .and_then(|mut file| file.write_all(content))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // The draft is useless; the first error counts.
        let _ = fs::remove_file(&draft);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recordings::Trial;

    #[test]
    fn a_cassette_is_written_with_sorted_keys_and_read_back() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(dir.path().join("desk"));
        assert_eq!(folder.read("one").unwrap(), None);
        assert!(folder.cassettes().unwrap().is_empty());
        let mut cassette = Cassette::new("desk", "one");
        cassette.set_trial(1, Trial { latency_ms: Some(3.0), ..Trial::default() });
        folder.write("one", &cassette).unwrap();
        let text = fs::read_to_string(folder.cassette("one")).unwrap();
        assert!(text.starts_with("{\n  \"experiment\": \"desk\",\n  \"item\": \"one\",\n"), "{text}");
        assert_eq!(folder.read("one").unwrap(), Some(cassette));
        assert_eq!(folder.cassettes().unwrap(), [folder.cassette("one")]);
    }

    #[test]
    fn a_damaged_cassette_is_an_error_that_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(dir.path());
        fs::write(folder.cassette("one"), "{\"version\": 1,").unwrap();
        let error = folder.read("one").unwrap_err().to_string();
        assert!(
            error.contains("one.json` is not a valid recording: ")
                && error.ends_with("record the item again"),
            "{error}"
        );
        fs::write(folder.cassette("one"), "{\"version\": 2, \"experiment\": \"a\"}").unwrap();
        assert!(folder.read("one").unwrap_err().to_string().ends_with("update Cobalt"));
    }

    #[test]
    fn a_changed_blob_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(dir.path());
        let hash = folder.write_blob(b"long").unwrap();
        assert_eq!(folder.read_blob(&hash).unwrap(), b"long");
        fs::write(dir.path().join("blobs").join(&hash), "other").unwrap();
        assert!(
            folder.read_blob(&hash).unwrap_err().to_string().contains("does not have the recorded content")
        );
        assert!(folder.read_blob("../x").is_err());
    }

    #[test]
    fn processes_that_change_a_cassette_at_once_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(dir.path());
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        folder.update("all", |cassette| cassette.trials.push(Trial::default())).unwrap();
                    }
                });
            }
        });
        assert_eq!(folder.read("all").unwrap().unwrap().trials.len(), 80);
        assert_eq!(folder.cassettes().unwrap().len(), 1);
    }
}
