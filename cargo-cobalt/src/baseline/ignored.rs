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
        .args(["check-ignore", "--verbose", "-z", "--"])
        .args(files)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let fields: Vec<_> = text.split('\0').collect();
    // A pattern that takes files in again is told too.
    let leaves_out = |found: &&[&str; 4]| !found[2].starts_with('!');
    let above = folder.parent()?.file_name()?.to_string_lossy();
    match (output.status.code()?, fields.as_chunks().0.iter().find(leaves_out)) {
        (0, Some([file, line, pattern, path])) => Some(format!(
            "warning: git leaves `{}` out, by `{}` in line {line} of `{}`; to share baselines, write `{above}/*` there \
             instead, and below it `!{above}/baselines/`",
            seen(path.as_ref()),
            one_line(pattern),
            one_line(file),
        )),
        (0 | 1, _) => Some(format!("commit `{}`, so that all are held against the same", seen(folder))),
        _ => None,
    }
}
