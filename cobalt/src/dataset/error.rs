//! What can be wrong with a data set.

use std::io;

use super::DecodeError;

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
        "{file}: expected a JSON, JSONL or CSV file, and neither its name nor its content looks like one: rename it, \
         or load it with `Dataset::from_json`, `from_jsonl` or `from_csv`"
    )]
    UnknownFormat {
        /// The path as it was given.
        file: String,
    },
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
