//! The copy of a data set that was fetched: one file, whose first line says what it is, then an item per line.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

use cobalt_core::report::Fetch;
use cobalt_core::slug::slug;
use cobalt_core::store::{CREATE, Layout, REQUEST, StoreError, create_folder, storage, write_whole};
use cobalt_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use crate::dataset::{Dataset, DatasetError, parse_jsonl};

/// The longest slug of a label in a file's name, in bytes.
const LONGEST_SLUG: usize = 80;
/// What stands behind the name of a copy that is being written.
const DRAFT: &str = "draft";

/// Where the copy of a data set is.
#[derive(Debug)]
pub struct Kept {
    pub(super) path: PathBuf,
    label: String,
    /// A hash of what is asked for.
    request: String,
}

impl Kept {
    pub fn new(folder: &Path, label: &str, identity: &[String]) -> Self {
        let request = cobalt_core::hash::sha256_hex(identity);
        let slug = Some(slug(label, LONGEST_SLUG)).filter(|slug| !slug.is_empty());
        let name = format!("{}-{}.jsonl", slug.as_deref().unwrap_or("dataset"), &request[..REQUEST]);
        Self { path: folder.join(name), label: label.to_owned(), request }
    }

    /// Looks for the copy.
    pub fn read(&self) -> Result<Found, StoreError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(source) => return Err(storage("read", &self.path, source)),
        };
        let mut reader = BufReader::new(file);
        let copy = Header::read(&mut reader).and_then(|header| match header.request == self.request {
            true => Copy::read(&header, reader),
            false => {
                Err(format!("it is of {}, of which another version or part was asked for", header.source))
            }
        });
        Ok(copy.map_or_else(Found::Damaged, Found::Copy))
    }

    /// Waits until no other process fetches this data set, and makes the folder of the copies.
    pub fn lock(&self) -> Result<Lock, StoreError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let root = folder.parent().unwrap_or(folder);
        let is_new = !folder.exists();
        create_folder(root, folder).map_err(|source| storage(CREATE, folder, source))?;
        if is_new && !root.join(".gitignore").exists() {
            // `.cobalt` was there before, and has none.
            let ignored = folder.join(".gitignore");
            fs::write(&ignored, "*\n").map_err(|source| storage("write", &ignored, source))?;
        }
        let path = Layout::copy_lock(&self.path);
        Lock::take(&path).map_err(|source| storage("write", &path, source))
    }

    /// Keeps what was fetched.
    pub fn write(&self, dataset: &Dataset, fetch: &Fetch, lock: &Lock) -> Result<(), StoreError> {
        if lock.is_exclusive {
            self.remove_drafts();
        }
        let header = Header::new(&self.label, &self.request, fetch, dataset.len(), &dataset.hash());
        let draft = self.path.with_extension(format!("{:016x}.{DRAFT}", fastrand::u64(..)));
        write_whole(&self.path, &draft, |file| {
            serde_json::to_writer(&mut *file, &header)?;
            file.write_all(b"\n")?;
            for item in dataset {
                serde_json::to_writer(&mut *file, item)?;
                file.write_all(b"\n")?;
            }
            Ok(())
        })
    }

    /// Removes the drafts of processes that were killed: as one at a time writes, no other is being written.
    fn remove_drafts(&self) {
        let (Some(folder), Some(stem)) = (self.path.parent(), self.path.file_stem()) else { return };
        let is_draft = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let rest = name.and_then(|name| name.strip_prefix(stem.to_str()?));
            rest.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(DRAFT))
        };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for draft in entries.map(|entry| entry.path()).filter(is_draft) {
            // One that cannot be removed is in nobody's way.
            let _ = fs::remove_file(draft);
        }
    }
}

/// How many digits of a hash are shown.
const SHOWN_DIGITS: usize = 12;

/// What is found where a copy would be.
#[derive(Debug)]
pub enum Found {
    /// There is none.
    Nothing,
    /// A copy that is what it says.
    Copy(Copy),
    /// A file that cannot be used, and why.
    Damaged(String),
}

impl Found {
    /// The copy, if there is one that can be used.
    pub fn copy(self) -> Option<Copy> {
        match self {
            Self::Copy(copy) => Some(copy),
            Self::Nothing | Self::Damaged(_) => None,
        }
    }
}

/// A copy that was read, and is what was fetched.
#[derive(Debug)]
pub struct Copy {
    pub(super) dataset: Dataset,
    /// When it was asked for.
    pub(super) at: Timestamp,
}

