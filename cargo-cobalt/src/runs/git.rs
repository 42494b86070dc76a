//! Commits by their revisions, asked of git itself.

use std::path::Path;
use std::process::{Command, Stdio};

/// The full hash of the commit that a revision names in the repository around a folder; `None` where it names none, or
/// there is no git.
pub(super) fn commit(folder: &Path, revision: &str) -> Option<String> {
    // It would be taken for an option.
    if revision.is_empty() || revision.starts_with('-') {
        return None;
    }
    let output = Command::new("git")
        .args(["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let hash = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| hash.trim().to_owned())
}
