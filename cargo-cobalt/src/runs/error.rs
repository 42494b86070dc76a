//! Names that no run has, and what may have been meant.

use cobalt::{name, suggest};

use super::view::minute;
use crate::error::{CommandError, ErrorKind};
use crate::index::Run;
use crate::terminal::one_line;

/// The most runs that a message shows.
const SHOWN: usize = 5;
/// How many digits of a commit's hash are shown.
const SHORT_HASH: usize = 10;

/// A name that no run has, or several.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UnknownRun {
    #[error(
        "no run is named `{typed}`: it is no result file, no beginning of a run's id and no git revision; {hint}"
    )]
    Unknown { typed: String, hint: String },

    #[error("`{typed}` is commit {}, of which there is no run; {hint}", short(.commit))]
    NoRunOfCommit { typed: String, commit: String, hint: String },

    #[error("`{typed}` is commit {}, which has no run of `{experiment}` but of {}", short(.commit), suggest::list(.others.iter().map(String::as_str)))]
    NoRunOfExperiment { typed: String, commit: String, experiment: String, others: Vec<String> },

    #[error("`{typed}`: no experiment named `{experiment}` has a whole run; {hint}")]
    UnknownExperiment { typed: String, experiment: String, hint: String },

    #[error("`{typed}`: `{experiment}` has only {runs} whole run{}; {LIST}", if *.runs == 1 { "" } else { "s" })]
    TooFewRuns { typed: String, experiment: String, runs: usize },

    #[error("`{typed}`: there is no whole run in `{results}` yet; make one with `cargo cobalt run`")]
    NoRuns { typed: String, results: String },

    #[error("`{typed}` may mean several runs: {}; type more of the id", .runs.join(", "))]
    Ambiguous { typed: String, runs: Vec<String> },

    #[error("`{typed}` may mean the run {run} or commit {}, of which there is another run; type more of it", short(.commit))]
    RunOrCommit { typed: String, run: String, commit: String },
}

impl CommandError for UnknownRun {
    fn kind(&self) -> ErrorKind {
        ErrorKind::NothingMatched
    }
}

/// What shows the names that there are.
const LIST: &str = "`cargo cobalt history` lists all runs";

impl UnknownRun {
    /// `known` are the runs that there are, the newest first, and `experiments` the names of theirs. `fetch` says what to
    /// do if it is a revision.
    pub(super) fn unknown(typed: &str, known: &[Run], experiments: &[&str], fetch: Option<String>) -> Self {
        let hint =
            meant(typed, experiments).map(|meant| format!("did you mean `{meant}`?")).unwrap_or_else(|| {
                let runs = if known.is_empty() {
                    "there is no run yet; make one with `cargo cobalt run`".to_owned()
                } else {
                    let newest: Vec<_> = known.iter().take(SHOWN).map(described).collect();
                    format!("the newest runs are {}; {LIST}", newest.join(", "))
                };
                fetch.into_iter().chain([runs]).collect::<Vec<_>>().join("; ")
            });
        Self::Unknown { typed: typed.to_owned(), hint }
    }

    /// A revision may be the name of an experiment, too.
    pub(super) fn no_run_of_commit(typed: String, commit: String, experiments: &[&str]) -> Self {
        let hint = match name::find(&typed, experiments.iter().copied()).is_some() {
            true => format!("`{typed}@latest` is the newest run of the experiment"),
            false => format!("check it out and run it, or {LIST}"),
        };
        Self::NoRunOfCommit { typed, commit, hint }
    }

    pub(super) fn unknown_experiment(typed: &str, experiment: &str, experiments: &[&str]) -> Self {
        let hint = if experiments.is_empty() {
            "make one with `cargo cobalt run`".to_owned()
        } else {
            suggest::instead(experiment, experiments.iter().copied())
        };
        Self::UnknownExperiment { typed: typed.to_owned(), experiment: experiment.to_owned(), hint }
    }

    /// `runs` are described.
    pub(super) fn ambiguous(typed: &str, mut runs: Vec<String>) -> Self {
        let more = runs.len().saturating_sub(SHOWN);
        runs.truncate(SHOWN);
        if more > 0 {
            runs.push(format!("{more} more"));
        }
        Self::Ambiguous { typed: typed.to_owned(), runs }
    }
}

/// A name that was probably meant.
fn meant(typed: &str, experiments: &[&str]) -> Option<String> {
    let (name, _) = typed.rsplit_once('@').unwrap_or((typed, ""));
    let experiment = suggest::closest(name, experiments.iter().copied());
    experiment.map(|experiment| format!("{experiment}@latest")).or_else(|| {
        let (word, back) = typed.split_once('~').map_or((typed, None), |(word, back)| (word, Some(back)));
        let latest = suggest::closest(word, ["latest"])?;
        Some(back.map_or(latest.to_owned(), |back| format!("{latest}~{back}")))
    })
}

/// A run as a message names it.
pub(super) fn described(run: &Run) -> String {
    format!("{} (`{}`, {})", one_line(&run.id), one_line(&run.name), minute(&run.timestamp))
}

/// A commit as a message names it.
pub(crate) fn short(commit: &str) -> &str {
    commit.get(..SHORT_HASH).unwrap_or(commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_near_is_suggested() {
        let experiments = ["help-desk", "intent"];
        assert_eq!(meant("help-desk", &experiments).as_deref(), Some("help-desk@latest"));
        assert_eq!(meant("help_desk@newest", &experiments).as_deref(), Some("help-desk@latest"));
        assert_eq!(meant("lastest~2", &experiments).as_deref(), Some("latest~2"));
        assert_eq!(meant("zzzzzz", &experiments), None);
    }
}
