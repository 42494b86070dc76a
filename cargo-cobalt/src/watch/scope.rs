//! Which files are watched: those of the selected packages, without generated files. Each folder is watched separately.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use cobalt::command::config::Flags;
use notify::event::ModifyKind;
use notify::{EventHandler, EventKind, RecommendedWatcher, RecursiveMode, Watcher, recommended_watcher};

use crate::cli::{BuildOptions, Selection};
use crate::config::settings_of;
use crate::environment;
use crate::error::{CommandError, Error};
use crate::project::{CACHE_TAG, GENERATED_FOLDERS, LOCK, MANIFEST, Project, TEMPORARY_SUFFIXES, is_archive};

/// A file that an editor (Vim) creates to test write access.
const PROBE: &str = "4913";

/// The watched folders, and what is excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchScope {
    /// The root of the workspace, the selected packages, and their path dependencies.
    pub roots: BTreeSet<PathBuf>,
    /// Files and folders that runs and builds write.
    written: Vec<PathBuf>,
    /// The settings file, if given by a flag.
    settings: Option<PathBuf>,
    /// The lock file of the workspace, which builds can write.
    pub lock: PathBuf,
}

impl WatchScope {
    pub fn read(selection: &Selection, build: &BuildOptions, flags: &Flags) -> Result<Self, Error> {
        let project = Project::read(build)?;
        let mut roots = BTreeSet::from([project.root().to_owned()]);
        let mut written = vec![project.target_folder().to_owned()];
        for candidate in project.candidates(selection, build, flags)? {
            roots.extend(project.local_folders(&candidate.package)?);
        }
        for root in &roots {
            // Packages of a workspace can have different storage folders.
            let Ok(settings) = settings_of(root, flags) else { continue };
            let layout = settings.layout();
            written.extend([layout.results(), layout.history(), layout.cache()].map(Path::to_owned));
            written.extend([layout.journals(), layout.reports(), layout.baselines()]);
            written.extend(settings.reporters().iter().filter_map(|reporter| reporter.path.clone()));
        }
        Ok(Self {
            lock: project.root().join(LOCK),
            roots,
            written,
            settings: flags.config.as_deref().and_then(|path| path.canonicalize().ok()),
        })
    }

    /// The whole project folder, if cargo cannot read the project.
    pub fn whole_project(root: &Path) -> Self {
        let roots = BTreeSet::from([root.to_owned()]);
        Self { roots, written: Vec::new(), settings: None, lock: root.join(LOCK) }
    }

    /// Whether a subfolder of a watched folder is watched, too.
    pub fn has_folder(&self, folder: &Path) -> bool {
        let is_other = || folder.join(MANIFEST).exists();
        self.roots.contains(folder) || !(is_generated(folder) || self.is_output(folder) || is_other())
    }

    /// Whether a file in a watched folder is relevant.
    pub fn has_file(&self, file: &Path) -> bool {
        if self.settings.as_deref() == Some(file) {
            return true;
        }
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let is_passing = TEMPORARY_SUFFIXES.iter().any(|ending| name.ends_with(ending))
            || name == PROBE
            || is_archive(file)
            // A removed file has no content.
            || (name.ends_with(".tar.zst") && !file.exists());
        let is_hidden = is_hidden(file) && name != environment::DOTENV_FILE;
        // Lock and autosave files of Emacs.
        let is_marked = name.starts_with('#');
        !(is_passing || is_hidden || is_marked || self.is_output(file))
    }

    /// Whether a file is relevant and not written by builds.
    pub fn has_source(&self, file: &Path) -> bool {
        file != self.lock && self.has_file(file)
    }

    /// The folder of the settings file, if given by a flag.
    pub fn folder_of_settings(&self) -> Option<&Path> {
        self.settings.as_deref()?.parent()
    }

    fn is_output(&self, path: &Path) -> bool {
        self.written.iter().any(|written| path.starts_with(written) || is_sqlite_sidecar(path, written))
    }
}

/// Whether a file belongs to a SQLite database, such as `history.db-wal`.
fn is_sqlite_sidecar(path: &Path, database: &Path) -> bool {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let (Some(name), Some(database_name)) = (name(path), name(database)) else { return false };
    path.parent() == database.parent()
        && name.strip_prefix(&*database_name).is_some_and(|rest| rest.starts_with('-'))
}

