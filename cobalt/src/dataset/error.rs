//! What can be wrong with a data set.

use std::io;

use cobalt_core::store::StoreError;

use super::{ChangedDataset, DecodeError};

/// Why a data set could not be had: always with the file or item, and what to do about it.
///
/// `file` is the path as it was given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The file could not be opened or read.
    #[error("cannot read {file}: {cause}{hint}")]
    Read {
        /// The path as it was given.
        file: String,
        /// What the operating system says.
        cause: io::Error,
        /// Where the file was looked for, and a file of a similar name; may be empty.
        hint: String,
    },
    /// The file is in another encoding than UTF-8.
    #[error("{file} is encoded in {encoding}, expected UTF-8: save it as UTF-8")]
    Encoding {
        /// The path as it was given.
        file: String,
        /// The encoding that its first bytes announce.
        encoding: &'static str,
    },
    /// The file breaks its format's rules.
    #[error("{file}:{line}: {reason}")]
    Malformed {
        /// The path as it was given.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What was expected and what was found.
        reason: String,
    },
    /// The file holds no items.
    #[error("{file}: the data set is empty ({detail}): add at least one item, or correct the path")]
    Empty {
        /// The path as it was given.
        file: String,
        /// What the file holds instead of items.
        detail: &'static str,
    },
    /// Neither the extension nor the content tells the format.
    #[error(
        "{file}: expected a JSON, JSONL, CSV, Parquet or Arrow file, and neither its name nor its content looks like \
         one: rename it, or load it with `Dataset::from_json`, `from_jsonl` or `from_csv`"
    )]
    UnknownFormat {
        /// The path as it was given.
        file: String,
    },
    /// A Parquet or Arrow file is damaged, or holds what no item can.
    #[error("{file}: {place}: {reason}")]
    Columns {
        /// The path as it was given.
        file: String,
        /// The row group or record batch, counted from 0, and the column where it is known.
        place: String,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// The file is in a format that is compiled in by a feature, which is off.
    #[error(
        "{file}: {format} files are read with the feature `{feature}` of `cobalt`, which is off: turn it on, as in \
         `cobalt = {{ …, features = [\"{feature}\"] }}` in Cargo.toml"
    )]
    FeatureOff {
        /// The path as it was given.
        file: String,
        /// The formats that the feature is for.
        format: &'static str,
        /// The name of the feature.
        feature: &'static str,
    },
    /// A source did not give the data set.
    #[error("cannot fetch {dataset}: {problem}{}", usable(.copy))]
    Fetch {
        /// The source, as in [`Dataset::source`](crate::Dataset::source).
        dataset: String,
        /// What went wrong, and what to do.
        problem: String,
        /// When the copy was fetched that could be used instead, and what it holds; empty where there is none.
        copy: String,
    },
    /// The data set is fetched, and this program cannot.
    #[cfg(not(feature = "remote"))]
    #[error(
        "is fetched, which comes with the feature `remote` of the package `cobalt`, which this program is built without; \
         turn it on"
    )]
    RemoteOff,
    /// Nothing is to be fetched, and there is no copy.
    #[error(
        "there is no copy of {dataset} to use offline: fetch it once, without `--offline` and COBALT_OFFLINE"
    )]
    NoCopy {
        /// The source.
        dataset: String,
    },
    /// Nothing is to be fetched, and the copy cannot be used.
    #[error(
        "the copy of {dataset} cannot be used: {problem}; remove `{file}`, and fetch the data set once, without `--offline` \
         and COBALT_OFFLINE"
    )]
    DamagedCopy {
        /// The source.
        dataset: String,
        /// What is wrong with the file.
        problem: String,
        /// The file.
        file: String,
    },
    /// What is said of the hash of a data set can be the beginning of none.
    #[error("`{hash}` cannot be the expected hash of {dataset}: expected 8 to 64 hexadecimal digits")]
    ExpectedHash {
        /// The source.
        dataset: String,
        /// What is said.
        hash: String,
    },
    /// The data set is another one than was expected.
    #[error(transparent)]
    Changed(Box<ChangedDataset>),
    /// The copy of a fetched data set could not be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An item is nested too deep to be kept with its results.
    #[error(
        "items[{index}]: lists and objects are nested more than {deepest} levels deep, which no result file can hold: \
         make the item flatter, or keep the deep part as text"
    )]
    TooDeep {
        /// The item's place in the data set, from 0.
        index: usize,
        /// The most levels.
        deepest: usize,
    },
    /// A value given as an item is no JSON object.
    #[error("items[{index}]: expected a struct or a map, which is a JSON object, found {found}")]
    NotAnObject {
        /// The position of the item, counted from 0.
        index: usize,
        /// The kind of value found.
        found: &'static str,
    },
    /// A value given as an item cannot be written as JSON.
    #[error("items[{index}] cannot be written as JSON: {cause}")]
    Serialize {
        /// The position of the item, counted from 0.
        index: usize,
        /// What serde says.
        cause: serde_json::Error,
    },
    /// An item does not fit the type that was asked for.
    #[error("{dataset}: items[{index}] (key `{key}`): {cause}")]
    Decode {
        /// Where the data set is from: the path as it was given, or `inline`.
        dataset: String,
        /// The position of the item, counted from 0.
        index: usize,
        /// The item's key, as in [`Dataset::keys`](crate::Dataset::keys).
        key: String,
        /// Which field does not fit, and why.
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

/// Why reading stops where a file holds more than it may.
#[cfg(any(feature = "remote", feature = "parquet"))]
pub fn too_large(max_bytes: u64) -> io::Error {
    let max_bytes = cobalt_core::wording::thousands(max_bytes);
    let text = format!(
        "it holds more than {max_bytes} bytes once it is unpacked: raise `max_bytes`, in cobalt.toml `max-bytes`, if that is right"
    );
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

/// Which copy could be used, and how.
fn usable(copy: &str) -> String {
    match copy {
        "" => String::new(),
        copy => format!("; the copy of {copy} is used with `--offline`, or COBALT_OFFLINE=1"),
    }
}
