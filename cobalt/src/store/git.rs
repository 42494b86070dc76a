//! The commit that is checked out, asked of git itself.

use std::process::{Command, Stdio};

use crate::paths::package_root;
use crate::report::GitState;

/// The state of the source, or `None` where there is no git or no commit.
pub(crate) fn git_state() -> Option<GitState> {
    let output = Command::new("git")
        .args(["describe", "--always", "--abbrev=40", "--dirty", "--exclude=*"])
        .current_dir(package_root())
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    parse(std::str::from_utf8(&output.stdout).ok()?.trim())
}

fn parse(description: &str) -> Option<GitState> {
    let (commit, dirty) =
        description.strip_suffix("-dirty").map_or((description, false), |commit| (commit, true));
    let is_hash = commit.len() >= 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| GitState { commit: commit.to_owned(), dirty })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_description_tells_the_commit_and_whether_files_differ() {
        let hash = "0123456789abcdef0123456789abcdef01234567";
        assert_eq!(parse(hash), Some(GitState { commit: hash.to_owned(), dirty: false }));
        assert_eq!(parse(&format!("{hash}-dirty")), Some(GitState { commit: hash.to_owned(), dirty: true }));
        assert_eq!(parse("v1.0-3-gabc"), None);
    }
}
