//! Baselines as they are in a commit, read by git.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cobalt::store::Layout;

/// A file of a commit.
#[derive(Debug)]
pub(super) struct Committed {
    pub(super) name: String,
    pub(super) bytes: Vec<u8>,
}

/// The baseline files that a commit has where this project has its own. None where git has no such folder.
pub(super) fn committed(layout: &Layout, commit: &str) -> Vec<Committed> {
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
