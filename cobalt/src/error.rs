//! Everything that can go wrong for a reason outside the library: one type, whose messages say what to do.

use std::fmt;

use cobalt_core::causes::{BoxError, with_causes};
use cobalt_core::report::{Report, ReportJsonError};
use cobalt_core::reporters::MissingKey;
use cobalt_core::store::StoreError;

use crate::config::ConfigError;
use crate::dataset::DatasetError;

/// Why an experiment could not be declared, run or kept.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),

    /// A data set could not be read.
    #[error(transparent)]
    Dataset(#[from] DatasetError),

    /// An experiment's data set could not be made.
    #[error("the data set of experiment `{experiment}` cannot be used: {}", with_causes(&**.source))]
    DatasetOf {
        /// The experiment's name.
        experiment: String,
        /// What is wrong with the data.
        source: BoxError,
    },

    /// An experiment's settings make no sense.
    #[error("experiment `{experiment}` cannot be run: {problem}")]
    Definition {
        /// The experiment's name.
        experiment: String,
        /// What to change.
        problem: String,
    },

    /// Variables that should hold keys of models' vendors are not set.
    #[error("{}", lines(.keys))]
    MissingKeys {
        /// The variables, and what needs them; one line of the message each.
        keys: Vec<MissingKey>,
    },

    /// An experiment is ignored where a variable is not set, and it is not.
    #[error("experiment `{experiment}` is ignored, as {variable} is not set, or empty")]
    Ignored {
        /// The experiment's name.
        experiment: String,
        /// The variable.
        variable: String,
    },

    /// `run` was called outside of a tokio runtime.
    #[error(
        "experiment `{experiment}` needs a tokio runtime; call `run` from `#[tokio::main]`, or declare it with \
         `#[cobalt::experiment]` and `cobalt::main()`"
    )]
    NoRuntime {
        /// The experiment's name.
        experiment: String,
    },

    /// A file of ours could not be written or read, or a run not be resumed.
    #[error(transparent)]
    Store(#[from] StoreError),

    /// A report could not be turned into JSON.
    #[error(transparent)]
    Json(#[from] ReportJsonError),

    /// A result file could not be written, and all that it would hold is in the run's journal.
    #[error("{source}; nothing is lost: once that is fixed, COBALT_RESUME={id} writes the results")]
    InJournal {
        /// The run's id.
        id: String,
        /// Why there is no result file.
        source: Box<Error>,
    },

    /// Neither a result file nor all of the journal could be written.
    #[error(
        "{source}; what was finished before is kept: once that is fixed, COBALT_RESUME={id} runs the rest and writes \
         the results"
    )]
    PartlyInJournal {
        /// The run's id.
        id: String,
        /// What first went wrong.
        source: Box<Error>,
    },

    /// A journal could not be written any more, so the run was stopped before all items were done.
    #[error("{source}; {}", stopped(.id, *.kept, *.items))]
    Stopped {
        /// The run's id.
        id: String,
        /// How many items are in the journal.
        kept: usize,
        /// How many the run is about.
        items: usize,
        /// What went wrong with the journal.
        source: Box<Error>,
    },

    /// All items ran, and their results could not be written.
    #[error("experiment `{}` ran, and its results could not be kept: {source}", .report.name)]
    Unsaved {
        /// The results.
        report: Box<Report>,
        /// Why they are not on disk.
        source: Box<Error>,
    },

    /// The run was interrupted before all items were done.
    #[error("experiment `{experiment}` was interrupted; {}", rest(.id, *.kept))]
    Interrupted {
        /// The experiment's name.
        experiment: String,
        /// The run's id.
        id: String,
        /// How many items are in the journal; where there is none, neither is the journal.
        kept: usize,
    },
}

/// What became of a run whose journal could not be written, and what to do then.
fn stopped(id: &str, kept: usize, items: usize) -> String {
    if kept == 0 {
        return "the run was stopped before any item was kept; run it again then".to_owned();
    }
    format!(
        "the run was stopped with {kept} of {items} items kept; resume it then with `cargo cobalt run --resume {id}`, or with \
         COBALT_RESUME={id} under `cargo test`"
    )
}

/// What to do about an interrupted run.
fn rest(id: &str, kept: usize) -> String {
    match kept {
        0 => "no item was finished; run it again".to_owned(),
        _ => format!("run it again with COBALT_RESUME={id} to do the rest"),
    }
}

/// The message. A `main` that returns an error shows it in this form, which would else hide what to do among the fields,
/// or fill the screen with a report.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn lines(keys: &[MissingKey]) -> String {
    let keys: Vec<_> = keys.iter().map(ToString::to_string).collect();
    keys.join("\n")
}

#[cfg(test)]
#[test]
fn an_error_that_main_returns_is_shown_by_its_message() {
    let error = Error::NoRuntime { experiment: "desk".to_owned() };
    assert_eq!(format!("{error:?}"), error.to_string());
}
