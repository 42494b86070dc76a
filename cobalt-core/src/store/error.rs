//! What can go wrong with the files of runs.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file of ours could not be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file could not be written or read.
    #[error("failed to {action} `{}`: {source}{}", .path.display(), hint(.action, .source))]
    Storage {
        /// What was tried, as in "write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },

    /// A run cannot be resumed.
    #[error("run `{id}` cannot be resumed: {reason}")]
    Resume {
        /// The run's id.
        id: String,
        /// Why, and what to do.
        reason: String,
    },
}

/// The action of making a folder.
pub const CREATE: &str = "create the folder";

/// The error of an action on a file or a folder.
pub fn storage(action: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Storage { action, path: path.to_owned(), source }
}

/// What a person can do about a file that cannot be written.
fn hint(action: &str, error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; make the folder writable, or name another one in COBALT_DIR"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space, or name another folder in COBALT_DIR"
        }
        io::ErrorKind::FileTooLarge => "; raise the limit on the size of files, which `ulimit -f` shows",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "; move what is in its place away, or name another folder in COBALT_DIR"
        }
        _ if action == CREATE => "; name another folder in COBALT_DIR",
        _ => "",
    }
}
