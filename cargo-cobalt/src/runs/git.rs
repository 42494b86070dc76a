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
    git(folder, &["rev-parse", "--verify", "--quiet", &format!("{revision}^{{commit}}")])
}

/// What to do where a revision is not there, but may be in another repository that this one knows.
pub(super) fn how_to_fetch(folder: &Path, revision: &str) -> Option<String> {
    let remotes = git(folder, &["remote"])?;
    let at_remote = remotes.lines().map(|remote| format!("{remote}/{revision}"));
    if let Some(there) = at_remote.into_iter().find(|branch| commit(folder, branch).is_some()) {
        return Some(format!("there is `{there}`"));
    }
    let is_of = |remote: &&str| revision.strip_prefix(*remote).is_some_and(|rest| rest.starts_with('/'));
    let remote = remotes.lines().find(is_of).or_else(|| remotes.lines().next())?;
    let is_shallow = git(folder, &["rev-parse", "--is-shallow-repository"])? == "true";
    let unshallow = if is_shallow { "--unshallow " } else { "" };
    // All branches are named, as a clone of one branch fetches no other by itself.
    let all = format!("'+refs/heads/*:refs/remotes/{remote}/*'");
    Some(format!("a revision that is not here yet comes with `git fetch {unshallow}--tags {remote} {all}`"))
}

/// What git prints, where it succeeds.
fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