/// Whether a folder contains tool data, build output or downloads, not sources.
pub fn is_generated(folder: &Path) -> bool {
    is_hidden(folder)
        || GENERATED_FOLDERS.iter().any(|made| folder.ends_with(made))
        || folder.join(CACHE_TAG).exists()
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// All folders that exist now. Unreadable ones are skipped: if they matter, the run reports them.
pub fn folders(scope: &WatchScope) -> BTreeSet<PathBuf> {
    let (mut folders, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for root in &scope.roots {
        add(root, scope, &mut seen, &mut folders);
    }
    folders.extend(scope.folder_of_settings().map(Path::to_owned));
    folders
}

/// Adds a folder and its subfolders. `seen` holds canonical paths, against link cycles.
fn add(folder: &Path, scope: &WatchScope, seen: &mut BTreeSet<PathBuf>, folders: &mut BTreeSet<PathBuf>) {
    let Ok(real) = folder.canonicalize() else { return };
    if !real.is_dir() || !seen.insert(real) {
        return;
    }
    folders.insert(folder.to_owned());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && scope.has_folder(&path) {
            add(&path, scope, seen, folders);
        }
    }
}

/// The relevant files in a folder.
pub fn files(folder: &Path, scope: &WatchScope) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| path.is_file() && scope.has_file(path)).collect()
}

#[derive(Debug, thiserror::Error)]
#[error("failed to watch for changes: {0}{hint}", hint = hint(.0))]
pub struct WatchError(#[from] pub notify::Error);

impl CommandError for WatchError {}

/// How to raise a system limit.
fn hint(error: &notify::Error) -> &'static str {
    match error.kind {
        notify::ErrorKind::MaxFilesWatch => {
            "; raise the limit (on Linux: sysctl `fs.inotify.max_user_watches`)"
        }
        _ => "",
    }
}

#[derive(Debug)]
pub struct FolderWatcher {
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
}

impl FolderWatcher {
    /// Creates a watcher without folders; events go to the listener.
    pub fn new(listener: impl EventHandler) -> Result<Self, WatchError> {
        Ok(Self { watcher: recommended_watcher(listener)?, folders: BTreeSet::new() })
    }

    /// Watches exactly these folders and returns the new ones.
    pub fn follow(&mut self, folders: BTreeSet<PathBuf>) -> Result<Vec<PathBuf>, WatchError> {
        for gone in self.folders.difference(&folders) {
            // The system may have stopped watching it already.
            let _ = self.watcher.unwatch(gone);
        }
        let mut new = Vec::new();
        for folder in folders.difference(&self.folders) {
            match self.watcher.watch(folder, RecursiveMode::NonRecursive) {
                Ok(()) => new.push(folder.clone()),
                // It is gone again.
                Err(_) if !folder.exists() => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.folders.retain(|folder| folders.contains(folder));
        self.folders.extend(new.iter().cloned());
        Ok(new)
    }

    /// Whether a folder is watched.
    pub fn has(&self, folder: &Path) -> bool {
        self.folders.contains(folder)
    }

    /// Unwatches a removed or replaced folder and its subfolders, so that they are watched again if they exist.
    pub fn forget(&mut self, folder: &Path, kind: &EventKind) {
        if matches!(
            kind,
            EventKind::Remove(_) | EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(_))
        ) {
            let watcher = &mut self.watcher;
            self.folders.retain(|watched| {
                let stays = !watched.starts_with(folder);
                if !stays {
                    let _ = watcher.unwatch(watched);
                }
                stays
            });
        }
    }
}

/// Whether an event changes a file's content: reading a file, as builds do, or touching it does not.
pub fn is_change(kind: &EventKind) -> bool {
    !matches!(kind, EventKind::Access(_) | EventKind::Modify(ModifyKind::Metadata(_)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn scope(root: &Path) -> WatchScope {
        let written = ["target", "scores/history.db", "out.xml"].map(|path| root.join(path)).into();
        let roots = BTreeSet::from([root.to_owned(), root.join("near")]);
        WatchScope { roots, written, settings: None, lock: root.join(LOCK) }
    }

    #[test]
    fn sources_data_and_settings_count() {
        let scope = scope(Path::new("/w"));
        for file in
            ["src/lib.rs", "data/items.jsonl", "cobalt.toml", ".env", "Cargo.lock", "prompts/system.md"]
        {
            assert!(scope.has_file(&Path::new("/w").join(file)), "{file}");
        }
    }

    #[test]
    fn what_editors_builds_and_runs_leave_does_not_count() {
        let scope = scope(Path::new("/w"));
        for file in [
            "src/lib.rs~",
            "src/.lib.rs.swp",
            "src/4913",
            "src/#lib.rs#",
            "data/.#items.jsonl",
            "out.xml",
            "agent.log",
            "scores/history.db",
            "scores/history.db-wal",
            "target/debug/evals",
        ] {
            assert!(!scope.has_file(&Path::new("/w").join(file)), "{file}");
        }
    }

    #[test]
    fn folders_of_other_packages_and_of_what_is_built_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let scope = scope(folder.path());
        for (file, is_in) in [
            ("src/deep/mod.rs", true),
            ("near/Cargo.toml", true),
            ("other/Cargo.toml", false),
            ("built/CACHEDIR.TAG", false),
            ("target/x", false),
            (".git/HEAD", false),
            ("web/node_modules/x", false),
        ] {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, "").unwrap();
            assert_eq!(scope.has_folder(file.parent().unwrap()), is_in, "{}", file.display());
        }
    }
}
