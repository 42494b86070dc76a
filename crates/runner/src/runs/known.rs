//! The runs of a project by name, git revision or ID prefix, with suggestions for unknown names.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use cobalt_core::store::Layout;
use cobalt_core::{experiment_name, wording};

use super::view::format_minute;
use crate::error::{CommandError, Error, ErrorKind};
use crate::index::{Index, IndexedRun, RunFilter};
use crate::terminal::one_line;

/// Minimum length of a hash prefix for commits that git does not have.
const SHORTEST_HASH: usize = 7;

/// The runs of a store.
#[derive(Debug)]
pub struct KnownRuns {
    /// The complete runs, latest first.
    pub complete: Vec<IndexedRun>,
    /// The folder of the result files.
    pub results: PathBuf,
    /// The folder that paths are relative to and that git runs in: the current one, or that of a project.
    pub folder: PathBuf,
    /// Whether a name can be a file path.
    pub takes_paths: bool,
    /// Partial runs without a file in `results`, which only their IDs name.
    pub other_partial: Vec<IndexedRun>,
}

impl KnownRuns {
    /// Reads the runs of a store. Skips files that are not results, with a warning.
    pub fn open(layout: &Layout) -> Result<Self, Error> {
        let folder = env::current_dir().map_err(Error::CurrentFolder)?;
        let (found, skipped) = Index::open(layout)?.query(&RunFilter::ALL)?;
        let known = Self { takes_paths: true, ..Self::of(found.runs, layout, &folder) };
        for skipped in skipped {
            let path = known.display_path(&known.results.join(&skipped.file));
            eprintln!("warning: skipping `{path}`: {}", one_line(&skipped.reason));
        }
        Ok(known)
    }

    /// These complete runs, latest first, of the project in a folder. Names cannot be paths, so only files of the store are read.
    pub fn of(complete: Vec<IndexedRun>, layout: &Layout, folder: &Path) -> Self {
        let (results, folder) = (layout.results().to_owned(), folder.to_owned());
        Self { complete, results, folder, takes_paths: false, other_partial: Vec::new() }
    }

    /// The complete runs, latest first.
    pub fn whole(&self) -> &[IndexedRun] {
        &self.complete
    }

    /// The experiments with complete runs, that of the latest run first.
    pub fn experiments(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for run in &self.complete {
            if !names.contains(&&*run.name) {
                names.push(&run.name);
            }
        }
        names
    }

    /// The declared name of an experiment, if it has complete runs.
    pub fn experiment(&self, typed: &str) -> Option<&str> {
        experiment_name::find_declared(typed, self.complete.iter().map(|run| &*run.name))
    }

    /// The complete runs of an experiment, latest first.
    pub fn of_experiment(&self, typed: &str) -> impl Iterator<Item = &IndexedRun> {
        let name = self.experiment(typed);
        self.complete.iter().filter(move |run| Some(&*run.name) == name)
    }

    /// The latest complete run of each experiment on a commit. Runs without uncommitted changes take precedence.
    pub fn of_commit(&self, commit: &str) -> Vec<&IndexedRun> {
        let mut runs: Vec<_> =
            self.complete.iter().filter(|run| run.git_commit.as_deref() == Some(commit)).collect();
        // The sort is stable: the latest stay first.
        runs.sort_by_key(|run| run.git_dirty == Some(true));
        let mut names: Vec<&str> = Vec::new();
        runs.retain(|run| {
            let is_first = !names.contains(&&*run.name);
            names.push(&run.name);
            is_first
        });
        runs
    }

    /// Resolves a revision to a commit: in git or, as runs can come from elsewhere, by the hash prefix of a run's commit.
    pub fn commit(&self, revision: &str) -> Option<String> {
        commit(&self.folder, revision).or_else(|| {
            let commits = self.complete.iter().filter_map(|run| run.git_commit.as_deref());
            let mut meant =
                commits.filter(|_| revision.len() >= SHORTEST_HASH).filter(|it| it.starts_with(revision));
            let first = meant.next()?;
            meant.all(|other| other == first).then(|| first.to_owned())
        })
    }

    /// The latest run of each experiment with this name, which a user gave to it.
    pub fn of_name(&self, name: &str) -> Vec<&IndexedRun> {
        let mut names: Vec<&str> = Vec::new();
        let mut runs: Vec<_> =
            self.complete.iter().filter(|run| run.run_name.as_deref() == Some(name)).collect();
        runs.retain(|run| {
            let is_first = !names.contains(&&*run.name);
            names.push(&run.name);
            is_first
        });
        runs
    }

