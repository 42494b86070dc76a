//! The cached copy of a fetched dataset: one file with a header line, then an item per line.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use cobalt_core::report::Fetch;
use cobalt_core::slug::slug;
use cobalt_core::store::{
    CREATE_FOLDER, Layout, REQUEST_HASH_DIGITS, StoreError, create_folder, storage_error, write_atomically,
};
use cobalt_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use crate::dataset::{Dataset, DatasetError, parse_jsonl};

/// The maximum length of a label's slug in a file name, in bytes.
const MAX_SLUG_BYTES: usize = 80;
/// The extension of a copy that is being written.
const TEMP_EXTENSION: &str = "draft";

/// The location of a cached copy.
#[derive(Debug)]
pub struct CacheEntry {
    pub(super) path: PathBuf,
    label: String,
    /// The hash of the request.
    request: String,
}

impl CacheEntry {
    pub fn new(folder: &Path, label: &str, identity: &[String]) -> Self {
        let request = cobalt_core::hash::sha256_hex(identity);
        let slug = Some(slug(label, MAX_SLUG_BYTES)).filter(|slug| !slug.is_empty());
        let name =
            format!("{}-{}.jsonl", slug.as_deref().unwrap_or("dataset"), &request[..REQUEST_HASH_DIGITS]);
        Self { path: folder.join(name), label: label.to_owned(), request }
    }

    /// Reads the copy, if it exists.
    pub fn read(&self) -> Result<CacheLookup, StoreError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(CacheLookup::Missing),
            Err(source) => return Err(storage_error("read", &self.path, source)),
        };
        let mut reader = BufReader::new(file);
        let copy = Header::read(&mut reader).and_then(|header| match header.request == self.request {
            true => CachedCopy::read(&header, reader),
            false => Err(format!("it holds another version or part of {} than requested", header.source)),
        });
        Ok(copy.map_or_else(CacheLookup::Corrupt, CacheLookup::Valid))
    }

    /// Waits until no other process fetches this dataset. Creates the folder of cached copies.
    pub fn lock(&self) -> Result<FetchLock, StoreError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let root = folder.parent().unwrap_or(folder);
        let is_new = !folder.exists();
        create_folder(root, folder).map_err(|source| storage_error(CREATE_FOLDER, folder, source))?;
        if is_new && !root.join(".gitignore").exists() {
            // `.cobalt` existed before, without a `.gitignore`.
            let ignored = folder.join(".gitignore");
            fs::write(&ignored, "*\n").map_err(|source| storage_error("write", &ignored, source))?;
        }
        let path = Layout::dataset_lock(&self.path);
        FetchLock::acquire(&path).map_err(|source| storage_error("write", &path, source))
    }

    /// Caches fetched data.
    pub fn write(&self, dataset: &Dataset, fetch: &Fetch, lock: &FetchLock) -> Result<(), StoreError> {
        if lock.is_exclusive {
            self.remove_drafts();
        }
        let header = Header::new(&self.label, &self.request, fetch, dataset.len(), &dataset.hash());
        let draft = self.path.with_extension(format!("{:016x}.{TEMP_EXTENSION}", fastrand::u64(..)));
        write_atomically(&self.path, &draft, |file| {
            serde_json::to_writer(&mut *file, &header)?;
            file.write_all(b"\n")?;
            for item in dataset {
                serde_json::to_writer(&mut *file, &*item)?;
                file.write_all(b"\n")?;
            }
            Ok(())
        })
    }

    /// Removes the drafts of killed processes: only one process writes at a time, so no other draft is in use.
    fn remove_drafts(&self) {
        let (Some(folder), Some(stem)) = (self.path.parent(), self.path.file_stem()) else { return };
        let is_draft = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let rest = name.and_then(|name| name.strip_prefix(stem.to_str()?));
            rest.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(TEMP_EXTENSION))
        };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for draft in entries.map(|entry| entry.path()).filter(is_draft) {
            // A draft that cannot be removed does no harm.
            let _ = fs::remove_file(draft);
        }
    }
}

/// How many digits of a hash are displayed.
const SHOWN_DIGITS: usize = 12;

/// The result of looking up a cached copy.
#[derive(Debug)]
pub enum CacheLookup {
    /// There is no copy.
    Missing,
    /// A valid copy.
    Valid(CachedCopy),
    /// An unusable file, and why.
    Corrupt(String),
}

impl CacheLookup {
    /// The copy, if it is valid.
    pub fn copy(self) -> Option<CachedCopy> {
        match self {
            Self::Valid(copy) => Some(copy),
            Self::Missing | Self::Corrupt(_) => None,
        }
    }
}

/// A valid copy.
#[derive(Debug)]
pub struct CachedCopy {
    pub(super) dataset: Dataset,
    /// The fetch time.
    pub(super) at: Timestamp,
}

