//! How an experiment ends, and what it came to.

use std::path::PathBuf;

use crate::error::Error;
use crate::report::Report;
use crate::reporters::ExperimentFinished;

/// How an experiment ended.
#[derive(Debug)]
pub(crate) enum Ending {
    /// All items are done.
    Finished(Box<Outcome>),
    /// It was stopped before.
    Interrupted(Interrupted),
}

/// A run that was stopped before its end.
#[derive(Debug)]
pub(crate) struct Interrupted {
    pub(crate) experiment: String,
    pub(crate) id: String,
    /// How many items are in its journal, which stays unless there is none.
    pub(crate) kept: usize,
    /// Why it was stopped, where nobody asked for it: its journal could not be written.
    pub(crate) error: Option<Error>,
}

impl From<Interrupted> for Error {
    fn from(Interrupted { experiment, id, kept, error }: Interrupted) -> Self {
        error.unwrap_or(Self::Interrupted { experiment, id, kept })
    }
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
    /// The event of the end of a run, its results kept or not. `names` are those of its items in test cases.
    pub(crate) fn finished(&self, experiment: usize, names: &[String]) -> ExperimentFinished {
        let unsaved = self.unsaved.as_ref().map(ToString::to_string);
        let finished = ExperimentFinished::of(experiment, &self.report, names, self.path.as_deref());
        ExperimentFinished { unsaved, ..finished }
    }

    pub(crate) fn into_report(self) -> Result<Report, Error> {
        match self.unsaved {
            None => Ok(self.report),
            Some(source) => Err(Error::Unsaved { report: Box::new(self.report), source: Box::new(source) }),
        }
    }
}
