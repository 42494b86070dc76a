//! The file of a run, and the detection of changes.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cobalt_core::redact::redacted_document;
use cobalt_core::report::{ItemResult, ItemWithoutContents};
use cobalt_core::store::strip_bom;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::serve::error::ApiError;

/// The length of the byte order mark in bytes.
const BOM_LEN: u64 = 3;
/// The file extension of journals.
const JOURNAL_EXTENSION: &str = "jsonl";

/// A version of a file: after a change it compares unequal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunFile {
    path: PathBuf,
    size: u64,
    modified: Option<SystemTime>,
}

/// Why a file cannot be read.
#[derive(Debug)]
pub enum RunFileError {
    /// The file has changed or is gone: the caller has to look it up again.
    Changed,
    /// A permanent error.
    Permanent(ApiError),
}

impl From<ApiError> for RunFileError {
    fn from(error: ApiError) -> Self {
        Self::Permanent(error)
    }
}

impl RunFile {
    /// The current version of the file.
    pub fn current(path: &Path) -> io::Result<Self> {
        Ok(Self::from_metadata(path, &std::fs::metadata(path)?))
    }

    fn from_metadata(path: &Path, metadata: &Metadata) -> Self {
        Self { path: path.to_owned(), size: metadata.len(), modified: metadata.modified().ok() }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A unique string for this version of the file.
    pub fn identity(&self) -> String {
        format!("{}\0{}\0{:?}", self.path.display(), self.size, self.modified)
    }

    fn open(&self) -> Result<File, RunFileError> {
        let open = || {
            let file = File::open(&self.path)?;
            let now = Self::from_metadata(&self.path, &file.metadata()?);
            Ok((file, now))
        };
        let (file, now) = open().map_err(|error| self.to_error(error))?;
        // Journals are append-only.
        let is_same = now == *self || (self.is_journal() && now.size >= self.size);
        if is_same { Ok(file) } else { Err(RunFileError::Changed) }
    }

    /// Whether it is the journal of an unfinished run.
    pub fn is_journal(&self) -> bool {
        self.path.extension().is_some_and(|extension| extension == JOURNAL_EXTENSION)
    }

    /// Opens the file and skips its byte order mark.
    pub fn open_text(&self) -> Result<File, RunFileError> {
        let mut file = self.open()?;
        let mut start = Vec::new();
        let read = file.by_ref().take(BOM_LEN).read_to_end(&mut start);
        let mark = start.len() - strip_bom(&start).len();
        read.and_then(|_| file.seek(SeekFrom::Start(mark as u64))).map_err(|error| self.to_error(error))?;
        Ok(file)
    }

    /// The whole content.
    pub fn read(&self) -> Result<Vec<u8>, RunFileError> {
        let mut file = self.open()?;
        let mut bytes = Vec::with_capacity(usize::try_from(self.size).unwrap_or_default());
        file.read_to_end(&mut bytes).map_err(|error| self.to_error(error))?;
        Ok(bytes)
    }

    /// A reader of single items.
    pub fn reader(&self) -> Result<ItemReader<'_>, RunFileError> {
        Ok(ItemReader { file: self.open()?, of: self, bytes: Vec::new() })
    }

    pub fn to_error(&self, source: io::Error) -> RunFileError {
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof => RunFileError::Changed,
            _ => {
                let error = Error::RunFile { path: self.path.clone(), reason: source.to_string() };
                RunFileError::Permanent(error.into())
            }
        }
    }
}

/// Reads items by their byte ranges.
#[derive(Debug)]
pub struct ItemReader<'a> {
    file: File,
    of: &'a RunFile,
    bytes: Vec<u8>,
}

impl ItemReader<'_> {
    /// The item in this byte range.
    pub fn item(&mut self, place: &Range<u64>) -> Result<ItemResult, RunFileError> {
        self.read(place)
    }

    /// The same without the contents of its spans.
    pub fn without_contents(&mut self, place: &Range<u64>) -> Result<ItemResult, RunFileError> {
        self.read(place).map(|ItemWithoutContents(item)| item)
    }

    fn read<T: DeserializeOwned>(&mut self, place: &Range<u64>) -> Result<T, RunFileError> {
        self.bytes.resize(usize::try_from(place.end - place.start).unwrap_or_default(), 0);
        let read =
            self.file.seek(SeekFrom::Start(place.start)).and_then(|_| self.file.read_exact(&mut self.bytes));
        read.map_err(|error| self.of.to_error(error))?;
        let item = redacted_document(std::mem::take(&mut self.bytes));
        // It was an item when its range was recorded.
        serde_json::from_slice(&item).map_err(|_| RunFileError::Changed)
    }
}
