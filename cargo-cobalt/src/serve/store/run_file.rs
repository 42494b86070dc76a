//! The file of a run, and the detection of changes.

use std::fs::{File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cobalt_core::store::{StoreError, strip_bom};

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

impl From<StoreError> for RunFileError {
    /// A run without its file may have been deleted; one without its items file is damaged.
    fn from(error: StoreError) -> Self {
        let is_items = |path: &Path| path.extension().is_some_and(|ending| ending == "zst");
        match &error {
            StoreError::Storage { source, path, .. }
                if source.kind() == io::ErrorKind::NotFound && !is_items(path) =>
            {
                Self::Changed
            }
            _ => Self::Permanent(Error::from(error).into()),
        }
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

    /// In bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// A unique string for this version of the file.
    pub fn identity(&self) -> String {
        format!("{}\0{}\0{:?}", self.path.display(), self.size, self.modified)
    }

    /// Opens this version of the file.
    pub fn open(&self) -> Result<File, RunFileError> {
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
