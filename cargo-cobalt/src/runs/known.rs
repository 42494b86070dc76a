//! The runs of a project by name, revision or beginning of an id, with suggestions for names that no run has.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use cobalt_core::store::Layout;
use cobalt_core::{names, wording};

use super::view::minute;
use crate::error::{CommandError, Error, ErrorKind};
use crate::index::{Filter, Index, Run};
use crate::terminal::one_line;

/// The fewest digits by which a commit is known that git does not have.
const SHORTEST_HASH: usize = 7;

/// The runs of a store.
#[derive(Debug)]
pub struct KnownRuns {
    /// The whole runs, the newest first.
    pub whole: Vec<Run>,
    /// The folder of the result files.
    pub results: PathBuf,
    /// The folder from which paths are told and git is asked: the current one, or that of a project.
    pub folder: PathBuf,
    /// Whether a name may be the path of a file.
    pub takes_paths: bool,
}

impl KnownRuns {
    /// Reads which runs there are. Files that are no results are left out, and said to be.
    pub fn open(layout: &Layout) -> Result<Self, Error> {
        let folder = env::current_dir().map_err(Error::CurrentFolder)?;
        let (found, skipped) = Index::open(layout)?.runs(&Filter::ALL)?;
        let known = Self { takes_paths: true, ..Self::of(found.runs, layout, &folder) };
        for skipped in skipped {
            let path = known.shown(&known.results.join(&skipped.file));
            eprintln!("warning: `{path}` is left out: {}", one_line(&skipped.reason));
        }
        Ok(known)
    }

    /// These whole runs, the newest first, of the project in a folder. No file is read that is not of its store: a name is no path.
    pub fn of(whole: Vec<Run>, layout: &Layout, folder: &Path) -> Self {
        let (results, folder) = (layout.results().to_owned(), folder.to_owned());
        Self { whole, results, folder, takes_paths: false }
    }

    /// The whole runs, the newest first.
    pub fn whole(&self) -> &[Run] {
        &self.whole
    }

    /// The names of the experiments that have whole runs, that of the newest run first.
    pub fn experiments(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for run in &self.whole {
            if !names.contains(&&*run.name) {
                names.push(&run.name);
            }
        }
        names
    }

    /// The declared name of the experiment that a name means, where it has whole runs.
    pub fn experiment(&self, typed: &str) -> Option<&str> {
        names::find(typed, self.whole.iter().map(|run| &*run.name))
    }

    /// The whole runs of an experiment, the newest first.
    pub fn of_experiment(&self, typed: &str) -> impl Iterator<Item = &Run> {
        let name = self.experiment(typed);
        self.whole.iter().filter(move |run| Some(&*run.name) == name)
    }

    /// The newest whole run of each experiment that was made on a commit. One without changes beside the commit goes before.
    pub fn of_commit(&self, commit: &str) -> Vec<&Run> {
        let mut runs: Vec<_> =
            self.whole.iter().filter(|run| run.git_commit.as_deref() == Some(commit)).collect();
        // Stable: the newest stay first.
        runs.sort_by_key(|run| run.git_dirty == Some(true));
        let mut names: Vec<&str> = Vec::new();
        runs.retain(|run| {
            let is_first = !names.contains(&&*run.name);
            names.push(&run.name);
            is_first
        });
        runs
    }

    /// The commit that a revision names: in git or, as runs may come from elsewhere, by the beginning of its hash in those.
    pub fn commit(&self, revision: &str) -> Option<String> {
        commit(&self.folder, revision).or_else(|| {
            let commits = self.whole.iter().filter_map(|run| run.git_commit.as_deref());
            let mut meant =
                commits.filter(|_| revision.len() >= SHORTEST_HASH).filter(|it| it.starts_with(revision));
            let first = meant.next()?;
            meant.all(|other| other == first).then(|| first.to_owned())
        })
    }

    /// Runs of some of the items whose ids begin so: their files, and their ids.
    pub fn partial(&self, beginning: &str) -> Vec<(String, PathBuf)> {
        let entries = fs::read_dir(&self.results).into_iter().flatten().flatten();
        let files = entries.map(|entry| entry.path());
        let mut partial: Vec<_> = files
            .filter_map(|path| {
                let name = path.file_name()?.to_str()?;
                let (_, id) = name.strip_suffix(".json")?.rsplit_once('_')?;
                let is_whole = || self.whole.iter().any(|run| run.file == name || run.id == id);
                let is_meant = !name.starts_with('.') && id.starts_with(beginning) && !is_whole();
                is_meant.then(|| (id.to_owned(), path.clone()))
            })
            .collect();
        partial.sort();
        partial
    }

