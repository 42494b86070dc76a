//! Why a workspace cannot be used.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cobalt_core::wording::count;

/// The maximum number of characters of a path in a message.
const MAX_SHOWN_PATH: usize = 300;

/// Why a workspace cannot be used. Reads after what failed, such as "failed to prepare the workspace".
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("failed to {action} `{}`: {source}", shown(path))]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error(
        "failed to fetch commit {commit} of `{repository}`: {problem}; check that the repository has it and that `git` can read it"
    )]
    Fetch { repository: String, commit: String, problem: String },
    #[error("failed to run `git`: {0}; install git 2.29 or newer")]
    NoGit(io::Error),
    #[error("folder `{}` is more than {limit} folders deep; {IGNORE_HINT}", shown(path))]
    TooDeep { path: PathBuf, limit: usize },
    #[error("the workspace has more than {} and folders; {IGNORE_HINT}", count(*limit, "file"))]
    TooManyFiles { limit: usize },
    #[error("the files of the workspace exceed {limit} GiB with `{}` ({}); {IGNORE_HINT}", shown(path), count(*bytes, "byte"))]
    TooLarge { path: PathBuf, bytes: usize, limit: u64 },
    #[error(
        "copying or comparing the workspace took longer than {}; {IGNORE_HINT}",
        humantime::format_duration(*limit)
    )]
    TooSlow { limit: Duration },
}

const IGNORE_HINT: &str =
    "let the agent remove what it does not need, or leave it out with `Workspace::ignore`";

/// Adds the action and the path to an I/O error.
pub fn io_error<'p>(action: &'static str, path: &'p Path) -> impl FnOnce(io::Error) -> WorkspaceError + 'p {
    move |source| WorkspaceError::Io { action, path: path.to_owned(), source }
}

/// A path, shortened.
fn shown(path: &Path) -> String {
    let text = path.to_string_lossy();
    match text.char_indices().nth(MAX_SHOWN_PATH) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}
