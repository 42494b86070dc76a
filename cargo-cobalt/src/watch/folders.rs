//! The folders to watch, each by itself: to watch one with all that lies in it would take in what is built.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::scope::Scope;

/// All of them that there are now. What cannot be read is left out: the run tells of it, if it matters.
pub(crate) fn folders(scope: &Scope) -> BTreeSet<PathBuf> {
    let (mut folders, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for root in &scope.roots {
        add(root, scope, &mut seen, &mut folders);
    }
    folders.extend(scope.folder_of_settings().map(Path::to_owned));
    folders
}

/// Adds a folder and those within. `seen` are folders as links lead to them.
fn add(folder: &Path, scope: &Scope, seen: &mut BTreeSet<PathBuf>, folders: &mut BTreeSet<PathBuf>) {
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

/// The files in a folder that count.
pub(super) fn files(folder: &Path, scope: &Scope) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    paths.filter(|path| path.is_file() && scope.has_file(path)).collect()
}
