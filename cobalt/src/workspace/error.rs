//! Why a workspace cannot be used.

use std::io;
use std::path::{Path, PathBuf};

/// Why a workspace cannot be used. Reads after what failed, such as "failed to prepare the workspace".
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("failed to {action} `{}`: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "failed to fetch commit {commit} of `{repository}`: {problem}; check that the repository has it and that `git` can read it"
    )]
    Fetch { repository: String, commit: String, problem: String },
    #[error("failed to run `git`: {0}; install git 2.29 or newer")]
    NoGit(io::Error),
}

/// Adds the action and the path to an I/O error.
pub fn io_error<'p>(action: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> WorkspaceError + 'p {
    move |source| WorkspaceError::Io { action, path: path.to_owned(), source }
}