impl CachedCopy {
    /// Reads the items after a header, or returns what is wrong with them.
    pub fn read(header: &Header, reader: impl BufRead) -> Result<Self, String> {
        // Line numbers include the header.
        let items = parse_jsonl(reader, "the copy").map_err(|error| match error {
            DatasetError::Malformed { line, reason, .. } => format!("line {}: {reason}", line + 1),
            DatasetError::Empty { .. } => "it has no items".to_owned(),
            error => error.to_string(),
        })?;
        let fetch = header.fetch();
        let at = fetch.at;
        let dataset = Dataset::from_fetch(&header.source, items, fetch);
        if dataset.len() != header.items {
            return Err(format!("its item count is {}, expected {}", dataset.len(), header.items));
        }
        match dataset.hash() == header.hash {
            true => Ok(Self { dataset, at }),
            false => Err("its items do not match its hash".to_owned()),
        }
    }
}

impl fmt::Display for CachedCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = cobalt_core::wording::count(self.dataset.len(), "item");
        write!(f, "{} ({items}, hash {})", self.at, &self.dataset.hash()[..SHOWN_DIGITS])
    }
}

/// The version of the file format.
const FORMAT_VERSION: u32 = 1;

/// The header line of a copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    cobalt_dataset: u32,
    /// As in [`Dataset::source`](crate::Dataset::source).
    pub(super) source: String,
    /// The SHA-256 of the request.
    pub(super) request: String,
    pub(super) fetched_at: Timestamp,
    pub(super) items: usize,
    /// As in [`Dataset::hash`](crate::Dataset::hash).
    pub(super) hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
}

/// The part of the header that later format versions will keep.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FormatVersion {
    cobalt_dataset: u32,
}

impl Header {
    pub fn new(source: &str, request: &str, fetch: &Fetch, items: usize, hash: &str) -> Self {
        Self {
            cobalt_dataset: FORMAT_VERSION,
            source: source.to_owned(),
            request: request.to_owned(),
            fetched_at: fetch.at,
            items,
            hash: hash.to_owned(),
            version: fetch.version.clone(),
        }
    }

    /// Reads the header line, or returns what is wrong with it.
    pub fn read(reader: &mut impl BufRead) -> Result<Self, String> {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        let unread = |error| format!("its first line is not a valid header ({error})");
        let FormatVersion { cobalt_dataset: form } = serde_json::from_slice(&line).map_err(unread)?;
        if form != FORMAT_VERSION {
            return Err(format!(
                "it has format version {form}, but this version of Cobalt reads format version {FORMAT_VERSION}"
            ));
        }
        serde_json::from_slice(&line).map_err(unread)
    }

    pub fn fetch(&self) -> Fetch {
        Fetch { at: self.fetched_at, version: self.version.clone() }
    }
}

/// The cached copy of a fetched dataset, as described by its header line.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CachedDataset {
    /// The file.
    pub path: PathBuf,
    /// The source, as in [`Dataset::source`].
    pub source: String,
    /// The fetch time.
    pub fetched_at: Timestamp,
    /// The number of items.
    pub items: usize,
    /// Their hash, as in [`Dataset::hash`].
    pub hash: String,
    /// The version, as named by the source.
    pub version: Option<String>,
}

impl CachedDataset {
    /// The copies in a folder ([`Layout::datasets`](cobalt_core::store::Layout::datasets)), sorted by source, newest first.
    /// Files without a valid header line are skipped; a missing folder has no copies.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    pub fn all_in(folder: &Path) -> Result<Vec<CachedDataset>, StoreError> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(storage_error("read", folder, source)),
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let copies = paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        let mut copies: Vec<_> = copies.filter_map(|path| CachedDataset::at(path).ok()).collect();
        copies.sort_by(|one, other| {
            one.source
                .cmp(&other.source)
                .then(other.fetched_at.cmp(&one.fetched_at))
                .then(one.path.cmp(&other.path))
        });
        Ok(copies)
    }

    /// The items.
    ///
    /// # Errors
    ///
    /// The file is missing, or its items do not match its hash.
    pub fn load(&self) -> Result<Dataset, DatasetError> {
        let mut reader = BufReader::new(self.open()?);
        let copy = Header::read(&mut reader).and_then(|header| CachedCopy::read(&header, reader));
        let damaged = |problem| DatasetError::CorruptCache {
            dataset: self.source.clone(),
            problem,
            file: self.path.display().to_string(),
        };
        Ok(copy.map_err(damaged)?.dataset)
    }

    fn open(&self) -> Result<File, StoreError> {
        File::open(&self.path).map_err(|source| storage_error("read", &self.path, source))
    }

    fn at(path: PathBuf) -> Result<CachedDataset, String> {
        let file = File::open(&path).map_err(|error| error.to_string())?;
        let Header { source, fetched_at, items, hash, version, .. } =
            Header::read(&mut BufReader::new(file))?;
        Ok(CachedDataset { path, source, fetched_at, items, hash, version })
    }
}

/// A lock for fetching a dataset and writing its copy, released on drop.
#[derive(Debug)]
pub struct FetchLock {
    /// Closing the file releases the lock, also if the process is killed.
    _file: File,
    /// Whether the lock is exclusive; false on file systems without locks.
    pub(super) is_exclusive: bool,
}

impl FetchLock {
    /// Waits for the lock.
    pub fn acquire(path: &Path) -> io::Result<Self> {
        let file = File::options().create(true).write(true).truncate(false).open(path)?;
        match file.lock() {
            Ok(()) => Ok(Self { _file: file, is_exclusive: true }),
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                Ok(Self { _file: file, is_exclusive: false })
            }
            Err(error) => Err(error),
        }
    }
}
