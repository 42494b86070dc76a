//! `cargo cobalt run --baseline`: resolves the argument to baseline files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf, is_separator};
use std::process::{Command, Stdio};
use std::{fs, io};

use cobalt::command::config::Config;
use cobalt_core::report::{SourceLocation, Timestamp};
use cobalt_core::store::{Layout, strip_bom};
use cobalt_core::wording;
use serde::Deserialize;
use tempfile::TempDir;

use crate::cli::{RunName, RunSelector};
use crate::error::{CommandError, Error, temp_folder_remedy};
use crate::index::IndexError;
use crate::lookup::RunLookup;
use crate::runs::{ResolvedRun, UnknownRun, short_hash};
use crate::terminal::{eprint_wrapped, relative_path};

/// The baselines given by `--baseline`.
#[derive(Debug, Default)]
pub struct BaselineSource {
    /// Result files and baseline files, the first one per experiment counts; or an empty folder.
    pub files: Vec<PathBuf>,
    /// Their experiments.
    experiments: BTreeSet<String>,
    /// The argument, if it names runs or a file. Not set for a git revision or a branch, which need not have a run of a new experiment.
    runs: Option<String>,
    /// Temporary folder for the files of a commit.
    _temp_folder: Option<TempDir>,
}

#[derive(Debug, thiserror::Error)]
#[error("failed to write the baselines of a commit to a temporary folder: {}; {}", .0, temp_folder_remedy(.0))]
struct TempFolderError(io::Error);

impl CommandError for TempFolderError {}

impl BaselineSource {
    /// Resolves a name to files.
    pub fn resolve(name: &RunName, settings: &Config) -> Result<Self, Error> {
        let layout = settings.layout();
        let typed = name.to_string();
        let folder = Path::new(&typed);
        if typed.contains(is_separator) && folder.is_dir() {
            return Self::in_folder(folder);
        }
        let lookup = RunLookup::open(settings)?;
        match lookup.find_for_each(name) {
            Ok(named) => {
                let runs = lookup.fetch(named.runs())?;
                let committed = lookup.commit_of(name, &runs).map(|commit| (typed.clone(), commit));
                let is_branch =
                    matches!(name.meaning, RunSelector::Branch { .. } | RunSelector::Target { .. });
                let runs_alone = (committed.is_none() && !is_branch).then_some(typed);
                Ok(Self { runs: runs_alone, ..Self::of_runs(runs, committed, layout)? })
            }
            Err(error) => Self::without_run(error, folder, layout),
        }
    }

    /// A folder, or the committed baselines of a commit without a run.
    fn without_run(error: Error, folder: &Path, layout: &Layout) -> Result<Self, Error> {
        match error.downcast() {
            Some(UnknownRun::Unknown { .. }) if folder.is_dir() => Self::in_folder(folder),
            Some(UnknownRun::NoRunOfCommit { typed, commit, .. }) => {
                let mut given = Self::default();
                given.add_committed(typed, commit, layout)?;
                if given.files.is_empty() {
                    eprint_wrapped(&format!(
                        "warning: commit {} (`{typed}`) has neither a run nor a baseline in `{}`; check it out and run it, or \
                         commit the files of `cargo cobalt baseline set`",
                        short_hash(commit),
                        relative_path(&layout.baselines())
                    ));
                    // Not an error: the change under test may add the first baseline.
                    given.add_empty_folder()?;
                }
                Ok(given)
            }
            Some(no_run @ UnknownRun::NoRunOfBranch { .. }) => {
                // Not an error: the first run of a project or an experiment has nothing to be compared with.
                eprint_wrapped(&format!("warning: no baseline: {no_run}"));
                let mut given = Self::default();
                given.add_empty_folder()?;
                Ok(given)
            }
            _ => Err(error),
        }
    }

    /// Fails if none of the given runs belongs to a selected experiment: nothing would be compared.
    pub fn check(&self, selected: &[&str]) -> Result<(), Error> {
        let Some(typed) = &self.runs else { return Ok(()) };
        if selected.is_empty() || selected.iter().any(|name| self.experiments.contains(*name)) {
            return Ok(());
        }
        let of = wording::join_quoted(self.experiments.iter().map(String::as_str));
        let selected = wording::join_quoted(selected.iter().copied());
        Err(Error::NothingMatched(format!(
            "`--baseline {typed}` is a run of {of}, not of {selected}; pass a run of a selected experiment, e.g. `NAME@latest`"
        )))
    }

