//! The runs that there are: the whole ones out of the index, and those of some of the items by the names of their files.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use cobalt::name;
use cobalt::store::Layout;

use super::git;
use crate::error::Error;
use crate::index::{Filter, Index, Run};
use crate::terminal::one_line;

/// The fewest digits by which a commit is known that git does not have.
const SHORTEST_HASH: usize = 7;

/// The runs of a store.
#[derive(Debug)]
pub(crate) struct KnownRuns {
    /// The whole runs, the newest first.
    pub(super) whole: Vec<Run>,
    /// The folder of the result files.
    pub(super) results: PathBuf,
    /// The folder from which paths are told and git is asked: the current one, or that of a project.
    pub(super) folder: PathBuf,
    /// Whether a name may be the path of a file.
    pub(super) takes_paths: bool,
}

impl KnownRuns {
    /// Reads which runs there are. Files that are no results are left out, and said to be.
    pub(crate) fn open(layout: &Layout) -> Result<Self, Error> {
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
    pub(crate) fn of(whole: Vec<Run>, layout: &Layout, folder: &Path) -> Self {
        let (results, folder) = (layout.results().to_owned(), folder.to_owned());
        Self { whole, results, folder, takes_paths: false }
    }

    /// The whole runs, the newest first.
    pub(crate) fn whole(&self) -> &[Run] {
        &self.whole
    }

    /// The names of the experiments that have whole runs, that of the newest run first.
    pub(crate) fn experiments(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for run in &self.whole {
            if !names.contains(&&*run.name) {
                names.push(&run.name);
            }
        }
        names
    }

    /// The declared name of the experiment that a name means, where it has whole runs.
    pub(crate) fn experiment(&self, typed: &str) -> Option<&str> {
        name::find(typed, self.whole.iter().map(|run| &*run.name))
    }

    /// The whole runs of an experiment, the newest first.
    pub(super) fn of_experiment(&self, typed: &str) -> impl Iterator<Item = &Run> {
        let name = self.experiment(typed);
        self.whole.iter().filter(move |run| Some(&*run.name) == name)
    }

    /// The newest whole run of each experiment that was made on a commit. One without changes beside the commit goes before.
    pub(super) fn of_commit(&self, commit: &str) -> Vec<&Run> {
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
    pub(super) fn commit(&self, revision: &str) -> Option<String> {
        git::commit(&self.folder, revision).or_else(|| {
            let commits = self.whole.iter().filter_map(|run| run.git_commit.as_deref());
            let mut meant =
                commits.filter(|_| revision.len() >= SHORTEST_HASH).filter(|it| it.starts_with(revision));
            let first = meant.next()?;
            meant.all(|other| other == first).then(|| first.to_owned())
        })
    }

    /// Runs of some of the items whose ids begin so: their files, and their ids.
    pub(super) fn partial(&self, beginning: &str) -> Vec<(String, PathBuf)> {
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
    pub(crate) fn shown(&self, path: &Path) -> String {
        one_line(&path.strip_prefix(&self.folder).unwrap_or(path).display().to_string())
    }
}
