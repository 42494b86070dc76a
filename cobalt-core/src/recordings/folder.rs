//! The folder of an experiment's cassettes.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::additions;
use super::body::is_hash;
use super::cassette::{CASSETTE_VERSION, Cassette, Interaction};
use crate::atomic_write::{Draft, write_shared_atomically};
use crate::hash::{sha256, sha256_hex};
use crate::slug::slug;

/// The file of requests that could not be attributed to an item, without its extension.
pub const UNATTRIBUTED: &str = "unattributed";
/// The folder of long texts.
const BLOBS: &str = "blobs";
/// The file in it that keeps git from changing line breaks, and its content.
const GIT_ATTRIBUTES: (&str, &str) = (".gitattributes", "* -text\n");
/// The maximum length of the name of a cassette, in bytes.
const MAX_NAME: usize = 80;
/// The length of the hash in a name, in hexadecimal digits.
const HASH_IN_NAME: usize = 8;
/// A draft that is older was left by a process that has ended.
const DRAFT_AGE: Duration = Duration::from_secs(3600);

/// A recording cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file or folder cannot be read or written.
    #[error("cannot {action} the recording `{path}`: {source}")]
    Io {
        /// `read`, `write`, `remove` or `lock`.
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
pub struct RecordingFolder {
    path: PathBuf,
    /// Whether files are on disk when they are written; otherwise they survive the process, but not the machine.
    syncs: bool,
}

/// The name of an item's cassette: its key, or a readable form of the key with a hash. It depends on nothing but the key, so that each
/// item finds its file whatever other items there are.
#[must_use]
pub fn cassette_name(key: &str) -> String {
    let name = slug(key, MAX_NAME).to_lowercase();
    if name == key && !name.is_empty() {
        return name;
    }
    let name = match slug(key, MAX_NAME - HASH_IN_NAME - 1).to_lowercase() {
        // A file without a name would be hidden.
        name if name.is_empty() => "item".to_owned(),
        name => name,
    };
    format!("{name}-{}", &sha256(key.as_bytes())[..HASH_IN_NAME])
}

/// Whether this is the name of a cassette.
fn is_cassette(path: &Path) -> bool {
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    is_json && path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'))
}

impl RecordingFolder {
    /// The folder at a path. It need not exist.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), syncs: true }
    }

    /// The same folder, for files that are written often: they survive the process, but not the machine.
    #[must_use]
    pub fn without_sync(&self) -> Self {
        Self { path: self.path.clone(), syncs: false }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of a cassette.
    #[must_use]
    pub fn cassette(&self, name: &str) -> PathBuf {
        self.path.join(format!("{name}.json"))
    }

    /// The paths of all cassettes, sorted.
    ///
    /// # Errors
    ///
    /// The folder exists but cannot be read.
    pub fn cassettes(&self) -> Result<Vec<PathBuf>, RecordingError> {
        let mut paths: Vec<_> =
            self.files(&self.path)?.into_iter().filter(|path| is_cassette(path)).collect();
        paths.sort_unstable();
        Ok(paths)
    }

    /// The path of a long text, by its hash.
    #[must_use]
    pub fn blob(&self, hash: &str) -> PathBuf {
        self.path.join(BLOBS).join(hash)
    }

    /// The paths of all long texts.
    ///
    /// # Errors
    ///
    /// The folder exists but cannot be read.
    pub fn blobs(&self) -> Result<Vec<PathBuf>, RecordingError> {
        let is_blob = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(is_hash);
        Ok(self.files(&self.path.join(BLOBS))?.into_iter().filter(is_blob).collect())
    }

    /// The file that keeps git from changing line breaks in long texts.
    #[must_use]
    pub fn git_attributes(&self) -> PathBuf {
        self.path.join(BLOBS).join(GIT_ATTRIBUTES.0)
    }

    /// Drafts of files that processes have left which ended while they wrote.
    ///
    /// # Errors
    ///
    /// The folder exists but cannot be read.
    pub fn old_drafts(&self) -> Result<Vec<PathBuf>, RecordingError> {
        let now = SystemTime::now();
        let is_old = |path: &PathBuf| {
            let changed = path.metadata().and_then(|known| known.modified());
            changed.is_ok_and(|changed| now.duration_since(changed).is_ok_and(|age| age > DRAFT_AGE))
        };
        let files = self.files(&self.path)?.into_iter().chain(self.files(&self.path.join(BLOBS))?);
        let is_unused = |path: &PathBuf| is_draft(path) || additions::is_left_over(path);
        let mut drafts: Vec<_> = files.filter(|path| is_old(path) && is_unused(path)).collect();
        drafts.sort_unstable();
        Ok(drafts)
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
        let mut cassette: Cassette = serde_json::from_slice(&bytes)
            .map_err(|source| RecordingError::Invalid { path: path.to_owned(), source })?;
        if cassette.version > CASSETTE_VERSION {
            return Err(RecordingError::Version { path: path.to_owned(), version: cassette.version });
        }
        additions::read_additions(path, &bytes, &mut cassette)?;
        Ok(Some(cassette))
    }

    /// Writes a cassette atomically, with sorted keys, so that the same content gives the same file.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(&self, name: &str, cassette: &Cassette) -> Result<(), RecordingError> {
        let path = self.cassette(name);
        let written =
            to_sorted_json(cassette).and_then(|text| write_file(&path, text.as_bytes(), self.syncs));
        written.and_then(|()| remove_additions(&path)).map_err(|source| RecordingError::Io {
            action: "write",
            path,
            source,
        })
    }

    /// Writes a cassette, or removes its file if there is nothing in it.
    ///
    /// # Errors
    ///
    /// The file cannot be written or removed.
    pub fn write_or_remove(&self, name: &str, cassette: &Cassette) -> Result<(), RecordingError> {
        if !cassette.is_empty() {
            self.write(name, cassette)
        } else if self.cassette(name).exists() {
            self.remove(name)
        } else {
            Ok(())
        }
    }

    /// Removes a cassette.
    ///
    /// # Errors
    ///
    /// The file cannot be removed.
    pub fn remove(&self, name: &str) -> Result<(), RecordingError> {
        let path = self.cassette(name);
        let removed = fs::remove_file(&path).and_then(|()| remove_additions(&path));
        removed.map_err(|source| RecordingError::Io { action: "remove", path, source })
    }

    /// Changes a cassette while no other process does. If nothing is left in it, it is removed.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written.
    pub fn update(&self, name: &str, change: impl FnOnce(&mut Cassette)) -> Result<(), RecordingError> {
        // Outside the folder, which is committed.
        let path = self.cassette(name);
        let id = sha256_hex(&[std::path::absolute(&path).unwrap_or_default().as_os_str().as_encoded_bytes()]);
        let lock_file = std::env::temp_dir().join(format!("cobalt-{}.lock", &id[..16]));
        let failed = |error: io::Error| {
            let source = io::Error::new(error.kind(), format!("`{}`: {error}", lock_file.display()));
            RecordingError::Io { action: "lock", path, source }
        };
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&lock_file);
        let lock = lock.and_then(|lock| lock.lock().map(|()| lock)).map_err(failed)?;
        let mut cassette = self.read(name)?.unwrap_or_else(|| Cassette::new("", ""));
        change(&mut cassette);
        self.write_or_remove(name, &cassette)?;
        // Not before it is written.
        drop(lock);
        Ok(())
    }

    /// Stores a long text by its hash, and returns the hash.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write_blob(&self, data: &[u8]) -> io::Result<String> {
        let hash = sha256(data);
        let path = self.blob(&hash);
        if !path.exists() {
            let attributes = self.git_attributes();
            if !attributes.exists() {
                write_file(&attributes, GIT_ATTRIBUTES.1.as_bytes(), self.syncs)?;
            }
            write_file(&path, data, self.syncs)?;
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
        if sha256(&data) != hash {
            return Err(damaged("does not have the recorded content"));
        }
        Ok(data)
    }
}

