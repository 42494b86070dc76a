//! Why a project cannot be read or built.

use std::io;
use std::path::PathBuf;

use cobalt::BoxError;

use crate::error::CommandError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ProjectError {
    #[error("failed to read `{}`: {source}", .path.display())]
    Manifest { path: PathBuf, source: BoxError },

    #[error("failed to read the sources in `{}`: {source}; make them readable", .path.display())]
    Sources { path: PathBuf, source: io::Error },

    #[error("failed to read what cargo says: {0}")]
    Messages(io::Error),

    #[error("the experiments could not be built: mend what cargo says above")]
    Build,

    #[error("failed to read the binary `{}`: {source}", .path.display())]
    Binary { path: PathBuf, source: io::Error },
}

impl CommandError for ProjectError {}
