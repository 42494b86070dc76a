//! Where the files lie: under `.cobalt/` at the workspace root, unless the environment says otherwise.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{CREATE, Error};
use crate::paths::package_root;

/// What git is not to keep of the folder `.cobalt`: all that is generated. It is the text of `.cobalt/.gitignore`.
pub const GITIGNORE: &str = "results/\nruns/\ncache/\ndatasets/\nhistory.db*\n";

/// The folders that runs are kept in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    root: PathBuf,
    results: PathBuf,
    history: PathBuf,
}

/// Where the environment wants the files.
#[derive(Debug, Default)]
struct Overrides {
    root: Option<OsString>,
    results: Option<OsString>,
    history: Option<OsString>,
}

impl Overrides {
    fn from_environment() -> Self {
        Self {
            root: path_variable("COBALT_DIR"),
            results: path_variable("COBALT_RESULTS_DIR"),
            history: path_variable("COBALT_HISTORY_DB"),
        }
    }
}

impl Layout {
    /// The folders of the package that is being tested. `COBALT_DIR` and the older `COBALT_RESULTS_DIR` and
    /// `COBALT_HISTORY_DB` override them; relative ones count from the workspace root.
    #[must_use]
    pub fn from_environment() -> Self {
        Self::new(&workspace_root(&package_root()), Overrides::from_environment())
    }

    /// The folders of the package that `folder` lies in, or of `folder` itself outside of any package, with the same
    /// overrides.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        Self::new(&workspace_root(package_of(folder)), Overrides::from_environment())
    }

    fn new(workspace: &Path, overrides: Overrides) -> Self {
        let root = workspace.join(overrides.root.unwrap_or_else(|| ".cobalt".into()));
        let within = |path: Option<OsString>, name| path.map_or(root.join(name), |path| workspace.join(path));
        let (results, history) =
            (within(overrides.results, "results"), within(overrides.history, "history.db"));
        Self { root, results, history }
    }

    /// The folder of the result files.
    #[must_use]
    pub fn results(&self) -> &Path {
        &self.results
    }

    /// The index of the result files, which `cargo cobalt` builds.
    #[must_use]
    pub fn history(&self) -> &Path {
        &self.history
    }

    /// The folder of the journals of runs that have not ended.
    #[must_use]
    pub fn journals(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// The journal of a run.
    #[must_use]
    pub fn journal(&self, id: &str) -> PathBuf {
        self.journals().join(format!("{id}.jsonl"))
    }

    /// Makes the folders, and tells git to leave out what is generated where `.cobalt` is new.
    pub(crate) fn create(&self) -> Result<(), Error> {
        let is_new = !self.root.exists();
        for folder in [&self.journals(), &self.results] {
            fs::create_dir_all(folder).map_err(|source| storage(CREATE, folder, source))?;
        }
        if is_new {
            let ignore = self.root.join(".gitignore");
            fs::write(&ignore, GITIGNORE).map_err(|source| storage("write", &ignore, source))?;
        }
        Ok(())
    }

    /// The result file of the run with this id, if there is one.
    pub(crate) fn result_of(&self, id: &str) -> Option<PathBuf> {
        let ending = format!("_{id}.json");
        let entries = fs::read_dir(&self.results).ok()?;
        entries.flatten().map(|entry| entry.path()).find(|path| path.to_string_lossy().ends_with(&ending))
    }
}

pub(crate) fn storage(action: &'static str, path: &Path, source: io::Error) -> Error {
    Error::Storage { action, path: path.to_owned(), source }
}

/// A variable that names a folder or a file; an empty one counts as unset.
fn path_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The nearest folder from this one upwards with a manifest, else the folder itself.
fn package_of(folder: &Path) -> &Path {
    folder.ancestors().find(|folder| folder.join("Cargo.toml").is_file()).unwrap_or(folder)
}

/// The nearest folder above the package whose manifest has a `[workspace]` table, else the package's own.
#[must_use]
pub fn workspace_root(package: &Path) -> PathBuf {
    let has_workspace = |folder: &&Path| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
        manifest.lines().any(|line| {
            let line = line.trim_start();
            line.starts_with("[workspace]") || line.starts_with("[workspace.")
        })
    };
    package.ancestors().find(has_workspace).unwrap_or(package).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_overrides_the_folders() {
        let workspace = Path::new("/w");
        let plain = Layout::new(workspace, Overrides::default());
        assert_eq!(plain.results(), Path::new("/w/.cobalt/results"));
        assert_eq!(plain.history(), Path::new("/w/.cobalt/history.db"));
        assert_eq!(plain.journal("abc"), Path::new("/w/.cobalt/runs/abc.jsonl"));
        let (root, results) = (Some("out".into()), Some("/elsewhere".into()));
        let moved = Layout::new(workspace, Overrides { root, results, history: None });
        assert_eq!(moved.results(), Path::new("/elsewhere"));
        assert_eq!(moved.journals(), Path::new("/w/out/runs"));
        assert_eq!(moved.history(), Path::new("/w/out/history.db"));
        let history = Some("index.db".into());
        let moved = Layout::new(workspace, Overrides { history, ..Overrides::default() });
        assert_eq!(moved.history(), Path::new("/w/index.db"));
    }

    #[test]
    fn the_workspace_root_is_the_nearest_manifest_with_a_workspace_table() {
        let folder = tempfile::tempdir().unwrap();
        let member = folder.path().join("crates/member");
        fs::create_dir_all(&member).unwrap();
        fs::write(member.join("Cargo.toml"), "[package]\nname = \"member\"\n").unwrap();
        assert_eq!(workspace_root(&member), member, "a package without a workspace stands for itself");
        fs::write(folder.path().join("Cargo.toml"), "[workspace]\nmembers = [\"crates/*\"]\n").unwrap();
        assert_eq!(workspace_root(&member), folder.path());
    }

    #[test]
    fn a_folder_belongs_to_the_package_above_it_and_without_one_to_itself() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("package/src/deep");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(package_of(&inner), inner);
        fs::write(folder.path().join("package/Cargo.toml"), "[package]\nname = \"package\"\n").unwrap();
        assert_eq!(package_of(&inner), folder.path().join("package"));
    }

    #[test]
    fn a_new_folder_tells_git_what_is_generated_and_an_old_one_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path(), Overrides::default());
        layout.create().unwrap();
        let ignore = folder.path().join(".cobalt/.gitignore");
        assert!(fs::read_to_string(&ignore).unwrap().contains("results/"));
        fs::remove_file(&ignore).unwrap();
        layout.create().unwrap();
        assert!(!ignore.exists());
    }
}
