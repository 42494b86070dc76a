//! The changes to write, planned before anything is written.

use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use super::dependency::InitError;
use super::manifest::Manifest;
use crate::atomic_file::replace;

#[derive(Debug)]
pub struct Plan {
    /// The root of the workspace; paths are shown relative to it.
    pub root: PathBuf,
    /// The folder of the package.
    pub package: PathBuf,
    /// The test target with the experiments.
    pub target: String,
    pub files: Vec<PlannedFile>,
    /// The changed manifest; at most one.
    pub edit: Option<ManifestEdit>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// A file that the project needs.
#[derive(Debug)]
pub enum PlannedFile {
    New {
        path: PathBuf,
        text: String,
        /// A short description.
        content: String,
    },
    /// It exists, and this is appended.
    Appended { path: PathBuf, text: String, content: String },
    /// It exists and is not changed.
    Kept(PathBuf),
}

#[derive(Debug)]
pub struct ManifestEdit {
    pub path: PathBuf,
    pub text: String,
    /// A short description of the additions.
    pub additions: String,
}

impl ManifestEdit {
    pub fn new(manifest: &Manifest, text: String) -> Self {
        Self { path: manifest.path().to_owned(), text, additions: manifest.additions() }
    }
}

impl Plan {
    pub fn new(root: &Path, package: &Path, target: &str) -> Self {
        Self {
            root: root.to_owned(),
            package: package.to_owned(),
            target: target.to_owned(),
            files: Vec::new(),
            edit: None,
            notes: Vec::new(),
        }
    }

    /// Adds a file, created unless it exists.
    pub fn file(&mut self, path: PathBuf, content: &str, text: &str) {
        self.files.push(if exists_or_link(&path) {
            PlannedFile::Kept(path)
        } else {
            PlannedFile::New { path, text: text.to_owned(), content: content.to_owned() }
        });
    }

    /// Makes git ignore `.env`, which contains keys. A new `.gitignore` also ignores `others`.
    pub fn ignore_dotenv(&mut self, folder: &Path, others: &str) {
        let path = folder.join(".gitignore");
        if !exists_or_link(&path) {
            let content =
                if others.is_empty() { "ignores `.env`" } else { "ignores build output and `.env`" };
            return self.file(path, content, &format!("{others}.env\n"));
        }
        // Do not change a file that cannot be read.
        let Ok(text) = fs::read_to_string(&path) else { return self.keep(path) };
        let ignores =
            |line: &str| matches!(line.trim(), ".env" | "/.env" | "**/.env" | ".env*" | "/.env*" | "*.env");
        if text.lines().any(ignores) {
            return self.keep(path);
        }
        let line_end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let gap = if text.is_empty() || text.ends_with('\n') { "" } else { line_end };
        let text = format!("{gap}.env{line_end}");
        self.files.push(PlannedFile::Appended {
            path,
            text,
            content: "ignores `.env`, which contains keys".to_owned(),
        });
    }

    pub fn keep(&mut self, path: PathBuf) {
        self.files.push(PlannedFile::Kept(path));
    }

    pub fn is_noop(&self) -> bool {
        self.edit.is_none() && self.files.iter().all(|file| matches!(file, PlannedFile::Kept(_)))
    }

    /// Writes everything or nothing.
    pub fn apply(&self) -> Result<(), InitError> {
        let mut made = Vec::new();
        let result = self.write(&mut made);
        if result.is_err() {
            for path in made.iter().rev() {
                // Files added to a new folder meanwhile are kept.
                let _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
            }
        }
        result
    }