    /// The IDs and files of partial runs with this ID prefix.
    pub fn partial(&self, beginning: &str) -> Vec<(String, PathBuf)> {
        let entries = fs::read_dir(&self.results).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path());
        let mut partial: Vec<_> = files
            .filter_map(|path| {
                let name = path.file_name()?.to_str()?;
                let (_, id) = name.strip_suffix(".json")?.rsplit_once('_')?;
                let is_whole = || self.complete.iter().any(|run| run.file == name || run.id == id);
                let is_meant = !name.starts_with('.') && id.starts_with(beginning) && !is_whole();
                is_meant.then(|| (id.to_owned(), path.clone()))
            })
            .collect();
        partial.sort();
        partial
    }

    /// A path relative to the current folder.
    pub fn display_path(&self, path: &Path) -> String {
        one_line(&path.strip_prefix(&self.folder).unwrap_or(path).display().to_string())
    }
}

/// Maximum number of runs in a message.
const MAX_SHOWN: usize = 5;
/// Digits shown of a commit hash.
const SHORT_HASH: usize = 10;

/// A name that matches no run, or several.
#[derive(Debug, thiserror::Error)]
pub enum UnknownRun {
    #[error("no run `{typed}`: not a result file, run-ID prefix, git revision or name of a run; {hint}")]
    Unknown { typed: String, hint: String },

    #[error("commit {} (`{typed}`) has no run; {hint}", short_hash(.commit))]
    NoRunOfCommit { typed: String, commit: String, hint: String },

    #[error(
        "commit {} (`{typed}`) has no run of `{experiment}`, only of {}",
        short_hash(.commit),
        wording::join_quoted(.others.iter().map(String::as_str))
    )]
    NoRunOfExperiment { typed: String, commit: String, experiment: String, others: Vec<String> },

    #[error("branch `{branch}`{} has no complete run{of} without uncommitted changes; {hint}", typed_note(.typed))]
    NoRunOfBranch { typed: String, branch: String, of: String, hint: String },

    #[error(
        "`{typed}` is the target branch of the pull request, which only jobs of GitHub, GitLab and Buildkite know; name the branch, \
         e.g. `branch:main`"
    )]
    NoTarget { typed: String },

    #[error("`{typed}`: no complete run of an experiment `{experiment}`; {hint}")]
    UnknownExperiment { typed: String, experiment: String, hint: String },

    #[error("`{typed}`: `{experiment}` has only {runs} complete run{}; {HISTORY_HINT}", if *.runs == 1 { "" } else { "s" })]
    TooFewRuns { typed: String, experiment: String, runs: usize },

    #[error("`{typed}`: no complete run in `{results}` yet; create one with `cargo cobalt run`")]
    NoRuns { typed: String, results: String },

    #[error("`{typed}` matches several runs: {}; use a longer ID prefix", .runs.join(", "))]
    Ambiguous { typed: String, runs: Vec<String> },

    #[error("`{typed}` matches run {run} and commit {}, which has a different run; use a longer prefix", short_hash(.commit))]
    RunOrCommit { typed: String, run: String, commit: String },
}

impl CommandError for UnknownRun {
    fn kind(&self) -> ErrorKind {
        ErrorKind::NothingMatched
    }
}

/// What was typed, if it does not name the branch itself.
fn typed_note(typed: &str) -> String {
    if typed.contains("branch:") { String::new() } else { format!(" (`{typed}`)") }
}

/// Where to find run names.
const HISTORY_HINT: &str = "`cargo cobalt history` lists all runs";

impl UnknownRun {
    /// `known` are the existing runs, latest first, and `experiments` their experiments. `fetch` says what to do if the name is a
    /// revision.
    pub fn unknown(typed: &str, known: &[IndexedRun], experiments: &[&str], fetch: Option<String>) -> Self {
        let hint = suggestion(typed, experiments)
            .map(|meant| format!("did you mean `{meant}`?"))
            .unwrap_or_else(|| {
                let runs = if known.is_empty() {
                    "no runs yet; create one with `cargo cobalt run`".to_owned()
                } else {
                    let newest: Vec<_> = known.iter().take(MAX_SHOWN).map(describe_run).collect();
                    format!("latest runs: {}; {HISTORY_HINT}", newest.join(", "))
                };
                fetch.into_iter().chain([runs]).collect::<Vec<_>>().join("; ")
            });
        Self::Unknown { typed: typed.to_owned(), hint }
    }

    /// A revision can also be an experiment name.
    pub fn no_run_of_commit(typed: String, commit: String, experiments: &[&str]) -> Self {
        let hint = match experiment_name::find_declared(&typed, experiments.iter().copied()).is_some() {
            true => format!("for the latest run of the experiment, use `{typed}@latest`"),
            false => format!("check it out and run it; {HISTORY_HINT}"),
        };
        Self::NoRunOfCommit { typed, commit, hint }
    }

    pub fn unknown_experiment(typed: &str, experiment: &str, experiments: &[&str]) -> Self {
        let hint = if experiments.is_empty() {
            "create one with `cargo cobalt run`".to_owned()
        } else {
            wording::suggest_or_list(experiment, experiments.iter().copied())
        };
        Self::UnknownExperiment { typed: typed.to_owned(), experiment: experiment.to_owned(), hint }
    }

