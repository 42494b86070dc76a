//! A result file or a baseline file without its items.

use std::fs;
use std::path::Path;

use cobalt::report::Timestamp;
use cobalt::store::without_mark;
use serde::Deserialize;

use crate::error::Error;

/// What both kinds of files begin with.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) timestamp: Timestamp,
    #[serde(default)]
    pub(super) partial: bool,
}

impl Head {
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(|error| unfit(path, &error))?;
        Self::parse(&bytes).map_err(|reason| unfit(path, &reason))
    }

    /// Reads the text of a file, or says why it is none of the two.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(without_mark(bytes))
            .map_err(|error| format!("neither a baseline file nor a result file: {error}"))
    }

    /// Says that the run is no measure, where it is of some of the items.
    pub(super) fn refuse_partial(&self) -> Result<(), Error> {
        let Self { id, name, .. } = self;
        match self.partial {
            true => Err(Error::Arguments(format!(
                "run {id} of `{name}` is of some of the items only, and no baseline; run all of them with \
                 `cargo cobalt run`"
            ))),
            false => Ok(()),
        }
    }
}

fn unfit(path: &Path, reason: &impl ToString) -> Error {
    Error::RunFile { path: path.to_owned(), reason: reason.to_string() }
}
