//! What can go wrong outside of this program, each with its exit code.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::init::InitError;

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("failed to read the project: {0}")]
    Metadata(#[from] cargo_metadata::Error),

    #[error("failed to read `{}`: {source}", .path.display())]
    Manifest { path: PathBuf, source: Box<dyn std::error::Error> },

    #[error("failed to start `{program}`: {source}")]
    Start { program: String, source: io::Error },

    #[error("failed to catch Ctrl-C: {0}")]
    Signals(ctrlc::Error),

    #[error("failed to read what cargo says: {0}")]
    Messages(io::Error),

    #[error("the experiments could not be built")]
    Build,

    #[error(transparent)]
    Init(#[from] InitError),

    #[error("there is no experiment to run: {0}")]
    NothingMatched(String),
}

impl Error {
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::NothingMatched(_) => ExitCode::from(4),
            _ => ExitCode::from(3),
        }
    }
}