impl Copy {
    /// Reads the items behind a header, or tells what is wrong with them.
    pub fn read(header: &Header, reader: impl BufRead) -> Result<Self, String> {
        // Lines are counted with the header's.
        let items = parse_jsonl(reader, "the copy").map_err(|error| match error {
            DatasetError::Malformed { line, reason, .. } => format!("line {}: {reason}", line + 1),
            DatasetError::Empty { .. } => "it has no items".to_owned(),
            error => error.to_string(),
        })?;
        let fetch = header.fetch();
        let at = fetch.at;
        let dataset = Dataset::fetched(&header.source, items, fetch);
        if dataset.len() != header.items {
            return Err(format!("it has {} of its {} items", dataset.len(), header.items));
        }
        match dataset.hash() == header.hash {
            true => Ok(Self { dataset, at }),
            false => Err("its items are not those that were fetched".to_owned()),
        }
    }
}

impl fmt::Display for Copy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = cobalt_core::wording::count(self.dataset.len(), "item");
        write!(f, "{} ({items}, hash {})", self.at, &self.dataset.hash()[..SHOWN_DIGITS])
    }
}

/// The version of the file's form.
const FORM: u32 = 1;

/// The first line of a copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    cobalt_dataset: u32,
    /// As of [`Dataset::source`](crate::Dataset::source).
    pub(super) source: String,
    /// SHA-256 of what was asked for.
    pub(super) request: String,
    pub(super) fetched_at: Timestamp,
    pub(super) items: usize,
    /// That of [`Dataset::hash`](crate::Dataset::hash).
    pub(super) hash: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
}

/// What later versions of the file will have in their first line, too.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Form {
    cobalt_dataset: u32,
}

impl Header {
    pub fn new(source: &str, request: &str, fetch: &Fetch, items: usize, hash: &str) -> Self {
        Self {
            cobalt_dataset: FORM,
            source: source.to_owned(),
            request: request.to_owned(),
            fetched_at: fetch.at,
            items,
            hash: hash.to_owned(),
            version: fetch.version.clone(),
        }
    }

    /// Reads the first line, or tells what is wrong with it.
    pub fn read(reader: &mut impl BufRead) -> Result<Self, String> {
        let mut line = Vec::new();
        reader.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        let unread = |error| format!("its first line does not say what it is ({error})");
        let Form { cobalt_dataset: form } = serde_json::from_slice(&line).map_err(unread)?;
        if form != FORM {
            return Err(format!("it is of form {form}, and this version of Cobalt reads form {FORM}"));
        }
        serde_json::from_slice(&line).map_err(unread)
    }

    pub fn fetch(&self) -> Fetch {
        Fetch { at: self.fetched_at, version: self.version.clone() }
    }
}

/// A copy of a data set that was fetched, as its first line tells it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KeptDataset {
    /// The file.
    pub path: PathBuf,
    /// What it is a copy of, as of [`Dataset::source`].
    pub source: String,
    /// When it was asked for.
    pub fetched_at: Timestamp,
    /// How many items it has.
    pub items: usize,
    /// Their hash, as of [`Dataset::hash`].
    pub hash: String,
    /// Which version it is, as the source names it.
    pub version: Option<String>,
}

impl KeptDataset {
    /// The copies in a folder, [`Layout::datasets`](cobalt_core::store::Layout::datasets), by their sources, the newest of each
    /// first. Files whose first line cannot be read are left out, and a folder that is not there has none.
    ///
    /// # Errors
    ///
    /// The folder cannot be read.
    pub fn all_in(folder: &Path) -> Result<Vec<KeptDataset>, StoreError> {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(storage("read", folder, source)),
        };
        let paths = entries.flatten().map(|entry| entry.path());
        let copies = paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        let mut copies: Vec<_> = copies.filter_map(|path| KeptDataset::at(path).ok()).collect();
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
    /// The file is gone, or its items are not those that were fetched.
    pub fn load(&self) -> Result<Dataset, DatasetError> {
        let mut reader = BufReader::new(self.open()?);
        let copy = Header::read(&mut reader).and_then(|header| Copy::read(&header, reader));
        let damaged = |problem| DatasetError::DamagedCopy {
            dataset: self.source.clone(),
            problem,
            file: self.path.display().to_string(),
        };
        Ok(copy.map_err(damaged)?.dataset)
    }

    fn open(&self) -> Result<File, StoreError> {
        File::open(&self.path).map_err(|source| storage("read", &self.path, source))
    }

    fn at(path: PathBuf) -> Result<KeptDataset, String> {
        let file = File::open(&path).map_err(|error| error.to_string())?;
        let Header { source, fetched_at, items, hash, version, .. } =
            Header::read(&mut BufReader::new(file))?;
        Ok(KeptDataset { path, source, fetched_at, items, hash, version })
    }
}

/// The right to fetch a data set and to write its copy, until it is dropped.
#[derive(Debug)]
pub struct Lock {
    /// Closed with it, which gives the lock back, also where the process is killed.
    _file: File,
    /// Whether nobody else can have it, which is not so on file systems without locks.
    pub(super) is_exclusive: bool,
}

impl Lock {
    /// Waits until nobody else has it.
    pub fn take(path: &Path) -> io::Result<Self> {
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