impl Interaction {
    /// Copies the long texts that it refers to.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written.
    pub fn copy_blobs(&self, from: &RecordingFolder, to: &RecordingFolder) -> io::Result<()> {
        let mut copied = Ok(());
        for body in [&self.request.body, &self.response.body].into_iter().flatten() {
            body.for_each_blob(&mut |hash| {
                if copied.is_ok() {
                    copied = from.read_blob(hash).and_then(|data| to.write_blob(&data)).map(drop);
                }
            });
        }
        copied
    }
}

/// Removes the additions of a cassette that has them all, or is removed.
fn remove_additions(cassette: &Path) -> io::Result<()> {
    match fs::remove_file(additions::path_of(cassette)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Indented JSON with sorted keys, and a line break at the end.
fn to_sorted_json(cassette: &Cassette) -> io::Result<String> {
    let mut value = serde_json::to_value(cassette)?;
    sort_file(&mut value);
    Ok(serde_json::to_string_pretty(&value)? + "\n")
}

/// Sorts the keys of all objects, except those in bodies and answers: requests are sorted already, and in responses the order is that of
/// the model.
fn sort_file(value: &mut Value) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(sort_file),
        Value::Object(fields) => {
            fields
                .iter_mut()
                .filter(|(name, _)| *name != "json" && *name != "answer")
                .for_each(|(_, value)| sort_file(value));
            fields.sort_keys();
        }
        _ => {}
    }
}

