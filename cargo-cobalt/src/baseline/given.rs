//! `cargo cobalt run --baseline`: what was typed, as the files that runs are held against.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf, is_separator};
use std::process::{Command, Stdio};
use std::{fs, io};

use cobalt_core::report::Timestamp;
use cobalt_core::store::{Layout, without_mark};
use cobalt_core::wording;
use serde::Deserialize;
use tempfile::TempDir;

use crate::cli::RunName;
use crate::error::{CommandError, Error};
use crate::index::IndexError;
use crate::runs::{FoundRun, KnownRuns, UnknownRun, short};
use crate::terminal::{eprint_folded, seen};

/// The baselines that were asked for.
#[derive(Debug, Default)]
pub struct Given {
    /// Result files and baseline files, of which the first with an experiment's name is its baseline, or a folder without
    /// any.
    pub files: Vec<PathBuf>,
    /// The experiments that they are of.
    experiments: BTreeSet<String>,
    /// What was typed, where it names runs or a file, and no git revision, which may have none of an experiment that is new.
    runs: Option<String>,
    /// Where files of a commit are laid for as long as they are needed.
    _laid_out: Option<TempDir>,
}

#[derive(Debug, thiserror::Error)]
#[error("failed to lay the baselines of a commit out: {0}; make the folder of temporary files writable")]
struct LayOutError(io::Error);

impl CommandError for LayOutError {}

impl Given {
    /// The files that a name means.
    pub fn by(name: &RunName, layout: &Layout) -> Result<Self, Error> {
        let typed = name.to_string();
        let folder = Path::new(&typed);
        if typed.contains(is_separator) && folder.is_dir() {
            return Self::in_folder(folder);
        }
        let known = KnownRuns::open(layout)?;
        match known.find(name) {
            Ok(named) => {
                let runs = named.runs();
                let committed = known.commit_of(name, &runs).map(|commit| (typed.clone(), commit));
                let runs_alone = committed.is_none().then_some(typed);
                Ok(Self { runs: runs_alone, ..Self::of_runs(runs, committed, layout)? })
            }
            Err(error) => Self::without_run(error, folder, layout),
        }
    }

    /// A folder, or what a commit holds of which there is no run.
    fn without_run(error: Error, folder: &Path, layout: &Layout) -> Result<Self, Error> {
        match error.of_room() {
            Some(UnknownRun::Unknown { .. }) if folder.is_dir() => Self::in_folder(folder),
            Some(UnknownRun::NoRunOfCommit { typed, commit, .. }) => {
                let mut given = Self::default();
                given.add_committed(typed, commit, layout)?;
                if given.files.is_empty() {
                    eprint_folded(&format!(
                        "warning: `{typed}` is commit {}, of which there is no run, and no baseline in `{}`; check it out \
                         and run it, or commit what `cargo cobalt baseline set` writes",
                        short(commit),
                        seen(&layout.baselines())
                    ));
                    // What there is none of yet is no mistake: a change may be what brings the first.
                    given.lay_out()?;
                }
                Ok(given)
            }
            _ => Err(error),
        }
    }

    /// Refuses runs of which none is of an experiment that is run: these would be compared with nothing.
    pub fn check(&self, selected: &[&str]) -> Result<(), Error> {
        let Some(typed) = &self.runs else { return Ok(()) };
        if selected.is_empty() || selected.iter().any(|name| self.experiments.contains(*name)) {
            return Ok(());
        }
        let of = wording::list(self.experiments.iter().map(String::as_str));
        let selected = wording::list(selected.iter().copied());
        Err(Error::NothingMatched(format!(
            "`--baseline {typed}` is a run of {of}, and none of {selected}; name one of these, as in `NAME@latest`"
        )))
    }

    /// Runs, and behind them what is committed for experiments that have none. A run that was made with changes beside the
    /// commit comes last: it may be of the very change that is to be judged.
    fn of_runs(
        runs: Vec<FoundRun>,
        committed: Option<(String, String)>,
        layout: &Layout,
    ) -> Result<Self, Error> {
        let mut given = Self::default();
        let (changed, clean): (Vec<_>, Vec<_>) = runs.into_iter().partition(|run| run.note.is_some());
        clean.into_iter().try_for_each(|run| given.add_run(run))?;
        if let Some((revision, commit)) = committed {
            given.add_committed(&revision, &commit, layout)?;
        }
        changed.into_iter().try_for_each(|run| given.add_run(run))?;
        Ok(given)
    }

    /// Adds a run of an experiment that has no baseline yet.
    fn add_run(&mut self, run: FoundRun) -> Result<(), Error> {
        if !self.experiments.insert(run.experiment) {
            return Ok(());
        }
        Head::read(&run.path)?.refuse_partial()?;
        if let Some(note) = run.note {
            eprint_folded(&format!("warning: {note}"));
        }
        self.files.push(run.path);
        Ok(())
    }

