//! Errors of datasets.

use std::io;

use cobalt_core::store::StoreError;

use super::{DatasetMismatch, DecodeError};

/// Why a dataset could not be loaded. The message names the file or item, and how to fix it.
///
/// `file` is the path as given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The file could not be opened or read.
    #[error("failed to read {file}: {cause}{hint}")]
    Read {
        /// The path as given.
        file: String,
        /// The error from the operating system.
        cause: io::Error,
        /// Where the file was expected, and a similar file name; may be empty.
        hint: String,
    },
    /// The file is not UTF-8.
    #[error("{file}: expected UTF-8, found {encoding}; save the file as UTF-8")]
    Encoding {
        /// The path as given.
        file: String,
        /// The encoding according to the byte order mark.
        encoding: &'static str,
    },
    /// The file violates its format.
    #[error("{file}:{line}: {reason}")]
    Malformed {
        /// The path as given.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What was expected and what was found.
        reason: String,
    },
    /// The file contains no items.
    #[error("{file}: the dataset is empty ({detail}); add at least one item or correct the path")]
    Empty {
        /// The path as given.
        file: String,
        /// What the file contains instead of items.
        detail: &'static str,
    },
    /// The format cannot be detected from the name or the content.
    #[error(
        "{file}: expected a JSON, JSONL, CSV, Parquet or Arrow file, but neither the name nor the content matches one; \
        rename it, or load it with `Dataset::from_json`, `from_jsonl` or `from_csv`"
    )]
    UnknownFormat {
        /// The path as given.
        file: String,
    },
    /// A Parquet or Arrow file is corrupt, or contains a value that an item cannot represent.
    #[error("{file}: {place}: {reason}")]
    Columnar {
        /// The path as given.
        file: String,
        /// The row group or record batch, counted from 0, and the column if known.
        place: String,
        /// What is wrong, and how to fix it.
        reason: String,
    },
    /// Reading the format needs a feature that is not enabled.
    #[error(
        "{file}: {format} files need the feature `{feature}` of `cobalt`; enable it in Cargo.toml: \
        `cobalt = {{ …, features = [\"{feature}\"] }}`"
    )]
    FeatureOff {
        /// The path as given.
        file: String,
        /// The formats that need the feature.
        format: &'static str,
        /// The name of the feature.
        feature: &'static str,
    },
    /// The source did not return the dataset.
    #[error("cannot fetch {dataset}: {problem}{}", offline_hint(.copy))]
    Fetch {
        /// The source, as in [`Dataset::source`](crate::Dataset::source).
        dataset: String,
        /// What went wrong, and how to fix it.
        problem: String,
        /// The fetch time and contents of the cached copy that could be used instead; empty if there is none.
        copy: String,
    },
    /// The dataset has to be fetched, and this program is built without the feature for it.
    #[cfg(not(feature = "remote"))]
    #[error(
        "has to be fetched, but this program is built without the feature `remote` of the package `cobalt-evals`; enable it"
    )]
    RemoteOff,
    /// Offline, and there is no cached copy.
    #[error(
        "no cached copy of {dataset} to use offline; fetch it once without `--offline` and COBALT_OFFLINE"
    )]
    NotCached {
        /// The source.
        dataset: String,
    },
    /// Offline, and the cached copy is unusable.
    #[error(
        "the cached copy of {dataset} is unusable: {problem}; delete `{file}` and fetch the dataset once without \
        `--offline` and COBALT_OFFLINE"
    )]
    CorruptCache {
        /// The source.
        dataset: String,
        /// What is wrong with the file.
        problem: String,
        /// The file.
        file: String,
    },
    /// The expected hash is not a valid hash prefix.
    #[error("invalid expected hash `{hash}` for {dataset}: expected 8 to 64 hexadecimal digits")]
    ExpectedHash {
        /// The source.
        dataset: String,
        /// The invalid hash.
        hash: String,
    },
    /// The dataset differs from what was expected.
    #[error(transparent)]
    Mismatch(Box<DatasetMismatch>),
    /// The cached copy of a fetched dataset could not be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An item is nested too deeply to be saved with its results.
    #[error(
        "items[{index}]: lists and objects are nested more than {deepest} levels deep, the limit of result files; \
        flatten the item, or store the deep part as a string"
    )]
    TooDeep {
        /// The item's index, from 0.
        index: usize,
        /// The maximum depth.
        deepest: usize,
    },
    /// A value given as an item is not a JSON object.
    #[error("items[{index}]: expected a struct or a map (a JSON object), found {found}")]
    NotAnObject {
        /// The position of the item, counted from 0.
        index: usize,
        /// The kind of value found.
        found: &'static str,
    },
    /// A value given as an item cannot be serialized as JSON.
    #[error("items[{index}] cannot be serialized as JSON: {cause}")]
    Serialize {
        /// The position of the item, counted from 0.
        index: usize,
        /// The error from serde.
        cause: serde_json::Error,
    },
    /// An item does not match the requested type.
    #[error("{dataset}: items[{index}] (key `{key}`): {cause}")]
    Decode {
        /// The source of the dataset: the path as given, or `inline`.
        dataset: String,
        /// The position of the item, counted from 0.
        index: usize,
        /// The item's key, as in [`Dataset::keys`](crate::Dataset::keys).
        key: String,
        /// Which field does not match, and why.
        cause: DecodeError,
    },
}

impl DatasetError {
    pub(super) fn malformed(file: &str, line: usize, reason: impl Into<String>) -> DatasetError {
        DatasetError::Malformed { file: file.to_owned(), line, reason: reason.into() }
    }

    pub(super) fn read(file: &str, cause: io::Error) -> DatasetError {
        DatasetError::Read { file: file.to_owned(), cause, hint: String::new() }
    }

    pub(super) fn empty(file: &str, detail: &'static str) -> DatasetError {
        DatasetError::Empty { file: file.to_owned(), detail }
    }
}

/// The error for content that exceeds the size limit.
#[cfg(any(feature = "remote", feature = "parquet"))]
pub fn too_large(max_bytes: u64) -> io::Error {
    let max_bytes = cobalt_core::wording::group_thousands(max_bytes);
    let text = format!(
        "it exceeds {max_bytes} bytes after decompression; if this is expected, raise `max_bytes` (`max-bytes` in cobalt.toml)"
    );
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// How to use the cached copy.
fn offline_hint(copy: &str) -> String {
    match copy {
        "" => String::new(),
        copy => format!("; to use the copy of {copy}, pass `--offline` or set COBALT_OFFLINE=1"),
    }
}
