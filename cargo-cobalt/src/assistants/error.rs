//! Why files of assistants were left as they were.

use std::io;
use std::path::{Path, PathBuf};

use super::marks::{BEGIN, END};
use crate::error::CommandError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum AssistantsError {
    #[error("failed to {action} `{}`: {source}; see that you may", .path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },

    #[error("`{}`, line {line}: {fault}; nothing was written", .path.display())]
    Marks { path: PathBuf, line: usize, fault: Fault },

    #[error(
        "failed to read `{}`: line {line}, column {column}: {reason}; mend the file, or remove it; nothing was written",
        .path.display()
    )]
    Json { path: PathBuf, line: usize, column: usize, reason: String },

    #[error("`{}` has no object {what}, so that no server can be added; make it one, or remove it", .path.display())]
    NoObject { path: PathBuf, what: &'static str },
}

impl CommandError for AssistantsError {}

impl AssistantsError {
    pub(super) fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::File { action, path: path.to_owned(), source }
    }
}

/// What is wrong with a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("`{BEGIN}` has no `{END}` after it: add that where the part of Cobalt ends, or remove this line")]
    NoEnd,
    #[error(
        "`{END}` has no `{BEGIN}` before it: add that where the part of Cobalt begins, or remove this line"
    )]
    NoBegin,
    #[error("`{BEGIN}` stands here once more: leave one of the two parts")]
    Twice,
}