    /// The newest whole run of each experiment in a folder of baseline files or result files.
    fn in_folder(folder: &Path) -> Result<Self, Error> {
        let mut newest = BTreeMap::<String, (Head, PathBuf)>::new();
        for path in json_files(folder)? {
            let head = Head::read(&path)?;
            let known = newest.get(&head.name);
            if !head.partial && known.is_none_or(|(known, _)| known.timestamp < head.timestamp) {
                newest.insert(head.name.clone(), (head, path));
            }
        }
        if newest.is_empty() {
            return Err(Error::NothingMatched(format!(
                "there is no baseline file and no result file of a whole run in `{}`",
                seen(folder)
            )));
        }
        let files = newest.values().map(|(_, path)| path.clone()).collect();
        Ok(Self { files, experiments: newest.into_keys().collect(), ..Self::default() })
    }

    /// A folder of nothing, which stands for none.
    fn lay_out(&mut self) -> Result<(), Error> {
        let laid_out = tempfile::tempdir().map_err(LayOutError)?;
        self.files.push(laid_out.path().to_owned());
        self._laid_out = Some(laid_out);
        Ok(())
    }

    /// Lays the baselines of a commit out.
    fn add_committed(&mut self, revision: &str, commit: &str, layout: &Layout) -> Result<(), Error> {
        let files = committed(layout, commit);
        if files.is_empty() {
            return Ok(());
        }
        let laid_out = tempfile::tempdir().map_err(LayOutError)?;
        for file in files {
            let path = laid_out.path().join(&file.name);
            let head = Head::parse(&file.bytes).map_err(|reason| Error::RunFile {
                path: PathBuf::from(format!("{revision}:{}", seen(&layout.baselines().join(&file.name)))),
                reason,
            })?;
            if self.experiments.insert(head.name) {
                fs::write(&path, &file.bytes).map_err(LayOutError)?;
                self.files.push(path);
            }
        }
        self._laid_out = Some(laid_out);
        Ok(())
    }
}

/// What both kinds of files begin with.
#[derive(Debug, Deserialize)]
pub struct Head {
    pub id: String,
    pub name: String,
    pub timestamp: Timestamp,
    #[serde(default)]
    pub partial: bool,
}

impl Head {
    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(|error| unfit(path, &error))?;
        Self::parse(&bytes).map_err(|reason| unfit(path, &reason))
    }

    /// Reads the text of a file, or says why it is none of the two.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(without_mark(bytes))
            .map_err(|error| format!("neither a baseline file nor a result file: {error}"))
    }

    /// Says that the run is no measure, where it is of some of the items.
    pub fn refuse_partial(&self) -> Result<(), Error> {
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

/// A file of a commit.
#[derive(Debug)]
pub struct Committed {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The baseline files that a commit has where this project has its own. None where git has no such folder.
pub fn committed(layout: &Layout, commit: &str) -> Vec<Committed> {
    let folder = layout.baselines();
    // The folder need not be there any more, or not yet.
    let Some(there) = folder.ancestors().skip(1).find(|folder| folder.is_dir()) else { return Vec::new() };
    let below = folder.strip_prefix(there).unwrap_or(&folder);
    let listed = git(there, &["ls-tree", "-z", "--name-only", commit, "--", &format!("{}/", slashed(below))]);
    let listed = String::from_utf8(listed.unwrap_or_default()).unwrap_or_default();
    let files = listed.split('\0').map(PathBuf::from).filter(|path| is_baseline(path));
    let read = |path: PathBuf| {
        let bytes = git(there, &["show", &format!("{commit}:./{}", slashed(&path))])?;
        Some(Committed { name: path.file_name()?.to_string_lossy().into_owned(), bytes })
    };
    files.filter_map(read).collect()
}

fn is_baseline(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// As git writes paths, on any platform.
fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// What git prints, where it succeeds.
fn git(folder: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// The JSON files in a folder, sorted by their names. A folder that is not there has none.
pub fn json_files(folder: &Path) -> Result<Vec<PathBuf>, IndexError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.and_then(Iterator::collect::<io::Result<Vec<_>>>),
    };
    let entries = entries.map_err(|source| IndexError::Results { path: folder.to_owned(), source })?;
    let mut files: Vec<_> =
        entries.into_iter().map(|entry| entry.path()).filter(|path| is_json(path)).collect();
    files.sort();
    Ok(files)
}

/// What is being written begins with a dot.
fn is_json(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".json") && !name.starts_with('.')
}
