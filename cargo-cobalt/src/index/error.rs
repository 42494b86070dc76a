//! Why there is no index of the results.

use std::io;
use std::path::PathBuf;

use crate::error::CommandError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    #[error("failed to list the results in `{}`: {source}; make the folder readable, or name another one in COBALT_DIR", .path.display())]
    Results { path: PathBuf, source: io::Error },

    #[error(
        "`{}` is no index of ours, and is left as it is; name another file in COBALT_HISTORY_DB, or remove this one",
        .path.display()
    )]
    Foreign { path: PathBuf },

    #[error("failed to index the results in memory: {0}")]
    Database(#[from] rusqlite::Error),
}

impl CommandError for IndexError {}
