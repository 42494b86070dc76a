//! The public error type. Messages say what to do.

use std::fmt;

use cobalt_core::error_chain::{BoxError, format_with_causes};
use cobalt_core::report::{Report, ReportJsonError};
use cobalt_core::reporters::{MissingKey, format_cost_precise as format_cost};
use cobalt_core::store::StoreError;
use cobalt_core::wording::group_thousands;

use crate::config::ConfigError;
use crate::dataset::DatasetError;
use crate::recording::RecordingFailure;

/// Why an experiment could not be declared, run or saved.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),

    /// A dataset could not be read.
    #[error(transparent)]
    Dataset(#[from] DatasetError),

    /// An experiment's dataset could not be created.
    #[error("the dataset of experiment `{experiment}` cannot be used: {}", format_with_causes(&**.source))]
    ExperimentDataset {
        /// The experiment's name.
        experiment: String,
        /// What is wrong with the data.
        source: BoxError,
    },

    /// An experiment's settings are invalid.
    #[error("experiment `{experiment}` cannot be run: {problem}")]
    Definition {
        /// The experiment's name.
        experiment: String,
        /// What to change.
        problem: String,
    },

    /// Variables with API keys are not set.
    #[error("{}", join_lines(.keys))]
    MissingKeys {
        /// The variables and what needs them, one per line of the message.
        keys: Vec<MissingKey>,
    },

    /// An experiment is ignored because a variable is not set.
    #[error("experiment `{experiment}` is ignored because {variable} is unset or empty")]
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

    /// A file under `.cobalt` could not be written or read, or a run could not be resumed.
    #[error(transparent)]
    Store(#[from] StoreError),

    /// The outputs of a stored run cannot be scored.
    #[error("run `{run}` cannot be scored: {reason}")]
    Score {
        /// The run, as named.
        run: String,
        /// The reason, and what to do.
        reason: String,
    },

    /// A report could not be serialized to JSON.
    #[error(transparent)]
    Json(#[from] ReportJsonError),

    /// A result file could not be written, but everything is in the run's journal.
    #[error("{source}; nothing is lost: fix this, then write the results with COBALT_RESUME={id}")]
    SavedInJournal {
        /// The run's id.
        id: String,
        /// Why there is no result file.
        source: Box<Error>,
    },

    /// Neither the result file nor the whole journal could be written.
    #[error(
        "{source}; items finished before that are saved: fix this, then run the rest and write the results with \
         COBALT_RESUME={id}"
    )]
    PartlySavedInJournal {
        /// The run's id.
        id: String,
        /// The first error.
        source: Box<Error>,
    },

    /// Model traffic cannot be recorded.
    #[error(transparent)]
    Recording(#[from] RecordingFailure),

    /// A journal or a recording could no longer be written, or a dataset no longer be read, so the run was stopped early.
    #[error("{source}; {}", stopped_message(.id, *.kept, *.items))]
    Stopped {
        /// The run's id.
        id: String,
        /// How many items are in the journal.
        kept: usize,
        /// How many items the run has.
        items: usize,
        /// The error of the file.
        source: Box<Error>,
    },

    /// All items ran, but their results could not be written.
    #[error("experiment `{}` ran, but its results could not be saved: {source}", .report.name)]
    Unsaved {
        /// The results; of a large run without its items, which are in its journal: see `source`.
        report: Box<Report>,
        /// Why they could not be written.
        source: Box<Error>,
    },

    /// The run was interrupted before all items were done.
    #[error("experiment `{experiment}` was interrupted{}; {}", reason(.budget), resume_hint(.id, *.kept, *.paid))]
    Interrupted {
        /// The experiment's name.
        experiment: String,
        /// The run's id.
        id: String,
        /// How many items are in the journal; without items and payments, there is no journal.
        kept: usize,
        /// What was paid so far, also for items that did not finish, in USD.
        paid: f64,
        /// Why nothing more is paid for, if the budget is exhausted.
        budget: Option<String>,
    },
}

/// The state of a run that was stopped, and what to do.
fn stopped_message(id: &str, kept: usize, items: usize) -> String {
    if kept == 0 {
        return "the run was stopped before any item was saved; fix this, then run it again".to_owned();
    }
    let [kept, items] = [kept, items].map(|number| group_thousands(number as u64));
    format!(
        "the run was stopped with {kept} of {items} items saved; fix this, then resume with `cargo cobalt run --resume {id}`, or \
         with COBALT_RESUME={id} under `cargo test`"
    )
}

fn reason(budget: &Option<String>) -> String {
    budget.as_ref().map_or_else(String::new, |budget| format!(": {budget}"))
}

/// What to do about an interrupted run, which has paid an amount in USD.
fn resume_hint(id: &str, kept: usize, paid: f64) -> String {
    match kept {
        0 if paid == 0.0 => "no item was finished; run it again".to_owned(),
        0 => {
            format!("no item was finished, {} paid so far. Resume with COBALT_RESUME={id}", format_cost(paid))
        }
        _ => format!("finished items are saved. Resume with COBALT_RESUME={id}"),
    }
}

/// Shows the message. A `main` that returns an error prints this form; the derived one would hide what to do among the fields, or fill
/// the screen with a report.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn join_lines(keys: &[MissingKey]) -> String {
    let keys: Vec<_> = keys.iter().map(ToString::to_string).collect();
    keys.join("\n")
}

#[cfg(test)]
#[test]
fn an_error_that_main_returns_is_shown_by_its_message() {
    let error = Error::NoRuntime { experiment: "desk".to_owned() };
    assert_eq!(format!("{error:?}"), error.to_string());
}

#[cfg(test)]
#[test]
fn paid_runs_are_resumed() {
    let message = |kept, paid, budget: Option<&str>| {
        let (experiment, id, budget) = ("desk".to_owned(), "r1".to_owned(), budget.map(str::to_owned));
        Error::Interrupted { experiment, id, kept, paid, budget }.to_string()
    };
    let start = "experiment `desk` was interrupted";
    assert_eq!(message(0, 0.0, None), format!("{start}; no item was finished; run it again"));
    assert_eq!(
        message(0, 2.0, Some("budget of $2.00 exhausted")),
        format!(
            "{start}: budget of $2.00 exhausted; no item was finished, $2.00 paid so far. Resume with COBALT_RESUME=r1"
        )
    );
    assert_eq!(
        message(1, 2.0, None),
        format!("{start}; finished items are saved. Resume with COBALT_RESUME=r1")
    );
}