    /// Runs, then committed baselines of experiments without runs. Runs with uncommitted changes come last, as they may include
    /// the change under test.
    fn of_runs(
        runs: Vec<ResolvedRun>,
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

    /// Adds a run, unless its experiment already has a baseline.
    fn add_run(&mut self, run: ResolvedRun) -> Result<(), Error> {
        if !self.experiments.insert(run.experiment) {
            return Ok(());
        }
        RunHeader::read(&run.path)?.refuse_partial()?;
        if let Some(note) = run.note {
            eprint_wrapped(&format!("warning: {note}"));
        }
        self.files.push(run.path);
        Ok(())
    }

    /// The latest complete run of each experiment in a folder of baseline files or result files.
    fn in_folder(folder: &Path) -> Result<Self, Error> {
        let mut newest = BTreeMap::<String, (RunHeader, PathBuf)>::new();
        for path in json_files(folder)? {
            let head = RunHeader::read(&path)?;
            let known = newest.get(&head.name);
            if !head.partial && known.is_none_or(|(known, _)| known.timestamp < head.timestamp) {
                newest.insert(head.name.clone(), (head, path));
            }
        }
        if newest.is_empty() {
            return Err(Error::NothingMatched(format!(
                "no baseline file and no result file of a complete run in `{}`",
                relative_path(folder)
            )));
        }
        let files = newest.values().map(|(_, path)| path.clone()).collect();
        Ok(Self { files, experiments: newest.into_keys().collect(), ..Self::default() })
    }

    /// Adds an empty folder, which means no baseline.
    fn add_empty_folder(&mut self) -> Result<(), Error> {
        let laid_out = tempfile::tempdir().map_err(TempFolderError)?;
        self.files.push(laid_out.path().to_owned());
        self._temp_folder = Some(laid_out);
        Ok(())
    }

    /// Writes the baselines of a commit to a temporary folder.
    fn add_committed(&mut self, revision: &str, commit: &str, layout: &Layout) -> Result<(), Error> {
        let files = committed_baselines(layout, commit);
        if files.is_empty() {
            return Ok(());
        }
        let laid_out = tempfile::tempdir().map_err(TempFolderError)?;
        for file in files {
            let path = laid_out.path().join(&file.name);
            let head = RunHeader::parse(&file.bytes).map_err(|reason| Error::RunFile {
                path: PathBuf::from(format!(
                    "{revision}:{}",
                    relative_path(&layout.baselines().join(&file.name))
                )),
                reason,
            })?;
            if self.experiments.insert(head.name) {
                fs::write(&path, &file.bytes).map_err(TempFolderError)?;
                self.files.push(path);
            }
        }
        self._temp_folder = Some(laid_out);
        Ok(())
    }
}

/// The common head of baseline files and result files.
#[derive(Debug, Deserialize)]
pub struct RunHeader {
    pub id: String,
    pub name: String,
    pub timestamp: Timestamp,
    #[serde(default)]
    pub partial: bool,
    #[serde(default, rename = "declaredAt")]
    declared_at: Option<SourceLocation>,
}

impl RunHeader {
    /// The folder of the package that declares the experiment, if it is known and still there.
    pub fn package(&self, workspace: &Path) -> Option<PathBuf> {
        package_around(&cobalt_core::paths::normalize(&workspace.join(&self.declared_at.as_ref()?.file)))
    }

    pub fn read(path: &Path) -> Result<Self, Error> {
        let bytes = fs::read(path).map_err(|error| file_error(path, &error))?;
        Self::parse(&bytes).map_err(|reason| file_error(path, &reason))
    }

    /// Parses the head of a file.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(strip_bom(bytes))
            .map_err(|error| format!("neither a baseline file nor a result file: {error}"))
    }

    /// Fails if the run is partial.
    pub fn refuse_partial(&self) -> Result<(), Error> {
        let Self { id, name, .. } = self;
        match self.partial {
            true => Err(Error::Arguments(format!(
                "run {id} of `{name}` is partial and cannot be a baseline; run all items with `cargo cobalt run`"
            ))),
            false => Ok(()),
        }
    }
}

/// The innermost folder around a path, or the path, with a manifest.
pub fn package_around(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|folder| folder.join("Cargo.toml").is_file()).map(Path::to_owned)
}

fn file_error(path: &Path, reason: &impl ToString) -> Error {
    Error::RunFile { path: path.to_owned(), reason: reason.to_string() }
}

/// The runs that the project's baselines were saved from, with their experiments. Unreadable files are reported by the commands that
/// use them.
pub fn baseline_runs(layout: &Layout) -> Result<Vec<(String, String)>, IndexError> {
    let heads = json_files(&layout.baselines())?.into_iter().filter_map(|file| RunHeader::read(&file).ok());
    Ok(heads.map(|head| (head.id, head.name)).collect())
}

/// A file of a commit.
#[derive(Debug)]
pub struct CommittedFile {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The baseline files of a commit, from the project's baseline folder; none if git does not have the folder.
pub fn committed_baselines(layout: &Layout, commit: &str) -> Vec<CommittedFile> {
    let folder = layout.baselines();
    // The folder may not exist in the work tree.
    let Some(there) = folder.ancestors().skip(1).find(|folder| folder.is_dir()) else { return Vec::new() };
    let below = folder.strip_prefix(there).unwrap_or(&folder);
    let listed =
        git(there, &["ls-tree", "-z", "--name-only", commit, "--", &format!("{}/", to_git_path(below))]);
    let listed = String::from_utf8(listed.unwrap_or_default()).unwrap_or_default();
    let files = listed.split('\0').map(PathBuf::from).filter(|path| is_baseline(path));
    let read = |path: PathBuf| {
        let bytes = git(there, &["show", &format!("{commit}:./{}", to_git_path(&path))])?;
        Some(CommittedFile { name: path.file_name()?.to_string_lossy().into_owned(), bytes })
    };
    files.filter_map(read).collect()
}

fn is_baseline(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// A path with `/`, as in git, on any platform.
fn to_git_path(path: &Path) -> String {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    parts.join("/")
}

/// The output of git, if it succeeds.
fn git(folder: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok()?;
    output.status.success().then_some(output.stdout)
}

/// The JSON files in a folder, sorted; none if it does not exist.
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

/// Files being written start with a dot.
fn is_json(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".json") && !name.starts_with('.')
}
