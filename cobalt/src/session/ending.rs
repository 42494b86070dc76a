//! How an experiment ends, and what it came to.

use std::path::PathBuf;

use crate::error::Error;
use crate::report::Report;

/// How an experiment ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// All items are done.
    Finished(Box<Outcome>),
    /// It was stopped before; its journal stays.
    Interrupted { experiment: String, id: String },
}

/// What a finished experiment came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) report: Report,
    /// The result file, where one is written.
    pub(crate) path: Option<PathBuf>,
    /// Why none could be written.
    pub(crate) unsaved: Option<Error>,
}

impl Outcome {
    pub(crate) fn into_report(self) -> Result<Report, Error> {
        match self.unsaved {
            None => Ok(self.report),
            Some(source) => Err(Error::Unsaved { report: Box::new(self.report), source: Box::new(source) }),
        }
    }
}