/// Writes a file so that it is either complete or as before, and creates its folder.
fn write_file(path: &Path, content: &[u8], syncs: bool) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}-{:08x}.tmp", std::process::id(), fastrand::u32(..)));
    if syncs {
        return write_shared_atomically(path, &draft, |file| file.write_all(content));
    }
    let draft = Draft::of(draft);
    fs::write(draft.path(), content)?;
    draft.rename(path)
}

/// Whether this is the name of a draft: `.item.json.4711-0a1b2c3d.tmp`.
fn is_draft(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    let ids = name
        .and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once('.')?.1.split_once('-'));
    ids.is_some_and(|(process, random)| {
        !process.is_empty()
            && process.bytes().all(|digit| digit.is_ascii_digit())
            && random.len() == 8
            && random.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
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
    fn the_name_of_a_cassette_depends_only_on_its_key() {
        for key in ["rome", "i-1", "a.b_c", "ünïcode", &"x".repeat(80)] {
            assert_eq!(cassette_name(key), key);
        }
        let long = "x".repeat(200);
        let keys = ["Q?", "Q!", "Rome", "?!", "", "a/b", "..", &long, &long[..199]];
        let names: std::collections::HashSet<_> = keys.iter().map(|key| cassette_name(key)).collect();
        assert_eq!(names.len(), keys.len(), "{names:?}");
        assert_eq!(
            (cassette_name("Q?"), cassette_name("?!")),
            ("q-c1ce7ac6".to_owned(), "item-545f940d".to_owned())
        );
        assert!(names.iter().all(|name| name.len() <= MAX_NAME), "{names:?}");
    }

    #[test]
    fn a_response_keeps_the_order_of_its_fields() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(dir.path());
        let text = r#"{"version":1,"experiment":"a","item":"one","trials":[{"interactions":[{
            "request":{"method":"POST","path":"x"},"latencyMs":1,
            "response":{"status":200,"json":{"input":{"zz":1,"aa":2}}}}]}]}"#;
        fs::write(folder.cassette("one"), text).unwrap();
        folder.write("one", &folder.read("one").unwrap().unwrap()).unwrap();
        let text = fs::read_to_string(folder.cassette("one")).unwrap();
        let at = |part: &str| text.find(part).unwrap();
        assert!(at("\"zz\"") < at("\"aa\"") && at("\"json\"") < at("\"status\""), "{text}");
        assert!(at("\"experiment\"") < at("\"trials\""), "{text}");
    }

    #[test]
    fn git_changes_no_line_breaks_in_blobs_and_a_blob_is_named_as_sha256sum_does() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(dir.path());
        let hash = folder.write_blob(b"abc").unwrap();
        assert_eq!(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(fs::read_to_string(dir.path().join("blobs/.gitattributes")).unwrap(), "* -text\n");
        assert_eq!(folder.blobs().unwrap(), [folder.blob(&hash)]);
    }

    #[test]
    fn only_old_drafts_are_found() {
        let dir = tempfile::tempdir().unwrap();
        let folder = RecordingFolder::new(dir.path());
        fs::create_dir(dir.path().join("blobs")).unwrap();
        let old = SystemTime::now() - 2 * DRAFT_AGE;
        for (name, is_old) in [
            (".one.json.12-0a1b2c3d.tmp", true),
            ("blobs/.ab.12-0a1b2c3d.tmp", true),
            (".two.json.12-0a1b2c3d.tmp", false),
            (".mine.tmp", true),
            ("one.json.12-0a1b2c3d.tmp", true),
        ] {
            let file = fs::File::create(dir.path().join(name)).unwrap();
            if is_old {
                file.set_modified(old).unwrap();
            }
        }
        let drafts = folder.old_drafts().unwrap();
        let names: Vec<_> =
            drafts.iter().map(|path| path.strip_prefix(dir.path()).unwrap().to_str().unwrap()).collect();
        assert_eq!(names, [".one.json.12-0a1b2c3d.tmp", "blobs/.ab.12-0a1b2c3d.tmp"]);
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
        let interaction = serde_json::json!({ "request": { "method": "POST", "path": "x" }, "response": { "status": 200 }, "latencyMs": 1 });
        let trial = || serde_json::from_value(serde_json::json!({ "interactions": [interaction] })).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..10 {
                        let add = |cassette: &mut Cassette| cassette.trials.push(trial());
                        folder.update("all", add).unwrap();
                    }
                });
            }
        });
        assert_eq!(folder.read("all").unwrap().unwrap().trials.len(), 80);
        assert_eq!(folder.cassettes().unwrap().len(), 1);
        folder.update("all", |cassette| cassette.trials.clear()).unwrap();
        assert_eq!(folder.cassettes().unwrap().len(), 0);
    }
}