    /// `branches` are those of all runs, and `changed` the runs on this branch that were made with uncommitted changes, latest first.
    pub fn no_run_of_branch(
        typed: &str,
        experiment: Option<&str>,
        branch: &str,
        branches: &[&str],
        changed: &[&IndexedRun],
    ) -> Self {
        let hint = match changed.first() {
            Some(run) => {
                format!("to use run {}, made with uncommitted changes, pass its ID", one_line(&run.id))
            }
            None if branches.is_empty() => "check it out and run it".to_owned(),
            None if branches.contains(&branch) => HISTORY_HINT.to_owned(),
            None => wording::suggest_or_list(branch, branches.iter().copied()),
        };
        let of = experiment.map(|name| format!(" of `{}`", one_line(name))).unwrap_or_default();
        Self::NoRunOfBranch { typed: typed.to_owned(), branch: branch.to_owned(), of, hint }
    }

    /// Whether a run elsewhere may have this name.
    pub fn may_be_elsewhere(&self) -> bool {
        match self {
            Self::Unknown { .. }
            | Self::NoRunOfCommit { .. }
            | Self::NoRunOfExperiment { .. }
            | Self::NoRunOfBranch { .. }
            | Self::UnknownExperiment { .. }
            | Self::NoRuns { .. } => true,
            // `latest` counts the runs of one place.
            Self::TooFewRuns { .. }
            | Self::Ambiguous { .. }
            | Self::RunOrCommit { .. }
            | Self::NoTarget { .. } => false,
        }
    }

    /// `runs` are descriptions.
    pub fn ambiguous(typed: &str, mut runs: Vec<String>) -> Self {
        let more = runs.len().saturating_sub(MAX_SHOWN);
        runs.truncate(MAX_SHOWN);
        if more > 0 {
            runs.push(format!("{more} more"));
        }
        Self::Ambiguous { typed: typed.to_owned(), runs }
    }
}

/// A suggestion for a misspelt name.
fn suggestion(typed: &str, experiments: &[&str]) -> Option<String> {
    let (name, _) = typed.rsplit_once('@').unwrap_or((typed, ""));
    let experiment = wording::closest(name, experiments.iter().copied());
    experiment.map(|experiment| format!("{experiment}@latest")).or_else(|| {
        let (word, back) = typed.split_once('~').map_or((typed, None), |(word, back)| (word, Some(back)));
        let latest = wording::closest(word, ["latest"])?;
        Some(back.map_or(latest.to_owned(), |back| format!("{latest}~{back}")))
    })
}

/// A run in a message.
pub fn describe_run(run: &IndexedRun) -> String {
    format!("{} (`{}`, {} UTC)", one_line(&run.id), one_line(&run.name), format_minute(&run.timestamp))
}

/// A shortened commit hash.
pub fn short_hash(commit: &str) -> &str {
    commit.get(..SHORT_HASH).unwrap_or(commit)
}

/// The full commit hash of a revision in the repository of a folder; `None` if unknown or without git.
pub fn commit(folder: &Path, revision: &str) -> Option<String> {
    // It would be parsed as an option.
    if revision.is_empty() || revision.starts_with('-') {
        return None;
    }
    git(folder, &["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])
}

/// How to get a missing revision from a remote.
pub fn fetch_hint(folder: &Path, revision: &str) -> Option<String> {
    let remotes = git(folder, &["remote"])?;
    let at_remote = remotes.lines().map(|remote| format!("{remote}/{revision}"));
    if let Some(there) = at_remote.into_iter().find(|branch| commit(folder, branch).is_some()) {
        return Some(format!("try `{there}`"));
    }
    let is_of = |remote: &&str| revision.strip_prefix(*remote).is_some_and(|rest| rest.starts_with('/'));
    let remote = remotes.lines().find(is_of).or_else(|| remotes.lines().next())?;
    let is_shallow = git(folder, &["rev-parse", "--is-shallow-repository"])? == "true";
    let unshallow = if is_shallow { "--unshallow " } else { "" };
    // Name all branches, as a single-branch clone does not fetch others.
    let all = format!("'+refs/heads/*:refs/remotes/{remote}/*'");
    Some(format!("to get missing revisions, run `git fetch {unshallow}--tags {remote} {all}`"))
}

/// The output of git, if it succeeds.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_near_is_suggested() {
        let experiments = ["help-desk", "intent"];
        assert_eq!(suggestion("help-desk", &experiments).as_deref(), Some("help-desk@latest"));
        assert_eq!(suggestion("help_desk@newest", &experiments).as_deref(), Some("help-desk@latest"));
        assert_eq!(suggestion("lastest~2", &experiments).as_deref(), Some("latest~2"));
        assert_eq!(suggestion("zzzzzz", &experiments), None);
    }
}
