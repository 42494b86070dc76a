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
}

impl Layout {
    /// The folders of the package that is being tested. `COBALT_DIR` and the older `COBALT_RESULTS_DIR` override them;
    /// relative ones count from the workspace root.
    #[must_use]
    pub fn from_environment() -> Self {
        let workspace = workspace_root(&package_root());
        Self::new(&workspace, folder_variable("COBALT_DIR"), folder_variable("COBALT_RESULTS_DIR"))
    }

    fn new(workspace: &Path, root: Option<OsString>, results: Option<OsString>) -> Self {
        let root = workspace.join(root.unwrap_or_else(|| ".cobalt".into()));
        let results = results.map_or_else(|| root.join("results"), |folder| workspace.join(folder));
        Self { root, results }
    }

    /// The folder of the result files.
    #[must_use]
    pub fn results(&self) -> &Path {
        &self.results
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

/// A variable that names a folder; an empty one counts as unset.
fn folder_variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
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
        let plain = Layout::new(workspace, None, None);
        assert_eq!(plain.results(), Path::new("/w/.cobalt/results"));
        assert_eq!(plain.journal("abc"), Path::new("/w/.cobalt/runs/abc.jsonl"));
        let moved = Layout::new(workspace, Some("out".into()), Some("/elsewhere".into()));
        assert_eq!(moved.results(), Path::new("/elsewhere"));
        assert_eq!(moved.journals(), Path::new("/w/out/runs"));
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
    fn a_new_folder_tells_git_what_is_generated_and_an_old_one_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let layout = Layout::new(folder.path(), None, None);
        layout.create().unwrap();
        let ignore = folder.path().join(".cobalt/.gitignore");
        assert!(fs::read_to_string(&ignore).unwrap().contains("results/"));
        fs::remove_file(&ignore).unwrap();
        layout.create().unwrap();
        assert!(!ignore.exists());
    }
}