    fn write(&self, made: &mut Vec<PathBuf>) -> Result<(), InitError> {
        for file in &self.files {
            if let PlannedFile::New { path, text, .. } = file {
                create(path, text, made).map_err(InitError::file("create", path))?;
            }
        }
        for file in &self.files {
            if let PlannedFile::Appended { path, text, .. } = file {
                let append = || fs::OpenOptions::new().append(true).open(path)?.write_all(text.as_bytes());
                append().map_err(InitError::file("write", path))?;
            }
        }
        // Last, so nothing can fail after it. Lines appended to a `.gitignore` do no harm.
        match &self.edit {
            Some(ManifestEdit { path, text, .. }) => {
                replace(path, text).map_err(InitError::file("write", path))
            }
            None => Ok(()),
        }
    }
}

/// Whether the path exists, even as a broken symlink.
pub fn exists_or_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Creates a file and its parent folders, and records them in `made`; a file created meanwhile is not overwritten.
pub fn create(path: &Path, text: &str, made: &mut Vec<PathBuf>) -> io::Result<()> {
    let missing: Vec<_> = path.ancestors().skip(1).take_while(|folder| !folder.exists()).collect();
    for folder in missing.into_iter().rev() {
        fs::create_dir(folder)?;
        made.push(folder.to_owned());
    }
    let mut file = fs::File::create_new(path)?;
    made.push(path.to_owned());
    file.write_all(text.as_bytes())
}

/// The folder as cargo names it: absolute, with links resolved as far as it exists.
pub fn resolve(folder: &Path) -> Result<PathBuf, InitError> {
    let absolute = std::path::absolute(folder).map_err(InitError::file("find", folder))?;
    let is_there = |ancestor: &&Path| ancestor.symlink_metadata().is_ok();
    let existing = absolute.ancestors().find(is_there).unwrap_or(&absolute);
    let mut resolved = existing.canonicalize().map_err(InitError::file("find", existing))?;
    if !resolved.is_dir() {
        return Err(InitError::NoFolder(existing.to_owned()));
    }
    for component in absolute.strip_prefix(existing).unwrap_or(Path::new("")).components() {
        match component {
            Component::ParentDir => drop(resolved.pop()),
            component => resolved.push(component),
        }
    }
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(root: &Path) -> Plan {
        let mut plan = Plan::new(root, root, "evals");
        plan.file(root.join("tests/deep/evals.rs"), "", "new");
        plan.file(root.join("last.toml"), "", "new");
        plan
    }

    #[test]
    fn git_ignores_keys_once_whatever_its_file_has() {
        let after = |before: Option<&str>| {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(".gitignore");
            if let Some(text) = before {
                fs::write(&path, text).unwrap();
            }
            for _ in 0..2 {
                let mut plan = Plan::new(folder.path(), folder.path(), "evals");
                plan.ignore_dotenv(folder.path(), "/target\n");
                plan.apply().unwrap();
            }
            fs::read_to_string(&path).unwrap()
        };
        assert_eq!(after(None), "/target\n.env\n");
        assert_eq!(after(Some("")), ".env\n");
        assert_eq!(after(Some("/target")), "/target\n.env\n");
        assert_eq!(after(Some("a\r\n")), "a\r\n.env\r\n");
        assert_eq!(after(Some("/.env\n/target\n")), "/.env\n/target\n");
    }

    #[test]
    fn a_file_that_is_there_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("last.toml"), "old").unwrap();
        let plan = plan(folder.path());
        plan.apply().unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("last.toml")).unwrap(), "old");
        assert_eq!(fs::read_to_string(folder.path().join("tests/deep/evals.rs")).unwrap(), "new");
    }

    #[test]
    fn a_file_that_comes_into_being_meanwhile_is_kept_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let plan = plan(folder.path());
        fs::write(folder.path().join("last.toml"), "somebody's").unwrap();
        let message = plan.apply().unwrap_err().to_string();
        assert!(message.contains("last.toml"), "{message}");
        assert_eq!(fs::read_to_string(folder.path().join("last.toml")).unwrap(), "somebody's");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "the folder `tests` is gone again");
    }

    #[test]
    fn a_folder_that_is_not_there_has_a_place_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        assert_eq!(resolve(&folder.path().join("a/../b/c")).unwrap(), root.join("b/c"));
        assert_eq!(resolve(folder.path()).unwrap(), root);
    }

    #[test]
    fn a_file_is_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("Cargo.toml");
        std::fs::write(&file, "").unwrap();
        for path in [file.clone(), file.join("more")] {
            assert!(resolve(&path).unwrap_err().to_string().contains("is not a folder"));
        }
    }
}
