//! The copies that there are, for whoever shows or removes them.

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind};
use std::path::{Path, PathBuf};

use super::copy::Copy;
use super::header::Header;
use crate::dataset::{Dataset, DatasetError};
use crate::store::{StoreError, storage};
use crate::timestamp::Timestamp;

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
    /// The copies in a folder, [`Layout::datasets`](crate::store::Layout::datasets), by their sources, the newest of each
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
