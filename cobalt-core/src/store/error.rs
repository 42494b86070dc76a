//! Errors of the files of runs.

use std::io;
use std::path::{Path, PathBuf};

/// An error of a file of a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// A file could not be written or read.
    #[error("failed to {action} `{}`: {source}{}", .path.display(), hint(.action, .source))]
    Storage {
        /// The failed action, such as "write".
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },

    /// A run cannot be resumed.
    #[error("run `{id}` cannot be resumed: {reason}")]
    Resume {
        /// The run's id.
        id: String,
        /// The reason, and what to do.
        reason: String,
    },
}

/// The action for creating a folder.
pub const CREATE_FOLDER: &str = "create the folder";

/// Builds the error of an action on a file or folder.
pub fn storage_error(action: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Storage { action, path: path.to_owned(), source }
}

/// What the user can do about a file that cannot be written.
fn hint(action: &str, error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; make the folder writable, or set COBALT_DIR to another folder"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "; free some space, or set COBALT_DIR to another folder"
        }
        io::ErrorKind::FileTooLarge => "; raise the file size limit (see `ulimit -f`)",
        io::ErrorKind::NotADirectory | io::ErrorKind::AlreadyExists => {
            "; move the existing file away, or set COBALT_DIR to another folder"
        }
        _ if action == CREATE_FOLDER => "; set COBALT_DIR to another folder",
        _ => "",
    }
}
