//! Whether git will keep baselines, and if not, by which line of which file.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::kept::seen;
use crate::terminal::one_line;

/// Says what is left to do to have the files committed: what stands in the way, or only that. Nothing where there is no
/// git.
pub(super) fn to_be_committed(files: &[PathBuf]) -> Option<String> {
    let folder = files.first()?.parent()?;
    let output = Command::new("git")
        .args(["check-ignore", "--verbose", "--"])
        .args(files)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    // A line is `<file>:<line>:<pattern>`, a tab and the path. A pattern that takes files in again is told too.
    let mut rules = text.lines().filter_map(|line| line.split('\t').next());
    let leaves_out =
        |rule: &&str| !rule.splitn(3, ':').nth(2).is_some_and(|pattern| pattern.starts_with('!'));
    match (output.status.code()?, rules.find(leaves_out)) {
        (0, Some(rule)) => {
            let above = folder.parent()?.file_name()?.to_string_lossy();
            Some(format!(
                "warning: git leaves `{}` out, by `{}`; to share baselines, write `**/{above}/*` and \
                 `!**/{above}/baselines/` there instead",
                seen(folder),
                one_line(rule),
            ))
        }
        (0 | 1, _) => Some(format!("commit `{}`, so that all are held against the same", seen(folder))),
        _ => None,
    }
}
