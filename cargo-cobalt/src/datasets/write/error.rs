//! Why a data file is not changed.

use std::io;
use std::path::{Path, PathBuf};

use cobalt::DatasetError;

use crate::error::CommandError;
use crate::terminal::one_line;

/// Why a data file was not read, or not written: it is as it was.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error("failed to read `{}`: {source}", shown(.path))]
    Read { path: PathBuf, source: io::Error },

    #[error("there is no file `{}`: correct the path", shown(.0))]
    Missing(PathBuf),

    #[error("`{}` is no file: name a data file", shown(.0))]
    NoFile(PathBuf),

    #[error("`{}` is a link to a file that is not there: name that file", shown(.0))]
    BrokenLink(PathBuf),

    #[error("`{}` is the address of a data set elsewhere, which is changed there: name a file", one_line(.0))]
    Remote(String),

    #[error("`{}` is {kind}, which is not changed in place: {instead}", shown(.path))]
    Unchangeable { path: PathBuf, kind: &'static str, instead: &'static str },

    #[error("the ending of `{}` tells no format of a data file: name it `.jsonl`, `.json`, `.csv` or `.tsv`", shown(.0))]
    UnknownFormat(PathBuf),

    #[error("{0}")]
    Malformed(DatasetError),

    #[error("`{}`: {reason}", shown(.path))]
    Unfit { path: PathBuf, reason: String },

    #[error("`{}` was changed by somebody else meanwhile, and is left as they wrote it: call again", shown(.0))]
    Changed(PathBuf),

    #[error("failed to write `{}`: {source}; it is as it was", shown(.path))]
    Write { path: PathBuf, source: io::Error },

    #[error(
        "`{}` is left as it was, as it would not be read back as the same items: {reason}",
        shown(.path)
    )]
    NotReadBack { path: PathBuf, reason: String },
}

impl CommandError for WriteError {}

/// A path as messages show it.
pub(super) fn shown(path: &Path) -> String {
    one_line(&path.display().to_string())
}