    /// A path as seen from the current folder.
    pub fn shown(&self, path: &Path) -> String {
        one_line(&path.strip_prefix(&self.folder).unwrap_or(path).display().to_string())
    }
}

/// The most runs that a message shows.
const SHOWN: usize = 5;
/// How many digits of a commit's hash are shown.
const SHORT_HASH: usize = 10;

/// A name that no run has, or several.
#[derive(Debug, thiserror::Error)]
pub enum UnknownRun {
    #[error(
        "no run is named `{typed}`: it is no result file, no beginning of a run's id and no git revision; {hint}"
    )]
    Unknown { typed: String, hint: String },

    #[error("`{typed}` is commit {}, of which there is no run; {hint}", short(.commit))]
    NoRunOfCommit { typed: String, commit: String, hint: String },

    #[error("`{typed}` is commit {}, which has no run of `{experiment}` but of {}", short(.commit), wording::list(.others.iter().map(String::as_str)))]
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
    pub fn unknown(typed: &str, known: &[Run], experiments: &[&str], fetch: Option<String>) -> Self {
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
    pub fn no_run_of_commit(typed: String, commit: String, experiments: &[&str]) -> Self {
        let hint = match names::find(&typed, experiments.iter().copied()).is_some() {
            true => format!("`{typed}@latest` is the newest run of the experiment"),
            false => format!("check it out and run it, or {LIST}"),
        };
        Self::NoRunOfCommit { typed, commit, hint }
    }

    pub fn unknown_experiment(typed: &str, experiment: &str, experiments: &[&str]) -> Self {
        let hint = if experiments.is_empty() {
            "make one with `cargo cobalt run`".to_owned()
        } else {
            wording::instead(experiment, experiments.iter().copied())
        };
        Self::UnknownExperiment { typed: typed.to_owned(), experiment: experiment.to_owned(), hint }
    }

    /// `runs` are described.
    pub fn ambiguous(typed: &str, mut runs: Vec<String>) -> Self {
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
    let experiment = wording::closest(name, experiments.iter().copied());
    experiment.map(|experiment| format!("{experiment}@latest")).or_else(|| {
        let (word, back) = typed.split_once('~').map_or((typed, None), |(word, back)| (word, Some(back)));
        let latest = wording::closest(word, ["latest"])?;
        Some(back.map_or(latest.to_owned(), |back| format!("{latest}~{back}")))
    })
}

/// A run as a message names it.
pub fn described(run: &Run) -> String {
    format!("{} (`{}`, {})", one_line(&run.id), one_line(&run.name), minute(&run.timestamp))
}

/// A commit as a message names it.
pub fn short(commit: &str) -> &str {
    commit.get(..SHORT_HASH).unwrap_or(commit)
}

/// The full hash of the commit that a revision names in the repository around a folder; `None` where it names none, or
/// there is no git.
pub fn commit(folder: &Path, revision: &str) -> Option<String> {
    // It would be taken for an option.
    if revision.is_empty() || revision.starts_with('-') {
        return None;
    }
    git(folder, &["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])
}

/// What to do where a revision is not there, but may be in another repository that this one knows.
pub fn how_to_fetch(folder: &Path, revision: &str) -> Option<String> {
    let remotes = git(folder, &["remote"])?;
    let at_remote = remotes.lines().map(|remote| format!("{remote}/{revision}"));
    if let Some(there) = at_remote.into_iter().find(|branch| commit(folder, branch).is_some()) {
        return Some(format!("there is `{there}`"));
    }
    let is_of = |remote: &&str| revision.strip_prefix(*remote).is_some_and(|rest| rest.starts_with('/'));
    let remote = remotes.lines().find(is_of).or_else(|| remotes.lines().next())?;
    let is_shallow = git(folder, &["rev-parse", "--is-shallow-repository"])? == "true";
    let unshallow = if is_shallow { "--unshallow " } else { "" };
    // All branches are named, as a clone of one branch fetches no other by itself.
    let all = format!("'+refs/heads/*:refs/remotes/{remote}/*'");
    Some(format!("a revision that is not here yet comes with `git fetch {unshallow}--tags {remote} {all}`"))
}

/// What git prints, where it succeeds.
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
        assert_eq!(meant("help-desk", &experiments).as_deref(), Some("help-desk@latest"));
        assert_eq!(meant("help_desk@newest", &experiments).as_deref(), Some("help-desk@latest"));
        assert_eq!(meant("lastest~2", &experiments).as_deref(), Some("latest~2"));
        assert_eq!(meant("zzzzzz", &experiments), None);
    }
}
